//! What pending operations use: the roots from which the collector of communicators and datatypes marks (paper 003), and
//! the counts of the schemes that count.
//!
//! Invariant: a request uses its owner and the datatype of its buffer from its insertion to its recycling, which
//! clears it by its phase; what an operation uses beside its requests is [`Held`] by it.

use super::requests::request::Request;
use super::{Engine, for_each};
use crate::datatype::{Buffer, Datatype};
use crate::handle::{self, Kind};
use crate::references::{self, References};
use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// Counts what a new request uses, where the scheme counts.
#[inline(always)]
pub(super) fn take(owner: i32, buffer: &Buffer) {
    if references::are_counted() {
        count(owner, buffer, true);
    }
}

/// Takes back the counts of [`take`] when the request ends.
#[inline(always)]
pub(super) fn give(request: &Request) {
    if references::are_counted() {
        count(request.owner, &request.buffer, false);
    }
}

#[inline]
fn count(owner: i32, buffer: &Buffer, begins: bool) {
    let change = |references: &References| {
        if begins {
            references.take();
        } else {
            references.give();
        }
    };
    if let Some(references) = references::of_object(owner) {
        change(references);
    }
    if let Some(datatype) = buffer.datatype()
        && references::are_counted_of(!datatype.can_end())
    {
        change(&datatype.references);
    }
}

/// Datatypes that operations use whose requests do not say so, by the operation.
static HELD: Mutex<Operations> = Mutex::new(Operations {
    last: 0,
    datatypes: BTreeMap::new(),
});

/// How many operations are there.
static HOLDERS: AtomicUsize = AtomicUsize::new(0);

struct Operations {
    last: u64,
    datatypes: BTreeMap<u64, Box<[i32]>>,
}

/// Keeps the datatypes of an operation, such as a pending collective one, as long as this lives. Free if all are predefined.
#[derive(Debug)]
pub struct Held(Option<u64>);

impl Held {
    pub fn of(datatypes: impl IntoIterator<Item = &'static Datatype>) -> Held {
        Held::each(|hold| datatypes.into_iter().for_each(hold))
    }

    /// Of the datatypes that `tell` tells.
    pub fn each(tell: impl FnOnce(&mut dyn FnMut(&'static Datatype))) -> Held {
        let mut handles = Vec::new();
        tell(&mut |datatype| {
            if !datatype.is_predefined() {
                handles.push(datatype.handle);
            }
        });
        if handles.is_empty() {
            return Held(None);
        }
        let mut held = HELD.lock();
        held.last += 1;
        let number = held.last;
        held.datatypes.insert(number, handles.into());
        HOLDERS.store(held.datatypes.len(), Ordering::Relaxed);
        Held(Some(number))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            let mut held = HELD.lock();
            held.datatypes.remove(&number);
            HOLDERS.store(held.datatypes.len(), Ordering::Relaxed);
        }
    }
}

/// Requests that [`mark`] has looked at, free ones included.
static LOOKS: AtomicU64 = AtomicU64::new(0);

pub fn looks() -> u64 {
    LOOKS.load(Ordering::Relaxed)
}

/// How many requests [`mark`] looks at, at most; zero if nothing pends that has an owner or a datatype.
pub fn number() -> usize {
    let mut number = HOLDERS.load(Ordering::Relaxed);
    for_each(|engine| number += engine.requests().in_use_at_most());
    number
}

/// The objects, by handle, that can be freed and that pending operations use.
pub fn mark() -> BTreeSet<i32> {
    let mut live = BTreeSet::new();
    {
        let held = HELD.lock();
        live.extend(held.datatypes.values().flatten());
    }
    for_each(|engine| mark_requests(engine, &mut live));
    live
}

/// Those of pending operations that are held, where requests are counted.
pub fn mark_held() -> BTreeSet<i32> {
    let held = HELD.lock();
    held.datatypes.values().flatten().copied().collect()
}

fn mark_requests(engine: &mut Engine, live: &mut BTreeSet<i32>) {
    let looks = engine.requests().visit(|request| {
        if !matches!(handle::kind(request.owner), Kind::Builtin) {
            live.insert(request.owner);
        }
        if let Some(datatype) = request.buffer.datatype() {
            live.insert(datatype.handle);
        }
    });
    LOOKS.fetch_add(looks as u64, Ordering::Relaxed);
}
