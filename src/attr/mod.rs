//! Attributes: values that programs cache on communicators, datatypes and windows under keys of their
//! own (MPI 5.0, section 7.7), and the predefined ones.
//!
//! Invariant: a user's callback runs without any lock held, so it may call MPI, attributes included.

mod attributes;
mod keyval;
mod predefined;

pub use attributes::Attributes;
pub use keyval::{
    Callbacks, INVALID, Keyval, Target, create, free, is_held_by_program, keyval, set_proxy,
};
pub use predefined::{
    APPNUM, FT, HOST, IO, LAST_USED_CODE, Language, TAG_UB, UNIVERSE_SIZE, WTIME_IS_GLOBAL,
    WindowKey, found_address, found_fact, is_of_world, set, window_key,
};

use crate::error::{Class, Result, fail};

/// What an attribute was set as: this decides what the languages see when they read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// By C.
    Pointer,
    /// By Fortran, an integer as wide as an address.
    Address,
    /// By Fortran's old interface, a default integer.
    Integer,
}

/// An attribute's value: the bits that were set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    pub bits: usize,
    pub kind: Kind,
}

/// An attribute that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    pub value: Value,
    /// Where the value is kept as long as the attribute is not changed: what C sees of a value
    /// that Fortran set.
    pub address: *const usize,
}

impl Found {
    /// What a C caller gets.
    pub fn for_c(&self) -> usize {
        match self.value.kind {
            Kind::Pointer => self.value.bits,
            Kind::Address | Kind::Integer => self.address as usize,
        }
    }

    /// What a Fortran caller gets, before it is cut to the width of its integer.
    pub fn for_fortran(&self) -> usize {
        self.value.bits
    }
}

/// MPI_Comm_get_attr and its like: a predefined attribute or one in `attributes`. A Fortran caller
/// names a predefined one by a key of its own and gets the value itself.
pub fn get(attributes: &Attributes, target: Target, key: i32) -> Result<Option<Found>> {
    if let Some(found) = predefined::get(target, key)? {
        return Ok(found);
    }
    Ok(attributes.get(&*keyval(target, key)?))
}

/// MPI_Comm_set_attr and its like; a value that is there is deleted first.
pub fn put(
    attributes: &Attributes,
    target: Target,
    object: i32,
    key: i32,
    value: Value,
) -> Result<()> {
    refuse_predefined(target, key)?;
    attributes.set(object, &keyval(target, key)?, value)
}

/// MPI_Comm_delete_attr and its like.
pub fn delete(attributes: &Attributes, target: Target, object: i32, key: i32) -> Result<()> {
    refuse_predefined(target, key)?;
    attributes.delete(object, &*keyval(target, key)?)
}

fn refuse_predefined(target: Target, key: i32) -> Result<()> {
    match predefined::get(target, key)? {
        None => Ok(()),
        Some(_) => fail!(
            Class::Keyval,
            "keyval is {key:#x}, a predefined attribute, which cannot be changed"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_attributes_are_read_only() {
        let attributes = Attributes::new();
        let found = get(&attributes, Target::Comm, TAG_UB).unwrap().unwrap();
        assert_ne!(found.for_c(), 0);
        let value = found.value;
        let put = put(&attributes, Target::Comm, 0, TAG_UB, value);
        assert_eq!(put.unwrap_err().class(), Class::Keyval);
        let deleted = delete(&attributes, Target::Comm, 0, TAG_UB);
        assert_eq!(deleted.unwrap_err().class(), Class::Keyval);
        let other = get(&attributes, Target::Datatype, TAG_UB);
        assert_eq!(other.unwrap_err().class(), Class::Keyval);
    }

    #[test]
    fn what_the_languages_see() {
        let cell = 7_usize;
        let found = |kind| Found {
            value: Value { bits: 7, kind },
            address: &cell,
        };
        assert_eq!(found(Kind::Pointer).for_c(), 7);
        assert_eq!(found(Kind::Integer).for_c(), &raw const cell as usize);
        assert_eq!(found(Kind::Address).for_fortran(), 7);
    }
}
