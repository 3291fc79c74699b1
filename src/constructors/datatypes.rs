//! The end of datatypes: the handle dies at once, and so does the type if nothing can be using it; else its memory is given
//! back later.
//!
//! Requests hold no counted reference (paper 003): freed types that may be in use wait, and are looked for in the requests
//! from time to time. Those that other types were made of are counted, because they are named for as long as those live.
//! Invariant: a type goes when no call is in progress that may have been given it before it was freed (`engine::calls`), no
//! task waits, and no request has it.

use crate::datatype::{self, Datatype};
use crate::engine::calls::{self, Users};
use crate::engine::{self, tasks};
use crate::error::Result;
use crate::sync::{AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

struct Freed {
    /// With the calls of other threads that may be using them.
    used: VecDeque<(Users, i32)>,
    /// In no call of another thread. The oldest in front.
    ready: VecDeque<i32>,
    /// While there are requests, they are looked at when so many types are ready.
    enough: usize,
}

/// How many types wait in `FREED`.
static WAITING: AtomicUsize = AtomicUsize::new(0);
static FREED: Mutex<Freed> = Mutex::new(Freed {
    used: VecDeque::new(),
    ready: VecDeque::new(),
    enough: LEAST,
});

/// The requests are not looked at for fewer types.
const LEAST: usize = 64;
/// One call makes at most two types of the library's own, and so may one in a callback inside of it.
const OWN: usize = 4;
/// So many types are looked at in one call, so that none is long.
const LOOKS: usize = 4;

/// MPI_Type_free, after the attributes are gone. By the handle: a reference would have to stay good until the end.
pub fn free(handle: i32) -> Result<()> {
    let Some(born) = datatype::may_be_freed(handle)? else {
        return Ok(());
    };
    let quiet = WAITING.load(Ordering::Relaxed) == 0 && !calls::in_callback();
    if quiet && !engine::has_threads() && !engine::is_busy() && datatype::remove(handle) {
        return Ok(());
    }
    datatype::retire(handle);
    let mut freed = FREED.lock();
    if engine::has_threads() {
        freed.used.push_back((Users::of_datatype(born), handle));
    } else {
        freed.ready.push_back(handle);
    }
    freed.sweep();
    Ok(())
}

/// The last types that the library made for calls of one thread.
struct Own(VecDeque<i32>);

thread_local! {
    static LAST: RefCell<Own> = const { RefCell::new(Own(VecDeque::new())) };
}

/// As [`free`], of a type that the library made for the call in progress on this thread, which will use it yet.
pub fn free_when_used(datatype: &'static Datatype) {
    datatype::retire(datatype.handle);
    LAST.with_borrow_mut(|last| {
        last.0.push_back(datatype.handle);
        while last.0.len() > OWN
            && let Some(handle) = last.0.pop_front()
        {
            give(handle);
        }
    });
}

impl Drop for Own {
    fn drop(&mut self) {
        self.0.drain(..).for_each(give);
    }
}

/// In no call any more, but maybe in a request.
fn give(handle: i32) {
    let mut freed = FREED.lock();
    freed.ready.push_back(handle);
    freed.sweep();
}

impl Freed {
    fn sweep(&mut self) {
        for _ in 0..LOOKS.min(self.used.len()) {
            match self.used.pop_front() {
                Some((users, handle)) if users.are_gone() => self.ready.push_back(handle),
                Some(other) => self.used.push_back(other),
                None => {}
            }
        }
        self.give_back();
        let waiting = self.used.len() + self.ready.len();
        WAITING.store(waiting, Ordering::Relaxed);
    }

    fn give_back(&mut self) {
        // A callback may run in a call that uses what it frees.
        if tasks::any_uses_types() || (calls::in_callback() && !engine::has_threads()) {
            return;
        }
        if !engine::is_busy() {
            for _ in 0..LOOKS.min(self.ready.len()) {
                self.reclaim_oldest(&BTreeSet::new());
            }
        } else if self.ready.len() > self.enough {
            let busy = engine::datatypes_of_requests();
            for _ in 0..self.ready.len() {
                self.reclaim_oldest(&busy);
            }
            self.enough = (2 * self.ready.len()).max(LEAST);
        }
    }

    fn reclaim_oldest(&mut self, busy: &BTreeSet<i32>) {
        if let Some(handle) = self.ready.pop_front()
            && (busy.contains(&handle) || !datatype::reclaim(handle))
        {
            self.ready.push_back(handle);
        }
    }
}
