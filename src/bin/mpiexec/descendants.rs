//! Finds and ends every process below this one: ranks, what they started, and what was orphaned and came to us because
//! we are the subreaper.
//!
//! Invariant: when `end_all` returns true there is no process below this one.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// The process ids below this process, parents before children.
pub fn list() -> Vec<i32> {
    below(std::process::id() as i32)
}

/// The process ids below a process, parents before children.
pub fn below(root: i32) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in entries {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<i32>().ok())
        else {
            continue;
        };
        if let Ok(stat) = fs::read_to_string(entry.path().join("stat"))
            && let Some(parent) = parent_of(&stat)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next]).unwrap_or_default());
        next += 1;
    }
    found
}

/// The parent in a line of /proc/PID/stat: the second field after the name, which is in parentheses and may hold any.
/// Zombies have none: they are dead already.
fn parent_of(stat: &str) -> Option<i32> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(parent)
}

/// Sends a signal to all of them.
pub fn signal_all(signal: Signal) {
    for pid in list() {
        if let Some(pid) = Pid::from_raw(pid) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Kills until nothing is left, at most for `limit`; says whether nothing is left.
pub fn end_all(limit: Duration) -> bool {
    let start = Instant::now();
    loop {
        // No children: then there is nothing below them either, since orphans become our children.
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
        if start.elapsed() > limit {
            return false;
        }
        signal_all(Signal::KILL);
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_confuse() {
        assert_eq!(parent_of("12 (a) b (c)) S 7 1 1"), Some(7));
        assert_eq!(parent_of("12 (a) Z 7 1 1"), None);
        assert_eq!(parent_of("nonsense"), None);
    }

    #[test]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        assert!(list().contains(&(child.id() as i32)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
