//! Packing of patterns on processors that permute 16 bytes at a time (AVX2's pshufb, NEON's tbl): a piece of the packed bytes is
//! put together from pieces of the user's memory. Unpacking would need stores under a mask, which are slow on some processors.
//!
//! Pieces lie in the range from the first to the last byte of a window, so nothing outside is read; what is read of holes is
//! thrown away.
#![cfg_attr(
    any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))),
    allow(dead_code)
)]
#![allow(unsafe_code)]

use super::super::pattern::Pattern;
use super::nest::Level;

const PIECE: usize = 16;
/// Pieces of a window.
const MOST: usize = 4;

/// From which piece of a window, by its displacement, and from which of its bytes; 0x80: from none.
type Source = (u8, [u8; PIECE]);

/// How the packed pieces are made.
#[derive(Debug)]
pub struct Shuffles {
    /// Number of sources that each piece is combined from; unused ones give no bytes.
    depth: usize,
    pieces: Box<[Piece]>,
}

#[derive(Debug)]
struct Piece {
    /// Where it lies in the packed bytes.
    at: u8,
    sources: [Source; MOST],
}

impl Shuffles {
    /// For `length` packed bytes, where `source` says from which of the `available` bytes of a window each one comes. `None` if there
    /// are not enough for a piece, or so many `moves` cost less.
    pub fn of(
        length: usize,
        available: usize,
        moves: usize,
        source: impl Fn(usize) -> usize,
    ) -> Option<Shuffles> {
        if length < PIECE || available < PIECE {
            return None;
        }
        let start = |piece: usize, length: usize| (piece * PIECE).min(length - PIECE);
        let mut depth = 0;
        let pieces = (0..length.div_ceil(PIECE)).map(|piece| {
            let at = start(piece, length);
            let mut sources = [(0, [0x80; PIECE]); MOST];
            let mut used = 0;
            for piece in 0..available.div_ceil(PIECE) {
                let from = start(piece, available);
                let pick = |byte: usize| match source(at + byte) {
                    offset if offset / PIECE == piece => (offset - from) as u8,
                    _ => 0x80,
                };
                let mask = std::array::from_fn(pick);
                if mask != [0x80; PIECE] {
                    sources[used] = (from as u8, mask);
                    used += 1;
                }
            }
            depth = depth.max(used);
            Piece {
                at: at as u8,
                sources,
            }
        });
        let pieces: Box<[Piece]> = pieces.collect();
        // A source is two loads and a permutation, a piece a store and a loop; a move is a load and a store.
        (pieces.len() * (3 * depth + 2) < 2 * moves).then_some(Shuffles { depth, pieces })
    }
}

/// Packs `windows` of a pattern, `stride` being that of its bodies.
///
/// # Safety
/// As for [`super::blocks::strided`]; the processor has [`super::level::Kernels::Shuffles`].
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    target_feature(enable = "avx2")
)]
pub unsafe fn shuffled(
    pattern: &Pattern,
    shuffles: &Shuffles,
    user: *const u8,
    packed: *mut u8,
    level: Level,
) {
    // SAFETY: by the caller.
    unsafe {
        match shuffles.depth {
            1 => shuffled_in::<1>(pattern, shuffles, user, packed, level),
            2 => shuffled_in::<2>(pattern, shuffles, user, packed, level),
            3 => shuffled_in::<3>(pattern, shuffles, user, packed, level),
            _ => shuffled_in::<MOST>(pattern, shuffles, user, packed, level),
        }
    }
}

/// # Safety
/// As for [`shuffled`].
#[inline(always)]
unsafe fn shuffled_in<const DEPTH: usize>(
    pattern: &Pattern,
    shuffles: &Shuffles,
    user: *const u8,
    mut packed: *mut u8,
    (windows, stride): Level,
) {
    let step = stride.wrapping_mul(pattern.bodies as i64) as isize;
    let mut user = user.wrapping_offset((pattern.low + pattern.first as i64) as isize);
    for _ in 0..windows {
        for piece in &shuffles.pieces {
            // SAFETY: each piece lies between the first and the last byte of its side, which are the caller's and at most 64
            // bytes apart, so that all between are on pages that can be read.
            unsafe {
                let sources = piece.sources.first_chunk::<DEPTH>();
                let sources = sources.unwrap_unchecked();
                let value = sources.map(|(at, mask)| permuted(user.add(at as usize), &mask));
                let value = value.into_iter().reduce(either).unwrap_unchecked();
                store(packed.add(piece.at as usize), value);
            }
        }
        user = user.wrapping_offset(step);
        packed = packed.wrapping_add(pattern.size);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
use x86::*;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::*;

    /// 16 bytes, of those at `from`; zero where the mask says 0x80.
    ///
    /// # Safety
    /// They can be read. Inlined into functions with AVX2 only.
    #[inline(always)]
    pub unsafe fn permuted(from: *const u8, mask: &[u8; 16]) -> __m128i {
        // SAFETY: by the caller.
        unsafe {
            let mask = _mm_loadu_si128(mask.as_ptr().cast());
            _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), mask)
        }
    }

    #[inline(always)]
    pub fn either(one: __m128i, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has it.
        unsafe { _mm_or_si128(one, other) }
    }

    /// # Safety
    /// 16 bytes can be written.
    #[inline(always)]
    pub unsafe fn store(to: *mut u8, value: __m128i) {
        // SAFETY: by the caller.
        unsafe { _mm_storeu_si128(to.cast(), value) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
use neon::*;
#[cfg(all(target_arch = "aarch64", not(miri)))]
mod neon {
    use std::arch::aarch64::*;

    /// 16 bytes, of those at `from`; zero where the mask says 0x80.
    ///
    /// # Safety
    /// They can be read.
    #[inline(always)]
    pub unsafe fn permuted(from: *const u8, mask: &[u8; 16]) -> uint8x16_t {
        // SAFETY: by the caller.
        unsafe { vqtbl1q_u8(vld1q_u8(from), vld1q_u8(mask.as_ptr())) }
    }

    #[inline(always)]
    pub fn either(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        // SAFETY: every aarch64 processor has it.
        unsafe { vorrq_u8(one, other) }
    }

    /// # Safety
    /// 16 bytes can be written.
    #[inline(always)]
    pub unsafe fn store(to: *mut u8, value: uint8x16_t) {
        // SAFETY: by the caller.
        unsafe { vst1q_u8(to, value) };
    }
}

/// What no level of this processor uses, byte by byte.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use bytewise::*;
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod bytewise {
    /// # Safety
    /// 16 bytes can be read.
    pub unsafe fn permuted(from: *const u8, mask: &[u8; 16]) -> u128 {
        // SAFETY: by the caller.
        let bytes = unsafe { from.cast::<[u8; 16]>().read() };
        u128::from_ne_bytes(mask.map(|byte| bytes.get(byte as usize).copied().unwrap_or(0)))
    }

    pub fn either(one: u128, other: u128) -> u128 {
        one | other
    }

    /// # Safety
    /// 16 bytes can be written.
    pub unsafe fn store(to: *mut u8, value: u128) {
        // SAFETY: by the caller.
        unsafe { to.cast::<[u8; 16]>().write(value.to_ne_bytes()) };
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod tests {
    use super::super::super::form::{Form, Repeat};
    use super::super::super::get;
    use super::super::super::layout::tests::of;
    use super::super::level::{Kernels, kernels, use_kernels};
    use super::*;

    /// Packs by the shuffles as a walk over the pattern's bytes says, if the pattern has them.
    fn check(body: &Repeat, shuffles: bool) {
        let pattern = Pattern::of(body).unwrap();
        let Some(found) = &pattern.pack else {
            return assert!(!shuffles, "{body:?}");
        };
        assert!(shuffles, "{body:?}");
        use_kernels(3);
        if kernels() < Kernels::Shuffles {
            return;
        }
        let windows = 3;
        let origin = 512;
        let offset = |window: usize, byte: usize| {
            let step = body.stride * pattern.bodies as i64 * window as i64;
            (origin + step + pattern.low) as usize + pattern.gather[byte] as usize
        };
        let bytes = |window: usize| (0..pattern.size).map(move |byte| (window, byte));
        let memory: Vec<u8> = (0..1024_u32).map(|at| ((at * 7) >> 2) as u8).collect();
        let all = (0..windows).flat_map(bytes);
        let expected: Vec<u8> = all.map(|(w, b)| memory[offset(w, b)]).collect();
        let mut packed = vec![0; expected.len()];
        let level = (windows as u64, body.stride);
        let user = memory.as_ptr().wrapping_add(origin as usize);
        // SAFETY: the memory holds the windows, and what the processor has was looked at.
        unsafe { shuffled(&pattern, found, user, packed.as_mut_ptr(), level) };
        assert_eq!(packed, expected);
    }

    #[test]
    fn what_is_shuffled_is_what_the_pattern_says() {
        for (bytes, stride, shuffles) in [
            (1, 2, true),
            (1, -3, true),
            (2, 4, true),
            (2, 6, false),
            (3, 5, true),
            (8, 12, false),
            (12, 16, false),
            (24, 40, false),
        ] {
            check(&Repeat::new(Form::block(bytes), stride), shuffles);
        }
        let char = get(0x4c00_0101).unwrap().layout();
        let list = of(&[(0, 1), (3, 2), (7, 1), (9, 1)], char).unwrap();
        check(&Repeat::new(list.form.clone().unwrap(), 12), true);
    }
}
