//! The three ways in which a collective operation runs: to its end at once, as a task with a request, and as a task that is
//! started again and again.
//!
//! Invariant: the tag of a blocking operation is one for all; every other operation has its own from the moment it is made,
//! in the same order on all ranks, so that persistent ones may be started in any order.

use super::call::Call;
use super::lane::{Lane, now};
use super::team::Team;
use super::{board, inter};
use crate::comm::Comm;
use crate::engine::requests::{self, Index, Restart};
use crate::engine::{enter, tasks};
use crate::error::Result;
use std::sync::Arc;

/// Runs it to its end.
pub fn block(comm: &Comm, function: &'static str, call: &Call) -> Result<()> {
    if let Some(result) = board::run(comm, function, call) {
        return result;
    }
    now(on_lane(comm, Lane::new(comm, function), call))
}

async fn on_lane(comm: &Comm, lane: Lane<'_>, call: &Call) -> Result<()> {
    if comm.is_inter() {
        return inter::run(comm, lane, call).await;
    }
    let team = Team::on(lane);
    call.run(&team).await;
    team.result()
}

/// Begins it; the handle of its request.
pub fn begin(comm: &'static Comm, function: &'static str, call: Call) -> i32 {
    let request = enter().begin_task(comm.handle);
    launch(
        comm,
        function,
        Arc::new(call),
        comm.next_operation(),
        request,
    );
    requests::handle_of(request)
}

/// The handle of an inactive request, which runs it whenever it is started.
pub fn keep(comm: &'static Comm, function: &'static str, call: Call) -> i32 {
    let operation = comm.next_operation();
    let call = Arc::new(call);
    let kept = tasks::Kept::new();
    let restart = move |request| {
        let _ = &kept;
        launch(comm, function, call.clone(), operation, request);
    };
    let request = enter().keep_task(comm.handle, Restart(Arc::new(restart)));
    requests::handle_of(request)
}

fn launch(
    comm: &'static Comm,
    function: &'static str,
    call: Arc<Call>,
    operation: i32,
    request: Index,
) {
    comm.hold();
    tasks::spawn(async move {
        let lane = Lane::new(comm, function).task(operation);
        let result = on_lane(comm, lane, &call).await;
        // The program may free the datatypes as soon as it sees the end.
        drop(call);
        comm.let_go();
        enter().end_task(request, result.err());
    });
}
