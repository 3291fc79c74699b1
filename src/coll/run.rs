//! The three ways in which a collective operation runs: to its end at once, as a task with a request, and as a task that is
//! started again and again.
//!
//! Invariants: the tag of a blocking operation is one for all; every other operation has its own from the moment it is made,
//! in the same order on all ranks, so that persistent ones may be started in any order. Nonblocking operations are staged in
//! turn in a few areas, in each in the order in which they were called; a persistent one has an area of its own.

use super::args::CollArgs;
use super::choose::route;
use super::choose::staging::{has_little, published};
use super::context::{CollContext, block_on};
use super::team::{StagingOf, Team};
use super::{check, differing, dispatch, inter, staged};
use crate::comm::{COLLECTIVE, Comm, NOBODY};
use crate::engine::losses::DIFFERENT;
use crate::engine::requests::{self, Index, Restart};
use crate::engine::roots::Held;
use crate::engine::{enter_at, tasks};
use crate::error::{Class, Error, Result};
use crate::transport::collective::{Access, Geometry, Turn};
use parking_lot::Mutex;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Runs it to its end. `KIND` is [`differing::kind_of`] the function.
#[inline(always)]
pub fn block<const KIND: u64>(comm: &Comm, function: &'static str, call: &CollArgs) -> Result<()> {
    comm.told_calls().begin(differing::record_as(KIND, call));
    block_any(comm, function, call)
}

/// As [`block`], of an operation that the program did not call itself and no record tells of.
#[inline]
pub(super) fn block_any(comm: &Comm, function: &'static str, call: &CollArgs) -> Result<()> {
    if let Some(number) = check::number(comm, call) {
        let coll = CollContext::new(comm, function);
        block_on(check::agree(comm, &coll, number, call))?;
    }
    if comm.nodes().is_none()
        && let Some(done) = staged::block(comm, function, call)
    {
        return done.or_else(|error| conclude_staged(comm, function, error));
    }
    let coll = CollContext::new(comm, function);
    let staging = staging_of(comm, &comm.staging.blocking, Geometry::of);
    block_on(run_on(comm, coll, staging, call))
}

/// The staging area of the communicator's ranks on this node, of which there are more than this one.
#[inline]
fn staging_of<'a>(
    comm: &Comm,
    access: &'a Mutex<Access>,
    geometry: impl Fn(usize) -> Geometry,
) -> Option<StagingOf<'a>> {
    sharing(comm).map(|ranks| StagingOf {
        access,
        geometry: geometry(ranks),
    })
}

/// The number of the communicator's ranks on this node, if there are more than this one.
#[inline]
fn sharing(comm: &Comm) -> Option<usize> {
    if comm.is_inter() {
        return None;
    }
    let ranks = match comm.nodes() {
        None => comm.size() as usize,
        Some(nodes) => nodes.ranks(nodes.node_of(comm.rank() as usize)).len(),
    };
    (ranks > 1).then_some(ranks)
}

#[inline]
async fn run_on(
    comm: &Comm,
    coll: CollContext<'_>,
    staging: Option<StagingOf<'_>>,
    call: &CollArgs,
) -> Result<()> {
    if comm.is_inter() {
        return inter::run(comm, coll, call).await;
    }
    let coll = CollContext {
        exact: is_exact(call),
        ..coll
    };
    let team = Team::over(coll, comm.nodes()).with_staging(staging);
    dispatch::run(&team, call).await;
    conclude(
        comm,
        &coll,
        staging.map(|staging| staging.access),
        team.result(),
    )
}

/// What an operation tells of its end to others, or to its later waits, and returns.
#[inline]
fn conclude(
    comm: &Comm,
    coll: &CollContext<'_>,
    access: Option<&Mutex<Access>>,
    done: Result<()>,
) -> Result<()> {
    let unfitting = |error: &Error| matches!(error.class(), Class::Count | Class::Truncate);
    if done.as_ref().is_err_and(unfitting) {
        differing::note(coll.operation());
    }
    if let Err(error) = &done
        && let Some(lost) = error.lost()
    {
        coll.note_lost(lost);
        // Others may wait for this rank there, which does not come any more. The area of a persistent operation is none of the communicator's.
        comm.staging.tell_lost(lost);
        if let Some(access) = access {
            access.lock().tell_lost(lost);
        }
        if lost == DIFFERENT {
            return Err(differing::error(coll.operation()));
        }
    }
    done
}

/// As [`conclude`], of an operation that has failed in the area. Later ones must not begin, though they go by messages: those of this one may
/// have come from ranks that have not failed.
#[cold]
fn conclude_staged(comm: &Comm, function: &'static str, error: Error) -> Result<()> {
    let coll = CollContext::new(comm, function);
    conclude(comm, &coll, Some(&comm.staging.blocking), Err(error))
}

/// Whether all ranks give the same amount of data, so that messages are as long as they are expected. Of what is gathered, scattered or
/// exchanged less may come than there is room for: MPI does not allow it, programs do it.
fn is_exact(call: &CollArgs) -> bool {
    matches!(
        call,
        CollArgs::Bcast { .. }
            | CollArgs::Reduce { .. }
            | CollArgs::Allreduce { .. }
            | CollArgs::ReduceScatter { .. }
            | CollArgs::Scan { .. }
    )
}

/// An operation that does not block.
#[derive(Clone)]
struct Operation {
    comm: &'static Comm,
    function: &'static str,
    call: Args,
    tag: i32,
    /// Its number, if calls are compared.
    number: Option<u32>,
    staged: StagedIn,
}

/// The arguments of an operation.
#[derive(Clone)]
enum Args {
    Once(CollArgs),
    /// Of a persistent one.
    Again(Arc<CollArgs>),
}

impl Deref for Args {
    type Target = CollArgs;

    #[inline]
    fn deref(&self) -> &CollArgs {
        match self {
            Args::Once(call) => call,
            Args::Again(call) => call,
        }
    }
}

/// Where an operation is staged.
#[derive(Clone)]
enum StagedIn {
    /// It is not.
    Nothing,
    /// In one of the communicator's areas of nonblocking operations.
    Shared(Turn),
    /// In an area of its own.
    Own(Arc<OwnArea>),
}

/// The area of a persistent operation, which it leaves when it is freed.
struct OwnArea(Mutex<Access>);

impl Drop for OwnArea {
    fn drop(&mut self) {
        self.0.lock().leave();
    }
}

impl Operation {
    fn new(
        comm: &'static Comm,
        function: &'static str,
        call: CollArgs,
        is_persistent: bool,
    ) -> Operation {
        let may_be_staged = sharing(comm).is_some() && route::may_be_staged(&call);
        let has_little = || has_little(&call, comm.rank() as usize, comm.size() as usize);
        let staged = match may_be_staged {
            false => StagedIn::Nothing,
            true if is_persistent => StagedIn::Own(Arc::new(OwnArea(Mutex::new(Access::Unknown)))),
            true => match has_little() {
                None if comm.nodes().is_none() => StagedIn::Nothing,
                little => StagedIn::Shared(comm.staging.take_turn(little == Some(true))),
            },
        };
        let number = check::number(comm, &call);
        Operation {
            comm,
            function,
            call: match is_persistent {
                true => Args::Again(Arc::new(call)),
                false => Args::Once(call),
            },
            tag: comm.next_operation(),
            number,
            staged,
        }
    }

    fn start(self, request: Index) {
        self.comm.hold();
        if let Some(calls) = self.comm.calls() {
            calls.begin_numbered(self.tag as u64, differing::record(&self.call));
        }
        let held = self.hold();
        if let Some(mut begun) = self.begin_half() {
            // One that ends at once needs no task.
            if begun.can_end(self.name()).is_ready() {
                let done = self.end_half(&mut begun);
                return self.end(held, request, done);
            }
            return tasks::spawn(InHalves {
                of: Some((self, held, begun)),
                request,
            });
        }
        tasks::spawn(async move {
            let result = self.run().await;
            self.end(held, request, result);
        });
    }

    fn end(self, held: Held, request: Index, result: Result<()>) {
        let comm = self.comm;
        // The program may free the datatypes as soon as it sees the end.
        drop(self);
        drop(held);
        comm.let_go();
        tasks::end(request, result.err());
    }

    /// What tells the operation where it is staged.
    fn name(&self) -> (&'static Comm, &'static str, i32) {
        (self.comm, self.function, self.tag)
    }

    /// The area in which it is staged on one node, if it is its turn.
    fn area(&self) -> Option<&Mutex<Access>> {
        let areas = &self.comm.staging;
        match &self.staged {
            _ if self.comm.nodes().is_some() || self.number.is_some() => None,
            StagedIn::Nothing => None,
            StagedIn::Own(area) => Some(&area.0),
            StagedIn::Shared(turn) => areas.is_turn(turn).then(|| areas.access(turn).0),
        }
    }

    /// The first half, if it is an operation in halves and it can begin at once.
    fn begin_half(&self) -> Option<staged::Begun> {
        if self.comm.lost() != NOBODY {
            return None;
        }
        staged::begin(self.area()?, self.name(), &self.call)
    }

    /// The second half of an operation that was begun.
    #[inline]
    fn end_half(&self, begun: &mut staged::Begun) -> Result<()> {
        let Some(access) = self.area() else {
            unreachable!("an operation whose turn it is")
        };
        let done = begun.end(access, self.name(), &self.call);
        let done = done.or_else(|error| {
            let coll = CollContext::new(self.comm, self.function).task(self.tag);
            conclude(self.comm, &coll, Some(access), Err(error))
        });
        if let StagedIn::Shared(turn) = &self.staged {
            self.comm.staging.end(turn);
        }
        done
    }

    /// Keeps the datatypes.
    fn hold(&self) -> Held {
        Held::each(|hold| self.call.each_datatype(hold))
    }

    async fn run(&self) -> Result<()> {
        let comm = self.comm;
        match &self.staged {
            StagedIn::Nothing => self.run_in(None).await,
            StagedIn::Own(area) => {
                let geometry = |ranks| Geometry::of_persistent(ranks, self.published(ranks));
                self.run_in(staging_of(comm, &area.0, geometry)).await
            }
            StagedIn::Shared(turn) => {
                let areas = &comm.staging;
                if !areas.is_turn(turn) {
                    tasks::condition(|| areas.is_turn(turn)).await;
                }
                let (access, geometry) = areas.access(turn);
                let done = self.run_in(staging_of(comm, access, geometry)).await;
                areas.end(turn);
                done
            }
        }
    }

    /// Bytes that a rank publishes in the area at most, if all of its ranks know that: these are all of the communicator's on one node.
    fn published(&self, ranks: usize) -> Option<usize> {
        let on_one_node = self.comm.nodes().is_none();
        on_one_node.then(|| published(&self.call, self.comm.rank() as usize, ranks))?
    }

    async fn run_in(&self, staging: Option<StagingOf<'_>>) -> Result<()> {
        let coll = CollContext::new(self.comm, self.function).task(self.tag);
        if let Some(number) = self.number {
            check::agree(self.comm, &coll, number, &self.call).await?;
        }
        run_on(self.comm, coll, staging, &self.call).await
    }
}

/// A task of an operation in halves.
struct InHalves {
    /// Until it ends.
    of: Option<(Operation, Held, staged::Begun)>,
    request: Index,
}

impl Future for InHalves {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let Some((operation, _, begun)) = &mut self.of else {
            return Poll::Ready(());
        };
        ready!(begun.can_end(operation.name()));
        let done = operation.end_half(begun);
        if let Some((operation, held, _)) = self.of.take() {
            operation.end(held, self.request, done);
        }
        Poll::Ready(())
    }
}

/// Begins it; the handle of its request.
///
/// Errors: MPI_ERR_NO_MEM, there are too many requests; then this rank takes no part.
pub fn begin(comm: &'static Comm, function: &'static str, call: CollArgs) -> Result<i32> {
    let context = comm.receive_context() + COLLECTIVE;
    let mut engine = enter_at(comm.engine_mapping().of_library().1);
    engine.requests().check_room()?;
    let request = engine.begin_task(comm.handle, context);
    drop(engine);
    Operation::new(comm, function, call, false).start(request);
    Ok(requests::handle_of(request))
}

/// The handle of an inactive request, which runs it whenever it is started.
///
/// Errors: MPI_ERR_NO_MEM, there are too many requests.
pub fn keep(comm: &'static Comm, function: &'static str, call: CollArgs) -> Result<i32> {
    let mut engine = enter_at(comm.engine_mapping().of_library().1);
    engine.requests().check_room()?;
    drop(engine);
    let operation = Operation::new(comm, function, call, true);
    let held = operation.hold();
    let restart = move |request| {
        let _ = &held;
        operation.clone().start(request);
    };
    let mut engine = enter_at(comm.engine_mapping().of_library().1);
    let context = comm.receive_context() + COLLECTIVE;
    let request = engine.keep_task(comm.handle, context, Restart(Arc::new(restart)));
    Ok(requests::handle_of(request))
}
