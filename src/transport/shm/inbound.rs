//! The rings by which packets come in to one engine: the inbox, and those that peers have announced.
//!
//! Invariant: from a packet that was shown until it is given back, `turn` is its ring; the first ring is the inbox.

use super::layout::Segment;
use super::outbound::KIND_BULK_RING;
use crate::queue::channel::Receiver;
use crate::queue::ring::{Consumer, SlotHeader};

struct Source {
    channel: Receiver<'static>,
    /// Index of the only producer; `None`: the inbox.
    origin: Option<usize>,
}

/// See the module.
pub struct Inbound {
    sources: Vec<Source>,
    turn: usize,
}

/// Where an announced ring is, and its slots.
pub struct Announced {
    offset: usize,
    slots: usize,
}

impl Inbound {
    pub fn new(inbox: Consumer<'static>) -> Self {
        Self {
            sources: vec![Source {
                channel: Receiver::new(inbox),
                origin: None,
            }],
            turn: 0,
        }
    }

    /// The inbox's ring.
    pub fn inbox(&mut self) -> &mut Consumer<'static> {
        self.sources[0].channel.ring()
    }

    /// Whether all packets of the inbox were read that their senders have begun. Other rings have one sender each.
    pub fn has_read_all(&self) -> bool {
        self.sources[0].channel.has_read_all()
    }

    /// The next packet, also one that announces a ring; from rings in turn.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<SlotHeader> {
        let mut turn = self.turn;
        for _ in 0..self.sources.len() {
            if let Some(header) = self.sources[turn].channel.peek() {
                self.turn = turn;
                return Some(header);
            }
            turn += 1;
            if turn == self.sources.len() {
                turn = 0;
            }
        }
        None
    }

    #[inline(always)]
    pub fn payload(&self, header: &SlotHeader, take: impl FnMut(usize, &[u8])) {
        self.sources[self.turn].channel.payload(header, take);
    }

    /// Gives the packet that was shown back to its ring. True if producers who found no room should be woken.
    #[inline(always)]
    pub fn done(&mut self, header: &SlotHeader) -> bool {
        self.sources[self.turn].channel.advance(header)
    }

    /// The only producer of the ring in turn; `None`: all have the inbox.
    #[inline(always)]
    pub fn origin(&self) -> Option<usize> {
        self.sources[self.turn].origin
    }

    /// What the packet that was shown announces.
    pub fn announced(&self, header: &SlotHeader) -> Announced {
        let mut words = [[0u8; 8]; 2];
        self.payload(header, |offset, piece| {
            let bytes = words.as_flattened_mut();
            for (to, from) in bytes.iter_mut().skip(offset).zip(piece) {
                *to = *from;
            }
        });
        let [offset, slots] = words.map(|word| u64::from_ne_bytes(word) as usize);
        Announced { offset, slots }
    }

    /// Takes what was announced into use, by a packet that has gone back to its ring, which is still that in turn.
    pub fn accept(
        &mut self,
        segment: Segment<'static>,
        header: &SlotHeader,
        Announced { offset, slots }: Announced,
    ) {
        let origin = header.origin;
        let accepted = if header.kind == KIND_BULK_RING {
            segment.bulk_ring(offset, slots).map(|ring| {
                let channel = &mut self.sources[self.turn].channel;
                // SAFETY: the sender announces a fresh bulk ring once, to this end.
                channel.set_bulk_ring(unsafe { ring.consumer() });
            })
        } else {
            segment.private(offset).map(|ring| {
                // SAFETY: the sender announces a fresh ring once, to this end.
                let consumer = unsafe { ring.consumer() };
                self.sources.push(Source {
                    channel: Receiver::new(consumer),
                    origin: Some(origin as usize),
                });
            })
        };
        assert!(
            accepted.is_some(),
            "rank {origin} announced memory at {offset}, where there is none"
        );
    }

    /// Wants whoever the packet that was shown is from to hold data back.
    pub fn hold(&self) {
        self.sources[self.turn].channel.hold(true);
    }

    /// Takes that back; `from_all`: also in the inbox.
    pub fn end_hold(&self, origin: usize, from_all: bool) {
        for source in &self.sources {
            if source.origin.map_or(from_all, |one| one == origin) {
                source.channel.hold(false);
            }
        }
    }
}
