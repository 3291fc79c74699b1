//! The form of what roots of two jobs tell each other, and roots their groups: field after field, numbers from the lowest byte on, lists and texts
//! with their length in front.
//!
//! Invariant: any bytes can be read. What is cut off, or is no value of the type, gives `None`; no length that is claimed reserves memory.

use crate::error::{Class, Error};
use crate::group::names::Name;
use crate::os::process::Birth;
use std::net::IpAddr;

/// What can be told. Every value takes a byte at least, so that a list ends with its bytes.
pub trait Coded: Sized {
    fn write(&self, out: &mut Vec<u8>);
    /// Takes a value from the front.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

pub fn encode<T: Coded>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    bytes
}

/// The value, if these bytes are one and no more.
pub fn decode<T: Coded>(mut bytes: &[u8]) -> Option<T> {
    let value = T::read(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

macro_rules! coded_numbers {
    ($($number:ty)*) => {$(
        impl Coded for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                let bytes = take(from, size_of::<$number>())?;
                bytes.try_into().ok().map(<$number>::from_le_bytes)
            }
        }
    )*};
}

coded_numbers!(u8 u16 u32 u64 u128 i32);

/// A structure is all of its fields in this order.
macro_rules! coded {
    ($name:ident: $($field:ident)*) => {
        impl $crate::dynamic::codec::Coded for $name {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::dynamic::codec::Coded::read(from)?;)*
                Some($name { $($field),* })
            }
        }
    };
}
pub(super) use coded;

coded!(Name: job rank);
coded!(Birth: pid ticks);

impl Coded for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        match u8::read(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        self.iter().for_each(|one| one.write(out));
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let count = u32::read(from)?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(T::read(from)?);
        }
        Some(all)
    }
}

impl Coded for String {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        out.extend(self.as_bytes());
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = u32::read(from)? as usize;
        std::str::from_utf8(take(from, length)?)
            .ok()
            .map(str::to_owned)
    }
}

impl<T: Coded> Coded for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        match bool::read(from)? {
            true => T::read(from).map(Some),
            false => Some(None),
        }
    }
}

impl<T: Coded, E: Coded> Coded for Result<T, E> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_ok().write(out);
        match self {
            Ok(value) => value.write(out),
            Err(error) => error.write(out),
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        match bool::read(from)? {
            true => T::read(from).map(Ok),
            false => E::read(from).map(Err),
        }
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

/// As text, which has one form for both kinds.
impl Coded for IpAddr {
    fn write(&self, out: &mut Vec<u8>) {
        self.to_string().write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        String::read(from)?.parse().ok()
    }
}

/// Class and text.
impl Coded for Error {
    fn write(&self, out: &mut Vec<u8>) {
        self.class().value().write(out);
        self.text().write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let class = Class::from_value(i32::read(from)?);
        Some(Error::new(class, String::read(from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// It comes back whole, and no other number of bytes is one.
    fn check<T: Coded + PartialEq + Debug>(value: T) {
        let mut bytes = encode(&value);
        for length in 0..bytes.len() {
            assert_eq!(decode::<T>(&bytes[..length]), None, "cut off");
        }
        assert_eq!(decode(&bytes), Some(value));
        bytes.push(0);
        assert_eq!(decode::<T>(&bytes), None, "one too many");
    }

    #[test]
    fn values_come_back_and_parts_of_them_do_not() {
        check((u128::MAX, (i32::MIN, 7u8)));
        check(vec![(1u32, "ä".to_owned()), (2, String::new())]);
        check(vec![Some(u16::MAX), None]);
        check(Vec::<u64>::new());
        check::<Result<bool, String>>(Ok(true));
        check::<Result<bool, String>>(Err("no".to_owned()));
        check(vec![
            IpAddr::from([10, 0, 0, 1]),
            IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ]);
        check(Name { job: 9, rank: 8 });
        let error = encode(&Error::new(Class::Spawn, "why"));
        let error = decode::<Error>(&error).unwrap();
        assert_eq!(
            (error.class(), error.text()),
            (Class::Spawn, "why".to_owned())
        );
    }

    #[test]
    fn what_is_no_value_is_refused() {
        assert_eq!(decode::<bool>(&[2]), None);
        assert_eq!(decode::<Option<u8>>(&[7, 1]), None);
        assert_eq!(decode::<String>(&[1, 0, 0, 0, 0xff]), None, "no UTF-8");
        assert_eq!(decode::<IpAddr>(&encode(&"here".to_owned())), None);
        // Lengths that nothing is behind.
        let most = [0xff; 12];
        assert_eq!(decode::<String>(&most), None);
        assert_eq!(decode::<Vec<u8>>(&most), None);
        assert_eq!(decode::<Vec<Vec<u64>>>(&most), None);
        assert_eq!(decode::<Vec<String>>(&most), None);
    }
}
