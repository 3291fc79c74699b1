//! Handles: the 32-bit integers that stand for MPI objects, and the tables that resolve them.
//!
//! Bits 31..30 are the kind, 29..26 the object type, 25..0 the index (of an indirect handle: block in
//! 25..12, slot in 11..0). Zero kind is the null handle of its type.

#![allow(unsafe_code)]

mod shared;
mod table;

pub use shared::SharedTable;
pub use table::{Table, when_handles_run_out};

use crate::sync::{AtomicU64, Ordering};

/// Communicators made so far. Below `comm`, because calls of the program compare it with what they know.
static COMMUNICATORS: AtomicU64 = AtomicU64::new(0);

pub fn communicators_made() -> u64 {
    COMMUNICATORS.load(Ordering::Acquire)
}

/// A new communicator: how many were made before.
pub fn number_communicator() -> u64 {
    COMMUNICATORS.fetch_add(1, Ordering::AcqRel)
}

/// What a handle stands for; the numbers are part of the ABI.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectType {
    Comm = 1,
    Group = 2,
    Datatype = 3,
    File = 4,
    Errhandler = 5,
    Op = 6,
    Info = 7,
    Win = 8,
    Keyval = 9,
    /// Requests and messages share one space of handles.
    Request = 11,
    GrequestClass = 13,
    Session = 14,
    Stream = 15,
}

/// How an index is to be read.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Invalid = 0,
    Builtin = 1,
    Direct = 2,
    Indirect = 3,
}

const INDEX_MASK: u32 = 0x03ff_ffff;

const fn encode(kind: Kind, object_type: ObjectType, index: u32) -> i32 {
    assert!(index <= INDEX_MASK);
    ((kind as u32) << 30 | (object_type as u32) << 26 | index) as i32
}

/// The null handle of a type: MPI_COMM_NULL is `null(ObjectType::Comm)`.
pub const fn null(object_type: ObjectType) -> i32 {
    encode(Kind::Invalid, object_type, 0)
}

/// The handle of a predefined object.
pub const fn builtin(object_type: ObjectType, index: u32) -> i32 {
    encode(Kind::Builtin, object_type, index)
}

/// The handle of an object in the table's first, static block.
pub const fn direct(object_type: ObjectType, index: u32) -> i32 {
    encode(Kind::Direct, object_type, index)
}

/// The handle of an object in an allocated block.
pub const fn indirect(object_type: ObjectType, block: u32, slot: u32) -> i32 {
    assert!(slot < 1 << 12);
    encode(Kind::Indirect, object_type, block << 12 | slot)
}

pub const fn kind(handle: i32) -> Kind {
    match handle as u32 >> 30 {
        0 => Kind::Invalid,
        1 => Kind::Builtin,
        2 => Kind::Direct,
        _ => Kind::Indirect,
    }
}

/// Whether the handle carries this object type, whatever its kind.
pub const fn is_of_type(handle: i32, object_type: ObjectType) -> bool {
    handle as u32 >> 26 & 0xf == object_type as u32
}

/// The object type that a handle carries, whatever its kind.
pub const fn object_type(handle: i32) -> Option<ObjectType> {
    use ObjectType::*;
    let types = [
        Comm,
        Group,
        Datatype,
        File,
        Errhandler,
        Op,
        Info,
        Win,
        Keyval,
        Request,
        GrequestClass,
        Session,
        Stream,
    ];
    let mut at = 0;
    while at < types.len() {
        if is_of_type(handle, types[at]) {
            return Some(types[at]);
        }
        at += 1;
    }
    None
}

/// Bits 25..0.
pub const fn index(handle: i32) -> u32 {
    handle as u32 & INDEX_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_known_from_the_abi() {
        assert_eq!(null(ObjectType::Comm), 0x0400_0000);
        assert_eq!(null(ObjectType::Request), 0x2c00_0000);
        assert_eq!(builtin(ObjectType::Comm, 1), 0x4400_0001);
        assert_eq!(builtin(ObjectType::Datatype, 0x405), 0x4c00_0405);
        assert_eq!(direct(ObjectType::Datatype, 4) as u32, 0x8c00_0004);
        assert_eq!(indirect(ObjectType::Comm, 1, 0) as u32, 0xc400_1000);
    }

    #[test]
    fn decoding() {
        let handle = indirect(ObjectType::Info, 3, 9);
        assert_eq!(kind(handle), Kind::Indirect);
        assert!(is_of_type(handle, ObjectType::Info));
        assert!(!is_of_type(handle, ObjectType::Win));
        assert_eq!(object_type(handle), Some(ObjectType::Info));
        assert_eq!(
            object_type(null(ObjectType::Stream)),
            Some(ObjectType::Stream)
        );
        assert_eq!(object_type(0), None);
        assert_eq!(index(handle), 3 << 12 | 9);
        assert_eq!(kind(null(ObjectType::Op)), Kind::Invalid);
        assert_eq!(kind(builtin(ObjectType::Op, 3)), Kind::Builtin);
        assert_eq!(kind(direct(ObjectType::Op, 3)), Kind::Direct);
    }
}
