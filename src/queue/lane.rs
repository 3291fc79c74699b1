//! A lane: cells of 5 KB between one producer and one consumer, for records too large for a ring's slots.
//!
//! A record takes one cell or a few that follow each other. In a cell's first line are the stamp, the header and 40
//! bytes of payload, so that a small record is one line and a larger one lies behind the line that its reader watches:
//! hardware fetches it along. Invariant: stamps are written at the first line of a cell only, where no payload ever
//! lies, so nothing can be taken for a stamp; cells in `done..tail` belong to the producer until the record's head is
//! stamped, then to the consumer until `done` is published beyond them.
//!
//! Measured (benches/RESULTS.md): where cores share a cache, a line that neither core's own cache has is five times as
//! cheap to write as one that the reader still holds, so a lane is larger than those caches, and a record leaves a
//! kilobyte before the next cell, or the reader's prefetcher takes the lines that are to be written next.

use super::ring::{HEADER_BYTES, Header};
use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// Bytes of a cell.
pub const CELL_BYTES: usize = 5120;
/// Payload bytes in a record's first line.
pub const HEAD_PAYLOAD: usize = 40;
/// Payload bytes behind a cell's first line.
pub const CELL_DATA: usize = CELL_BYTES - 64;
/// Cells of a record, at most.
pub const MOST_CELLS: usize = 3;
/// The longest payload of a record, wherever its head lies.
pub const LONGEST_PAYLOAD: usize = MOST_CELLS * CELL_DATA;

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
    _apart: [u8; 60],
    /// What the last measured reading cost, ticks a kilobyte; the producer sets it to zero first.
    pub cost: AtomicU32,
    _rest: [u8; 60],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 128);

/// A lane as its users see it. A fresh lane is all zero.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'m> {
    control: &'m Control,
    cells: &'m [Cell],
}

/// Fresh memory for a lane of so many cells.
#[cfg(any(test, loom))]
pub fn fresh(cells: usize) -> (Box<Control>, Vec<Cell>) {
    let control = Control {
        done: AtomicU32::new(0),
        _apart: [0; 60],
        cost: AtomicU32::new(0),
        _rest: [0; 60],
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
    (length - in_head(length, room)).div_ceil(CELL_DATA).max(1)
}

impl<'m> Lane<'m> {
    pub fn new(control: &'m Control, cells: &'m [Cell]) -> Self {
        assert!(cells.len() > MOST_CELLS);
        Self { control, cells }
    }

    pub fn control(self) -> &'m Control {
        self.control
    }

    /// The producer of a fresh lane; at most one may exist.
    pub fn producer(self) -> Producer<'m> {
        Producer {
            lane: self,
            tail: 0,
            place: 0,
            done_seen: 0,
        }
    }

    /// The consumer of a fresh lane; at most one may exist.
    pub fn consumer(self) -> Consumer<'m> {
        Consumer {
            lane: self,
            head: 0,
            place: 0,
            published: 0,
        }
    }

    #[inline]
    fn after(&self, place: usize, cells: usize) -> usize {
        let place = place + cells;
        if place < self.cells.len() {
            place
        } else {
            place - self.cells.len()
        }
    }

    /// Calls `visit(cell, offset, bytes)` for the pieces of the payload that are not in a head with room for `room`
    /// bytes, in the cells from `place` on.
    #[inline]
    fn pieces(
        &self,
        place: usize,
        room: usize,
        length: usize,
        mut visit: impl FnMut(&'m Cell, usize, usize),
    ) {
        let (mut offset, mut place) = (in_head(length, room), place);
        while offset < length {
            let bytes = (length - offset).min(CELL_DATA);
            visit(&self.cells[place], offset, bytes);
            offset += bytes;
            place = self.after(place, 1);
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
}

impl Producer<'_> {
    /// Whether there is room for a record whose head has room for `room` bytes of its payload.
    #[inline]
    pub fn has_room(&mut self, length: usize, room: usize) -> bool {
        let tail = self.tail.wrapping_add(cells_for(length, room) as u32);
        let cells = self.lane.cells.len() as u32;
        if tail.wrapping_sub(self.done_seen) <= cells {
            return true;
        }
        // Acquire: pairs with `Consumer::publish`; the consumer is done with what lies before.
        self.done_seen = self.lane.control.done.load(Ordering::Acquire);
        tail.wrapping_sub(self.done_seen) <= cells
    }

    /// Writes a record for which there is room; its head is the lane's next cell. `fill` is called for the head last.
    #[inline]
    pub fn push(&mut self, header: &Header, mut fill: impl FnMut(usize, &mut [u8])) {
        let length = header.length as usize;
        let (tail, place) = (self.tail, self.place);
        // Before the head: the consumer watches that line, and would take it away between two stores.
        self.push_rest(length, HEAD_PAYLOAD, &mut fill);
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

    /// Writes what of a payload is not in a head with room for `room` bytes, which is committed afterwards.
    #[inline]
    pub fn push_rest(
        &mut self,
        length: usize,
        room: usize,
        fill: &mut impl FnMut(usize, &mut [u8]),
    ) {
        self.lane
            .pieces(self.place, room, length, |cell, offset, bytes| {
                cell.data.with_mut(|data| {
                    // SAFETY: `has_room` claimed these cells for this producer; `bytes` is at most CELL_DATA.
                    let piece = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes) };
                    fill(offset, piece);
                });
            });
        let cells = cells_for(length, room);
        self.tail = self.tail.wrapping_add(cells as u32);
        self.place = self.lane.after(self.place, cells);
    }

    pub fn control(&self) -> &Control {
        self.lane.control
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
        self.lane.cells[self.place].head.with(|head| {
            // SAFETY: a committed record belongs to the consumer; the piece lies inside the head.
            let piece = unsafe {
                std::slice::from_raw_parts(
                    head.cast::<u8>().add(HEADER_BYTES),
                    in_head(length, HEAD_PAYLOAD),
                )
            };
            take(0, piece);
        });
        self.rest(length, HEAD_PAYLOAD, &mut take);
    }

    /// Calls `take(offset, piece)` for the payload that is not in a head with room for `room` bytes; a length that no
    /// producer can have written (a corrupted peer) is cut.
    #[inline]
    pub fn rest(&self, length: usize, room: usize, take: &mut impl FnMut(usize, &[u8])) {
        let length = length.min(room + LONGEST_PAYLOAD);
        self.lane
            .pieces(self.place, room, length, |cell, offset, bytes| {
                cell.data.with(|data| {
                    // SAFETY: as in `payload`.
                    let piece = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
                    take(offset, piece);
                });
            });
    }

    /// Gives the record's cells back. True if that was told to the producer just now.
    #[inline]
    pub fn advance(&mut self, length: usize, room: usize) -> bool {
        let cells = cells_for(length, room).min(MOST_CELLS);
        self.head = self.head.wrapping_add(cells as u32);
        self.place = self.lane.after(self.place, cells);
        // Telling costs the producer a cache miss, so it is done four times a lap.
        if self.head.wrapping_sub(self.published) as usize * 4 < self.lane.cells.len() {
            return false;
        }
        self.published = self.head;
        // Release: pairs with the Acquire in `Producer::has_room`.
        self.lane.control.done.store(self.head, Ordering::Release);
        true
    }

    pub fn control(&self) -> &Control {
        self.lane.control
    }
}
