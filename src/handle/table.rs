//! The table behind the handles of one object type.
//!
//! Invariant: a slot's pointer is null or points to an object that was boxed here and that is not
//! dropped before `reclaim`. Reading takes no lock; all changes are made under one guard.

use super::{Kind, ObjectType, builtin, direct, index, indirect, is_of_type, kind};
use crate::error::{Class, Result, fail};
use crate::sync::{AtomicPtr, Ordering};
use crate::sync::{Exclusive, ExclusiveGuard};
use std::collections::{BTreeMap, VecDeque};
use std::ptr;
use std::sync::OnceLock;

const BUILTINS: usize = 32;
const DIRECT: usize = 256;
/// As many as a handle can tell apart, so that a lookup compares nothing.
const BLOCK: usize = 1 << 12;
/// Miri looks at each whenever a reference to a table is made, and its tests need two.
const BLOCKS: usize = if cfg!(miri) { 2 } else { 1 << 14 };

type Slot<T> = AtomicPtr<T>;
type Block<T> = [Slot<T>; BLOCK];

/// Objects of one type by handle; meant for a `static`. Room for 64 million objects beside the
/// predefined ones; memory is taken in blocks of 4096 slots when it is needed.
pub struct Table<T: 'static> {
    object_type: ObjectType,
    builtins: [Slot<T>; BUILTINS],
    direct: [Slot<T>; DIRECT],
    blocks: [AtomicPtr<Block<T>>; BLOCKS],
    /// So many blocks are made at most.
    most_blocks: usize,
    state: Exclusive<State<T>>,
}

/// What gives back the objects that were freed and wait, if there is such a thing.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Tells the tables, which know no lifetimes, what to call when handles run out. It takes none of their guards.
pub fn when_handles_run_out(give_back: fn()) {
    let _ = GIVE_BACK.set(give_back);
}

struct State<T> {
    /// Handles whose slot can be used again, the one that became free first in front.
    free: VecDeque<i32>,
    /// Slots of the direct block never used so far start here.
    direct_used: usize,
    /// Allocated blocks, and the slots of the last one that have been used.
    blocks: usize,
    block_used: usize,
    /// Objects whose handle died and that someone may still hold a reference to.
    retired: BTreeMap<i32, Retired<T>>,
    /// See [`Table::hide`].
    hidden: BTreeMap<i32, Retired<T>>,
}

struct Retired<T>(*mut T);

// SAFETY: a retired object is only touched by whoever reclaims it, under the table's guard; the
// bounds on `Table` below make T itself fit to be moved to and shared with that thread.
unsafe impl<T: Send + Sync> Send for Retired<T> {}

// SAFETY: the raw pointers in the slots are owned by the table and handed out as shared references
// only; T is both Send (dropped by any thread) and Sync (read by all).
unsafe impl<T: Send + Sync> Sync for Table<T> {}

impl<T: Send + Sync + 'static> Table<T> {
    pub const fn new(object_type: ObjectType) -> Table<T> {
        Table::starting_at(object_type, 0)
    }

    /// A table that leaves the first direct handles to predefined objects kept elsewhere.
    pub const fn starting_at(object_type: ObjectType, first_direct: usize) -> Table<T> {
        Table::of_blocks(object_type, first_direct, BLOCKS)
    }

    const fn of_blocks(
        object_type: ObjectType,
        first_direct: usize,
        most_blocks: usize,
    ) -> Table<T> {
        Table {
            object_type,
            builtins: [const { AtomicPtr::new(ptr::null_mut()) }; BUILTINS],
            direct: [const { AtomicPtr::new(ptr::null_mut()) }; DIRECT],
            blocks: [const { AtomicPtr::new(ptr::null_mut()) }; BLOCKS],
            most_blocks,
            state: Exclusive::new(State {
                free: VecDeque::new(),
                direct_used: first_direct,
                blocks: 0,
                block_used: BLOCK,
                retired: BTreeMap::new(),
                hidden: BTreeMap::new(),
            }),
        }
    }

    /// Whether several threads may make and end objects at once; if nobody says otherwise, they may.
    ///
    /// # Safety
    /// Nobody makes or ends an object meanwhile; without threads, one thread at a time does.
    pub unsafe fn share(&self, threads: bool) {
        // SAFETY: by the caller; what else enters is done before it returns.
        unsafe { self.state.share(threads) };
    }

    /// The object of a live handle; `None` for a null, foreign or dead one. The reference is good
    /// until the handle is reclaimed (of a table in a `static` it is `'static` for the compiler).
    #[inline]
    pub fn get(&self, handle: i32) -> Option<&T> {
        let pointer = self.slot(handle)?.load(Ordering::Acquire); // pairs with `put`
        // SAFETY: the pointer is null or an object that stays until `reclaim`, whose caller
        // vouches that nobody uses the references from here any more.
        unsafe { pointer.as_ref() }
    }

    /// The slot a handle points to, if the handle is of this table's type and its block exists.
    #[inline]
    fn slot(&self, handle: i32) -> Option<&Slot<T>> {
        if !is_of_type(handle, self.object_type) {
            return None;
        }
        let position = index(handle) as usize;
        match kind(handle) {
            Kind::Indirect => {
                let block = self.blocks[position >> 12].load(Ordering::Acquire); // pairs with `grow`
                // SAFETY: blocks are allocated once and freed with the table only.
                unsafe { block.as_ref() }?.get(position & 0xfff)
            }
            Kind::Direct => self.direct.get(position),
            Kind::Builtin => self.builtins.get(position),
            Kind::Invalid => None,
        }
    }

    /// Takes the object over and returns its new handle: a slot never used while the newest block
    /// has one, then the slot that has been free for longest.
    pub fn insert(&self, object: T) -> Result<i32> {
        let (state, handle) = self.enter_with_handle()?;
        self.put(handle, Box::new(object));
        drop(state);
        Ok(handle)
    }

    /// As `insert`, for objects that keep their own handle.
    #[inline(always)]
    pub fn insert_with(&self, make: impl FnOnce(i32) -> T) -> Result<&T> {
        let (state, handle) = self.enter_with_handle()?;
        let object = self.put(handle, Box::new(make(handle)));
        drop(state);
        Ok(object)
    }

    /// The guard, and a handle that is free. Where there is none, what waits to be given back is so first.
    #[inline(always)]
    fn enter_with_handle(&self) -> Result<(ExclusiveGuard<'_, State<T>>, i32)> {
        let mut state = self.state.enter();
        match self.free_handle(&mut state) {
            Ok(handle) => Ok((state, handle)),
            Err(_) => {
                drop(state);
                self.after_giving_back()
            }
        }
    }

    #[cold]
    fn after_giving_back(&self) -> Result<(ExclusiveGuard<'_, State<T>>, i32)> {
        if let Some(give_back) = GIVE_BACK.get() {
            give_back();
        }
        let mut state = self.state.enter();
        let handle = self.free_handle(&mut state)?;
        Ok((state, handle))
    }

    fn free_handle(&self, state: &mut State<T>) -> Result<i32> {
        if state.direct_used < DIRECT {
            state.direct_used += 1;
            return Ok(direct(self.object_type, state.direct_used as u32 - 1));
        }
        if state.block_used == BLOCK {
            if let Some(handle) = state.free.pop_front() {
                return Ok(handle);
            }
            self.grow(state)?;
        }
        state.block_used += 1;
        let (block, slot) = (state.blocks as u32 - 1, state.block_used as u32 - 1);
        Ok(indirect(self.object_type, block, slot))
    }

    fn grow(&self, state: &mut State<T>) -> Result<()> {
        if state.blocks == self.most_blocks {
            let most = DIRECT + BLOCK * self.most_blocks;
            return fail!(
                Class::NoMem,
                "{most} objects of type {:?} are alive, which is all there can be",
                self.object_type
            );
        }
        let block = Box::new([const { AtomicPtr::new(ptr::null_mut()) }; BLOCK]);
        self.blocks[state.blocks].store(Box::into_raw(block), Ordering::Release);
        state.blocks += 1;
        state.block_used = 0;
        Ok(())
    }

    /// Under the guard.
    #[inline(always)]
    fn put(&self, handle: i32, object: Box<T>) -> &T {
        let slot = self.slot(handle).expect("the handle was made here");
        let old = slot.load(Ordering::Relaxed);
        assert!(old.is_null(), "slot of handle {handle:#x} is in use");
        let object = Box::into_raw(object);
        slot.store(object, Ordering::Release); // pairs with `get`
        // SAFETY: as in `get`.
        unsafe { &*object }
    }

    /// Puts a predefined object under a fixed index and returns its handle. The index must be free.
    pub fn insert_builtin(&self, index: u32, object: T) -> i32 {
        let _state = self.state.enter();
        let handle = builtin(self.object_type, index);
        self.put(handle, Box::new(object));
        handle
    }

    /// Ends a handle: `get` knows it no more, but the object stays readable for whoever holds a
    /// reference, and the slot is not used again before `reclaim`. False if it was not alive.
    pub fn retire(&self, handle: i32) -> bool {
        let mut state = self.state.enter();
        let Some(pointer) = self.end(&mut state, handle) else {
            return false;
        };
        state.retired.insert(handle, Retired(pointer));
        true
    }

    /// Hides an object whose handle stays alive: `get` does not know it any more, `find` does. Calls that must not use such an object are
    /// stopped by what they look at anyway. False if the handle is not alive, or hidden already.
    pub fn hide(&self, handle: i32) -> bool {
        let mut state = self.state.enter();
        let Some(pointer) = self.take(handle) else {
            return false;
        };
        state.hidden.insert(handle, Retired(pointer));
        true
    }

    /// As [`Table::get`], also if the object is hidden.
    #[inline]
    pub fn find(&self, handle: i32) -> Option<&T> {
        self.get(handle).or_else(|| self.find_hidden(handle))
    }

    #[cold]
    fn find_hidden(&self, handle: i32) -> Option<&T> {
        let state = self.state.enter();
        // SAFETY: as in `get`.
        state.hidden.get(&handle).map(|entry| unsafe { &*entry.0 })
    }

    /// Ends a handle that is alive, hidden or not.
    fn end(&self, state: &mut State<T>, handle: i32) -> Option<*mut T> {
        let hidden = || state.hidden.remove(&handle).map(|entry| entry.0);
        self.take(handle).or_else(hidden)
    }

    /// Ends a handle that is alive and not hidden; under the guard.
    fn take(&self, handle: i32) -> Option<*mut T> {
        let slot = self.slot(handle)?;
        let pointer = slot.load(Ordering::Acquire);
        if pointer.is_null() {
            return None;
        }
        slot.store(ptr::null_mut(), Ordering::Release);
        Some(pointer)
    }

    /// The object of a retired handle, for the sweep that decides whether it can go.
    pub fn retired(&self, handle: i32) -> Option<&T> {
        let state = self.state.enter();
        // SAFETY: a retired object stays until `reclaim`, as in `get`.
        state.retired.get(&handle).map(|entry| unsafe { &*entry.0 })
    }

    /// Calls `visit` for each retired object, without the lock.
    pub fn for_each_retired<'a>(&'a self, mut visit: impl FnMut(&'a T)) {
        let retired: Vec<*const T> = {
            let state = self.state.enter();
            state
                .retired
                .values()
                .map(|entry| entry.0.cast_const())
                .collect()
        };
        // SAFETY: a retired object stays until `reclaim`, which the caller keeps out.
        retired
            .into_iter()
            .for_each(|object| visit(unsafe { &*object }));
    }

    /// Drops the object of a handle, retired or still alive, and puts the slot at the end of the
    /// queue of free ones. False if the handle is neither.
    ///
    /// # Safety
    /// Nobody uses a reference that `get` or `retired` returned for this handle any more.
    pub unsafe fn reclaim(&self, handle: i32) -> bool {
        let mut state = self.state.enter();
        let alive = self.end(&mut state, handle);
        let retired = || state.retired.remove(&handle).map(|entry| entry.0);
        let Some(object) = alive.or_else(retired) else {
            return false;
        };
        if kind(handle) != Kind::Builtin {
            state.free.push_back(handle);
        }
        drop(state); // the object's own drop may come back to this table
        // SAFETY: the pointer came from Box::into_raw in `put`, has just been taken out of the
        // table, and the caller vouches for the references.
        drop(unsafe { Box::from_raw(object) });
        true
    }

    /// Calls `visit` for each live object, without the lock: objects that come or go meanwhile may
    /// be seen or not.
    pub fn for_each_live<'a>(&'a self, mut visit: impl FnMut(i32, &'a T)) {
        let (direct_used, blocks, hidden) = {
            let state = self.state.enter();
            let hidden: Vec<i32> = state.hidden.keys().copied().collect();
            (state.direct_used, state.blocks, hidden)
        };
        let builtins = (0..BUILTINS as u32).map(|index| builtin(self.object_type, index));
        let directs = (0..direct_used as u32).map(|index| direct(self.object_type, index));
        let indirects = (0..blocks as u32).flat_map(|block| {
            (0..BLOCK as u32).map(move |slot| indirect(self.object_type, block, slot))
        });
        for handle in builtins.chain(directs).chain(indirects) {
            if let Some(object) = self.get(handle) {
                visit(handle, object);
            }
        }
        for handle in hidden {
            if let Some(object) = self.find_hidden(handle) {
                visit(handle, object);
            }
        }
    }
}

impl<T: 'static> Drop for Table<T> {
    fn drop(&mut self) {
        let free = |pointer: *mut T| {
            if !pointer.is_null() {
                // SAFETY: boxed in `put`; references from `get` borrow the table, so none is left.
                drop(unsafe { Box::from_raw(pointer) });
            }
        };
        for slot in self.builtins.iter_mut().chain(self.direct.iter_mut()) {
            free(*slot.get_mut());
        }
        let blocks = self.state.get_mut().blocks;
        for block in self.blocks[..blocks].iter_mut() {
            // SAFETY: boxed in `grow`, stored once, not reachable by anyone else now.
            let mut block = unsafe { Box::from_raw(*block.get_mut()) };
            for slot in block.iter_mut() {
                free(*slot.get_mut());
            }
        }
        let state = self.state.get_mut();
        let (retired, hidden) = (&mut state.retired, &mut state.hidden);
        for (_, entry) in std::mem::take(retired)
            .into_iter()
            .chain(std::mem::take(hidden))
        {
            free(entry.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn table() -> Box<Table<u64>> {
        Box::new(Table::new(ObjectType::Info))
    }

    /// Leaves the table as if all direct slots and so many of the first block had been used: for thousands of insertions Miri
    /// takes minutes.
    fn use_up(table: &Table<u64>, slots: usize) {
        let mut state = table.state.enter();
        state.direct_used = DIRECT;
        if state.blocks == 0 {
            table.grow(&mut state).unwrap();
        }
        state.block_used = slots;
    }

    /// # Safety
    /// As `Table::reclaim`; the tests below copy values out and keep no reference.
    unsafe fn free<T: Send + Sync>(table: &Table<T>, handle: i32) {
        // SAFETY: passed on to the caller.
        assert!(unsafe { table.reclaim(handle) });
    }

    #[test]
    fn when_handles_run_out_what_waits_is_given_back() {
        static SMALL: Table<u64> = Table::of_blocks(ObjectType::Info, 0, 1);
        use_up(&SMALL, BLOCK - 1);
        let last = SMALL.insert(1).unwrap();
        assert_eq!(SMALL.insert(0).unwrap_err().class(), Class::NoMem);
        SMALL.retire(last);
        // SAFETY: no reference was kept.
        when_handles_run_out(|| assert!(unsafe { SMALL.reclaim(SMALL_LAST) }));
        assert_eq!(last, SMALL_LAST);
        assert_eq!(SMALL.insert(5).unwrap(), last);
    }

    const SMALL_LAST: i32 = indirect(ObjectType::Info, 0, BLOCK as u32 - 1);

    #[test]
    fn handles_have_the_numbers_of_the_abi() {
        let table = table();
        let first = table.insert(7).unwrap();
        assert_eq!(first as u32, 0x9c00_0000);
        for number in 1..DIRECT as u64 {
            table.insert(number).unwrap();
        }
        assert_eq!(table.insert(8).unwrap() as u32, 0xdc00_0000);
        use_up(&table, BLOCK - 1);
        assert_eq!(table.insert(9).unwrap() as u32, 0xdc00_0fff);
        let last = table.insert(10).unwrap();
        assert_eq!(last as u32, 0xdc00_1000);
        assert_eq!(table.get(last), Some(&10));
        assert_eq!(table.get(first), Some(&7));
    }

    #[test]
    fn handles_that_are_left_out() {
        let table: Box<Table<u64>> = Box::new(Table::starting_at(ObjectType::Datatype, 5));
        assert_eq!(table.insert(1).unwrap() as u32, 0x8c00_0005);
        assert_eq!(table.get(direct(ObjectType::Datatype, 4)), None);
    }

    #[test]
    fn strange_handles_are_not_found() {
        let table = table();
        table.insert(1).unwrap();
        for handle in [0, -1, 0x1c00_0000, 0x5c00_0000, 0x4c00_0405, 0x7fff_ffff] {
            assert_eq!(table.get(handle), None);
        }
        assert_eq!(table.get(direct(ObjectType::Group, 0)), None);
        assert_eq!(table.get(direct(ObjectType::Info, 1)), None);
        assert_eq!(table.get(indirect(ObjectType::Info, 0, 0)), None);
        assert_eq!(table.get(indirect(ObjectType::Info, 0, 0xfff)), None);
    }

    #[test]
    fn slots_come_back_oldest_first() {
        let table = table();
        let handles: Vec<i32> = (0..4).map(|number| table.insert(number).unwrap()).collect();
        use_up(&table, BLOCK);
        for position in [3, 1, 2] {
            // SAFETY: no reference into the table is kept.
            unsafe { free(&table, handles[position]) };
        }
        assert_eq!(table.get(handles[3]), None);
        for position in [3, 1, 2] {
            assert_eq!(table.insert(9).unwrap(), handles[position]);
        }
    }

    #[test]
    fn a_fresh_slot_is_taken_before_a_used_one() {
        let table = table();
        let stale = table.insert(1).unwrap();
        // SAFETY: no reference into the table is kept.
        unsafe { free(&table, stale) };
        assert_ne!(table.insert(2).unwrap(), stale);
        assert_eq!(table.get(stale), None);
    }

    #[test]
    fn retired_objects_stay_readable_until_reclaimed() {
        let shared = Arc::new(());
        let table: Box<Table<Arc<()>>> = Box::new(Table::new(ObjectType::Comm));
        let handle = table.insert(shared.clone()).unwrap();
        let object = table.get(handle).unwrap();
        assert!(table.retire(handle));
        assert!(!table.retire(handle));
        assert!(table.get(handle).is_none());
        assert!(Arc::ptr_eq(object, &shared));
        assert!(table.retired(handle).is_some());
        assert_eq!(Arc::strong_count(&shared), 2);
        // SAFETY: `object` is not used below.
        unsafe { free(&table, handle) };
        assert_eq!(Arc::strong_count(&shared), 1);
        // SAFETY: there is no object under the handle.
        assert!(!unsafe { table.reclaim(handle) });
        assert!(table.retired(handle).is_none());
    }

    #[test]
    fn hidden_objects_live_and_only_find_knows_them() {
        let table = table();
        let world = table.insert_builtin(0, 10);
        let handle = table.insert(20).unwrap();
        for hidden in [world, handle] {
            assert!(table.hide(hidden));
            assert!(!table.hide(hidden));
            assert!(table.get(hidden).is_none());
        }
        assert_eq!(
            (table.find(world), table.find(handle)),
            (Some(&10), Some(&20))
        );
        let mut seen = Vec::new();
        table.for_each_live(|handle, object| seen.push((handle, *object)));
        seen.sort_unstable_by_key(|(_, object)| *object);
        assert_eq!(seen, [(world, 10), (handle, 20)]);
        assert!(table.retire(handle));
        assert!(table.find(handle).is_none());
        assert_eq!(table.retired(handle), Some(&20));
        // SAFETY: no reference into the table is kept.
        unsafe { free(&table, handle) };
        // SAFETY: as above.
        unsafe { free(&table, world) };
        assert!(table.find(world).is_none());
    }

    #[test]
    fn predefined_objects_and_visits() {
        let table = table();
        let world = table.insert_builtin(0, 10);
        let user = table.insert(20).unwrap();
        let gone = table.insert(30).unwrap();
        // SAFETY: no reference into the table is kept.
        unsafe { free(&table, gone) };
        let mut seen = Vec::new();
        table.for_each_live(|handle, object| seen.push((handle, *object)));
        assert_eq!(seen, [(world, 10), (user, 20)]);
        // SAFETY: no reference into the table is kept.
        unsafe { free(&table, world) };
        assert_eq!(table.insert_builtin(0, 11), world);
    }

    #[test]
    fn objects_may_know_their_handle() {
        let table: Box<Table<i32>> = Box::new(Table::new(ObjectType::Group));
        let handle = table.insert_with(|handle| handle).unwrap();
        assert_eq!(table.get(*handle), Some(handle));
    }

    #[test]
    fn readers_and_writers_at_once() {
        let table = table();
        let rounds = if cfg!(miri) { 20 } else { 5_000 };
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                let table = &table;
                scope.spawn(move || {
                    for round in 0..rounds {
                        let value = thread << 32 | round;
                        let handle = table.insert(value).unwrap();
                        assert_eq!(table.get(handle), Some(&value));
                        // SAFETY: only this thread knows the handle, and it keeps no reference.
                        unsafe { free(table, handle) };
                    }
                });
            }
        });
        table.for_each_live(|handle, _| panic!("{handle:#x} is still there"));
    }
}
