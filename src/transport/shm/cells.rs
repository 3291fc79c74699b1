//! Cells: the pieces of shared memory through which larger data flows. Each rank owns some and lends them; whoever
//! has read a cell marks it free. Invariant: a cell's state goes 0 → 1 only by its owner and 1 → 0 only by the rank it
//! was lent to.

use super::layout::Segment;
use super::pace::{Pace, Plan, Stores};
use crate::os::ticks;
use crate::queue::ring::prefetch_for_writing;
use crate::sync::{AtomicU32, Ordering};
use std::io::Result;
use std::os::fd::BorrowedFd;

/// Data bytes of a cell.
pub const CELL_BYTES: usize = 32768;
/// Small chunks take the parts of a cell in turn: lines that nobody has used for long are in no core's own cache, and
/// those are the cheapest to write.
pub const PART_BYTES: usize = 8192;
const PARTS: u8 = (CELL_BYTES / PART_BYTES) as u8;
const STATE_BYTES: usize = 64;
/// Not a multiple of the page size, so that cells do not fall on the same cache sets.
const STRIDE: usize = STATE_BYTES + CELL_BYTES;
const FIRST_CELLS: usize = 16;
const MORE_CELLS: usize = 16;
/// Cells of all ranks of a node together, and of one rank: 64 MB and 4 MB.
const NODE_CELLS: usize = 2048;
const MOST_CELLS: usize = 128;
/// Cells that are too small to tell anything about cost.
const MEASURED_BYTES: usize = 2048;

/// Where a cell is, as it travels in a record: its offset in the segment in units of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellName(pub u32);

/// A filled cell, ready to be named in a record.
#[derive(Clone, Copy, Debug)]
pub struct Filled {
    pub name: CellName,
    /// Which part of the cell, see [`PART_BYTES`].
    pub part: u8,
    /// The reader is to say what the reading cost.
    pub measured: bool,
}

/// The first line of a cell.
#[repr(C)]
struct State {
    lent: AtomicU32,
    /// What the last measured reading cost, ticks a kilobyte.
    cost: AtomicU32,
}

struct Owned {
    name: CellName,
    address: *mut u8,
    lent_to: u32,
    plan: Plan,
    fill_cost: u32,
    part: u8,
}

/// The cells of this rank.
pub struct Pool {
    cells: Vec<Owned>,
    next: usize,
    most: usize,
    paces: Vec<Pace>,
    few: bool,
}

// SAFETY: the addresses lead into the segment, which every thread may use; the pool itself is behind the engine's guard.
unsafe impl Send for Pool {}

fn state(address: *mut u8) -> &'static State {
    // SAFETY: the first line of a cell, in a mapping that is never unmapped; atomics only.
    unsafe { &*address.cast::<State>() }
}

fn cost(since: u64, bytes: usize) -> u32 {
    (ticks().saturating_sub(since).saturating_mul(1024) / bytes as u64).min(u64::from(u32::MAX))
        as u32
}

impl Pool {
    /// An empty pool on a node of so many ranks; cells come when they are needed.
    pub fn new(ranks: usize) -> Self {
        Self {
            cells: Vec::new(),
            next: 0,
            most: (NODE_CELLS / ranks).clamp(FIRST_CELLS, MOST_CELLS),
            paces: vec![Pace::default(); ranks],
            few: false,
        }
    }

    /// Writes `bytes` (at most [`CELL_BYTES`]) into a free cell for `peer`. `None`: all are lent, try later.
    ///
    /// A peer that holds none always gets one more, so that one who does not read cannot stop traffic to others.
    #[inline]
    pub fn fill(
        &mut self,
        segment: Segment<'static>,
        fd: BorrowedFd<'_>,
        peer: u32,
        bytes: usize,
        write: impl FnOnce(&mut [u8], Stores),
    ) -> Option<Filled> {
        let index = self.find(segment, fd, peer)?;
        let cells = self.cells.len() as u32;
        let few = self.few;
        let plan = if bytes >= MEASURED_BYTES && !few {
            self.paces[peer as usize].plan(cells)
        } else {
            Plan {
                stores: Stores::Ordinary,
                measured: false,
            }
        };
        let cell = &mut self.cells[index];
        cell.lent_to = peer;
        cell.plan = plan;
        cell.part = if few || bytes > PART_BYTES || cell.part + 1 >= PARTS {
            0
        } else {
            cell.part + 1
        };
        let start = STATE_BYTES + cell.part as usize * PART_BYTES;
        // SAFETY: the cell is free, so nobody reads it until its name is sent; it has CELL_BYTES behind its state.
        let data = unsafe {
            std::slice::from_raw_parts_mut(cell.address.add(start), bytes.min(CELL_BYTES))
        };
        if plan.measured {
            let since = ticks();
            write(data, plan.stores);
            cell.fill_cost = cost(since, bytes);
        } else {
            write(data, plan.stores);
        }
        state(cell.address).lent.store(1, Ordering::Relaxed);
        Some(Filled {
            name: cell.name,
            part: cell.part,
            measured: plan.measured,
        })
    }

    /// Takes a cell back whose name was not sent.
    pub fn take_back(&mut self, name: CellName) {
        if let Some(cell) = self.cells.iter_mut().find(|cell| cell.name == name) {
            cell.plan.measured = false;
            state(cell.address).lent.store(0, Ordering::Relaxed);
        }
    }

    /// Where ranks share cores, the reader is likely to run on the writer's core next: then the cells used last, whose
    /// lines that core still has, are the best ones, and ordinary stores.
    pub fn use_few(&mut self, few: bool) {
        self.few = few;
    }

    #[inline]
    fn find(&mut self, segment: Segment<'static>, fd: BorrowedFd<'_>, peer: u32) -> Option<usize> {
        if self.few {
            self.next = 0;
        }
        for _ in 0..self.cells.len() {
            let index = self.next;
            let cell = &mut self.cells[index];
            let state = state(cell.address);
            // Acquire: pairs with `read`; the reader is done with the data.
            let free = state.lent.load(Ordering::Acquire) == 0;
            if free && cell.plan.measured {
                cell.plan.measured = false;
                let read_cost = state.cost.load(Ordering::Relaxed);
                let cost = cell.fill_cost.saturating_add(read_cost);
                self.paces[cell.lent_to as usize].learn(cell.plan.stores, cost);
            }
            self.next = index + 1;
            if self.next == self.cells.len() {
                self.next = 0;
                self.end_of_lap(segment, fd, peer);
            }
            if free {
                // The next cell's state was written by its reader: ask for the line while this cell is filled.
                prefetch_for_writing(self.cells[self.next].address);
                return Some(index);
            }
        }
        if !self.cells.is_empty() && self.cells.iter().any(|cell| cell.lent_to == peer) {
            return None;
        }
        self.next = self.cells.len();
        self.grow(segment, fd, FIRST_CELLS).ok()?;
        Some(self.next)
    }

    /// After each round there may be more cells, as far as the node's memory allows.
    #[cold]
    fn end_of_lap(&mut self, segment: Segment<'static>, fd: BorrowedFd<'_>, peer: u32) {
        if self.cells.len() < self.most && !self.few && self.paces[peer as usize].wants_more_cells()
        {
            let before = self.cells.len();
            if self.grow(segment, fd, MORE_CELLS).is_ok() {
                self.next = before;
            }
        }
    }

    #[cold]
    fn grow(&mut self, segment: Segment<'static>, fd: BorrowedFd<'_>, more: usize) -> Result<()> {
        let offset = segment.allocate(fd, more * STRIDE)?;
        for i in 0..more {
            let offset = offset + i * STRIDE;
            let address = segment
                .dynamic(offset, STRIDE)
                .ok_or_else(|| std::io::Error::from_raw_os_error(libc::ENOMEM))?;
            self.cells.push(Owned {
                name: CellName((offset / 64) as u32),
                address,
                lent_to: u32::MAX,
                plan: Plan {
                    stores: Stores::Ordinary,
                    measured: false,
                },
                fill_cost: 0,
                part: 0,
            });
        }
        Ok(())
    }
}

/// Reads `bytes` of a cell that a record named, and gives it back. `None` if no cell can be there.
#[inline]
pub fn read(
    segment: Segment<'static>,
    filled: Filled,
    bytes: usize,
    take: impl FnOnce(&[u8]),
) -> Option<()> {
    let address = segment.dynamic(filled.name.0 as usize * 64, STRIDE)?;
    let start = STATE_BYTES + (filled.part % PARTS) as usize * PART_BYTES;
    let bytes = bytes.min(STRIDE - start);
    // SAFETY: the record that named the cell lent it to this rank (its commit orders the data before); it lies inside
    // the mapping whatever the name was.
    let data = unsafe { std::slice::from_raw_parts(address.add(start), bytes) };
    let state = state(address);
    if filled.measured {
        let since = ticks();
        take(data);
        state
            .cost
            .store(cost(since, bytes.max(1)), Ordering::Relaxed);
    } else {
        take(data);
    }
    // Release: pairs with `find`.
    state.lent.store(0, Ordering::Release);
    Some(())
}
