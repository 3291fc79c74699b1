//! A ring of 32-byte slots: one consumer, and either one producer or many.
//!
//! A packet is one *head* slot (header and 8 bytes) and continuation slots (28 bytes each). A slot's first word is its sequence
//! number: the position it was filled for, plus one. Only heads get one and the consumer never writes a slot, so a continuation
//! slot keeps an old number and can never be taken for a head. Invariant: slots in `head..tail` belong to their producer until
//! the head has its sequence number, then to the consumer until `head` is published beyond them.
//!
//! A producer that shares the ring may die between its claim and the sequence number. So it says in memory of its own what it is about
//! to claim ([`Claim`]), and the consumer passes over the slots of the dead ([`Consumer::abandoned`]).

use super::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell, fence};

/// Bytes of a slot: half a cache line, so that a message of one word costs half a transfer where messages follow each
/// other, and one where they do not.
pub const SLOT_BYTES: usize = 32;
/// Payload bytes in a packet's first slot.
pub const HEAD_PAYLOAD: usize = 8;
/// Payload bytes in each further slot.
pub const NEXT_PAYLOAD: usize = BODY_BYTES;
const BODY_BYTES: usize = 28;
/// Distance from the tail, in slots, at which a producer prefetches lines.
const AHEAD: u32 = 4;
pub const HEADER_BYTES: usize = 20;

/// What travels in front of every message. `context` has the 16-bit context id in its low half; `source` is the
/// sender's rank in that communicator, `origin` its index on the node; `length` counts the payload bytes. `stride` is of a
/// packet with slots in a bulk ring ([`super::bulk_ring`]): how many there are up to the next head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SlotHeader {
    pub kind: u8,
    pub flags: u8,
    /// Zero; without it there would be a hole.
    pub reserved: u8,
    pub stride: u8,
    pub context: u32,
    pub tag: i32,
    pub source: i32,
    pub length: u16,
    pub origin: u16,
}

const _: () = assert!(size_of::<SlotHeader>() == HEADER_BYTES);

/// One slot in shared memory.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Slot {
    sequence: AtomicU32,
    body: UnsafeCell<[u8; BODY_BYTES]>,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot>() == SLOT_BYTES);

// SAFETY: `body` is written by the one producer that claimed the slot and read by the consumer after the sequence number.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

/// The counters of a ring, each on a cache line of its own: `tail` is the producers', the rest the consumer's.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Control {
    tail: AtomicU32,
    _apart: [u8; 60],
    head: AtomicU32,
    wants_space: AtomicU32,
    /// The consumer wants producers to hold data back until it asks for it.
    hold: AtomicU32,
    _rest: [u8; 52],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 128);

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(SlotHeader {
        kind,
        flags,
        reserved,
        stride,
        context,
        tag,
        source,
        length,
        origin
    }),
    shape!(Slot { sequence, body }),
    size_of::<Claim>() as u64,
    shape!(Control {
        tail,
        _apart,
        head,
        wants_space,
        hold,
        _rest
    }),
]);

/// What a producer claims of a shared ring, told before the ring's counter moves: position, ring and number of slots in one word.
#[derive(Debug)]
#[repr(transparent)]
pub struct Claim(AtomicU64);

/// A [`Claim`] as it was read; no slots: none was ever made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    position: u32,
    ring: u16,
    slots: u16,
}

impl Claim {
    #[cfg(any(test, loom))]
    pub fn fresh() -> Self {
        Claim(AtomicU64::new(0))
    }

    #[inline]
    fn tell(&self, position: u32, ring: u16, slots: u32) {
        let word = u64::from(position) << 32 | u64::from(ring) << 16 | u64::from(slots as u16);
        // Release: pairs with `read`. A claim that has taken the place of one before says that that packet was committed.
        self.0.store(word, Ordering::Release);
    }

    pub fn read(&self) -> Claimed {
        let word = self.0.load(Ordering::Acquire);
        Claimed {
            position: (word >> 32) as u32,
            ring: (word >> 16) as u16,
            slots: word as u16,
        }
    }
}

/// Where a ring is; its ends are made of it. A fresh ring is all zero.
#[derive(Debug)]
pub struct Ring<'m> {
    control: &'m Control,
    slots: &'m [Slot],
}

/// Fresh memory for a ring of so many slots.
#[cfg(any(test, loom))]
pub fn fresh(slots: usize) -> (Box<Control>, Vec<Slot>) {
    let control = Control {
        tail: AtomicU32::new(0),
        _apart: [0; 60],
        head: AtomicU32::new(0),
        wants_space: AtomicU32::new(0),
        hold: AtomicU32::new(0),
        _rest: [0; 52],
    };
    let slots = (0..slots)
        .map(|_| Slot {
            sequence: AtomicU32::new(0),
            body: UnsafeCell::new([0; BODY_BYTES]),
        })
        .collect();
    (Box::new(control), slots)
}

/// Both ends of a fresh ring that nobody else can reach.
#[cfg(any(test, loom))]
pub fn ends<'m>(control: &'m mut Control, slots: &'m mut [Slot]) -> (Producer<'m>, Consumer<'m>) {
    let ring = Ring::new(control, slots);
    // SAFETY: the memory is borrowed exclusively, so there are no other ends.
    unsafe { (ring.sole_producer(), ring.consumer()) }
}

/// A fresh ring for many producers that nobody else can reach, and its consumer.
#[cfg(any(test, loom))]
pub fn shared<'m>(control: &'m mut Control, slots: &'m mut [Slot]) -> (Ring<'m>, Consumer<'m>) {
    let ring = Ring::new(control, slots);
    // SAFETY: as in `ends`.
    let consumer = unsafe { ring.consumer() };
    (ring, consumer)
}

/// How many slots a packet with this payload takes.
#[inline]
pub fn slots_for(payload: usize) -> u32 {
    if payload <= HEAD_PAYLOAD {
        1
    } else {
        1 + (payload - HEAD_PAYLOAD).div_ceil(NEXT_PAYLOAD) as u32
    }
}

impl<'m> Ring<'m> {
    /// A ring over counters and slots; their number must be a power of two.
    pub fn new(control: &'m Control, slots: &'m [Slot]) -> Self {
        assert!(slots.len().is_power_of_two());
        Self { control, slots }
    }

    /// A producer that shares the ring with others. Before it claims slots it says so in `claim`, which no other producer writes
    /// meanwhile, by the number of this ring.
    pub fn producer(&self, claim: &'m Claim, number: u16) -> Producer<'m> {
        self.end(Some((claim, number)))
    }

    /// The only producer of the ring, which writes without compare-and-swap.
    ///
    /// # Safety
    /// No other producer of this ring exists, in any process, as long as this one does.
    pub unsafe fn sole_producer(&self) -> Producer<'m> {
        self.end(None)
    }

    fn end(&self, shared: Option<(&'m Claim, u16)>) -> Producer<'m> {
        Producer {
            ring: self.view(),
            tail: self.control.tail.load(Ordering::Relaxed),
            head_seen: self.control.head.load(Ordering::Acquire),
            held: false,
            passes: false,
            shared,
        }
    }

    /// The consumer.
    ///
    /// # Safety
    /// No other consumer of this ring exists, in any process, as long as this one does.
    pub unsafe fn consumer(&self) -> Consumer<'m> {
        let head = self.control.head.load(Ordering::Relaxed);
        Consumer {
            ring: self.view(),
            head,
            published: head,
        }
    }

    /// The longest payload of one packet: half a ring, so that a packet always fits once the consumer has caught up.
    pub fn longest_payload(&self) -> usize {
        HEAD_PAYLOAD + (self.slots.len() / 2 - 1) * NEXT_PAYLOAD
    }

    /// The place once more, for one of its ends.
    fn view(&self) -> Ring<'m> {
        Ring {
            control: self.control,
            slots: self.slots,
        }
    }

    #[inline(always)]
    fn slot(&self, position: u32) -> &'m Slot {
        let index = position as usize & (self.slots.len() - 1);
        // SAFETY: the mask keeps the index below the length, a power of two.
        unsafe { self.slots.get_unchecked(index) }
    }

    #[inline(always)]
    fn fits(&self, tail: u32, slots: u32, head: u32) -> bool {
        tail.wrapping_add(slots).wrapping_sub(head) <= self.slots.len() as u32
    }
}

/// The writing end.
#[derive(Debug)]
pub struct Producer<'m> {
    ring: Ring<'m>,
    tail: u32,
    head_seen: u32,
    /// Whether the consumer wanted data to be held back at the last check.
    held: bool,
    passes: bool,
    /// Where it says what it claims, and of which ring; `None`: the only producer.
    shared: Option<(&'m Claim, u16)>,
}

impl<'m> Producer<'m> {
    /// Writes one packet: `fill(offset, piece)` is called for each piece of the payload. False when the ring is full.
    #[inline(always)]
    pub fn push(&mut self, header: &SlotHeader, mut fill: impl FnMut(usize, &mut [u8])) -> bool {
        let length = header.length as usize;
        let slots = slots_for(length);
        let Some(position) = self.claim(slots) else {
            return false;
        };
        if slots > 1 {
            // Before the head: the consumer watches that line, and would take it away between two stores.
            self.fill_rest(position, length, &mut fill);
        }
        self.commit(position, header, length.min(HEAD_PAYLOAD), fill);
        true
    }

    /// Writes a packet of whose payload only the first `here` bytes lie in the head slot, the others elsewhere;
    /// [`Producer::has_room`] has said yes.
    #[inline]
    pub fn push_head(
        &mut self,
        header: &SlotHeader,
        here: usize,
        fill: impl FnMut(usize, &mut [u8]),
    ) {
        if let Some(position) = self.claim(1) {
            self.commit(position, header, here, fill);
        }
    }

    /// Whether an exclusive producer has room for a head slot.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        debug_assert!(self.shared.is_none());
        self.fits_after_refresh(1)
    }

    #[inline(always)]
    fn commit(
        &mut self,
        position: u32,
        header: &SlotHeader,
        here: usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) {
        let head = self.ring.slot(position);
        head.body.with_mut(|body| {
            // SAFETY: the claimed slot is this producer's until it has its sequence number; `SlotHeader` is 20 bytes with alignment 4,
            // which a slot's body has; the first piece lies behind it.
            unsafe {
                let piece =
                    std::slice::from_raw_parts_mut(body.cast::<u8>().add(HEADER_BYTES), here);
                fill(0, piece);
                body.cast::<SlotHeader>().write(*header);
            }
        });
        // Commit. Release: pairs with the Acquire of `Consumer::peek`.
        head.sequence
            .store(position.wrapping_add(1), Ordering::Release);
    }

    #[inline(never)]
    fn fill_rest(&self, position: u32, length: usize, fill: &mut impl FnMut(usize, &mut [u8])) {
        let (mut offset, mut position) = (HEAD_PAYLOAD, position);
        while offset < length {
            position = position.wrapping_add(1);
            let bytes = (length - offset).min(NEXT_PAYLOAD);
            self.ring.slot(position).body.with_mut(|body| {
                // SAFETY: the claimed slot is this producer's; its sequence number is left alone.
                let piece = unsafe { std::slice::from_raw_parts_mut(body.cast::<u8>(), bytes) };
                fill(offset, piece);
            });
            offset += bytes;
        }
    }

    #[inline(always)]
    fn claim(&mut self, slots: u32) -> Option<u32> {
        if let Some((claim, number)) = self.shared {
            return self.claim_shared(claim, number, slots);
        }
        if !self.fits_after_refresh(slots) {
            return None;
        }
        let position = self.tail;
        self.tail = position.wrapping_add(slots);
        Some(position)
    }

    #[inline(always)]
    fn fits_after_refresh(&mut self, slots: u32) -> bool {
        if self.ring.fits(self.tail, slots, self.head_seen) {
            return true;
        }
        // Acquire: pairs with `Consumer::publish`; the consumer is done with what lies before.
        self.head_seen = self.ring.control.head.load(Ordering::Acquire);
        if self.check_hold() && !self.passes {
            self.close(self.tail);
            return false;
        }
        self.ring.fits(self.tail, slots, self.head_seen)
    }

    /// Makes every push read the consumer's position again.
    fn close(&mut self, tail: u32) {
        self.head_seen = tail.wrapping_sub(self.ring.slots.len() as u32);
    }

    /// Lets pushes pass a hold, or not any more. Otherwise a held ring has no room.
    pub fn pass(&mut self, passes: bool) {
        self.passes = passes;
        if self.held && !passes {
            let tail = match self.shared {
                None => self.tail,
                Some(_) => self.ring.control.tail.load(Ordering::Relaxed),
            };
            self.close(tail);
        }
    }

    /// Whether the consumer wants data to be held back. In the line of `head`, which has just come.
    fn check_hold(&mut self) -> bool {
        self.held = self.ring.control.hold.load(Ordering::Relaxed) != 0;
        self.held
    }

    /// Whether the consumer still holds, if it did at the last check for space.
    #[inline]
    pub fn is_held(&mut self) -> bool {
        self.held && self.check_hold()
    }

    fn claim_shared(&mut self, claim: &Claim, number: u16, slots: u32) -> Option<u32> {
        let tail = &self.ring.control.tail;
        loop {
            let position = tail.load(Ordering::Relaxed);
            if self.ring.fits(position, slots, self.head_seen) {
                let next = position.wrapping_add(slots);
                claim.tell(position, number, slots);
                // Release: pairs with `Consumer::abandoned`, which finds what was told.
                if tail
                    .compare_exchange(position, next, Ordering::Release, Ordering::Relaxed)
                    .is_ok()
                {
                    return Some(position);
                }
            } else {
                // Acquire: as in `claim`.
                let head = self.ring.control.head.load(Ordering::Acquire);
                if head == self.head_seen {
                    return None;
                }
                self.head_seen = head;
                if self.check_hold() && !self.passes {
                    self.close(position);
                    return None;
                }
            }
        }
    }

    /// Claims slots of a shared ring and never fills them, as one that dies then.
    #[cfg(any(test, loom))]
    pub fn leave_open(&mut self, slots: u32) -> bool {
        self.shared.is_some() && self.claim(slots).is_some()
    }

    /// Says that it will claim, and never does.
    #[cfg(loom)]
    pub fn tells(&mut self, slots: u32) {
        if let Some((claim, number)) = self.shared {
            claim.tell(
                self.ring.control.tail.load(Ordering::Relaxed),
                number,
                slots,
            );
        }
    }

    /// Announces that this producer found the ring full and may sleep: the consumer wakes it when it has made room.
    pub fn request_space(&self) {
        self.ring.control.wants_space.store(1, Ordering::Relaxed);
        // With the fence in `Consumer::publish`: a load of `head` after this sees the space, or the consumer sees the request.
        fence(Ordering::SeqCst);
    }

    /// Asks for the line that the next packet will be written to, while there is something else to do.
    #[inline(always)]
    pub fn prefetch(&self) {
        let slot: *const Slot = self.ring.slot(self.tail.wrapping_add(AHEAD));
        prefetch_for_writing(slot.cast());
    }
}

/// Asks for a cache line that will be written soon.
#[inline(always)]
pub fn prefetch_for_writing(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    {
        // The compiler's intrinsic is a plain prefetch unless told of the feature, which every 64-bit processor at
        // least decodes.
        // SAFETY: a prefetch never faults and changes nothing that can be observed.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    let _ = address;
}

/// Asks for a cache line that will be read soon.
#[inline(always)]
pub fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults and changes nothing that can be observed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    let _ = address;
}

/// The reading end.
#[derive(Debug)]
pub struct Consumer<'m> {
    ring: Ring<'m>,
    head: u32,
    published: u32,
}

impl<'m> Consumer<'m> {
    /// Of a ring that producers share: whether no slots are claimed that were not read. A packet may be whole behind one that is not.
    pub fn has_read_all(&self) -> bool {
        // Acquire: what was claimed before what this process has seen.
        self.ring.control.tail.load(Ordering::Acquire) == self.head
    }

    /// The header of the next packet, if it has been committed.
    #[inline(always)]
    pub fn peek(&self) -> Option<SlotHeader> {
        let slot = self.ring.slot(self.head);
        // Acquire: pairs with the commit in `Producer::push`.
        if slot.sequence.load(Ordering::Acquire) != self.head.wrapping_add(1) {
            return None;
        }
        // SAFETY: the sequence number says that the producer is done with this packet; it is ours until `advance`.
        let header = slot
            .body
            .with(|body| unsafe { body.cast::<SlotHeader>().read() });
        Some(header)
    }

    /// Calls `take(offset, piece)` for the pieces of the payload of the packet that `peek` showed with this `length`.
    ///
    /// A length that no producer can have written (a corrupted peer) is cut to what a ring can hold.
    #[inline(always)]
    pub fn payload(&self, length: usize, mut take: impl FnMut(usize, &[u8])) {
        let length = length.min(self.ring.longest_payload());
        let slot = self.ring.slot(self.head);
        slot.body.with(|body| {
            // SAFETY: a committed packet belongs to the consumer; the piece lies inside the slot.
            let piece = unsafe {
                std::slice::from_raw_parts(
                    body.cast::<u8>().add(HEADER_BYTES),
                    length.min(HEAD_PAYLOAD),
                )
            };
            take(0, piece);
        });
        let (mut offset, mut position) = (HEAD_PAYLOAD, self.head);
        while offset < length {
            position = position.wrapping_add(1);
            let bytes = (length - offset).min(NEXT_PAYLOAD);
            self.ring.slot(position).body.with(|body| {
                // SAFETY: as above.
                let piece = unsafe { std::slice::from_raw_parts(body.cast::<u8>(), bytes) };
                take(offset, piece);
            });
            offset += bytes;
        }
    }

    /// Gives the packet back. True if producers who found the ring full should be woken: room was published.
    #[inline(always)]
    pub fn advance(&mut self, length: usize) -> bool {
        let length = length.min(self.ring.longest_payload());
        self.head = self.head.wrapping_add(slots_for(length));
        // Publishing costs the producer a cache miss, so it is done four times a lap.
        if self.head.wrapping_sub(self.published) as usize >= self.ring.slots.len() / 4 {
            self.publish()
        } else {
            false
        }
    }

    #[cold]
    fn publish(&mut self) -> bool {
        self.published = self.head;
        let control = self.ring.control;
        // Release: pairs with the Acquire in `Producer::claim`.
        control.head.store(self.head, Ordering::Release);
        self.is_space_wanted()
    }

    /// How many slots the consumer is to [`Consumer::pass_over`] in a ring of this number, because a producer has claimed them and died.
    /// `claims` reads those of all producers, each after it was asked whether that producer lives.
    pub fn abandoned(
        &self,
        number: u16,
        claims: impl FnOnce() -> Vec<(Claimed, bool)>,
    ) -> Option<u32> {
        let is_committed = |position: u32| {
            let sequence = &self.ring.slot(position).sequence;
            sequence.load(Ordering::Acquire) == position.wrapping_add(1)
        };
        // Acquire, and first: pairs with `claim_shared`. Whatever has moved the counter up to here is told by now.
        let tail = self.ring.control.tail.load(Ordering::Acquire);
        if tail == self.head || is_committed(self.head) {
            return None;
        }
        let mut claims = claims();
        claims.retain(|(it, _)| it.slots != 0 && it.ring == number);
        let at = |position: u32| claims.iter().filter(move |(it, _)| it.position == position);
        // One that lives will commit, or has lost against another one and claims anew.
        if at(self.head).any(|(_, lives)| *lives) || is_committed(self.head) {
            return None;
        }
        // Several may have died having told of this position, of whom one has moved the counter. Behind its slots the ring ends, or
        // another packet begins; inside them none does. So it is the one with the least slots of those that end so.
        let slots = at(self.head).map(|(it, _)| u32::from(it.slots));
        let ends = |slots: &u32| {
            let end = self.head.wrapping_add(*slots);
            end == tail || at(end).next().is_some() || is_committed(end)
        };
        slots.filter(ends).min()
    }

    /// Gives slots back that were never filled. True: as of [`Consumer::advance`].
    #[cold]
    pub fn pass_over(&mut self, slots: u32) -> bool {
        self.head = self.head.wrapping_add(slots);
        self.publish()
    }

    /// Wants producers to hold data back, or not any more. They see it when they next check for space.
    pub fn hold(&self, holds: bool) {
        let hold = &self.ring.control.hold;
        if (hold.load(Ordering::Relaxed) != 0) != holds {
            hold.store(holds.into(), Ordering::Relaxed);
        }
    }

    /// Whether producers found no room; asked after room was published.
    #[cold]
    pub fn is_space_wanted(&self) -> bool {
        let wants_space = &self.ring.control.wants_space;
        // Pairs with the fence in `Producer::request_space`: one of the two sees the other.
        fence(Ordering::SeqCst);
        wants_space.load(Ordering::Relaxed) != 0 && wants_space.swap(0, Ordering::Relaxed) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
