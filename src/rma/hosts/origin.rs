//! The origin's side: an operation becomes calls to the target's process, and waits for their answers.
//!
//! Calls of one origin to one target are taken in the order in which they were sent, so accumulates keep theirs. A call holds a copy of the
//! origin's elements; the program goes on without the answers, and waits for them where it synchronises ([`Window::settle`]). In a dynamic
//! window it waits at once, since the target alone knows what is attached.

use super::Hosts;
use super::flights::{Flight, Queue, Track, Until};
use super::wire::{self, ANSWER_HEAD, ANSWER_LEAST, ANSWERS, CALLS, Groups, Head, Kind};
use crate::comm;
use crate::datatype::{self, Buffer, Category, Datatype};
use crate::engine::matching::Key;
use crate::engine::send::Envelope;
use crate::engine::wait::{Reason, until_at};
use crate::engine::waits::{self, Whom};
use crate::engine::{Engine, enter_at};
use crate::error::{Class, Result, fail};
use crate::op::Operation;
use crate::rma::window::{self, Window};
use crate::sync::{AtomicU32, Ordering};
use crate::transport::rma::Move;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of the elements of one call, at most.
const CHUNK: usize = 256 << 10;
/// Divisible by the size of every predefined type: 1, 2, 4, 8, 12, 16, 20, 24 or 32 bytes.
const ELEMENT: usize = 480;
/// Calls of one operation that are under way at once, where it waits for them.
const DEPTH: usize = 4;
/// Calls to one target that are under way at once, where it does not.
pub(super) const MOST_PENDING: usize = 32;

/// A target on another host.
pub struct Origin<'a> {
    window: &'a Window,
    /// The target.
    pub(super) rank: usize,
    /// The MPI function.
    function: &'static str,
}

/// The buffers of an accumulate operation.
pub struct Buffers<'a> {
    pub origin: Option<&'a Buffer>,
    pub result: Option<&'a Buffer>,
    pub target: &'a Buffer,
}

static TOKENS: AtomicU32 = AtomicU32::new(0);

impl Window {
    /// Waits until all operations of this process to a target of another host are complete there. Nothing to do where it is on this host.
    ///
    /// Errors: those that the target has found; MPIX_ERR_PROC_FAILED if it is lost.
    #[inline]
    pub(in crate::rma) fn settle_far(&self, target: usize, function: &'static str) -> Result<()> {
        match &self.hosts {
            None => Ok(()),
            Some(_) => self.far(target, function).until(Until::Settled),
        }
    }

    /// As [`Window::settle_far`], to all targets.
    #[inline]
    pub(in crate::rma) fn settle_all_far(&self, function: &'static str) -> Result<()> {
        match &self.hosts {
            None => Ok(()),
            Some(_) => self.all_until(Until::Settled, function),
        }
    }

    /// As [`Window::settle_here`], of operations to other hosts.
    #[inline]
    pub(in crate::rma) fn settle_far_here(
        &self,
        target: Option<usize>,
        function: &'static str,
    ) -> Result<()> {
        match (&self.hosts, target) {
            (None, _) => Ok(()),
            (Some(_), Some(target)) => self.far(target, function).until(Until::Delivered),
            (Some(_), None) => self.all_until(Until::Delivered, function),
        }
    }

    #[cold]
    fn all_until(&self, until: Until, function: &'static str) -> Result<()> {
        // Also behind one that has failed.
        let mut outcome = Ok(());
        for target in 0..self.size() {
            let done = self.far(target, function).until(until);
            outcome = outcome.and(done);
        }
        outcome
    }

    /// A rank that shares no memory with this one.
    #[inline]
    pub(in crate::rma) fn far(&self, rank: usize, function: &'static str) -> Origin<'_> {
        Origin {
            window: self,
            rank,
            function,
        }
    }
}

/// The handle by which other processes know a predefined type.
fn common_handle(basic: &Datatype) -> Result<i32> {
    let mut all = datatype::predefined_handles();
    let found = match all.any(|handle| handle == basic.handle) {
        true => Some(basic.handle),
        false => datatype::predefined_handles()
            .find(|handle| datatype::get(*handle).is_some_and(|known| known.is_like(basic))),
    };
    match found {
        Some(handle) => Ok(handle),
        None => fail!(
            Class::Type,
            "{} is known to this process only; windows of several hosts need a predefined datatype",
            basic.title()
        ),
    }
}

impl Origin<'_> {
    fn process(&self) -> u32 {
        self.window.targets[self.rank].process
    }

    fn head(&self, kind: Kind) -> Head {
        Head {
            kind,
            key: self.window.hosts.as_ref().map_or(0, |hosts| hosts.key),
            rank: self.window.rank as u32,
            token: 0,
            operation: 0,
            basic: 0,
            bytes: 0,
        }
    }

    fn envelope(&self, context: u32, tag: i32) -> Envelope {
        Envelope {
            process: self.process(),
            context,
            source: self.window.targets[self.window.rank].process as i32,
            tag,
            peer: self.rank as i32,
            communicator: comm::NULL,
        }
    }

    /// Sends a call; `fill` adds its data. The answer has up to `room` bytes of data.
    fn begin(
        &self,
        mut head: Head,
        groups: &Groups,
        fill: impl FnOnce(&mut Vec<u8>),
        (at, room): (usize, usize),
    ) -> Flight {
        head.token = (TOKENS.fetch_add(1, Ordering::Relaxed) & i32::MAX as u32) as i32;
        let mut call = wire::encode(&head, &groups.0, head.bytes as usize);
        fill(&mut call);
        let mut answer = vec![0; ANSWER_HEAD + room.max(ANSWER_LEAST)].into_boxed_slice();
        // SAFETY: the answer is kept until the receive is over.
        let buffer = unsafe { Buffer::bytes(answer.as_mut_ptr(), answer.len()) };
        let key = Key {
            context: ANSWERS,
            source: self.process() as i32,
            tag: head.token,
        };
        let mut engine = enter_at(0);
        let receive = engine.receive_for_library(key, self.rank as i32, comm::NULL, buffer);
        let envelope = self.envelope(CALLS, 0);
        engine.send_owned(&envelope, call.into_boxed_slice());
        Flight {
            receive,
            answer,
            at,
            sink: Groups::default(),
            tracked: None,
        }
    }

    /// Waits for an answer; its data is behind the head.
    ///
    /// Errors: those of the target; MPIX_ERR_PROC_FAILED if it is lost.
    fn finish(&self, flight: &mut Flight) -> Result<()> {
        let Some(queue) = self.queue() else {
            return Ok(());
        };
        self.wait(|engine| {
            let asks = engine.checks_liveness();
            flight.outcome(engine, queue, asks)
        })
    }

    /// Waits for the target.
    pub(super) fn wait<R>(&self, done: impl FnMut(&mut Engine) -> Option<R>) -> R {
        // The target's library answers, whatever its program waits for; which rank has a lock there is known to the target alone.
        let what = &|named: bool| {
            let (window, rank) = (self.window, Some(self.rank));
            window.wait_at(rank, waits::Kind::Target, Whom::Any, named)
        };
        let function = self.function;
        until_at(0, &Reason { function, what }, done)
    }

    pub(super) fn hosts(&self) -> Option<&Hosts> {
        self.window.hosts.as_deref()
    }

    pub(super) fn queue(&self) -> Option<&Arc<Queue>> {
        let (window, rank) = (self.window, self.rank);
        let make = || {
            Queue::new(
                (window.handle, window::title_of),
                rank,
                window.targets[rank].process,
            )
        };
        Some(self.hosts()?.queue_of(rank, make))
    }

    /// Lets a call go on by itself; its data goes to `sink`. Waits for older ones if there are many.
    fn leave(&self, mut flight: Flight, sink: Groups, track: Option<&Track>) {
        let Some(queue) = self.queue() else {
            return;
        };
        flight.sink = sink;
        flight.tracked = track.map(|track| track.another(queue));
        queue.push(flight);
        // Its error is told by the call that synchronises.
        let _ = self.until(Until::AtMost(MOST_PENDING));
    }

    /// Waits for what was left to go on.
    #[cold]
    pub(super) fn until(&self, until: Until) -> Result<()> {
        let queue = self
            .window
            .hosts
            .as_ref()
            .and_then(|it| it.queue(self.rank));
        let Some(queue) = queue else {
            return Ok(());
        };
        self.wait(|engine| {
            let asks = engine.checks_liveness();
            queue.reap(engine, asks, until)
        })
    }

    /// A call without elements, and its answer.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn ask(&self, kind: Kind) -> Result<()> {
        let nothing = Groups::default();
        let mut flight = self.begin(self.head(kind), &nothing, |_| (), (0, 0));
        self.finish(&mut flight)
    }

    /// A call that has no answer; `number` is a barrier's round.
    pub fn tell(&self, kind: Kind, number: u32) {
        let head = Head {
            operation: number,
            ..self.head(kind)
        };
        let call = wire::encode(&head, &[], 0);
        let envelope = self.envelope(CALLS, 0);
        enter_at(0).send_owned(&envelope, call.into_boxed_slice());
    }

    /// Has calls made of all elements. `next` begins the call for the elements from a byte on, of so many bytes at most, and says how many bytes
    /// those are. Their data goes to `result`.
    fn run(
        &self,
        bytes: usize,
        result: Option<&Buffer>,
        track: Option<&Track>,
        mut next: impl FnMut(usize, usize) -> (Flight, usize),
    ) -> Result<()> {
        if self.window.is_dynamic() {
            return self.wait_for_each(bytes, result, |at| next(at, CHUNK));
        }
        let mut at = 0;
        while at < bytes {
            let (sink, most) = match result {
                Some(result) => Self::sink(result, at),
                None => (Groups::default(), CHUNK),
            };
            let (flight, taken) = next(at, most);
            let sink = match result {
                Some(result) if taken < most => Self::groups(result, at, taken).0,
                _ => sink,
            };
            self.leave(flight, sink, track);
            at += taken;
        }
        Ok(())
    }

    /// Where the data of one call goes, and how many bytes that is, at most: whole elements of every predefined type.
    fn sink(result: &Buffer, at: usize) -> (Groups, usize) {
        let (sink, bytes) = Self::groups(result, at, CHUNK);
        match bytes % ELEMENT {
            _ if at + bytes == result.len() => (sink, bytes),
            0 => (sink, bytes),
            rest => Self::groups(result, at, bytes - rest),
        }
    }

    /// As [`Origin::run`], and waits: a few calls are under way at once.
    fn wait_for_each(
        &self,
        bytes: usize,
        result: Option<&Buffer>,
        mut next: impl FnMut(usize) -> (Flight, usize),
    ) -> Result<()> {
        let mut ends = VecDeque::new();
        let mut flights: VecDeque<Flight> = VecDeque::new();
        let (mut at, mut outcome) = (0, Ok(()));
        loop {
            while at < bytes && flights.len() < DEPTH && outcome.is_ok() {
                let (flight, taken) = next(at);
                flights.push_back(flight);
                ends.push_back(taken);
                at += taken;
            }
            // Those behind a failed one are waited for, too: they write to their buffers.
            let (Some(mut flight), Some(taken)) = (flights.pop_front(), ends.pop_front()) else {
                return outcome;
            };
            let done = self.finish(&mut flight);
            match (&done, &outcome) {
                (Ok(()), _) => {
                    if let Some(result) = result {
                        result.write(flight.at, &flight.answer[ANSWER_HEAD..][..taken]);
                    }
                }
                (Err(_), Ok(())) => outcome = done,
                (Err(_), Err(_)) => {}
            }
        }
    }

    /// Elements from `at` on that one call takes, so many bytes at most, and their bytes.
    fn groups(target: &Buffer, at: usize, most: usize) -> (Groups, usize) {
        let mut groups = Groups::default();
        let mut taken = 0;
        target.runs(at, most.min(target.len() - at), |address, bytes| {
            let added = groups.add(address as u64, bytes as u64);
            taken += if added { bytes } else { 0 };
            added
        });
        (groups, taken)
    }

    /// As [`Origin::groups`], whole elements only. Of pairs, which may have holes, each is a piece.
    fn groups_of(target: &Buffer, at: usize, most: usize, basic: &Datatype) -> (Groups, usize) {
        let size = basic.size as usize;
        let most = (most / size * size).min(target.len() - at);
        let mut groups = Groups::default();
        let mut taken = 0;
        if basic.category != Category::Pair {
            target.runs(at, most, |address, bytes| {
                let added = groups.add(address as u64, bytes as u64);
                taken += if added { bytes } else { 0 };
                added
            });
            return (groups, taken);
        }
        while taken < most {
            let mut first = 0;
            target.runs(at + taken, size, |address, _| {
                first = address as u64;
                false
            });
            if !groups.add(first, size as u64) {
                break;
            }
            taken += size;
        }
        (groups, taken)
    }

    /// Copies the origin's elements to the target's, which have as many bytes. The addresses of the target's count from the
    /// window's first byte; in a dynamic window they are the target's own.
    ///
    /// Errors: those that the target finds; MPIX_ERR_PROC_FAILED if it is lost.
    pub fn put(&self, origin: &Buffer, target: &Buffer, track: Option<&Track>) -> Result<()> {
        if self.move_by_fabric(Move::Write, origin, target, track)? {
            return Ok(());
        }
        let next = |at: usize, most: usize| {
            let (groups, bytes) = Self::groups(target, at, most);
            let head = Head {
                bytes: bytes as u64,
                ..self.head(Kind::Put)
            };
            let flight = self.begin(head, &groups, append(Some(origin), at, bytes), (at, 0));
            (flight, bytes)
        };
        self.run(origin.len(), None, None, next)
    }

    /// Copies the target's elements to the origin's.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn get(&self, origin: &Buffer, target: &Buffer, track: Option<&Track>) -> Result<()> {
        if self.move_by_fabric(Move::Read, origin, target, track)? {
            return Ok(());
        }
        let next = |at: usize, most: usize| {
            let (groups, bytes) = Self::groups(target, at, most);
            let head = Head {
                bytes: bytes as u64,
                ..self.head(Kind::Get)
            };
            (self.begin(head, &groups, |_| (), (at, bytes)), bytes)
        };
        self.run(origin.len(), Some(origin), track, next)
    }

    /// An operation on elements of one predefined type, each atomically.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn accumulate(
        &self,
        operation: Operation,
        basic: &'static Datatype,
        sides: &Buffers,
        track: Option<&Track>,
    ) -> Result<()> {
        let handle = common_handle(basic)?;
        let kind = match sides.result {
            Some(_) => Kind::GetAccumulate,
            None => Kind::Accumulate,
        };
        let target = sides.target;
        let next = |at: usize, most: usize| {
            let (groups, bytes) = Self::groups_of(target, at, most, basic);
            let head = Head {
                bytes: bytes as u64,
                operation: operation as u32,
                basic: handle,
                ..self.head(kind)
            };
            let room = sides.result.map_or(0, |_| bytes);
            let data = append(sides.origin, at, bytes);
            (self.begin(head, &groups, data, (at, room)), bytes)
        };
        self.run(target.len(), sides.result, track, next)
    }

    /// Compare-and-swap of one element. What was there goes to `old`.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn swap(
        &self,
        basic: &'static Datatype,
        address: u64,
        compare: &[u8],
        new: &[u8],
        old: &Buffer,
    ) -> Result<()> {
        let mut groups = Groups::default();
        groups.add(address, basic.size);
        let head = Head {
            bytes: basic.size,
            basic: common_handle(basic)?,
            ..self.head(Kind::Swap)
        };
        let fill = |call: &mut Vec<u8>| {
            call.extend_from_slice(compare);
            call.extend_from_slice(new);
        };
        let next = |_, _| {
            let flight = self.begin(head, &groups, fill, (0, old.len()));
            (flight, old.len())
        };
        self.run(old.len(), Some(old), None, next)
    }
}

/// Appends packed bytes of the origin's elements to a call.
fn append(origin: Option<&Buffer>, at: usize, bytes: usize) -> impl FnOnce(&mut Vec<u8>) {
    move |call| {
        if let Some(origin) = origin {
            let head = call.len();
            call.resize(head + bytes, 0);
            origin.read(at, &mut call[head..]);
        }
    }
}
