//! The three ways in which a collective operation runs: to its end at once, as a task with a request, and as a task that is
//! started again and again.
//!
//! Invariant: the tag of a blocking operation is one for all; every other operation has its own from the moment it is made,
//! in the same order on all ranks, so that persistent ones may be started in any order.

use super::call::CollArgs;
use super::context::{CollContext, block_on};
use super::team::Team;
use super::{board, check, inter};
use crate::comm::{COLLECTIVE, Comm};
use crate::engine::requests::{self, Index, Restart};
use crate::engine::roots::Held;
use crate::engine::{enter_at, tasks};
use crate::error::Result;
use std::sync::Arc;

/// Runs it to its end.
pub fn block(comm: &Comm, function: &'static str, call: &CollArgs) -> Result<()> {
    if let Some(number) = check::number(comm) {
        block_on(check::agree(
            comm,
            &CollContext::new(comm, function),
            number,
            call,
        ))?;
    }
    if let Some(result) = board::run(comm, function, call) {
        return result;
    }
    block_on(run_on(comm, CollContext::new(comm, function), call))
}

async fn run_on(comm: &Comm, coll: CollContext<'_>, call: &CollArgs) -> Result<()> {
    if comm.is_inter() {
        return inter::run(comm, coll, call).await;
    }
    let team = Team::over(coll, comm.nodes());
    call.run(&team).await;
    team.result()
}

/// An operation that does not block.
#[derive(Clone)]
struct Operation {
    comm: &'static Comm,
    function: &'static str,
    call: Arc<CollArgs>,
    tag: i32,
    /// Its number, if calls are compared.
    number: Option<u32>,
}

impl Operation {
    fn new(comm: &'static Comm, function: &'static str, call: CollArgs) -> Operation {
        Operation {
            comm,
            function,
            call: Arc::new(call),
            tag: comm.next_operation(),
            number: check::number(comm),
        }
    }

    fn start(self, request: Index) {
        self.comm.hold();
        let held = self.hold();
        tasks::spawn(async move {
            let comm = self.comm;
            let result = self.run().await;
            // The program may free the datatypes as soon as it sees the end.
            drop(self);
            drop(held);
            comm.let_go();
            tasks::end(request, result.err());
        });
    }

    /// Keeps the datatypes.
    fn hold(&self) -> Held {
        Held::of(self.call.datatypes())
    }

    async fn run(&self) -> Result<()> {
        let coll = CollContext::new(self.comm, self.function).task(self.tag);
        if let Some(number) = self.number {
            check::agree(self.comm, &coll, number, &self.call).await?;
        }
        run_on(self.comm, coll, &self.call).await
    }
}

/// Begins it; the handle of its request.
pub fn begin(comm: &'static Comm, function: &'static str, call: CollArgs) -> i32 {
    let context = comm.receive_context() + COLLECTIVE;
    let request = enter_at(comm.engine_mapping().of_library().1).begin_task(comm.handle, context);
    Operation::new(comm, function, call).start(request);
    requests::handle_of(request)
}

/// The handle of an inactive request, which runs it whenever it is started.
pub fn keep(comm: &'static Comm, function: &'static str, call: CollArgs) -> i32 {
    let operation = Operation::new(comm, function, call);
    let held = operation.hold();
    let restart = move |request| {
        let _ = &held;
        operation.clone().start(request);
    };
    let mut engine = enter_at(comm.engine_mapping().of_library().1);
    let context = comm.receive_context() + COLLECTIVE;
    let request = engine.keep_task(comm.handle, context, Restart(Arc::new(restart)));
    requests::handle_of(request)
}
