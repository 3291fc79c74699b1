//! One play: see the module above.

mod judge;

use super::data::{BLOCK, Data, Dice};
use super::job::{Job, Shape, Ways, build};
use crate::datatype;
use crate::engine::Engine;
use crate::engine::dispatch::Limits;
use crate::engine::matching::{ANY_SOURCE, ANY_TAG, Key};
use crate::engine::offers::Receiver;
use crate::engine::packets;
use crate::engine::progress::Handled;
use crate::engine::requests::{Answer, Index, Mode, NOT_POSTED, Phase};
use crate::engine::send::Envelope;
use crate::engine::single_copy::Limit;
use crate::node::distance::CacheDistance;
use judge::{note, note_place};
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
    fate: Fate,
}

/// What the sender knows of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    /// Marked for cancellation, and nobody is told what became of it.
    Unknown,
    Cancelled,
    Sent,
}

struct Send {
    at: usize,
    number: usize,
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
            straight: dice.one_of(&[20_000, usize::MAX]),
        };
        let (job, mut engines) = build(&shape);
        let oversubscribed = dice.one_in(2);
        let mut limits = Limits::of(
            dice.one_of(&[64 << 10, 64 << 10, 1000, 20_000, 1 << 20]),
            Limit::of(
                dice.one_of(&[32 << 10, 32 << 10, 0, usize::MAX]),
                dice.one_in(4),
            ),
            dice.one_of(&[usize::MAX, 1000, 100_000]),
            dice.one_of(&[usize::MAX, usize::MAX, 1, 8, 50]),
        );
        let offers = dice.one_in(2);
        if offers {
            limits.single_copy = limits.single_copy.learning();
            limits.patience = dice.one_of(&[0, 0, u64::MAX]);
        }
        for engine in &mut engines {
            if offers {
                engine.prefer_reading();
            }
            engine.transport.set_oversubscribed(oversubscribed);
            engine
                .transport
                .pretend(dice.one_of(&[CacheDistance::Shared, CacheDistance::Far]));
            engine.oversubscribed = oversubscribed;
            engine.limits = limits;
            for process in 0..engine.transport.table().size() {
                // Ranks here are one process, which the kernel lets read itself.
                engine.peers.of(process).readable = Some(!dice.one_in(3));
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
                9 if self.dice.one_in(2) => self.cancel_send(at, reached),
                10 if self.dice.one_in(10) => {
                    let from = self.dice.below(self.engines.len());
                    self.engines[at].peers.of(from).readable = Some(false);
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
            if self.dice.one_in(20) {
                self.cancel_send(at, reached);
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
        silent
            && (refuses
                || self
                    .engines
                    .iter()
                    .all(|engine| engine.unexpected.is_empty()))
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
            fate: Fate::Open,
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
                    let sent = engine.send_copy(None, &envelope, data.buffer);
                    sent.expect("there is memory for a copy");
                }
            }
            1 => {
                // MPI_Request_free.
                let index = engine.send(mode, &envelope, data.buffer);
                if self.dice.one_in(4) {
                    engine.cancel_send(index);
                    self.messages[number].fate = Fate::Unknown;
                }
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
                    number,
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
        let index = self.engines[at]
            .receive(key, key.source, 0, data.buffer)
            .unwrap();
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
        let Some((message, status)) = self.engines[at].probe_matched(key, 0) else {
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

    /// Marks a send for cancellation, whatever state it is in.
    fn cancel_send(&mut self, at: usize, reached: &mut Reached) {
        let all: Vec<&Send> = self.sends.iter().filter(|send| send.at == at).collect();
        if all.is_empty() {
            return;
        }
        let send = all[self.dice.below(all.len())];
        let engine = &mut self.engines[at];
        let request = engine.requests.at(send.index);
        let gone = request.moved >= request.eager_part as usize;
        let answer = request.answer;
        engine.cancel_send(send.index);
        let request = engine.requests.at(send.index);
        let complete = request.phase == Phase::Complete;
        let own = request.process as usize == at;
        let name = match (answer, gone, request.answer) {
            _ if complete && own => "cancelled, own",
            (Answer::Refused, ..) => "cancelled, refused",
            _ if complete => "cancelled, queued",
            (Answer::Awaited, true, Answer::Marked) => "marked, eager part gone",
            (Answer::Awaited, false, Answer::Marked) => "marked, eager part queued",
            (Answer::Come, ..) => "not marked, CTS was here",
            _ => return,
        };
        *reached.entry(name).or_default() += 1;
    }

    /// Handles some of the packets that have come in.
    fn handle_some(&mut self, at: usize, reached: &mut Reached) {
        let packets = self.dice.one_of(&[1, 1, 2, 5, 40]);
        for _ in 0..packets {
            let Some(packet) = self.engines[at].transport.peek() else {
                return self.look_at_offers(at, reached);
            };
            if packet.kind == packets::CTS {
                note(&mut self.engines[at], &packet, reached);
            } else if packet.kind == packets::PLACE {
                note_place(&mut self.engines[at], &packet, reached);
            }
            let may_defer = self.dice.one_in(4);
            let engine = &mut self.engines[at];
            let before = engine.unexpected.len();
            if engine.handle(&packet, may_defer) == Handled::Deferred {
                return;
            }
            if packet.kind == packets::CANCEL && engine.unexpected.len() == before {
                *reached.entry("CANCEL finds nothing").or_default() += 1;
            }
            engine.transport.done(&packet);
            self.overwrite(at);
        }
    }

    /// A vain poll: perhaps receivers of offers are late.
    fn look_at_offers(&mut self, at: usize, reached: &mut Reached) {
        let engine = &mut self.engines[at];
        if engine.offers.are_waiting() {
            engine.look_at_offers();
            for process in 0..engine.transport.table().size() {
                // Otherwise few messages were offered to receivers that are late.
                engine.peers.of(process).offers = Receiver::default();
            }
            let name = match engine.offers.are_waiting() {
                true => "offers waited for",
                false => "offers kept",
            };
            *reached.entry(name).or_default() += 1;
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
            let cancelled = engine.requests.at(send.index).status.cancelled();
            engine.requests.release(send.index);
            let message = &mut self.messages[send.number];
            assert!(!cancelled || message.received.is_none());
            message.fate = if cancelled {
                Fate::Cancelled
            } else {
                Fate::Sent
            };
            send.data.memory.fill(OVERWRITTEN);
            // What still reads it reads this.
            self.kept.push(Data {
                memory: std::mem::take(&mut send.data.memory),
                buffer: send.data.buffer,
            });
            false
        });
    }
}
