//! Kernels for patterns: small bodies moved by one permutation of the bytes of a register (AVX-512 VBMI).
//!
//! As in `wide`, packed bytes are written a whole register at a time as long as that stays within them; in the user's memory
//! masks see to it that only data is touched.
#![allow(unsafe_code)]

use super::super::pattern::Pattern;
use super::nest::Level;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::nest::{each_row, rows};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::wide::{lowest, roomy};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::x86_64::*;

/// Rows of bodies of a pattern, `stride` apart.
///
/// # Safety
/// As for [`super::blocks::strided`]; the processor has [`Kernels::Permutes`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub unsafe fn permuted<const PACK: bool>(
    pattern: &Pattern,
    user: *mut u8,
    packed: *mut u8,
    outer: &[Level],
    inner: Level,
) {
    // SAFETY: by the caller.
    unsafe {
        match pattern.size <= 32 {
            true => permuted_in::<PACK, true>(pattern, user, packed, outer, inner),
            false => permuted_in::<PACK, false>(pattern, user, packed, outer, inner),
        }
    }
}

/// As `permuted`; a window's packed bytes fit in 32 if `HALF`.
///
/// # Safety
/// As for `permuted`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn permuted_in<const PACK: bool, const HALF: bool>(
    pattern: &Pattern,
    user: *mut u8,
    mut packed: *mut u8,
    outer: &[Level],
    (bodies, stride): Level,
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
    // What the bodies that are left over have of a window, which starts at `low` also if bodies go backwards.
    let part = _mm512_cmplt_epu8_mask(scatter, _mm512_set1_epi8(rest as i8));
    let step = stride.wrapping_mul(pattern.bodies as i64) as isize;
    let holds = pattern.holds;
    let mut room = rows(outer) * bodies * one;
    each_row(
        outer,
        user.wrapping_offset(pattern.low as isize),
        |mut user| {
            let safe = roomy(windows, size, room);
            for _ in 0..safe {
                // SAFETY: the mask is of bytes that the bodies have; 64 packed bytes are left.
                unsafe {
                    if PACK {
                        let value = _mm512_maskz_loadu_epi8(holds, user.cast());
                        let value = _mm512_permutexvar_epi8(gather, value);
                        _mm512_storeu_si512(packed.cast(), value);
                    } else {
                        let value = _mm512_loadu_si512(packed.cast());
                        let value = _mm512_permutexvar_epi8(scatter, value);
                        _mm512_mask_storeu_epi8(user.cast(), holds, value);
                    }
                }
                user = user.wrapping_offset(step);
                packed = packed.wrapping_add(size as usize);
            }
            room -= safe * size;
            for window in safe..=windows {
                let (mask, bytes) = if window < windows {
                    (holds, size)
                } else {
                    (part, rest)
                };
                // SAFETY: the masks are of bytes that the bodies have, and of packed bytes that are left.
                unsafe {
                    if PACK {
                        let value = _mm512_maskz_loadu_epi8(mask, user.cast());
                        let value = _mm512_permutexvar_epi8(gather, value);
                        _mm512_mask_storeu_epi8(packed.cast(), lowest(bytes), value);
                    } else {
                        let value = _mm512_maskz_loadu_epi8(lowest(bytes), packed.cast());
                        let value = _mm512_permutexvar_epi8(scatter, value);
                        _mm512_mask_storeu_epi8(user.cast(), mask, value);
                    }
                }
                user = user.wrapping_offset(step);
                packed = packed.wrapping_add(bytes as usize);
                room -= bytes;
            }
        },
    );
}

/// Never called: no other processor says that it permutes.
///
/// # Safety
/// Not called.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub unsafe fn permuted<const PACK: bool>(
    _: &Pattern,
    _: *mut u8,
    _: *mut u8,
    _: &[Level],
    _: Level,
) {
}
