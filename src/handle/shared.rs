//! A table for the objects that are looked up rarely: each reader gets a counted reference, so that an
//! object can be removed at any time without anyone having to know who still uses it.
//!
//! Invariant: references into the inner table exist only while the lock is held.

use super::{ObjectType, Table};
use crate::error::Result;
use parking_lot::RwLock;
use std::sync::Arc;

pub struct SharedTable<T: 'static> {
    table: Table<Arc<T>>,
    lock: RwLock<()>,
}

impl<T: Send + Sync + 'static> SharedTable<T> {
    pub const fn new(object_type: ObjectType) -> SharedTable<T> {
        SharedTable {
            table: Table::new(object_type),
            lock: RwLock::new(()),
        }
    }

    pub fn insert(&self, object: Arc<T>) -> Result<i32> {
        self.table.insert(object)
    }

    /// Puts a predefined object under a fixed index. The index must be free.
    pub fn insert_builtin(&self, index: u32, object: Arc<T>) -> i32 {
        self.table.insert_builtin(index, object)
    }

    pub fn get(&self, handle: i32) -> Option<Arc<T>> {
        let _reading = self.lock.read();
        self.table.get(handle).cloned()
    }

    /// Ends the handle and returns the object, which lives on while others use it.
    pub fn remove(&self, handle: i32) -> Option<Arc<T>> {
        let _writing = self.lock.write();
        let object = self.table.get(handle)?.clone();
        // SAFETY: references are taken under the lock, which we hold alone; `get` copied out of
        // them before it released the lock.
        unsafe { self.table.reclaim(handle) };
        Some(object)
    }

    /// Handles and objects alive now.
    pub fn live(&self) -> Vec<(i32, Arc<T>)> {
        let _reading = self.lock.read();
        let mut live = Vec::new();
        self.table
            .for_each_live(|handle, object| live.push((handle, object.clone())));
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_objects_live_on_with_their_users() {
        let table: Box<SharedTable<String>> = Box::new(SharedTable::new(ObjectType::Op));
        let handle = table.insert(Arc::new("sum".to_owned())).unwrap();
        let object = table.get(handle).unwrap();
        assert_eq!(table.live().len(), 1);
        assert!(table.remove(handle).is_some());
        assert!(table.get(handle).is_none());
        assert!(table.remove(handle).is_none());
        assert_eq!(*object, "sum");
        assert_eq!(Arc::strong_count(&object), 1);
    }
}
