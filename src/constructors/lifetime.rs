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

/// Those that something may pend on, by handle.
static PENDING: Mutex<Vec<i32>> = Mutex::new(Vec::new());
/// Those that nothing pends on, the oldest in front.
static ENDED: Mutex<VecDeque<i32>> = Mutex::new(VecDeque::new());

/// So many of those live on for a while, for threads that should not be inside a call with them, but are.
const KEPT: usize = 256;
/// Slots of requests looked at for each freed communicator, on average.
const LOOKS: usize = 64;

/// MPI_Comm_free, after its attributes are gone.
pub fn free(comm: &Comm) {
    if comm::retire(comm.handle) {
        comm.leave_board();
        errhandler::release(comm.errhandler());
        PENDING.lock().push(comm.handle);
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
    pending.retain(|handle| {
        let Some(comm) = comm::retired(*handle) else {
            return false;
        };
        if busy.contains(handle) || !comm.is_idle() {
            return true;
        }
        // A duplicate that came to nothing has no id.
        if comm.receive_context() != comm::PENDING {
            context::release(comm.receive_context());
        }
        ended.push_back(*handle);
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
