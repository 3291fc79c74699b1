//! The attributes of one object.
//!
//! Invariant: an attribute leaves the list only after its delete callback agreed.

use super::keyval::Keyval;
use super::{Found, Value};
use crate::error::{Error, Result};
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::sync::Arc;

/// The attributes of one communicator, datatype or window, in the order they were set.
pub struct Attributes {
    entries: Mutex<Vec<Entry>>,
    /// Whether there ever was one: most objects have none.
    used: AtomicBool,
}

#[derive(Clone)]
struct Entry {
    keyval: Arc<Keyval>,
    value: Value,
    /// The value at an address that stays, for C readers of what Fortran set.
    cell: Arc<AtomicUsize>,
}

impl Entry {
    fn new(keyval: &Arc<Keyval>, value: Value) -> Entry {
        Entry {
            keyval: keyval.clone(),
            value,
            cell: Arc::new(AtomicUsize::new(value.bits)),
        }
    }

    fn is_of(&self, keyval: &Keyval) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.keyval), keyval)
    }

    fn call_delete(&self, object: i32) -> Result<()> {
        let callbacks = &self.keyval.callbacks;
        let result = callbacks.delete(object, self.keyval.number, self.value);
        result.map_err(Error::from_code)
    }
}

impl Attributes {
    pub const fn new() -> Attributes {
        Attributes {
            entries: Mutex::new(Vec::new()),
            used: AtomicBool::new(false),
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.used.load(Ordering::Acquire) || self.entries.lock().is_empty()
    }

    pub(super) fn get(&self, keyval: &Keyval) -> Option<Found> {
        let entries = self.entries.lock();
        let entry = entries.iter().find(|entry| entry.is_of(keyval))?;
        Some(Found {
            value: entry.value,
            address: entry.cell.as_ptr(),
        })
    }

    pub(super) fn set(&self, object: i32, keyval: &Arc<Keyval>, value: Value) -> Result<()> {
        self.delete(object, keyval)?;
        self.add(Entry::new(keyval, value));
        Ok(())
    }

    fn add(&self, entry: Entry) {
        self.entries.lock().push(entry);
        self.used.store(true, Ordering::Release);
    }

    /// Calls the delete callback and takes the attribute out, if there is one.
    pub(super) fn delete(&self, object: i32, keyval: &Keyval) -> Result<()> {
        let found = {
            let entries = self.entries.lock();
            entries.iter().find(|entry| entry.is_of(keyval)).cloned()
        };
        let Some(entry) = found else {
            return Ok(());
        };
        entry.call_delete(object)?;
        self.take_out(&entry);
        Ok(())
    }

    fn take_out(&self, entry: &Entry) {
        let mut entries = self.entries.lock();
        entries.retain(|other| !Arc::ptr_eq(&other.cell, &entry.cell));
    }

    /// Lets each key's copy callback decide what `new`, a duplicate of `object`, gets. After an error
    /// the caller deletes what `new` has got so far.
    pub fn copy_to(&self, object: i32, new: &Attributes) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let entries = self.entries.lock().clone();
        for entry in entries {
            let callbacks = &entry.keyval.callbacks;
            let copied = callbacks.copy(object, entry.keyval.number, entry.value);
            if let Some(value) = copied.map_err(Error::from_code)? {
                let copy = Entry::new(&entry.keyval, value);
                new.add(copy);
            }
        }
        Ok(())
    }

    /// Deletes all attributes, the one set last first, as when the object is freed. Stops at the
    /// first callback that fails; its attribute and those set before stay.
    #[inline]
    pub fn delete_all(&self, object: i32) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        self.delete_each(object)
    }

    fn delete_each(&self, object: i32) -> Result<()> {
        loop {
            let last = self.entries.lock().last().cloned();
            let Some(entry) = last else {
                return Ok(());
            };
            entry.call_delete(object)?;
            self.take_out(&entry);
        }
    }
}

impl Attributes {
    /// Takes out the attribute set last without a callback, after its callback failed for good.
    pub fn forget_last(&self) {
        self.entries.lock().pop();
    }
}

impl Default for Attributes {
    fn default() -> Attributes {
        Attributes::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Callbacks, Kind, Target, create, delete, free, get, put};
    use super::*;
    use crate::error::Class;

    type Log = Arc<Mutex<Vec<(i32, usize)>>>;

    /// Logs deletions; copies odd values and fails on 13.
    struct Logged(Log);

    impl Callbacks for Logged {
        fn copy(&self, _: i32, _: i32, value: Value) -> std::result::Result<Option<Value>, i32> {
            match value.bits {
                13 => Err(Class::Other.value()),
                bits => Ok((bits % 2 == 1).then_some(value)),
            }
        }

        fn delete(&self, object: i32, _: i32, value: Value) -> std::result::Result<(), i32> {
            self.0.lock().push((object, value.bits));
            if value.bits == 99 {
                return Err(Class::Arg.value());
            }
            Ok(())
        }

        fn set_proxy(&self, _: usize, _: usize) {}
    }

    fn pointer(bits: usize) -> Value {
        Value {
            bits,
            kind: Kind::Pointer,
        }
    }

    fn bits(attributes: &Attributes, key: i32) -> Option<usize> {
        let found = get(attributes, Target::Comm, key).unwrap();
        found.map(|found| found.value.bits)
    }

    #[test]
    fn deletion_runs_backwards_and_setting_deletes_first() {
        let log = Log::default();
        let attributes = Attributes::new();
        let keys: Vec<i32> = (0..3)
            .map(|_| create(Target::Comm, Box::new(Logged(log.clone()))).unwrap())
            .collect();
        for (number, key) in keys.iter().enumerate() {
            put(&attributes, Target::Comm, 5, *key, pointer(10 + number)).unwrap();
        }
        put(&attributes, Target::Comm, 5, keys[0], pointer(20)).unwrap();
        attributes.delete_all(5).unwrap();
        assert_eq!(*log.lock(), [(5, 10), (5, 20), (5, 12), (5, 11)]);
        assert!(attributes.is_empty());
    }

    #[test]
    fn a_failing_delete_keeps_the_attribute() {
        let log = Log::default();
        let attributes = Attributes::new();
        let key = create(Target::Comm, Box::new(Logged(log.clone()))).unwrap();
        put(&attributes, Target::Comm, 1, key, pointer(99)).unwrap();
        for result in [
            put(&attributes, Target::Comm, 1, key, pointer(1)),
            delete(&attributes, Target::Comm, 1, key),
            attributes.delete_all(1),
        ] {
            assert_eq!(result.unwrap_err().code(), Class::Arg.value());
        }
        assert_eq!(bits(&attributes, key), Some(99));
        assert_eq!(log.lock().len(), 3);
        attributes.forget_last();
        attributes.delete_all(1).unwrap();
    }

    #[test]
    fn the_copy_callback_decides() {
        let attributes = Attributes::new();
        let keys: Vec<i32> = (0..3)
            .map(|_| create(Target::Comm, Box::new(Logged(Log::default()))).unwrap())
            .collect();
        put(&attributes, Target::Comm, 1, keys[0], pointer(2)).unwrap();
        put(&attributes, Target::Comm, 1, keys[1], pointer(3)).unwrap();
        let new = Attributes::new();
        attributes.copy_to(1, &new).unwrap();
        assert_eq!(bits(&new, keys[0]), None);
        assert_eq!(bits(&new, keys[1]), Some(3));
        put(&attributes, Target::Comm, 1, keys[2], pointer(13)).unwrap();
        let failed = attributes.copy_to(1, &Attributes::new());
        assert_eq!(failed.unwrap_err().class(), Class::Other);
    }

    #[test]
    fn a_freed_key_lives_until_its_last_attribute_is_gone() {
        let log = Log::default();
        let (attributes, other) = (Attributes::new(), Attributes::new());
        let key = create(Target::Comm, Box::new(Logged(log.clone()))).unwrap();
        put(&attributes, Target::Comm, 1, key, pointer(7)).unwrap();
        free(Target::Comm, key).unwrap();
        // Again, which changes nothing.
        free(Target::Comm, key).unwrap();
        assert_eq!(bits(&attributes, key), Some(7));
        assert_eq!(bits(&other, key), None);
        attributes.copy_to(1, &other).unwrap();
        put(&attributes, Target::Comm, 1, key, pointer(8)).unwrap();
        delete(&attributes, Target::Comm, 1, key).unwrap();
        assert_eq!(bits(&other, key), Some(7));
        other.delete_all(2).unwrap();
        assert_eq!(*log.lock(), [(1, 7), (1, 8), (2, 7)]);
        let dead = get(&attributes, Target::Comm, key);
        assert_eq!(dead.unwrap_err().class(), Class::Keyval);
        assert_eq!(free(Target::Comm, key).unwrap_err().class(), Class::Keyval);
    }

    #[test]
    fn no_other_key_gets_the_number_of_one_in_use() {
        let attributes = Attributes::new();
        let make = || create(Target::Comm, Box::new(Logged(Log::default()))).unwrap();
        let key = make();
        put(&attributes, Target::Comm, 1, key, pointer(7)).unwrap();
        free(Target::Comm, key).unwrap();
        // More than one block of the table, so that freed places are used again.
        for _ in 0..3_000 {
            let other = make();
            assert_ne!(other, key);
            free(Target::Comm, other).unwrap();
        }
        assert_eq!(bits(&attributes, key), Some(7));
    }

    #[test]
    fn keys_belong_to_one_kind_of_object() {
        let attributes = Attributes::new();
        let key = create(Target::Win, Box::new(Logged(Log::default()))).unwrap();
        assert_eq!(key as u32 & 0xffc0_0000, 0xa600_0000);
        let wrong = put(&attributes, Target::Comm, 1, key, pointer(1));
        assert_eq!(wrong.unwrap_err().class(), Class::Keyval);
        assert!(put(&attributes, Target::Win, 1, key, pointer(1)).is_ok());
        assert!(free(Target::Comm, key).is_err());
    }

    #[test]
    fn what_fortran_set_has_an_address_for_c() {
        let attributes = Attributes::new();
        let key = create(Target::Comm, Box::new(Logged(Log::default()))).unwrap();
        let value = Value {
            bits: 42,
            kind: Kind::Integer,
        };
        put(&attributes, Target::Comm, 1, key, value).unwrap();
        let found = get(&attributes, Target::Comm, key).unwrap().unwrap();
        assert_eq!(found.for_fortran(), 42);
        assert_eq!(found.for_c(), found.address as usize);
    }
}
