//! A lane: cells of 5 KB between one producer and one consumer, for records too large for a ring's slots.
//!
//! A record takes one cell or a few that follow each other, without a gap between its bytes. In its first line are the
//! stamp, the header and 40 bytes of payload, so that a small record is one line and a larger one lies behind the line
//! that its reader watches: hardware fetches it along. A header says how many cells further the next one is. Invariant:
//! no payload is ever taken for a stamp, because a cell in whose first line payload lay gets its stamp cleared before a
//! record is committed whose successor begins there; cells in `done..tail` belong to the producer until the record's
//! head is stamped, then to the consumer until `done` is published beyond them. The last cells take only the ends of
//! records, so that none is cut in two.
//!
//! Measured (benches/RESULTS.md): where cores share a cache, a line that neither core's own cache has is five times as
//! cheap to write as one that the reader still holds, so a lane is larger than those caches, and a record leaves a
//! kilobyte before the next cell, or the reader's prefetcher takes the lines that are to be written next. Streamed records
//! are best without gaps, for the reader's prefetcher again; but a stamp that has to be cleared costs what a gap does,
//! so larger ones begin at multiples of their size ([`Producer::claim`]), where no payload comes to lie.

use super::ring::{HEADER_BYTES, Header};
use super::shape::{self, shape};
use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// Bytes of a cell.
pub const CELL_BYTES: usize = 5120;
/// Payload bytes in a record's first line.
pub const HEAD_PAYLOAD: usize = 40;
/// Payload bytes behind a cell's first line.
pub const CELL_DATA: usize = CELL_BYTES - 64;
/// Cells of a record, at most.
pub const MOST_CELLS: usize = 4;
/// The longest payload of a record, wherever its head lies.
pub const LONGEST_PAYLOAD: usize = MOST_CELLS * CELL_BYTES - 64;
/// Cells at the end of a lane in which no record begins.
pub const END_CELLS: usize = MOST_CELLS - 1;
/// Cells of the smallest lane: the longest record and the cell behind it, while a quarter is not told to be free.
pub const LEAST_CELLS: usize = 6 + END_CELLS;
/// Cells from which on a lane can afford gaps that bring larger records to their places.
const ROOMY: usize = 64;

/// One cell in shared memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Cell {
    stamp: AtomicU32,
    head: UnsafeCell<[u8; 60]>,
    data: UnsafeCell<[u8; CELL_DATA]>,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == CELL_BYTES && HEADER_BYTES + HEAD_PAYLOAD == 60);

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Cell { stamp, head, data }),
    shape!(Control { done, hold, _rest }),
]);

// SAFETY: `head` and `data` are written by the one producer that claimed the cell and read by the consumer after the stamp.
unsafe impl Sync for Cell {}
// SAFETY: as above.
unsafe impl Send for Cell {}

/// What stands before the cells, each word on a line of its own.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Control {
    /// Cells that the consumer has given back, in all.
    done: AtomicU32,
    /// As of a ring.
    hold: AtomicU32,
    _rest: [u8; 56],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 64);

/// Where a lane is; its ends are made of it. A fresh lane is all zero.
#[derive(Debug)]
pub struct Lane<'m> {
    control: &'m Control,
    cells: &'m [Cell],
}

/// Fresh memory for a lane of so many cells.
#[cfg(any(test, loom))]
pub fn fresh(cells: usize) -> (Box<Control>, Vec<Cell>) {
    let control = Control {
        done: AtomicU32::new(0),
        hold: AtomicU32::new(0),
        _rest: [0; 56],
    };
    let cells = (0..cells)
        .map(|_| Cell {
            stamp: AtomicU32::new(0),
            head: UnsafeCell::new([0; 60]),
            data: UnsafeCell::new([0; CELL_DATA]),
        })
        .collect();
    (Box::new(control), cells)
}

/// Both ends of a fresh lane that nobody else can reach.
#[cfg(any(test, loom))]
pub fn ends<'m>(control: &'m mut Control, cells: &'m mut [Cell]) -> (Producer<'m>, Consumer<'m>) {
    let lane = Lane::new(control, cells);
    // SAFETY: the memory is borrowed exclusively, so there are no other ends.
    unsafe { (lane.producer(), lane.consumer()) }
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

/// How many cells a record takes whose head has room for `room` bytes of its payload.
#[inline]
fn cells_for(length: usize, room: usize) -> usize {
    (64 + length - in_head(length, room)).div_ceil(CELL_BYTES)
}

impl<'m> Lane<'m> {
    pub fn new(control: &'m Control, cells: &'m [Cell]) -> Self {
        assert!(cells.len() >= LEAST_CELLS);
        Self { control, cells }
    }

    /// The producer of a fresh lane.
    ///
    /// # Safety
    /// No other producer of this lane exists, in any process, nor existed before.
    pub unsafe fn producer(&self) -> Producer<'m> {
        Producer {
            lane: self.view(),
            tail: 0,
            place: 0,
            done_seen: 0,
            held: false,
            passes: false,
            covered: vec![0; self.heads().div_ceil(64)],
        }
    }

    /// The consumer of a fresh lane.
    ///
    /// # Safety
    /// No other consumer of this lane exists, in any process, nor existed before.
    pub unsafe fn consumer(&self) -> Consumer<'m> {
        Consumer {
            lane: self.view(),
            head: 0,
            place: 0,
            published: 0,
        }
    }

    /// The place once more, for one of its ends.
    fn view(&self) -> Lane<'m> {
        Lane {
            control: self.control,
            cells: self.cells,
        }
    }

    /// Cells in which a record can begin.
    #[inline]
    fn heads(&self) -> usize {
        self.cells.len() - END_CELLS
    }

    /// Where the next record begins after one of so many cells, and how many of the cells up to there count.
    #[inline]
    fn after(&self, place: usize, cells: usize) -> (usize, u32) {
        let heads = self.heads();
        if place + cells < heads {
            (place + cells, cells as u32)
        } else {
            (0, (heads - place) as u32)
        }
    }

    /// The bytes behind the first line of a record that begins at `place`.
    #[inline]
    fn with_data<R>(&self, place: usize, bytes: usize, visit: impl FnOnce(*mut u8) -> R) -> R {
        #[cfg(loom)]
        {
            assert!(bytes <= CELL_DATA);
            self.cells[place].data.with_mut(|data| visit(data.cast()))
        }
        #[cfg(not(loom))]
        {
            assert!(place < self.heads() && bytes <= MOST_CELLS * CELL_BYTES - 64);
            visit(
                self.cells
                    .as_ptr()
                    .wrapping_add(place)
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
    lane: Lane<'m>,
    /// Cells filled, in all.
    tail: u32,
    place: usize,
    done_seen: u32,
    /// As of a ring's producer.
    held: bool,
    passes: bool,
    /// A bit for each cell in whose first line payload may lie.
    covered: Vec<u64>,
}

impl Producer<'_> {
    /// Makes sure of room for a record whose head has room for `room` bytes of its payload. Returns its stride: cells up
    /// to the next head, which lies at a multiple of `align` cells where the lane is large enough.
    #[inline]
    pub fn claim(&mut self, length: usize, room: usize, align: usize) -> Option<u8> {
        let heads = self.lane.heads();
        let cells = cells_for(length, room);
        let stride = if heads < ROOMY {
            cells
        } else {
            (self.place + cells).next_multiple_of(align) - self.place
        };
        // The cell behind also: its stamp may have to be cleared.
        let tail = self.tail.wrapping_add(stride as u32 + 1);
        if tail.wrapping_sub(self.done_seen) > heads as u32 {
            // Acquire: pairs with `Consumer::advance`; the consumer is done with what lies before.
            self.done_seen = self.lane.control.done.load(Ordering::Acquire);
            if self.look_for_hold() && !self.passes {
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
        self.done_seen = self.tail.wrapping_sub(self.lane.heads() as u32);
    }

    /// As of a ring's producer.
    pub fn pass(&mut self, passes: bool) {
        self.passes = passes;
        if self.held && !passes {
            self.close();
        }
    }

    fn look_for_hold(&mut self) -> bool {
        self.held = self.lane.control.hold.load(Ordering::Relaxed) != 0;
        self.held
    }

    /// As of a ring's producer.
    #[inline]
    pub fn is_held(&mut self) -> bool {
        self.held && self.look_for_hold()
    }

    /// Writes a record that was claimed, with the stride in its header; its head is the lane's next cell. `fill` is
    /// called for the head last.
    #[inline]
    pub fn push(&mut self, header: &Header, mut fill: impl FnMut(usize, &mut [u8])) {
        let length = header.length as usize;
        let (tail, place) = (self.tail, self.place);
        // Before the head: the consumer watches that line, and would take it away between two stores.
        self.push_rest(header, HEAD_PAYLOAD, &mut fill);
        let cell = &self.lane.cells[place];
        cell.head.with_mut(|head| {
            // SAFETY: the claimed cell is this producer's until it is stamped; `Header` is 20 bytes with alignment 4,
            // which the head has; the payload lies behind it.
            unsafe {
                let piece = std::slice::from_raw_parts_mut(
                    head.cast::<u8>().add(HEADER_BYTES),
                    in_head(length, HEAD_PAYLOAD),
                );
                fill(0, piece);
                head.cast::<Header>().write(*header);
            }
        });
        // Commit. Release: pairs with the Acquire of `Consumer::peek`.
        cell.stamp.store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Writes what of a claimed record is not in a head with room for `room` bytes, which is committed afterwards.
    #[inline]
    pub fn push_rest(
        &mut self,
        header: &Header,
        room: usize,
        fill: &mut impl FnMut(usize, &mut [u8]),
    ) {
        let length = header.length as usize;
        let here = in_head(length, room);
        let place = self.place;
        let (next, counted) = self.lane.after(place, header.stride.into());
        self.uncover(next, self.tail.wrapping_add(counted));
        if here < length {
            self.lane.with_data(place, length - here, |data| {
                // SAFETY: `claim` got these cells for this producer, and none lies behind the lane's last.
                let piece = unsafe { std::slice::from_raw_parts_mut(data, length - here) };
                fill(here, piece);
            });
        }
        self.cover(place, cells_for(length, room));
        self.tail = self.tail.wrapping_add(counted);
        self.place = next;
    }

    /// Clears what could be taken for the stamp of the record at this position, which the consumer will look for.
    #[inline]
    fn uncover(&mut self, place: usize, position: u32) {
        let (word, bit) = (place / 64, 1 << (place % 64));
        if self.covered[word] & bit != 0 {
            self.covered[word] &= !bit;
            self.lane.cells[place]
                .stamp
                .store(position, Ordering::Relaxed);
        }
    }

    /// Notes in whose first lines payload lies now.
    #[inline]
    fn cover(&mut self, place: usize, cells: usize) {
        for place in place + 1..(place + cells).min(self.lane.heads()) {
            self.covered[place / 64] |= 1 << (place % 64);
        }
    }
}

/// The reading end.
#[derive(Debug)]
pub struct Consumer<'m> {
    lane: Lane<'m>,
    /// Cells taken, in all.
    head: u32,
    place: usize,
    published: u32,
}

impl Consumer<'_> {
    /// The header of the record whose head is the next cell, if it has been committed.
    #[inline]
    pub fn peek(&self) -> Option<Header> {
        let cell = &self.lane.cells[self.place];
        // Acquire: pairs with the commit in `Producer::push`.
        if cell.stamp.load(Ordering::Acquire) != self.head.wrapping_add(1) {
            return None;
        }
        // SAFETY: the stamp says that the producer is done with this record; it is ours until `advance`.
        let header = cell
            .head
            .with(|head| unsafe { head.cast::<Header>().read() });
        Some(header)
    }

    /// Calls `take(offset, piece)` for the payload of the record that `peek` showed.
    #[inline]
    pub fn payload(&self, length: usize, mut take: impl FnMut(usize, &[u8])) {
        let here = in_head(length, HEAD_PAYLOAD);
        if here > 0 {
            self.lane.cells[self.place].head.with(|head| {
                // SAFETY: a committed record belongs to the consumer; the piece lies inside the head.
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
            self.lane.with_data(self.place, length - here, |data| {
                // SAFETY: as in `payload`; the record's cells end where the lane does, at the latest.
                let piece = unsafe { std::slice::from_raw_parts(data.cast_const(), length - here) };
                take(here, piece);
            });
        }
    }

    /// Gives the cells of a record with this stride back. True if that was told to the producer just now.
    #[inline]
    pub fn advance(&mut self, stride: u8) -> bool {
        let (place, counted) = self.lane.after(self.place, stride.into());
        self.head = self.head.wrapping_add(counted);
        self.place = place;
        // Telling costs the producer a cache miss, so it is done four times a lap.
        if self.head.wrapping_sub(self.published) as usize * 4 < self.lane.heads() {
            return false;
        }
        self.published = self.head;
        // Release: pairs with the Acquire in `Producer::claim`.
        self.lane.control.done.store(self.head, Ordering::Release);
        true
    }

    /// As of a ring's consumer.
    pub fn hold(&self, holds: bool) {
        let hold = &self.lane.control.hold;
        if (hold.load(Ordering::Relaxed) != 0) != holds {
            hold.store(holds.into(), Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn payload_is_never_taken_for_a_stamp() {
        const RECORDS: usize = if cfg!(miri) { 6 } else { 5_000 };
        for cells in [LEAST_CELLS, LEAST_CELLS + 3, ROOMY + END_CELLS + 1] {
            let (mut control, mut cells) = fresh(cells);
            let (mut producer, mut consumer) = ends(&mut control, &mut cells);
            let heads = producer.lane.heads() as u32;
            let mut state = 1u32;
            for _ in 0..RECORDS {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let length = (state >> 8) as usize % (LONGEST_PAYLOAD + 1);
                let align = 1 + (state >> 28) as usize % 4;
                let stride = producer.claim(length, HEAD_PAYLOAD, align).unwrap();
                let header = Header {
                    length: length as u16,
                    stride,
                    ..Header::default()
                };
                let first = producer.tail;
                producer.push(&header, |offset, piece| {
                    // Each word is the stamp that its cell will be looked at for on the next lap.
                    let line = if offset < HEAD_PAYLOAD { 0 } else { 64 };
                    for (word, bytes) in piece.chunks_mut(4).enumerate() {
                        let cell = (line + 4 * word) / CELL_BYTES;
                        let stamp = first + cell as u32 + heads + 1;
                        bytes.copy_from_slice(&stamp.to_ne_bytes()[..bytes.len()]);
                    }
                });
                assert_eq!(consumer.peek(), Some(header));
                consumer.advance(stride);
                assert_eq!(consumer.peek(), None, "after a record of {length} bytes");
            }
        }
    }
}
