//! MPI_MAXLOC and MPI_MINLOC: the extreme value and, of equal values, the lowest index.
//!
//! Elements are packed, value and index without a hole, or laid out as in a C program's struct.
#![allow(unsafe_code)]

use super::Operation;
use super::extended::Extended80;
use super::lane::{Combine, Lane, Number};
use super::wide::{Loop, Loops, One};
use crate::datatype::Scalar;
use std::hint::select_unpredictable;

/// The loops over elements without holes.
pub(super) fn packed_loops(operation: Operation, scalars: &[Scalar]) -> &'static Loops {
    match (scalars[0], scalars[1]) {
        (Scalar::I16, Scalar::I32) => packed::<i16, i32>(operation),
        (Scalar::I32, Scalar::I32) => packed::<i32, i32>(operation),
        (Scalar::I64, Scalar::I32) => packed::<i64, i32>(operation),
        (Scalar::F32, Scalar::I32) => packed::<f32, i32>(operation),
        (Scalar::F64, Scalar::I32) => packed::<f64, i32>(operation),
        (Scalar::LongDouble, Scalar::I32) => packed::<Extended80, i32>(operation),
        (Scalar::F32, Scalar::F32) => packed::<f32, f32>(operation),
        (Scalar::F64, Scalar::F64) => packed::<f64, f64>(operation),
        (value, index) => unreachable!("there is no pair type of {value:?} and {index:?}"),
    }
}

/// The loops over elements as they lie in a program's memory, by width; `None` where that is without holes.
pub(super) fn laid_loops(operation: Operation, scalars: &[Scalar]) -> Option<&'static [One; 3]> {
    match (scalars[0], scalars[1]) {
        (Scalar::I16, Scalar::I32) => Some(laid::<i16>(operation)),
        (Scalar::I64, Scalar::I32) => Some(laid::<i64>(operation)),
        (Scalar::F64, Scalar::I32) => Some(laid::<f64>(operation)),
        (Scalar::LongDouble, Scalar::I32) => Some(laid::<Extended80>(operation)),
        _ => None,
    }
}

fn packed<V: Number, I: Number>(operation: Operation) -> &'static Loops {
    match operation {
        Operation::MaxLoc => &Loop::<Pair<V, I>, Greatest>::ALL,
        _ => &Loop::<Pair<V, I>, Least>::ALL,
    }
}

fn laid<V: Laid>(operation: Operation) -> &'static [One; 3] {
    match operation {
        Operation::MaxLoc => &Locate::<V, Greatest>::ALL,
        _ => &Locate::<V, Least>::ALL,
    }
}

/// A value and its index.
#[derive(Clone, Copy)]
struct Pair<V, I> {
    value: V,
    index: I,
}

impl<V: Number, I: Number> Lane for Pair<V, I> {
    const SIZE: usize = V::SIZE + I::SIZE;
    const VECTOR: bool = V::SIZE == I::SIZE;
    const IN_BLOCKS: bool = false;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Pair {
            value: V::load(&bytes[..V::SIZE]),
            index: I::load(&bytes[V::SIZE..]),
        }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        self.value.store(&mut bytes[..V::SIZE]);
        self.index.store(&mut bytes[V::SIZE..]);
    }
}

/// Whether `b` stays where `a` comes. Without branches: what wins is not predictable.
trait Stays<V, I> {
    /// Whether greater values win.
    const GREATEST: bool;
    fn stays(a: &Pair<V, I>, b: &Pair<V, I>) -> bool;
}

struct Greatest;
struct Least;

impl<V: Number, I: Number> Stays<V, I> for Greatest {
    const GREATEST: bool = true;
    #[inline(always)]
    fn stays(a: &Pair<V, I>, b: &Pair<V, I>) -> bool {
        a.value.less(b.value) | (!b.value.less(a.value) & !a.index.less(b.index))
    }
}

impl<V: Number, I: Number> Stays<V, I> for Least {
    const GREATEST: bool = false;
    #[inline(always)]
    fn stays(a: &Pair<V, I>, b: &Pair<V, I>) -> bool {
        b.value.less(a.value) | (!a.value.less(b.value) & !a.index.less(b.index))
    }
}

impl<V: Number, I: Number, F: Stays<V, I>> Combine<Pair<V, I>> for F {
    #[inline(always)]
    fn combine(a: Pair<V, I>, b: Pair<V, I>) -> Pair<V, I> {
        let stays = F::stays(&a, &b);
        Pair {
            value: if stays { b.value } else { a.value },
            index: if stays { b.index } else { a.index },
        }
    }
}

/// A value that lies in a struct with an `int` behind it, with holes.
trait Laid: Number {
    /// What the value is compared as.
    type Value: Number;
    /// Where the index lies.
    const INDEX: usize = if Self::SIZE < 4 { 4 } else { Self::SIZE };
    /// Size of the struct.
    const STEP: usize = if Self::SIZE < 4 { 8 } else { 2 * Self::SIZE };

    /// The compared parts, made of whole words of 8 bytes, so that the compiler's vectors have lanes of one width.
    fn words(element: &[u8]) -> Pair<Self::Value, i64>;

    /// The loop that is written for values of a word; `None`: the compiler's is as good.
    const WORDS: Option<Words> = None;
}

/// How values of a word are compared.
#[derive(Clone, Copy)]
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
enum Words {
    Integers,
    Doubles,
}

/// The four bytes from `at` on as the upper half of a number, whose order is theirs.
#[inline(always)]
fn upper(word: u64, at: usize) -> i64 {
    let shift = if cfg!(target_endian = "little") {
        32 - 8 * at
    } else {
        8 * at
    };
    ((word << shift) & 0xffff_ffff << 32) as i64
}

#[inline(always)]
fn word(element: &[u8], number: usize) -> u64 {
    u64::from_ne_bytes(element.as_chunks().0[number])
}

impl Laid for i16 {
    type Value = i64;
    #[inline(always)]
    fn words(element: &[u8]) -> Pair<i64, i64> {
        let word = word(element, 0);
        Pair {
            value: upper(word, 0) << 16,
            index: upper(word, 4),
        }
    }
}

macro_rules! of_a_word {
    ($($value:ty: $words:ident)*) => {
        $(
            impl Laid for $value {
                type Value = $value;
                const WORDS: Option<Words> = Some(Words::$words);
                #[inline(always)]
                fn words(element: &[u8]) -> Pair<$value, i64> {
                    Pair {
                        value: <$value>::from_ne_bytes(word(element, 0).to_ne_bytes()),
                        index: upper(word(element, 1), 0),
                    }
                }
            }
        )*
    };
}

of_a_word!(i64: Integers f64: Doubles);

impl Laid for Extended80 {
    type Value = Extended80;
    #[inline(always)]
    fn words(element: &[u8]) -> Pair<Extended80, i64> {
        Pair {
            value: Extended80::load(&element[..Extended80::SIZE]),
            index: upper(word(element, 2), 0),
        }
    }
}

struct Locate<V, F>(V, F);

impl<V: Laid, F: Stays<V::Value, i64>> Locate<V, F> {
    const ALL: [One; 3] = [locate::<V, F>, locate_avx2::<V, F>, locate_avx512::<V, F>];
}

#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")
)]
unsafe fn locate_avx512<V: Laid, F: Stays<V::Value, i64>>(input: &[u8], inout: &mut [u8]) {
    locate::<V, F>(input, inout);
}

#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    target_feature(enable = "avx2")
)]
unsafe fn locate_avx2<V: Laid, F: Stays<V::Value, i64>>(input: &[u8], inout: &mut [u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(words) = V::WORDS
        && inout.len() < GROUP * V::STEP
    {
        // The compiler's loop over a whole group is faster than this one, and its loop over less than a group far slower.
        let done = x86::locate_words(words, F::GREATEST, input, inout);
        return locate::<V, F>(&input[done..], &mut inout[done..]);
    }
    locate::<V, F>(input, inout);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use super::Words;
    use std::arch::x86_64::*;

    /// Registers that are looked at together: two lines of memory, which are not written where everything stays.
    const GROUP: usize = 4;

    /// Elements of two words, a value and an index in the lower half of the second, two in a register. Both are compared where they lie,
    /// the index as the upper half of its word. Returns the bytes that are done.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn locate_words(
        words: Words,
        greatest: bool,
        input: &[u8],
        inout: &mut [u8],
    ) -> usize {
        const BYTES: usize = GROUP * 32;
        let (sources, _) = input.as_chunks::<BYTES>();
        let (targets, _) = inout.as_chunks_mut::<BYTES>();
        // The second half of an index's word is padding, which stays.
        let data = _mm256_set_epi32(0, -1, -1, -1, 0, -1, -1, -1);
        for (source, target) in sources.iter().zip(targets.iter_mut()) {
            let from = source.as_ptr().cast::<__m256i>();
            let to = target.as_mut_ptr().cast::<__m256i>();
            let mut goes = [_mm256_setzero_si256(); GROUP];
            let mut any = _mm256_setzero_si256();
            for (at, goes) in goes.iter_mut().enumerate() {
                // SAFETY: the register lies in the group.
                let (a, b) = unsafe {
                    (
                        _mm256_loadu_si256(from.add(at)),
                        _mm256_loadu_si256(to.add(at)),
                    )
                };
                *goes = _mm256_and_si256(goes_where(words, greatest, a, b), data);
                any = _mm256_or_si256(any, *goes);
            }
            if _mm256_testz_si256(any, any) == 1 {
                continue;
            }
            for (at, goes) in goes.into_iter().enumerate() {
                // SAFETY: as above.
                unsafe {
                    let (a, b) = (
                        _mm256_loadu_si256(from.add(at)),
                        _mm256_loadu_si256(to.add(at)),
                    );
                    _mm256_storeu_si256(to.add(at), _mm256_blendv_epi8(b, a, goes));
                }
            }
        }
        sources.len().min(targets.len()) * BYTES
    }

    /// The elements of `b` that do not stay, all bits of each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn goes_where(words: Words, greatest: bool, a: __m256i, b: __m256i) -> __m256i {
        let (less, more) = match words {
            Words::Integers => (_mm256_cmpgt_epi64(b, a), _mm256_cmpgt_epi64(a, b)),
            Words::Doubles => {
                let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
                (
                    _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)),
                    _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(b, a)),
                )
            }
        };
        let (stays, wins) = match greatest {
            true => (less, more),
            false => (more, less),
        };
        let lower = _mm256_cmpgt_epi64(_mm256_slli_epi64::<32>(b), _mm256_slli_epi64::<32>(a));
        // From an index's word to its value's.
        let lower = _mm256_shuffle_epi32::<0b01_00_11_10>(lower);
        let goes = _mm256_andnot_si256(stays, _mm256_or_si256(wins, lower));
        _mm256_shuffle_epi32::<0b01_00_01_00>(goes)
    }
}

#[inline(always)]
fn locate<V: Laid, F: Stays<V::Value, i64>>(input: &[u8], inout: &mut [u8]) {
    let group = GROUP * V::STEP;
    let whole = inout.len() / V::STEP * V::STEP;
    let mut at = 0;
    while at + group <= whole {
        locate_group::<V, F>(&input[at..][..group], &mut inout[at..][..group]);
        at += group;
    }
    if at < whole && whole >= group {
        // A group that overlaps with the one before: what was chosen once stays.
        let from = whole - group;
        locate_group::<V, F>(&input[from..whole], &mut inout[from..whole]);
        at = whole;
    }
    let mut targets = inout[at..].chunks_exact_mut(V::STEP);
    let mut sources = input[at..].chunks_exact(V::STEP);
    for (target, source) in targets.by_ref().zip(sources.by_ref()) {
        choose::<V>(
            F::stays(&V::words(source), &V::words(target)),
            source,
            target,
        );
    }
    // The last element may end before its padding.
    let (source, target) = (sources.remainder(), targets.into_remainder());
    if !target.is_empty() {
        let pair = |element: &[u8]| {
            let mut whole = [0; 32];
            whole[..V::INDEX + 4].copy_from_slice(&element[..V::INDEX + 4]);
            V::words(&whole)
        };
        choose::<V>(F::stays(&pair(source), &pair(target)), source, target);
    }
}

/// Elements that are looked at together; not so few that the compiler makes no loop of them.
const GROUP: usize = 32;

#[inline(always)]
fn locate_group<V: Laid, F: Stays<V::Value, i64>>(source: &[u8], target: &mut [u8]) {
    let mut stay = [0u64; GROUP];
    let elements = (source.chunks_exact(V::STEP)).zip(target.chunks_exact(V::STEP));
    for (stay, (source, target)) in stay.iter_mut().zip(elements) {
        *stay = u64::from(F::stays(&V::words(source), &V::words(target)));
    }
    // Where everything stays, nothing is stored.
    if stay.iter().fold(1, |all, stay| all & stay) == 1 {
        return;
    }
    let elements = (source.chunks_exact(V::STEP)).zip(target.chunks_exact_mut(V::STEP));
    for (stay, (source, target)) in stay.into_iter().zip(elements) {
        choose::<V>(stay != 0, source, target);
    }
}

/// Puts the source's element in the place of the target's, unless that stays.
#[inline(always)]
fn choose<V: Laid>(stays: bool, source: &[u8], target: &mut [u8]) {
    let (source, target) = (&source[..V::INDEX + 4], &mut target[..V::INDEX + 4]);
    let from = select_unpredictable(stays, target.as_ptr(), source.as_ptr());
    // SAFETY: either has so many bytes; each part is read before it is written.
    let (value, index) = unsafe {
        (
            V::load(std::slice::from_raw_parts(from, V::SIZE)),
            from.add(V::INDEX).cast::<[u8; 4]>().read(),
        )
    };
    value.store(&mut target[..V::SIZE]);
    target[V::INDEX..].copy_from_slice(&index);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pairs: &[(f64, i32)]) -> Vec<u8> {
        let each = pairs.iter().map(|(value, index)| {
            let mut bytes = value.to_ne_bytes().to_vec();
            bytes.extend(index.to_ne_bytes());
            bytes
        });
        each.flatten().collect()
    }

    #[test]
    fn the_lowest_index_of_equal_values() {
        let a = [(1.0, 7), (2.0, 1), (3.0, 5), (3.0, 2)];
        let b = [(2.0, 3), (1.0, 4), (3.0, 2), (3.0, 5)];
        let locate = |operation, input: &[u8], inout: &mut [u8]| {
            packed_loops(operation, &[Scalar::F64, Scalar::I32]).run_one(input, inout);
        };
        let mut inout = bytes(&b);
        locate(Operation::MaxLoc, &bytes(&a), &mut inout);
        assert_eq!(inout, bytes(&[(2.0, 3), (2.0, 1), (3.0, 2), (3.0, 2)]));
        let mut inout = bytes(&b);
        locate(Operation::MinLoc, &bytes(&a), &mut inout);
        assert_eq!(inout, bytes(&[(1.0, 7), (1.0, 4), (3.0, 2), (3.0, 2)]));
    }
}
