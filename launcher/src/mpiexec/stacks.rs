//! The stacks of the ranks, for -get-stack-traces: equal ones together. Of ranks that may not be traced so, a debugger that is installed is
//! asked.
//!
//! Invariant: returns after a limited time, whatever the debugger does.

use super::plan::find_program;
use super::sites::{self, Place, Places, Stack};
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

/// Lines of a stack that are shown.
const MOST_LINES: usize = 32;

/// The stacks of these ranks, given by rank and process, as text.
pub fn show(processes: &[(usize, i32)]) -> String {
    let pids: Vec<i32> = processes.iter().map(|(_, pid)| *pid).collect();
    let stacks = sites::stacks(&pids, sites::STACKS_LIMIT);
    let mut seen = Vec::new();
    let mut unseen = Vec::new();
    for (process, stacks) in processes.iter().zip(stacks) {
        match stacks {
            Ok(stacks) => seen.push((process.0, stacks)),
            Err(error) => unseen.push((*process, error)),
        }
    }
    let mut text = grouped(&seen);
    for ((rank, _), error) in &unseen {
        text += &format!("stack of rank {rank}: not seen ({error})\n");
    }
    let unseen: Vec<(usize, i32)> = unseen.into_iter().map(|(process, _)| process).collect();
    if !unseen.is_empty() {
        text += &by_tracer(&unseen);
    }
    text
}

/// Equal stacks once, with the ranks that have them; the stacks that most have first.
fn grouped(seen: &[(usize, Vec<Stack>)]) -> String {
    let mut groups: Vec<(String, Vec<String>, Vec<u32>)> = Vec::new();
    for (rank, stacks) in seen {
        for stack in stacks {
            let thread = match stack.is_main {
                true => String::new(),
                false => format!(", thread {}", stack.thread),
            };
            let lines = lines(&stack.frames);
            let rank = *rank as u32;
            let known = groups.iter_mut().find(|it| it.0 == thread && it.1 == lines);
            match known {
                Some((_, _, ranks)) if ranks.last() == Some(&rank) => {}
                Some((_, _, ranks)) => ranks.push(rank),
                None => groups.push((thread, lines, vec![rank])),
            }
        }
    }
    groups.sort_by_key(|(thread, _, ranks)| (!thread.is_empty(), std::cmp::Reverse(ranks.len())));
    let mut text = String::new();
    for (thread, lines, ranks) in groups {
        let word = if ranks.len() == 1 { "rank" } else { "ranks" };
        text += &format!("stack of {word} {}{thread}:\n", runs(&ranks));
        for line in lines {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// `0-3, 7`
fn runs(ranks: &[u32]) -> String {
    let run = |run: &[u32]| match run {
        [one] => one.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    let runs = ranks.chunk_by(|one, next| one + 1 == *next).map(run);
    runs.collect::<Vec<_>>().join(", ")
}

/// A stack as the program's author knows it: of the library only the function that was called, nothing of what starts a program.
fn lines(frames: &[Places]) -> Vec<String> {
    let is_system = |frame: &Places| frame.iter().all(Place::is_of_system);
    let is_own = |frame: &Places| frame.iter().any(Place::is_of_library);
    let first = frames.iter().position(|frame| !is_system(frame));
    // What the library has called of the system is of no interest.
    let begin = first.filter(|at| is_own(&frames[*at])).unwrap_or(0);
    let mut lines = Vec::new();
    let mut frames = frames[begin..].iter().peekable();
    while let Some(frame) = frames.next() {
        if is_own(frame) {
            if frames.peek().is_none_or(|next| !is_own(next)) {
                let outermost = frame.last().filter(|it| !it.function.is_empty());
                lines.push(match outermost.filter(|it| it.is_of_mpi()) {
                    Some(place) if !place.function.contains("::") => {
                        let name = place.function.strip_prefix('P');
                        name.unwrap_or(&place.function).to_owned()
                    }
                    _ => "MPI".to_owned(),
                });
            }
            continue;
        }
        lines.extend(frame.iter().map(Place::to_string));
        if frame.iter().any(|place| place.function == "main") {
            break;
        }
    }
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The stacks as a debugger writes them.
fn by_tracer(processes: &[(usize, i32)]) -> String {
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

    fn frame(function: &str, module: &str) -> Places {
        let (function, module) = (function.to_owned(), module.to_owned());
        vec![Place {
            function,
            module,
            ..Place::default()
        }]
    }

    #[test]
    fn equal_stacks_come_together() {
        let waits = [
            frame("syscall", "/lib/libc.so.6"),
            frame("oxmpi::engine::wait", "/x/libmpi.so.12"),
            frame("MPI_Recv", "/x/libmpi.so.12"),
            frame("exchange", "/x/a"),
            frame("main", "/x/a"),
            frame("__libc_start_main", "/lib/libc.so.6"),
        ];
        let stack = |frames: &[Places], is_main| Stack {
            thread: "worker".to_owned(),
            is_main,
            frames: frames.to_vec(),
        };
        let waits = stack(&waits, true);
        let sleeps = [frame("nanosleep", "/lib/libc.so.6"), frame("main", "/x/a")];
        let sleeps = [stack(&sleeps, true), stack(&sleeps[..1], false)];
        let seen = [
            (0, sleeps.to_vec()),
            (1, vec![waits.clone()]),
            (2, vec![waits]),
        ];
        assert_eq!(
            grouped(&seen),
            "stack of ranks 1-2:\n  MPI_Recv\n  exchange+0x0 in a\n  main+0x0 in a\n\
             stack of rank 0:\n  nanosleep+0x0 in libc.so.6\n  main+0x0 in a\n\
             stack of rank 0, thread worker:\n  nanosleep+0x0 in libc.so.6\n"
        );
    }

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
