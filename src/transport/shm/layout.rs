//! What lies where in the job's segment. Fixed offsets are functions of the number of ranks; the rest is handed out
//! by a counter that only grows. A segment of zeros with the header of [`initialise`] is a valid, empty one, so no rank
//! waits for another before it sends.

use super::desks;
use super::heap;
use super::settings::{Reference, Settings};
use crate::node;
use crate::os::memory::{self, Mapping};
use crate::queue::bulk_ring::{self, BulkRing};
use crate::queue::eventcount::{self, EventCount};
use crate::queue::ring::{self, Claim, Control, Producer, Ring, SLOT_BYTES, Slot};
use crate::queue::shape::{self, shape};
use crate::queue::shares;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::transport::life::End;
use crate::transport::peer::{self, Page};
use crate::variables::{Listed, Variable};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::BorrowedFd;

/// Says that a file is a segment of oxmpi, of whatever build.
const MAGIC: u64 = u64::from_le_bytes(*b"oxmpi\0\0\x02");
/// What this build believes of the segment: its own version, and every size and offset. A build that believes something else is
/// refused, for it would read other memory than was written.
const LAYOUT: u64 = {
    let version = shape::bytes(shape::START, env!("CARGO_PKG_VERSION").as_bytes());
    let sizes = [
        PAGE,
        RANK_BYTES,
        ENGINES,
        INBOX_BYTES,
        FURTHER_INBOX_BYTES,
        LEAST_PRIVATE_SLOTS,
        MOST_PRIVATE_SLOTS,
        dynamic(1),
    ];
    let (mut fixed, mut at) = (shape::START, 0);
    while at < sizes.len() {
        fixed = shape::number(fixed, sizes[at]);
        at += 1;
    }
    shape::combine(&[
        version,
        fixed,
        ring::SHAPE,
        bulk_ring::SHAPE,
        eventcount::SHAPE,
        shares::SHAPE,
        node::SHAPE,
        peer::SHAPE,
        super::SHAPE,
        shape!(SegmentHeader {
            magic,
            layout,
            version,
            ranks,
            fences,
            deaths,
            wanted,
            settings,
            bytes,
            next,
            staging,
            areas,
            desks,
            ends,
            processes,
            heap,
            node
        }),
        shape!(RankPage {
            event_counts,
            inbox,
            memory,
            private_rings,
            core,
            further,
            _pad,
            claims,
            status,
            settings
        }),
    ])
};
/// Words for the version of the build that made the segment.
const VERSION_WORDS: usize = 2;
const PAGE: usize = 4096;
/// Slots of a rank's inbox, which every other rank writes to.
pub const INBOX_SLOTS: usize = 512;
/// Engines of a process, at most; each has an inbox and an event count.
pub const ENGINES: usize = 16;
/// Slots of a private ring between one pair, at most: 32 KB.
const MOST_PRIVATE_SLOTS: usize = 1024;
/// And at least.
const LEAST_PRIVATE_SLOTS: usize = 128;
const RANK_BYTES: usize = 3 * PAGE;
const INBOX_BYTES: usize = INBOX_SLOTS * SLOT_BYTES;
/// The inbox of an engine but the first.
const FURTHER_INBOX_BYTES: usize = (size_of::<Control>() + INBOX_BYTES).next_multiple_of(PAGE);

/// Slots of a private ring where there are so many ranks: the more ranks, the more rings.
fn private_slots(ranks: usize) -> usize {
    (8 * MOST_PRIVATE_SLOTS / ranks.next_power_of_two())
        .clamp(LEAST_PRIVATE_SLOTS, MOST_PRIVATE_SLOTS)
}

fn private_bytes(ranks: usize) -> usize {
    size_of::<Control>() + private_slots(ranks) * SLOT_BYTES
}

const fn bulk_ring_bytes(slots: usize) -> usize {
    size_of::<bulk_ring::Control>() + slots * bulk_ring::SLOT_BYTES
}

/// The first pages.
#[repr(C)]
pub struct SegmentHeader {
    magic: AtomicU64,
    layout: AtomicU64,
    version: [AtomicU64; VERSION_WORDS],
    ranks: AtomicU32,
    /// Not zero: some rank cannot use membarrier, so senders fence.
    pub fences: AtomicU32,
    /// How often mpiexec has told of deaths (`Segment::tell_of_deaths`).
    pub deaths: AtomicU32,
    /// How often mpiexec has asked all ranks to look again (`Segment::want_looks`).
    pub wanted: AtomicU32,
    pub settings: Reference,
    /// Bytes of the segment. The file may be longer, see [`heap`].
    bytes: AtomicU64,
    /// First byte that has not been handed out.
    next: AtomicU64,
    /// Bytes of all staging areas and their large rings.
    pub staging: AtomicU64,
    /// Where the staging area is that was added last.
    pub areas: AtomicU64,
    /// Where communicators agree.
    pub desks: desks::Shared,
    /// Where the ends of processes of other hosts are told, and of how many processes; 0: nowhere.
    ends: AtomicU64,
    processes: AtomicU64,
    /// The memory behind the segment.
    pub heap: heap::Shared,
    /// The ranks and their cores.
    pub node: crate::node::Shared,
}

const HEADER_BYTES: usize = size_of::<SegmentHeader>().next_multiple_of(PAGE);
// All builds, past and future, look for these there.
#[cfg(not(loom))]
const _: () = assert!(
    std::mem::offset_of!(SegmentHeader, layout) == 8
        && std::mem::offset_of!(SegmentHeader, version) == 16
);

/// What a rank tells of itself.
#[repr(C)]
pub struct RankPage {
    /// One for each engine.
    pub event_counts: [EventCount; ENGINES],
    inbox: Control,
    pub memory: heap::RankMemory,
    /// Private rings that lead to this rank.
    pub private_rings: AtomicU32,
    /// The number of the core this rank was last seen on, plus 1; 0: unknown.
    pub core: AtomicU32,
    /// Which of its engines but the first are in use, a set of bits.
    further: AtomicU32,
    _pad: [u8; 36],
    /// What each of its engines claims of an inbox of others.
    pub claims: [Claim; ENGINES],
    pub status: Page,
    pub settings: Settings,
}

const _: () = assert!(size_of::<RankPage>() <= RANK_BYTES);

const fn inboxes(ranks: usize) -> usize {
    HEADER_BYTES + ranks * RANK_BYTES
}

/// Room for the inboxes of all engines but the first, so that what else is allocated cannot use it up. Its pages are
/// allocated for the engines that a rank offers.
const fn further_inboxes(ranks: usize) -> usize {
    inboxes(ranks) + ranks * INBOX_BYTES
}

const fn further_inbox(ranks: usize, rank: usize, engine: usize) -> usize {
    further_inboxes(ranks) + (rank * (ENGINES - 1) + engine - 1) * FURTHER_INBOX_BYTES
}

const fn dynamic(ranks: usize) -> usize {
    further_inbox(ranks, ranks, 1)
}

static SEGMENT_BYTES: Variable<u64> = Variable::new(
    "SEGMENT_BYTES",
    0,
    "The most memory that the ranks of a node share besides their inboxes, for mpiexec to know, bytes; 0: 160 MB and 6 MB a rank. \
     Where it is used up, messages are slower and collective operations go by messages.",
);
/// What users can set about the segment.
pub static VARIABLES: &[&dyn Listed] = &[&SEGMENT_BYTES];

/// The size of a segment for so many ranks, bytes; sparse, what is used is far less.
pub fn segment_bytes(ranks: usize) -> u64 {
    let most = (160 << 20) + ranks as u64 * (6 << 20);
    let wanted = match SEGMENT_BYTES.get() {
        0 => most,
        bytes => bytes.min(most).next_multiple_of(PAGE as u64),
    };
    dynamic(ranks) as u64 + wanted
}

/// Makes a fresh file of [`segment_bytes`] a segment: allocates what is fixed and writes the header.
///
/// Errors: out of memory for the fixed part.
pub fn initialise(fd: BorrowedFd<'_>, ranks: usize) -> Result<()> {
    memory::allocate(fd, 0, further_inboxes(ranks) as u64)?;
    let map = Mapping::of(fd)?;
    let header = header(&map)?;
    header.ranks.store(ranks as u32, Ordering::Relaxed);
    header.bytes.store(map.bytes() as u64, Ordering::Relaxed);
    header.next.store(dynamic(ranks) as u64, Ordering::Relaxed);
    let version = env!("CARGO_PKG_VERSION").as_bytes().chunks(8);
    for (word, chunk) in header.version.iter().zip(version) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
    }
    header.layout.store(LAYOUT, Ordering::Relaxed);
    header.magic.store(MAGIC, Ordering::Release);
    Ok(())
}

/// Maps the segment alone of a file that may be longer. What is no segment of this build is mapped whole, for [`Segment::open`] to refuse.
///
/// Errors: the kernel's.
pub fn map(fd: BorrowedFd<'_>) -> Result<Mapping> {
    let size = memory::size(fd)? as usize;
    let first = Mapping::of_part(fd, 0, size.min(HEADER_BYTES))?;
    let bytes = header(&first).map_or(size, |header| {
        let is_ours = header.magic.load(Ordering::Acquire) == MAGIC
            && header.layout.load(Ordering::Relaxed) == LAYOUT;
        match is_ours {
            true => header.bytes.load(Ordering::Relaxed) as usize,
            false => size,
        }
    });
    let map = Mapping::of_part(fd, 0, bytes.min(size))?;
    map.leave_out_of_core_dumps()?;
    Ok(map)
}

fn header(map: &Mapping) -> Result<&SegmentHeader> {
    let address = map
        .at(0, size_of::<SegmentHeader>())
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, "the segment is too small"))?;
    // SAFETY: inside the mapping, page-aligned, atomics only, borrowed as long as the mapping.
    Ok(unsafe { &*address.cast::<SegmentHeader>() })
}

impl SegmentHeader {
    /// The version of the build that made the segment.
    fn version(&self) -> String {
        let words = self.version.iter();
        let bytes = words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        let text = bytes.take_while(u8::is_ascii_graphic).map(char::from);
        text.collect()
    }
}

/// A mapped segment of a known number of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'m> {
    map: &'m Mapping,
    ranks: usize,
}

impl<'m> Segment<'m> {
    /// Checks that `map` is a segment for `ranks` ranks.
    ///
    /// Errors: InvalidData if it is not.
    pub fn open(map: &'m Mapping, ranks: usize) -> Result<Self> {
        let found = header(map)?;
        let is_segment = found.magic.load(Ordering::Acquire) == MAGIC;
        if is_segment && found.layout.load(Ordering::Relaxed) != LAYOUT {
            return Err(Error::new(
                ErrorKind::InvalidData,
                format!(
                    "it was made by another build of oxmpi, version {}, and this is version {}: mpiexec and libmpi must be of one \
                     installation",
                    found.version(),
                    env!("CARGO_PKG_VERSION"),
                ),
            ));
        }
        let good = is_segment
            && found.ranks.load(Ordering::Relaxed) as usize == ranks
            && map.bytes() >= dynamic(ranks);
        if !good {
            return Err(Error::new(
                ErrorKind::InvalidData,
                format!("the inherited memory is not the segment of a job of {ranks} ranks"),
            ));
        }
        Ok(Self { map, ranks })
    }

    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.map.bytes()
    }

    pub fn header(&self) -> &'m SegmentHeader {
        // SAFETY: `open` checked the size; atomics only.
        unsafe { &*self.map.base().cast::<SegmentHeader>() }
    }

    /// The page of a rank. `rank` must be below `ranks`.
    pub fn rank(&self, rank: usize) -> &'m RankPage {
        assert!(rank < self.ranks);
        // SAFETY: `open` checked that the pages of all ranks are mapped; they hold atomics only.
        unsafe { &*self.map.base().add(HEADER_BYTES + rank * RANK_BYTES).cast() }
    }

    /// The inbox of a rank.
    pub fn inbox(&self, rank: usize) -> Ring<'m> {
        let page = self.rank(rank);
        // SAFETY: `open` checked that the inboxes are mapped; slots are aligned and valid for any content.
        let slots = unsafe {
            let first = self
                .map
                .base()
                .add(inboxes(self.ranks) + rank * INBOX_BYTES);
            std::slice::from_raw_parts(first.cast::<Slot>(), INBOX_SLOTS)
        };
        Ring::new(&page.inbox, slots)
    }

    /// The inbox of one of a rank's engines. `None`: the rank does not use that engine yet.
    pub fn inbox_of(&self, rank: usize, engine: usize) -> Option<Ring<'m>> {
        if engine == 0 {
            return Some(self.inbox(rank));
        }
        // Acquire: pairs with `open_inbox`.
        let open = self.rank(rank).further.load(Ordering::Acquire);
        (open >> engine & 1 != 0).then(|| self.further_inbox(rank, engine))
    }

    /// The end of one of `me`'s engines that writes to the inbox of `rank`'s engine of that number. `None`: as of [`Segment::inbox_of`].
    pub fn sender(&self, me: usize, rank: usize, engine: usize) -> Option<Producer<'m>> {
        let inbox = self.inbox_of(rank, engine)?;
        Some(inbox.producer(&self.rank(me).claims[engine], rank as u16))
    }

    fn further_inbox(&self, rank: usize, engine: usize) -> Ring<'m> {
        assert!(rank < self.ranks && (1..ENGINES).contains(&engine));
        let offset = further_inbox(self.ranks, rank, engine);
        // SAFETY: `open` checked that the room of all inboxes is mapped; atomics and slots are valid for any content.
        unsafe { ring_at(self.map.base().add(offset), INBOX_SLOTS) }
    }

    /// Allocates the inboxes of so many engines of the own rank. Returns how many there is memory for, at least one.
    pub fn reserve_inboxes(&self, fd: BorrowedFd<'_>, rank: usize, engines: usize) -> usize {
        let reserve = |engine: &usize| {
            let offset = further_inbox(self.ranks, rank, *engine) as u64;
            memory::allocate(fd, offset, FURTHER_INBOX_BYTES as u64).is_ok()
        };
        1 + (1..engines.min(ENGINES)).take_while(reserve).count()
    }

    /// The inbox of one of the own rank's engines, which was reserved; senders find it from now on.
    pub fn open_inbox(&self, rank: usize, engine: usize) -> Ring<'m> {
        let further = &self.rank(rank).further;
        further.fetch_or(1 << engine, Ordering::Release); // pairs with `inbox_of`
        self.further_inbox(rank, engine)
    }

    /// Hands out `bytes` of fresh zeros, page-aligned and allocated.
    ///
    /// Errors: out of memory (the kernel's, or the segment is used up).
    pub fn allocate(&self, fd: BorrowedFd<'_>, bytes: usize) -> Result<usize> {
        let bytes = bytes.next_multiple_of(PAGE) as u64;
        let (next, end) = (&self.header().next, self.map.bytes() as u64);
        // What finds no room takes none, for it may be tried again and again.
        let after = |next: u64| Some(next + bytes).filter(|next| *next <= end);
        let offset = next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after)
            .map_err(|_| Error::from_raw_os_error(libc::ENOMEM))?;
        if let Err(error) = memory::allocate(fd, offset, bytes) {
            let (after, order) = (offset + bytes, Ordering::Relaxed);
            let _ = next.compare_exchange(after, offset, order, order);
            return Err(error);
        }
        Ok(offset as usize)
    }

    /// Makes room for the ends of processes of other hosts, in a job of so many, before any rank joins.
    ///
    /// Errors: out of memory.
    pub fn make_ends(&self, fd: BorrowedFd<'_>, processes: usize) -> Result<()> {
        let offset = self.allocate(fd, processes * size_of::<End>())?;
        let header = self.header();
        header.processes.store(processes as u64, Ordering::Relaxed);
        header.ends.store(offset as u64, Ordering::Release);
        Ok(())
    }

    /// The ends of all processes of the job, by number, if mpiexec tells them.
    pub fn ends(&self) -> Option<&'m [End]> {
        let header = self.header();
        let offset = header.ends.load(Ordering::Acquire) as usize;
        let processes = header.processes.load(Ordering::Relaxed) as usize;
        let address = self.dynamic(offset, processes.checked_mul(size_of::<End>())?)?;
        // SAFETY: checked to lie in the dynamic part and aligned; a word is valid for any content.
        Some(unsafe { std::slice::from_raw_parts(address.cast(), processes) })
    }

    /// Allocates a private ring; returns where.
    pub fn allocate_private(&self, fd: BorrowedFd<'_>) -> Result<usize> {
        self.allocate(fd, private_bytes(self.ranks))
    }

    /// The private ring at an offset that another rank told; `None` if no ring can be there.
    pub fn private(&self, offset: usize) -> Option<Ring<'m>> {
        let address = self.dynamic(offset, private_bytes(self.ranks))?;
        // SAFETY: checked to lie in the dynamic part and aligned; atomics and slots are valid for any content.
        unsafe { Some(ring_at(address, private_slots(self.ranks))) }
    }

    /// Allocates a bulk ring of so many cells; returns where.
    pub fn allocate_bulk_ring(&self, fd: BorrowedFd<'_>, slots: usize) -> Result<usize> {
        self.allocate(fd, bulk_ring_bytes(slots))
    }

    /// The bulk ring at an offset that another rank told; `None` if no bulk ring can be there.
    pub fn bulk_ring(&self, offset: usize, slots: usize) -> Option<BulkRing<'m>> {
        if slots < bulk_ring::LEAST_SLOTS || slots > self.map.bytes() / bulk_ring::SLOT_BYTES {
            return None;
        }
        let address = self.dynamic(offset, bulk_ring_bytes(slots))?;
        // SAFETY: checked to lie in the dynamic part and aligned; atomics and cells are valid for any content.
        unsafe {
            let control = &*address.cast::<bulk_ring::Control>();
            let first = address
                .add(size_of::<bulk_ring::Control>())
                .cast::<bulk_ring::Slot>();
            Some(BulkRing::new(
                control,
                std::slice::from_raw_parts(first, slots),
            ))
        }
    }

    /// The address of a line-aligned range in the dynamic part; `None` for anything else.
    #[inline]
    pub fn dynamic(&self, offset: usize, bytes: usize) -> Option<*mut u8> {
        if offset < dynamic(self.ranks) || !offset.is_multiple_of(64) {
            return None;
        }
        self.map.at(offset, bytes)
    }
}

/// The ring whose counters and slots begin at `address`.
///
/// # Safety
/// So many bytes are mapped there for `'m`, aligned for a line.
unsafe fn ring_at<'m>(address: *mut u8, slots: usize) -> Ring<'m> {
    // SAFETY: the caller's promise; atomics and slots are valid for any content.
    unsafe {
        let control = &*address.cast::<Control>();
        let first = address.add(size_of::<Control>()).cast::<Slot>();
        Ring::new(control, std::slice::from_raw_parts(first, slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::ring::Consumer;
    use std::os::fd::AsFd;

    fn consumer(ring: Ring<'_>) -> Consumer<'_> {
        // SAFETY: these tests have one consumer of a ring at a time, in one thread.
        unsafe { ring.consumer() }
    }

    #[test]
    fn a_fresh_segment_opens_for_its_ranks_only() {
        let fd = memory::create("test", segment_bytes(3), false).unwrap();
        initialise(fd.as_fd(), 3).unwrap();
        let map = Mapping::of(fd.as_fd()).unwrap();
        assert!(Segment::open(&map, 4).is_err());
        let segment = Segment::open(&map, 3).unwrap();
        let first = segment.allocate(fd.as_fd(), 100).unwrap();
        let second = segment.allocate_private(fd.as_fd()).unwrap();
        assert!(first >= dynamic(3) && second >= first + 100);
        assert!(segment.private(second).is_some());
        assert!(segment.private(0).is_none());
        assert!(segment.private(second + 1).is_none());
        assert!(segment.private(usize::MAX - 63).is_none());
        let mut producer = segment.sender(0, 2, 0).unwrap();
        let header = crate::queue::ring::SlotHeader::default();
        assert!(producer.push(&header, |_, _| {}));
        assert_eq!(consumer(segment.inbox(2)).peek(), Some(header));
        assert!(consumer(segment.inbox(1)).peek().is_none());
        assert!(segment.inbox_of(1, 3).is_none());
        assert_eq!(segment.reserve_inboxes(fd.as_fd(), 1, 4), 4);
        assert!(segment.inbox_of(1, 3).is_none());
        let further = segment.open_inbox(1, 3);
        let mut sender = segment.sender(0, 1, 3).unwrap();
        assert!(sender.push(&header, |_, _| {}));
        assert_eq!(consumer(further).peek(), Some(header));
        let again = segment.inbox_of(1, 3).unwrap();
        assert_eq!(consumer(again).peek(), Some(header));
        assert!(consumer(segment.inbox(1)).peek().is_none());
        for _ in 0..3 {
            assert!(segment.allocate(fd.as_fd(), 200 << 20).is_err());
        }
        assert!(segment.allocate(fd.as_fd(), 1).is_ok());
    }

    #[test]
    fn a_segment_of_another_build_is_refused() {
        let fd = memory::create("test", segment_bytes(1), false).unwrap();
        initialise(fd.as_fd(), 1).unwrap();
        let map = Mapping::of(fd.as_fd()).unwrap();
        let header = header(&map).unwrap();
        header.layout.fetch_xor(1, Ordering::Relaxed);
        header.version[0].store(u64::from_le_bytes(*b"9.8.7\0\0\0"), Ordering::Relaxed);
        let refused = Segment::open(&map, 1).unwrap_err().to_string();
        let made = "another build of oxmpi, version 9.8.7, and this is version ";
        assert!(refused.contains(made), "{refused}");
        header.magic.store(0, Ordering::Relaxed);
        let refused = Segment::open(&map, 1).unwrap_err().to_string();
        assert!(refused.contains("is not the segment"), "{refused}");
    }

    #[test]
    fn a_segment_that_is_used_up_still_has_its_inboxes() {
        let ranks = 3;
        let fd = memory::create("test", dynamic(ranks) as u64, false).unwrap();
        initialise(fd.as_fd(), ranks).unwrap();
        let map = Mapping::of(fd.as_fd()).unwrap();
        let segment = Segment::open(&map, ranks).unwrap();
        assert!(segment.allocate(fd.as_fd(), 1).is_err());
        for rank in 0..ranks {
            let found = segment.reserve_inboxes(fd.as_fd(), rank, ENGINES);
            assert_eq!(found, ENGINES);
            for engine in 1..ENGINES {
                segment.open_inbox(rank, engine);
            }
        }
        // Each is an inbox of its own.
        let named = |rank: usize, engine: usize| crate::queue::ring::SlotHeader {
            context: (rank * ENGINES + engine) as u32,
            ..Default::default()
        };
        let all = || (0..ranks).flat_map(|rank| (0..ENGINES).map(move |engine| (rank, engine)));
        for (rank, engine) in all() {
            let mut producer = segment.sender(0, rank, engine).unwrap();
            while producer.push(&named(rank, engine), |_, _| {}) {}
        }
        for (rank, engine) in all() {
            let mut consumer = consumer(segment.inbox_of(rank, engine).unwrap());
            let mut packets = 0;
            while let Some(found) = consumer.peek() {
                assert_eq!(found, named(rank, engine));
                consumer.advance(found.length as usize);
                packets += 1;
            }
            assert_eq!(packets, INBOX_SLOTS);
        }
    }

    #[test]
    fn no_memory_for_inboxes_means_fewer_engines() {
        let fd = memory::create("test", dynamic(1) as u64, false).unwrap();
        initialise(fd.as_fd(), 1).unwrap();
        let map = Mapping::of(fd.as_fd()).unwrap();
        let segment = Segment::open(&map, 1).unwrap();
        // A descriptor that nothing can be allocated by.
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
        let read_only = std::fs::File::open(path).unwrap();
        assert_eq!(segment.reserve_inboxes(read_only.as_fd(), 0, ENGINES), 1);
    }
}
