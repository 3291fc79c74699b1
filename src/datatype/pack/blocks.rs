//! Kernels for equal blocks at equal distances, and for lists of blocks: the plain ones, and the choice between them and
//! those of `wide`.
#![allow(unsafe_code)]

use super::super::list::{Blocks, List};
use super::super::pattern::Pattern;
use super::nest::{AHEAD, FAR, Level, each_row};
use super::permute;
use super::shuffle;
use super::wide::{self, Kernels};
use std::ptr;

/// Copies bytes between the user's memory and the packed stream.
///
/// # Safety
/// Both are valid and do not overlap.
#[inline(always)]
pub unsafe fn copy<const PACK: bool>(user: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: by the caller.
    unsafe {
        if PACK {
            ptr::copy_nonoverlapping(user, packed, bytes);
        } else {
            ptr::copy_nonoverlapping(packed, user, bytes);
        }
    }
}

/// As [`copy`], of few bytes, without a call.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
unsafe fn copy_short<const PACK: bool>(user: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: by the caller; each pair of pieces lies in the range.
    unsafe {
        let ends = |piece: usize| {
            (
                user.wrapping_add(bytes - piece),
                packed.wrapping_add(bytes - piece),
            )
        };
        match bytes {
            0 => {}
            1 => copy::<PACK>(user, packed, 1),
            2..=3 => {
                let (user_end, packed_end) = ends(2);
                copy::<PACK>(user, packed, 2);
                copy::<PACK>(user_end, packed_end, 2);
            }
            4..=7 => {
                let (user_end, packed_end) = ends(4);
                copy::<PACK>(user, packed, 4);
                copy::<PACK>(user_end, packed_end, 4);
            }
            8..=16 => {
                let (user_end, packed_end) = ends(8);
                copy::<PACK>(user, packed, 8);
                copy::<PACK>(user_end, packed_end, 8);
            }
            17..=32 => {
                let (user_end, packed_end) = ends(16);
                copy::<PACK>(user, packed, 16);
                copy::<PACK>(user_end, packed_end, 16);
            }
            33..=64 => {
                let (user_end, packed_end) = ends(32);
                copy::<PACK>(user, packed, 32);
                copy::<PACK>(user_end, packed_end, 32);
            }
            _ => copy::<PACK>(user, packed, bytes),
        }
    }
}

/// Rows of blocks of a length known when compiling.
///
/// # Safety
/// As for [`strided`].
unsafe fn fixed<const PACK: bool, const BYTES: usize>(
    user: *mut u8,
    mut packed: *mut u8,
    outer: &[Level],
    (count, stride): Level,
) {
    let ahead = stride.wrapping_mul(AHEAD) as isize;
    let far = stride.unsigned_abs() >= FAR;
    each_row(outer, user, |mut user| {
        for _ in 0..count {
            if far {
                prefetch(user.wrapping_offset(ahead));
            }
            // SAFETY: by the caller.
            unsafe { copy::<PACK>(user, packed, BYTES) };
            user = user.wrapping_offset(stride as isize);
            packed = packed.wrapping_add(BYTES);
        }
    });
}

#[inline(always)]
fn prefetch(_place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: asking for a line that is not there does nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(_place.cast());
    }
}

/// Blocks of `bytes` in rows; the outer loops' last one is the innermost.
///
/// # Safety
/// All blocks are valid in the user's memory and `packed` for all of them; the two do not overlap.
pub unsafe fn strided<const PACK: bool>(
    user: *mut u8,
    packed: *mut u8,
    bytes: u64,
    outer: &[Level],
    inner: Level,
) {
    // SAFETY: by the caller; what the processor has was looked at.
    unsafe {
        match bytes {
            1 => fixed::<PACK, 1>(user, packed, outer, inner),
            2 => fixed::<PACK, 2>(user, packed, outer, inner),
            4 => fixed::<PACK, 4>(user, packed, outer, inner),
            8 => fixed::<PACK, 8>(user, packed, outer, inner),
            12 => fixed::<PACK, 12>(user, packed, outer, inner),
            16 => fixed::<PACK, 16>(user, packed, outer, inner),
            24 => fixed::<PACK, 24>(user, packed, outer, inner),
            _ if wide::kernels() >= Kernels::Masks => {
                wide::strided::<PACK>(user, packed, bytes, outer, inner);
            }
            28 => fixed::<PACK, 28>(user, packed, outer, inner),
            32 => fixed::<PACK, 32>(user, packed, outer, inner),
            56 => fixed::<PACK, 56>(user, packed, outer, inner),
            64 => fixed::<PACK, 64>(user, packed, outer, inner),
            _ => of_any_length::<PACK>(user, packed, bytes as usize, outer, inner),
        }
    }
}

/// # Safety
/// As for [`strided`].
unsafe fn of_any_length<const PACK: bool>(
    user: *mut u8,
    mut packed: *mut u8,
    bytes: usize,
    outer: &[Level],
    (count, stride): Level,
) {
    each_row(outer, user, |mut user| {
        for _ in 0..count {
            // SAFETY: by the caller.
            unsafe { copy_short::<PACK>(user, packed, bytes) };
            user = user.wrapping_offset(stride as isize);
            packed = packed.wrapping_add(bytes);
        }
    });
}

/// The blocks `from .. to` of a list.
///
/// # Safety
/// As for [`strided`].
pub unsafe fn listed<const PACK: bool>(
    list: &List,
    (from, to): (usize, usize),
    user: *mut u8,
    mut packed: *mut u8,
) {
    let wide = wide::kernels() >= Kernels::Masks;
    // SAFETY: by the caller; the level was looked at.
    unsafe {
        match &list.blocks {
            Blocks::Equal(bytes, blocks) => {
                let (blocks, shift) = (&blocks[from..to], list.shift);
                match bytes {
                    4 => equal::<PACK, 4>(user, packed, blocks, shift),
                    8 => equal::<PACK, 8>(user, packed, blocks, shift),
                    16 => equal::<PACK, 16>(user, packed, blocks, shift),
                    _ if wide => wide::equal::<PACK>(user, packed, *bytes, blocks, shift),
                    12 => equal::<PACK, 12>(user, packed, blocks, shift),
                    24 => equal::<PACK, 24>(user, packed, blocks, shift),
                    56 => equal::<PACK, 56>(user, packed, blocks, shift),
                    _ => one_by_one::<PACK>(list, (from, to), user, packed),
                }
            }
            Blocks::Narrow(blocks) if wide => {
                wide::narrow::<PACK>(user, packed, &blocks[from..=to], list.shift, list.longest);
            }
            Blocks::Narrow(blocks) => {
                for pair in blocks[from..=to].windows(2) {
                    let bytes = ((pair[1].1 - pair[0].1) as usize) << list.shift;
                    let user = user.wrapping_offset((pair[0].0 as isize) << list.shift);
                    copy_short::<PACK>(user, packed, bytes);
                    packed = packed.wrapping_add(bytes);
                }
            }
            Blocks::Wide(_) => one_by_one::<PACK>(list, (from, to), user, packed),
        }
    }
}

/// # Safety
/// As for [`strided`].
unsafe fn equal<const PACK: bool, const BYTES: usize>(
    user: *mut u8,
    mut packed: *mut u8,
    blocks: &[i32],
    shift: u32,
) {
    for at in blocks {
        let user = user.wrapping_offset((*at as isize) << shift);
        // SAFETY: by the caller.
        unsafe { copy::<PACK>(user, packed, BYTES) };
        packed = packed.wrapping_add(BYTES);
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
        unsafe { copy_short::<PACK>(user, packed, bytes) };
        packed = packed.wrapping_add(bytes);
    }
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
    let kernels = wide::kernels();
    if kernels == Kernels::Permutes {
        // SAFETY: by the caller; what the processor has was looked at.
        return unsafe {
            permute::permuted::<PACK>(pattern, user, packed, outer, (bodies, stride))
        };
    }
    let size = pattern.size as u64 / pattern.bodies;
    let windows = bodies / pattern.bodies;
    each_row(outer, user, |user| {
        let level = (windows, stride);
        // SAFETY: by the caller; what the processor has was looked at.
        let shuffled = kernels >= Kernels::Shuffles
            && unsafe { shuffle::shuffled::<PACK>(pattern, user, packed, level) };
        let done = if shuffled {
            windows * pattern.bodies
        } else {
            0
        };
        let user = user.wrapping_offset(stride.wrapping_mul(done as i64) as isize);
        let rest = packed.wrapping_add((done * size) as usize);
        // SAFETY: by the caller.
        unsafe { moved::<PACK>(pattern, user, rest, (bodies - done, stride)) };
        packed = packed.wrapping_add((bodies * size) as usize);
    });
}

/// Bodies of a pattern, move by move.
///
/// # Safety
/// As for [`strided`].
unsafe fn moved<const PACK: bool>(
    pattern: &Pattern,
    mut user: *mut u8,
    mut packed: *mut u8,
    (bodies, stride): Level,
) {
    let size = pattern.size / pattern.bodies as usize;
    for _ in 0..bodies {
        for step in &pattern.moves {
            let user = user.wrapping_offset(step.at as isize);
            let packed = packed.wrapping_add(step.packed as usize);
            // SAFETY: by the caller.
            unsafe {
                match step.bytes {
                    1 => copy::<PACK>(user, packed, 1),
                    2 => copy::<PACK>(user, packed, 2),
                    4 => copy::<PACK>(user, packed, 4),
                    8 => copy::<PACK>(user, packed, 8),
                    _ => copy::<PACK>(user, packed, 16),
                }
            }
        }
        user = user.wrapping_offset(stride as isize);
        packed = packed.wrapping_add(size);
    }
}
