//! Every system call of the core. Nothing here knows MPI.
//!
//! Functions return `std::io::Result`; whoever knows the MPI object at hand turns it into an MPI error.
#![allow(unsafe_code)]

pub mod addresses;
pub mod backoff;
pub mod cancellation;
pub mod checked_copy;
#[cfg(test)]
pub mod counting;
pub mod descriptors;
pub mod file;
pub mod file_map;
pub mod hardware;
pub mod in_place;
pub mod library;
pub mod made;
pub mod memory;
pub mod own_code;
pub mod own_memory;
pub mod peer_memory;
pub mod process;
mod quota;
pub mod schedule;
pub mod signals;
pub mod sites;
pub mod threads;
pub mod tracing;
pub mod turns;

/// Writes to standard error. A program whose standard error is closed, or a pipe that nobody reads, goes on without the text.
pub fn tell(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}

/// Nanoseconds of CLOCK_MONOTONIC: comparable between the processes of a node.
pub fn monotonic_nanoseconds() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec that the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The processor's counter, on processors that have one which can be read so.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has the instruction, and Linux leaves it to programs.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return monotonic_nanoseconds();
}

/// Whether [`ticks`] is a clock: it has one rate, whatever the processor does, and is the same on all of them.
pub fn ticks_are_steady() -> bool {
    let flags = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("flags"))?;
        let has = |flag| line.split_whitespace().any(|word| word == flag);
        Some(has("constant_tsc") && has("nonstop_tsc"))
    };
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let trusted = std::fs::read_to_string(source).is_ok_and(|text| text.trim() == "tsc");
    trusted
        && cfg!(target_arch = "x86_64")
        && std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| flags(&text) == Some(true))
}

/// This clock at its last tick, some milliseconds ago: a quarter of the price.
pub fn coarse_nanoseconds() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec that the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The time of day as ctime(3) writes it: `Sun Nov 22 10:59:47 2026`.
pub fn local_time() -> String {
    const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    // SAFETY: both calls write only to `broken`, for which all zeros are a valid value; a null pointer for the time's own place
    // is allowed.
    let time = unsafe {
        let mut broken: libc::tm = std::mem::zeroed();
        libc::localtime_r(&libc::time(std::ptr::null_mut()), &mut broken);
        broken
    };
    let name = |names: &[&'static str], number: i32| {
        usize::try_from(number)
            .ok()
            .and_then(|number| names.get(number).copied())
            .unwrap_or("???")
    };
    format!(
        "{} {} {:2} {:02}:{:02}:{:02} {}",
        name(&DAYS, time.tm_wday),
        name(&MONTHS, time.tm_mon),
        time.tm_mday,
        time.tm_hour,
        time.tm_min,
        time.tm_sec,
        time.tm_year + 1900
    )
}

/// The resolution of CLOCK_MONOTONIC, seconds.
pub fn clock_resolution() -> f64 {
    let mut step = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `step` is a valid timespec that the call fills.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut step) };
    step.tv_sec as f64 + step.tv_nsec as f64 * 1e-9
}
