//! Messages between some processes that run one operation together, which no receive of the program's can match.
//!
//! The steps are futures. Where steps block, their futures are ready at the first poll ([`block_on`]); otherwise they belong to
//! a task ([`crate::engine::tasks`]). One body serves both.

use super::differing::{self, Look};
use crate::comm::{
    self, COLLECTIVE, Comm, INSIDE, INTERNAL_CONTEXT, LEADERS, Members, NOBODY, revocation,
};
use crate::datatype::Buffer;
use crate::engine::losses::{DIFFERENT, REVOKED};
use crate::engine::matching::Key;
use crate::engine::published;
use crate::engine::requests::{Index, Mode, Phase, engine_of};
use crate::engine::send::Envelope;
use crate::engine::tasks;
use crate::engine::wait::{Reason, Watch, poll, until_at};
use crate::engine::waits::{Kind, Object, Wait, Whom};
use crate::engine::{self, Engine, enter_at, liveness, losses};
use crate::error::Result;
use crate::os::monotonic_nanoseconds;
use crate::transport::Loss;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Collective context: the members of an operation, and what tells its messages from others: context id, tag, and the sender's
/// process number (ranks of overlapping groups would be confused).
#[derive(Clone, Copy)]
pub struct CollContext<'a> {
    /// The MPI function, for reports of what a rank waits for.
    pub function: &'static str,
    pub members: &'a Members,
    /// Own rank among the members; of no meaning where this process is none.
    pub rank: i32,
    pub send_context: u32,
    pub receive_context: u32,
    /// The engines of messages sent and received.
    pub engines: (u32, u32),
    /// The remote group, where both groups of an intercommunicator take part.
    pub remote: Option<RemoteGroup>,
    pub tag: i32,
    /// Handle of the communicator, for errors.
    pub communicator: i32,
    /// How a step waits.
    pub wait: WaitMode,
    /// Which members of the communicator take part.
    pub part: Part,
    /// Whether each receive gets as many bytes as it has room for, or the ranks' calls differ.
    pub exact: bool,
    /// The process whose loss has ended those before, or [`NOBODY`].
    pub lost: u32,
}

/// Which members of a communicator take part in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All, so that a loss is the end of its collective operations.
    Whole,
    Some,
    /// Those who live, also if the communicator was revoked; or there is none.
    Living,
}

/// How steps wait.
#[derive(Clone, Copy)]
pub enum WaitMode {
    /// The step blocks, making progress.
    Block,
    /// The task that the step is in is polled again.
    Task,
    /// There is no engine: all ranks are in one thread.
    #[cfg(test)]
    Simulated(&'static super::simulation::World),
}

/// A message that was begun, until [`CollContext::finish`].
#[must_use]
pub struct Pending {
    /// `None`: it is done.
    index: Option<Index>,
    peer: i32,
}

/// The members in the remote group of an intercommunicator, and the contexts to them.
#[derive(Clone, Copy)]
pub struct RemoteGroup {
    pub first: i32,
    pub count: i32,
    pub send_context: u32,
    pub receive_context: u32,
    pub engines: (u32, u32),
}

const FINALIZE: &str = "MPI_Finalize";

/// The tag of blocking collective operations: they follow each other in the same order on all members.
const BLOCKING: i32 = 0;

impl<'a> CollContext<'a> {
    /// All of an intracommunicator, or the local group of an intercommunicator, for a blocking operation.
    #[inline]
    pub fn new(comm: &'a Comm, function: &'static str) -> Self {
        let kind = if comm.is_inter() { INSIDE } else { COLLECTIVE };
        let context = comm.receive_context() + kind;
        Self {
            part: Part::Whole,
            lost: comm.lost(),
            ..Self::on(comm, comm.members(), context, function)
        }
    }

    fn on(comm: &'a Comm, members: &'a Members, context: u32, function: &'static str) -> Self {
        let engine = comm.engine_mapping().of_library().1;
        Self {
            engines: (engine, engine),
            function,
            members,
            rank: comm.rank(),
            send_context: context,
            receive_context: context,
            remote: None,
            tag: BLOCKING,
            communicator: comm.handle,
            wait: WaitMode::Block,
            part: Part::Some,
            exact: false,
            lost: NOBODY,
        }
    }

    /// From the local group of an intercommunicator to the remote one.
    pub fn to_remote(comm: &'a Comm, function: &'static str) -> Self {
        Self {
            members: comm.peers_as_members(),
            send_context: comm.context() + COLLECTIVE,
            receive_context: comm.receive_context() + COLLECTIVE,
            engines: comm.engine_mapping().of_library(),
            ..Self::new(comm, function)
        }
    }

    /// Over both groups of an intercommunicator; `members` are those of one, then those of the other.
    pub fn over_both_groups(
        comm: &'a Comm,
        members: &'a Members,
        own_first: bool,
        function: &'static str,
    ) -> Self {
        let (own, other) = (comm.size(), comm.peers());
        let remote = Self::to_remote(comm, function);
        Self {
            members,
            rank: comm.rank() + if own_first { 0 } else { other },
            remote: Some(RemoteGroup {
                first: if own_first { own } else { 0 },
                count: other,
                send_context: remote.send_context,
                receive_context: remote.receive_context,
                engines: remote.engines,
            }),
            ..Self::new(comm, function)
        }
    }

    /// Some members of an intracommunicator, among whom this process has this rank.
    pub fn within(
        comm: &'a Comm,
        members: &'a Members,
        rank: i32,
        tag: i32,
        function: &'static str,
    ) -> Self {
        Self {
            rank,
            tag,
            ..Self::on(comm, members, comm.receive_context() + INSIDE, function)
        }
    }

    /// For an operation that goes on without members that are lost.
    pub fn of_living(self) -> Self {
        Self {
            part: Part::Living,
            lost: NOBODY,
            ..self
        }
    }

    /// Processes without a communicator.
    pub fn between(members: &'a Members, rank: i32, tag: i32, function: &'static str) -> Self {
        Self {
            function,
            members,
            rank,
            send_context: INTERNAL_CONTEXT + INSIDE,
            receive_context: INTERNAL_CONTEXT + INSIDE,
            engines: (0, 0),
            remote: None,
            tag,
            communicator: comm::WORLD,
            wait: WaitMode::Block,
            part: Part::Living,
            exact: false,
            lost: NOBODY,
        }
    }

    /// All processes when they end, apart from what any of them may still be waiting in.
    pub fn of_finalize(world: &'a Comm) -> Self {
        Self {
            send_context: INTERNAL_CONTEXT + COLLECTIVE,
            receive_context: INTERNAL_CONTEXT + COLLECTIVE,
            ..Self::between(world.members(), world.rank(), BLOCKING, FINALIZE)
        }
    }

    /// The context of two leaders.
    pub fn of_leaders(self) -> Self {
        Self {
            send_context: INTERNAL_CONTEXT + LEADERS,
            receive_context: INTERNAL_CONTEXT + LEADERS,
            engines: (0, 0),
            ..self
        }
    }

    /// Two leaders, who find each other through a communicator that both are in.
    pub fn leaders(peer: &'a Comm, tag: i32, function: &'static str) -> Self {
        Self {
            members: peer.peers_as_members(),
            send_context: peer.context() + LEADERS,
            receive_context: peer.receive_context() + LEADERS,
            engines: peer.engine_mapping().of_library(),
            tag,
            part: Part::Some,
            lost: NOBODY,
            ..Self::new(peer, function)
        }
    }

    /// For an operation that does not block, with a number from [`Comm::next_operation`] as a tag of its own:
    /// all members begin those in the same order.
    pub fn task(self, operation: i32) -> Self {
        Self {
            tag: operation,
            wait: WaitMode::Task,
            ..self
        }
    }

    /// For an operation that blocks here, and on other members may be in a task.
    pub fn numbered(self, operation: i32) -> Self {
        Self {
            tag: operation,
            ..self
        }
    }

    #[inline]
    pub fn rank(&self) -> i32 {
        self.rank
    }

    #[inline]
    pub fn size(&self) -> i32 {
        self.members.size()
    }

    /// The process number of a member.
    #[inline]
    pub fn process(&self, rank: i32) -> u32 {
        self.members.process(rank)
    }

    #[cfg(test)]
    fn number(&self, rank: i32) -> i32 {
        self.process(rank) as i32
    }

    /// Waits until a message has left or come in.
    #[inline]
    pub async fn finish(&self, pending: Pending) -> Result<()> {
        let Some(index) = pending.index else {
            return Ok(());
        };
        match self.wait {
            WaitMode::Block => self.block(index, pending.peer),
            WaitMode::Task => {
                let mut broken = Broken::default();
                let gives_up = |engine: &mut Engine| {
                    let world = broken.give_up(self, engine, index)?;
                    Some(losses::error(engine, world))
                };
                let message = (index, self.process(pending.peer));
                tasks::completion(message, self.exact, gives_up).await
            }
            #[cfg(test)]
            WaitMode::Simulated(world) => world.finish(index).await,
        }
    }

    fn block(&self, index: Index, peer: i32) -> Result<()> {
        let (mut watch, mut broken) = (Watch::default(), Broken::default());
        let what = &|named: bool| Wait {
            peer,
            ..self.awaits([self.process(peer)], named)
        };
        let function = self.function;
        until_at(engine_of(index), &Reason { function, what }, |engine| {
            let request = engine.requests().at(index);
            if request.phase != Phase::Complete {
                if engine.checks_liveness()
                    && let Some(world) = broken.give_up(self, engine, index)
                {
                    return Some(Err(losses::error(engine, world)));
                }
                return self.give_up(engine, index, peer, &mut watch);
            }
            let result = request.take_error(self.exact);
            engine.requests().release(index);
            Some(result)
        })
    }

    /// Ends a wait for somebody who is lost. In the barrier of MPI_Finalize all are in there.
    #[inline]
    fn give_up(
        &self,
        engine: &mut Engine,
        index: Index,
        peer: i32,
        watch: &mut Watch,
    ) -> Option<Result<()>> {
        let sender = self.process(peer);
        let all_finalize =
            || self.function == FINALIZE && liveness::of(engine, sender) == Some(Loss::Finalizing);
        let process = match watch.is_unreachable(engine, sender) && !all_finalize() {
            true => sender,
            false if engine.checks_liveness() => self.lost_in_staging()?,
            false => return None,
        };
        // What it sent last may have come after the last look and before it ended.
        if engine.progresses() || !engine.cancel_receive(index) {
            return None;
        }
        engine.requests().release(index);
        Some(Err(losses::error(engine, process)))
    }

    /// A process of the communicator that has died, where all of its processes take part: no other one need come to its collective
    /// operations any more. It may be none of the members of this part of the operation, who wait for each other.
    #[cold]
    pub fn dead_member(&self) -> Option<u32> {
        let comm = comm::find_used(self.communicator).filter(|_| self.part == Part::Whole)?;
        let others = comm.is_inter().then(|| comm.peers_as_members());
        let groups = std::iter::once(comm.members()).chain(others);
        let mut processes =
            groups.flat_map(|group| (0..group.size()).map(|rank| group.process(rank)));
        processes.find(|process| engine::has_died(*process))
    }

    /// Whether the communicator was revoked, and the operation heeds that.
    #[cold]
    pub fn is_revoked(&self) -> bool {
        let context = self.receive_context;
        let comm = comm::find_used(self.communicator).filter(|comm| comm.has_context(context));
        self.part != Part::Living && comm.is_some_and(Comm::is_revoked)
    }

    /// A rank of whose loss somebody has told at a staging area of the communicator: no member need come to its collective operations any more.
    #[cold]
    fn lost_in_staging(&self) -> Option<u32> {
        let comm = comm::find_used(self.communicator).filter(|_| self.part == Part::Whole)?;
        comm.staging.lost()
    }

    /// A wait for some processes, with the communicator's name or without.
    pub fn awaits(&self, processes: impl IntoIterator<Item = u32>, named: bool) -> Wait {
        let context = self.receive_context;
        let comm = comm::find_used(self.communicator).filter(|comm| comm.has_context(context));
        Wait {
            // Steps without a communicator have a context for themselves.
            object: comm.map_or(Object::Communicator(u64::from(context & !3)), Comm::object),
            tag: self.tag,
            context,
            name: comm.map_or(String::new(), |comm| comm.name_on_page(named)),
            ..Wait::of(Kind::Collective, Whom::of(processes))
        }
    }

    /// What its calls are compared by.
    pub fn operation(&self) -> differing::Operation {
        differing::Operation {
            communicator: self.communicator,
            context: self.receive_context,
            tag: self.tag,
        }
    }

    /// Waits for something in this process that is no message; who makes it true wakes the sleepers.
    pub async fn until(&self, mut holds: impl FnMut() -> bool) {
        if matches!(self.wait, WaitMode::Block) {
            // Another operation of this process makes it true, on whatever communicator.
            let what = &|named: bool| Wait {
                object: Object::None,
                whom: Whom::Any,
                ..self.awaits([], named)
            };
            let function = self.function;
            until_at(self.engines.1, &Reason { function, what }, |_| {
                holds().then_some(())
            });
        } else {
            tasks::condition(holds).await;
        }
    }

    /// Polls the tasks of this process once; a step that waits for nothing keeps them waiting.
    pub async fn let_tasks_go_on(&self) {
        if matches!(self.wait, WaitMode::Block) {
            drop(poll());
        } else {
            let mut is_polled = false;
            tasks::condition(|| std::mem::replace(&mut is_polled, true)).await;
        }
    }

    /// Context id and engine of messages to a member, and of those from it.
    #[inline]
    fn contexts(&self, peer: i32) -> [(u32, u32); 2] {
        let (send, receive, engines) = match self.remote {
            Some(remote) if (remote.first..remote.first + remote.count).contains(&peer) => {
                (remote.send_context, remote.receive_context, remote.engines)
            }
            _ => (self.send_context, self.receive_context, self.engines),
        };
        [(send, engines.0), (receive, engines.1)]
    }

    /// Begins to send to `dest`.
    #[inline]
    pub fn begin_send(&self, buffer: Buffer, dest: i32) -> Pending {
        #[cfg(test)]
        if let WaitMode::Simulated(world) = self.wait {
            let index = Some(world.begin_send(self.number(self.rank), self.number(dest), buffer));
            return Pending { index, peer: dest };
        }
        let [(context, engine), _] = self.contexts(dest);
        let mut engine = enter_at(engine);
        let envelope = self.envelope(&engine, context, dest);
        let index = match engine.send_short(&envelope, &buffer) {
            true => None,
            false => Some(engine.send(Mode::Standard, &envelope, buffer)),
        };
        Pending { index, peer: dest }
    }

    /// Tells `dest` that the message of a send to it will not come, because a process is lost.
    #[cold]
    pub fn tell_failed(&self, dest: i32, lost: u32) {
        #[cfg(test)]
        if let WaitMode::Simulated(world) = self.wait {
            return world.send_failed(self.number(self.rank), self.number(dest), lost);
        }
        let [(context, engine), _] = self.contexts(dest);
        let mut engine = enter_at(engine);
        let envelope = self.envelope(&engine, context, dest);
        engine.send_failed(&envelope, losses::failed(lost));
    }

    #[inline]
    fn envelope(&self, engine: &Engine, context: u32, dest: i32) -> Envelope {
        Envelope {
            process: self.members.process(dest),
            context,
            source: engine.me() as i32,
            tag: self.tag,
            peer: dest,
            communicator: self.communicator,
        }
    }

    /// Begins to receive from `source`.
    #[inline]
    pub fn begin_recv(&self, buffer: Buffer, source: i32) -> Pending {
        #[cfg(test)]
        if let WaitMode::Simulated(world) = self.wait {
            let index = Some(world.begin_recv(self.number(source), self.number(self.rank), buffer));
            return Pending {
                index,
                peer: source,
            };
        }
        let [_, (context, engine)] = self.contexts(source);
        let key = Key {
            context,
            source: self.members.process(source) as i32,
            tag: self.tag,
        };
        let index =
            Some(enter_at(engine).receive_for_library(key, source, self.communicator, buffer));
        Pending {
            index,
            peer: source,
        }
    }

    /// A message that is over.
    pub fn nothing(peer: i32) -> Pending {
        Pending { index: None, peer }
    }

    /// Ends the wait for a message, where a process is lost.
    #[cold]
    pub fn abandon(&self, pending: Pending) {
        let Some(index) = pending.index else {
            return;
        };
        #[cfg(test)]
        if let WaitMode::Simulated(world) = self.wait {
            return world.withdraw(index);
        }
        let mut engine = enter_at(engine_of(index));
        match engine.requests().at(index).phase {
            Phase::Complete => engine.requests().release(index),
            _ => engine.withdraw(index),
        }
    }

    /// Keeps that a process is lost: no message of these operations is received any more.
    #[cold]
    pub fn note_lost(&self, process: u32) {
        if self.part == Part::Whole
            && let Some(comm) = comm::find_used(self.communicator)
        {
            comm.set_lost(process);
        }
        // Another rank has said so before this one has looked.
        if process == REVOKED && self.part == Part::Whole {
            revocation::told_in_operation();
        }
        // Not within a task, which a look may end.
        if process == REVOKED && matches!(self.wait, WaitMode::Block) {
            liveness::look();
        }
    }

    pub async fn send(&self, buffer: Buffer, dest: i32) -> Result<()> {
        self.finish(self.begin_send(buffer, dest)).await
    }

    pub async fn recv(&self, buffer: Buffer, source: i32) -> Result<()> {
        self.finish(self.begin_recv(buffer, source)).await
    }

    /// Receives from `source` while sending to `dest`. Both are over when it returns.
    pub async fn exchange(&self, out: Buffer, dest: i32, into: Buffer, source: i32) -> Result<()> {
        let receive = self.begin_recv(into, source);
        let sent = self.send(out, dest).await;
        self.finish(receive).await.and(sent)
    }
}

/// A wait for a member that lives, while another one has died: the awaited one may have given up the operation, or be in a later one.
/// After a while the wait ends with an error, so that no rank waits for ever. It does, too, where the ranks' calls differ.
#[derive(Default)]
struct Broken {
    look: Look,
    /// When the wait was seen first, nanoseconds.
    since: u64,
}

impl Broken {
    /// Between the first liveness check of such a wait and the end of it, nanoseconds: ranks that go on with the operation are slower to end
    /// it where many share a core. Two such waits of an operation, a receive and a send, stay below 1 s.
    const PATIENCE: u64 = 400_000_000;

    /// The dead process, when the request is given up.
    #[cold]
    fn give_up(
        &mut self,
        coll: &CollContext<'_>,
        engine: &mut Engine,
        index: Index,
    ) -> Option<u32> {
        if coll.is_revoked() {
            engine.withdraw(index);
            return Some(REVOKED);
        }
        if coll.part == Part::Whole && self.look.finds(coll.operation()) {
            engine.withdraw(index);
            return Some(DIFFERENT);
        }
        let world = coll.dead_member()?;
        let now = monotonic_nanoseconds();
        if self.since == 0 {
            self.since = now;
        }
        if now - self.since < Self::PATIENCE {
            published::stir();
            return None;
        }
        engine.withdraw(index);
        Some(world)
    }
}

/// Runs an operation whose steps block.
#[inline]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).as_mut().poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("a step that blocks did not block"),
    }
}
