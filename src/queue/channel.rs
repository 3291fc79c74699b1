//! A channel: the ring and the bulk ring between one pair, as one stream of packets.
//!
//! Invariant: a packet says where the next one's head will be, in the ring or in the bulk ring, so the consumer watches one
//! place only and order needs no counter. After a packet with its payload in the bulk ring that is the bulk ring (large ones
//! follow each other, and their heads then lie next to their data), else the ring.

use super::bulk_ring;
use super::ring::{self, SlotHeader};

/// Flag of a header: the next packet's head is in the bulk ring.
const NEXT_IN_BULK: u8 = 128;
/// Flag of a header in the ring: what does not fit into the head slot is in the bulk ring.
const REST_IN_BULK: u8 = 64;
/// Payloads up to here need no bulk ring.
pub const RING_PAYLOAD: usize = 148;

/// The writing end.
#[derive(Debug)]
pub struct Sender<'m> {
    ring: ring::Producer<'m>,
    bulk: Option<bulk_ring::Producer<'m>>,
    in_bulk: bool,
}

impl<'m> Sender<'m> {
    pub fn new(ring: ring::Producer<'m>) -> Self {
        Self {
            ring,
            bulk: None,
            in_bulk: false,
        }
    }

    /// Takes a fresh bulk ring into use; the consumer must have been told by a packet of at most [`RING_PAYLOAD`] bytes,
    /// just now.
    pub fn set_bulk_ring(&mut self, bulk: bulk_ring::Producer<'m>) {
        debug_assert!(!self.in_bulk);
        self.bulk = Some(bulk);
    }

    pub fn bulk_ring(&self) -> Option<&bulk_ring::Producer<'m>> {
        self.bulk.as_ref()
    }

    /// The ring, if the next packet's head is to lie there: for packets of at most [`RING_PAYLOAD`] bytes.
    #[inline(always)]
    pub fn ring(&mut self) -> Option<&mut ring::Producer<'m>> {
        (!self.in_bulk).then_some(&mut self.ring)
    }

    /// Writes one packet: `fill(offset, piece)` is called for each piece of the payload. False when there is no room, or
    /// no bulk ring for a payload beyond [`RING_PAYLOAD`].
    #[inline(always)]
    pub fn push(&mut self, header: &SlotHeader, fill: impl FnMut(usize, &mut [u8])) -> bool {
        if self.in_bulk || header.length as usize > RING_PAYLOAD {
            let large = header.length as usize > RING_PAYLOAD;
            // Copies for what is not inlined: the usual header stays in registers.
            return self.push_with_bulk(&{ *header }, large, 1, fill);
        }
        self.ring.push(header, fill)
    }

    /// As [`Sender::push`] for a packet that belongs to a larger message: another such message is likely to follow, so
    /// also after a short end of it the next head will be in the bulk ring, at a multiple of `align` slots.
    #[inline(always)]
    pub fn push_part(
        &mut self,
        header: &SlotHeader,
        align: usize,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        self.push_with_bulk(header, true, align, fill)
    }

    #[inline(never)]
    fn push_with_bulk(
        &mut self,
        header: &SlotHeader,
        large: bool,
        align: usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        let Some(bulk) = &mut self.bulk else {
            return false;
        };
        let length = header.length as usize;
        let room = if self.in_bulk {
            bulk_ring::HEAD_PAYLOAD
        } else {
            ring::HEAD_PAYLOAD
        };
        if !self.in_bulk && !self.ring.has_room() {
            return false;
        }
        let Some(stride) = bulk.claim(length, room, align) else {
            return false;
        };
        let mut header = SlotHeader { stride, ..*header };
        if large {
            header.flags |= NEXT_IN_BULK;
        }
        // In both places the head is filled last.
        if self.in_bulk {
            bulk.push(&header, fill);
        } else {
            header.flags |= REST_IN_BULK;
            bulk.push_rest(&header, room, &mut fill);
            self.ring
                .push_head(&header, bulk_ring::in_head(length, room), fill);
        }
        self.in_bulk = large;
        true
    }

    /// Whether the consumer wants data to be held back, as far as this producer has seen at its last check for space.
    #[inline]
    pub fn is_held(&mut self) -> bool {
        self.ring.is_held() || self.bulk.as_mut().is_some_and(bulk_ring::Producer::is_held)
    }

    /// Lets packets pass although data is to be held back, or not any more.
    pub fn pass(&mut self, passes: bool) {
        self.ring.pass(passes);
        if let Some(bulk) = &mut self.bulk {
            bulk.pass(passes);
        }
    }

    /// Announces that this producer found no room and may sleep: the consumer wakes it when it has made some.
    pub fn request_space(&self) {
        self.ring.request_space();
    }
}

/// The reading end.
#[derive(Debug)]
pub struct Receiver<'m> {
    ring: ring::Consumer<'m>,
    bulk: Option<bulk_ring::Consumer<'m>>,
    in_bulk: bool,
}

impl<'m> Receiver<'m> {
    pub fn new(ring: ring::Consumer<'m>) -> Self {
        Self {
            ring,
            bulk: None,
            in_bulk: false,
        }
    }

    /// The receiver's counterpart of [`Sender::set_bulk_ring`].
    pub fn set_bulk_ring(&mut self, bulk: bulk_ring::Consumer<'m>) {
        self.bulk = Some(bulk);
    }

    /// Of the ring: see [`ring::Consumer::has_read_all`].
    pub fn has_read_all(&self) -> bool {
        self.ring.has_read_all()
    }

    pub fn bulk_ring(&self) -> Option<&bulk_ring::Consumer<'m>> {
        self.bulk.as_ref()
    }

    /// The header of the next packet, if it has been committed.
    #[inline(always)]
    pub fn peek(&self) -> Option<SlotHeader> {
        if !self.in_bulk {
            return self.ring.peek();
        }
        self.bulk.as_ref().and_then(bulk_ring::Consumer::peek)
    }

    /// Calls `take(offset, piece)` for the payload of the packet that `peek` showed.
    #[inline(always)]
    pub fn payload(&self, header: &SlotHeader, take: impl FnMut(usize, &[u8])) {
        if self.in_bulk || header.flags & REST_IN_BULK != 0 {
            self.payload_with_bulk(&{ *header }, take);
        } else {
            self.ring.payload(header.length as usize, take);
        }
    }

    #[inline(never)]
    fn payload_with_bulk(&self, header: &SlotHeader, mut take: impl FnMut(usize, &[u8])) {
        let length = header.length as usize;
        match &self.bulk {
            Some(bulk) if self.in_bulk => bulk.payload(length, take),
            Some(bulk) => {
                let here = bulk_ring::in_head(length, ring::HEAD_PAYLOAD);
                self.ring.payload(here, &mut take);
                bulk.rest(length, ring::HEAD_PAYLOAD, &mut take);
            }
            None => no_bulk_ring(header),
        }
    }

    /// Wants the producer to hold data back, or not any more.
    pub fn hold(&self, holds: bool) {
        self.ring.hold(holds);
        if let Some(bulk) = &self.bulk {
            bulk.hold(holds);
        }
    }

    /// The ring, of which a consumer passes over what producers that have died left open.
    pub fn ring(&mut self) -> &mut ring::Consumer<'m> {
        &mut self.ring
    }

    /// Gives the packet that `peek` showed back. True if producers who found no room should be woken.
    #[inline(always)]
    pub fn advance(&mut self, header: &SlotHeader) -> bool {
        if self.in_bulk || header.flags & REST_IN_BULK != 0 {
            self.advance_with_bulk(&{ *header })
        } else {
            self.ring.advance(header.length as usize)
        }
    }

    #[inline(never)]
    fn advance_with_bulk(&mut self, header: &SlotHeader) -> bool {
        let Some(bulk) = &mut self.bulk else {
            no_bulk_ring(header)
        };
        let told = bulk.advance(header.stride);
        let told_by_ring = !self.in_bulk && self.ring.advance(ring::HEAD_PAYLOAD);
        self.in_bulk = header.flags & NEXT_IN_BULK != 0;
        told_by_ring || told && self.ring.is_space_wanted()
    }
}

#[cold]
#[inline(never)]
fn no_bulk_ring(header: &SlotHeader) -> ! {
    panic!(
        "process {} sent a packet in a bulk ring that it has not announced",
        header.origin
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn pattern(tag: i32, offset: usize) -> u8 {
        (tag as usize * 31 + offset * 7 + offset / 251) as u8
    }

    fn send(sender: &mut Sender<'_>, length: usize, tag: i32) -> bool {
        let header = SlotHeader {
            length: length as u16,
            tag,
            ..SlotHeader::default()
        };
        let fill = |offset: usize, piece: &mut [u8]| {
            for (i, byte) in piece.iter_mut().enumerate() {
                *byte = pattern(tag, offset + i);
            }
        };
        if tag % 7 == 6 {
            sender.push_part(&header, 1 << (tag % 3), fill)
        } else {
            sender.push(&header, fill)
        }
    }

    fn receive(receiver: &mut Receiver<'_>) -> Option<(i32, usize)> {
        let header = receiver.peek()?;
        let mut seen = 0;
        receiver.payload(&header, |offset, piece| {
            assert_eq!(offset, seen);
            for (i, byte) in piece.iter().enumerate() {
                assert_eq!(*byte, pattern(header.tag, offset + i));
            }
            seen += piece.len();
        });
        assert_eq!(seen, header.length as usize);
        receiver.advance(&header);
        Some((header.tag, seen))
    }

    fn length(tag: i32) -> usize {
        // Miri takes a microsecond for each byte's step.
        const LONGEST: usize = match cfg!(miri) {
            true => 6_000,
            false => bulk_ring::LONGEST_PAYLOAD,
        };
        match tag % 5 {
            0 => tag as usize % 9,
            1 => tag as usize * 37 % (RING_PAYLOAD + 1),
            2 => RING_PAYLOAD + 1 + tag as usize % 3,
            _ => tag as usize * 977 % (LONGEST + 1),
        }
    }

    #[test]
    fn packets_of_all_lengths_keep_their_order_over_many_laps() {
        const PACKETS: i32 = if cfg!(miri) { 20 } else { 20_000 };
        let (mut control, mut ring_slots) = ring::fresh(32);
        let (ring_in, ring_out) = ring::ends(&mut control, &mut ring_slots);
        let (mut bulk_control, mut slots) = bulk_ring::fresh(bulk_ring::LEAST_SLOTS + 2);
        let (bulk_in, bulk_out) = bulk_ring::ends(&mut bulk_control, &mut slots);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = Sender::new(ring_in);
                assert!(
                    !send(&mut sender, RING_PAYLOAD + 1, 0),
                    "there is no bulk ring"
                );
                assert!(send(&mut sender, 8, 0));
                sender.set_bulk_ring(bulk_in);
                for tag in 1..PACKETS {
                    while !send(&mut sender, length(tag), tag) {
                        std::thread::yield_now();
                    }
                }
            });
            let mut receiver = Receiver::new(ring_out);
            let mut bulk_out = Some(bulk_out);
            for tag in 0..PACKETS {
                let got = loop {
                    match receive(&mut receiver) {
                        Some(got) => break got,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(got, (tag, if tag == 0 { 8 } else { length(tag) }));
                if let Some(bulk) = bulk_out.take() {
                    receiver.set_bulk_ring(bulk);
                }
            }
            assert!(receiver.peek().is_none());
        });
    }

    #[test]
    fn a_full_bulk_ring_refuses_until_slots_come_back() {
        let (mut control, mut ring_slots) = ring::fresh(32);
        let (ring_in, ring_out) = ring::ends(&mut control, &mut ring_slots);
        let (mut bulk_control, mut slots) = bulk_ring::fresh(bulk_ring::LEAST_SLOTS);
        let (bulk_in, bulk_out) = bulk_ring::ends(&mut bulk_control, &mut slots);
        let mut sender = Sender::new(ring_in);
        sender.set_bulk_ring(bulk_in);
        let mut receiver = Receiver::new(ring_out);
        receiver.set_bulk_ring(bulk_out);
        for tag in 0..5 {
            assert!(send(&mut sender, 1000, tag));
        }
        assert!(
            !send(&mut sender, 8, 9),
            "its head would be in the bulk ring"
        );
        sender.request_space();
        assert_eq!(receive(&mut receiver).unwrap().0, 0);
        let header = receiver.peek().unwrap();
        assert!(
            receiver.advance(&header),
            "room was made and a producer wants it"
        );
        assert!(send(&mut sender, 8, 5));
        for tag in 2..6 {
            assert_eq!(receive(&mut receiver).unwrap().0, tag);
        }
    }
}
