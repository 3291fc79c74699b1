//! Bulk ring: slots of 5 KB between one producer and one consumer, for packets too large for a ring's slots.
//!
//! A packet takes one slot or a few that follow each other, without a gap between its bytes. In its first line are the sequence
//! number, the header and 40 bytes of payload, so that a small packet is one line and a larger one lies behind the line that
//! its reader polls: hardware fetches it along. A header says how many slots further the next one is. Invariant: no payload is
//! ever taken for a sequence number, because a slot in whose first line payload lay gets its number cleared before a packet is
//! committed whose successor begins there; slots in `done..tail` belong to the producer until the packet's head has its
//! sequence number, then to the consumer until `done` is published beyond them. The last slots take only the ends of packets,
//! so that none is cut in two.
//!
//! Where cores share a cache, a line that neither core's own cache has is much cheaper to write than one that the reader still
//! holds (benches/RESULTS.md), so a bulk ring is larger than those caches, and a packet leaves a kilobyte before the next slot,
//! or the reader's prefetcher takes the lines that are to be written next. Packets written with non-temporal stores are best
//! without gaps, for the reader's prefetcher again; but a sequence number that has to be cleared costs what a gap does, so
//! larger packets begin at multiples of their size ([`Producer::claim`]), where no payload comes to lie.

use super::ring::{HEADER_BYTES, SlotHeader};
use super::shape::{self, shape};
use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 5120;
/// Payload bytes in a packet's first line.
pub const HEAD_PAYLOAD: usize = 40;
/// Payload bytes behind a slot's first line.
pub const SLOT_DATA: usize = SLOT_BYTES - 64;
/// Slots of a packet, at most.
pub const MOST_SLOTS: usize = 4;
/// The longest payload of a packet, wherever its head lies.
pub const LONGEST_PAYLOAD: usize = MOST_SLOTS * SLOT_BYTES - 64;
/// Slots at the end of a bulk ring in which no packet begins.
pub const END_SLOTS: usize = MOST_SLOTS - 1;
/// Slots of the smallest bulk ring: the longest packet and the slot behind it, while a quarter has not been published as free.
pub const LEAST_SLOTS: usize = 6 + END_SLOTS;
/// Slots from which on a bulk ring can afford gaps that align larger packets.
const ROOMY: usize = 64;

/// One slot in shared memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Slot {
    sequence: AtomicU32,
    head: UnsafeCell<[u8; 60]>,
    data: UnsafeCell<[u8; SLOT_DATA]>,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot>() == SLOT_BYTES && HEADER_BYTES + HEAD_PAYLOAD == 60);

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Slot {
        sequence,
        head,
        data
    }),
    shape!(Control { done, hold, _rest }),
]);

// SAFETY: `head` and `data` are written by the one producer that claimed the slot and read by the consumer after the sequence number.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

/// Counters before the slots.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Control {
    /// Slots that the consumer has given back, in all.
    done: AtomicU32,
    /// As of a ring.
    hold: AtomicU32,
    _rest: [u8; 56],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 64);

/// Memory of a bulk ring; its ends are made from it. A fresh one is all zero.
#[derive(Debug)]
pub struct BulkRing<'m> {
    control: &'m Control,
    slots: &'m [Slot],
}

/// Fresh memory for a bulk ring of so many slots.
#[cfg(any(test, loom))]
pub fn fresh(slots: usize) -> (Box<Control>, Vec<Slot>) {
    let control = Control {
        done: AtomicU32::new(0),
        hold: AtomicU32::new(0),
        _rest: [0; 56],
    };
    let slots = (0..slots)
        .map(|_| Slot {
            sequence: AtomicU32::new(0),
            head: UnsafeCell::new([0; 60]),
            data: UnsafeCell::new([0; SLOT_DATA]),
        })
        .collect();
    (Box::new(control), slots)
}

/// Both ends of a fresh bulk ring that nobody else can reach.
#[cfg(any(test, loom))]
pub fn ends<'m>(control: &'m mut Control, slots: &'m mut [Slot]) -> (Producer<'m>, Consumer<'m>) {
    let ring = BulkRing::new(control, slots);
    // SAFETY: the memory is borrowed exclusively, so there are no other ends.
    unsafe { (ring.producer(), ring.consumer()) }
}

/// How much of a payload lies in a head that has room for `room` bytes: all, or what makes the rest whole lines, so that
/// large copies have the same alignment on both sides.
#[inline]
pub fn in_head(length: usize, room: usize) -> usize {
    if length <= room {
        return length;
    }
    let odd = length % 64;
    if odd <= room { odd } else { 0 }
}

/// How many slots a packet takes whose head has room for `room` bytes of its payload.
#[inline]
fn slots_for(length: usize, room: usize) -> usize {
    (64 + length - in_head(length, room)).div_ceil(SLOT_BYTES)
}

impl<'m> BulkRing<'m> {
    pub fn new(control: &'m Control, slots: &'m [Slot]) -> Self {
        assert!(slots.len() >= LEAST_SLOTS);
        Self { control, slots }
    }

    /// The producer of a fresh bulk ring.
    ///
    /// # Safety
    /// No other producer of this bulk ring exists, in any process, nor existed before.
    pub unsafe fn producer(&self) -> Producer<'m> {
        Producer {
            ring: self.view(),
            tail: 0,
            index: 0,
            done_seen: 0,
            held: false,
            passes: false,
            covered: vec![0; self.heads().div_ceil(64)],
        }
    }

    /// The consumer of a fresh bulk ring.
    ///
    /// # Safety
    /// No other consumer of this bulk ring exists, in any process, nor existed before.
    pub unsafe fn consumer(&self) -> Consumer<'m> {
        Consumer {
            ring: self.view(),
            head: 0,
            index: 0,
            published: 0,
        }
    }

    /// The memory once more, for one of its ends.
    fn view(&self) -> BulkRing<'m> {
        BulkRing {
            control: self.control,
            slots: self.slots,
        }
    }

    /// Slots in which a packet can begin.
    #[inline]
    fn heads(&self) -> usize {
        self.slots.len() - END_SLOTS
    }

    /// Where the next packet begins after one of so many slots, and how many of the slots up to there count.
    #[inline]
    fn after(&self, index: usize, slots: usize) -> (usize, u32) {
        let heads = self.heads();
        if index + slots < heads {
            (index + slots, slots as u32)
        } else {
            (0, (heads - index) as u32)
        }
    }

    /// The bytes behind the first line of a packet that begins at `index`.
    #[inline]
    fn with_data<R>(&self, index: usize, bytes: usize, visit: impl FnOnce(*mut u8) -> R) -> R {
        #[cfg(loom)]
        {
            assert!(bytes <= SLOT_DATA);
            self.slots[index].data.with_mut(|data| visit(data.cast()))
        }
        #[cfg(not(loom))]
        {
            assert!(index < self.heads() && bytes <= MOST_SLOTS * SLOT_BYTES - 64);
            visit(
                self.slots
                    .as_ptr()
                    .wrapping_add(index)
                    .cast_mut()
                    .cast::<u8>()
                    .wrapping_add(64),
            )
        }
    }
}

/// The writing end.
#[derive(Debug)]
pub struct Producer<'m> {
    ring: BulkRing<'m>,
    /// Slots filled, in all.
    tail: u32,
    index: usize,
    done_seen: u32,
    /// As in [`super::ring::Producer`].
    held: bool,
    passes: bool,
    /// A bit for each slot in whose first line payload may lie.
    covered: Vec<u64>,
}

impl Producer<'_> {
    /// Makes sure of room for a packet whose head has room for `room` bytes of its payload. Returns its stride: slots up
    /// to the next head, which lies at a multiple of `align` slots where the bulk ring is large enough.
    #[inline]
    pub fn claim(&mut self, length: usize, room: usize, align: usize) -> Option<u8> {
        let heads = self.ring.heads();
        let slots = slots_for(length, room);
        let stride = if heads < ROOMY {
            slots
        } else {
            (self.index + slots).next_multiple_of(align) - self.index
        };
        // The slot behind also: its sequence number may have to be cleared.
        let tail = self.tail.wrapping_add(stride as u32 + 1);
        if tail.wrapping_sub(self.done_seen) > heads as u32 {
            // Acquire: pairs with `Consumer::advance`; the consumer is done with what lies before.
            self.done_seen = self.ring.control.done.load(Ordering::Acquire);
            if self.check_hold() && !self.passes {
                self.close();
                return None;
            }
            if tail.wrapping_sub(self.done_seen) > heads as u32 {
                return None;
            }
        }
        Some(stride as u8)
    }

    fn close(&mut self) {
        self.done_seen = self.tail.wrapping_sub(self.ring.heads() as u32);
    }

    /// As [`super::ring::Producer::pass`].
    pub fn pass(&mut self, passes: bool) {
        self.passes = passes;
        if self.held && !passes {
            self.close();
        }
    }

    fn check_hold(&mut self) -> bool {
        self.held = self.ring.control.hold.load(Ordering::Relaxed) != 0;
        self.held
    }

    /// As [`super::ring::Producer::is_held`].
    #[inline]
    pub fn is_held(&mut self) -> bool {
        self.held && self.check_hold()
    }

    /// Writes a packet that was claimed, with the stride in its header; its head is the next slot. `fill` is
    /// called for the head last.
    #[inline]
    pub fn push(&mut self, header: &SlotHeader, mut fill: impl FnMut(usize, &mut [u8])) {
        let length = header.length as usize;
        let (tail, index) = (self.tail, self.index);
        // Before the head: the consumer watches that line, and would take it away between two stores.
        self.push_rest(header, HEAD_PAYLOAD, &mut fill);
        let slot = &self.ring.slots[index];
        slot.head.with_mut(|head| {
            // SAFETY: the claimed slot is this producer's until it has its sequence number; `SlotHeader` is 20 bytes with alignment 4,
            // which the head has; the payload lies behind it.
            unsafe {
                let piece = std::slice::from_raw_parts_mut(
                    head.cast::<u8>().add(HEADER_BYTES),
                    in_head(length, HEAD_PAYLOAD),
                );
                fill(0, piece);
                head.cast::<SlotHeader>().write(*header);
            }
        });
        // Commit. Release: pairs with the Acquire of `Consumer::peek`.
        slot.sequence.store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Writes what of a claimed packet is not in a head with room for `room` bytes, which is committed afterwards.
    #[inline]
    pub fn push_rest(
        &mut self,
        header: &SlotHeader,
        room: usize,
        fill: &mut impl FnMut(usize, &mut [u8]),
    ) {
        let length = header.length as usize;
        let here = in_head(length, room);
        let index = self.index;
        let (next, counted) = self.ring.after(index, header.stride.into());
        self.uncover(next, self.tail.wrapping_add(counted));
        if here < length {
            self.ring.with_data(index, length - here, |data| {
                // SAFETY: `claim` got these slots for this producer, and none lies behind the last one.
                let piece = unsafe { std::slice::from_raw_parts_mut(data, length - here) };
                fill(here, piece);
            });
        }
        self.cover(index, slots_for(length, room));
        self.tail = self.tail.wrapping_add(counted);
        self.index = next;
    }

    /// Clears what could be taken for the sequence number of the packet at this position, which the consumer will poll for.
    #[inline]
    fn uncover(&mut self, index: usize, position: u32) {
        let (word, bit) = (index / 64, 1 << (index % 64));
        if self.covered[word] & bit != 0 {
            self.covered[word] &= !bit;
            self.ring.slots[index]
                .sequence
                .store(position, Ordering::Relaxed);
        }
    }

    /// Notes in whose first lines payload lies now.
    #[inline]
    fn cover(&mut self, index: usize, slots: usize) {
        for index in index + 1..(index + slots).min(self.ring.heads()) {
            self.covered[index / 64] |= 1 << (index % 64);
        }
    }
}

/// The reading end.
#[derive(Debug)]
pub struct Consumer<'m> {
    ring: BulkRing<'m>,
    /// Slots taken, in all.
    head: u32,
    index: usize,
    published: u32,
}

impl Consumer<'_> {
    /// The header of the packet whose head is the next slot, if it has been committed.
    #[inline]
    pub fn peek(&self) -> Option<SlotHeader> {
        let slot = &self.ring.slots[self.index];
        // Acquire: pairs with the commit in `Producer::push`.
        if slot.sequence.load(Ordering::Acquire) != self.head.wrapping_add(1) {
            return None;
        }
        // SAFETY: the sequence number says that the producer is done with this packet; it is ours until `advance`.
        let header = slot
            .head
            .with(|head| unsafe { head.cast::<SlotHeader>().read() });
        Some(header)
    }

    /// Calls `take(offset, piece)` for the payload of the packet that `peek` showed.
    #[inline]
    pub fn payload(&self, length: usize, mut take: impl FnMut(usize, &[u8])) {
        let here = in_head(length, HEAD_PAYLOAD);
        if here > 0 {
            self.ring.slots[self.index].head.with(|head| {
                // SAFETY: a committed packet belongs to the consumer; the piece lies inside the head.
                let piece = unsafe {
                    std::slice::from_raw_parts(head.cast::<u8>().add(HEADER_BYTES), here)
                };
                take(0, piece);
            });
        }
        self.rest(length, HEAD_PAYLOAD, &mut take);
    }

    /// Calls `take(offset, piece)` for the payload that is not in a head with room for `room` bytes; a length that no
    /// producer can have written (a corrupted peer) is cut.
    #[inline]
    pub fn rest(&self, length: usize, room: usize, take: &mut impl FnMut(usize, &[u8])) {
        let length = length.min(in_head(length, room) + LONGEST_PAYLOAD);
        let here = in_head(length, room);
        if here < length {
            self.ring.with_data(self.index, length - here, |data| {
                // SAFETY: as in `payload`; the packet's slots end where the bulk ring does, at the latest.
                let piece = unsafe { std::slice::from_raw_parts(data.cast_const(), length - here) };
                take(here, piece);
            });
        }
    }

    /// Gives the slots of a packet with this stride back. Returns whether that was published just now.
    #[inline]
    pub fn advance(&mut self, stride: u8) -> bool {
        let (index, counted) = self.ring.after(self.index, stride.into());
        self.head = self.head.wrapping_add(counted);
        self.index = index;
        // Publishing costs the producer a cache miss, so it is done four times a lap.
        if self.head.wrapping_sub(self.published) as usize * 4 < self.ring.heads() {
            return false;
        }
        self.published = self.head;
        // Release: pairs with the Acquire in `Producer::claim`.
        self.ring.control.done.store(self.head, Ordering::Release);
        true
    }

    /// As of a ring's consumer.
    pub fn hold(&self, holds: bool) {
        let hold = &self.ring.control.hold;
        if (hold.load(Ordering::Relaxed) != 0) != holds {
            hold.store(holds.into(), Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn payload_is_never_taken_for_a_sequence_number() {
        const PACKETS: usize = if cfg!(miri) { 6 } else { 5_000 };
        for slots in [LEAST_SLOTS, LEAST_SLOTS + 3, ROOMY + END_SLOTS + 1] {
            let (mut control, mut slots) = fresh(slots);
            let (mut producer, mut consumer) = ends(&mut control, &mut slots);
            let heads = producer.ring.heads() as u32;
            let mut state = 1u32;
            for _ in 0..PACKETS {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let length = (state >> 8) as usize % (LONGEST_PAYLOAD + 1);
                let align = 1 + (state >> 28) as usize % 4;
                let stride = producer.claim(length, HEAD_PAYLOAD, align).unwrap();
                let header = SlotHeader {
                    length: length as u16,
                    stride,
                    ..SlotHeader::default()
                };
                let first = producer.tail;
                producer.push(&header, |offset, piece| {
                    // Each word is the sequence number that its slot will be polled for on the next lap.
                    let line = if offset < HEAD_PAYLOAD { 0 } else { 64 };
                    for (word, bytes) in piece.chunks_mut(4).enumerate() {
                        let slot = (line + 4 * word) / SLOT_BYTES;
                        let sequence = first + slot as u32 + heads + 1;
                        bytes.copy_from_slice(&sequence.to_ne_bytes()[..bytes.len()]);
                    }
                });
                assert_eq!(consumer.peek(), Some(header));
                consumer.advance(stride);
                assert_eq!(consumer.peek(), None, "after a packet of {length} bytes");
            }
        }
    }
}
