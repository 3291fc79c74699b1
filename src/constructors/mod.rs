//! Constructors of communicators: agreement on a context id, and dup.

pub mod context;

use crate::coll;
use crate::comm::{self, Comm};
use crate::error::{Class, Result, fail};
use crate::os::schedule::yield_now;

/// MPI_Comm_dup without its attributes, which the edge copies (it may call user functions).
///
/// All members agree on a context id by a bitwise AND of the ids that are free everywhere.
/// Errors: MPI_ERR_OTHER when no id is free everywhere.
pub fn dup(parent: &Comm) -> Result<&'static Comm> {
    let context = agree(parent)?;
    comm::add_like(parent, context)
}

/// One id that is free on all members. A thread that finds the mask taken by another takes part with an empty one.
fn agree(parent: &Comm) -> Result<u32> {
    loop {
        let claim = context::claim();
        let mut mask = claim.offer();
        coll::allreduce_of(
            &mut mask,
            &|left, right| {
                left.iter().zip(right).for_each(|(l, r)| *r &= *l);
                Ok(())
            },
            parent,
            "MPI_Comm_dup",
        )?;
        match claim.settle(&mask) {
            context::Outcome::Agreed(context) => return Ok(context),
            context::Outcome::Exhausted => {
                return fail!(
                    Class::Other,
                    "no context id is free on all {} ranks of {}",
                    parent.size(),
                    parent.name()
                );
            }
            context::Outcome::Retry => yield_now(),
        }
    }
}

/// MPI_Comm_free: the handle dies, its context id is free again on this rank.
pub fn free(comm: &Comm) {
    context::release(comm.context());
    comm::retire(comm.handle);
}
