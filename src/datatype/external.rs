//! The representation "external32": big-endian, with the sizes of the standard's table (MPI 5.0, section 14.5.2).
//!
//! A C `long` has four bytes there: of a longer integer the least significant bytes are kept, and the sign. Invariant: the
//! native bytes pass through a piece of fixed size, whatever the size of the message.

#![allow(unsafe_code)]

use super::pack::level::{self, kernels};
use super::{Buffer, Element, Scalar, Signature};

const PIECE: usize = 4096;

/// Basic elements of a buffer whose elements, all together, have a signature.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    buffer: &'a Buffer,
    signature: &'a Signature,
    /// The number of the first one.
    from: u64,
    count: u64,
}

impl<'a> Part<'a> {
    /// Elements that are all there.
    pub fn new(buffer: &'a Buffer, signature: &'a Signature, from: u64, count: u64) -> Part<'a> {
        assert_eq!(buffer.len() as u64, signature.size);
        Part {
            buffer,
            signature,
            from,
            count,
        }
    }

    pub fn whole(buffer: &'a Buffer, signature: &'a Signature) -> Part<'a> {
        Part::new(buffer, signature, 0, signature.elements)
    }

    /// The first byte in memory and the one behind the last, of packed data.
    fn bytes(&self) -> (usize, usize) {
        let at = |element| self.signature.bytes_of(element).unwrap_or(0) as usize;
        (at(self.from), at(self.from + self.count))
    }

    /// Visits the runs of equal scalars in order.
    fn for_each_run(&self, mut visit: impl FnMut(Element, u64)) {
        let (from, count) = (self.from, self.count);
        (self.signature).for_each_run_in(from, count, &mut |element, count| {
            visit(element, count * u64::from(element.parts));
        });
    }
}

/// Packs elements; `out` has their external size.
pub fn pack(part: &Part<'_>, out: &mut [u8]) {
    let buffer = part.buffer;
    let mut piece = [0; PIECE];
    let (mut offset, last) = part.bytes();
    let (mut at, mut end) = (0, 0);
    let mut written = 0;
    part.for_each_run(|element, mut count| {
        let (size, external) = (element.scalar.size(), element.external as usize);
        while count > 0 {
            if end - at < size {
                piece.copy_within(at..end, 0);
                end -= at;
                at = 0;
                let more = (PIECE - end).min(last - offset);
                buffer.read(offset, &mut piece[end..end + more]);
                offset += more;
                end += more;
            }
            let here = ((end - at) / size).min(count as usize);
            let from = &piece[at..at + here * size];
            let into = &mut out[written..written + here * external];
            if is_only_turned(element) {
                turn(size, from, into);
            } else {
                let pairs = from.chunks_exact(size).zip(into.chunks_exact_mut(external));
                pairs.for_each(|(from, into)| to_external(element.scalar, from, into));
            }
            at += here * size;
            written += here * external;
            count -= here as u64;
        }
    });
    assert_eq!(written, out.len());
}

/// The inverse of `pack`.
pub fn unpack(data: &[u8], part: &Part<'_>) {
    let buffer = part.buffer;
    let mut piece = [0; PIECE];
    let (mut offset, _) = part.bytes();
    let (mut filled, mut read) = (0, 0);
    part.for_each_run(|element, mut count| {
        let (size, external) = (element.scalar.size(), element.external as usize);
        while count > 0 {
            if PIECE - filled < size {
                buffer.write(offset, &piece[..filled]);
                offset += filled;
                filled = 0;
            }
            let here = ((PIECE - filled) / size).min(count as usize);
            let from = &data[read..read + here * external];
            let into = &mut piece[filled..filled + here * size];
            if is_only_turned(element) {
                turn(size, from, into);
            } else {
                let pairs = from.chunks_exact(external).zip(into.chunks_exact_mut(size));
                pairs.for_each(|(from, into)| from_external(element.scalar, from, into));
            }
            filled += here * size;
            read += here * external;
            count -= here as u64;
        }
    });
    buffer.write(offset, &piece[..filled]);
    assert_eq!(read, data.len());
}

/// Whether the bytes on both sides are the same, in reverse order.
fn is_only_turned(element: Element) -> bool {
    element.scalar != Scalar::LongDouble && element.scalar.size() == usize::from(element.external)
}

/// Reverses the bytes of each of some scalars, with the registers of the level that is used.
fn turn(size: usize, from: &[u8], into: &mut [u8]) {
    // SAFETY: what the processor has was looked at.
    unsafe { level::at(kernels(), || turn_plainly(size, from, into)) }
}

#[inline(always)]
fn turn_plainly(size: usize, from: &[u8], into: &mut [u8]) {
    match size {
        1 => into.copy_from_slice(from),
        2 => turn_each::<2>(from, into),
        4 => turn_each::<4>(from, into),
        8 => turn_each::<8>(from, into),
        _ => turn_each::<16>(from, into),
    }
}

/// Of a size that the compiler knows, it makes shuffles of registers.
#[inline(always)]
fn turn_each<const SIZE: usize>(from: &[u8], into: &mut [u8]) {
    let (from, _) = from.as_chunks::<SIZE>();
    let (into, _) = into.as_chunks_mut::<SIZE>();
    for (from, into) in from.iter().zip(into) {
        let mut scalar = *from;
        scalar.reverse();
        *into = scalar;
    }
}

#[inline]
fn to_external(scalar: Scalar, native: &[u8], external: &mut [u8]) {
    if scalar == Scalar::LongDouble {
        let mut bytes = [0; 16];
        bytes[..10].copy_from_slice(&native[..10]);
        external.copy_from_slice(&quadruple(u128::from_le_bytes(bytes)).to_be_bytes());
        return;
    }
    for (target, byte) in external.iter_mut().rev().zip(native) {
        *target = *byte;
    }
}

#[inline]
fn from_external(scalar: Scalar, external: &[u8], native: &mut [u8]) {
    if scalar == Scalar::LongDouble {
        let value = u128::from_be_bytes(external.try_into().expect("a quadruple"));
        native.copy_from_slice(&extended(value).to_le_bytes());
        return;
    }
    let signed = matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64);
    let fill = if signed && external[0] & 0x80 != 0 {
        0xff
    } else {
        0
    };
    for (target, byte) in native
        .iter_mut()
        .zip(external.iter().rev().chain([&fill; 16]))
    {
        *target = *byte;
    }
}

const FRACTION: u128 = (1 << 112) - 1;

/// An x87 number (80 bits) as an IEEE quadruple: same exponent, the leading one no longer stored.
fn quadruple(extended: u128) -> u128 {
    let (mantissa, top) = (extended as u64, extended >> 64 & 0xffff);
    top << 112 | ((mantissa << 1) as u128) << 48
}

/// Rounded to the nearest, ties to even.
fn extended(quadruple: u128) -> u128 {
    let (mut top, fraction) = (quadruple >> 112, quadruple & FRACTION);
    let exponent = top & 0x7fff;
    let mut mantissa = (fraction >> 49) as u64 | ((exponent != 0) as u64) << 63;
    let rest = fraction & ((1 << 49) - 1);
    if exponent == 0x7fff {
        // Infinity, or something that must stay no number.
        mantissa |= ((fraction != 0 && mantissa << 1 == 0) as u64) << 62;
    } else if rest > 1 << 48 || rest == 1 << 48 && mantissa & 1 == 1 {
        let before = mantissa;
        mantissa = mantissa.wrapping_add(1);
        if mantissa == 0 {
            (mantissa, top) = (1 << 63, top + 1);
        } else if before >> 63 == 0 && mantissa >> 63 == 1 {
            top += 1;
        }
    }
    top << 64 | mantissa as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_doubles_become_quadruples_and_back() {
        for (extended80, quadruple128) in [
            (0x3fff_8000_0000_0000_0000, 0x3fff_0000 << 96), // 1
            (0xc000_c000_0000_0000_0000, 0xc000_8000 << 96), // -3
            (0x7fff_8000_0000_0000_0000, 0x7fff_0000 << 96), // infinity
            (0x0000_4000_0000_0000_0000, 0x0000_8000 << 96), // a denormal number
            (0x3ffd_aaaa_aaaa_aaaa_aaab, 0x3ffd_5555_5555_5555_5556 << 48), // 1/3
            (0, 0),
        ] {
            assert_eq!(quadruple(extended80), quadruple128, "{extended80:#x}");
            assert_eq!(extended(quadruple128), extended80, "{quadruple128:#x}");
        }
        // What is rounded up to the next power of two, and the smallest no number.
        assert_eq!(
            extended(0x3fff << 112 | FRACTION),
            0x4000_8000_0000_0000_0000
        );
        assert_eq!(extended(FRACTION), 0x0001_8000_0000_0000_0000);
        assert_eq!(extended(0x7fff << 112 | 1), 0x7fff_c000_0000_0000_0000);
    }

    #[test]
    fn integers_keep_their_least_significant_bytes() {
        let mut external = [0; 4];
        to_external(Scalar::I64, &(-2i64).to_le_bytes(), &mut external);
        assert_eq!(external, (-2i32).to_be_bytes());
        let mut native = [0; 8];
        from_external(Scalar::I64, &external, &mut native);
        assert_eq!(i64::from_le_bytes(native), -2);
        from_external(Scalar::U64, &external, &mut native);
        assert_eq!(u64::from_le_bytes(native), 0xffff_fffe);
    }
}
