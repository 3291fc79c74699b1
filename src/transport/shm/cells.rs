//! Cells: shared memory through which larger data flows between ranks that have no bulk ring. Each rank owns some and lends
//! them; whoever has read a cell marks it free. Invariant: a cell's state goes 0 → 1 only by its owner and 1 → 0 only by
//! the rank it was lent to, or by its owner when that rank is dead.

use super::layout::Segment;
use crate::sync::{AtomicU32, Ordering};
use std::io::Result;
use std::os::fd::BorrowedFd;

/// Where there was no memory for cells, it is asked for again after so many times that one was wanted.
const ASK_AGAIN_AFTER: u32 = 10_000;
/// Data bytes of a cell.
pub const CELL_BYTES: usize = 32768;
const STATE_BYTES: usize = 64;
/// Not a multiple of the page size, so that cells do not fall on the same cache sets.
const STRIDE: usize = STATE_BYTES + CELL_BYTES;
/// Cells of all ranks of a node together, and of one rank: 64 MB and 4 MB.
const NODE_CELLS: usize = 2048;
const MOST_CELLS: usize = 128;
const LEAST_CELLS: usize = 16;

/// Where a cell is, as it travels in a packet: its offset in the segment in units of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellName(pub u32);

struct Owned {
    name: CellName,
    address: *mut u8,
    lent_to: u32,
}

/// Why there is no cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// All are lent, some to this peer, which gives them back.
    OfFree,
    /// There is no memory for one, and this peer has none to give back.
    OfMemory,
}

/// The cells of this rank.
pub struct Pool {
    cells: Vec<Owned>,
    most: usize,
    /// How often not to ask for memory, because there was none.
    poor: u32,
}

// SAFETY: the addresses lead into the segment, which every thread may use; the pool itself is behind the engine's guard.
unsafe impl Send for Pool {}

/// The first word of a cell: whether it is lent.
fn lent(address: *mut u8) -> &'static AtomicU32 {
    // SAFETY: the first line of a cell, in a mapping that is never unmapped; atomics only.
    unsafe { &*address.cast::<AtomicU32>() }
}

impl Pool {
    /// An empty pool on a node of so many ranks; cells come when they are needed.
    pub fn new(ranks: usize) -> Self {
        Self {
            cells: Vec::new(),
            poor: 0,
            most: (NODE_CELLS / ranks).clamp(LEAST_CELLS, MOST_CELLS),
        }
    }

    /// Writes `bytes` (at most [`CELL_BYTES`]) into a free cell for `peer`.
    ///
    /// A peer that holds none always gets one more, so that one who does not read cannot stop traffic to others.
    #[inline]
    pub fn fill(
        &mut self,
        segment: Segment<'static>,
        fd: BorrowedFd<'_>,
        peer: u32,
        bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> std::result::Result<CellName, Lack> {
        let index = self.find(segment, fd, peer)?;
        let cell = &mut self.cells[index];
        cell.lent_to = peer;
        // SAFETY: the cell is free, so nobody reads it until its name is sent; it has CELL_BYTES behind its state.
        let data = unsafe {
            std::slice::from_raw_parts_mut(cell.address.add(STATE_BYTES), bytes.min(CELL_BYTES))
        };
        write(data);
        lent(cell.address).store(1, Ordering::Relaxed);
        Ok(cell.name)
    }

    /// Whether there are cells, or may be some.
    #[inline]
    pub fn has_some(&self) -> bool {
        self.poor == 0 || !self.cells.is_empty()
    }

    /// Takes a cell back whose name was not sent.
    pub fn take_back(&mut self, name: CellName) {
        if let Some(cell) = self.cells.iter().find(|cell| cell.name == name) {
            lent(cell.address).store(0, Ordering::Relaxed);
        }
    }

    /// Takes back what was lent to ranks that have ended: nobody reads it any more.
    #[cold]
    pub fn take_back_from(&mut self, has_ended: impl Fn(u32) -> bool) {
        for cell in &self.cells {
            if lent(cell.address).load(Ordering::Relaxed) != 0 && has_ended(cell.lent_to) {
                lent(cell.address).store(0, Ordering::Relaxed);
            }
        }
    }

    /// The first free cell: the ones used last are the best, this core still has their lines.
    #[inline]
    fn find(
        &mut self,
        segment: Segment<'static>,
        fd: BorrowedFd<'_>,
        peer: u32,
    ) -> std::result::Result<usize, Lack> {
        let mut holds_some = false;
        for (index, cell) in self.cells.iter().enumerate() {
            // Acquire: pairs with `read`; the reader is done with the data.
            if lent(cell.address).load(Ordering::Acquire) == 0 {
                return Ok(index);
            }
            holds_some |= cell.lent_to == peer;
        }
        let index = self.cells.len();
        let more = index.clamp(1, LEAST_CELLS);
        let made = match index + more > self.most {
            true if holds_some => false,
            true => self.grow(segment, fd, 1),
            false => self.grow(segment, fd, more) || !holds_some && self.grow(segment, fd, 1),
        };
        match made {
            true => Ok(index),
            false if holds_some => Err(Lack::OfFree),
            false => Err(Lack::OfMemory),
        }
    }

    /// Makes so many more cells, if there is memory.
    #[cold]
    fn grow(&mut self, segment: Segment<'static>, fd: BorrowedFd<'_>, more: usize) -> bool {
        if self.poor > 0 {
            self.poor -= 1;
            return false;
        }
        let grown = self.try_grow(segment, fd, more).is_ok();
        if !grown {
            self.poor = ASK_AGAIN_AFTER;
        }
        grown
    }

    #[cold]
    fn try_grow(
        &mut self,
        segment: Segment<'static>,
        fd: BorrowedFd<'_>,
        more: usize,
    ) -> Result<()> {
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
            });
        }
        Ok(())
    }
}

/// Reads `bytes` of a cell that a packet named, and gives it back. `None` if no cell can be there.
#[inline]
pub fn read(
    segment: Segment<'static>,
    name: CellName,
    bytes: usize,
    take: impl FnOnce(&[u8]),
) -> Option<()> {
    let address = segment.dynamic(name.0 as usize * 64, STRIDE)?;
    // SAFETY: the packet that named the cell lent it to this rank (its commit orders the data before); it lies inside
    // the mapping whatever the name was.
    let data =
        unsafe { std::slice::from_raw_parts(address.add(STATE_BYTES), bytes.min(CELL_BYTES)) };
    take(data);
    // Release: pairs with `find`.
    lent(address).store(0, Ordering::Release);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout;
    use std::os::fd::AsFd;

    #[test]
    fn cells_of_the_dead_come_back() {
        let ranks = 3;
        let fd = memory::create("test", layout::segment_bytes(ranks), false).unwrap();
        layout::initialise(fd.as_fd(), ranks).unwrap();
        let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, ranks).unwrap();
        let mut pool = Pool::new(ranks);
        let fill = |pool: &mut Pool, peer| pool.fill(segment, fd.as_fd(), peer, 8, |_| ());
        while fill(&mut pool, 1) != Err(Lack::OfFree) {}
        let of_the_living = fill(&mut pool, 2).unwrap();
        pool.take_back_from(|peer| peer == 1);
        let names: Vec<CellName> = (1..pool.most)
            .map(|_| fill(&mut pool, 0).unwrap())
            .collect();
        assert!(!names.contains(&of_the_living));
    }
}
