//! Keys of attributes and the callbacks that belong to them.
//!
//! Invariant: a key lives, and no other key has its number, until the program has freed it and its last
//! attribute is gone (MPI 5.0, 7.7.2). The table therefore does not own keys: the program's reference
//! does until MPI_Comm_free_keyval, and each attribute does.

use super::{Value, predefined};
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, null};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

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
    /// The number that the program knows the key by.
    pub number: i32,
    pub target: Target,
    pub callbacks: Box<dyn Callbacks>,
}

impl Drop for Keyval {
    fn drop(&mut self) {
        KEYVALS.remove(self.number & !TARGET_MASK);
    }
}

/// A key's index in the table.
#[derive(Default)]
struct Slot(Mutex<References>);

#[derive(Default)]
struct References {
    keyval: Weak<Keyval>,
    /// The program's reference; `None` once it has freed the key.
    program: Option<Arc<Keyval>>,
}

static KEYVALS: SharedTable<Slot> = SharedTable::new(ObjectType::Keyval);

/// MPI_Comm_create_keyval and its like.
pub fn create(target: Target, callbacks: Box<dyn Callbacks>) -> Result<i32> {
    let slot = Arc::new(Slot::default());
    let handle = KEYVALS.insert(slot.clone())?;
    if handle & TARGET_MASK != 0 {
        KEYVALS.remove(handle);
        return fail!(Class::NoMem, "all attribute keys are in use");
    }
    let keyval = Arc::new(Keyval {
        number: handle | (target as i32) << TARGET_SHIFT,
        target,
        callbacks,
    });
    let number = keyval.number;
    *slot.0.lock() = References {
        keyval: Arc::downgrade(&keyval),
        program: Some(keyval),
    };
    Ok(number)
}

/// The key of a number, be it freed or not.
fn find(number: i32) -> Option<(Arc<Slot>, Arc<Keyval>)> {
    let slot = KEYVALS.get(number & !TARGET_MASK)?;
    let keyval = slot.0.lock().keyval.upgrade()?;
    (keyval.number == number).then_some((slot, keyval))
}

fn known(target: Target, number: i32) -> Result<(Arc<Slot>, Arc<Keyval>)> {
    if number == INVALID {
        return fail!(Class::Keyval, "keyval is MPI_KEYVAL_INVALID");
    }
    match find(number) {
        Some(found) if found.1.target == target => Ok(found),
        Some((_, keyval)) => fail!(
            Class::Keyval,
            "keyval is {number:#x}, a key for another kind of object ({:?})",
            keyval.target
        ),
        None => fail!(Class::Keyval, "keyval is {number:#x}, which is no key"),
    }
}

/// The key of a number. MPI_ERR_KEYVAL if it is none of this target.
pub fn keyval(target: Target, number: i32) -> Result<Arc<Keyval>> {
    known(target, number).map(|(_, keyval)| keyval)
}

/// MPI_Comm_free_keyval and its like. The key stays known while it has attributes; freeing it again then changes nothing, as in MPICH.
pub fn free(target: Target, number: i32) -> Result<()> {
    if predefined::get(target, number)?.is_some() {
        return fail!(
            Class::Keyval,
            "keyval is {number:#x}, a predefined key, which cannot be freed"
        );
    }
    let (slot, _keyval) = known(target, number)?;
    slot.0.lock().program = None;
    Ok(())
}

/// Whether the program has made this key and not freed it.
pub fn is_held_by_program(number: i32) -> bool {
    find(number).is_some_and(|(slot, _)| slot.0.lock().program.is_some())
}

/// Lets the wrapper of another language call the callbacks of a key; false if there is no such key.
pub fn set_proxy(number: i32, copy_proxy: usize, delete_proxy: usize) -> bool {
    let Some((_, keyval)) = find(number) else {
        return false;
    };
    keyval.callbacks.set_proxy(copy_proxy, delete_proxy);
    true
}
