//! Kernels on registers of 64 bytes with a mask for each byte (AVX-512): a masked load or store touches only what the mask
//! names, also where the rest is not mapped, so one instruction moves any block of up to 64 bytes, without a branch on its
//! length. Whether the processor has them is found at run time (`level`); elsewhere nothing here is called.
//!
//! Packed bytes are written 64 at a time as long as that stays within them: what is too much is overwritten next.
#![allow(unsafe_code)]

use super::nest::Level;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use avx512::*;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512 {
    use super::super::nest::{FAR, each_row, rows};
    use super::*;
    use std::arch::x86_64::*;

    /// Far blocks that are asked for ahead.
    const AHEAD: i64 = 16;

    /// The lowest `bytes` bits, at most 64.
    #[inline(always)]
    pub(in super::super) fn lowest(bytes: u64) -> u64 {
        // SAFETY: inlined only into functions that have the feature.
        unsafe { _bzhi_u64(u64::MAX, bytes as u32) }
    }

    /// Moves one block of at most 64 bytes; `room` packed bytes are left, this block's included.
    ///
    /// # Safety
    /// Inlined into functions with the features only; both places are valid for `bytes`, `packed` for `room`.
    #[inline(always)]
    unsafe fn block<const PACK: bool>(
        user: *mut u8,
        packed: *mut u8,
        mask: u64,
        bytes: u64,
        room: u64,
    ) {
        // SAFETY: masked accesses touch the block only, the others `room`.
        unsafe {
            match (PACK, room >= 64) {
                (true, true) => {
                    let value = _mm512_maskz_loadu_epi8(mask, user.cast());
                    _mm512_storeu_si512(packed.cast(), value);
                }
                (true, false) => {
                    let value = _mm512_maskz_loadu_epi8(mask, user.cast());
                    _mm512_mask_storeu_epi8(packed.cast(), lowest(bytes), value);
                }
                (false, true) => {
                    let value = _mm512_loadu_si512(packed.cast());
                    _mm512_mask_storeu_epi8(user.cast(), mask, value);
                }
                (false, false) => {
                    let value = _mm512_maskz_loadu_epi8(lowest(bytes), packed.cast());
                    _mm512_mask_storeu_epi8(user.cast(), mask, value);
                }
            }
        }
    }

    /// Moves one block of at most `WIDTH` bytes (16, 32 or 64), exactly so many if `FULL`.
    ///
    /// # Safety
    /// As for `block`, with room for `WIDTH` packed bytes.
    #[inline(always)]
    unsafe fn piece<const PACK: bool, const WIDTH: u64, const FULL: bool>(
        user: *mut u8,
        packed: *mut u8,
        mask: u64,
    ) {
        // SAFETY: as in `block`; whole registers are moved on the user's side only if the block fills them.
        unsafe {
            match (WIDTH, PACK) {
                (16, true) => {
                    let value = match FULL {
                        true => _mm_loadu_si128(user.cast()),
                        false => _mm_maskz_loadu_epi8(mask as u16, user.cast()),
                    };
                    _mm_storeu_si128(packed.cast(), value);
                }
                (16, false) => {
                    let value = _mm_loadu_si128(packed.cast());
                    match FULL {
                        true => _mm_storeu_si128(user.cast(), value),
                        false => _mm_mask_storeu_epi8(user.cast(), mask as u16, value),
                    }
                }
                (32, true) => {
                    let value = match FULL {
                        true => _mm256_loadu_si256(user.cast()),
                        false => _mm256_maskz_loadu_epi8(mask as u32, user.cast()),
                    };
                    _mm256_storeu_si256(packed.cast(), value);
                }
                (32, false) => {
                    let value = _mm256_loadu_si256(packed.cast());
                    match FULL {
                        true => _mm256_storeu_si256(user.cast(), value),
                        false => _mm256_mask_storeu_epi8(user.cast(), mask as u32, value),
                    }
                }
                (_, true) => {
                    let value = match FULL {
                        true => _mm512_loadu_si512(user.cast()),
                        false => _mm512_maskz_loadu_epi8(mask, user.cast()),
                    };
                    _mm512_storeu_si512(packed.cast(), value);
                }
                (_, false) => {
                    let value = _mm512_loadu_si512(packed.cast());
                    match FULL {
                        true => _mm512_storeu_si512(user.cast(), value),
                        false => _mm512_mask_storeu_epi8(user.cast(), mask, value),
                    }
                }
            }
        }
    }

    /// Calls a kernel made for the width of the register that a block of so many bytes needs.
    macro_rules! by_width {
        ($bytes:expr, $kernel:ident::<$pack:ident>($($argument:expr),*)) => {
            match $bytes {
                16 => $kernel::<$pack, 16, true>($($argument),*),
                32 => $kernel::<$pack, 32, true>($($argument),*),
                64 => $kernel::<$pack, 64, true>($($argument),*),
                0..16 => $kernel::<$pack, 16, false>($($argument),*),
                17..32 => $kernel::<$pack, 32, false>($($argument),*),
                _ => $kernel::<$pack, 64, false>($($argument),*),
            }
        };
    }

    /// Moves one block of any length.
    ///
    /// # Safety
    /// As for `block`.
    #[inline(always)]
    unsafe fn any_block<const PACK: bool>(
        mut user: *mut u8,
        mut packed: *mut u8,
        mut bytes: u64,
        room: u64,
    ) {
        let mut room = room;
        // SAFETY: pieces of the block.
        unsafe {
            if bytes > 512 {
                return super::super::piece::copy::<PACK>(user, packed, bytes as usize);
            }
            while bytes > 64 {
                block::<PACK>(user, packed, u64::MAX, 64, 64);
                (user, packed) = (user.wrapping_add(64), packed.wrapping_add(64));
                (bytes, room) = (bytes - 64, room - 64);
            }
            block::<PACK>(user, packed, lowest(bytes), bytes, room);
        }
    }

    /// How many of `count` steps of `bytes` packed bytes each have 64 bytes of room.
    #[inline(always)]
    pub(in super::super) fn roomy(count: u64, bytes: u64, room: u64) -> u64 {
        if room < 64 {
            0
        } else {
            count.min((room - 64) / bytes + 1)
        }
    }

    /// Rows of `count` blocks of `bytes`, `stride` apart.
    ///
    /// # Safety
    /// The features are there (`kernels`); the blocks are valid in the user's memory, and `packed` for all of them together.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub unsafe fn strided<const PACK: bool>(
        user: *mut u8,
        packed: *mut u8,
        bytes: u64,
        outer: &[Level],
        inner: Level,
    ) {
        // SAFETY: by the caller.
        unsafe { by_width!(bytes, strided_in::<PACK>(user, packed, bytes, outer, inner)) }
    }

    /// # Safety
    /// As for `strided`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    unsafe fn strided_in<const PACK: bool, const WIDTH: u64, const FULL: bool>(
        user: *mut u8,
        mut packed: *mut u8,
        bytes: u64,
        outer: &[Level],
        (count, stride): Level,
    ) {
        let mut room = rows(outer) * bytes * count;
        let mask = lowest(bytes);
        let ahead = stride.wrapping_mul(AHEAD) as isize;
        // Stores wait for nobody, as in `plain`.
        let far = PACK && stride.unsigned_abs() >= FAR;
        each_row(outer, user, |mut user| {
            let safe = if bytes <= 64 {
                roomy(count, bytes, room)
            } else {
                0
            };
            for _ in 0..safe {
                // SAFETY: by the caller; 64 packed bytes are left. Asking for a line that is not there does nothing.
                unsafe {
                    if far {
                        _mm_prefetch::<_MM_HINT_T0>(user.wrapping_offset(ahead).cast());
                    }
                    piece::<PACK, WIDTH, FULL>(user, packed, mask);
                }
                user = user.wrapping_offset(stride as isize);
                packed = packed.wrapping_add(bytes as usize);
            }
            room -= safe * bytes;
            for _ in safe..count {
                // SAFETY: by the caller.
                unsafe { any_block::<PACK>(user, packed, bytes, room) };
                user = user.wrapping_offset(stride as isize);
                packed = packed.wrapping_add(bytes as usize);
                room -= bytes;
            }
        });
    }

    /// Blocks of one length at displacements in units of `1 << shift` bytes.
    ///
    /// # Safety
    /// As for `strided`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub unsafe fn equal<const PACK: bool>(
        user: *mut u8,
        packed: *mut u8,
        bytes: u64,
        list: &[i32],
        shift: u32,
    ) {
        // SAFETY: by the caller.
        unsafe { by_width!(bytes, equal_in::<PACK>(user, packed, bytes, list, shift)) }
    }

    /// # Safety
    /// As for `strided`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    unsafe fn equal_in<const PACK: bool, const WIDTH: u64, const FULL: bool>(
        user: *mut u8,
        mut packed: *mut u8,
        bytes: u64,
        list: &[i32],
        shift: u32,
    ) {
        let mut room = bytes * list.len() as u64;
        let mask = lowest(bytes);
        let safe = if bytes <= 64 {
            roomy(list.len() as u64, bytes, room)
        } else {
            0
        };
        let (safe, rest) = list.split_at(safe as usize);
        for at in safe {
            let user = user.wrapping_offset((*at as isize) << shift);
            // SAFETY: by the caller; 64 packed bytes are left.
            unsafe { piece::<PACK, WIDTH, FULL>(user, packed, mask) };
            packed = packed.wrapping_add(bytes as usize);
        }
        room -= safe.len() as u64 * bytes;
        for at in rest {
            let user = user.wrapping_offset((*at as isize) << shift);
            // SAFETY: by the caller.
            unsafe { any_block::<PACK>(user, packed, bytes, room) };
            packed = packed.wrapping_add(bytes as usize);
            room -= bytes;
        }
    }

    /// Blocks of (displacement, start) up to the last entry, which only ends the one before.
    ///
    /// # Safety
    /// As for `strided`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub unsafe fn narrow<const PACK: bool>(
        user: *mut u8,
        packed: *mut u8,
        list: &[(i32, u32)],
        shift: u32,
        longest: u64,
    ) {
        let [(_, first), .., (_, last)] = *list else {
            return;
        };
        let address = |at: i32| user.wrapping_offset((at as isize) << shift);
        let target = |start: u32| packed.wrapping_add(((start - first) as usize) << shift);
        // Blocks that start 64 bytes before the end, or earlier.
        let limit = ((last as u64) << shift).saturating_sub(64) >> shift;
        let safe = match longest <= 64 && ((last - first) as u64) << shift >= 64 {
            true => list[..list.len() - 1].partition_point(|block| block.1 as u64 <= limit),
            false => 0,
        };
        for index in 0..safe {
            let ((at, start), end) = (list[index], list[index + 1].1);
            let bytes = ((end - start) as u64) << shift;
            // SAFETY: by the caller; 64 packed bytes are left.
            unsafe { block::<PACK>(address(at), target(start), lowest(bytes), bytes, 64) };
        }
        for pair in list[safe..].windows(2) {
            let ((at, start), end) = (pair[0], pair[1].1);
            let (bytes, room) = (
                ((end - start) as u64) << shift,
                ((last - start) as u64) << shift,
            );
            // SAFETY: by the caller.
            unsafe { any_block::<PACK>(address(at), target(start), bytes, room) };
        }
    }
}

/// Where there are no such registers: never called, because `kernels` says `Plain`.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod none {
    use super::*;

    /// # Safety
    /// Not called.
    pub unsafe fn strided<const PACK: bool>(_: *mut u8, _: *mut u8, _: u64, _: &[Level], _: Level) {
    }
    /// # Safety
    /// Not called.
    pub unsafe fn equal<const PACK: bool>(_: *mut u8, _: *mut u8, _: u64, _: &[i32], _: u32) {}
    /// # Safety
    /// Not called.
    pub unsafe fn narrow<const PACK: bool>(
        _: *mut u8,
        _: *mut u8,
        _: &[(i32, u32)],
        _: u32,
        _: u64,
    ) {
    }
}
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub use none::*;
