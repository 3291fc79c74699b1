//! Kernels of loads and stores of 1 to 64 bytes, for every processor: what they are compiled for is the caller's choice
//! ([`super::level::at`]), and how wide the registers are, the compiler's.
//!
//! Invariant: exactly the bytes of the blocks are read and written in the user's memory. A block of a length between two powers of two is
//! two moves that overlap.
#![allow(unsafe_code)]

use super::super::pattern::Pattern;
use super::nest::{FAR, Level, each_row};
use std::hint::{black_box, select_unpredictable};

/// Moves `BYTES` bytes.
///
/// # Safety
/// Both places are valid for them, and do not overlap.
#[inline(always)]
unsafe fn copy<const PACK: bool, const BYTES: usize>(user: *mut u8, packed: *mut u8) {
    // SAFETY: by the caller.
    unsafe { super::piece::copy::<PACK>(user, packed, BYTES) }
}

/// Moves a block as its first and its last `PIECE` bytes; it has no more than the first if `ONE`.
///
/// # Safety
/// Both places are valid for `bytes`, and do not overlap; the block has from one to two pieces.
#[inline(always)]
unsafe fn ends<const PACK: bool, const PIECE: usize, const ONE: bool>(
    user: *mut u8,
    packed: *mut u8,
    bytes: usize,
) {
    // SAFETY: by the caller.
    unsafe {
        copy::<PACK, PIECE>(user, packed);
        if !ONE {
            let last = bytes - PIECE;
            copy::<PACK, PIECE>(user.wrapping_add(last), packed.wrapping_add(last));
        }
    }
}

/// Calls a kernel made for the pieces that a block of so many bytes, at most [`SHORT`], has.
macro_rules! by_ends {
    ($bytes:expr, $kernel:ident::<$pack:ident>($($argument:expr),*)) => {
        match $bytes {
            1 => $kernel::<$pack, 1, true>($($argument),*),
            2 => $kernel::<$pack, 2, true>($($argument),*),
            3 => $kernel::<$pack, 2, false>($($argument),*),
            4 => $kernel::<$pack, 4, true>($($argument),*),
            5..8 => $kernel::<$pack, 4, false>($($argument),*),
            8 => $kernel::<$pack, 8, true>($($argument),*),
            9..16 => $kernel::<$pack, 8, false>($($argument),*),
            16 => $kernel::<$pack, 16, true>($($argument),*),
            17..32 => $kernel::<$pack, 16, false>($($argument),*),
            32 => $kernel::<$pack, 32, true>($($argument),*),
            33..64 => $kernel::<$pack, 32, false>($($argument),*),
            64 => $kernel::<$pack, 64, true>($($argument),*),
            _ => $kernel::<$pack, 64, false>($($argument),*),
        }
    };
}

/// The longest blocks that are moved by [`ends`].
pub const SHORT: usize = 128;

/// Rows of blocks of at most [`SHORT`] bytes.
///
/// # Safety
/// As for [`super::blocks::strided`].
#[inline(always)]
pub unsafe fn strided<const PACK: bool>(
    user: *mut u8,
    packed: *mut u8,
    bytes: usize,
    outer: &[Level],
    inner: Level,
) {
    // SAFETY: by the caller.
    unsafe { by_ends!(bytes, strided_in::<PACK>(user, packed, bytes, outer, inner)) }
}

/// # Safety
/// As for [`strided`].
#[inline(always)]
unsafe fn strided_in<const PACK: bool, const PIECE: usize, const ONE: bool>(
    user: *mut u8,
    mut packed: *mut u8,
    bytes: usize,
    outer: &[Level],
    (count, stride): Level,
) {
    /// Blocks in one turn of the loop.
    const TURN: u64 = 4;
    /// Far blocks that are asked for ahead: a first cache of 8 ways has room for them also if their distance is a power of two.
    const AHEAD: i64 = 8;
    let ahead = stride.wrapping_mul(AHEAD) as isize;
    // Stores wait for nobody; asking for their lines, too, gains far beyond the caches only.
    let far = PACK && stride.unsigned_abs() >= FAR;
    let stride = stride as isize;
    // A constant for the compiler, where there is one piece.
    let bytes = if ONE { PIECE } else { bytes };
    let block = |user: *mut u8, packed: *mut u8, before: usize| {
        // SAFETY: by the caller.
        unsafe { ends::<PACK, PIECE, ONE>(user, packed.wrapping_add(before * bytes), bytes) };
    };
    let mut few = |count: u64| {
        each_row(outer, user, |user| {
            for index in 0..count as usize {
                let user = user.wrapping_offset(stride.wrapping_mul(index as isize));
                block(user, packed, index);
            }
            packed = packed.wrapping_add(count as usize * bytes);
        });
    };
    if far {
        return each_row(outer, user, |mut user| {
            for _ in 0..count {
                prefetch(user.wrapping_offset(ahead));
                block(user, packed, 0);
                user = user.wrapping_offset(stride);
                packed = packed.wrapping_add(bytes);
            }
        });
    }
    match count {
        // Loops that the compiler unrolls.
        2 if ONE && PIECE <= 16 => return few(2),
        3 if ONE && PIECE <= 16 => return few(3),
        4 if ONE && PIECE <= 16 => return few(4),
        _ => {}
    }
    // Hidden from the compiler, which would make a chain of additions of them, one after the other.
    let (two, three) = black_box((stride.wrapping_mul(2), stride.wrapping_mul(3)));
    each_row(outer, user, |mut user| {
        let mut left = count;
        while left > 0 {
            block(user, packed, 0);
            if left < TURN {
                user = user.wrapping_offset(stride);
                packed = packed.wrapping_add(bytes);
                left -= 1;
                continue;
            }
            block(user.wrapping_offset(stride), packed, 1);
            block(user.wrapping_offset(two), packed, 2);
            block(user.wrapping_offset(three), packed, 3);
            user = user.wrapping_offset(stride.wrapping_mul(TURN as isize));
            packed = packed.wrapping_add(TURN as usize * bytes);
            left -= TURN;
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

/// Blocks of one length, at most [`SHORT`], at displacements in units of `1 << shift` bytes.
///
/// # Safety
/// As for [`super::blocks::strided`].
#[inline(always)]
pub unsafe fn equal<const PACK: bool>(
    user: *mut u8,
    packed: *mut u8,
    bytes: usize,
    list: &[i32],
    shift: u32,
) {
    // SAFETY: by the caller.
    unsafe { by_ends!(bytes, equal_in::<PACK>(user, packed, bytes, list, shift)) }
}

/// # Safety
/// As for [`equal`].
#[inline(always)]
unsafe fn equal_in<const PACK: bool, const PIECE: usize, const ONE: bool>(
    user: *mut u8,
    mut packed: *mut u8,
    bytes: usize,
    list: &[i32],
    shift: u32,
) {
    let bytes = if ONE { PIECE } else { bytes };
    for at in list {
        let user = user.wrapping_offset((*at as isize) << shift);
        // SAFETY: by the caller.
        unsafe { ends::<PACK, PIECE, ONE>(user, packed, bytes) };
        packed = packed.wrapping_add(bytes);
    }
}

/// Blocks of (displacement, start) and of any lengths, up to the last entry, which only ends the one before.
///
/// # Safety
/// As for [`super::blocks::strided`].
#[inline(always)]
pub unsafe fn narrow<const PACK: bool>(
    user: *mut u8,
    packed: *mut u8,
    list: &[(i32, u32)],
    shift: u32,
) {
    // SAFETY: by the caller.
    unsafe {
        match shift {
            0 => narrow_in::<PACK, 0>(user, packed, list),
            1 => narrow_in::<PACK, 1>(user, packed, list),
            2 => narrow_in::<PACK, 2>(user, packed, list),
            _ => narrow_in::<PACK, 3>(user, packed, list),
        }
    }
}

/// Without a branch on the length, which nobody could predict: a block of less than 64 bytes is a piece of 32, one of 16 and so on,
/// and those that it has not are moved from or to memory that is nobody's.
///
/// # Safety
/// As for [`narrow`].
#[inline(always)]
unsafe fn narrow_in<const PACK: bool, const SHIFT: u32>(
    user: *mut u8,
    packed: *mut u8,
    list: &[(i32, u32)],
) {
    let [(_, first), .., (_, last)] = *list else {
        return;
    };
    let place = |block: &(i32, u32)| {
        (
            user.wrapping_offset((block.0 as isize) << SHIFT),
            packed.wrapping_add(((block.1 - first) as usize) << SHIFT),
        )
    };
    let length = |pair: &[(i32, u32)]| ((pair[1].1 - pair[0].1) as usize) << SHIFT;
    // Blocks that end so early that 64 packed bytes are left.
    let roomy = match (last - first).checked_sub(64 >> SHIFT) {
        Some(limit) => list[1..].partition_point(|block| block.1 - first <= limit),
        None => 0,
    };
    let mut spare = [0u8; 32];
    let spare = spare.as_mut_ptr();
    for pair in list[..=roomy].windows(2) {
        let ((mut user, mut packed), mut bytes) = (place(&pair[0]), length(pair));
        // SAFETY: by the caller; of the packed bytes, at most 64 behind the block are read, or written to be overwritten next.
        unsafe {
            if bytes > LONG {
                copy_any::<PACK>(user, packed, bytes);
                continue;
            }
            while bytes >= 64 {
                copy::<PACK, 64>(user, packed);
                (user, packed) = (user.wrapping_add(64), packed.wrapping_add(64));
                bytes -= 64;
            }
            piece::<PACK, 32>(&mut user, &mut packed, bytes, spare);
            piece::<PACK, 16>(&mut user, &mut packed, bytes, spare);
            piece::<PACK, 8>(&mut user, &mut packed, bytes, spare);
            if SHIFT <= 2 {
                piece::<PACK, 4>(&mut user, &mut packed, bytes, spare);
            }
            if SHIFT <= 1 {
                piece::<PACK, 2>(&mut user, &mut packed, bytes, spare);
            }
            if SHIFT == 0 {
                piece::<PACK, 1>(&mut user, &mut packed, bytes, spare);
            }
        }
    }
    for pair in list[roomy..].windows(2) {
        let (user, packed) = place(&pair[0]);
        // SAFETY: by the caller.
        unsafe { copy_any::<PACK>(user, packed, length(pair)) };
    }
}

/// From here on a block of mixed lengths is worth a call of the C library.
const LONG: usize = 512;

/// Moves a block of any length, with a branch on it.
///
/// # Safety
/// As for [`super::piece::copy`].
#[inline(always)]
pub unsafe fn copy_any<const PACK: bool>(user: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: by the caller.
    unsafe {
        match bytes {
            0 => {}
            1..=SHORT => by_ends!(bytes, ends::<PACK>(user, packed, bytes)),
            _ => super::piece::copy::<PACK>(user, packed, bytes),
        }
    }
}

/// The piece of `PIECE` bytes of a block, if it has one.
///
/// # Safety
/// `packed` is valid for a piece, and `user` too if the block has one; `spare` is valid for a piece.
#[inline(always)]
unsafe fn piece<const PACK: bool, const PIECE: usize>(
    user: &mut *mut u8,
    packed: &mut *mut u8,
    bytes: usize,
    spare: *mut u8,
) {
    let has = bytes & PIECE;
    // SAFETY: by the caller.
    unsafe { copy::<PACK, PIECE>(select_unpredictable(has != 0, *user, spare), *packed) };
    *user = user.wrapping_add(has);
    *packed = packed.wrapping_add(has);
}

/// Bodies of a pattern: each move for some bodies, then the next move for them, so that the loops are those of one width.
///
/// # Safety
/// As for [`super::blocks::strided`].
#[inline(always)]
pub unsafe fn moved<const PACK: bool>(
    pattern: &Pattern,
    mut user: *mut u8,
    mut packed: *mut u8,
    (mut bodies, stride): Level,
) {
    /// Bodies whose bytes stay in the first cache meanwhile, near each other or far away.
    const NEAR_BODIES: u64 = 32;
    const FAR_BODIES: u64 = 4;
    let size = pattern.size / pattern.bodies as usize;
    let most = match stride.unsigned_abs() < FAR {
        true => NEAR_BODIES,
        false => FAR_BODIES,
    };
    while bodies > 0 {
        let count = bodies.min(most);
        for step in &pattern.moves {
            let user = user.wrapping_offset(step.at as isize);
            let packed = packed.wrapping_add(step.packed as usize);
            let level = (count, stride);
            // SAFETY: by the caller.
            unsafe {
                match step.bytes {
                    1 => column::<PACK, 1>(user, packed, level, size),
                    2 => column::<PACK, 2>(user, packed, level, size),
                    4 => column::<PACK, 4>(user, packed, level, size),
                    8 => column::<PACK, 8>(user, packed, level, size),
                    16 => column::<PACK, 16>(user, packed, level, size),
                    _ => column::<PACK, 32>(user, packed, level, size),
                }
            }
        }
        user = user.wrapping_offset(stride.wrapping_mul(count as i64) as isize);
        packed = packed.wrapping_add(count as usize * size);
        bodies -= count;
    }
}

/// One move of some bodies.
///
/// # Safety
/// As for [`moved`].
#[inline(always)]
unsafe fn column<const PACK: bool, const BYTES: usize>(
    mut user: *mut u8,
    mut packed: *mut u8,
    (count, stride): Level,
    size: usize,
) {
    for _ in 0..count {
        // SAFETY: by the caller.
        unsafe { copy::<PACK, BYTES>(user, packed) };
        user = user.wrapping_offset(stride as isize);
        packed = packed.wrapping_add(size);
    }
}
