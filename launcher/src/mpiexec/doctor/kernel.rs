//! Memory, and what the kernel lets this process do. System calls are tried, not looked up.

use super::Finding;
use super::trial;
use super::view::View;
use oxmpi::os::{memory as shared, schedule};
use oxmpi::transport::layout::segment_bytes;
use std::os::fd::AsFd;

pub fn memory(view: &View) -> Vec<Finding> {
    vec![
        left(shared::physical(), shared::left()),
        anonymous(try_anonymous()),
        dev_shm(view),
        huge_pages(view),
        overcommit(view),
    ]
}

fn left(physical: u64, left: Option<u64>) -> Finding {
    const WHAT: &str = "memory";
    let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let all = gigabytes(physical);
    let Some(left) = left else {
        return Finding::ok(WHAT, format!("{all:.1} GB; what is left is not visible"));
    };
    let text = format!(
        "{:.1} of {all:.1} GB are free, limits of control groups included",
        gigabytes(left)
    );
    match left < segment_bytes(2) {
        true => Finding::problem(
            WHAT,
            format!("{text}: less than 2 ranks may need"),
            "end other programs, or raise the limit (docker run --memory, memory.max)",
        ),
        false => Finding::ok(WHAT, text),
    }
}

/// Makes shared memory as mpiexec does, and uses it.
fn try_anonymous() -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let fd = shared::create("oxmpi-doctor", segment_bytes(2), false).map_err(text)?;
    shared::allocate(fd.as_fd(), 0, 1 << 16).map_err(text)?;
    shared::Mapping::of(fd.as_fd()).map_err(text).map(drop)
}

fn anonymous(tried: Result<(), String>) -> Finding {
    match tried {
        Ok(()) => Finding::ok(
            "shared memory",
            "works, and has no name in any file system (memfd)",
        ),
        // Whether the file in TMPDIR is possible is seen by the job of two ranks.
        Err(error) => Finding::note(
            "shared memory",
            format!(
                "memfd_create and what belongs to it fail ({error}): jobs share a file in TMPDIR, removed at once"
            ),
            "allow memfd_create, fallocate and ftruncate in the seccomp profile; see Limits for the size of files",
        ),
    }
}

fn dev_shm(view: &View) -> Finding {
    match view.exists("/dev/shm") {
        true => Finding::ok("/dev/shm", "not used, however small it is"),
        false => Finding::ok("/dev/shm", "not there, and not needed"),
    }
}

/// The word in brackets, as in `always [madvise] never`.
fn chosen(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|it| it.0)
}

fn huge_pages(view: &View) -> Finding {
    let read = |name: &str| {
        let text = view.file(&format!("/sys/kernel/mm/transparent_hugepage/{name}"));
        text.as_deref().and_then(chosen).map(str::to_owned)
    };
    let word = |name: &str| read(name).unwrap_or_else(|| "not known".to_owned());
    Finding::ok(
        "huge pages",
        format!(
            "transparent ones: {} for private memory, {} for shared memory; jobs run with any setting",
            word("enabled"),
            word("shmem_enabled")
        ),
    )
}

fn overcommit(view: &View) -> Finding {
    match view.file("/proc/sys/vm/overcommit_memory").as_deref() {
        Some("2") => Finding::note(
            "overcommit",
            "strict (vm.overcommit_memory=2): memory that a program reserves counts before it is used",
            "if large jobs cannot allocate: sysctl vm.overcommit_memory=0",
        ),
        _ => Finding::ok("overcommit", "allowed: memory counts when it is used"),
    }
}

pub fn calls(view: &View) -> Vec<Finding> {
    let barriers = schedule::register_for_barriers() && schedule::barrier_on_all();
    vec![
        filter(view),
        copies(trial::cross_memory(), view),
        membarrier(barriers),
    ]
}

fn filter(view: &View) -> Finding {
    let status = view.file("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("Seccomp:"));
    match line.map(str::trim) {
        Some("2") => Finding::ok(
            "seccomp",
            "a filter of system calls is in force; those that matter were tried, see below",
        ),
        _ => Finding::ok("seccomp", "no filter of system calls"),
    }
}

/// `tried`: whether one process could read another one's memory.
fn copies(tried: Result<(), String>, view: &View) -> Finding {
    const WHAT: &str = "direct copies";
    let scope = view.file("/proc/sys/kernel/yama/ptrace_scope");
    let scope = scope.as_deref();
    let error = match tried {
        Ok(()) => {
            let scope = match scope {
                Some(scope) => format!(" (ptrace_scope is {scope})"),
                None => String::new(),
            };
            return Finding::ok(
                WHAT,
                format!("a process could read another one's memory{scope}"),
            );
        }
        Err(error) => error,
    };
    let advice = match scope {
        Some("2" | "3") => "set kernel.yama.ptrace_scope to 1 or 0 (sysctl)",
        _ => {
            "in a container: a seccomp profile that allows process_vm_readv and process_vm_writev, or --cap-add=SYS_PTRACE"
        }
    };
    Finding::note(
        WHAT,
        format!(
            "process_vm_readv fails ({error}): large messages go through shared memory, which takes two copies"
        ),
        advice,
    )
}

fn membarrier(works: bool) -> Finding {
    match works {
        true => Finding::ok("membarrier", "works"),
        false => Finding::note(
            "membarrier",
            "is refused: each message costs a memory fence, and sleeping ranks wake once a millisecond",
            "in a container: a seccomp profile that allows membarrier",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn memory_that_is_too_little_is_a_problem() {
        assert_eq!(left(8 << 30, Some(4 << 30)).state, State::Ok);
        let little = left(8 << 30, Some(64 << 20));
        assert_eq!(little.state, State::Problem);
        assert!(little.found.starts_with("0.1 of 8.0 GB"), "{little:?}");
        assert_eq!(left(8 << 30, None).state, State::Ok);
    }

    #[test]
    fn what_was_refused_is_named() {
        let failed = anonymous(Err("Operation not permitted".into()));
        assert_eq!(failed.state, State::Note);
        assert!(failed.found.contains("Operation not permitted"));
        assert_eq!(anonymous(Ok(())).state, State::Ok);
        assert_eq!(anonymous(try_anonymous()).state, State::Ok);

        let yama =
            |scope: &str| View::of_test(&[("/proc/sys/kernel/yama/ptrace_scope", scope)], &[]);
        let strict = copies(Err("EPERM".into()), &yama("3"));
        assert_eq!(strict.state, State::Note);
        assert!(strict.advice.contains("ptrace_scope"), "{strict:?}");
        let filtered = copies(Err("EPERM".into()), &yama("1"));
        assert!(filtered.advice.contains("SYS_PTRACE"), "{filtered:?}");
        let fine = copies(Ok(()), &yama("1"));
        assert_eq!(fine.state, State::Ok);
        assert!(fine.found.contains("ptrace_scope is 1"), "{fine:?}");
        assert_eq!(membarrier(false).state, State::Note);
    }

    #[test]
    fn settings_of_the_kernel_are_read() {
        let view = View::of_test(
            &[
                (
                    "/sys/kernel/mm/transparent_hugepage/enabled",
                    "always [madvise] never\n",
                ),
                (
                    "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
                    "always within_size advise [never] deny\n",
                ),
                ("/proc/sys/vm/overcommit_memory", "2\n"),
                ("/proc/self/status", "Name:\tx\nSeccomp:\t2\n"),
            ],
            &[],
        );
        let pages = huge_pages(&view).found;
        assert!(
            pages.contains("madvise for private memory, never for shared"),
            "{pages}"
        );
        assert_eq!(overcommit(&view).state, State::Note);
        assert!(filter(&view).found.contains("in force"));
        assert!(dev_shm(&view).found.starts_with("not there"));
        let empty = View::of_test(&[], &[]);
        assert_eq!(overcommit(&empty).state, State::Ok);
        assert!(filter(&empty).found.starts_with("no filter"));
        assert!(huge_pages(&empty).found.contains("not known"));
    }
}
