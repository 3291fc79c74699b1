//! Pipes: memory of the segment through which two ranks that work on one operation send each other large data, in pieces
//! whose lengths both know. One pipe leads each way.
//!
//! A piece lies in one run of bytes, with a stamp of its own beside the pipe. Pieces follow each other around the pipe, which
//! is larger than a core's own caches: what both have evicted is cheaply written again (see `queue/bulk_ring.rs`). Which
//! stores to write with follows from how far apart the two cores are. Invariant: a place is written again only when the reader has published that it is past it.

use super::layout::Segment;
use super::pace::Stores;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU64, Ordering};

/// Bytes of data of one pipe.
const DATA_BYTES: usize = 2 << 20;
/// What of it is used while stores go past the caches: nothing is to be evicted then, and fewer pages are better (benches/counts.md).
const STREAMED_BYTES: usize = 512 << 10;
/// Stamps, and so pieces under way at most.
const STAMPS: usize = 64;
/// What is left free behind a piece in ordinary stores, so that its reader's prefetcher does not take lines that are to be
/// written. A gap would break a streamed one's reader's stream.
const GAP: usize = 1024;
/// The longest piece.
pub const LONGEST: usize = 64 << 10;

/// The line that tells of a piece.
#[repr(C, align(64))]
struct Stamp {
    /// Where the piece ends, from the beginning of all, and what it leaves free with it.
    end: AtomicU64,
    /// Where in the pipe it begins.
    place: AtomicU64,
    bytes: AtomicU64,
    /// Bytes of the whole operation, for readers that expect another number.
    total: AtomicU64,
}

/// A line with one number, which the reader writes.
#[repr(C, align(64))]
struct Word(AtomicU64);

#[repr(C)]
struct Control {
    /// Up to which position the reader needs nothing any more.
    passed: Word,
    stamps: [Stamp; STAMPS],
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Stamp {
        end,
        place,
        bytes,
        total
    }),
    shape!(Control { passed, stamps }),
]);

const PIPE_BYTES: usize = size_of::<Control>() + DATA_BYTES;
/// Bytes of the pipes of two ranks.
pub const PAIR_BYTES: usize = 2 * PIPE_BYTES;

const _: () = assert!(PIPE_BYTES.is_multiple_of(64) && LONGEST + GAP < DATA_BYTES / 8);

/// One end of a pipe.
struct End {
    base: *mut u8,
    /// Pieces so far.
    pieces: usize,
    /// Where the last one ends, from the beginning of all.
    position: u64,
}

// SAFETY: the memory is shared between processes anyway; what may be touched when is the protocol's matter.
unsafe impl Send for End {}

impl End {
    fn new(base: *mut u8) -> End {
        End {
            base,
            pieces: 0,
            position: 0,
        }
    }

    fn control(&self) -> &Control {
        // SAFETY: `Pipes::open` checked that the pipe is mapped, for good; atomics only.
        unsafe { &*self.base.cast::<Control>() }
    }

    fn stamp(&self) -> &Stamp {
        &self.control().stamps[self.pieces % STAMPS]
    }

    /// Where the next piece of so many bytes begins and ends, from the beginning of all, if it is written like this.
    fn next(&self, bytes: usize, stores: Stores) -> (u64, u64) {
        let (gap, extent) = match stores {
            Stores::Ordinary => (GAP, DATA_BYTES),
            Stores::NonTemporal => (0, STREAMED_BYTES),
        };
        let lap = DATA_BYTES as u64;
        // Never nothing: a stamp is new if the piece ends behind the one before.
        let length = (bytes + gap).max(1).next_multiple_of(64) as u64;
        let begin = match self.position % lap + length <= extent as u64 {
            true => self.position,
            false => self.position.next_multiple_of(lap),
        };
        (begin, begin + length)
    }

    /// The data of a piece that begins there.
    fn data(&self, place: usize, bytes: usize) -> *mut u8 {
        assert!(bytes <= LONGEST && place.is_multiple_of(64) && place <= DATA_BYTES - bytes);
        self.base.wrapping_add(size_of::<Control>() + place)
    }

    fn advance(&mut self, end: u64) {
        self.pieces += 1;
        self.position = end;
    }
}

/// The writing end.
pub struct Writer {
    end: End,
    /// Up to where the reader is known to be.
    seen: u64,
    /// The ends of the last pieces, one for each stamp.
    ends: [u64; STAMPS],
    /// What to write with.
    stores: Stores,
}

impl Writer {
    /// Whether the next piece of so many bytes can be written.
    #[inline]
    pub fn has_room(&mut self, bytes: usize) -> bool {
        let (_, ordinary) = self.end.next(bytes, Stores::Ordinary);
        let (_, streaming) = self.end.next(bytes, Stores::NonTemporal);
        let end = ordinary.max(streaming);
        // A stamp is used again when the reader has seen it.
        let least = self.ends[self.end.pieces % STAMPS].max(end.saturating_sub(DATA_BYTES as u64));
        if self.seen < least {
            // Acquire: pairs with `Reader::read`; the reading is over.
            self.seen = self.end.control().passed.0.load(Ordering::Acquire);
        }
        self.seen >= least
    }

    /// Writes with these stores from now on.
    pub fn set_stores(&mut self, stores: Stores) {
        self.stores = stores;
    }

    /// What it writes with, and the other end most likely, too.
    pub fn stores(&self) -> Stores {
        self.stores
    }

    /// Lets `fill` write a piece for which there is room, of an operation on `total` bytes, with these stores, and shows it.
    #[inline]
    pub fn write(&mut self, bytes: usize, total: usize, fill: impl FnOnce(&mut [u8], Stores)) {
        debug_assert!(self.has_room(bytes));
        let stores = self.stores;
        let (begin, end) = self.end.next(bytes, stores);
        let place = begin as usize % DATA_BYTES;
        let data = self.end.data(place, bytes);
        // SAFETY: inside the pipe by `data`, and the reader is past it; nobody else writes here.
        let data = unsafe { std::slice::from_raw_parts_mut(data, bytes) };
        fill(data, stores);
        stores.finish();
        let stamp = self.end.stamp();
        stamp.place.store(place as u64, Ordering::Relaxed);
        stamp.bytes.store(bytes as u64, Ordering::Relaxed);
        stamp.total.store(total as u64, Ordering::Relaxed);
        // Release: pairs with `Reader::is_shown`; the data was written before.
        stamp.end.store(end, Ordering::Release);
        self.ends[self.end.pieces % STAMPS] = end;
        self.end.advance(end);
    }
}

/// The reading end.
pub struct Reader {
    end: End,
}

impl Reader {
    /// Whether the next piece is there.
    #[inline]
    pub fn is_shown(&self) -> bool {
        // Acquire: pairs with `Writer::write`. The stamp's last piece ended before this one begins.
        self.end.stamp().end.load(Ordering::Acquire) > self.end.position
    }

    /// Lets `take` have the next piece, which is there, and the number of bytes of the whole operation, and passes it.
    pub fn read(&mut self, take: impl FnOnce(&[u8], usize)) {
        debug_assert!(self.is_shown());
        let stamp = self.end.stamp();
        let end = stamp.end.load(Ordering::Relaxed);
        let bytes = stamp.bytes.load(Ordering::Relaxed) as usize;
        let total = stamp.total.load(Ordering::Relaxed) as usize;
        let place = stamp.place.load(Ordering::Relaxed) as usize;
        let data = self.end.data(place, bytes);
        // SAFETY: inside the pipe by `data`; the writer writes here again only when this end has passed it.
        take(unsafe { std::slice::from_raw_parts(data, bytes) }, total);
        self.end.advance(end);
        // Release: pairs with `Writer::has_room`.
        self.end.control().passed.0.store(end, Ordering::Release);
    }
}

/// A rank's ends of the pipes to and from another one.
pub struct Pipes {
    pub writer: Writer,
    pub reader: Reader,
}

impl Pipes {
    /// Makes pipes fresh ones again.
    ///
    /// # Safety
    /// Both ranks have left them: neither uses an end any more, and none is opened before this returns.
    pub unsafe fn renew(segment: Segment<'static>, offset: usize) {
        for side in 0..2 {
            if let Some(base) = Self::base(segment, offset, side) {
                // SAFETY: mapped, and nobody uses it, by the caller; zeros are valid.
                unsafe { base.write_bytes(0, size_of::<Control>()) };
            }
        }
    }

    /// The ends of one of the two ranks; `None` if none can be there.
    ///
    /// # Safety
    /// The pipes are fresh, and this rank has no other ends of them.
    pub unsafe fn open(segment: Segment<'static>, offset: usize, me: usize) -> Option<Pipes> {
        let (out, into) = (
            Self::base(segment, offset, me)?,
            Self::base(segment, offset, 1 - me)?,
        );
        Some(Pipes {
            writer: Writer {
                end: End::new(out),
                seen: 0,
                ends: [0; STAMPS],
                stores: Stores::Ordinary,
            },
            reader: Reader {
                end: End::new(into),
            },
        })
    }

    fn base(segment: Segment<'static>, offset: usize, side: usize) -> Option<*mut u8> {
        let base = segment.dynamic(offset, PAIR_BYTES)?;
        Some(base.wrapping_add(side * PIPE_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout::{initialise, segment_bytes};
    use std::os::fd::AsFd;

    #[test]
    fn pieces_of_all_lengths_come_through_and_none_is_overwritten() {
        let fd = memory::create("test", segment_bytes(2), false).unwrap();
        initialise(fd.as_fd(), 2).unwrap();
        let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, 2).unwrap();
        let offset = segment.allocate(fd.as_fd(), PAIR_BYTES).unwrap();
        // SAFETY: fresh, and each rank's ends once.
        let open = |me: usize| unsafe { Pipes::open(segment, offset, me) };
        let mut one = open(0).unwrap().writer;
        let mut two = open(1).unwrap().reader;
        let lengths = [0, 1, 64, 5000, LONGEST, 20_001, LONGEST - 1];
        let length = |piece: usize| lengths[piece * 5 % lengths.len()];
        let (mut written, mut read) = (0, 0);
        let pieces = if cfg!(miri) { 80 } else { 1000 };
        while read < pieces {
            // As far ahead as it goes, then some are read.
            while one.has_room(length(written)) {
                one.write(length(written), 7 * written, |out, stores| {
                    out.fill(written as u8);
                    stores.finish();
                });
                written += 1;
                assert!(written - read <= STAMPS);
            }
            for _ in 0..=read % 9 {
                if read < written {
                    assert!(two.is_shown());
                    two.read(|data, total| {
                        assert_eq!((data.len(), total), (length(read), 7 * read));
                        assert!(data.iter().all(|byte| *byte == read as u8));
                    });
                    read += 1;
                }
            }
        }
        while read < written {
            two.read(|data, _| {
                assert!(data.iter().all(|byte| *byte == read as u8));
            });
            read += 1;
        }
        assert!(!two.is_shown());
        // A second pair of ranks finds nothing of it.
        // SAFETY: the ends above are used no more.
        unsafe { Pipes::renew(segment, offset) };
        assert!(!open(1).unwrap().reader.is_shown());
        // SAFETY: there is nothing to be opened.
        assert!(unsafe { Pipes::open(segment, 64, 0) }.is_none());
    }
}
