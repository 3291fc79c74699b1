//! Ranks in a debugger that mpiexec has started: `mpiexec -n 1 gdb ./a.out`, `mpiexec -n 4 xterm -e gdb ./a.out`.
//!
//! A debugger outlives the process that it has started, and whoever looks for the fault needs it then.

use super::descendants;
use oxmpi::os::process;
use std::fs;

/// The process that traces `pid`, or did so when it joined, if it is `root` or below it.
pub fn of(pid: i32, joined_in: i32, root: i32) -> Option<i32> {
    let now = process::tracer(&pid.to_string());
    // The process may have ended since it joined; its debugger stays.
    let tracer = now.or(Some(joined_in).filter(|pid| *pid != 0))?;
    (tracer == root || descendants::below(root).contains(&tracer)).then_some(tracer)
}

/// A process that is there, by name and number. `None`: it has ended.
pub fn shown(pid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(format!("{} (pid {pid})", name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_there_is_shown() {
        assert!(shown(std::process::id() as i32).is_some());
    }

    #[test]
    fn a_debugger_is_known_after_its_process_has_ended() {
        let own = std::process::id() as i32;
        let no_process = i32::MAX;
        assert_eq!(of(no_process, own, own), Some(own));
        assert_eq!(of(no_process, 0, own), None);
        // One that mpiexec has not started.
        assert_eq!(of(no_process, 1, own), None);
    }
}
