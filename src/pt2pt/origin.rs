//! Which session the groups and communicators that come from one belong to, for its buffer of buffered sends.
//!
//! Invariant: an entry is made with its object and goes with the object's handle, so no stale handle is found here. Programs
//! without sessions pay one load where objects are made.

use crate::sync::{AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Sessions by the handles of groups and communicators, which differ in their type bits.
static SESSIONS: Mutex<BTreeMap<i32, i32>> = Mutex::new(BTreeMap::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn change(change: impl FnOnce(&mut BTreeMap<i32, i32>)) {
    let mut sessions = SESSIONS.lock();
    change(&mut sessions);
    COUNT.store(sessions.len(), Ordering::Relaxed);
}

/// An object comes from a session.
pub fn set(object: i32, session: i32) {
    change(|sessions| {
        sessions.insert(object, session);
    });
}

/// The session that an object comes from.
#[inline]
pub fn of(object: i32) -> Option<i32> {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    SESSIONS.lock().get(&object).copied()
}

/// A new object comes from where this one does.
#[inline]
pub fn inherit(from: i32, new: i32) {
    if let Some(session) = of(from) {
        set(new, session);
    }
}

/// The object's handle ends.
#[inline]
pub fn forget(object: i32) {
    if COUNT.load(Ordering::Relaxed) != 0 {
        change(|sessions| {
            sessions.remove(&object);
        });
    }
}

/// The session ends: what still comes from it is nobody's.
pub fn forget_session(session: i32) {
    change(|sessions| sessions.retain(|_, its| *its != session));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_an_object_has_its_session() {
        let (group, comm, other, session) = (0x4800_7770, 0x4400_7770, 0x4400_7771, 0x4c00_0001);
        set(group, session);
        inherit(group, comm);
        inherit(other, other + 1);
        assert_eq!((of(comm), of(other + 1)), (Some(session), None));
        forget(comm);
        assert_eq!((of(comm), of(group)), (None, Some(session)));
        forget_session(session);
        assert_eq!(of(group), None);
    }
}
