//! Which kernels move data with holes: the one place that knows what this processor has.
//!
//! A level has all that those before it have. What an instruction costs differs, too: masked stores of 16 and 32 bytes take tens of
//! cycles on AMD's processors before Zen 4, gathers are slow on most, so neither is used. Masked stores of AVX-512 are fast on
//! all processors that have it.
#![allow(unsafe_code)]

use crate::choice;
use crate::os::hardware;
use crate::variables::{Listed, Variable};
use std::sync::OnceLock;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kernels {
    /// What every processor of the architecture has: registers of 16 bytes.
    Plain,
    /// Permutations of 16 bytes, and registers of 32 where the processor is an x86-64 (AVX2).
    Shuffles,
    /// Masks for bytes, registers of 64 (AVX-512).
    Masks,
    /// And permutations of 64 bytes.
    Permutes,
}

#[cfg(test)]
impl Kernels {
    pub const ALL: [Kernels; 4] = {
        use Kernels::*;
        [Plain, Shuffles, Masks, Permutes]
    };
}

choice! {
    /// Which kernels may be used.
    pub enum Allowed { Best = "best", Avx512 = "avx512", Avx2 = "avx2", Plain = "plain" }
}

/// Of packing and of reductions.
pub static KERNELS: Variable<Allowed> = Variable::new(
    "KERNELS",
    Allowed::Best,
    "How data with holes is moved and reductions compute: best uses what the processor has, avx512 does without permutations of 64 bytes, \
     avx2 uses registers of 32 bytes at most, plain of 16. To compare.",
);
pub static VARIABLES: &[&dyn Listed] = &[&KERNELS];

/// Whether long vectors are read faster in blocks that stay in registers. On Zen 5 (family 26, model 2) they are not: 64 KB of sums take 0.75 us
/// in blocks and 0.64 us in turn by AVX2, 0.74 and 0.69 us by AVX-512.
pub fn suits_blocks() -> bool {
    hardware::is_intel()
}

/// What this processor has and may be used.
#[inline]
pub fn kernels() -> Kernels {
    static USED: OnceLock<Kernels> = OnceLock::new();
    let used = *USED.get_or_init(|| {
        let allowed = match KERNELS.get() {
            Allowed::Best => Kernels::Permutes,
            Allowed::Avx512 => Kernels::Masks,
            Allowed::Avx2 => Kernels::Shuffles,
            Allowed::Plain => Kernels::Plain,
        };
        allowed.min(find())
    });
    #[cfg(test)]
    return used.min(Kernels::ALL[MOST.load(crate::sync::Ordering::Relaxed)]);
    #[cfg(not(test))]
    used
}

/// For tests, which try all.
#[cfg(test)]
static MOST: crate::sync::AtomicUsize = crate::sync::AtomicUsize::new(3);

/// For tests: at most these, numbered from the plain ones on.
#[cfg(test)]
pub fn use_kernels(most: usize) {
    MOST.store(most, crate::sync::Ordering::Relaxed);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn find() -> Kernels {
    use std::is_x86_feature_detected as has;
    if !has!("avx2") {
        Kernels::Plain
    } else if !(has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("bmi2")) {
        Kernels::Shuffles
    } else if has!("avx512vbmi") {
        Kernels::Permutes
    } else {
        Kernels::Masks
    }
}

/// NEON is a part of the architecture.
#[cfg(all(target_arch = "aarch64", not(miri)))]
fn find() -> Kernels {
    Kernels::Shuffles
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn find() -> Kernels {
    Kernels::Plain
}

/// Runs a kernel that is compiled for this level: `kernel` is inlined into a function that has the level's registers.
///
/// # Safety
/// The processor has what the level says.
#[inline(always)]
pub unsafe fn at<T>(level: Kernels, kernel: impl FnOnce() -> T) -> T {
    match level {
        Kernels::Plain => kernel(),
        // SAFETY: by the caller.
        _ => unsafe { with_shuffles(kernel) },
    }
}

/// # Safety
/// The processor has AVX2, if it is an x86-64.
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    target_feature(enable = "avx2")
)]
unsafe fn with_shuffles<T>(kernel: impl FnOnce() -> T) -> T {
    kernel()
}
