//! The stacks of the ranks, shown by a debugger that is installed, for -get-stack-traces.
//!
//! Invariant: returns after a limited time, whatever the debugger does.

use super::plan::find_program;
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// For all ranks together.
const LIMIT: Duration = Duration::from_secs(30);

/// Programs that show the stack of a process, and what to put before its number.
const TRACERS: &[(&str, &[&str])] = &[
    (
        "gdb",
        &[
            "-nx",
            "-batch",
            "-ex",
            "set pagination off",
            "-ex",
            "thread apply all bt",
            "-p",
        ],
    ),
    ("eu-stack", &["-p"]),
    ("gstack", &[]),
    ("pstack", &[]),
];

/// The stacks of these ranks, given by rank and process, as text.
pub fn show(processes: &[(usize, i32)]) -> String {
    let Some((tracer, words)) = find_tracer() else {
        let names: Vec<&str> = TRACERS.iter().map(|(name, _)| *name).collect();
        return format!("no stacks: none of {} is installed\n", names.join(", "));
    };
    let end = Instant::now() + LIMIT;
    let mut text = String::new();
    for (rank, pid) in processes {
        text += &format!("stack of rank {rank} (pid {pid}):\n");
        text += &match trace(&tracer, words, *pid, end) {
            Ok(stack) => stack,
            Err(error) => format!("{} failed: {error}\n", tracer.display()),
        };
    }
    text
}

fn find_tracer() -> Option<(PathBuf, &'static [&'static str])> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    TRACERS.iter().find_map(|(name, words)| {
        let found = find_program(OsStr::new(name), Some("/".as_ref()), &path).ok()?;
        Some((found, *words))
    })
}

fn trace(tracer: &PathBuf, words: &[&str], pid: i32, end: Instant) -> std::io::Result<String> {
    // A file takes whatever is written, so nobody has to read meanwhile.
    let mut said = File::from(memfd_create("stacks", MemfdFlags::CLOEXEC)?);
    let mut child = Command::new(tracer)
        .args(words)
        .arg(pid.to_string())
        // Or gdb asks servers for symbols.
        .env_remove("DEBUGINFOD_URLS")
        .stdin(Stdio::null())
        .stdout(said.try_clone()?)
        .stderr(said.try_clone()?)
        .spawn()?;
    while child.try_wait()?.is_none() {
        if Instant::now() >= end {
            let _ = child.kill();
            let _ = child.wait();
            return Err(std::io::Error::other("the time for stacks is over"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut bytes = Vec::new();
    said.rewind()?;
    said.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_that_hangs_is_ended() {
        let sleep = PathBuf::from("/bin/sleep");
        let end = Instant::now() + Duration::from_millis(50);
        assert!(trace(&sleep, &[], 1000, end).is_err());
        let echo = PathBuf::from("/bin/echo");
        let end = Instant::now() + LIMIT;
        assert_eq!(trace(&echo, &["-p"], 7, end).unwrap(), "-p 7\n");
    }
}
