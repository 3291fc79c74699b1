//! Datatypes: what lies where in a user's buffer, and the statuses that count in them.
//!
//! This module has the predefined types and their duplicates. Invariant: a `Datatype` never changes after it was made, but
//! for its name and attributes, so that buffers and pending requests may keep a reference to it.

pub mod pack;
mod predefined;
mod scalar;
mod status;
mod streaming;

pub use pack::Buffer;
pub use scalar::{Category, Scalar};
pub use status::Status;

use crate::attr::Attributes;
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, Table, null};
use parking_lot::Mutex;

/// MPI_DATATYPE_NULL.
pub const NULL: i32 = null(ObjectType::Datatype);
pub const BYTE: i32 = 0x4c00_010d;
pub const INT: i32 = 0x4c00_0405;
pub const PACKED: i32 = 0x4c00_010f;

/// One datatype. Sizes and extents are in bytes.
pub struct Datatype {
    pub handle: i32,
    /// Bytes of data in one element of this type, holes not counted.
    pub size: u64,
    pub lb: i64,
    pub extent: i64,
    pub true_lb: i64,
    pub true_extent: i64,
    pub category: Category,
    /// The basic types of one element in their order: one, or two of a pair type.
    pub scalars: &'static [Scalar],
    /// Where the data of one element lies; a single block from 0 with `extent` bytes has no holes.
    blocks: &'static [Block],
    pub attributes: Attributes,
    /// The type that MPI_Type_dup made this one from.
    pub duplicate_of: Option<&'static Datatype>,
    given_name: &'static str,
    new_name: Mutex<Option<String>>,
}

/// A run of bytes that hold data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    /// From the start of the element.
    offset: usize,
    /// Bytes.
    length: usize,
}

impl Datatype {
    /// Whether elements of this type follow each other without holes.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.size as i64 == self.extent && self.lb == 0
    }

    /// Whether this is one of the types of the standard, which cannot be freed.
    pub fn is_predefined(&self) -> bool {
        predefined::find(self.handle).is_some()
    }

    /// The name set last by MPI_Type_set_name, or the one in mpi.h.
    pub fn name(&self) -> String {
        match &*self.new_name.lock() {
            Some(name) => name.clone(),
            None => self.given_name.to_owned(),
        }
    }

    pub fn set_name(&self, name: &str) {
        *self.new_name.lock() = Some(name.to_owned());
    }
}

static TYPES: Table<Datatype> = Table::starting_at(ObjectType::Datatype, predefined::DIRECT_PAIRS);

/// The datatype of a handle; `None` for MPI_DATATYPE_NULL and for what is no datatype.
#[inline]
pub fn get(handle: i32) -> Option<&'static Datatype> {
    predefined::find(handle).or_else(|| TYPES.get(handle))
}

/// MPI_Type_dup without the attributes, which the edge copies (it may call user functions).
pub fn duplicate(old: &'static Datatype) -> Result<&'static Datatype> {
    let handle = TYPES.insert_with(|handle| Datatype {
        handle,
        attributes: Attributes::new(),
        duplicate_of: Some(old),
        given_name: "",
        new_name: Mutex::new(None),
        ..*old
    })?;
    match get(handle) {
        Some(datatype) => Ok(datatype),
        None => fail!(Class::Intern, "a new datatype is gone"),
    }
}

/// MPI_Type_free after the attributes were deleted: the handle dies, but pending operations keep
/// using the type, so its memory stays.
pub fn free(datatype: &Datatype) -> Result<()> {
    if datatype.is_predefined() {
        return fail!(
            Class::Type,
            "datatype is {}, which is predefined and cannot be freed",
            datatype.name()
        );
    }
    TYPES.retire(datatype.handle);
    Ok(())
}

/// The handles of all predefined types.
pub fn predefined_handles() -> impl Iterator<Item = i32> {
    predefined::all().map(|datatype| datatype.handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_changed() {
        let datatype = get(0x4c00_0809).unwrap();
        assert_eq!(datatype.name(), "MPI_LONG_LONG_INT");
        datatype.set_name("mine");
        assert_eq!(datatype.name(), "mine");
        datatype.set_name("MPI_LONG_LONG_INT");
    }

    #[test]
    fn duplicates() {
        let old = get(0x8c00_0003_u32 as i32).unwrap(); // MPI_SHORT_INT
        let new = duplicate(old).unwrap();
        assert_ne!(new.handle, old.handle);
        assert_eq!((new.size, new.extent, new.true_extent), (6, 8, 8));
        assert_eq!(
            new.duplicate_of.map(|datatype| datatype.handle),
            Some(old.handle)
        );
        assert_eq!(new.name(), "");
        assert!(!new.is_predefined());
        free(new).unwrap();
        assert!(get(new.handle).is_none());
        assert_eq!(free(old).unwrap_err().class(), Class::Type);
    }

    #[test]
    fn what_is_no_datatype() {
        for handle in [0, NULL, -1, 0x4c00_0505, 0x4c00_02ff, 0x4400_0000] {
            assert!(get(handle).is_none(), "{handle:#x}");
        }
        assert!(get(0x8c00_00ff_u32 as i32).is_none());
        assert!(get(0x8800_0000_u32 as i32).is_none());
    }
}
