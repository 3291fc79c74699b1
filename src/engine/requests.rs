//! Requests: the slab of an engine that they live in, and their handles.
//!
//! A request's number has the number of its engine in the upper bits, so that a handle says whom to ask.
//!
//! Invariant: a slot is `Free` or belongs to one handle the program holds or to the engine itself (a *detached*
//! request, freed by the program or made for a buffered send, which is recycled when it completes).
//! Slots are reused oldest first, so that a stale handle stays recognisable.

mod walk;

use super::attached::Charge;
use super::protocol::Protocol;
use super::roots;
use crate::datatype::Status;
use crate::datatype::pack::Buffer;
use crate::error::{Class, Error, Exhausted, Result, fail, memory};
use crate::transport::ENGINES;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of a request: the engine's, then its own in the slab.
pub type Index = u32;

/// MPI_REQUEST_NULL and MPI_MESSAGE_NULL.
pub const NULL: i32 = 0x2c00_0000;
/// MPI_MESSAGE_NO_PROC.
pub const NO_PROC: i32 = 0x6c00_0000;
/// A send that was done when it began; several calls return the same handle.
pub const SENT: i32 = 0x6c00_0001;
/// A receive from MPI_PROC_NULL.
pub const RECEIVED_FROM_NOBODY: i32 = 0x6c00_0002;

const REQUEST_BITS: u32 = 0b11 << 30 | 11 << 26;
const MESSAGE_BITS: u32 = 0b10 << 30 | 11 << 26;
const KIND_AND_TYPE: u32 = 0b11_1111 << 26;
/// Bits of the number in the slab.
const SLOT_BITS: u32 = 22;
/// The last slot.
const SLOT: usize = (1 << SLOT_BITS) - 1;
/// With those of an engine.
const NUMBER: u32 = !KIND_AND_TYPE;

const _: () = assert!(ENGINES << SLOT_BITS == NUMBER as usize + 1);
/// What a slab is full of, for those who read that.
const REQUESTS: &str =
    "requests in this process that were neither completed (MPI_Wait, MPI_Test) nor freed";
/// Requests that are kept for the library, which would otherwise have to end the job: it cannot give up in the middle of an operation.
const OWN: usize = 1 << 16;
/// The program gets no further request when there are so many slots, and hardly one is free.
const PROGRAMS: usize = SLOT + 1 - OWN;
/// Slots are reused only while more than so many are free.
const RESERVE: usize = 16;
/// The slab grows by so many slots at least.
const LEAST_MORE: usize = 64;
/// What other tables need for each request, bytes, about: they grow with the slab, and cannot fail.
const BESIDE: usize = 192;

/// The handle of a request.
#[inline]
pub fn handle_of(index: Index) -> i32 {
    (REQUEST_BITS | index) as i32
}

/// The number behind a handle, if it has the form of a request's.
#[inline]
pub fn index_of(handle: i32) -> Option<Index> {
    let bits = handle as u32;
    (bits & KIND_AND_TYPE == REQUEST_BITS).then_some(bits & NUMBER)
}

/// The engine of a request or an unexpected message.
#[inline]
pub fn engine_of(index: u32) -> u32 {
    index >> SLOT_BITS
}

/// The engine of what a handle means; of what is no request, any.
#[inline]
pub fn engine_of_handle(handle: i32) -> u32 {
    engine_of(handle as u32 & NUMBER)
}

/// Whether the engine of what a handle means, if it means anything, is not this one.
#[inline(always)]
pub fn is_of_another(handle: i32, engine: u32) -> bool {
    (handle as u32 ^ first_of(engine)) & (NUMBER & !(SLOT as u32)) != 0
}

/// The slot in the slab that begins with `first`; beyond all slots for what is another engine's.
#[inline(always)]
pub(super) fn slot(first: u32, index: u32) -> usize {
    (index ^ first) as usize
}

/// The slot in the slab of an index that is known to be this engine's.
#[inline(always)]
fn own_slot(index: u32) -> usize {
    index as usize & SLOT
}

/// The index of the request in an engine's first slot.
pub(super) fn first_of(engine: u32) -> u32 {
    engine << SLOT_BITS
}

/// The index of the request in slot `slot`; `first`: that of the engine's first slot.
#[inline(always)]
pub(super) fn number(first: u32, slot: usize) -> u32 {
    first | slot as u32
}

/// The number of what was put into a new slot, the last of `slots`; `what` they are, in words.
#[inline(always)]
pub(super) fn new_number(first: u32, slots: usize, what: &str) -> u32 {
    if slots > SLOT + 1 {
        exhausted(what);
    }
    number(first, slots - 1)
}

#[cold]
fn no_more(error: Error) -> Index {
    std::panic::panic_any(Exhausted(error.text()))
}

#[cold]
fn exhausted(what: &str) -> ! {
    std::panic::panic_any(Exhausted(format!(
        "there are {} {what}, and can be no more",
        SLOT + 1
    )))
}

/// The handle of a matched message.
pub fn message_handle_of(index: u32) -> i32 {
    (MESSAGE_BITS | index) as i32
}

/// The number behind a message handle, if it has the form of one.
pub fn message_index_of(handle: i32) -> Option<u32> {
    let bits = handle as u32;
    (bits & KIND_AND_TYPE == MESSAGE_BITS).then_some(bits & NUMBER)
}

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
    /// Awaited, and MPI_Cancel was called ([`super::cancel`]).
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
    /// What the request is the handle of: a generalised or partitioned operation.
    pub owner: Option<Arc<dyn Any + Send + Sync>>,
}

/// See [`Extra::restart`]; it is called without the guard, with the request.
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
}

impl Request {
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

/// The answer of [`Slab::reap`].
#[derive(Clone, Copy, Debug)]
pub enum Reaped {
    Done(Status),
    Active,
    /// Something that takes more steps, or no request at all.
    Other,
}

/// All requests of an engine.
#[derive(Default)]
pub struct Slab {
    /// The number of the first request.
    first: u32,
    slots: Vec<Request>,
    free: VecDeque<Index>,
    blocks: walk::Blocks,
}

impl Slab {
    /// An empty one, for the engine of this number.
    pub fn new(engine: u32) -> Self {
        Self {
            first: first_of(engine),
            ..Self::default()
        }
    }

    /// A request without which the library cannot go on, or for which [`Slab::check_room`] has found room: without any, the job ends.
    #[inline(always)]
    pub fn insert(&mut self, request: Request) -> Index {
        roots::take(request.owner, &request.buffer);
        self.put(request, SLOT + 1).unwrap_or_else(no_more)
    }

    /// Whether the program may have one more request.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[inline]
    pub fn check_room(&mut self) -> Result<()> {
        match self.free.len() > RESERVE {
            true => Ok(()),
            false => self.have_room(PROGRAMS),
        }
    }

    #[inline(always)]
    fn put(&mut self, request: Request, most: usize) -> Result<Index> {
        if self.free.len() > RESERVE
            && let Some(index) = self.free.pop_front()
        {
            self.slots[own_slot(index)] = request;
            return Ok(index);
        }
        self.put_into_another(request, most)
    }

    #[cold]
    #[inline(never)]
    fn put_into_another(&mut self, request: Request, most: usize) -> Result<Index> {
        if let Err(error) = self.have_room(most) {
            roots::give(&request);
            return Err(error);
        }
        if let Some(index) = self.more() {
            self.slots[own_slot(index)] = request;
            return Ok(index);
        }
        self.slots.push(request);
        Ok(new_number(self.first, self.slots.len(), REQUESTS))
    }

    /// Makes sure of a slot for one more request, where there may be so many.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[cold]
    #[inline(never)]
    fn have_room(&mut self, most: usize) -> Result<()> {
        if self.has_parked() || self.slots.len() < self.slots.capacity().min(most) {
            return Ok(());
        }
        if self.slots.len() >= most {
            return fail!(
                Class::NoMem,
                "there are {} {REQUESTS}, and can be no more",
                self.count()
            );
        }
        let more = self.slots.len().max(LEAST_MORE);
        if self.slots.try_reserve_exact(more).is_ok() {
            if memory::check(more * BESIDE, REQUESTS).is_ok() {
                return Ok(());
            }
            self.slots.shrink_to_fit();
        }
        fail!(
            Class::NoMem,
            "there is no memory for more than the {} {REQUESTS}",
            self.count()
        )
    }

    /// A new receive of the program's: as [`Slab::insert`], writing only what such a request needs.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[inline(always)]
    pub fn insert_receive(
        &mut self,
        buffer: Buffer,
        owner: i32,
        context: u32,
        peer: i32,
        tag: i32,
    ) -> Result<Index> {
        roots::take(owner, &buffer);
        if self.free.len() > RESERVE
            && let Some(index) = self.free.pop_front()
        {
            let request = &mut self.slots[own_slot(index)];
            request.phase = Phase::Active;
            request.kind = Kind::Receive;
            request.persistent = false;
            request.detached = false;
            request.others = 0;
            request.buffer = buffer;
            request.owner = owner;
            request.context = context;
            request.peer = peer;
            request.tag = tag;
            request.moved = 0;
            request.total = 0;
            request.status = Status::empty();
            request.posted = NOT_POSTED;
            return Ok(index);
        }
        let mut request = Request::new(Kind::Receive, buffer, owner, context, 0);
        request.peer = peer;
        request.tag = tag;
        self.put_into_another(request, PROGRAMS)
    }

    /// The request in a slot that is in use.
    #[inline]
    pub fn get(&mut self, index: Index) -> Option<&mut Request> {
        self.slots
            .get_mut(slot(self.first, index))
            .filter(|request| request.phase != Phase::Free)
    }

    /// The request of an index the engine itself keeps.
    #[inline]
    pub fn at(&mut self, index: Index) -> &mut Request {
        &mut self.slots[own_slot(index)]
    }

    #[inline]
    pub fn release(&mut self, index: Index) {
        let request = &mut self.slots[own_slot(index)];
        roots::give(request);
        request.phase = Phase::Free;
        if request.extra.is_some() {
            request.extra = None;
        }
        if request.error.is_some() {
            request.error = None;
        }
        self.free.push_back(index);
    }

    /// The common end of a request, in one step: a receive that is not persistent, complete without an error, is
    /// recycled and its status returned.
    #[inline(always)]
    pub fn reap(&mut self, handle: i32) -> Reaped {
        let Some(index) = index_of(handle) else {
            return Reaped::Other;
        };
        let Some(request) = self.slots.get_mut(slot(self.first, index)) else {
            return Reaped::Other;
        };
        match request.phase {
            Phase::Active if !request.detached => Reaped::Active,
            Phase::Complete
                if request.kind == Kind::Receive
                    && !request.persistent
                    && request.error.is_none() =>
            {
                roots::give(request);
                request.phase = Phase::Free;
                let status = request.status;
                self.free.push_back(index);
                Reaped::Done(status)
            }
            _ => Reaped::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::new(Kind::Receive, Buffer::empty(), 0, 0, 0)
    }

    #[test]
    fn one_too_many_says_of_what() {
        assert_eq!(
            new_number(first_of(3), SLOT + 1, "requests"),
            first_of(4) - 1
        );
        let panic = std::panic::catch_unwind(|| new_number(first_of(3), SLOT + 2, "requests"));
        let payload = panic.unwrap_err();
        let Exhausted(text) = payload.downcast_ref().unwrap();
        assert!(text.contains("4194304 requests"), "{text}");
    }

    #[test]
    fn handles_lead_back_to_their_numbers() {
        for (engine, slot) in [(0, 0), (0, 1), (0, 1024), (3, 5000), (15, SLOT)] {
            let first = first_of(engine);
            let index = number(first, slot);
            assert_eq!(index_of(handle_of(index)), Some(index));
            assert_eq!(message_index_of(message_handle_of(index)), Some(index));
            assert_eq!(message_index_of(handle_of(index)), None);
            assert_eq!(engine_of(index), engine);
            assert_eq!(engine_of_handle(handle_of(index)), engine);
            assert_eq!(super::slot(first, index), slot);
            assert!(super::slot(first_of(engine ^ 1), index) > SLOT);
        }
        for other in [NULL, SENT, NO_PROC, 0, -1, 0x4400_0000, 0x6c00_0002] {
            assert_eq!(index_of(other), None);
        }
    }

    /// The program's limit leaves some to the library, and one that is free is used whatever the limit is.
    #[test]
    fn the_program_gets_no_more_than_its_requests() {
        let mut slab = Slab::new(2);
        let most = 100;
        let all: Vec<_> = (0..most)
            .map(|_| slab.put(request(), most).unwrap())
            .collect();
        let error = slab.put(request(), most).unwrap_err();
        assert_eq!(error.class(), Class::NoMem);
        assert!(error.text().contains("100 requests"), "{error:?}");
        assert_eq!(slab.count(), most);
        let own = slab.insert(request());
        assert!(slab.check_room().is_ok());
        slab.release(own);
        all.iter().for_each(|index| slab.release(*index));
        assert!(slab.put(request(), most).is_ok());
    }

    #[test]
    fn a_stale_handle_stays_recognisable_for_a_while() {
        let mut slab = Slab::default();
        let first = slab.insert(request());
        slab.release(first);
        for _ in 0..RESERVE {
            let index = slab.insert(request());
            slab.release(index);
            assert!(slab.get(first).is_none());
        }
        let many: Vec<_> = (0..500).map(|_| slab.insert(request())).collect();
        assert!(many.iter().all(|index| slab.get(*index).is_some()));
    }
}
