//! The end of communicators: the handle dies at once, the id and the object when nothing pends on them.
//!
//! Requests hold no counted reference (paper 003): a communicator that is freed while there are requests waits in a list
//! that is looked through from time to time. Invariant: an id is given back only when no request of this process can
//! meet a message with it.

use super::context;
use crate::comm::{self, Comm};
use crate::engine::{Engine, enter, wait};
use crate::errhandler;
use parking_lot::Mutex;
use std::collections::{BTreeSet, VecDeque};

struct Freed {
    handle: i32,
    /// The id this process receives on.
    id: u32,
}

/// Those that something may pend on.
static PENDING: Mutex<Vec<Freed>> = Mutex::new(Vec::new());
/// Those that nothing pends on, the oldest in front.
static ENDED: Mutex<VecDeque<i32>> = Mutex::new(VecDeque::new());

/// So many of those live on for a while, for threads that should not be inside a call with them, but are.
const KEPT: usize = 256;
/// Slots of requests looked at for each freed communicator, on average.
const LOOKS: usize = 64;

/// MPI_Comm_free, after its attributes are gone.
pub fn free(comm: &Comm) {
    errhandler::release(comm.errhandler());
    let freed = Freed {
        handle: comm.handle,
        id: comm.receive_context(),
    };
    if comm::retire(freed.handle) {
        PENDING.lock().push(freed);
    }
    sweep(false);
}

/// MPI_Comm_disconnect: as free, once all that was begun on the communicator is done.
pub fn disconnect(comm: &Comm) {
    let handle = comm.handle;
    wait::until(&wait::Reason::of("MPI_Comm_disconnect"), |engine| {
        let pends = |request: &crate::engine::requests::Request| {
            request.communicator == handle && request.is_active()
        };
        let done = comm.is_idle() && !engine.requests().in_use().any(pends);
        done.then_some(())
    });
    free(comm);
}

/// Gives back what nothing pends on any more; `all` says that it must be known of each now.
pub fn sweep(all: bool) {
    let mut pending = PENDING.lock();
    if pending.is_empty() {
        return;
    }
    let mut engine = enter();
    let slots = engine.requests().in_use_at_most();
    if slots > pending.len() * LOOKS && !all {
        return;
    }
    let busy = busy(&mut engine, slots);
    drop(engine);
    let mut ended = ENDED.lock();
    pending.retain(|freed| {
        if busy.contains(&freed.handle) || !comm::is_idle(freed.handle) {
            return true;
        }
        context::release(freed.id);
        ended.push_back(freed.handle);
        false
    });
    while ended.len() > KEPT {
        if let Some(handle) = ended.pop_front() {
            comm::reclaim(handle);
        }
    }
}

/// The communicators that requests belong to.
fn busy(engine: &mut Engine, slots: usize) -> BTreeSet<i32> {
    if slots == 0 {
        return BTreeSet::new();
    }
    let requests = engine.requests().in_use();
    requests.map(|request| request.communicator).collect()
}
