//! Finds and ends every process below this one: ranks, what they started, and what was orphaned and came to us because
//! we are the subreaper.
//!
//! Invariant: when `end_all` returns true there is no process below this one.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// The process ids below this process, parents before children.
#[cfg(test)]
pub fn list() -> Vec<i32> {
    below(std::process::id() as i32)
}

/// A line of /proc/PID/stat, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
}

/// The process group of this process; 0 where its leader is in no process namespace of ours, which `getpgrp` of rustix
/// cannot say.
pub fn own_group() -> Option<i32> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    Process::of_stat(&stat).map(|it| it.group)
}

/// All processes of the system but zombies, which are dead already.
fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        entry.file_name().to_str()?.parse::<i32>().ok()?;
        Process::of_stat(&fs::read_to_string(entry.path().join("stat")).ok()?)
    })
}

/// The process groups in these sessions but those that have these leaders.
pub fn further_groups(sessions: &[i32], leaders: &HashSet<i32>) -> Vec<i32> {
    if sessions.is_empty() {
        return Vec::new();
    }
    let sessions: HashSet<&i32> = sessions.iter().collect();
    let further = processes()
        .filter(|it| !leaders.contains(&it.group) && sessions.contains(&it.session))
        .map(|it| it.group);
    let mut groups: Vec<i32> = further.collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The process ids below a process, parents before children.
pub fn below(root: i32) -> Vec<i32> {
    below_but(root, &[])
}

fn below_but(root: i32, spared: &[i32]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in processes().filter(|it| !spared.contains(&it.pid)) {
        children
            .entry(process.parent)
            .or_default()
            .push(process.pid);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next]).unwrap_or_default());
        next += 1;
    }
    found
}

impl Process {
    /// The second field is a name in parentheses, which may hold any character.
    fn of_stat(stat: &str) -> Option<Process> {
        let (begin, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        if let "Z" | "X" = fields.next()? {
            return None;
        }
        let mut number = || fields.next()?.parse().ok();
        Some(Process {
            pid: begin.split_whitespace().next()?.parse().ok()?,
            parent: number()?,
            group: number()?,
            session: number()?,
        })
    }
}

/// Sends a signal to all of them but these and what is below these.
pub fn signal_all(signal: Signal, spared: &[i32]) {
    kill(&below_but(std::process::id() as i32, spared), signal);
}

fn kill(processes: &[i32], signal: Signal) {
    for pid in processes.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = kill_process(pid, signal);
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
        let found = below(std::process::id() as i32);
        kill(&in_order_of_ending(found, runs_this_program), Signal::KILL);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Keepers of other hosts may run below this process. They come last, the lowest first: if this process is killed on the way, a keeper is there
/// to end the rest. Parents come first among the others, or a script would go on with its next command.
fn in_order_of_ending(found: Vec<i32>, is_keeper: impl Fn(i32) -> bool) -> Vec<i32> {
    let (keepers, mut order): (Vec<i32>, Vec<i32>) =
        found.into_iter().partition(|pid| is_keeper(*pid));
    order.extend(keepers.into_iter().rev());
    order
}

fn runs_this_program(pid: i32) -> bool {
    let program = |process: &str| {
        let file = fs::metadata(format!("/proc/{process}/exe")).ok()?;
        Some((file.dev(), file.ino()))
    };
    program("self").is_some_and(|own| program(&pid.to_string()) == Some(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_confuse() {
        let process = Process {
            pid: 12,
            parent: 7,
            group: 3,
            session: 4,
        };
        assert_eq!(Process::of_stat("12 (a) b (c)) S 7 3 4 0"), Some(process));
        assert_eq!(Process::of_stat("12 (a) Z 7 3 4 0"), None);
        assert_eq!(Process::of_stat("nonsense"), None);
    }

    #[test]
    fn keepers_end_after_what_they_keep() {
        let order = in_order_of_ending(vec![1, 2, 3, 4, 5], |pid| [2, 3].contains(&pid));
        assert_eq!(order, [1, 4, 5, 3, 2]);
        assert!(runs_this_program(std::process::id() as i32));
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        assert!(!runs_this_program(other.id() as i32));
        other.kill().unwrap();
        other.wait().unwrap();
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
