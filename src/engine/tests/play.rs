//! One play: see the module above.

use super::data::{BLOCK, Data, Dice};
use super::job::{Job, Shape, Ways, build};
use crate::datatype;
use crate::engine::Engine;
use crate::engine::dispatch::{Limits, Outgoing};
use crate::engine::matching::{ANY_SOURCE, ANY_TAG, Key};
use crate::engine::packets::{self, Cts};
use crate::engine::progress::Handled;
use crate::engine::requests::{Index, Mode, NOT_POSTED, Phase};
use crate::engine::send::Envelope;
use crate::error::Class;
use crate::node::distance::CacheDistance;
use crate::transport::Packet;
use std::collections::BTreeMap;

/// How often something was reached.
pub type Reached = BTreeMap<&'static str, u64>;

/// The sizes around every border, bytes.
const SIZES: [usize; 26] = [
    0, 1, 7, 8, 100, 147, 148, 149, 1000, 4096, 5000, 16_383, 16_384, 16_385, 20_000, 32_767,
    32_768, 32_769, 40_000, 60_000, 65_535, 65_536, 65_537, 100_000, 150_000, 300_000,
];
const LARGEST: usize = 300_032;
const CONTEXT: u32 = 4;
/// Messages too small for a number in them have this tag.
const TAG_OF_SMALL: i32 = 9;
/// What a buffer is overwritten with.
const OVERWRITTEN: u8 = 0xee;
const ACTIONS: usize = 250;
const MOST_SENDS: usize = 40;

/// A message by its number; its first bytes have the number in them, the rest says which message and where.
fn content(number: usize, bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    for (chunk, piece) in content.chunks_mut(512).enumerate() {
        piece.fill((number * 37 + chunk) as u8 & 0x7f);
    }
    if bytes >= 8 {
        content[..8].copy_from_slice(&(number as u64).to_ne_bytes());
    }
    content
}

struct Message {
    from: usize,
    to: usize,
    tag: i32,
    bytes: usize,
    /// The order of its receive, once received.
    received: Option<usize>,
}

struct Send {
    at: usize,
    index: Index,
    data: Data,
}

struct Receive {
    at: usize,
    index: Index,
    order: usize,
    data: Data,
}

pub struct Play {
    dice: Dice,
    engines: Vec<Engine>,
    /// Behind the engines, whose memory it is.
    _job: Job,
    messages: Vec<Message>,
    sends: Vec<Send>,
    /// Of sends that nobody holds: they may be in use until the end.
    kept: Vec<Data>,
    receives: Vec<Receive>,
    orders: usize,
    received: usize,
}

impl Play {
    pub fn new(seed: u64) -> Play {
        let mut dice = Dice(seed);
        let ranks = dice.one_of(&[2, 2, 3]);
        let shape = Shape {
            processes: ranks,
            ways: dice.one_of(&[Ways::Shm, Ways::Shm, Ways::Shm, Ways::Loopback, Ways::Both]),
            memory: dice.one_of(&[0, 64 << 10, 400 << 10, 1 << 20, 4 << 20, 40 << 20]),
            room: dice.one_of(&[1, 4, 50]),
            bulk: dice.one_in(2),
        };
        let (job, mut engines) = build(&shape);
        let oversubscribed = dice.one_in(2);
        let limits = Limits::of(
            dice.one_of(&[64 << 10, 64 << 10, 1000, 20_000, 1 << 20]),
            dice.one_of(&[32 << 10, 32 << 10, 0, usize::MAX]),
            dice.one_of(&[usize::MAX, 1000, 100_000]),
        );
        for engine in &mut engines {
            engine.transport.set_oversubscribed(oversubscribed);
            engine
                .transport
                .pretend(dice.one_of(&[CacheDistance::Shared, CacheDistance::Far]));
            engine.oversubscribed = oversubscribed;
            engine.limits = limits;
            for peer in &mut engine.peers {
                // Ranks here are one process, which the kernel lets read itself.
                peer.readable = Some(!dice.one_in(3));
            }
        }
        Play {
            dice,
            engines,
            _job: job,
            messages: Vec::new(),
            sends: Vec::new(),
            kept: Vec::new(),
            receives: Vec::new(),
            orders: 0,
            received: 0,
        }
    }

    pub fn run(mut self, reached: &mut Reached) {
        for _ in 0..ACTIONS {
            let at = self.dice.below(self.engines.len());
            match self.dice.below(16) {
                0..=4 => self.send(at),
                5..=7 => self.post(at),
                8 => self.receive_probed(at),
                9 if self.dice.one_in(4) => self.cancel(at),
                10 if self.dice.one_in(10) => {
                    let from = self.dice.below(self.engines.len());
                    self.engines[at].peers[from].readable = Some(false);
                }
                11 => {
                    self.engines[at].flush_busy();
                }
                _ => self.handle_some(at, reached),
            }
            self.check(reached);
        }
        let refuses = self.dice.one_in(2);
        for turn in 0.. {
            assert!(turn < 100_000, "messages are stuck");
            let at = self.dice.below(self.engines.len());
            if refuses && !self.engines[at].refuses && self.dice.one_in(10) {
                self.engines[at].refuses = true;
                self.engines[at].refuse_unexpected();
                self.engines[at].end_refused();
            } else if !refuses
                && (self.engines[at].posted.is_empty() || !self.engines[at].unexpected.is_empty())
            {
                self.post_any(at);
            }
            self.handle_some(at, reached);
            self.engines[at].flush_busy();
            self.check(reached);
            if self.is_over(refuses) {
                break;
            }
        }
        self.end(refuses);
    }

    fn is_over(&mut self, refuses: bool) -> bool {
        let drained = self.engines.iter_mut().all(Engine::is_drained);
        let silent = drained
            && self
                .engines
                .iter_mut()
                .all(|engine| engine.transport.peek().is_none());
        silent && (refuses || self.received == self.messages.len())
    }

    fn size(&mut self) -> usize {
        let size = self.dice.one_of(&SIZES);
        match self.dice.below(3) {
            0 => size.next_multiple_of(BLOCK),
            _ => size,
        }
    }

    fn send(&mut self, from: usize) {
        if self.sends.iter().filter(|send| send.at == from).count() >= MOST_SENDS {
            return;
        }
        let to = self.dice.below(self.engines.len());
        let bytes = self.size();
        let tag = if bytes < 8 {
            TAG_OF_SMALL
        } else {
            self.dice.below(2) as i32
        };
        let number = self.messages.len();
        self.messages.push(Message {
            from,
            to,
            tag,
            bytes,
            received: None,
        });
        let data = Data::new(bytes, self.dice.one_in(2));
        data.buffer.write(0, &content(number, bytes));
        let envelope = Envelope {
            process: to as u32,
            context: CONTEXT,
            source: from as i32,
            tag,
            peer: to as i32,
            communicator: 0,
        };
        let mode = self
            .dice
            .one_of(&[Mode::Standard, Mode::Synchronous, Mode::Synchronous]);
        let engine = &mut self.engines[from];
        match self.dice.below(6) {
            0 => {
                if !engine.send_short(&envelope, &data.buffer) {
                    engine.send_copy(None, &envelope, data.buffer);
                }
            }
            1 => {
                // MPI_Request_free.
                let index = engine.send(mode, &envelope, data.buffer);
                match engine.requests.at(index).phase {
                    Phase::Complete => engine.requests.release(index),
                    _ => engine.requests.at(index).detached = true,
                }
                self.kept.push(data);
            }
            _ => {
                let index = engine.send(mode, &envelope, data.buffer);
                self.sends.push(Send {
                    at: from,
                    index,
                    data,
                });
            }
        }
    }

    fn key(&mut self) -> Key {
        let source = match self.dice.below(3) {
            0 => ANY_SOURCE,
            _ => self.dice.below(self.engines.len()) as i32,
        };
        let tag = self.dice.one_of(&[ANY_TAG, 0, 1, TAG_OF_SMALL]);
        Key {
            context: CONTEXT,
            source,
            tag,
        }
    }

    fn data_for_receive(&mut self) -> Data {
        let bytes = match self.dice.below(3) {
            0 => self.size(),
            _ => LARGEST,
        };
        Data::new(bytes, self.dice.one_in(2))
    }

    fn post(&mut self, at: usize) {
        if self.receives.len() < 3 * MOST_SENDS {
            let (key, data) = (self.key(), self.data_for_receive());
            self.receive(at, key, data);
        }
    }

    fn post_any(&mut self, at: usize) {
        let key = Key {
            context: CONTEXT,
            source: ANY_SOURCE,
            tag: ANY_TAG,
        };
        let data = self.data_for_receive();
        self.receive(at, key, data);
    }

    fn receive(&mut self, at: usize, key: Key, data: Data) {
        let index = self.engines[at].receive(key, key.source, 0, data.buffer);
        self.expect(at, index, data);
    }

    fn expect(&mut self, at: usize, index: Index, data: Data) {
        let order = self.orders;
        self.orders += 1;
        self.receives.push(Receive {
            at,
            index,
            order,
            data,
        });
    }

    fn receive_probed(&mut self, at: usize) {
        let key = self.key();
        let probed = self.engines[at].probe(key);
        let Some((message, status)) = self.engines[at].probe_matched(key) else {
            assert!(probed.is_none());
            return;
        };
        let same = |one: &datatype::Status| (one.source, one.tag, one.bytes());
        assert_eq!(probed.as_ref().map(same), Some(same(&status)));
        let data = self.data_for_receive();
        let index = self.engines[at].receive_matched(message, 0, data.buffer);
        self.expect(at, index, data);
    }

    fn cancel(&mut self, at: usize) {
        let all = (0..self.receives.len()).filter(|one| self.receives[*one].at == at);
        let all: Vec<usize> = all.collect();
        if all.is_empty() {
            return;
        }
        let which = self.dice.one_of(&all);
        let (engine, index) = (&mut self.engines[at], self.receives[which].index);
        let posted = engine.requests.at(index).posted != NOT_POSTED;
        assert_eq!(engine.cancel_receive(index), posted);
        if posted {
            engine.requests.release(index);
            self.receives.swap_remove(which);
        }
    }

    /// Handles some of the packets that have come in.
    fn handle_some(&mut self, at: usize, reached: &mut Reached) {
        let packets = self.dice.one_of(&[1, 1, 2, 5, 40]);
        for _ in 0..packets {
            let Some(packet) = self.engines[at].transport.peek() else {
                return;
            };
            if packet.kind == packets::CTS {
                note(&mut self.engines[at], &packet, reached);
            }
            let may_defer = self.dice.one_in(4);
            let engine = &mut self.engines[at];
            if engine.handle(&packet, may_defer) == Handled::Deferred {
                return;
            }
            engine.transport.done(&packet);
            self.overwrite(at);
        }
    }

    /// Takes the buffers of complete sends into use again.
    fn overwrite(&mut self, at: usize) {
        let engine = &mut self.engines[at];
        self.sends.retain_mut(|send| {
            if send.at != at || engine.requests.at(send.index).phase != Phase::Complete {
                return true;
            }
            assert!(engine.requests.at(send.index).error.is_none());
            engine.requests.release(send.index);
            send.data.memory.fill(OVERWRITTEN);
            // What still reads it reads this.
            self.kept.push(Data {
                memory: std::mem::take(&mut send.data.memory),
                buffer: send.data.buffer,
            });
            false
        });
    }

    fn check(&mut self, reached: &mut Reached) {
        for at in 0..self.engines.len() {
            self.overwrite(at);
            for to in 0..self.engines.len() {
                let route = self.engines[at].peers[to].route;
                if self.engines[at].transport.is_held(route) {
                    *reached.entry("held back").or_default() += 1;
                }
            }
            for peer in &self.engines[at].peers {
                for what in &peer.queue {
                    let name = match what {
                        Outgoing::Short(_) => "short",
                        Outgoing::Rts(_) => "RTS",
                        Outgoing::EagerPart(_) => "eager part",
                        Outgoing::Cts { .. } => "CTS",
                    };
                    *reached.entry(name).or_default() += 1;
                }
            }
        }
        let receives = std::mem::take(&mut self.receives);
        for receive in receives {
            let engine = &mut self.engines[receive.at];
            if engine.requests.at(receive.index).phase == Phase::Complete {
                self.compare(&receive);
            } else {
                self.receives.push(receive);
            }
        }
    }

    fn compare(&mut self, receive: &Receive) {
        let engine = &mut self.engines[receive.at];
        let request = engine.requests.at(receive.index);
        let (status, error) = (request.status, request.error.take());
        engine.requests.release(receive.index);
        self.received += 1;
        let (bytes, room) = (status.bytes() as usize, receive.data.buffer.len());
        if status.tag == TAG_OF_SMALL || bytes < 8 {
            return;
        }
        let mut found = vec![0; bytes];
        receive.data.buffer.read(0, &mut found);
        let number = u64::from_ne_bytes(found[..8].try_into().unwrap()) as usize;
        assert!(
            number < self.messages.len(),
            "{bytes} bytes begin with {number:#x}"
        );
        let message = &mut self.messages[number];
        assert_eq!(
            (message.from as i32, message.to),
            (status.source, receive.at)
        );
        assert_eq!((message.tag, message.bytes.min(room)), (status.tag, bytes));
        let truncated = error.map(|error| error.class() == Class::Truncate);
        assert_eq!(truncated, (message.bytes > room).then_some(true));
        assert_eq!(message.received.replace(receive.order), None);
        let expected = content(number, message.bytes);
        let wrong = (0..bytes).find(|at| found[*at] != expected[*at]);
        assert_eq!(wrong, None, "of the {bytes} bytes of message {number}");
    }

    fn end(&mut self, refuses: bool) {
        for receive in std::mem::take(&mut self.receives) {
            let engine = &mut self.engines[receive.at];
            assert!(
                engine.cancel_receive(receive.index),
                "half of a message came"
            );
            engine.requests.release(receive.index);
        }
        assert!(self.sends.is_empty());
        for engine in &self.engines {
            assert_eq!(engine.requests.count(), 0);
            assert!(refuses || engine.unexpected.is_empty());
            assert!(refuses || engine.holding == 0);
            for peer in &engine.peers {
                assert!(refuses || peer.unexpected_bytes == 0 && !peer.holds);
                assert!(peer.queue.is_empty() && peer.streams.is_empty() && peer.partial.is_none());
            }
        }
        // Messages of one sender and tag meet receives in the order of both.
        let mut last: BTreeMap<(usize, usize, i32), usize> = BTreeMap::new();
        for message in &self.messages {
            if let Some(order) = message.received {
                let before = last.insert((message.from, message.to, message.tag), order);
                assert!(before < Some(order), "a message was overtaken");
            }
        }
    }
}

/// Notes in which state a send is whose CTS is here.
fn note(engine: &mut Engine, packet: &Packet, reached: &mut Reached) {
    let cts = engine.decode::<Cts>(packet);
    let request = engine.requests.at(cts.sender);
    let gone = request.moved >= request.eager_part as usize;
    let name = match packet.flags {
        packets::REFUSED if gone => "refused, eager part gone",
        packets::REFUSED => "refused, eager part queued",
        packets::FIN if gone => "done, eager part gone",
        packets::FIN => "done, eager part queued",
        packets::UNREADABLE if cts.wanted == 0 => "unreadable and nothing wanted, eager part gone",
        packets::UNREADABLE => "unreadable, eager part gone",
        0 => match (cts.wanted > u64::from(request.eager_part), gone) {
            (true, true) => "more, eager part gone",
            (true, false) => "more, eager part queued",
            (false, true) => "enough, eager part gone",
            (false, false) => "enough, eager part queued",
        },
        _ => "read, eager part gone",
    };
    *reached.entry(name).or_default() += 1;
}
