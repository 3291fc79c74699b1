//! The origin's side: an operation becomes calls to the target's process, and waits for their answers.
//!
//! Calls of one origin to one target are taken in the order in which they were sent, so accumulates keep theirs. A call holds a copy of the
//! origin's elements; the program goes on without the answers of puts and accumulates, and waits for them where it synchronises
//! ([`Window::settle`]). Invariant: what a call's answer is received into is kept until the answer is there.

use super::state::Flight;
use super::wire::{self, ANSWER_HEAD, ANSWER_LEAST, ANSWERS, CALLS, Groups, Head, Kind};
use crate::comm;
use crate::datatype::{self, Buffer, Category, Datatype};
use crate::engine::matching::Key;
use crate::engine::requests::Phase;
use crate::engine::send::Envelope;
use crate::engine::wait::{Reason, until_at};
use crate::engine::{enter_at, liveness};
use crate::error::{Class, Result, fail};
use crate::op::Operation;
use crate::rma::window::Window;
use crate::sync::{AtomicU32, Ordering};
use crate::transport::Loss;
use std::collections::VecDeque;

/// Bytes of the elements of one call, at most.
const CHUNK: usize = 256 << 10;
/// Calls of one operation that are under way at once, where it waits for them.
const DEPTH: usize = 4;
/// Calls to one target that are under way at once, where it does not.
const MOST_PENDING: usize = 32;

/// A target on another host.
pub struct Origin<'a> {
    window: &'a Window,
    /// The target.
    rank: usize,
    /// The MPI function.
    function: &'static str,
}

/// What an operation that accumulates works on.
pub struct Sides<'a> {
    pub origin: Option<&'a Buffer>,
    pub result: Option<&'a Buffer>,
    pub target: &'a Buffer,
}

static TOKENS: AtomicU32 = AtomicU32::new(0);

impl Window {
    /// Waits until all operations of this process to a target are complete there. Nothing to do where it is on this host.
    ///
    /// Errors: those that the target has found; MPI_ERR_OTHER if it is lost.
    #[inline]
    pub(in crate::rma) fn settle(&self, target: usize, function: &'static str) -> Result<()> {
        match &self.hosts {
            None => Ok(()),
            Some(_) => self.far(target, function).settle(),
        }
    }

    /// As [`Window::settle`], to all targets.
    #[inline]
    pub(in crate::rma) fn settle_all(&self, function: &'static str) -> Result<()> {
        match &self.hosts {
            None => Ok(()),
            Some(_) => {
                // Also behind one that has failed.
                let mut outcome = Ok(());
                for target in 0..self.size() {
                    let settled = self.far(target, function).settle();
                    outcome = outcome.and(settled);
                }
                outcome
            }
        }
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
        let receive = engine.receive(key, self.rank as i32, comm::NULL, buffer);
        let envelope = self.envelope(CALLS, 0);
        engine.send_owned(None, &envelope, call.into_boxed_slice());
        Flight {
            receive,
            answer,
            at,
        }
    }

    /// Waits for an answer. Returns it; its data is behind the head.
    ///
    /// Errors: those of the target; MPI_ERR_OTHER if it is lost.
    fn finish(&self, flight: &mut Flight) -> Result<()> {
        let (index, process) = (flight.receive, self.process());
        let target = Some(self.rank as i32);
        let reason = Reason::at_window(self.function, target, self.window.handle);
        let received = until_at(0, &reason, |engine| {
            let request = engine.requests().at(index);
            if request.phase == Phase::Complete {
                let error = request.error.take();
                let bytes = request.status.bytes() as usize;
                engine.requests().release(index);
                return Some(error.map_or(Ok(bytes), Err));
            }
            let has_ended = |loss| matches!(loss, Some(Loss::Exited | Loss::NeverStarted));
            // Lost first, then nothing found: what it had sent is handled.
            if engine.checks_liveness()
                && has_ended(liveness::of(engine, process))
                && !engine.progresses()
                && engine.cancel_receive(index)
            {
                engine.requests().release(index);
                return Some(Err(liveness::error(engine, process)));
            }
            None
        });
        let bytes = received.map_err(|error| {
            error.context(format_args!(
                "target rank {} of {} does not answer",
                self.rank,
                self.window.title()
            ))
        })?;
        wire::outcome(&flight.answer[..bytes.min(flight.answer.len())])
    }

    /// Lets a call go on by itself. Waits for an older one if there are many.
    fn leave(&self, flight: Flight) {
        let Some(hosts) = &self.window.hosts else {
            return;
        };
        let mut pending = hosts.pending[self.rank].lock();
        pending.flights.push_back(flight);
        if pending.flights.len() > MOST_PENDING
            && let Some(mut oldest) = pending.flights.pop_front()
            && let Err(error) = self.finish(&mut oldest)
        {
            pending.error.get_or_insert(error);
        }
    }

    #[cold]
    fn settle(&self) -> Result<()> {
        let Some(hosts) = &self.window.hosts else {
            return Ok(());
        };
        let mut pending = hosts.pending[self.rank].lock();
        let mut error = pending.error.take();
        while let Some(mut flight) = pending.flights.pop_front() {
            if let Err(new) = self.finish(&mut flight) {
                error.get_or_insert(new);
            }
        }
        error.map_or(Ok(()), Err)
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
        enter_at(0).send_owned(None, &envelope, call.into_boxed_slice());
    }

    /// Has calls made of all elements, without a result. In a dynamic window the target finds out what is wrong, so that is waited for.
    fn run(&self, bytes: usize, mut next: impl FnMut(usize) -> (Flight, usize)) -> Result<()> {
        if self.window.is_dynamic() {
            return self.each(bytes, next, |_, _| ());
        }
        let mut at = 0;
        while at < bytes {
            let (flight, taken) = next(at);
            self.leave(flight);
            at += taken;
        }
        Ok(())
    }

    /// Has calls made of all elements, a few of them under way at once. `next` begins the call for the elements from a byte on and says how
    /// many bytes those are; `end` takes the data of an answer.
    fn each(
        &self,
        bytes: usize,
        mut next: impl FnMut(usize) -> (Flight, usize),
        mut end: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let mut flights: VecDeque<Flight> = VecDeque::new();
        let (mut at, mut outcome) = (0, Ok(()));
        loop {
            while at < bytes && flights.len() < DEPTH && outcome.is_ok() {
                let (flight, taken) = next(at);
                flights.push_back(flight);
                at += taken;
            }
            // Those behind a failed one are waited for, too: they write to their buffers.
            let Some(mut flight) = flights.pop_front() else {
                return outcome;
            };
            let done = self.finish(&mut flight);
            match (&done, &outcome) {
                (Ok(()), _) => end(flight.at, &flight.answer[ANSWER_HEAD..]),
                (Err(_), Ok(())) => outcome = done,
                (Err(_), Err(_)) => {}
            }
        }
    }

    /// The target's elements from `at` on that one call takes, and their bytes.
    fn groups(target: &Buffer, at: usize) -> (Groups, usize) {
        let mut groups = Groups::default();
        let mut taken = 0;
        target.runs(at, CHUNK.min(target.len() - at), |address, bytes| {
            let added = groups.add(address as u64, bytes as u64);
            taken += if added { bytes } else { 0 };
            added
        });
        (groups, taken)
    }

    /// As [`Origin::groups`], whole elements only. Of pairs, which may have holes, each is a piece.
    fn groups_of(target: &Buffer, at: usize, basic: &Datatype) -> (Groups, usize) {
        let size = basic.size as usize;
        let most = (CHUNK / size * size).min(target.len() - at);
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
    /// Errors: those that the target finds; MPI_ERR_OTHER if it is lost.
    pub fn put(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        let next = |at: usize| {
            let (groups, bytes) = Self::groups(target, at);
            let head = Head {
                bytes: bytes as u64,
                ..self.head(Kind::Put)
            };
            let flight = self.begin(head, &groups, append(Some(origin), at, bytes), (at, 0));
            (flight, bytes)
        };
        self.run(origin.len(), next)
    }

    /// Copies the target's elements to the origin's.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn get(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        let next = |at: usize| {
            let (groups, bytes) = Self::groups(target, at);
            let head = Head {
                bytes: bytes as u64,
                ..self.head(Kind::Get)
            };
            (self.begin(head, &groups, |_| (), (at, bytes)), bytes)
        };
        let lengths = |at: usize| Self::groups(target, at).1;
        self.each(origin.len(), next, |at, data| {
            origin.write(at, &data[..lengths(at)]);
        })
    }

    /// An operation on elements of one predefined type, each atomically.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn accumulate(
        &self,
        operation: Operation,
        basic: &'static Datatype,
        sides: &Sides,
    ) -> Result<()> {
        let handle = common_handle(basic)?;
        let kind = match sides.result {
            Some(_) => Kind::GetAccumulate,
            None => Kind::Accumulate,
        };
        let target = sides.target;
        let next = |at: usize| {
            let (groups, bytes) = Self::groups_of(target, at, basic);
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
        let Some(result) = sides.result else {
            return self.run(target.len(), next);
        };
        self.each(target.len(), next, |at, data| {
            let bytes = Self::groups_of(target, at, basic).1;
            result.write(at, &data[..bytes]);
        })
    }

    /// Compare-and-swap of one element. Returns what was there.
    ///
    /// Errors: as for [`Origin::put`].
    pub fn swap(
        &self,
        basic: &'static Datatype,
        address: u64,
        compare: &[u8],
        new: &[u8],
        old: &mut [u8],
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
        let mut flight = self.begin(head, &groups, fill, (0, old.len()));
        self.finish(&mut flight)?;
        old.copy_from_slice(&flight.answer[ANSWER_HEAD..][..old.len()]);
        Ok(())
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
