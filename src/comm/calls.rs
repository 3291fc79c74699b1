//! Where a communicator's call records are in this process's page.
//!
//! Invariant: the place is the communicator's until this process gives its context id back. Records are asked for by the id and the members
//! ([`Whose`]), so they are never taken for those of another one.

use super::{Comm, Members};
use crate::engine::table;
use crate::sync::{AtomicU32, Ordering};
use crate::transport::calls::{COMMUNICATORS, Calls, Whose};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Places that are taken, a set of bits.
static TAKEN: AtomicU32 = AtomicU32::new(0);
const _: () = assert!(COMMUNICATORS <= 32);
/// Places of communicators that were freed after an error: others may still wait there, and read why. The oldest first.
static KEPT: Mutex<VecDeque<&'static Calls>> = Mutex::new(VecDeque::new());

/// Where communicators without a place write, which nobody reads: some lines, so that threads seldom share one.
static NOWHERE: LazyLock<[Calls; 32]> = LazyLock::new(Default::default);

pub(super) fn nowhere(handle: i32) -> &'static Calls {
    &NOWHERE[handle as u32 as usize % NOWHERE.len()]
}

/// A place for a communicator whose context id is told later. `None`: all are taken.
pub(super) fn place() -> Option<&'static Calls> {
    let all = &table()?.own().calls;
    let mut taken = TAKEN.load(Ordering::Relaxed);
    loop {
        let at = taken.trailing_ones();
        let Some(place) = all.get(at as usize) else {
            let place = KEPT.lock().pop_front()?;
            place.leave();
            return Some(place);
        };
        // Acquire: pairs with `give_back`.
        match TAKEN.compare_exchange_weak(
            taken,
            taken | 1 << at,
            Ordering::Acquire,
            Ordering::Relaxed,
        ) {
            Ok(_) => return Some(place),
            Err(now) => taken = now,
        }
    }
}

/// What tells the communicator with this context id and these members from all others.
pub(super) fn whose(context: u32, members: &Members) -> Whose {
    Whose::new(
        context,
        (0..members.size()).map(|rank| members.process(rank)),
    )
}

fn give_back(place: &'static Calls) {
    place.leave();
    let all = table().into_iter().flat_map(|table| &table.own().calls);
    if let Some(at) = all.into_iter().position(|one| std::ptr::eq(one, place)) {
        TAKEN.fetch_and(!(1 << at), Ordering::Release);
    }
}

impl Comm {
    /// Where its calls are told, to others or to nobody.
    #[inline(always)]
    pub fn told_calls(&self) -> &'static Calls {
        self.calls
    }

    /// What this process tells others of its collective operations on this communicator, if it does.
    pub fn calls(&self) -> Option<&'static Calls> {
        self.tells.then_some(self.calls)
    }

    /// What another process tells, if this one can see it.
    pub fn calls_of(&self, process: u32, whose: Whose) -> Option<&'static Calls> {
        let page = table()?.of(process).page;
        Calls::find(&page.calls, whose)
    }

    /// Before its context id is given back. False: it stays taken, because others may read these records.
    pub fn end_calls(&self) -> bool {
        let Some(place) = self.calls() else {
            return true;
        };
        let keeps = place.are_doubtful();
        match keeps {
            true => KEPT.lock().push_back(place),
            false => give_back(place),
        }
        !keeps
    }
}
