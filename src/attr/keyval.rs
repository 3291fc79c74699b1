//! Keys of attributes and the callbacks that belong to them.
//!
//! Invariant: attributes hold their key themselves, so that a freed key lives as long as an attribute
//! does; only its handle is dead.

use super::{Value, predefined};
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, null};
use std::sync::Arc;

/// MPI_KEYVAL_INVALID.
pub const INVALID: i32 = null(ObjectType::Keyval);

/// What a key's attributes belong to; the numbers are the bits 25..22 of the key.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Comm = 1,
    Datatype = 3,
    Win = 8,
}

const TARGET_SHIFT: u32 = 22;
const TARGET_MASK: i32 = 0xf << TARGET_SHIFT;

/// The program's callbacks, in whatever language. An error is the code that the callback returned.
pub trait Callbacks: Send + Sync {
    /// The value for the new object when `object` is duplicated; `None` leaves it out.
    fn copy(
        &self,
        object: i32,
        keyval: i32,
        value: Value,
    ) -> std::result::Result<Option<Value>, i32>;

    /// Called before the attribute is deleted.
    fn delete(&self, object: i32, keyval: i32, value: Value) -> std::result::Result<(), i32>;

    /// From now on the callbacks are called through these two functions of another language's
    /// wrapper (addresses, known to the implementation only).
    fn set_proxy(&self, copy_proxy: usize, delete_proxy: usize);
}

/// A key made by a program.
pub struct Keyval {
    pub handle: std::sync::OnceLock<i32>,
    pub target: Target,
    pub callbacks: Box<dyn Callbacks>,
}

impl Keyval {
    /// The number that the program knows the key by.
    pub fn number(&self) -> i32 {
        self.handle.get().copied().unwrap_or(INVALID)
    }
}

static KEYVALS: SharedTable<Keyval> = SharedTable::new(ObjectType::Keyval);

/// MPI_Comm_create_keyval and its like.
pub fn create(target: Target, callbacks: Box<dyn Callbacks>) -> Result<i32> {
    let keyval = Arc::new(Keyval {
        handle: Default::default(),
        target,
        callbacks,
    });
    let handle = KEYVALS.insert(keyval.clone())?;
    if handle & TARGET_MASK != 0 {
        KEYVALS.remove(handle);
        return fail!(Class::NoMem, "all attribute keys are in use");
    }
    let number = handle | (target as i32) << TARGET_SHIFT;
    keyval.handle.get_or_init(|| number);
    Ok(number)
}

/// The key of a number. MPI_ERR_KEYVAL if it is none of this target.
pub fn keyval(target: Target, number: i32) -> Result<Arc<Keyval>> {
    if number == INVALID {
        return fail!(Class::Keyval, "keyval is MPI_KEYVAL_INVALID");
    }
    let handle = number & !TARGET_MASK;
    match KEYVALS.get(handle) {
        Some(keyval) if keyval.number() == number && keyval.target == target => Ok(keyval),
        Some(keyval) if keyval.number() == number => fail!(
            Class::Keyval,
            "keyval is {number:#x}, a key for another kind of object ({:?})",
            keyval.target
        ),
        _ => fail!(Class::Keyval, "keyval is {number:#x}, which is no key"),
    }
}

/// MPI_Comm_free_keyval and its like.
pub fn free(target: Target, number: i32) -> Result<()> {
    if predefined::get(target, number)?.is_some() {
        return fail!(
            Class::Keyval,
            "keyval is {number:#x}, a predefined key, which cannot be freed"
        );
    }
    keyval(target, number)?;
    KEYVALS.remove(number & !TARGET_MASK);
    Ok(())
}

/// Lets the wrapper of another language call the callbacks of a key; false if there is no such key.
pub fn set_proxy(number: i32, copy_proxy: usize, delete_proxy: usize) -> bool {
    match KEYVALS.get(number & !TARGET_MASK) {
        Some(keyval) if keyval.number() == number => {
            keyval.callbacks.set_proxy(copy_proxy, delete_proxy);
            true
        }
        _ => false,
    }
}
