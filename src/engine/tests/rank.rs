//! A process of a job whose processes take turns: the calls of a program, each of which waits by making progress.

use super::data::Data;
use crate::datatype::Status;
use crate::engine::Engine;
use crate::engine::liveness::GivesUp;
use crate::engine::matching::Key;
use crate::engine::requests::{Index, Mode, NOT_POSTED, Phase};
use crate::engine::send::Envelope;
use crate::error::Class;
use crate::sync::keep::keep;
use crate::sync::{AtomicU64, Ordering, scheduler};

const CONTEXT: u32 = 4;
/// That of messages of which no communicator knows.
const CONTEXT_OF_LIBRARY: u32 = CONTEXT + 1;
/// What a buffer is overwritten with when its send is complete.
const OVERWRITTEN: u8 = 0xee;

/// What the processes of a job tell each other past the engines.
#[derive(Default)]
pub struct Shared {
    /// Counts what may let others go on.
    moves: AtomicU64,
    done: AtomicU64,
    notes: [AtomicU64; 4],
}

/// A send or a receive that was begun.
pub struct End {
    index: Index,
    data: Data,
}

pub struct Rank<'a> {
    pub me: usize,
    pub processes: usize,
    engine: &'a mut Engine,
    shared: &'a Shared,
    ended: bool,
    /// Number of the last buffer; every other one has holes.
    buffers: u64,
    /// Of requests that were withdrawn: nothing is written there any more.
    left: Vec<Data>,
}

/// The bytes of a message.
fn content(from: usize, tag: i32, bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    for (chunk, piece) in content.chunks_mut(256).enumerate() {
        piece.fill((from * 91 + tag as usize * 37 + chunk) as u8 & 0x7f);
    }
    if bytes >= 8 {
        content[..4].copy_from_slice(&(from as u32).to_ne_bytes());
        content[4..8].copy_from_slice(&tag.to_ne_bytes());
    }
    content
}

impl<'a> Rank<'a> {
    pub fn new(me: usize, processes: usize, engine: &'a mut Engine, shared: &'a Shared) -> Self {
        Self {
            me,
            processes,
            engine,
            shared,
            ended: false,
            buffers: scheduler::random(2),
            left: Vec::new(),
        }
    }

    pub fn next(&self) -> usize {
        (self.me + 1) % self.processes
    }

    pub fn before(&self) -> usize {
        (self.me + self.processes - 1) % self.processes
    }

    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me;
        (0..self.processes).filter(move |other| *other != me)
    }

    fn data(&mut self, bytes: usize) -> Data {
        self.buffers += 1;
        Data::new(bytes, self.buffers.is_multiple_of(2))
    }

    fn moved(&self) {
        self.shared.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes progress until `done` says so.
    fn until<T>(&mut self, what: &str, mut done: impl FnMut(&mut Engine) -> Option<T>) -> T {
        loop {
            if let Some(result) = done(self.engine) {
                self.moved();
                return result;
            }
            // An idle poll may refresh what a producer has seen of its ring; waiting callers poll often.
            if (0..3).any(|_| self.engine.progress()) {
                self.moved();
            } else {
                // As a waiting call asks from time to time.
                self.engine.give_up_unowned();
                if self.engine.progress() {
                    self.moved();
                    continue;
                }
                assert!(
                    scheduler::pause(false),
                    "process {} waits in vain: {what}",
                    self.me
                );
            }
        }
    }

    /// Polls some times.
    pub fn look_around(&mut self, times: usize) {
        for _ in 0..times {
            self.engine.progress();
            self.moved();
        }
    }

    pub fn send(&mut self, mode: Mode, to: usize, tag: i32, bytes: usize) -> End {
        self.send_in(CONTEXT, mode, to, tag, bytes)
    }

    fn send_in(&mut self, context: u32, mode: Mode, to: usize, tag: i32, bytes: usize) -> End {
        let data = self.data(bytes);
        data.buffer.write(0, &content(self.me, tag, bytes));
        let envelope = Envelope {
            process: to as u32,
            context,
            source: self.me as i32,
            tag,
            peer: to as i32,
            communicator: 0,
        };
        let index = self.engine.send(mode, &envelope, data.buffer);
        self.moved();
        End { index, data }
    }

    pub fn receive(&mut self, source: i32, tag: i32, room: usize) -> End {
        let data = self.data(room);
        let key = Key {
            context: CONTEXT,
            source,
            tag,
        };
        let index = self.engine.receive(key, source, 0, data.buffer).unwrap();
        self.moved();
        End { index, data }
    }

    /// Waits for a message and begins to receive it, so that no other receive can have it.
    pub fn receive_matched(&mut self, source: i32, tag: i32, room: usize) -> End {
        self.receive_matched_in(CONTEXT, source, tag, room)
    }

    fn receive_matched_in(&mut self, context: u32, source: i32, tag: i32, room: usize) -> End {
        let data = self.data(room);
        let key = Key {
            context,
            source,
            tag,
        };
        let (message, _) = self.until("a matched probe", |engine| engine.probe_matched(key, 0));
        let index = self.engine.receive_matched(message, 0, data.buffer);
        self.moved();
        End { index, data }
    }

    /// Ends this process without a word, and with requests that are not complete.
    pub fn end_with(&mut self, open: impl Iterator<Item = End>) {
        // Others may read what is sent as long as they do not know that this one has ended.
        open.for_each(|end| {
            keep(end.data.memory);
        });
        self.end(0);
    }

    /// Begins a message of the library's own, and ends this process without a word.
    pub fn end_in_send(&mut self, to: usize, tag: i32, bytes: usize) {
        let send = self.send_in(CONTEXT_OF_LIBRARY, Mode::Standard, to, tag, bytes);
        // Others may read it as long as they do not know that this one has ended.
        keep(send.data.memory);
        self.end(0);
    }

    /// Waits for such a message, and receives it as far as it comes.
    pub fn takes_the_rest(&mut self, from: usize, tag: i32, bytes: usize) {
        let receive = self.receive_matched_in(CONTEXT_OF_LIBRARY, from as i32, tag, bytes);
        self.until_lost(from);
        let (_, error, data) = self.take(receive);
        match error {
            None => compare(&data, from, tag, bytes, bytes),
            Some(class) => assert_eq!(class, Class::ProcFailed),
        }
    }

    pub fn probe(&mut self, source: i32, tag: i32) -> Status {
        let key = Key {
            context: CONTEXT,
            source,
            tag,
        };
        self.until("a probe", |engine| engine.probe(key))
    }

    /// Waits for the end of a request; its status, its error, and its memory.
    pub fn take(&mut self, end: End) -> (Status, Option<Class>, Data) {
        let index = end.index;
        let (status, error) = self.until("a request", |engine| {
            let request = engine.requests.at(index);
            let complete = request.phase == Phase::Complete;
            complete.then(|| (request.status, request.error.take()))
        });
        self.engine.requests.release(index);
        (status, error.map(|error| error.class()), end.data)
    }

    /// Waits for a send, and overwrites its buffer.
    pub fn complete(&mut self, send: End) {
        let (_, error, mut data) = self.take(send);
        assert_eq!(error, None);
        data.memory.fill(OVERWRITTEN);
    }

    /// Waits for a receive, and compares what came.
    pub fn arrived(&mut self, receive: End, from: usize, tag: i32, bytes: usize) {
        let (status, error, data) = self.take(receive);
        assert_eq!(
            (status.source, status.tag, status.bytes()),
            (from as i32, tag, bytes as _)
        );
        assert_eq!(error, None);
        compare(&data, from, tag, bytes, bytes);
    }

    /// As [`Self::arrived`], for a message of any source, whose tag is its number. Returns both.
    pub fn arrived_from_any(&mut self, receive: End, sizes: &[usize]) -> (usize, usize) {
        let (status, error, data) = self.take(receive);
        assert_eq!(error, None);
        let (from, number) = (status.source as usize, status.tag as usize);
        let bytes = sizes[number];
        assert_eq!(status.bytes() as usize, bytes);
        compare(&data, from, status.tag, bytes, bytes);
        (from, number)
    }

    /// Receives a message and compares it.
    pub fn expect(&mut self, from: usize, tag: i32, bytes: usize) {
        let receive = self.receive(from as i32, tag, bytes);
        self.arrived(receive, from, tag, bytes);
    }

    /// Waits for a receive that has too little room.
    pub fn was_cut(&mut self, receive: End, from: usize, tag: i32, bytes: usize, room: usize) {
        let (status, error, data) = self.take(receive);
        assert_eq!((status.bytes() as usize, status.tag), (room, tag));
        assert_eq!(error, Some(Class::Truncate));
        compare(&data, from, tag, bytes, room);
    }

    pub fn cancel(&mut self, receive: &End) -> bool {
        self.engine.cancel_receive(receive.index)
    }

    pub fn cancel_send(&mut self, send: &End) {
        self.engine.cancel_send(send.index);
        self.moved();
    }

    /// Waits for a request no longer, and overwrites its buffer. Whether it was a receive that had met no message.
    pub fn withdraw(&mut self, end: End) -> bool {
        let (index, mut data) = (end.index, end.data);
        let request = self.engine.requests.at(index);
        let (phase, was_posted) = (request.phase, request.posted != NOT_POSTED);
        match phase {
            Phase::Complete => self.engine.requests.release(index),
            _ => self.engine.withdraw(index),
        }
        data.memory.fill(OVERWRITTEN);
        self.left.push(data);
        self.moved();
        phase != Phase::Complete && was_posted
    }

    /// Whether a probe finds a message now.
    pub fn finds(&mut self, source: i32, tag: i32) -> bool {
        let key = Key {
            context: CONTEXT,
            source,
            tag,
        };
        self.engine.progress();
        self.engine.probe(key).is_some()
    }

    /// Waits until a receive has met its message.
    pub fn until_met(&mut self, receive: &End) {
        let index = receive.index;
        self.until("a match", |engine| {
            (engine.requests.at(index).posted == NOT_POSTED).then_some(())
        });
    }

    /// Says something to the others, and what another one has said.
    pub fn note(&self, about: usize, what: u64) {
        self.shared.notes[about].store(what, Ordering::Relaxed);
    }

    pub fn noted(&self, about: usize) -> u64 {
        self.shared.notes[about].load(Ordering::Relaxed)
    }

    /// What this process sends to process 0 from now on stays under way, if queues lead there.
    pub fn is_late(&mut self) {
        let me = self.me as u32;
        self.engine.transport.set_late(me, 0, true);
    }

    /// Now it arrives, though its sender has ended and was given up.
    pub fn what_was_late_arrives(&mut self, from: usize) {
        self.engine.transport.set_late(from as u32, 0, false);
        self.look_around(50);
    }

    /// Ends a request as a call does that waits for a process that has ended. Its buffer is this process's again, and overwritten.
    pub fn is_over(&mut self, end: End) {
        let (_, error, mut data) = self.give_up(end);
        assert!(error.is_none_or(|class| class == Class::ProcFailed));
        data.memory.fill(OVERWRITTEN);
        self.left.push(data);
    }

    /// Ends this process without a word, while it writes a packet of so many slots to process 0; 0: while it writes nothing.
    pub fn end(&mut self, slots: u32) {
        if slots > 0 {
            self.engine.transport.leave_open(slots);
        }
        self.engine.transport.table().own().set_reaped();
        self.ended = true;
    }

    pub fn until_lost(&mut self, process: usize) {
        self.until("a loss", |engine| engine.peer(process as u32).loss());
    }

    /// Waits for a request as a call does that is asked whether it is in vain; the error.
    pub fn fails(&mut self, end: End) -> Class {
        let (_, error, _) = self.give_up(end);
        error.expect("an error")
    }

    /// As [`Self::fails`], for a send that is marked.
    pub fn ends_cancelled(&mut self, send: End) {
        let (status, error, _) = self.give_up(send);
        assert!(status.cancelled());
        assert_eq!(error, None);
    }

    fn give_up(&mut self, end: End) -> (Status, Option<Class>, Data) {
        let index = end.index;
        loop {
            self.engine.give_up(index, GivesUp::Waiting);
            // If it was not given up, something has moved meanwhile.
            self.moved();
            if self.engine.requests.at(index).phase == Phase::Complete {
                break;
            }
        }
        self.take(end)
    }

    /// Goes on until all are done and nothing is under way.
    pub fn finish(&mut self) {
        if !self.ended {
            self.until("the end of all sends", |engine| {
                engine.give_up_unowned();
                (engine.sending == 0).then_some(())
            });
        }
        let (shared, processes) = (self.shared, self.processes as u64);
        shared.done.fetch_add(1, Ordering::Relaxed);
        if self.ended {
            return;
        }
        self.until("the others", |engine| {
            engine.give_up_unowned();
            let done = shared.done.load(Ordering::Relaxed) == processes;
            done.then_some(())
        });
        if !self.left.is_empty() {
            // The rest of what has come to receives that were withdrawn.
            self.until("the end of all requests", |engine| {
                (engine.requests.count() == 0).then_some(())
            });
        }
        let untouched = |data: &Data| data.memory.iter().all(|byte| *byte == OVERWRITTEN);
        assert!(self.left.iter().all(untouched));
        assert_eq!(self.engine.requests.count(), 0);
        assert!(self.engine.posted.is_empty());
    }
}

fn compare(data: &Data, from: usize, tag: i32, bytes: usize, room: usize) {
    let mut found = vec![0; room];
    data.buffer.read(0, &mut found);
    let expected = content(from, tag, bytes);
    let wrong = (0..room).find(|at| found[*at] != expected[*at]);
    assert_eq!(wrong, None, "of {bytes} bytes from {from} with tag {tag}");
}
