//! How bytes without holes are copied into a program's memory, or into a window: the one place that decides it.
//!
//! The rule counts cache lines that pass the memory bus. A store to a line that is in no cache first reads it and writes it back later:
//! with the source's, three lines for each that is copied. A store past the caches makes that two, but whoever reads the target next
//! misses. So where the target is in a cache such stores move one line more than others (that of the reader), and where it is not they
//! move one less, and as many if the reader comes at once. What is to be known is thus whether the target is still in a cache.
//! [`Recent`] estimates it by how much this process has copied since it last wrote there, beside its share of the last-level cache.
//! What the program itself reads and writes in between is not seen: then the answer is the ordinary store.
//!
//! Which ordinary store: the C library's, but on processors with a fast `rep movsb`, by which it copies 2 GB/s where the target lies a few
//! bytes behind the source modulo a page: there a loop in two streams, below [`LIBRARY`].
//!
//! Rings and staging, which other cores read at once, go by how far these are instead: `transport::Stores`.
#![allow(unsafe_code)]

use super::nontemporal;
use crate::os::hardware;
use crate::sync::{Ordering, ProgramU64};

/// Less is the C library's: there is nothing to choose.
const CHOSEN: usize = 1024;

/// Copies of less are not looked up, and not counted: the look costs as much as some of them.
pub const LOOKED_UP: usize = 8 << 10;

/// From here on `rep movsb` is better than a loop wherever the target lies.
const LIBRARY: usize = 512 << 10;

/// What a copy brings into the caches, or keeps there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Those of the source and of the target.
    Both,
    /// Those of the target: the source is in a cache already.
    Target,
}

/// The cache that a process may count on, bytes: its part of all last-level caches, at most one of them.
fn share(cache: u64, sharers: u64, cores: u64, ranks: u64) -> u64 {
    let caches = (cores / sharers.max(1)).max(1);
    cache.min(cache * caches / ranks.max(1))
}

/// So much copied later, what a copy wrote has left the caches: other ranks are not always as busy, so it is more than the share.
fn reach(cache: u64, share: u64) -> u64 {
    cache.min(share + share / 2)
}

/// Granules of memory that are remembered: direct mapped, by the number of the granule.
const GRANULES: usize = 1024;
/// Of the least size.
const LEAST_SHIFT: u32 = 16;
/// The unit of time in an entry, bytes copied.
const UNIT_SHIFT: u32 = 12;

/// When this process last copied to which memory, in bytes copied. Entries are read and written without a lock: a lost one is a guess less.
struct Recent {
    copied: ProgramU64,
    /// The low 31 bits of the granule's number, when its pass began (32 bits), and whether that pass goes past the caches.
    entries: [ProgramU64; GRANULES],
}

/// A pass over a granule: all copies into it until this many times its size has been copied. They go one way.
const PASS: u64 = 4;

impl Recent {
    const fn new() -> Recent {
        Recent {
            copied: ProgramU64::new(0),
            entries: [const { ProgramU64::new(0) }; GRANULES],
        }
    }

    /// Notes a copy to `address` that moves `moved` bytes through the caches; true if its target has left them. `reach`: see [`reach`].
    fn note(&self, address: usize, bytes: usize, moved: u64, reach: u64) -> bool {
        let shift = Self::shift(reach);
        let now = self.copied.load(Ordering::Relaxed);
        self.copied.store(now + moved, Ordering::Relaxed);
        let (first, last) = (address >> shift, (address + bytes - 1) >> shift);
        let middle = (address + bytes / 2) >> shift;
        let mut past = moved >= reach;
        // Each granule for itself, and the one in the middle for the copy: those at the ends may be a neighbour's, too.
        for granule in (last + 1).saturating_sub(GRANULES).max(first)..=last {
            let entry = &self.entries[granule % GRANULES];
            let found = entry.load(Ordering::Relaxed);
            let began = (found >> 1) as u32;
            let age = u64::from(((now >> UNIT_SHIFT) as u32).wrapping_sub(began)) << UNIT_SHIFT;
            let mut goes_past = found & 1 != 0;
            if found >> 33 != Self::tag(granule) || age >= PASS << shift {
                // What was copied to another granule of this entry was copied later than to this one.
                goes_past = age >= reach || moved >= reach;
                let time = u64::from((now >> UNIT_SHIFT) as u32);
                let word = Self::tag(granule) << 33 | time << 1 | u64::from(goes_past);
                entry.store(word, Ordering::Relaxed);
            }
            if granule == middle {
                past = goes_past;
            }
        }
        past
    }

    /// The size of a granule: all together reach as far as what is asked.
    fn shift(reach: u64) -> u32 {
        let least = (reach / GRANULES as u64).next_power_of_two();
        least.trailing_zeros().max(LEAST_SHIFT)
    }

    fn tag(granule: usize) -> u64 {
        granule as u64 & 0x7fff_ffff
    }
}

static RECENT: Recent = Recent::new();

/// The ranks of this node, for [`share`].
static RANKS: ProgramU64 = ProgramU64::new(1);
/// [`reach`], and [`share`]; 0: not looked up yet.
static REACH: ProgramU64 = ProgramU64::new(0);
static SHARE: ProgramU64 = ProgramU64::new(0);

/// Says how many ranks share the node's caches; before the first large copy.
pub fn set_ranks(ranks: usize) {
    RANKS.store(ranks as u64, Ordering::Relaxed);
    REACH.store(0, Ordering::Relaxed);
}

#[cold]
fn look_up() -> u64 {
    let (cache, sharers, cores) = hardware::last_level_cache().unwrap_or((u64::MAX >> 8, 1, 1));
    let share = share(cache, sharers, cores, RANKS.load(Ordering::Relaxed)).max(1);
    let reach = reach(cache, share);
    SHARE.store(share, Ordering::Relaxed);
    REACH.store(reach, Ordering::Relaxed);
    reach
}

#[inline]
fn known_reach() -> u64 {
    match REACH.load(Ordering::Relaxed) {
        0 => look_up(),
        reach => reach,
    }
}

/// Whether a result of `bytes`, which each rank of the node gets for itself, is more than their caches hold with all that it is made of.
pub fn is_beyond_all_caches(bytes: usize) -> bool {
    let reach = known_reach();
    bytes as u64 >= SHARE.load(Ordering::Relaxed).saturating_mul(2).max(reach)
}

/// Whether `bytes` and a copy of them are more than this process's share of the cache.
pub fn is_beyond_share(bytes: usize) -> bool {
    known_reach();
    2 * bytes as u64 > SHARE.load(Ordering::Relaxed)
}

/// Notes a copy of `bytes`, at least [`LOOKED_UP`], to `target`; whether it should go past the caches.
#[inline]
pub fn goes_past_caches(target: *const u8, bytes: usize, lines: Lines) -> bool {
    let moved = match lines {
        Lines::Both => 2 * bytes,
        Lines::Target => bytes,
    };
    CAN_GO_PAST && RECENT.note(target.addr(), bytes, moved as u64, known_reach())
}

const CAN_GO_PAST: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Copies `length` bytes between two places in a program's memory or in windows, which may overlap. All is visible to who sees a later store.
///
/// # Safety
/// Both are valid.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: by the caller.
    unsafe {
        match length < CHOSEN {
            true => std::ptr::copy(from, to, length),
            false => copy_long(from, to, length),
        }
    }
}

/// As [`copy`].
///
/// # Safety
/// As for [`copy`].
#[inline(never)]
unsafe fn copy_long(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: by the caller; where they overlap only the C library's `memmove` is called.
    unsafe {
        if from.addr().abs_diff(to.addr()) < length {
            std::ptr::copy(from, to, length);
        } else if length >= LOOKED_UP && goes_past_caches(to, length, Lines::Both) {
            nontemporal::copy(from, to, length);
            nontemporal::fence();
        } else if length < LIBRARY && has_fast_rep_movsb() {
            nontemporal::transfer(from, to, length);
        } else {
            std::ptr::copy_nonoverlapping(from, to, length);
        }
    }
}

/// Copies to a program's memory what another core, or this one, has just made in a ring or in staging. All is visible to who sees a later
/// store.
///
/// # Safety
/// Both are valid and do not overlap.
#[inline]
pub unsafe fn receive(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: by the caller.
    unsafe {
        if length >= LOOKED_UP && goes_past_caches(to, length, Lines::Target) {
            nontemporal::copy(from, to, length);
            nontemporal::fence();
        } else {
            nontemporal::fetch(from, to, length);
        }
    }
}

fn has_fast_rep_movsb() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        std::is_x86_feature_detected!("ermsb")
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;
    const REACH: u64 = 24 * MB;

    /// Copies `places` times `bytes` in turn, `rounds` times, in pieces; how many pieces of the last round went past the caches.
    fn rounds(recent: &Recent, places: usize, bytes: usize, piece: usize, rounds: usize) -> usize {
        let base = 0x7f12_3456_7040;
        let mut past = 0;
        for _ in 0..rounds {
            past = 0;
            for at in (0..places * bytes).step_by(piece) {
                past += usize::from(recent.note(base + at, piece, 2 * piece as u64, REACH));
            }
        }
        past
    }

    #[test]
    fn what_has_left_the_caches_goes_past_them() {
        for (bytes, piece) in [
            (256 << 10, 256 << 10),
            (1 << 20, 1 << 20),
            (4 << 20, 4 << 20),
            (1 << 20, 8 << 10),
            (1 << 20, 11_264),
            (768 << 10, 96 << 10),
        ] {
            let all = usize::div_ceil(64 * bytes, piece);
            let past = rounds(&Recent::new(), 64, bytes, piece, 3);
            assert!(past * 10 >= all * 9, "{past} of {all} of {piece} bytes");
        }
    }

    #[test]
    fn what_is_still_there_is_overwritten_there() {
        for (places, bytes) in [(1, 1 << 20), (1, 8 << 20), (64, 64 << 10), (8, 1 << 20)] {
            for piece in [bytes, 16 << 10] {
                assert_eq!(rounds(&Recent::new(), places, bytes, piece, 40), 0);
            }
        }
        // Also after much else was copied, but for one pass.
        let recent = Recent::new();
        rounds(&recent, 64, 4 << 20, 1 << 20, 1);
        let other = 0x5555_0000_0000;
        recent.note(other, 1 << 20, 2 << 20, REACH);
        for _ in 0..20 {
            assert!(!recent.note(other, 1 << 20, 2 << 20, REACH));
        }
    }

    #[test]
    fn more_than_the_cache_in_one_copy_goes_past_it() {
        assert!(Recent::new().note(4096, 16 << 20, 32 * MB, REACH));
        assert!(!Recent::new().note(4096, 8 << 20, 16 * MB, REACH));
    }

    #[test]
    fn every_rank_has_its_share() {
        // 32 MB for each eight cores.
        assert_eq!(share(32 * MB, 8, 64, 1), 32 * MB);
        assert_eq!(share(32 * MB, 8, 64, 8), 32 * MB);
        assert_eq!(share(32 * MB, 8, 64, 64), 4 * MB);
        assert_eq!(share(32 * MB, 2, 2, 2), 16 * MB);
        assert_eq!(reach(32 * MB, 16 * MB), 24 * MB);
        assert_eq!(reach(32 * MB, 32 * MB), 32 * MB);
        // Granules reach as far as the largest cache.
        for reach in [MB, 24 * MB, 1 << 30] {
            assert!((GRANULES as u64) << Recent::shift(reach) >= reach);
        }
    }

    #[test]
    fn every_length_is_copied_exactly() {
        let source: Vec<u8> = (0..40_000u32).map(|byte| (byte % 251) as u8).collect();
        let mut target = vec![0; source.len() + 64];
        for length in [0, 1, 1023, 1024, 8191, 8192, 8193, 20_000, 40_000] {
            for copy in [super::copy, super::receive] {
                target.fill(0xee);
                // SAFETY: both are longer than what is copied.
                unsafe { copy(source.as_ptr(), target.as_mut_ptr().add(3), length) };
                assert_eq!(target[3..3 + length], source[..length]);
                assert!(target[3 + length..].iter().all(|byte| *byte == 0xee));
            }
        }
        // Overlapping.
        let mut both = source.clone();
        // SAFETY: both are in `both`.
        unsafe { super::copy(both.as_ptr(), both.as_mut_ptr().add(100), 30_000) };
        assert_eq!(both[100..30_100], source[..30_000]);
    }
}
