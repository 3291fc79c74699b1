//! MPI_Comm_dup and its nonblocking twin: one body, run at once or as a task.

use super::context::{self, Creation};
use super::sides::{Ids, Sides};
use crate::attr::Attributes;
use crate::coll::now;
use crate::comm::{self, Comm, Parts};
use crate::engine::{enter, requests, tasks};
use crate::error::{Error, Result};
use crate::info::Info;

/// What a nonblocking duplicate gets beside its processes, as it was when the operation began.
pub struct Heritage {
    pub attributes: Attributes,
    pub info: Info,
    /// A copy callback failed: take part, so that the others get theirs, and make nothing.
    pub failed: bool,
}

/// MPI_Comm_dup without its attributes, which the edge copies (it may call user functions).
///
/// Errors: MPI_ERR_NO_MEM or MPI_ERR_OTHER when there is no id, on all ranks.
pub fn dup(parent: &Comm) -> Result<&'static Comm> {
    let sides = Sides::of(parent, "MPI_Comm_dup");
    let ids = now(sides.ids(Creation::whole(parent)))?;
    made(comm::add(parts_like(parent, ids), parent.errhandler()), ids)
}

fn parts_like(parent: &Comm, ids: Ids) -> Parts {
    Parts {
        context: ids.send,
        receive_context: ids.receive,
        rank: parent.rank(),
        members: parent.members().clone(),
        remote: parent.remote().cloned(),
    }
}

/// Gives the id back if there is no communicator for it.
pub(super) fn made(comm: Result<&'static Comm>, ids: Ids) -> Result<&'static Comm> {
    if comm.is_err() {
        context::release(ids.receive);
    }
    comm
}

/// MPI_Comm_idup: the handle of the communicator to be, and the request's.
pub fn idup(parent: &'static Comm, heritage: Heritage) -> Result<(i32, i32)> {
    let handle = comm::reserve()?;
    let request = enter().begin_task(parent.handle);
    let sides = Sides::of(parent, "MPI_Comm_idup").task(parent.next_operation());
    parent.hold();
    tasks::spawn(async move {
        let ids = sides.ids(Creation::whole(parent)).await;
        let error = finish(parent, handle, heritage, ids).err();
        parent.let_go();
        enter().end_task(request, error);
    });
    Ok((handle, requests::handle_of(request)))
}

fn finish(
    parent: &Comm,
    handle: i32,
    heritage: Heritage,
    ids: Result<Ids>,
) -> std::result::Result<(), Error> {
    let ids = ids.inspect_err(|_| comm::give_up(handle))?;
    if heritage.failed {
        comm::give_up(handle);
        context::release(ids.receive);
        return Ok(());
    }
    let parts = parts_like(parent, ids);
    comm::fill(handle, parts, parent.errhandler(), |comm| {
        comm.attributes = heritage.attributes;
        *comm.info.get_mut() = heritage.info;
    })?;
    Ok(())
}
