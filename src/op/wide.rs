//! The loop of all reductions, compiled three times: for every x86-64 (registers of 16 bytes), for AVX2 (32) and for
//! AVX-512 (64). All sources are read in one pass, so that what is made of many is written once. Which one runs is found at run time; `OXMPI_KERNELS` forbids the wider ones, to compare.
//!
//! Invariant: all three give the same bits, because no operation's order is changed and nothing is fused.
#![allow(unsafe_code)]

use super::lane::{Combine, Lane};
use crate::datatype::nontemporal;
use crate::datatype::pack::{Allowed, KERNELS, suits_blocks};
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

/// What the processor decides of the loops.
#[derive(Clone, Copy)]
struct Found {
    width: Width,
    /// Whether long vectors of one source are read faster in blocks that stay in registers.
    in_blocks: bool,
}

#[inline]
fn found() -> Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    #[cfg(test)]
    if let Some(width) = AT_MOST.get() {
        return Found::of(find().min(width));
    }
    *FOUND.get_or_init(|| {
        Found::of(match KERNELS.get() {
            Allowed::Best | Allowed::Avx512 => find(),
            Allowed::Avx2 => find().min(Width::Avx2),
            Allowed::Plain => Width::Plain,
        })
    })
}

#[inline]
fn width() -> Width {
    found().width
}

impl Found {
    /// A block takes all 16 registers of SSE2, so that its loop would keep it in memory.
    fn of(width: Width) -> Found {
        Found {
            width,
            in_blocks: width > Width::Plain && suits_blocks(),
        }
    }
}

#[cfg(test)]
thread_local! {
    /// For tests, which try all.
    pub(super) static AT_MOST: std::cell::Cell<Option<Width>> = const { std::cell::Cell::new(None) };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn find() -> Width {
    use std::is_x86_feature_detected as has;
    if !(has!("avx2") && has!("f16c")) {
        Width::Plain
    } else if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
        Width::Avx512
    } else {
        Width::Avx2
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

impl<'a> Sources<'a> {
    /// With `inout` itself behind them.
    #[inline]
    pub(super) fn of(left: &'a [&'a [u8]]) -> Self {
        Sources {
            left,
            last: None,
            second: None,
        }
    }
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

/// The loops of one operation on one type, for each [`Width`], which is the index. Each gives `inout = function(..., inout)` for each lane.
///
/// # Safety
/// The processor has registers of this width.
pub(super) struct Loops {
    /// See [`Sources`].
    many: [unsafe fn(Sources, &mut [u8]); 3],
    /// Of one source and `inout`, with arguments in registers: for short vectors the way through memory is half of the time.
    one: [One; 3],
    /// What `many` reads faster in blocks, see [`Lane::IN_BLOCKS`].
    in_blocks: bool,
}

/// A loop of one source and `inout`.
type One = unsafe fn(&[u8], &mut [u8]);

impl Loops {
    /// Bytes that are in the first cache with those of the source.
    const SHORT: usize = 8 << 10;

    #[inline(always)]
    pub(super) fn run(&self, sources: Sources, inout: &mut [u8]) {
        match (sources.left, sources.last, sources.second) {
            ([source], None, None) => self.run_one(source, inout),
            // SAFETY: the processor has registers of this width.
            _ => unsafe { self.many[width() as usize](sources, inout) },
        }
    }

    #[inline(always)]
    pub(super) fn run_one(&self, source: &[u8], inout: &mut [u8]) {
        let found = found();
        let width = found.width as usize;
        // SAFETY: as above.
        unsafe {
            match self.in_blocks && found.in_blocks && inout.len() > Self::SHORT {
                true => self.many[width](Sources::of(&[source]), inout),
                false => self.one[width](&source[..inout.len()], inout),
            }
        }
    }
}

/// Lanes of type `T` and the operation `F`.
pub(super) struct Loop<T, F>(PhantomData<(T, F)>);

impl<T: Lane, F: Combine<T>> Loop<T, F> {
    pub(super) const ALL: Loops = match (cfg!(all(target_arch = "x86_64", not(miri))), T::VECTOR) {
        (true, true) => Loops {
            many: [each_plainly::<T, F>, each_avx2::<T, F>, each_avx512::<T, F>],
            one: [one_plainly::<T, F>, one_avx2::<T, F>, one_avx512::<T, F>],
            in_blocks: T::IN_BLOCKS,
        },
        _ => Loops {
            many: [each_plainly::<T, F>; 3],
            one: [one_plainly::<T, F>; 3],
            in_blocks: T::IN_BLOCKS,
        },
    };
}

/// The two loops, compiled for a width.
macro_rules! of_width {
    (Width::$width:ident, $each:ident, $one:ident $(, #[$attribute:meta])?) => {
        $(#[$attribute])?
        unsafe fn $each<T: Lane, F: Combine<T>>(sources: Sources, inout: &mut [u8]) {
            each::<T, F>(Width::$width, sources, inout);
        }

        $(#[$attribute])?
        unsafe fn $one<T: Lane, F: Combine<T>>(source: &[u8], inout: &mut [u8]) {
            T::blend::<F>(Width::$width, source, inout);
        }
    };
}

of_width! {
    Width::Avx512, each_avx512, one_avx512,
    #[cfg_attr(
        all(target_arch = "x86_64", not(miri)),
        target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")
    )]
}
of_width! {
    Width::Avx2, each_avx2, one_avx2,
    #[cfg_attr(
        all(target_arch = "x86_64", not(miri)),
        target_feature(enable = "avx2,f16c")
    )]
}
// With what every processor has.
of_width! { Width::Plain, each_plainly, one_plainly }

#[inline(always)]
fn each<T: Lane, F: Combine<T>>(width: Width, sources: Sources, inout: &mut [u8]) {
    if !T::VECTOR {
        return each_in_turn::<T, F>(width, sources, 0, inout);
    }
    let (blocks, rest) = inout.split_at_mut(inout.len() / BLOCK * BLOCK);
    // Two loops: a block that is looked at again does not stay in registers.
    match sources.second {
        None => each_block::<T, F>(width, sources, blocks, |_, _| {}),
        Some(second) => each_block::<T, F>(width, sources, blocks, |at, made| {
            second.put::<true>(at, made);
        }),
    }
    each_in_turn::<T, F>(width, sources, blocks.len(), rest);
}

/// The loop over whole blocks; `made` is told of each.
#[inline(always)]
fn each_block<T: Lane, F: Combine<T>>(
    width: Width,
    Sources { left, last, .. }: Sources,
    blocks: &mut [u8],
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
            T::blend::<F>(width, &source[range.clone()], &mut block);
        }
        target.copy_from_slice(&block);
        made(range.start, target);
    }
}

/// From `at` on, one source after the other.
#[inline(always)]
fn each_in_turn<T: Lane, F: Combine<T>>(
    width: Width,
    sources: Sources,
    at: usize,
    inout: &mut [u8],
) {
    if let Some(last) = sources.last {
        inout.copy_from_slice(&last[at..at + inout.len()]);
    }
    for source in sources.left.iter().rev() {
        T::blend::<F>(width, &source[at..][..inout.len()], inout);
    }
    if let Some(second) = sources.second {
        second.put::<false>(at, inout);
    }
}
