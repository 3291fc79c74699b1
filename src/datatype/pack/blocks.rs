//! Equal blocks at equal distances, lists of blocks, and patterns: the choice between the kernels of `plain`, `shuffle`, `wide` and
//! `permute`.
#![allow(unsafe_code)]

use super::super::list::{Blocks, List};
use super::super::pattern::Pattern;
use super::level::{self, Kernels, kernels};
use super::nest::{Level, each_row};
use super::permute;
use super::piece::copy;
use super::plain::{self, SHORT};
use super::shuffle;
use super::wide;

/// Blocks of `bytes` in rows; the outer loops' last one is the innermost.
///
/// # Safety
/// All blocks are valid in the user's memory and `packed` for all of them; the two do not overlap.
pub unsafe fn strided<const PACK: bool>(
    user: *mut u8,
    mut packed: *mut u8,
    bytes: u64,
    outer: &[Level],
    inner: Level,
) {
    let kernels = kernels();
    // SAFETY: by the caller; what the processor has was looked at.
    unsafe {
        match bytes as usize {
            // Masks gain nothing where a block is one move, or two.
            1 | 2 | 4 | 8 | 12 | 16 | 24 => {}
            _ if kernels >= Kernels::Masks => {
                return wide::strided::<PACK>(user, packed, bytes, outer, inner);
            }
            0..=SHORT => {}
            bytes => {
                let (count, stride) = inner;
                return each_row(outer, user, |mut user| {
                    for _ in 0..count {
                        copy::<PACK>(user, packed, bytes);
                        user = user.wrapping_offset(stride as isize);
                        packed = packed.wrapping_add(bytes);
                    }
                });
            }
        }
        level::at(kernels, || {
            plain::strided::<PACK>(user, packed, bytes as usize, outer, inner);
        });
    }
}

/// The blocks `from .. to` of a list.
///
/// # Safety
/// As for [`strided`].
pub unsafe fn listed<const PACK: bool>(
    list: &List,
    (from, to): (usize, usize),
    user: *mut u8,
    packed: *mut u8,
) {
    let (kernels, shift) = (kernels(), list.shift);
    let masks = kernels >= Kernels::Masks;
    // SAFETY: by the caller; what the processor has was looked at.
    unsafe {
        match &list.blocks {
            Blocks::Equal(bytes, blocks) if masks && !matches!(bytes, 4 | 8 | 16) => {
                wide::equal::<PACK>(user, packed, *bytes, &blocks[from..to], shift);
            }
            Blocks::Equal(bytes, blocks) if *bytes as usize <= SHORT => {
                let (bytes, blocks) = (*bytes as usize, &blocks[from..to]);
                level::at(kernels, || {
                    plain::equal::<PACK>(user, packed, bytes, blocks, shift);
                });
            }
            Blocks::Narrow(blocks) if masks => {
                wide::narrow::<PACK>(user, packed, &blocks[from..=to], shift, list.longest);
            }
            Blocks::Narrow(blocks) => {
                let blocks = &blocks[from..=to];
                level::at(kernels, || {
                    plain::narrow::<PACK>(user, packed, blocks, shift);
                });
            }
            Blocks::Equal(..) | Blocks::Wide(_) => {
                one_by_one::<PACK>(list, (from, to), user, packed);
            }
        }
    }
}

/// # Safety
/// As for [`strided`].
unsafe fn one_by_one<const PACK: bool>(
    list: &List,
    (from, to): (usize, usize),
    user: *mut u8,
    mut packed: *mut u8,
) {
    for block in from..to {
        let bytes = (list.start(block + 1) - list.start(block)) as usize;
        let user = user.wrapping_offset(list.at(block) as isize);
        // SAFETY: by the caller.
        unsafe { plain::copy_any::<PACK>(user, packed, bytes) };
        packed = packed.wrapping_add(bytes);
    }
}

/// Whether a body is best moved by its pattern, if it has one; else block by block.
pub fn by_pattern<const PACK: bool>(pattern: &Pattern) -> bool {
    let kernels = kernels();
    let shuffles = PACK && kernels >= Kernels::Shuffles && pattern.pack.is_some();
    kernels == Kernels::Permutes || !pattern.nest || shuffles
}

/// Rows of bodies of a pattern.
///
/// # Safety
/// As for [`strided`].
pub unsafe fn patterned<const PACK: bool>(
    pattern: &Pattern,
    user: *mut u8,
    mut packed: *mut u8,
    outer: &[Level],
    (bodies, stride): Level,
) {
    let kernels = kernels();
    if kernels == Kernels::Permutes {
        // SAFETY: by the caller; what the processor has was looked at.
        return unsafe {
            permute::permuted::<PACK>(pattern, user, packed, outer, (bodies, stride))
        };
    }
    let size = pattern.size as u64 / pattern.bodies;
    let shuffles = pattern
        .pack
        .as_ref()
        .filter(|_| PACK && kernels >= Kernels::Shuffles);
    each_row(outer, user, |user| {
        let mut done = 0;
        if let Some(shuffles) = shuffles {
            let windows = bodies / pattern.bodies;
            // SAFETY: by the caller; what the processor has was looked at.
            unsafe { shuffle::shuffled(pattern, shuffles, user, packed, (windows, stride)) };
            done = windows * pattern.bodies;
        }
        let user = user.wrapping_offset(stride.wrapping_mul(done as i64) as isize);
        let rest = packed.wrapping_add((done * size) as usize);
        // SAFETY: by the caller; what the processor has was looked at.
        unsafe {
            level::at(kernels, || {
                plain::moved::<PACK>(pattern, user, rest, (bodies - done, stride));
            });
        }
        packed = packed.wrapping_add((bodies * size) as usize);
    });
}
