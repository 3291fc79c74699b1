//! Ranks in a debugger that mpiexec has started: `mpiexec -n 1 gdb ./a.out`, `mpiexec -n 4 xterm -e gdb ./a.out`.
//!
//! A debugger outlives the process that it has started, and whoever looks for the fault needs it then.

use super::descendants;
use std::fs;

/// The process that traces `pid`, if it is `root` or below it.
pub fn of(pid: i32, root: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let tracer = tracer(&status)?;
    (tracer == root || descendants::below(root).contains(&tracer)).then_some(tracer)
}

/// From a line such as `TracerPid:\t0` in /proc/PID/status.
fn tracer(status: &str) -> Option<i32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    line?.trim().parse().ok().filter(|pid| *pid != 0)
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
    fn tracers_are_read() {
        assert_eq!(tracer("Name:\tx\nTracerPid:\t17\n"), Some(17));
        assert_eq!(tracer("Name:\tx\nTracerPid:\t0\n"), None);
        assert_eq!(tracer(""), None);
        assert!(shown(std::process::id() as i32).is_some());
    }
}
