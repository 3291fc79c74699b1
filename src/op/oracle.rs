//! Every kernel, with registers of every width, against the plain definition of the operation: odd lengths, odd addresses,
//! and nothing touched beside the elements.

use super::extended::Extended80;
use super::half::{Brain, Half};
use super::lane::{Lane, Number};
use super::softfloat::Binary128;
use super::wide::{AT_MOST, Second, Width};
use super::{Elements, OPERATIONS, Op, Operation, rules};
use crate::datatype::{Category, Datatype, Scalar, get, nontemporal, predefined_handles};
use Operation::*;

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    fn below(&mut self, end: u64) -> usize {
        (self.next() % end) as usize
    }

    /// A number of this kind: often a small one, so that there are equal ones, zeros and no overflow; else any but NaN.
    fn number(&mut self, scalar: Scalar) -> Vec<u8> {
        let small = self.below(7) as i32 - 3;
        let any = self.below(2) == 0;
        let mut bytes = [self.next(), self.next()].map(u64::to_ne_bytes).concat();
        bytes.truncate(scalar.size());
        match scalar {
            Scalar::F16 if any && read::<Half>(&bytes).to_single().is_nan() => vec![0; 2],
            Scalar::BF16 if any && read::<Brain>(&bytes).to_single().is_nan() => vec![0; 2],
            Scalar::F32 if any && read::<f32>(&bytes).is_nan() => vec![0; 4],
            Scalar::F64 if any && read::<f64>(&bytes).is_nan() => vec![0; 8],
            Scalar::F16 if !any => write(Half::from_single(small as f32)),
            Scalar::BF16 if !any => write(Brain::from_single(small as f32)),
            Scalar::F32 if !any => write(small as f32),
            Scalar::F64 if !any => write(small as f64),
            Scalar::LongDouble => write(Extended80(
                (0x3ff0 + self.below(32) as u128) << 64 | 1 << 63 | small.max(0) as u128,
            )),
            Scalar::F128 => write(Binary128::from_ne_bytes(
                ((0x3ff0 + self.below(32) as u128) << 112 | small.max(0) as u128).to_ne_bytes(),
            )),
            Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => bytes,
            _ if any => bytes,
            _ => (small as i128).to_ne_bytes()[..scalar.size()].to_vec(),
        }
    }
}

fn read<T: Lane>(bytes: &[u8]) -> T {
    T::load(bytes)
}

fn write<T: Lane>(value: T) -> Vec<u8> {
    let mut bytes = vec![0; T::SIZE];
    value.store(&mut bytes);
    bytes
}

/// The value of an integer.
fn integer(scalar: Scalar, bytes: &[u8]) -> i128 {
    let unsigned = matches!(scalar, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64);
    let negative = !unsigned && bytes[bytes.len() - 1] >= 0x80;
    let mut whole = [if negative { 0xff } else { 0 }; 16];
    whole[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(whole)
}

/// The value of a number of 16 bits, by the definition of its format.
fn value_of_16_bits(scalar: Scalar, bits: u16) -> f64 {
    let (fraction_bits, bias) = if scalar == Scalar::F16 {
        (10, 15)
    } else {
        (7, 127)
    };
    let exponent = (bits & 0x7fff) >> fraction_bits;
    let fraction = (bits & ((1 << fraction_bits) - 1)) as f64 / 2_f64.powi(fraction_bits);
    let size = match exponent as i32 {
        0 => fraction * 2_f64.powi(1 - bias),
        highest if highest == 2 * bias + 1 => f64::INFINITY,
        exponent => (1.0 + fraction) * 2_f64.powi(exponent - bias),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The nearest number of 16 bits, of two the even one; found by search, for the bits of positive ones are in their order.
fn nearest_16_bits(scalar: Scalar, value: f64) -> Vec<u8> {
    let infinity = if scalar == Scalar::F16 {
        0x7c00_u16
    } else {
        0x7f80
    };
    if value.is_nan() {
        return 0x7fff_u16.to_ne_bytes().to_vec();
    }
    let size = value.abs();
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value_of_16_bits(scalar, middle) <= size {
            low = middle
        } else {
            high = middle
        }
    }
    // Infinity stands for the next number that there would be.
    let of = |bits| match bits {
        bits if bits < infinity => value_of_16_bits(scalar, bits),
        _ if scalar == Scalar::F16 => 65536.0,
        _ => 2_f64.powi(128),
    };
    let bits = match (of(low) + of(high)) / 2.0 {
        _ if size.is_infinite() => infinity,
        middle if size > middle || size == middle && low & 1 == 1 => high,
        _ => low,
    };
    (bits | if value.is_sign_negative() { 0x8000 } else { 0 })
        .to_ne_bytes()
        .to_vec()
}

/// The bytes of 1 where numbers have fractions, but for padding.
fn one(scalar: Scalar) -> Option<Vec<u8>> {
    Some(match scalar {
        Scalar::F16 => vec![0, 0x3c],
        Scalar::BF16 => vec![0x80, 0x3f],
        Scalar::F32 => write(1_f32),
        Scalar::F64 => write(1_f64),
        Scalar::LongDouble => vec![0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f],
        Scalar::F128 => [vec![0; 14], vec![0xff, 0x3f]].concat(),
        _ => return None,
    })
}

/// One number of the result, by the standard's words.
fn define(operation: Operation, scalar: Scalar, a: &[u8], b: &[u8]) -> Vec<u8> {
    fn machine<T: Lane + PartialOrd>(
        operation: Operation,
        a: T,
        b: T,
        sum: impl Fn(T, T) -> T,
        product: impl Fn(T, T) -> T,
    ) -> Vec<u8> {
        write(match operation {
            Sum => sum(a, b),
            Prod => product(a, b),
            Max if a > b => a,
            Min if a < b => a,
            Max | Min => b,
            other => panic!("{other:?} of numbers with fractions"),
        })
    }
    if let (LogicalAnd | LogicalOr | LogicalXor, Some(one)) = (operation, one(scalar)) {
        // The highest bit is the sign, of a long double that of its ten bytes.
        let truth = |number: &[u8]| {
            let (last, others) = number[..one.len()].split_last().unwrap();
            *last & 0x7f != 0 || others.iter().any(|byte| *byte != 0)
        };
        let (x, y) = (truth(a), truth(b));
        let result = match operation {
            LogicalAnd => x && y,
            LogicalOr => x || y,
            _ => x != y,
        };
        let mut bytes = vec![0; scalar.size()];
        if result {
            bytes[..one.len()].copy_from_slice(&one);
        }
        return bytes;
    }
    match scalar {
        Scalar::F32 => {
            let (a, b): (f32, f32) = (read(a), read(b));
            machine(operation, a, b, |a, b| a + b, |a, b| a * b)
        }
        Scalar::F64 => {
            let (a, b): (f64, f64) = (read(a), read(b));
            machine(operation, a, b, |a, b| a + b, |a, b| a * b)
        }
        Scalar::F16 | Scalar::BF16 => {
            let value = |bytes: &[u8]| {
                value_of_16_bits(scalar, u16::from_ne_bytes(bytes.try_into().unwrap()))
            };
            let (x, y) = (value(a), value(b));
            // Double precision has more than twice the bits, so the result is rounded as if only once.
            match operation {
                Sum => nearest_16_bits(scalar, x + y),
                Prod => nearest_16_bits(scalar, x * y),
                Max => if x > y { a } else { b }.to_vec(),
                _ => if x < y { a } else { b }.to_vec(),
            }
        }
        Scalar::LongDouble => {
            let (x, y) = (read::<Extended80>(a).parts(), read::<Extended80>(b).parts());
            match operation {
                Sum => write(Extended80::from_parts(x.add(y))),
                Prod => write(Extended80::from_parts(x.multiply(y))),
                Max => if y.less(x) { a } else { b }.to_vec(),
                _ => if x.less(y) { a } else { b }.to_vec(),
            }
        }
        Scalar::F128 => {
            let (x, y) = (read::<Binary128>(a), read::<Binary128>(b));
            match operation {
                Sum => write(x.add(y)),
                Prod => write(x.multiply(y)),
                Max => if y.less(x) { a } else { b }.to_vec(),
                _ => if x.less(y) { a } else { b }.to_vec(),
            }
        }
        _ => {
            let (x, y) = (integer(scalar, a), integer(scalar, b));
            let result = match operation {
                Sum => x.wrapping_add(y),
                Prod => x.wrapping_mul(y),
                Max => x.max(y),
                Min => x.min(y),
                LogicalAnd => (x != 0 && y != 0) as i128,
                LogicalOr => (x != 0 || y != 0) as i128,
                LogicalXor => ((x != 0) != (y != 0)) as i128,
                BitAnd => x & y,
                BitOr => x | y,
                BitXor => x ^ y,
                other => panic!("{other:?} of integers"),
            };
            result.to_ne_bytes()[..scalar.size()].to_vec()
        }
    }
}

/// One element: of a number, a complex number, or a value and its index.
fn define_element(operation: Operation, datatype: &Datatype, a: &[u8], b: &[u8]) -> Vec<u8> {
    let scalar = datatype.scalars[0];
    let half = scalar.size();
    match datatype.category {
        Category::Complex => {
            let ((r, i), (s, j)) = (a.split_at(half), b.split_at(half));
            let of = |operation, a: &[u8], b: &[u8]| define(operation, scalar, a, b);
            if operation == Sum {
                return [of(Sum, r, s), of(Sum, i, j)].concat();
            }
            let mut crossed = of(Prod, i, j);
            let sign = if scalar == Scalar::LongDouble {
                9
            } else {
                half - 1
            };
            crossed[sign] ^= 0x80;
            let imaginary = of(Sum, &of(Prod, r, j), &of(Prod, i, s));
            [of(Sum, &of(Prod, r, s), &crossed), imaginary].concat()
        }
        Category::Pair => {
            let index = datatype.scalars[1];
            let (value, number) = (|x: &[u8]| x[..half].to_vec(), |x: &[u8]| x[half..].to_vec());
            let extreme = if operation == MaxLoc { Max } else { Min };
            let best = define(extreme, scalar, &value(a), &value(b));
            let other = define(extreme, scalar, &value(b), &value(a));
            // Where the order of the two matters they are equal but for their signs: zeros.
            let number = if best != other || value(a) == value(b) {
                define(Min, index, &number(a), &number(b))
            } else if best == value(a) {
                number(a)
            } else {
                number(b)
            };
            [best, number].concat()
        }
        _ => define(operation, scalar, a, b),
    }
}

/// Equal, or the same for arithmetic: any NaN is one, and a complex number may have either zero.
fn agree(scalar: Scalar, result: &[u8], wanted: &[u8]) -> bool {
    let numbers = result
        .chunks(scalar.size())
        .zip(wanted.chunks(scalar.size()));
    let mut pairs = numbers.filter(|(result, wanted)| result != wanted);
    pairs.all(|(result, wanted)| match scalar {
        Scalar::F32 => {
            let (x, y): (f32, f32) = (read(result), read(wanted));
            x == y || x.is_nan() && y.is_nan()
        }
        Scalar::F64 => {
            let (x, y): (f64, f64) = (read(result), read(wanted));
            x == y || x.is_nan() && y.is_nan()
        }
        Scalar::F16 => {
            let (x, y) = (
                read::<Half>(result).to_single(),
                read::<Half>(wanted).to_single(),
            );
            x == y || x.is_nan() && y.is_nan()
        }
        Scalar::BF16 => {
            let (x, y) = (
                read::<Brain>(result).to_single(),
                read::<Brain>(wanted).to_single(),
            );
            x == y || x.is_nan() && y.is_nan()
        }
        Scalar::LongDouble => result[..10] == wanted[..10],
        _ => false,
    })
}

fn try_kernel(
    operation: Operation,
    datatype: &'static Datatype,
    length: usize,
    random: &mut Random,
) {
    let size = datatype.size as usize;
    let mut elements = || -> Vec<u8> {
        let scalars = std::iter::repeat_n(datatype.scalars, length).flatten();
        scalars.flat_map(|scalar| random.number(*scalar)).collect()
    };
    let (a, b) = (elements(), elements());
    let wanted: Vec<u8> = a
        .chunks(size)
        .zip(b.chunks(size))
        .flat_map(|(a, b)| define_element(operation, datatype, a, b))
        .collect();
    let (at, to) = (random.below(17), random.below(17));
    let placed = |from: usize, data: &[u8]| [&vec![0xa5; from], data, &[0xa5; 9]].concat();
    let (input, mut inout) = (placed(at, &a), placed(to, &b));
    let op = Op::Predefined(operation);
    let (from, into) = (&input[at..][..a.len()], &mut inout[to..][..b.len()]);
    op.apply(from, into, length as u64, datatype).unwrap();
    // Three in one pass give what one after the other gives.
    let (mut folded, mut applied) = (placed(at, &b), inout[to..][..b.len()].to_vec());
    let folded = &mut folded[at..][..b.len()];
    // And at a second place, at a line's beginning or not, past the caches or not.
    let mut second = vec![0xa5; a.len() + 128];
    let line = second.as_ptr().align_offset(64) + [0, 0, at][random.below(3)];
    let target = Second::new(&mut second[line..][..a.len()], at % 2 == 0);
    let operands: (&[&[u8]], _) = (&[&b, from], Some(&b[..]));
    op.fold(operands, folded, Some(target), length as u64, datatype)
        .unwrap();
    nontemporal::fence();
    op.apply(&b, &mut applied, length as u64, datatype).unwrap();
    assert_eq!(folded, applied, "{operation:?} of {}", datatype.name());
    assert_eq!(second[line..][..a.len()], applied, "{operation:?} again");
    assert_eq!(second[line + a.len()], 0xa5);
    let what = || {
        format!(
            "{operation:?} of {length} {}, at {at} and {to}",
            datatype.name()
        )
    };
    for (index, (result, wanted)) in inout[to..]
        .chunks(size)
        .zip(wanted.chunks(size))
        .enumerate()
    {
        let operands = (&a[index * size..][..size], &b[index * size..][..size]);
        let agreed = match datatype.category {
            Category::Pair => {
                let (value, index) = (datatype.scalars[0], datatype.scalars[1]);
                let at = value.size();
                agree(value, &result[..at], &wanted[..at])
                    && agree(index, &result[at..], &wanted[at..])
            }
            _ => agree(datatype.scalars[0], result, wanted),
        };
        assert!(
            agreed,
            "{} {index}: {result:?}, not {wanted:?}, of {operands:?}",
            what()
        );
    }
    let around = [&inout[..to], &inout[to + b.len()..]].concat();
    assert!(around.iter().all(|byte| *byte == 0xa5), "{}", what());
    if datatype.category == Category::Pair {
        lies_in_memory(operation, datatype, (&a, &b), &inout[to..][..b.len()]);
    }
}

/// Elements as a C program has them give what packed ones give.
fn lies_in_memory(
    operation: Operation,
    datatype: &'static Datatype,
    (a, b): (&[u8], &[u8]),
    packed: &[u8],
) {
    let count = (a.len() as u64) / datatype.size;
    let laid = |data: &[u8]| super::unpacked(data, count, datatype);
    let (from, mut into) = (laid(a), laid(b));
    let padding = datatype.extent as usize - datatype.true_extent as usize;
    let end = (count as usize * datatype.extent as usize).saturating_sub(padding);
    // Holes are not touched.
    let data = super::unpacked(&vec![0xff; packed.len()], count, datatype).memory;
    let holes: Vec<u8> = data.iter().map(|byte| !byte).collect();
    (into.memory.iter_mut().zip(&holes)).for_each(|(byte, hole)| *byte |= hole & 0xa5);
    let mut result = vec![0; packed.len()];
    // The second time everything stays as it is.
    for _ in 0..2 {
        let elements = Elements {
            input: &from.memory[..end],
            inout: &mut into.memory[..end],
            origin: 0,
            count,
            datatype,
        };
        Op::Predefined(operation).apply_laid(elements).unwrap();
        into.buffer().read(0, &mut result);
        assert_eq!(result, packed, "{operation:?} of {}", datatype.name());
    }
    let mut kept = into.memory.iter().zip(&holes);
    assert!(kept.all(|(byte, hole)| byte & hole == hole & 0xa5));
}

#[test]
fn every_kernel_computes_what_is_defined() {
    let mut random = Random(5);
    let lengths = [0, 1, 2, 3, 5, 8, 13, 17, 31, 33, 64, 67, 131];
    let mut kernels = 0;
    for width in [Width::Plain, Width::Avx2, Width::Avx512] {
        AT_MOST.set(Some(width));
        for handle in predefined_handles() {
            let datatype = get(handle).unwrap();
            for (operation, _) in OPERATIONS {
                if rules::check(operation, datatype).is_err() {
                    continue;
                }
                kernels += 1;
                for length in lengths {
                    if !cfg!(miri) || length < 6 {
                        try_kernel(operation, datatype, length, &mut random);
                    }
                }
            }
        }
    }
    AT_MOST.set(None);
    assert!(kernels > 900, "{kernels}");
}

/// All pairs of numbers of 16 bits that lie close, where rounding is delicate.
#[test]
fn halves_round_once() {
    let mut random = Random(6);
    for _ in 0..if cfg!(miri) { 100 } else { 100_000 } {
        let first = random.next() as u16;
        let second = (first as i32 + random.below(0x1000) as i32 - 0x800) as u16;
        let second = if random.below(2) == 0 {
            second
        } else {
            second ^ 0x8000
        };
        let (a, b) = (Half(first), Half(second));
        if a.to_single().is_nan() || b.to_single().is_nan() {
            continue;
        }
        for (operation, result) in [(Sum, a.add(b)), (Prod, a.multiply(b))] {
            let wanted = define(operation, Scalar::F16, &write(a), &write(b));
            let agreed = agree(Scalar::F16, &write(result), &wanted);
            let infinite = a.to_single().is_infinite() || b.to_single().is_infinite();
            assert!(
                agreed || infinite,
                "{operation:?} of {first:#x} and {second:#x}"
            );
        }
    }
}
