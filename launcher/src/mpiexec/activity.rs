//! What the kernel says that a process is doing.

use std::fs;

/// Of the thread that does most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    Sleeps,
    /// Waits for a disk or a file server.
    Disk,
    Runs,
    /// By SIGSTOP and the like.
    Stopped,
    /// By its debugger.
    Traced,
}

impl Activity {
    /// `None`: there is no such process, or no access to it.
    pub fn of(pid: i32) -> Option<Activity> {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let stats = threads.flatten().map(|it| it.path().join("stat"));
        stats
            .filter_map(|path| Activity::of_stat(&fs::read_to_string(path).ok()?))
            .max()
    }

    /// From a line of /proc/PID/task/TID/stat.
    fn of_stat(stat: &str) -> Option<Activity> {
        match stat.rsplit_once(')')?.1.split_whitespace().next()? {
            "R" => Some(Activity::Runs),
            "S" | "I" => Some(Activity::Sleeps),
            "D" => Some(Activity::Disk),
            "T" => Some(Activity::Stopped),
            "t" => Some(Activity::Traced),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read() {
        assert_eq!(Activity::of_stat("1 (a) R) S 7 1"), Some(Activity::Sleeps));
        assert_eq!(Activity::of_stat("1 (a) Z 7 1"), None);
        assert_eq!(
            Activity::of(std::process::id() as i32),
            Some(Activity::Runs)
        );
        assert_eq!(Activity::of(i32::MAX), None);
    }
}
