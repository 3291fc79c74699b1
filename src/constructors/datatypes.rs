//! The end of datatypes: the handle dies at once, the memory is given back when nothing pends on it.
//!
//! Requests hold no counted reference (paper 003): freed types wait in a queue, and are looked for in the requests from time
//! to time. Types made of others are counted, because they name them for as long as they live. Invariant: below
//! MPI_THREAD_MULTIPLE only the calling thread is in the library, so that a type in no request is in no call either, but
//! for calls around a callback that frees types; for those the last freed ones live on. Above it a thread may be sending
//! with a type that another one frees, which no request says: nothing is given back.

use crate::datatype::{self, Datatype};
use crate::engine::{self, tasks};
use crate::error::Result;
use parking_lot::Mutex;
use std::collections::{BTreeSet, VecDeque};

struct Freed {
    /// The oldest in front.
    handles: VecDeque<i32>,
    /// While there are requests, they are looked at when so many types wait.
    enough: usize,
}

static FREED: Mutex<Freed> = Mutex::new(Freed {
    handles: VecDeque::new(),
    enough: 4 * KEPT,
});

/// So many are never given back.
const KEPT: usize = 64;

/// MPI_Type_free, after the attributes are gone.
pub fn free(datatype: &Datatype) -> Result<()> {
    datatype::free(datatype)?;
    let mut freed = FREED.lock();
    freed.handles.push_back(datatype.handle);
    if freed.handles.len() > KEPT && !engine::has_threads() {
        freed.sweep();
    }
    Ok(())
}

impl Freed {
    fn sweep(&mut self) {
        if tasks::any_uses_types() {
            return;
        }
        let mut engine = engine::enter();
        if engine.requests().in_use_at_most() == 0 {
            // A few at each call, so that none is long.
            for _ in 0..4.min(self.handles.len() - KEPT) {
                self.reclaim_oldest(&BTreeSet::new());
            }
        } else if self.handles.len() > self.enough {
            let requests = engine.requests().in_use();
            let types = requests.filter_map(|request| request.buffer.datatype());
            let busy = types.map(|datatype| datatype.handle).collect();
            for _ in KEPT..self.handles.len() {
                self.reclaim_oldest(&busy);
            }
            self.enough = (2 * self.handles.len()).max(4 * KEPT);
        }
    }

    fn reclaim_oldest(&mut self, busy: &BTreeSet<i32>) {
        if let Some(handle) = self.handles.pop_front()
            && (busy.contains(&handle) || !datatype::reclaim(handle))
        {
            self.handles.push_back(handle);
        }
    }
}
