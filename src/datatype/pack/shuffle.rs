//! Kernels for patterns on processors that permute 16 bytes at a time (pshufb; AVX2): a piece of one side is put together
//! from pieces of the other.
//!
//! Pieces lie in the range from the first to the last byte of a window, so nothing outside is read; what is read of holes is
//! thrown away, and nothing of them is written.
#![allow(unsafe_code)]

use super::super::pattern::Pattern;
use super::nest::Level;

const PIECE: usize = 16;

/// How the pieces of one side are made from those of the other.
#[derive(Debug)]
#[cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]
pub struct Shuffles(Box<[Piece]>);

#[derive(Debug)]
#[cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]
struct Piece {
    /// Where it lies on its side.
    at: u8,
    /// Which of its four words are data.
    words: [i32; 4],
    /// From which bytes of a piece at `.0` its bytes come; 0x80: from none.
    sources: Box<[(u8, [u8; PIECE])]>,
}

impl Shuffles {
    /// For a side of `length` bytes, where `source` says from which of `available` bytes each one comes. `None` if there are
    /// not enough for a piece, or a word is data only in part.
    pub fn of(
        length: usize,
        available: usize,
        source: impl Fn(usize) -> Option<usize>,
    ) -> Option<Shuffles> {
        if length < PIECE || available < PIECE {
            return None;
        }
        let start = |piece: usize, length: usize| (piece * PIECE).min(length - PIECE);
        let made = (0..length.div_ceil(PIECE)).map(|piece| {
            let at = start(piece, length);
            let mut words = [0; 4];
            for (word, mask) in words.iter_mut().enumerate() {
                let bytes = (0..4).filter(|byte| source(at + 4 * word + byte).is_some());
                *mask = match bytes.count() {
                    0 => 0,
                    4 => -1,
                    _ => return None,
                };
            }
            let sources = (0..available.div_ceil(PIECE)).filter_map(|piece| {
                let from = start(piece, available);
                let pick = |byte: usize| match source(at + byte) {
                    Some(offset) if offset / PIECE == piece => (offset - from) as u8,
                    _ => 0x80,
                };
                let mask = std::array::from_fn(pick);
                (mask != [0x80; PIECE]).then_some((from as u8, mask))
            });
            Some(Piece {
                at: at as u8,
                words,
                sources: sources.collect(),
            })
        });
        Some(Shuffles(made.collect::<Option<_>>()?))
    }
}

/// Moves `windows` of a pattern, `stride` being that of its bodies; false if this pattern is not for it.
///
/// # Safety
/// As for [`super::blocks::strided`]; the processor has AVX2.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
pub unsafe fn shuffled<const PACK: bool>(
    pattern: &Pattern,
    user: *mut u8,
    packed: *mut u8,
    (windows, stride): Level,
) -> bool {
    use std::arch::x86_64::*;
    let way = if PACK { &pattern.pack } else { &pattern.unpack };
    let Some(Shuffles(pieces)) = way else {
        return false;
    };
    let step = stride.wrapping_mul(pattern.bodies as i64) as isize;
    let mut user = user.wrapping_offset((pattern.low + pattern.first as i64) as isize);
    let mut packed = packed;
    for _ in 0..windows {
        let (from, to) = if PACK { (user, packed) } else { (packed, user) };
        for piece in pieces {
            // SAFETY: each piece lies between the first and the last byte of its side, which are the caller's and at most 64
            // bytes apart, so that all between are on pages that can be read; only words that are data are written.
            unsafe {
                let mut value = _mm_setzero_si128();
                for (at, mask) in &piece.sources {
                    let bytes = _mm_loadu_si128(from.add(*at as usize).cast());
                    let mask = _mm_loadu_si128(mask.as_ptr().cast());
                    value = _mm_or_si128(value, _mm_shuffle_epi8(bytes, mask));
                }
                let to = to.add(piece.at as usize);
                if PACK || piece.words == [-1; 4] {
                    _mm_storeu_si128(to.cast(), value);
                } else {
                    let words = _mm_loadu_si128(piece.words.as_ptr().cast());
                    _mm_maskstore_epi32(to.cast(), words, value);
                }
            }
        }
        user = user.wrapping_offset(step);
        packed = packed.wrapping_add(pattern.size);
    }
    true
}

/// Never called: no other processor says that it shuffles.
///
/// # Safety
/// Not called.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub unsafe fn shuffled<const PACK: bool>(_: &Pattern, _: *mut u8, _: *mut u8, _: Level) -> bool {
    false
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::super::super::form::{Form, Repeat};
    use super::super::super::layout::tests::of;
    use super::super::super::{INT, get};
    use super::*;

    /// Packs and unpacks by the shuffles as a walk over the pattern's bytes says.
    fn check(body: &Repeat, unpacks: bool) {
        if !std::is_x86_feature_detected!("avx2") {
            return;
        }
        let pattern = Pattern::of(body).unwrap();
        let windows = 3;
        let origin = 512;
        let offset = |window: usize, byte: usize| {
            let step = body.stride * pattern.bodies as i64 * window as i64;
            (origin + step + pattern.low) as usize + pattern.gather[byte] as usize
        };
        let bytes = |window: usize| (0..pattern.size).map(move |byte| (window, byte));
        let all: Vec<_> = (0..windows).flat_map(bytes).collect();
        let mut memory: Vec<u8> = (0..1024_u32).map(|at| ((at * 7) >> 2) as u8).collect();
        let expected: Vec<u8> = all.iter().map(|(w, b)| memory[offset(*w, *b)]).collect();
        let mut packed = vec![0; expected.len()];
        let level = (windows as u64, body.stride);
        let user = memory.as_mut_ptr().wrapping_add(origin as usize);
        // SAFETY: the memory holds the windows, and AVX2 was looked for.
        assert!(unsafe { shuffled::<true>(&pattern, user, packed.as_mut_ptr(), level) });
        assert_eq!(packed, expected);
        let mut target = vec![0xee; 1024];
        let mut filled = target.clone();
        all.iter()
            .zip(&expected)
            .for_each(|((w, b), byte)| filled[offset(*w, *b)] = *byte);
        let user = target.as_mut_ptr().wrapping_add(origin as usize);
        // SAFETY: as above.
        let done = unsafe { shuffled::<false>(&pattern, user, packed.as_mut_ptr(), level) };
        assert_eq!(done, unpacks);
        if unpacks {
            assert_eq!(target, filled);
        }
    }

    #[test]
    fn what_is_shuffled_is_what_the_pattern_says() {
        for (bytes, stride, unpacks) in [
            (1, 2, false),
            (2, 6, false),
            (4, 8, true),
            (4, -8, true),
            (8, 12, true),
            (3, 5, false),
            (12, 16, true),
            (24, 40, true),
        ] {
            check(&Repeat::new(Form::block(bytes), stride), unpacks);
        }
        let int = get(INT).unwrap().layout();
        let list = of(&[(0, 1), (12, 2), (24, 1)], int).unwrap();
        check(&Repeat::new(list.form.clone().unwrap(), 32), true);
    }
}
