//! The loop of all reductions, compiled three times: for every x86-64 (registers of 16 bytes), for AVX2 (32) and for
//! AVX-512 (64). All sources are read in one pass, so that what is made of many is written once. Which one runs is found at run time; `OXMPI_REDUCTION_KERNELS` forbids the wider ones, to compare.
//!
//! Invariant: all three give the same bits, because no operation's order is changed and nothing is fused.
#![allow(unsafe_code)]

use super::lane::Lane;
use crate::choice;
use crate::datatype::nontemporal;
use crate::variables::{Listed, Variable};
use std::marker::PhantomData;
use std::sync::OnceLock;

/// The widest registers that may be used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
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

/// What a reduction reads: `inout = left[0] op (left[1] op (... op last))`, where the last one is `inout` itself if it is not given.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub left: &'a [&'a [u8]],
    pub last: Option<&'a [u8]>,
    /// Where the result goes, too.
    pub second: Option<Second<'a>>,
}

/// Memory that another core reads next, and that gets the result as it is made: its stores and the loads of the sources then
/// wait at the same time (benches/counts.md).
#[derive(Clone, Copy)]
pub struct Second<'a> {
    to: *mut u8,
    bytes: usize,
    nontemporal: bool,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Second<'a> {
    /// Written with non-temporal stores if `nontemporal`; then [`nontemporal::fence`] must follow.
    pub fn new(memory: &'a mut [u8], nontemporal: bool) -> Self {
        Second {
            to: memory.as_mut_ptr(),
            bytes: memory.len(),
            nontemporal,
            memory: PhantomData,
        }
    }

    /// Takes what was made from `at` on. `BLOCKS` says that it is a block that has just been stored.
    #[inline(always)]
    pub(super) fn put<const BLOCKS: bool>(self, at: usize, made: &[u8]) {
        assert!(at <= self.bytes && made.len() <= self.bytes - at);
        #[cfg(test)]
        crate::datatype::copies::count(made.len());
        // SAFETY: in bounds, in memory that is lent to this one alone, so it is not `made`.
        unsafe {
            let to = self.to.add(at);
            if !self.nontemporal {
                std::ptr::copy_nonoverlapping(made.as_ptr(), to, made.len());
            } else if BLOCKS && to.addr().is_multiple_of(64) {
                nontemporal::copy_block(made.as_ptr(), to);
            } else {
                nontemporal::copy(made.as_ptr(), to, made.len());
            }
        }
    }
}

/// What is reduced at a time of all sources: so much stays in registers, and every source is read once.
const BLOCK: usize = nontemporal::BLOCK;

/// `inout = function(..., inout)` for each lane, see [`Sources`].
#[inline(always)]
pub(super) fn each<T: Lane>(sources: Sources, inout: &mut [u8], function: impl Fn(T, T) -> T) {
    match width() {
        // SAFETY: the processor has the features; `find` says so.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Width::Avx512 => unsafe { each_avx512(sources, inout, function) },
        // SAFETY: as above.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Width::Avx2 => unsafe { each_avx2(sources, inout, function) },
        _ => each_plainly(sources, inout, function),
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn each_avx512<T: Lane>(sources: Sources, inout: &mut [u8], function: impl Fn(T, T) -> T) {
    each_plainly(sources, inout, function);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
fn each_avx2<T: Lane>(sources: Sources, inout: &mut [u8], function: impl Fn(T, T) -> T) {
    each_plainly(sources, inout, function);
}

/// With what every processor has, or what the function has that this is inlined into.
#[inline(always)]
fn each_plainly<T: Lane>(sources: Sources, inout: &mut [u8], function: impl Fn(T, T) -> T) {
    let (blocks, rest) = inout.split_at_mut(inout.len() / BLOCK * BLOCK);
    // Two loops: a block that is looked at again does not stay in registers.
    match sources.second {
        None => each_block(sources, blocks, &function, |_, _| {}),
        Some(second) => each_block(sources, blocks, &function, |at, made| {
            second.put::<true>(at, made);
        }),
    }
    each_in_turn(sources, blocks.len(), rest, function);
}

/// The loop over whole blocks; `made` is told of each.
#[inline(always)]
fn each_block<T: Lane>(
    Sources { left, last, .. }: Sources,
    blocks: &mut [u8],
    function: &impl Fn(T, T) -> T,
    made: impl Fn(usize, &[u8]),
) {
    for (at, target) in blocks.chunks_exact_mut(BLOCK).enumerate() {
        let range = at * BLOCK..(at + 1) * BLOCK;
        // Of constant length, so that the compiler keeps it in registers.
        let mut block = [0u8; BLOCK];
        block.copy_from_slice(match last {
            Some(last) => &last[range.clone()],
            None => target,
        });
        for source in left.iter().rev() {
            let source = source[range.clone()].chunks_exact(T::SIZE);
            for (target, source) in block.chunks_exact_mut(T::SIZE).zip(source) {
                function(T::load(source), T::load(target)).store(target);
            }
        }
        target.copy_from_slice(&block);
        made(range.start, target);
    }
}

/// From `at` on, one source after the other.
#[inline(always)]
pub(super) fn each_in_turn<T: Lane>(
    sources: Sources,
    at: usize,
    inout: &mut [u8],
    function: impl Fn(T, T) -> T,
) {
    if let Some(last) = sources.last {
        inout.copy_from_slice(&last[at..at + inout.len()]);
    }
    for source in sources.left.iter().rev() {
        let targets = inout.chunks_exact_mut(T::SIZE);
        for (target, source) in targets.zip(source[at..].chunks_exact(T::SIZE)) {
            function(T::load(source), T::load(target)).store(target);
        }
    }
    if let Some(second) = sources.second {
        second.put::<false>(at, inout);
    }
}
