//! What a call that waits for long is told of communicators: which rank is lost, and what the messages' contexts are called.
//!
//! Invariant: a rank is called lost only if no message that the call waits for can come any more.

use super::{Comm, for_each, get, me};
use crate::engine::{self, liveness, published};
use crate::transport::name::NAME_BYTES;

/// From now on.
pub(super) fn begin_to_tell() {
    published::name_contexts_by(name_of_context);
    liveness::find_lost_by(lost_peer);
}

/// The rank that is lost, if no message on a communicator from `peer`, or from any, can come any more.
fn lost_peer(handle: i32, peer: i32, is_lost: &dyn Fn(u32) -> bool) -> Option<u32> {
    let comm = get(handle)?;
    if (0..comm.peers()).contains(&peer) {
        return Some(comm.process(peer)).filter(|process| is_lost(*process));
    }
    // Another thread may send to this process itself.
    if engine::is_multiple() {
        return None;
    }
    let processes = (0..comm.peers()).map(|rank| comm.process(rank));
    let mut others = processes.filter(|process| *process != me()).peekable();
    let first = *others.peek()?;
    others.all(is_lost).then_some(first)
}

/// What the communicator is called that a context (of any of the types) belongs to. `None` if it cannot be told: what an intercommunicator sends has a context that the remote group chose.
fn name_of_context(context: u32) -> Option<String> {
    let is_of = |comm: &Comm| [comm.context(), comm.receive_context()].contains(&(context & !3));
    let mut found: Vec<String> = Vec::new();
    for_each(|_, comm| {
        if is_of(comm) {
            found.push(comm.short_title(NAME_BYTES));
        }
    });
    match found.as_slice() {
        [_] => found.pop(),
        _ => None,
    }
}
