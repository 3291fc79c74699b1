//! Messages between some processes that run one operation together, which no receive of the program's can match.
//!
//! The steps are futures. A lane that waits blocks inside each step, so its futures are ready at their first poll
//! ([`now`]); one that does not is for tasks ([`crate::engine::tasks`]). One body serves both.

use crate::comm::{COLLECTIVE, Comm, Members};
use crate::datatype::Buffer;
use crate::engine::enter;
use crate::engine::matching::Key;
use crate::engine::requests::{Index, Mode, Phase};
use crate::engine::send::Envelope;
use crate::engine::tasks;
use crate::engine::wait::{Reason, until};
use crate::error::Result;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Who runs an operation, and how its messages are told from others.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    /// The MPI function, for those who look what a rank waits for.
    pub function: &'static str,
    pub members: &'a Members,
    /// Own rank among those that the members see as senders.
    pub rank: i32,
    pub send_context: u32,
    pub receive_context: u32,
    pub tag: i32,
    /// Handle of the communicator, for errors.
    pub communicator: i32,
    /// Whether the steps block.
    pub waits: bool,
}

/// The tag of blocking collective operations: they follow each other in the same order on all members.
const BLOCKING: i32 = 0;

impl<'a> Lane<'a> {
    /// All of an intracommunicator, for a blocking collective operation.
    #[inline]
    pub fn new(comm: &'a Comm, function: &'static str) -> Self {
        Self {
            function,
            members: comm.members(),
            rank: comm.rank(),
            send_context: comm.context() + COLLECTIVE,
            receive_context: comm.receive_context() + COLLECTIVE,
            tag: BLOCKING,
            communicator: comm.handle,
            waits: true,
        }
    }

    /// The same for an operation that does not block. All members begin those in the same order, so their number is a
    /// tag of their own.
    pub fn task(self, comm: &Comm) -> Self {
        Self {
            tag: comm.next_operation(),
            waits: false,
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
    pub fn world(&self, rank: i32) -> u32 {
        self.members.world(rank)
    }

    async fn finish(&self, index: Index, peer: i32) -> Result<()> {
        if !self.waits {
            return tasks::completion(index).await;
        }
        until(&self.reason(peer), |engine| {
            let request = engine.requests().at(index);
            if request.phase != Phase::Complete {
                return None;
            }
            let error = request.error.take();
            engine.requests().release(index);
            Some(error.map_or(Ok(()), Err))
        })
    }

    fn reason(&self, peer: i32) -> Reason {
        Reason {
            function: self.function,
            peer,
            tag: self.tag,
            context: self.receive_context,
        }
    }

    /// Waits for something in this process that is no message; who makes it true wakes the sleepers.
    pub async fn until(&self, mut holds: impl FnMut() -> bool) {
        if self.waits {
            let reason = Reason::of(self.function);
            until(&reason, |_| holds().then_some(()));
        } else {
            tasks::condition(holds).await;
        }
    }

    fn envelope(&self, dest: i32) -> Envelope {
        Envelope {
            world: self.members.world(dest),
            context: self.send_context,
            source: self.rank,
            tag: self.tag,
            peer: dest,
            communicator: self.communicator,
        }
    }

    fn key(&self, source: i32) -> Key {
        Key {
            context: self.receive_context,
            source,
            tag: self.tag,
        }
    }

    pub async fn send(&self, buffer: Buffer, dest: i32) -> Result<()> {
        let envelope = self.envelope(dest);
        let index = {
            let mut engine = enter();
            if engine.send_short(&envelope, &buffer) {
                return Ok(());
            }
            engine.send(Mode::Standard, &envelope, buffer)
        };
        self.finish(index, dest).await
    }

    pub async fn recv(&self, buffer: Buffer, source: i32) -> Result<()> {
        let index = self.begin_recv(buffer, source);
        self.finish(index, source).await
    }

    fn begin_recv(&self, buffer: Buffer, source: i32) -> Index {
        enter().receive(self.key(source), source, self.communicator, buffer)
    }

    /// Receives from `source` while sending to `dest`.
    pub async fn exchange(&self, out: Buffer, dest: i32, into: Buffer, source: i32) -> Result<()> {
        let index = self.begin_recv(into, source);
        self.send(out, dest).await?;
        self.finish(index, source).await
    }
}

/// Runs an operation on lanes that wait.
#[inline]
pub fn now<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).as_mut().poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("a lane that waits did not wait"),
    }
}
