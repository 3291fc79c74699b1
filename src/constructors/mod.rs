//! Constructors of communicators: agreement on a context id, and dup.

pub mod context;

use crate::coll::{self, Lane, now};
use crate::comm::{self, Comm, Parts};
use crate::error::{Class, Result, fail};
use crate::os::schedule::yield_now;

/// MPI_Comm_dup without its attributes, which the edge copies (it may call user functions).
///
/// Errors: MPI_ERR_OTHER when no id is free everywhere.
pub fn dup(parent: &Comm) -> Result<&'static Comm> {
    let context = now(agree(&Lane::new(parent, "MPI_Comm_dup")))?;
    let parts = Parts {
        context,
        receive_context: context,
        rank: parent.rank(),
        members: parent.members().clone(),
        remote: None,
    };
    comm::add(parts, parent.errhandler())
}

/// One id that is free on all members. A thread that finds the mask taken by another takes part with an empty one.
async fn agree(lane: &Lane<'_>) -> Result<u32> {
    loop {
        let claim = context::claim();
        let mut mask = claim.offer();
        coll::allreduce_on(lane, &mut mask, &|left, right| {
            left.iter().zip(right).for_each(|(l, r)| *r &= *l);
            Ok(())
        })
        .await?;
        match claim.settle(&mask) {
            context::Outcome::Agreed(context) => return Ok(context),
            context::Outcome::Exhausted => {
                return fail!(
                    Class::Other,
                    "no context id is free on all {} ranks",
                    lane.size()
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
