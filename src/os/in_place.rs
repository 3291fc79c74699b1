//! Ordinary memory of this process that gets pages of a file, at the same addresses and with the same content, and later private ones again.
//!
//! Invariant: nobody else writes to the memory while its pages change. [`check`] finds what could: other threads, the kernel, devices.
//! Handlers of signals do not run meanwhile.

use super::memory::page_bytes;
use super::signals::without_signals;
use crate::sync::{AtomicU32, Ordering};
use rustix::fd::BorrowedFd;
use std::io::{Error, Result};
use std::ops::Range;
use std::os::fd::AsRawFd;

/// Bytes whose pages change at once.
const STEP: usize = 2 << 20;

/// Bytes of the stack around this frame that may be in use.
const STACK: usize = 1 << 20;

/// A line of /proc/self/maps.
struct Line<'a> {
    range: Range<usize>,
    access: &'a str,
    offset: u64,
    inode: u64,
    name: &'a str,
}

fn parse(line: &str) -> Option<Line<'_>> {
    let mut words = line.splitn(6, ' ');
    let (from, to) = words.next()?.split_once('-')?;
    let access = words.next()?;
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let _device = words.next()?;
    let inode = words.next()?.parse().ok()?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(Line {
        range: address(from)?..address(to)?,
        access,
        offset,
        inode,
        name: words.next().unwrap_or_default().trim(),
    })
}

/// Whether somebody whom this process does not see may write to its memory by this mapping.
fn is_of_a_device(name: &str) -> bool {
    let harmless = ["/dev/zero", "/dev/shm/"];
    let is_device = name.starts_with("/dev/") && !harmless.iter().any(|it| name.starts_with(it));
    is_device || name.contains("[io_uring]") || name.starts_with("/[aio]")
}

fn is_private(line: &Line<'_>) -> bool {
    let is_plain = line.name.is_empty() || line.name == "[heap]" || line.name.starts_with("[anon:");
    line.access == "rw-p" && line.inode == 0 && is_plain
}

/// Where objects of the program and its libraries have variables: their segments that may be written. What was not written there yet has pages
/// of a file.
pub fn variables() -> Vec<Range<usize>> {
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: what `dl_iterate_phdr` gives, and the vector below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Range<usize>>>()) };
        for at in 0..usize::from(info.dlpi_phnum) {
            // SAFETY: there are so many.
            let header = unsafe { &*info.dlpi_phdr.add(at) };
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
                let first = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
                found.push(all_pages(&(first..first + header.p_memsz as usize)));
            }
        }
        0
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    // SAFETY: the function gets the vector, and keeps nothing.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
    found
}

fn check_maps(
    maps: &str,
    range: &Range<usize>,
    variables: &[Range<usize>],
) -> std::result::Result<(), &'static str> {
    let mut at = range.start;
    for line in maps.lines().filter_map(parse) {
        if is_of_a_device(line.name) {
            return Err("a device or the kernel may write to memory of the process");
        }
        if at < range.end && line.range.contains(&at) {
            let of_file = at..line.range.end.min(range.end);
            let is_variable = line.access == "rw-p"
                && variables
                    .iter()
                    .any(|it| it.start <= of_file.start && of_file.end <= it.end);
            if !is_private(&line) && !is_variable {
                return Err("it is not private anonymous memory");
            }
            at = line.range.end;
        }
    }
    match at < range.end {
        true => Err("it is not mapped"),
        false => Ok(()),
    }
}

fn check_status(status: &str) -> std::result::Result<(), &'static str> {
    let value = |key: &str| {
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    match value("VmLck") == Some(0) && value("VmPin").is_none_or(|pinned| pinned == 0) {
        true => Ok(()),
        false => Err("memory of the process is locked or registered with a device"),
    }
}

/// Whether a thread sleeps until another thread of this process wakes it, by what /proc/PID/task/TID/syscall says: for a futex of the process
/// alone, without a limit of time.
fn is_quiet(call: &str) -> bool {
    let mut words = call.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<i64>().ok());
    let mut arguments = words.map(|word| {
        let digits = word.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    });
    let mut argument = |at: usize| arguments.nth(at).flatten();
    let (what, limit) = (argument(1), argument(1));
    let what = what.map(|what| what as i32 & !libc::FUTEX_CLOCK_REALTIME);
    let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET];
    let is_wait = |what: i32| waits.iter().any(|it| it | libc::FUTEX_PRIVATE_FLAG == what);
    number == Some(libc::SYS_futex) && what.is_some_and(is_wait) && limit == Some(0)
}

/// Threads of the library's that write to memory of the program's for an access of another process only.
const HARMLESS: [&str; 4] = [
    "oxmpi-windows",
    "oxmpi-lifelines",
    "oxmpi-connect",
    "oxmpi-segment",
];

/// What pages have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Memory that the program has given, and nothing else.
    Given,
    /// Other variables of the process, too, the library's among them.
    Mixed,
}

/// The set of signals that a line of /proc/PID/status tells.
fn signals(status: &str, key: &str) -> Option<u64> {
    let mut lines = status.lines();
    let set = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

/// Whether a handler of the program's may run in a thread while it sleeps, by its /proc/PID/task/TID/status. Handlers of what the thread itself
/// does wrong cannot, and those of the C library write to nothing else's memory.
fn may_be_interrupted(status: &str) -> bool {
    let own = [
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGSEGV,
        libc::SIGSYS,
        32,
        33,
    ];
    let own = own.iter().fold(0, |all, signal| all | 1 << (signal - 1));
    match (signals(status, "SigCgt"), signals(status, "SigBlk")) {
        (Some(caught), Some(blocked)) => caught & !blocked & !own != 0,
        _ => true,
    }
}

/// Whether no other thread writes to such pages before this one wakes it, or lets another process in.
pub fn is_alone(content: Content) -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return false;
    };
    // SAFETY: a plain call.
    let own = unsafe { libc::gettid() }.to_string();
    let mut others = tasks.flatten().filter(|task| *task.file_name() != *own);
    others.all(|task| {
        let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let is_quiet = is_quiet(&read("syscall"));
        match content {
            Content::Given => is_quiet || HARMLESS.contains(&read("comm").trim_end()),
            Content::Mixed => is_quiet && !may_be_interrupted(&read("status")),
        }
    })
}

/// Whether whole pages of memory that the program has given may be replaced now. `variables`: where pages may be a file's.
///
/// Errors: what stands against it.
pub fn check(
    range: &Range<usize>,
    content: Content,
    variables: &[Range<usize>],
) -> std::result::Result<(), &'static str> {
    let here = (&raw const range).addr();
    if range.start < here.saturating_add(STACK) && here < range.end.saturating_add(STACK) {
        return Err("it is a stack that is in use");
    }
    let read = |path| std::fs::read_to_string(path).map_err(|_| "/proc/self cannot be read");
    check_status(&read("/proc/self/status")?)?;
    check_maps(&read("/proc/self/maps")?, range, variables)?;
    match is_alone(content) {
        true => Ok(()),
        false => Err("another thread may write to it"),
    }
}

/// Whether all of a range has pages of a file, from this offset on.
pub fn has_pages_of(range: &Range<usize>, inode: u64, offset: u64) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return false;
    };
    let mut at = range.start;
    for line in maps.lines().filter_map(parse) {
        if at < range.end && line.range.contains(&at) {
            let found = line.offset + (at - line.range.start) as u64;
            if line.inode != inode || found != offset + (at - range.start) as u64 {
                return false;
            }
            at = line.range.end;
        }
    }
    at >= range.end
}

fn steps(range: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let end = range.end;
    range
        .clone()
        .step_by(STEP)
        .map(move |at| (at, STEP.min(end - at)))
}

/// Gives a range of whole pages those of a file from an offset on, which are mapped at `view`, too, and get its content.
///
/// Errors: what the kernel says; then a part of it has them, and [`give_back`] is to be called.
///
/// # Safety
/// [`check`] has nothing against it. The file has these pages, `view` is where this process has them, and nobody else uses them.
pub unsafe fn replace(
    range: &Range<usize>,
    file: BorrowedFd<'_>,
    offset: u64,
    view: *mut u8,
) -> Result<()> {
    without_signals(|| {
        for (at, bytes) in steps(range) {
            let inside = at - range.start;
            // SAFETY: by the caller, both are there, and nobody writes to either; what is at the addresses stays the same.
            let placed = unsafe {
                std::ptr::copy_nonoverlapping(at as *const u8, view.add(inside), bytes);
                libc::mmap(
                    at as *mut libc::c_void,
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_POPULATE,
                    file.as_raw_fd(),
                    (offset + inside as u64) as libc::off_t,
                )
            };
            if placed == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    })
}

/// All pages that some memory lies on.
pub fn all_pages(memory: &Range<usize>) -> Range<usize> {
    let page = page_bytes();
    memory.start / page * page..memory.end.next_multiple_of(page)
}

/// The whole pages of some memory; there may be none.
pub fn whole_pages(memory: &Range<usize>) -> Range<usize> {
    let page = page_bytes();
    let first = memory.start.next_multiple_of(page);
    let end = memory.end / page * page;
    first..end.max(first)
}

/// Gives a range of whole pages private ones with its content. System calls and copies only, as a forked child may make.
///
/// Errors: what the kernel says; then a part of it has other pages, all with their content.
///
/// # Safety
/// Nobody else writes to the range, which is mapped.
pub unsafe fn give_back(range: &Range<usize>) -> Result<()> {
    without_signals(|| {
        for (at, bytes) in steps(range) {
            // SAFETY: new memory gets the content, and then takes the place of the old one.
            let placed = unsafe {
                let new = libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                );
                if new == libc::MAP_FAILED {
                    return Err(Error::last_os_error());
                }
                std::ptr::copy_nonoverlapping(at as *const u8, new.cast::<u8>(), bytes);
                let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
                libc::mremap(new, bytes, bytes, flags, at as *mut libc::c_void)
            };
            if placed == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    })
}

/// Gives a range of whole pages, which has those of a file from an offset on, copies of its own. Other threads may write there meanwhile: the
/// kernel copies a page when one writes to it, and each gets such a write here, which changes nothing. The range stays a mapping of the file
/// until [`give_back`].
///
/// Errors: what the kernel says; then it stays as it was.
///
/// # Safety
/// The range has these pages, and no other process writes to them.
pub unsafe fn detach(range: &Range<usize>, file: BorrowedFd<'_>, offset: u64) -> Result<()> {
    without_signals(|| {
        // SAFETY: by the caller; what is at the addresses stays the same.
        let placed = unsafe {
            libc::mmap(
                range.start as *mut libc::c_void,
                range.len(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_FIXED,
                file.as_raw_fd(),
                offset as libc::off_t,
            )
        };
        if placed == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        for page in range.clone().step_by(page_bytes()) {
            // SAFETY: mapped just now; aligned, and valid as any number.
            let word = unsafe { &*(page as *const AtomicU32) };
            let mut now = word.load(Ordering::Relaxed);
            // Not `fetch_or(0)`, which compilers make a load.
            while let Err(other) =
                word.compare_exchange(now, now, Ordering::Relaxed, Ordering::Relaxed)
            {
                now = other;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::memory::{Mapping, create};
    use super::*;
    use std::os::fd::AsFd;

    const MAPS: &str = "\
55e0a8c00000-55e0a8c21000 rw-p 00000000 00:00 0                          [heap]
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
7f0000100000-7f0000200000 rw-p 00000000 00:00 0
7f0000200000-7f0000300000 rw-s 00002000 00:01 77                         /memfd:oxmpi (deleted)
7f0000300000-7f0000400000 r--p 00000000 08:01 1234                       /usr/lib/x.so
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn only_private_anonymous_memory_is_fit() {
        let object = 0x7f00_0030_0000..0x7f00_0030_2000;
        let fits = |from, to| check_maps(MAPS, &(from..to), std::slice::from_ref(&object));
        assert_eq!(fits(0x7f00_0000_1000, 0x7f00_0020_0000), Ok(()));
        assert_eq!(fits(0x55e0_a8c0_1000, 0x55e0_a8c0_2000), Ok(()));
        let other = Err("it is not private anonymous memory");
        assert_eq!(fits(0x7f00_001f_0000, 0x7f00_0020_1000), other);
        assert_eq!(fits(0x7f00_0030_0000, 0x7f00_0030_1000), other);
        let maps = "7f0000300000-7f0000400000 rw-p 00000000 08:01 1234 /usr/lib/x.so\n";
        let fits_with = |objects: &[_]| check_maps(maps, &object, objects);
        assert_eq!(fits_with(std::slice::from_ref(&object)), Ok(()));
        assert_eq!(fits_with(&[]), other);
        let half = 0x7f00_0030_0000..0x7f00_0030_1000;
        assert_eq!(fits_with(std::slice::from_ref(&half)), other);
        assert_eq!(fits(0x7ffd_0000_0000, 0x7ffd_0000_1000), other);
        let missing = Err("it is not mapped");
        assert_eq!(fits(0x7f00_0100_0000, 0x7f00_0100_1000), missing);
        for name in ["/dev/nvidia0", "anon_inode:[io_uring]", "/[aio] (deleted)"] {
            let maps = format!("{MAPS}7f1000000000-7f1000001000 rw-s 00000000 00:05 9 {name}\n");
            assert!(check_maps(&maps, &(0x7f00_0000_1000..0x7f00_0000_2000), &[]).is_err());
        }
    }

    #[test]
    fn variables_are_found() {
        static WORD: AtomicU32 = AtomicU32::new(1);
        WORD.store(2, Ordering::Relaxed);
        let at = (&raw const WORD).addr();
        assert!(variables().iter().any(|it| it.contains(&at)));
        assert!(
            !variables()
                .iter()
                .any(|it| it.contains(&(&raw const at).addr()))
        );
    }

    #[test]
    fn locked_memory_is_seen() {
        let status = |locked, pinned| {
            format!("Name:\tx\nVmLck:\t{locked:8} kB\nVmPin:\t{pinned:8} kB\nThreads:\t1\n")
        };
        assert_eq!(check_status(&status(0, 0)), Ok(()));
        assert!(check_status(&status(4, 0)).is_err());
        assert!(check_status(&status(0, 4)).is_err());
        assert!(check_status("").is_err());
    }

    #[test]
    fn a_thread_that_nobody_wakes_is_quiet() {
        let futex = |what: &str, limit: &str| {
            let number = libc::SYS_futex;
            format!("{number} 0x7f0012345678 {what} 0x0 {limit} 0x0 0xffffffff 0x7ffd1 0x7f2\n")
        };
        assert!(is_quiet(&futex("0x189", "0x0")));
        assert!(is_quiet(&futex("0x80", "0x0")));
        assert!(!is_quiet(&futex("0x80", "0x7f0012340000")));
        assert!(!is_quiet(&futex("0x86", "0x0")));
        assert!(!is_quiet(&futex("0x0", "0x0")));
        assert!(!is_quiet(&futex("0x109", "0x0")));
        assert!(!is_quiet("running\n"));
        assert!(!is_quiet(
            "0 0x3 0x7f0012345678 0x1 0x0 0x0 0x0 0x7ffd1 0x7f2\n"
        ));
        assert!(!is_quiet(""));
    }

    #[test]
    fn pages_change_and_the_content_stays() {
        let page = page_bytes();
        let pages = 3 * STEP / page + 5;
        let memory = create("test", ((pages + 2) * page) as u64, false).unwrap();
        let view = Mapping::of(memory.as_fd()).unwrap();
        let mut own = vec![0u8; (pages + 2) * page];
        for (at, byte) in own.iter_mut().enumerate() {
            *byte = (at / 7) as u8;
        }
        let before = own.clone();
        let first = (own.as_ptr().addr() + 1).next_multiple_of(page);
        let range = first..first + pages * page;
        let inode = super::super::process::identity(memory.as_raw_fd()).map_or(0, |it| it.0);
        // SAFETY: nobody else knows the vector, and the file is new.
        unsafe {
            let at = view.at(page, range.len()).unwrap();
            replace(&range, memory.as_fd(), page as u64, at).unwrap();
            assert!(has_pages_of(&range, inode, page as u64));
            assert!(!has_pages_of(&range, inode, 0));
            assert_eq!(own, before);
            let inside = range.start - own.as_ptr().addr();
            own[inside + 5000] = 1;
            assert_eq!(*at.add(5000), 1);
            at.add(range.len() - 1).write_volatile(2);
            assert_eq!(own[inside + range.len() - 1], 2);
            give_back(&range).unwrap();
            assert!(!has_pages_of(&range, inode, page as u64));
            at.add(5000).write_volatile(9);
            assert_eq!(own[inside + 5000], 1);
            assert_eq!(own[inside + range.len() - 1], 2);
        }
        drop(own);
    }

    #[test]
    fn pages_are_detached_while_another_thread_writes() {
        let page = page_bytes();
        let memory = create("test", 4 * page as u64, false).unwrap();
        let view = Mapping::of(memory.as_fd()).unwrap();
        let mut own = vec![7u8; 4 * page];
        let first = own.as_ptr().addr().next_multiple_of(page);
        let range = first..first + 2 * page;
        // SAFETY: nobody else knows the vector, and the file is new.
        unsafe {
            let at = view.at(page, range.len()).unwrap();
            replace(&range, memory.as_fd(), page as u64, at).unwrap();
        }
        let last = first + page + 64;
        // SAFETY: inside of the vector, whose words of that page are accessed by atomic instructions only.
        let word = unsafe { &*(last as *const AtomicU32) };
        word.store(0, Ordering::Relaxed);
        let done = &AtomicU32::new(0);
        let counted = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut count = 0;
                while done.load(Ordering::Relaxed) == 0 {
                    word.fetch_add(1, Ordering::Relaxed);
                    count += 1;
                }
                count
            });
            while word.load(Ordering::Relaxed) < 1000 {
                std::hint::spin_loop();
            }
            // SAFETY: the range has these pages, and there is no other process.
            unsafe { detach(&range, memory.as_fd(), page as u64).unwrap() };
            let then = word.load(Ordering::Relaxed);
            while word.load(Ordering::Relaxed) < then.wrapping_add(1000) {
                std::hint::spin_loop();
            }
            done.store(1, Ordering::Relaxed);
            writer.join().unwrap()
        });
        assert_eq!(word.load(Ordering::Relaxed), counted);
        // SAFETY: nobody else writes there.
        unsafe {
            let at = view.at(page, range.len()).unwrap();
            at.write_volatile(99);
            assert_eq!(own[first - own.as_ptr().addr()], 7);
            give_back(&range).unwrap();
        }
        assert_eq!(own[first - own.as_ptr().addr()], 7);
        own.clear();
    }

    #[test]
    fn handlers_that_may_run_are_seen() {
        let status = |caught: u64, blocked: u64| {
            format!("SigBlk:\t{blocked:016x}\nSigIgn:\t0\nSigCgt:\t{caught:016x}\n")
        };
        let bit = |signal: i32| 1_u64 << (signal - 1);
        assert!(!may_be_interrupted(&status(0, 0)));
        assert!(!may_be_interrupted(&status(
            bit(libc::SIGSEGV) | 3 << 31,
            0
        )));
        assert!(may_be_interrupted(&status(bit(libc::SIGINT), 0)));
        assert!(!may_be_interrupted(&status(
            bit(libc::SIGINT),
            bit(libc::SIGINT)
        )));
        assert!(may_be_interrupted(""));
    }

    #[test]
    fn pages_are_whole() {
        let page = page_bytes();
        assert_eq!(all_pages(&(10..page)), 0..page);
        assert_eq!(all_pages(&(page..page + 1)), page..2 * page);
        assert_eq!(whole_pages(&(10..page)), page..page);
        assert_eq!(whole_pages(&(10..page + 20)), page..page);
        assert_eq!(whole_pages(&(0..page)), 0..page);
        assert_eq!(whole_pages(&(1..3 * page)), page..3 * page);
    }
}
