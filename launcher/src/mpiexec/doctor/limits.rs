//! Limits of this process (`ulimit`) that its ranks inherit.

use super::Finding;
use oxmpi::transport::layout::segment_bytes;
use rustix::process::{Resource, getrlimit, getuid};

/// Descriptors that mpiexec itself has open while a job runs.
const FILES_OF_MPIEXEC: u64 = 22;
/// A socket and two pipes.
const FILES_OF_A_RANK: u64 = 3;
/// The front process, the guard, the supervisor, and two ranks.
const LEAST_PROCESSES: u64 = 5;
/// Of a rank's address space, besides shared memory: the program and its libraries, bytes.
const ADDRESSES_OF_A_PROGRAM: u64 = 32 << 20;
const LEAST_STACK: u64 = 1 << 20;

/// Limits, `None` where there is none: bytes, or numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// That mpiexec may raise its own to.
    most_files: Option<u64>,
    /// Processes and threads that the user may have more; not for root.
    processes_left: Option<u64>,
    file_bytes: Option<u64>,
    address_bytes: Option<u64>,
    stack_bytes: Option<u64>,
    core_bytes: Option<u64>,
    locked_bytes: Option<u64>,
}

pub fn findings() -> Vec<Finding> {
    let soft = |resource| getrlimit(resource).current;
    let processes_left = match getuid().is_root() {
        true => None,
        false => soft(Resource::Nproc).map(|limit| limit.saturating_sub(threads_of_user())),
    };
    judge(&Limits {
        most_files: getrlimit(Resource::Nofile).maximum,
        processes_left,
        file_bytes: soft(Resource::Fsize),
        address_bytes: soft(Resource::As),
        stack_bytes: soft(Resource::Stack),
        core_bytes: soft(Resource::Core),
        locked_bytes: soft(Resource::Memlock),
    })
}

/// Threads count as processes.
fn threads_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = getuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = entries.filter(|entry| {
        let name = entry.file_name();
        let is_number = name.to_string_lossy().bytes().all(|it| it.is_ascii_digit());
        is_number && entry.metadata().is_ok_and(|it| it.uid() == user)
    });
    // A folder has two links and one for each of its folders, here the threads.
    let threads = own.filter_map(|entry| std::fs::metadata(entry.path().join("task")).ok());
    threads.map(|folder| folder.nlink().saturating_sub(2)).sum()
}

fn judge(limits: &Limits) -> Vec<Finding> {
    let size = |bytes: u64| match bytes {
        0..0x10_0000 => format!("{} KB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{} GB", bytes >> 30),
    };
    let least_file = segment_bytes(2);
    let mut found = vec![
        match limits.most_files {
            None => Finding::ok("open files", "no limit"),
            Some(most) if most < FILES_OF_MPIEXEC + 2 * FILES_OF_A_RANK => Finding::problem(
                "open files",
                format!("at most {most} (hard limit): too few for 2 ranks, which need 28"),
                "raise the hard limit: ulimit -Hn, or nofile in /etc/security/limits.conf",
            ),
            Some(most) => {
                let ranks = (most - FILES_OF_MPIEXEC) / FILES_OF_A_RANK;
                let text = format!("at most {most} (hard limit): enough for {ranks} ranks");
                match ranks < 64 {
                    true => Finding::note(
                        "open files",
                        format!("{text} with error output kept apart; more share it"),
                        "for larger jobs raise the hard limit: ulimit -Hn, or nofile in /etc/security/limits.conf",
                    ),
                    false => Finding::ok("open files", text),
                }
            }
        },
        match limits.processes_left {
            None => Finding::ok("processes", "no limit for this user"),
            Some(left) if left < LEAST_PROCESSES => Finding::problem(
                "processes",
                format!("the user may start {left} more: a job of 2 ranks needs {LEAST_PROCESSES}"),
                "end other processes, or raise the limit: ulimit -u",
            ),
            Some(left) => Finding::ok("processes", format!("the user may start {left} more")),
        },
        match limits.file_bytes {
            None => Finding::ok("file size", "no limit"),
            Some(bytes) if bytes < least_file => Finding::problem(
                "file size",
                format!(
                    "at most {}: the shared memory of 2 ranks counts as a file of {}",
                    size(bytes),
                    size(least_file)
                ),
                "raise the limit: ulimit -f unlimited",
            ),
            Some(bytes) => Finding::note(
                "file size",
                format!(
                    "at most {}: shared memory and windows count as files, so large ones fail",
                    size(bytes)
                ),
                "raise the limit: ulimit -f unlimited",
            ),
        },
        match limits.address_bytes {
            None => Finding::ok("addresses", "no limit"),
            Some(bytes) if bytes < least_file + ADDRESSES_OF_A_PROGRAM => Finding::problem(
                "addresses",
                format!("at most {} a process: too little for a rank", size(bytes)),
                "raise the limit: ulimit -v unlimited",
            ),
            Some(bytes) => Finding::note(
                "addresses",
                format!("at most {} a process, shared memory included", size(bytes)),
                "raise the limit if MPI_Init or MPI_Win_allocate fail: ulimit -v unlimited",
            ),
        },
    ];
    found.push(match limits.stack_bytes {
        None => Finding::ok("stack", "no limit"),
        Some(bytes) if bytes < LEAST_STACK => Finding::note(
            "stack",
            format!("{}: large local arrays end in SIGSEGV", size(bytes)),
            "raise the limit: ulimit -s 8192",
        ),
        Some(bytes) => Finding::ok(
            "stack",
            format!(
                "{} (Fortran programs with large automatic arrays may need ulimit -s unlimited)",
                size(bytes)
            ),
        ),
    });
    found.push(match limits.core_bytes {
        Some(0) => Finding::ok(
            "core dumps",
            "none are written (ulimit -c unlimited allows them)",
        ),
        Some(bytes) => Finding::ok("core dumps", format!("cut at {}", size(bytes))),
        None => Finding::ok("core dumps", "no limit"),
    });
    found.push(match limits.locked_bytes {
        Some(bytes) => Finding::ok(
            "locked memory",
            format!(
                "{}, of which nothing is needed: no memory is locked",
                size(bytes)
            ),
        ),
        None => Finding::ok("locked memory", "no limit"),
    });
    found
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn of(what: &str, limits: &Limits) -> Finding {
        let found = judge(limits).into_iter().find(|it| it.what == what);
        found.unwrap()
    }

    #[test]
    fn without_limits_there_is_nothing_to_change() {
        for finding in judge(&Limits::default()) {
            assert_eq!(finding.state, State::Ok, "{finding:?}");
            assert_eq!(finding.advice, "");
        }
    }

    #[test]
    fn each_limit_that_is_too_low_is_named_with_its_value() {
        let cases: [(&str, Limits, State, &str); 10] = [
            (
                "open files",
                Limits {
                    most_files: Some(27),
                    ..Limits::default()
                },
                State::Problem,
                "at most 27",
            ),
            (
                "open files",
                Limits {
                    most_files: Some(64),
                    ..Limits::default()
                },
                State::Note,
                "for 14 ranks",
            ),
            (
                "open files",
                Limits {
                    most_files: Some(4096),
                    ..Limits::default()
                },
                State::Ok,
                "for 1358 ranks",
            ),
            (
                "processes",
                Limits {
                    processes_left: Some(4),
                    ..Limits::default()
                },
                State::Problem,
                "4 more",
            ),
            (
                "processes",
                Limits {
                    processes_left: Some(5),
                    ..Limits::default()
                },
                State::Ok,
                "5 more",
            ),
            (
                "file size",
                Limits {
                    file_bytes: Some(1 << 20),
                    ..Limits::default()
                },
                State::Problem,
                "at most 1 MB",
            ),
            (
                "file size",
                Limits {
                    file_bytes: Some(1 << 30),
                    ..Limits::default()
                },
                State::Note,
                "at most 1 GB",
            ),
            (
                "addresses",
                Limits {
                    address_bytes: Some(100 << 20),
                    ..Limits::default()
                },
                State::Problem,
                "at most 100 MB",
            ),
            (
                "addresses",
                Limits {
                    address_bytes: Some(4 << 30),
                    ..Limits::default()
                },
                State::Note,
                "at most 4 GB",
            ),
            (
                "stack",
                Limits {
                    stack_bytes: Some(64 << 10),
                    ..Limits::default()
                },
                State::Note,
                "64 KB",
            ),
        ];
        for (what, limits, state, text) in cases {
            let finding = of(what, &limits);
            assert_eq!(finding.state, state, "{finding:?}");
            assert!(finding.found.contains(text), "{finding:?}");
            assert_eq!(finding.advice.is_empty(), state == State::Ok, "{finding:?}");
        }
    }

    #[test]
    fn the_threads_of_this_test_are_counted() {
        assert!(threads_of_user() >= 1);
    }
}
