//! What /proc/PID/stat says of a process's time.

use std::fs;

/// The fields of /proc/PID/stat behind the name, which may have any character.
fn fields_of(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// A process's time, clock ticks.
pub fn ticks_of(pid: i32) -> Option<u64> {
    let fields = fields_of(pid)?;
    let [user, system] = [11, 12].map(|at| fields.get(at)?.parse::<u64>().ok());
    Some(user? + system?)
}

/// Whether it runs or could.
pub fn is_ready(pid: i32) -> bool {
    fields_of(pid).is_some_and(|fields| fields[0] == "R")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known() {
        let own = std::process::id() as i32;
        assert!(ticks_of(own).is_some() && !is_ready(-1));
    }
}
