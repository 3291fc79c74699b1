//! What a request is: one communication of an engine, from its start until its slot is free again.

use super::number::Index;
use crate::datatype::Status;
use crate::datatype::pack::Buffer;
use crate::engine::attached::Charge;
use crate::engine::protocol::Protocol;
use crate::error::{Class, Error, Result, fail, memory};
use std::any::Any;
use std::sync::Arc;

/// The modes of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Standard,
    Buffered,
    Synchronous,
    Ready,
}

/// Where a request is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Free,
    /// Persistent and not started.
    Inactive,
    Active,
    Complete,
}

/// Whether the CTS of a send has come; `dispatch.rs` has the states of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// None is expected.
    NotWanted,
    Awaited,
    /// Awaited, of a message that is on offer ([`crate::engine::offers`]): the send may be complete before.
    Offered,
    /// Awaited, and MPI_Cancel was called ([`crate::engine::cancel`]).
    Marked,
    Come,
    /// There will be no receive for the message.
    Refused,
    /// As `Refused`, and MPI_Cancel was called.
    Cancelled,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Send(Mode),
    Receive,
    /// Steps of a task, such as a collective operation.
    Task,
    /// What the program itself says is complete.
    General,
}

/// One communication. `peer` is the rank in the communicator, `process` the peer's number in the job; bytes are packed.
#[derive(Debug)]
pub struct Request {
    pub phase: Phase,
    pub kind: Kind,
    pub persistent: bool,
    /// Nobody holds a handle: recycled on completion.
    pub detached: bool,
    /// Parts of a combined operation that are not done yet, this one not counted.
    pub others: u8,
    pub buffer: Buffer,
    /// Handle of the object (communicator, window, file, session) that the operation is on: its error handler is called, and it
    /// lives until the request is recycled.
    pub owner: i32,
    pub context: u32,
    /// Own rank in the communicator: the source that the receiver sees.
    pub source: i32,
    pub peer: i32,
    pub process: u32,
    pub tag: i32,
    pub status: Status,
    pub error: Option<Error>,
    /// Bytes that have left or come in.
    pub moved: usize,
    /// Bytes that will.
    pub total: usize,
    /// The peer's request in a rendezvous.
    pub token: u32,
    /// Of an announced send: the bytes that leave before a CTS.
    pub eager_part: u32,
    /// Of an announced send.
    pub answer: Answer,
    /// How the data of a send travels; chosen when its first packet leaves.
    pub protocol: Protocol,
    /// The name of a posted receive, or [`NOT_POSTED`].
    pub posted: u32,
    /// Fields that few requests have.
    pub extra: Option<Box<Extra>>,
}

/// [`Request::posted`] of a receive that is not in the list of posted receives.
pub const NOT_POSTED: u32 = u32::MAX;

/// The rare parts of a request.
#[derive(Debug, Default)]
pub struct Extra {
    /// Memory that the request owns, and that its buffer leads into.
    pub copy: Option<Box<[u8]>>,
    /// What to give back when it has left; its size is the request's `total`.
    pub bsend: Option<Charge>,
    /// The receive that this send completes together with.
    pub partner: Option<Index>,
    /// What begins a persistent task again.
    pub restart: Option<Restart>,
    /// What ends it when its communicator is revoked.
    pub at_revocation: Option<Restart>,
    /// The receiver of an ended send has yet to answer its number: no other request has it until then.
    pub keeps_number: bool,
    /// Of the request that goes on with the data of such a send: that one.
    pub stands_in_for: Option<Index>,
    /// What the request is the handle of: a generalised or partitioned operation.
    pub owner: Option<Arc<dyn Any + Send + Sync>>,
}

/// See [`Extra::restart`] and [`Extra::at_revocation`]; it is called without the guard, with the request.
#[derive(Clone)]
pub struct Restart(pub Arc<dyn Fn(Index) + Send + Sync>);

impl std::fmt::Debug for Restart {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Restart")
    }
}

// Two cache lines: a request is written and read once or twice for each message.
const _: () = assert!(size_of::<Request>() <= 128);

impl Request {
    /// An active request for these arguments.
    #[inline(always)]
    pub fn new(kind: Kind, buffer: Buffer, owner: i32, context: u32, source: i32) -> Self {
        Self {
            phase: Phase::Active,
            kind,
            persistent: false,
            detached: false,
            others: 0,
            buffer,
            owner,
            context,
            source,
            peer: 0,
            process: 0,
            tag: 0,
            status: Status::empty(),
            error: None,
            moved: 0,
            total: 0,
            token: 0,
            eager_part: 0,
            answer: Answer::NotWanted,
            protocol: Protocol::Whole,
            posted: NOT_POSTED,
            extra: None,
        }
    }

    /// Of an announced send: one without a handle that goes on for it with a copy of its data.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[cold]
    pub(in crate::engine) fn with_copy(&self) -> Result<Request> {
        let copy = memory::filled(self.buffer.len(), 0u8, "the data of a message")?;
        let mut copy = copy.into_boxed_slice();
        self.buffer.read(0, &mut copy);
        let buffer = Buffer::of_copy(&mut copy);
        let extra = Extra {
            copy: Some(copy),
            ..Extra::default()
        };
        Ok(Request {
            detached: true,
            peer: self.peer,
            process: self.process,
            tag: self.tag,
            moved: self.moved,
            total: self.total,
            eager_part: self.eager_part,
            answer: self.answer,
            protocol: self.protocol,
            extra: Some(Box::new(extra)),
            ..Request::new(self.kind, buffer, self.owner, self.context, self.source)
        })
    }

    /// Whether the slot is to stay, see [`Extra::keeps_number`]; then no handle leads to it any more.
    #[cold]
    pub(super) fn keeps_number(&mut self) -> bool {
        let keeps = (self.extra.as_ref()).is_some_and(|extra| extra.keeps_number);
        self.detached |= keeps;
        keeps
    }

    pub fn is_active(&self) -> bool {
        self.phase == Phase::Active
    }

    /// Of a send: the receiver has said where its data comes, or asked for it in packets.
    pub fn goes_straight(&self) -> bool {
        self.protocol == Protocol::Straight && self.answer == Answer::Come
    }

    /// Of a send with a CTS: how much of the message the receiver wants, from its start.
    pub fn wanted(&self) -> usize {
        // The status of a send is free until it completes.
        self.status.bytes() as usize
    }

    pub fn set_wanted(&mut self, bytes: u64) {
        self.status.set_bytes(bytes);
    }

    /// Takes the error out of a complete request. If it has none, `exact` makes it one that less came than there is room for.
    pub fn take_error(&mut self, exact: bool) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let (came, room) = (self.status.bytes() as usize, self.buffer.len());
        match exact && self.kind == Kind::Receive && came < room {
            true => too_short(came, room),
            false => Ok(()),
        }
    }
}

#[cold]
fn too_short(came: usize, room: usize) -> Result<()> {
    fail!(
        Class::Count,
        "{came} bytes came where this rank wants {room}; the ranks have given different amounts"
    )
}
