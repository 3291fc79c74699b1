//! Constructors of communicators: agreement on a context id, and dup.

pub mod context;
#[cfg(test)]
mod models;
mod report;
pub mod space;
pub mod store;
pub mod strategy;

use crate::coll::{Lane, now};
use crate::comm::{self, Comm, Parts};
use crate::error::Result;
use context::{Creation, allocate};

/// MPI_Comm_dup without its attributes, which the edge copies (it may call user functions).
///
/// Errors: MPI_ERR_OTHER when no id is free everywhere.
pub fn dup(parent: &Comm) -> Result<&'static Comm> {
    let context = now(allocate(
        &Lane::new(parent, "MPI_Comm_dup"),
        Creation::whole(parent),
    ))?;
    let parts = Parts {
        context,
        receive_context: context,
        rank: parent.rank(),
        members: parent.members().clone(),
        remote: None,
    };
    comm::add(parts, parent.errhandler())
}

/// MPI_Comm_free: the handle dies, its context id is free again on this rank.
pub fn free(comm: &Comm) {
    context::release(comm.receive_context());
    comm::retire(comm.handle);
}
