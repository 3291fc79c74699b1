//! Non-temporal stores, for memory that another core reads next: they bypass this core's caches. String moves in their place, where the processor
//! has better ones.
//!
//! An ordinary store first fetches the line from whoever has it; between separate cores that costs more than the copy.
//! Which instructions there are is found at run time. Source: Intel's and AMD's optimisation manuals, non-temporal stores.
#![allow(unsafe_code)]

use crate::os::hardware;

/// Makes what [`copy`] wrote visible before any later store.
#[inline]
pub fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has it, and it changes no data.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies `length` bytes with stores that bypass the caches where the processor has them; [`fence`] must follow.
///
/// # Safety
/// Both ranges are valid and do not overlap.
pub unsafe fn copy(source: *const u8, target: *mut u8, length: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if length >= 256 {
        // SAFETY: the features were found; the ranges are the caller's; the target is aligned after the first words,
        // the last of which may reach into the first line, with the same bytes.
        unsafe {
            let before = target.align_offset(64);
            let mut at = 0;
            while at < before {
                x86::copy_word(source.add(at), target.add(at));
                at += 8;
            }
            let (source, target, length) =
                (source.add(before), target.add(before), length - before);
            let mut done = if std::is_x86_feature_detected!("avx512f") {
                x86::copy_512(source, target, length)
            } else if std::is_x86_feature_detected!("avx2") {
                x86::copy_256(source, target, length)
            } else {
                0
            };
            // The last lines, too: one in ordinary stores would cost as much as many others.
            done += x86::copy_128(source.add(done), target.add(done), length - done);
            x86::copy_words(source.add(done), target.add(done), length - done);
        }
        return;
    }
    // SAFETY: by the caller.
    unsafe { std::ptr::copy_nonoverlapping(source, target, length) };
}

/// Where string moves are best between cores, they are from here on if the reader is far, and from there on in every place and as
/// loads (benches/counts.md).
const STRING_FAR: usize = 512;
const STRING_NEAR: usize = 8192;

#[inline]
fn takes_string_move(length: usize, least: usize) -> bool {
    length >= least && hardware::string_moves_are_best_between_cores()
}

/// Copies `length` bytes by a string move, whose stores may become visible in any order, but before any later one.
///
/// # Safety
/// Both ranges are valid and do not overlap.
#[inline]
unsafe fn string_move(source: *const u8, target: *mut u8, length: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: by the caller; the direction flag is clear, as between all functions.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") length => _,
            inout("rdi") target => _,
            inout("rsi") source => _,
            options(nostack, preserves_flags)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: by the caller.
    unsafe {
        std::ptr::copy_nonoverlapping(source, target, length);
    }
}

/// Copies `length` bytes for a reader whose caches are far: by string moves where these are best, else as [`copy`]. [`fence`] must follow.
///
/// # Safety
/// As for [`copy`].
pub unsafe fn copy_for_reader(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: by the caller.
    unsafe {
        match takes_string_move(length, STRING_FAR) {
            true => string_move(source, target, length),
            false => copy(source, target, length),
        }
    }
}

/// What [`copy_block`] copies.
pub const BLOCK: usize = 256;

/// As [`copy`] for [`BLOCK`] bytes to a line's beginning, for loops that make what they copy.
///
/// # Safety
/// As for [`copy`], and `target` is aligned to 64 bytes.
#[inline(always)]
pub unsafe fn copy_block(source: *const u8, target: *mut u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: by the caller; all of it is whole lines.
    unsafe {
        x86::copy_128(source, target, BLOCK)
    };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: by the caller.
    unsafe {
        std::ptr::copy_nonoverlapping(source, target, BLOCK)
    };
}

/// From here on four streams at once keep more lines on their way (benches/counts.md).
#[cfg(all(target_arch = "x86_64", not(miri)))]
const MANY_STREAMS: usize = 32 << 10;

/// Copies `length` bytes that another core has just written. A plain loop keeps many lines on their way, also beyond the
/// end of this piece, where the C library's `rep movsb` begins anew with each piece.
///
/// # Safety
/// Both ranges are valid and do not overlap.
#[inline]
pub unsafe fn fetch(source: *const u8, target: *mut u8, length: usize) {
    if takes_string_move(length, STRING_NEAR) {
        // SAFETY: by the caller.
        unsafe { string_move(source, target, length) };
        return;
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if length >= 512 && std::is_x86_feature_detected!("avx2") {
        if length >= MANY_STREAMS {
            // SAFETY: the ranges are the caller's.
            unsafe { fetch_streams(source, target, length) };
            return;
        }
        // SAFETY: the feature was found; the ranges are the caller's.
        unsafe {
            let done = x86::fetch_256::<1>(source, target, length);
            std::ptr::copy_nonoverlapping(source.add(done), target.add(done), length - done);
        }
        return;
    }
    // SAFETY: by the caller.
    unsafe { std::ptr::copy_nonoverlapping(source, target, length) };
}

/// From here on a copy of memory of either core's is no slower in two streams (benches/counts.md).
#[cfg(all(target_arch = "x86_64", not(miri)))]
const TWO_STREAMS: usize = 8 << 10;

/// Copies `length` bytes of which nobody knows whether they, or what they replace, are in this core's caches or in another's.
///
/// # Safety
/// As for [`fetch`].
#[inline]
pub unsafe fn transfer(source: *const u8, target: *mut u8, length: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if length >= TWO_STREAMS
        && !hardware::string_moves_are_best_between_cores()
        && std::is_x86_feature_detected!("avx2")
    {
        // SAFETY: the feature was found; the ranges are the caller's.
        unsafe {
            let done = x86::fetch_256::<2>(source, target, length);
            std::ptr::copy_nonoverlapping(source.add(done), target.add(done), length - done);
        }
        return;
    }
    // SAFETY: by the caller; less than for which there are many streams.
    unsafe { fetch(source, target, length) };
}

/// As [`fetch`] in four streams at once: each begins at another page, where the hardware's prefetcher starts anew, so that more
/// lines are on their way.
///
/// # Safety
/// As for [`fetch`].
pub unsafe fn fetch_streams(source: *const u8, target: *mut u8, length: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the feature was found; the ranges are the caller's.
        unsafe {
            let done = x86::fetch_256::<4>(source, target, length);
            std::ptr::copy_nonoverlapping(source.add(done), target.add(done), length - done);
        }
        return;
    }
    // SAFETY: by the caller.
    unsafe { std::ptr::copy_nonoverlapping(source, target, length) };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::*;

    /// Copies with four registers at a time; returns how much that was.
    macro_rules! copy {
        ($name:ident, $register:ty, $load:ident, $stream:ident, #[$attribute:meta]) => {
            /// # Safety
            /// As for [`super::copy`], with `target` aligned to 64 bytes.
            #[$attribute]
            pub unsafe fn $name(source: *const u8, target: *mut u8, length: usize) -> usize {
                const TURN: usize = 4 * size_of::<$register>();
                let whole = length / TURN * TURN;
                for at in (0..whole).step_by(TURN) {
                    // SAFETY: `at + TURN <= length`; the target is aligned to a register.
                    unsafe {
                        let from = source.add(at).cast::<$register>();
                        let to = target.add(at).cast::<$register>();
                        let a = $load(from);
                        let b = $load(from.add(1));
                        let c = $load(from.add(2));
                        let d = $load(from.add(3));
                        $stream(to, a);
                        $stream(to.add(1), b);
                        $stream(to.add(2), c);
                        $stream(to.add(3), d);
                    }
                }
                whole
            }
        };
    }

    copy!(copy_512, __m512i, _mm512_loadu_si512, _mm512_stream_si512, #[target_feature(enable = "avx512f")]);
    copy!(copy_256, __m256i, _mm256_loadu_si256, _mm256_stream_si256, #[target_feature(enable = "avx2")]);
    // With what every x86-64 processor has: a line at a time.
    copy!(copy_128, __m128i, _mm_loadu_si128, _mm_stream_si128, #[inline(always)]);

    /// Copies eight bytes past the caches.
    ///
    /// # Safety
    /// As for [`super::copy`], eight bytes.
    #[inline(always)]
    pub unsafe fn copy_word(source: *const u8, target: *mut u8) {
        // SAFETY: by the caller; the instruction wants no alignment.
        unsafe { _mm_stream_si64(target.cast::<i64>(), source.cast::<i64>().read_unaligned()) };
    }

    /// Copies the part of a line that is left, eight bytes a store.
    ///
    /// # Safety
    /// As for [`super::copy`]; there are at least eight bytes before `source` and `target` that were copied already.
    pub unsafe fn copy_words(source: *const u8, target: *mut u8, length: usize) {
        let mut at = 0;
        while at < length {
            // The last store begins before its place rather than end beyond the range.
            let back = (at + 8).saturating_sub(length);
            // SAFETY: the eight bytes lie in the range, or before it in what was copied already.
            unsafe { copy_word(source.add(at).sub(back), target.add(at).sub(back)) };
            at += 8;
        }
    }

    /// Copies whole lines with ordinary stores, so many equal parts at the same time; returns how much that was.
    ///
    /// # Safety
    /// As for [`super::fetch`].
    #[target_feature(enable = "avx2")]
    pub unsafe fn fetch_256<const STREAMS: usize>(
        source: *const u8,
        target: *mut u8,
        length: usize,
    ) -> usize {
        let part = (length / STREAMS) & !63;
        let mut at = 0;
        while at < part {
            for stream in 0..STREAMS {
                let at = stream * part + at;
                // SAFETY: `at + 64 <= STREAMS * part <= length`.
                unsafe {
                    let from = source.add(at).cast::<__m256i>();
                    let to = target.add(at).cast::<__m256i>();
                    let a = _mm256_loadu_si256(from);
                    let b = _mm256_loadu_si256(from.add(1));
                    _mm256_storeu_si256(to, a);
                    _mm256_storeu_si256(to.add(1), b);
                }
            }
            at += 64;
        }
        STREAMS * part
    }
}

#[cfg(test)]
mod tests {
    #[repr(align(64))]
    struct Aligned([u8; 2048]);

    #[test]
    fn every_length_and_alignment_is_copied_exactly() {
        let source: Vec<u8> = (0..2048u32)
            .map(|byte| (byte * 7 + byte / 256) as u8)
            .collect();
        for length in (0..1500).step_by(if cfg!(miri) { 97 } else { 1 }) {
            for shift in [0, 1, 8, 64] {
                let mut target = Aligned([0xee; 2048]);
                // SAFETY: both arrays are longer than what is copied.
                unsafe {
                    super::copy(
                        source.as_ptr().add(3),
                        target.0.as_mut_ptr().add(shift),
                        length,
                    );
                }
                assert_eq!(target.0[shift..shift + length], source[3..3 + length]);
                assert!(target.0[shift + length..].iter().all(|byte| *byte == 0xee));
                assert!(target.0[..shift].iter().all(|byte| *byte == 0xee));
            }
        }
    }

    #[test]
    fn long_fetches_are_exact() {
        const SPARE: usize = 100;
        let lengths: &[usize] = match cfg!(miri) {
            true => &[9_000, 32_801],
            false => &[
                0, 1, 511, 512, 4_095, 4_096, 8_191, 8_200, 32_767, 32_768, 32_801, 65_536, 69_999,
            ],
        };
        let longest = lengths.iter().max().unwrap();
        let source: Vec<u8> = (0..=*longest).map(|byte| (byte % 251) as u8).collect();
        for &length in lengths {
            let mut target = vec![0xee; length + SPARE];
            for copy in [
                super::fetch,
                super::transfer,
                super::copy_for_reader,
                super::string_move,
            ] {
                target.fill(0xee);
                // SAFETY: both are longer than what is copied.
                unsafe { copy(source.as_ptr().add(1), target.as_mut_ptr(), length) };
                assert_eq!(target[..length], source[1..=length]);
                assert_eq!(target[length..], [0xee; SPARE]);
            }
        }
    }

    #[test]
    fn every_length_is_fetched_in_streams_exactly() {
        let source: Vec<u8> = (0..9_000u32).map(|byte| (byte % 251) as u8).collect();
        for length in (0..700)
            .chain(8_000..8_300)
            .step_by(if cfg!(miri) { 97 } else { 1 })
        {
            let mut target = vec![0xee; length + 64];
            // SAFETY: both are longer than what is copied.
            unsafe { super::fetch_streams(source.as_ptr().add(1), target.as_mut_ptr(), length) };
            assert_eq!(target[..length], source[1..=length]);
            assert_eq!(target[length..], [0xee; 64]);
        }
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn the_plain_kernel_copies_too() {
        let source: Vec<u8> = (0..1024u32).map(|byte| byte as u8).collect();
        let mut target = Aligned([0; 2048]);
        // SAFETY: both arrays are longer than what is copied, and the target is aligned.
        let done = unsafe { super::x86::copy_128(source.as_ptr(), target.0.as_mut_ptr(), 1000) };
        assert_eq!(done, 960);
        assert_eq!(target.0[..960], source[..960]);
        assert_eq!(target.0[960], 0);
    }
}
