//! MPI_Comm_dup and its nonblocking twin: one body, run at once or as a task.

use super::both_groups::{BothGroups, Ids};
use super::hints::{self, Promises};
use crate::coll::{CollContext, block_on};
use crate::comm::{self, Comm, Made, Maker, Parts};
use crate::context_id::{self, Agreed, Creation, Proposal};
use crate::engine::{enter_at, requests, tasks};
use crate::error::Result;
use crate::lifetime::communicators::free_in_task;

/// MPI_Comm_dup without its attributes, which the edge copies (it may call user functions). `right` says what is wrong with
/// the other arguments: the creation takes its place in the order of those on the parent nevertheless.
///
/// `by` is the function that is called.
///
/// Errors: MPI_ERR_NO_MEM or MPI_ERR_OTHER when there is no id, on all ranks; `right`.
#[inline(always)]
pub fn dup(parent: &Comm, right: Result<()>, by: Maker) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Comm_dup";
    let creation = Creation::whole(parent).refused_if(right.is_err());
    let ids = if parent.is_inter() {
        block_on(BothGroups::of(parent, FUNCTION).ids(creation))
    } else {
        // What `BothGroups` would do, on the shortest way.
        let coll = CollContext::new(parent, FUNCTION);
        let proposal = Proposal::new(FUNCTION, creation);
        let id = match proposal.id() {
            Some(id) => Ok(id),
            None => block_on(proposal.finish(&coll)),
        };
        id.map(Ids::one)
    };
    let ids = unless_wrong(right, ids)?;
    or_release(like(parent, ids, by), ids)
}

/// A communicator of the same processes with the same topology.
#[inline(always)]
fn like(parent: &Comm, ids: Ids, by: Maker) -> Result<&'static Comm> {
    let new = comm::add(parts_like(parent, ids, by), parent.errhandler.copy())?;
    if let Some(topology) = parent.topology() {
        new.set_topology(topology.clone());
    }
    Ok(new)
}

fn parts_like(parent: &Comm, ids: Ids, by: Maker) -> Parts {
    Parts {
        remote: parent.remote().cloned(),
        ..ids.parts(
            parent.rank(),
            parent.members().clone(),
            Made::of(by, parent),
        )
    }
}

/// Gives the id back if there is no communicator for it.
pub(super) fn or_release(comm: Result<&'static Comm>, ids: Ids) -> Result<&'static Comm> {
    if comm.is_err() {
        context_id::release(ids.receive);
    }
    comm
}

/// The ids, unless this rank has a wrong argument: then they are given back, and that is its error.
pub(super) fn unless_wrong(right: Result<()>, ids: Result<Ids>) -> Result<Ids> {
    if let (Err(_), Ok(ids)) = (&right, &ids) {
        context_id::release(ids.receive);
    }
    right.and(ids)
}

/// MPI_Comm_idup: the communicator to be, which programs name, give error handlers and the like at once, and the request.
///
/// It may be freed before it is complete, when its copy callbacks fail: the others get theirs nevertheless. `refused` says
/// that it will be, because of a wrong argument; `promises` are those of MPI_Comm_idup_with_info.
pub fn idup(
    parent: &'static Comm,
    refused: bool,
    promises: Option<Promises>,
) -> Result<(&'static Comm, i32)> {
    let none = Ids::one(Agreed {
        context: comm::PENDING,
        engines: 1,
    });
    let by = match promises {
        Some(_) => Maker::IdupWithInfo,
        None => Maker::Idup,
    };
    let number = parent.engine_mapping().of_library().1;
    enter_at(number).requests().check_room()?;
    let new = like(parent, none, by)?;
    let context = parent.receive_context() + comm::COLLECTIVE;
    let request = enter_at(number).begin_task(parent.handle, context);
    let both = BothGroups::of(parent, "MPI_Comm_idup").task(parent.next_operation());
    let creation = Creation::whole(parent).refused_if(refused);
    parent.hold();
    new.hold();
    tasks::spawn(async move {
        let ids = both.ids(creation).await;
        // Also those who have no id: the others wait for what they say.
        let promises = match promises {
            Some(own) => hints::agreed_for_duplicate(&both, parent, own).await,
            None => Ok(Promises::default()),
        };
        let done = match (ids, promises) {
            (Ok(ids), Ok(promises)) => {
                new.complete(ids.send, ids.receive, ids.engines);
                hints::rely_on(new, promises);
                Ok(())
            }
            (Ok(ids), Err(error)) => {
                context_id::release(ids.receive);
                Err(error)
            }
            (Err(error), _) => Err(error),
        };
        parent.let_go();
        new.let_go();
        let error = done.err();
        if error.is_some() {
            free_in_task(new);
        }
        tasks::end(request, error);
    });
    Ok((new, requests::handle_of(request)))
}
