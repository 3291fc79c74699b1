//! The loop of all reductions, compiled three times: for every x86-64 (registers of 16 bytes), for AVX2 (32) and for
//! AVX-512 (64). Which one runs is found at run time; `OXMPI_REDUCTION_KERNELS` forbids the wider ones, to compare.
//!
//! Invariant: all three give the same bits, because no operation's order is changed and nothing is fused.
#![allow(unsafe_code)]

use super::lane::Lane;
use crate::choice;
use crate::variables::{Listed, Variable};
use std::sync::OnceLock;

/// The widest registers that may be used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Width {
    Plain,
    Avx2,
    Avx512,
}

choice! {
    /// Which kernels may be used.
    enum Allowed { Best = "best", Avx2 = "avx2", Plain = "plain" }
}

static REDUCTION_KERNELS: Variable<Allowed> = Variable::new(
    "REDUCTION_KERNELS",
    Allowed::Best,
    "How reductions compute: best uses the widest registers of the processor, avx2 at most 32 bytes, plain 16. To compare.",
);
pub static VARIABLES: &[&dyn Listed] = &[&REDUCTION_KERNELS];

#[inline]
fn width() -> Width {
    static FOUND: OnceLock<Width> = OnceLock::new();
    #[cfg(test)]
    if let Some(width) = AT_MOST.get() {
        return find().min(width);
    }
    *FOUND.get_or_init(|| match REDUCTION_KERNELS.get() {
        Allowed::Best => find(),
        Allowed::Avx2 => find().min(Width::Avx2),
        Allowed::Plain => Width::Plain,
    })
}

#[cfg(test)]
thread_local! {
    /// For tests, which try all.
    pub(super) static AT_MOST: std::cell::Cell<Option<Width>> = const { std::cell::Cell::new(None) };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn find() -> Width {
    use std::is_x86_feature_detected as has;
    if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
        Width::Avx512
    } else if has!("avx2") {
        Width::Avx2
    } else {
        Width::Plain
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn find() -> Width {
    Width::Plain
}

/// `inout = function(input, inout)` for each lane.
#[inline(always)]
pub(super) fn each<T: Lane>(input: &[u8], inout: &mut [u8], function: impl Fn(T, T) -> T) {
    match width() {
        // SAFETY: the processor has the features; `find` says so.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Width::Avx512 => unsafe { each_avx512(input, inout, function) },
        // SAFETY: as above.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Width::Avx2 => unsafe { each_avx2(input, inout, function) },
        _ => each_plainly(input, inout, function),
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn each_avx512<T: Lane>(input: &[u8], inout: &mut [u8], function: impl Fn(T, T) -> T) {
    each_plainly(input, inout, function);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
fn each_avx2<T: Lane>(input: &[u8], inout: &mut [u8], function: impl Fn(T, T) -> T) {
    each_plainly(input, inout, function);
}

/// With what every processor has, or what the function has that this is inlined into.
#[inline(always)]
pub(super) fn each_plainly<T: Lane>(input: &[u8], inout: &mut [u8], function: impl Fn(T, T) -> T) {
    let targets = inout.chunks_exact_mut(T::SIZE);
    for (target, source) in targets.zip(input.chunks_exact(T::SIZE)) {
        function(T::load(source), T::load(target)).store(target);
    }
}
