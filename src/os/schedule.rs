//! Handing over the processor: yield, futex, membarrier, and how many cores there are to share.

pub use super::quota::cpu_quota;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Lets another runnable thread have this core.
#[inline]
pub fn yield_now() {
    // SAFETY: has no arguments and touches no memory.
    unsafe { libc::sched_yield() };
}

/// The number of the core that this thread runs on now; `None` where the system does not tell.
#[inline]
pub fn core() -> Option<u32> {
    // SAFETY: has no arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

static SLEEPS: AtomicU64 = AtomicU64::new(0);
static WAKE_UPS: AtomicU64 = AtomicU64::new(0);

/// How often this process slept, and how often it woke who sleeps.
pub fn sleeps_and_wake_ups() -> (u64, u64) {
    (
        SLEEPS.load(Ordering::Relaxed),
        WAKE_UPS.load(Ordering::Relaxed),
    )
}

/// Sleeps while `word` (in memory shared between processes) is `expected`, until woken for one of the bits of `bitset`,
/// interrupted or `limit` is over. `bitset` is not zero.
pub fn futex_wait(word: &AtomicU32, expected: u32, limit: Option<Duration>, bitset: u32) {
    // This form of waiting wants a point in time.
    let limit = limit.map(|limit| {
        let until = Duration::from_nanos(super::monotonic_nanoseconds()).saturating_add(limit);
        libc::timespec {
            tv_sec: until.as_secs() as libc::time_t,
            tv_nsec: until.subsec_nanos() as libc::c_long,
        }
    });
    let limit = limit
        .as_ref()
        .map_or(std::ptr::null(), |limit| limit as *const libc::timespec);
    SLEEPS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `word` and `limit` live across the call; the kernel compares and sleeps atomically.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT_BITSET,
            expected,
            limit,
            std::ptr::null::<u32>(),
            bitset,
        );
    }
}

/// Wakes all threads that sleep on `word` for one of the bits of `bitset`.
pub fn futex_wake(word: &AtomicU32, bitset: u32) {
    WAKE_UPS.fetch_add(1, Ordering::Relaxed);
    let no_time = std::ptr::null::<libc::timespec>();
    // SAFETY: the kernel only uses the address.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE_BITSET,
            i32::MAX,
            no_time,
            std::ptr::null::<u32>(),
            bitset,
        );
    }
}

const MEMBARRIER_CMD_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
const MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Tells the kernel that this process takes part in [`barrier_on_all`]. False where the kernel or a filter refuses.
pub fn register_for_barriers() -> bool {
    membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
}

/// A full memory fence on every core that runs a registered process. False if it did not happen.
pub fn barrier_on_all() -> bool {
    membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED)
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: takes integers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// A set of cores, as many as a kernel mask of 1,024 bits holds.
pub const CPU_WORDS: usize = 16;

/// The cores this thread may run on.
pub fn affinity() -> [u64; CPU_WORDS] {
    let mut mask = [0u64; CPU_WORDS];
    // SAFETY: `mask` has the size that is told; the kernel fills it.
    let got = unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            0,
            size_of_val(&mask),
            mask.as_mut_ptr(),
        )
    };
    if got <= 0 {
        mask[0] = 1;
    }
    mask
}

/// The cores of the machine.
pub fn online_cores() -> usize {
    // SAFETY: takes an integer only.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    #[test]
    fn a_sleeper_is_woken() {
        static WORD: AtomicU32 = AtomicU32::new(0);
        let sleeper = std::thread::spawn(|| {
            while WORD.load(Ordering::Acquire) == 0 {
                futex_wait(&WORD, 0, None, 0b110);
            }
        });
        WORD.store(1, Ordering::Release);
        futex_wake(&WORD, 0b011);
        sleeper.join().unwrap();
        assert!(affinity().iter().any(|word| *word != 0));
    }
}
