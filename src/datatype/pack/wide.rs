//! Kernels on registers of 64 bytes with a mask for each byte (AVX-512): a masked load or store touches only what the mask
//! names, also where the rest is not mapped, so one instruction moves any block of up to 64 bytes, without a branch on its
//! length. Whether the processor has them is found at run time; elsewhere `level` says so and nothing here is called.
//!
//! Packed bytes are written 64 at a time as long as that stays within them: what is too much is overwritten next.
#![allow(unsafe_code)]

use super::super::pattern::Pattern;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Plain,
    /// Masks for bytes.
    Masks,
    /// And permutations of bytes.
    Permutes,
}

/// What this processor has.
#[inline]
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    match LEVEL.get() {
        Some(_) if PLAIN.load(Ordering::Relaxed) => Level::Plain,
        Some(level) => *level,
        None => *LEVEL.get_or_init(find),
    }
}

/// For tests, and OXMPI_DATATYPE_KERNELS: do without any of the kernels here.
pub static PLAIN: AtomicBool = AtomicBool::new(false);

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn find() -> Level {
    use std::is_x86_feature_detected as has;
    if !(has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("bmi2")) {
        Level::Plain
    } else if has!("avx512vbmi") {
        Level::Permutes
    } else {
        Level::Masks
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn find() -> Level {
    Level::Plain
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use kernels::*;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod kernels {
    use super::*;
    use std::arch::x86_64::*;

    /// The lowest `bytes` bits, at most 64.
    #[inline(always)]
    fn lowest(bytes: u64) -> u64 {
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
                return super::super::blocks::copy::<PACK>(user, packed, bytes as usize);
            }
            while bytes > 64 {
                block::<PACK>(user, packed, u64::MAX, 64, 64);
                (user, packed) = (user.wrapping_add(64), packed.wrapping_add(64));
                (bytes, room) = (bytes - 64, room - 64);
            }
            block::<PACK>(user, packed, lowest(bytes), bytes, room);
        }
    }

    /// `count` blocks of `bytes`, `stride` apart.
    ///
    /// # Safety
    /// The features are there (`level`); the blocks are valid in the user's memory, and `packed` for all of them together.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub unsafe fn strided<const PACK: bool>(
        mut user: *mut u8,
        mut packed: *mut u8,
        bytes: u64,
        count: usize,
        stride: isize,
    ) {
        let mut room = bytes * count as u64;
        let mask = lowest(bytes);
        for _ in 0..count {
            // SAFETY: by the caller.
            unsafe {
                if bytes <= 64 {
                    block::<PACK>(user, packed, mask, bytes, room);
                } else {
                    any_block::<PACK>(user, packed, bytes, room);
                }
            }
            user = user.wrapping_offset(stride);
            packed = packed.wrapping_add(bytes as usize);
            room -= bytes;
        }
    }

    /// Blocks of one length at displacements in units of `1 << shift` bytes.
    ///
    /// # Safety
    /// As for `strided`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub unsafe fn equal<const PACK: bool>(
        user: *mut u8,
        mut packed: *mut u8,
        bytes: u64,
        list: &[i32],
        shift: u32,
    ) {
        let mut room = bytes * list.len() as u64;
        let mask = lowest(bytes);
        for at in list {
            let user = user.wrapping_offset((*at as isize) << shift);
            // SAFETY: by the caller.
            unsafe {
                if bytes <= 64 {
                    block::<PACK>(user, packed, mask, bytes, room);
                } else {
                    any_block::<PACK>(user, packed, bytes, room);
                }
            }
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
        mut packed: *mut u8,
        list: &[(i32, u32)],
        shift: u32,
        longest: u64,
    ) {
        let [(_, first), .., (_, last)] = list else {
            return;
        };
        let mut room = ((last - first) as u64) << shift;
        let short = longest <= 64;
        for pair in list.windows(2) {
            let bytes = ((pair[1].1 - pair[0].1) as u64) << shift;
            let user = user.wrapping_offset((pair[0].0 as isize) << shift);
            // SAFETY: by the caller.
            unsafe {
                if short {
                    block::<PACK>(user, packed, lowest(bytes), bytes, room);
                } else {
                    any_block::<PACK>(user, packed, bytes, room);
                }
            }
            packed = packed.wrapping_add(bytes as usize);
            room -= bytes;
        }
    }

    /// `rows` times `bodies` bodies of a pattern, rows `far` bytes apart, bodies `stride`.
    ///
    /// # Safety
    /// As for `strided`; the level is `Permutes`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    pub unsafe fn permuted<const PACK: bool>(
        pattern: &Pattern,
        user: *mut u8,
        mut packed: *mut u8,
        (rows, far): (u64, i64),
        (bodies, stride): (u64, i64),
    ) {
        let size = pattern.size as u64;
        let one = size / pattern.bodies;
        // SAFETY: the tables have 64 bytes.
        let (gather, scatter) = unsafe {
            (
                _mm512_loadu_si512(pattern.gather.as_ptr().cast()),
                _mm512_loadu_si512(pattern.scatter.as_ptr().cast()),
            )
        };
        let (windows, rest) = (bodies / pattern.bodies, bodies % pattern.bodies * one);
        // What the bodies that are left over have of a window.
        let part = _mm512_cmplt_epu8_mask(scatter, _mm512_set1_epi8(rest as i8));
        let step = stride.wrapping_mul(pattern.bodies as i64) as isize;
        let mut room = rows * bodies * one;
        // Windows of fewer bodies start elsewhere if bodies go backwards: then `low` is for all of them, which `part` knows.
        let low = user.wrapping_offset(pattern.low as isize);
        for row in 0..rows as isize {
            let mut user = low.wrapping_offset(row * far as isize);
            for window in 0..=windows {
                let (mask, bytes) = if window < windows {
                    (pattern.holds, size)
                } else {
                    (part, rest)
                };
                if bytes == 0 {
                    break;
                }
                // SAFETY: the masks are of bytes that the bodies have; `room` of packed bytes is left.
                unsafe {
                    if PACK {
                        let value = _mm512_maskz_loadu_epi8(mask, user.cast());
                        let value = _mm512_permutexvar_epi8(gather, value);
                        if room >= 64 {
                            _mm512_storeu_si512(packed.cast(), value);
                        } else {
                            _mm512_mask_storeu_epi8(packed.cast(), lowest(bytes), value);
                        }
                    } else {
                        let value = if room >= 64 {
                            _mm512_loadu_si512(packed.cast())
                        } else {
                            _mm512_maskz_loadu_epi8(lowest(bytes), packed.cast())
                        };
                        let value = _mm512_permutexvar_epi8(scatter, value);
                        _mm512_mask_storeu_epi8(user.cast(), mask, value);
                    }
                }
                user = user.wrapping_offset(step);
                packed = packed.wrapping_add(bytes as usize);
                room -= bytes;
            }
        }
    }
}

/// Where there are no such registers: never called, because `level` is `Plain`.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod none {
    use super::*;

    /// # Safety
    /// Not called.
    pub unsafe fn strided<const PACK: bool>(_: *mut u8, _: *mut u8, _: u64, _: usize, _: isize) {}
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
    /// # Safety
    /// Not called.
    pub unsafe fn permuted<const PACK: bool>(
        _: &Pattern,
        _: *mut u8,
        _: *mut u8,
        _: (u64, i64),
        _: (u64, i64),
    ) {
    }
}
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub use none::*;
