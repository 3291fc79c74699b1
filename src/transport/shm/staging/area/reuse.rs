//! Which processes have something of a staging area, and how it is used again when none has.
//!
//! All areas of a node are in a list. Invariant: a process claims one when each of its ranks has left it or has ended, or when the process
//! that claimed it before has ended without having made it. A rank that is invited and has not come keeps it, too, unless others have
//! died: then it is shut out, for the word of the area may never reach it.

use super::{Area, Geometry, Head};
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU64, Ordering};
use crate::transport::shm::layout::Segment;
use smallvec::SmallVec;
use std::os::fd::BorrowedFd;

/// All areas of a node together, bytes: so much, and so much more for each of its ranks.
const NODE_BYTES: u64 = 64 << 20;
const NODE_BYTES_PER_RANK: u64 = 512 << 10;

/// What a rank tells of itself.
#[repr(C, align(64))]
pub(super) struct Own {
    /// Up to which round it has acknowledged.
    pub acknowledged: AtomicU64,
    /// Whether it has come, and left: a [`Mark`].
    state: AtomicU64,
}

/// What stays when an area is used again.
#[repr(C, align(64))]
pub(super) struct Lasting {
    /// The area that was added to the list before this one; zero: none.
    before: AtomicU64,
    /// The [`Geometry`].
    ranks: AtomicU64,
    lines: AtomicU64,
    slot: AtomicU64,
    large_ring: AtomicU64,
    /// The process that makes it, or has made it: a [`Mark`].
    maker: AtomicU64,
    /// Where the large rings are; zero: nowhere.
    pub large: AtomicU64,
}

pub(super) const SHAPE: u64 = shape::combine(&[
    shape!(Own {
        acknowledged,
        state
    }),
    shape!(Lasting {
        before,
        ranks,
        lines,
        slot,
        large_ring,
        maker,
        large
    }),
]);

impl Lasting {
    fn geometry(&self) -> Geometry {
        let number = |word: &AtomicU64| word.load(Ordering::Relaxed) as usize;
        Geometry {
            ranks: number(&self.ranks),
            lines: number(&self.lines),
            slot: number(&self.slot),
            large: number(&self.large_ring),
        }
    }

    fn set_geometry(&self, geometry: Geometry) {
        let set = |word: &AtomicU64, number| word.store(number as u64, Ordering::Relaxed);
        set(&self.ranks, geometry.ranks);
        set(&self.lines, geometry.lines);
        set(&self.slot, geometry.slot);
        set(&self.large_ring, geometry.large);
    }
}

/// A process, by its index in the segment, in one use of an area.
#[derive(Clone, Copy)]
struct Mark {
    /// The how manyth use it is.
    number: u32,
    seat: u32,
    state: u64,
}

/// States of a maker.
const MAKES: u64 = 0;
const HAS_MADE: u64 = 1;
/// States of a rank.
const INVITED: u64 = 1;
const PRESENT: u64 = 2;
const LEFT: u64 = 3;

impl Mark {
    fn of(word: u64) -> Mark {
        Mark {
            number: (word >> 32) as u32,
            seat: word as u32 >> 2,
            state: word & 3,
        }
    }

    fn word(self) -> u64 {
        u64::from(self.number) << 32 | u64::from(self.seat) << 2 | self.state
    }

    fn to(self, state: u64) -> Mark {
        Mark { state, ..self }
    }

    fn has_ended(self, segment: Segment<'static>) -> bool {
        let seat = self.seat as usize;
        seat < segment.ranks() && segment.rank(seat).status.stores_no_more()
    }
}

/// Changes a mark that is still so. What whoever wrote it has done before is seen.
fn change(word: &AtomicU64, from: Mark, to: Mark) -> bool {
    let (order, otherwise) = (Ordering::Acquire, Ordering::Relaxed);
    word.compare_exchange(from.word(), to.word(), order, otherwise)
        .is_ok()
}

/// Where an area is, and the how manyth use of it is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub offset: u64,
    pub number: u32,
}

/// Fresh memory of the segment, unless the node's areas have too much then. Rings leave a quarter to other areas.
pub(super) fn allocate(
    segment: Segment<'static>,
    fd: BorrowedFd<'_>,
    bytes: usize,
    is_area: bool,
) -> Option<usize> {
    let most = NODE_BYTES + NODE_BYTES_PER_RANK * segment.ranks() as u64;
    let most = if is_area { most } else { most / 4 * 3 };
    let used = &segment.header().staging;
    if used.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64 > most {
        used.fetch_sub(bytes as u64, Ordering::Relaxed);
        return None;
    }
    let allocated = segment.allocate(fd, bytes).ok();
    if allocated.is_none() {
        used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
    allocated
}

impl Area {
    /// An area of zeros for the processes of some seats, of which this one, `me`, is the first. `None`: there is no memory for it.
    pub fn make(
        segment: Segment<'static>,
        fd: BorrowedFd<'_>,
        geometry: Geometry,
        me: u32,
        seats: impl Iterator<Item = u32>,
    ) -> Option<Told> {
        let again = Area::all(segment, geometry).find_map(|area| area.claim(segment, me));
        let (area, maker) = again.or_else(|| Area::add(segment, fd, geometry, me))?;
        for (rank, seat) in seats.enumerate() {
            let mark = Mark { seat, ..maker }.to(INVITED);
            area.own(rank).state.store(mark.word(), Ordering::Relaxed);
        }
        let made = maker.to(HAS_MADE).word();
        // Release: pairs with `claim`.
        area.lasting().maker.store(made, Ordering::Release);
        Some(Told {
            offset: area.offset as u64,
            number: maker.number,
        })
    }

    /// All areas of the node with that geometry.
    fn all(segment: Segment<'static>, geometry: Geometry) -> impl Iterator<Item = Area> {
        // Acquire: pairs with `add`.
        let mut next = segment.header().areas.load(Ordering::Acquire);
        let all = std::iter::from_fn(move || {
            let area = Area::at(segment, next, geometry, size_of::<Head>())?;
            next = area.lasting().before.load(Ordering::Relaxed);
            Some(area)
        });
        all.filter(move |area| area.lasting().geometry() == geometry)
    }

    /// Adds an area to the list, which this process makes.
    fn add(
        segment: Segment<'static>,
        fd: BorrowedFd<'_>,
        geometry: Geometry,
        me: u32,
    ) -> Option<(Area, Mark)> {
        let offset = allocate(segment, fd, geometry.bytes(), true)? as u64;
        let area = Area::at(segment, offset, geometry, geometry.bytes())?;
        let maker = Mark {
            number: 0,
            seat: me,
            state: MAKES,
        };
        let lasting = area.lasting();
        lasting.set_geometry(geometry);
        lasting.maker.store(maker.word(), Ordering::Relaxed);
        let add = |before| {
            lasting.before.store(before, Ordering::Relaxed);
            Some(offset)
        };
        // Release: pairs with `all`.
        let (order, otherwise) = (Ordering::Release, Ordering::Relaxed);
        let _ = segment.header().areas.fetch_update(order, otherwise, add);
        Some((area, maker))
    }

    /// Takes an area of which nobody has anything any more, and sets it to zero.
    fn claim(self, segment: Segment<'static>, me: u32) -> Option<(Area, Mark)> {
        let word = &self.lasting().maker;
        let maker = Mark::of(word.load(Ordering::Acquire));
        let is_free = match maker.state {
            MAKES => maker.has_ended(segment),
            _ => self.is_left(segment),
        };
        let mine = Mark {
            number: maker.number.wrapping_add(1),
            seat: me,
            state: MAKES,
        };
        if !is_free || !change(word, maker, mine) {
            return None;
        }
        let (lasting, bytes) = (size_of::<Lasting>(), self.geometry.bytes());
        // SAFETY: inside the area, which no other process has until this one tells where it is.
        unsafe { self.base.add(lasting).write_bytes(0, bytes - lasting) };
        Some((self, mine))
    }

    /// Whether none of its ranks has anything of it any more. Each mark is read once: a rank may come meanwhile.
    fn is_left(&self, segment: Segment<'static>) -> bool {
        let mut invited = SmallVec::<[(usize, Mark); 16]>::new();
        let mut first_ended = None;
        for rank in (0..self.geometry.ranks).rev() {
            // Acquire: pairs with `leave`.
            let mark = Mark::of(self.own(rank).state.load(Ordering::Acquire));
            match mark.state {
                _ if mark.has_ended(segment) => first_ended = Some((rank, mark.state)),
                PRESENT => return false,
                INVITED => invited.push((rank, mark)),
                _ => {}
            }
        }
        // Rank 0 tells the others where the area is; if it has left, it has told them.
        let is_vain = match first_ended {
            Some((0, INVITED | PRESENT)) => true,
            Some(_) => self.lost().is_some(),
            None => false,
        };
        let shut_out =
            |(rank, mark): (usize, Mark)| change(&self.own(rank).state, mark, mark.to(LEFT));
        invited.is_empty() || is_vain && invited.into_iter().all(shut_out)
    }

    /// The area of which another rank told, for a rank of it. `None`: none can be there, or the rank is shut out.
    pub fn open(
        segment: Segment<'static>,
        told: Told,
        geometry: Geometry,
        rank: usize,
    ) -> Option<Area> {
        let area = Area::at(segment, told.offset, geometry, geometry.bytes())?;
        if cfg!(thread_sanitizer) {
            // A thread of this process may have left the area as another rank of it. The process that claimed the area since then has ordered
            // that before this call, which the sanitizer cannot see: it knows what one process does.
            for other in 0..geometry.ranks {
                area.own(other).state.load(Ordering::Acquire);
            }
        }
        let word = &area.own(rank).state;
        let mark = Mark::of(word.load(Ordering::Relaxed));
        let is_invited = (mark.number, mark.state) == (told.number, INVITED);
        (is_invited && change(word, mark, mark.to(PRESENT))).then_some(area)
    }

    fn at(
        segment: Segment<'static>,
        offset: u64,
        geometry: Geometry,
        bytes: usize,
    ) -> Option<Area> {
        Some(Area {
            base: segment.dynamic(offset as usize, bytes)?,
            offset: offset as usize,
            large: std::ptr::null_mut(),
            geometry,
        })
    }

    /// A rank uses the area no more, nor any copy of this.
    pub fn leave(&self, rank: usize) {
        // Release: pairs with `is_left`.
        self.own(rank).state.fetch_or(LEFT, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory;
    use crate::sync::keep::keep;
    use crate::sync::{AtomicUsize, scheduler};
    use crate::transport::State;
    use crate::transport::shm::layout::{initialise, map, segment_bytes};
    use crate::transport::shm::staging::Staging;
    use std::os::fd::{AsFd, OwnedFd};

    const RANKS: usize = 3;

    struct Node {
        segment: Segment<'static>,
        fd: OwnedFd,
    }

    impl Node {
        fn new() -> Node {
            let fd = memory::create("test", segment_bytes(RANKS), false).unwrap();
            initialise(fd.as_fd(), RANKS).unwrap();
            let map = keep(map(fd.as_fd()).unwrap());
            let segment = Segment::open(map, RANKS).unwrap();
            Node { segment, fd }
        }

        fn geometry() -> Geometry {
            Geometry::of_operation(RANKS)
        }

        fn make(&self, me: u32) -> Told {
            let seats = (me..RANKS as u32).chain(0..me);
            let made = Area::make(self.segment, self.fd.as_fd(), Self::geometry(), me, seats);
            made.unwrap()
        }

        fn open(&self, told: Told, rank: usize) -> Option<Staging> {
            let area = Area::open(self.segment, told, Self::geometry(), rank)?;
            Some(Staging::new(area, rank))
        }

        fn all_open(&self, told: Told) -> [Staging; RANKS] {
            std::array::from_fn(|rank| self.open(told, rank).unwrap())
        }

        /// What it had mapped stays as it is.
        fn dies(&self, seat: usize, has: Option<Staging>) {
            std::mem::forget(has);
            let status = &self.segment.rank(seat).status;
            status.set_state(State::Joined);
            status.set_reaped();
        }
    }

    #[test]
    fn a_persistent_operation_finds_memory_beside_a_communicators_areas() {
        for ranks in [2, 4, 8, 16] {
            let (whole, bytes) = (Geometry::of(ranks), 64 << 10);
            let own = Geometry::of_persistent(ranks, Some(bytes));
            assert_eq!(own.slot, whole.slot, "without large rings as few rounds");
            assert!(own.large >= 2 * bytes, "{own:?}");
            // Those of blocking operations, and of nonblocking ones with little and with much data; rings of two.
            let areas = 2 * whole.bytes() + 4 * Geometry::of_operation(ranks).bytes();
            let used = areas + 2 * whole.large_bytes() + own.bytes() + own.large_bytes();
            let most = NODE_BYTES + NODE_BYTES_PER_RANK * ranks as u64;
            assert!(used as u64 <= most / 4 * 3, "{ranks} ranks: {used} bytes");
            assert_eq!(
                Geometry::of_persistent(ranks, Some(8)).slot,
                crate::transport::collective::UNIT
            );
        }
    }

    #[test]
    fn an_area_is_used_again_when_all_have_left_it() {
        let node = Node::new();
        let first = node.make(0);
        let [a, b, c] = node.all_open(first);
        a.area.acknowledge(0, 7);
        a.area.enter_barrier();
        drop((a, b));
        assert_ne!(node.make(1).offset, first.offset, "one is in it");
        drop(c);
        let again = node.make(2);
        assert_eq!((again.offset, again.number), (first.offset, 1));
        assert!(node.open(first, 0).is_none(), "an earlier use of it");
        let staging = node.open(again, 0).unwrap();
        let area = staging.area;
        assert_eq!((area.acknowledged(0), area.entered_barrier()), (0, 0));
        // Not before all have come.
        drop(staging);
        assert_ne!(node.make(2).offset, first.offset);
    }

    /// Of whoever dies, and whoever makes the next one: memory does not grow with the deaths.
    #[test]
    fn the_areas_of_the_dead_are_used_again() {
        for dead in 0..RANKS {
            let node = Node::new();
            let told = node.make(0);
            let mut all = node.all_open(told).map(Some);
            node.dies(dead, all[dead].take());
            let used = node.segment.header().staging.load(Ordering::Relaxed);
            let living: Vec<usize> = (0..RANKS).filter(|rank| *rank != dead).collect();
            all[living[0]] = None;
            let other = node.make(living[0] as u32);
            assert_ne!(other.offset, told.offset, "one is in it");
            all[living[1]] = None;
            assert_eq!(node.make(living[1] as u32).offset, told.offset);
            let now = node.segment.header().staging.load(Ordering::Relaxed);
            assert_eq!(now, 2 * used);
        }
    }

    /// A rank that the word of an area has not reached does not keep it, when the word is lost with the dead, and cannot come late.
    #[test]
    fn ranks_that_do_not_come_are_shut_out_after_a_death() {
        let node = Node::new();
        let told = node.make(0);
        let staging = node.open(told, 0);
        node.dies(1, None);
        staging.as_ref().unwrap().area.tell_lost(1, None);
        assert_ne!(node.make(2).offset, told.offset, "one is in it");
        drop(staging);
        assert_eq!(node.make(0).offset, told.offset);
        assert!(node.open(told, 2).is_none());

        let node = Node::new();
        let told = node.make(0);
        node.dies(0, node.open(told, 0));
        let late = node.open(told, 1);
        assert_ne!(node.make(2).offset, told.offset, "one has come");
        drop(late);
        assert_eq!(node.make(2).offset, told.offset);
        assert!(node.open(told, 2).is_none());
    }

    /// Ranks that have ended an operation may tell of a loss while a slower one is still in it.
    #[test]
    fn a_loss_breaks_the_operation_that_was_given_up_and_later_ones() {
        let node = Node::new();
        let told = node.make(0);
        let area = node.open(told, 0).unwrap().area;
        let broken = |rounds: [u64; 3]| rounds.map(|round| area.lost_meanwhile(round).is_some());
        area.tell_lost(1, None);
        assert_eq!(area.lost(), Some(1));
        assert_eq!(broken([3, 5, 9]), [false, false, false]);
        area.tell_lost(1, Some(9));
        assert_eq!(broken([3, 5, 9]), [false, false, true]);
        area.tell_lost(1, Some(5));
        area.tell_lost(1, Some(9));
        area.tell_lost(1, None);
        assert_eq!(broken([3, 5, 9]), [false, true, true]);
    }

    /// A rank that comes while another one looks at the marks is seen.
    #[test]
    fn a_rank_that_comes_late_keeps_its_area() {
        for seed in 0..2000 {
            let node = Node::new();
            let told = node.make(0);
            let done = AtomicUsize::new(0);
            scheduler::run(seed, RANKS, |me| {
                let staging = node.open(told, me).unwrap();
                if me > 0 {
                    staging.area.acknowledge(me, 1);
                    done.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                drop(staging);
                let again = node.make(0).offset == told.offset;
                assert!(!again || done.load(Ordering::Relaxed) == RANKS - 1);
            })
            .unwrap();
        }
    }

    /// A rank that comes late finds the area of one that has ended in good order.
    #[test]
    fn an_area_is_kept_for_the_late_when_its_maker_has_left() {
        let node = Node::new();
        let told = node.make(0);
        drop(node.open(told, 0));
        node.dies(0, None);
        drop(node.open(told, 1));
        assert_ne!(node.make(1).offset, told.offset);
        drop(node.open(told, 2).unwrap());
        assert_eq!(node.make(1).offset, told.offset);
    }

    #[test]
    fn an_area_that_a_dead_process_was_making_is_made_by_another_one() {
        let node = Node::new();
        let (fd, geometry) = (node.fd.as_fd(), Node::geometry());
        let (area, _) = Area::add(node.segment, fd, geometry, 1).unwrap();
        assert_ne!(node.make(0).offset, area.offset as u64, "it lives");
        node.dies(1, None);
        assert_eq!(node.make(0).offset, area.offset as u64);
    }

    #[test]
    fn a_thousand_deaths_take_no_memory() {
        let node = Node::new();
        let used = || node.segment.header().staging.load(Ordering::Relaxed);
        let mut told = node.make(0);
        let of_one = used();
        for death in 0..1000 {
            let dead = 1 + death % (RANKS - 1);
            let mut all = node.all_open(told).map(Some);
            node.dies(dead, all[dead].take());
            drop(all);
            told = node.make(0);
            assert_eq!(used(), of_one);
            // As if another process were there.
            node.segment.rank(dead).status.clear_loss();
        }
    }
}
