//! Staging of collective operations within a node: a rank's end of a staging area ([`area`]), how far it and the others are, and where
//! its next data goes.
//!
//! Invariant: data is placed where all ranks have acknowledged what was there, as far as this rank has been told.

pub mod area;
#[cfg(test)]
pub mod fixture;
mod ring;
#[cfg(test)]
pub mod tally;

use crate::node::distance::Watch;
use crate::sync::{AtomicU64, Ordering};
use area::{AREAS_FOR_LITTLE, Area, Geometry, INLINE, Place, SHARED_ROUNDS};
use parking_lot::Mutex;
#[cfg(not(test))]
use ring::Ring;
#[cfg(test)]
pub use ring::Ring;
pub use ring::Spacing;

/// What an operation has of a staging area.
#[derive(Default)]
pub enum Access {
    /// Nobody has asked for one.
    #[default]
    Unknown,
    /// There is no memory for one, or it is not wanted.
    Refused,
    /// No more: this rank of MPI_COMM_WORLD, which takes part, is lost.
    Lost(u32),
    Given(Box<Staging>),
    /// An operation is under way.
    Busy,
}

impl Access {
    /// A rank of MPI_COMM_WORLD of whose loss somebody has told there, if no operation is under way.
    pub fn lost(&self) -> Option<u32> {
        match self {
            Access::Given(staging) => staging.area.lost(),
            Access::Lost(world) => Some(*world),
            Access::Unknown | Access::Refused | Access::Busy => None,
        }
    }

    /// This rank does nothing more there, because a rank of MPI_COMM_WORLD is lost, unless an operation is under way.
    #[cold]
    pub fn tell_lost(&mut self, world: u32) {
        if let Access::Given(staging) = self {
            staging.area.tell_lost(world, staging.exposed);
            *self = Access::Lost(world);
        }
    }

    /// No operation will come any more.
    pub fn leave(&mut self) {
        *self = Access::Refused;
    }
}

/// The staging areas of a communicator. Blocking operations do not use those of nonblocking ones, so programs run that call the two kinds in
/// different orders on different ranks, as MPICH lets them and MPI does not.
#[derive(Default)]
pub struct Areas {
    pub blocking: Mutex<Access>,
    /// Of nonblocking operations with much data.
    much: InTurn,
    /// Of those with little, of which several are under way at once.
    little: [InTurn; AREAS_FOR_LITTLE],
    /// How many with little data were called.
    called: AtomicU64,
}

/// An area that operations use in the order in which they were called, which is the same on all ranks.
#[derive(Default)]
struct InTurn {
    access: Mutex<Access>,
    called: AtomicU64,
    over: AtomicU64,
}

/// Where and when a nonblocking operation is staged.
#[derive(Clone, Copy)]
pub struct Turn {
    /// Of the areas for little data; `None`: there is much.
    area: Option<usize>,
    /// Of the operations that use the area.
    number: u64,
}

impl Areas {
    /// A rank of MPI_COMM_WORLD of whose loss somebody has told at an area that no operation of this rank uses just now.
    pub fn lost(&self) -> Option<u32> {
        self.all().find_map(|area| area.try_lock()?.lost())
    }

    /// See [`Access::tell_lost`]; of all areas. One that is locked has an operation under way: perhaps the blocking one in which this thread
    /// polls the task that tells of the loss.
    #[cold]
    pub fn tell_lost(&self, world: u32) {
        let areas = self.all().filter_map(Mutex::try_lock);
        areas.for_each(|mut area| area.tell_lost(world));
    }

    /// No operation will come any more.
    pub fn leave(&self) {
        self.all().for_each(|area| area.lock().leave());
    }

    fn all(&self) -> impl Iterator<Item = &Mutex<Access>> {
        let others = self.little.iter().chain([&self.much]);
        std::iter::once(&self.blocking).chain(others.map(|area| &area.access))
    }

    /// The turn of the next nonblocking operation.
    pub fn take_turn(&self, has_little: bool) -> Turn {
        let next = || self.called.fetch_add(1, Ordering::Relaxed) as usize % AREAS_FOR_LITTLE;
        let mut turn = Turn {
            area: has_little.then(next),
            number: 0,
        };
        turn.number = self.at(&turn).called.fetch_add(1, Ordering::Relaxed);
        turn
    }

    /// Whether the operations before it in its area have ended.
    pub fn is_turn(&self, turn: &Turn) -> bool {
        // Acquire: pairs with `end`.
        self.at(turn).over.load(Ordering::Acquire) == turn.number
    }

    pub fn end(&self, turn: &Turn) {
        // Release: pairs with `is_turn`; what the operation staged lies behind.
        self.at(turn).over.fetch_add(1, Ordering::Release);
    }

    /// The area of a turn.
    pub fn access(&self, turn: &Turn) -> (&Mutex<Access>, fn(usize) -> Geometry) {
        let geometry = match turn.area {
            None => Geometry::of,
            Some(_) => Geometry::of_operation,
        };
        (&self.at(turn).access, geometry)
    }

    fn at(&self, turn: &Turn) -> &InTurn {
        turn.area.map_or(&self.much, |area| &self.little[area])
    }
}

/// Whether there are large rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Large {
    Unknown,
    Refused,
    Given,
}

/// Whether the ranks may read each other's memory.
pub enum Reach {
    Unknown,
    Refused,
    /// Their process ids.
    Granted(Box<[i32]>),
}

/// See the module.
pub struct Staging {
    pub area: Area,
    pub me: usize,
    /// The last round that was begun.
    pub round: u64,
    /// Rounds so far that are not counted.
    pub uncounted: u64,
    /// How many rounds were made in shares, and what the shares of each place come to when all of them are made.
    pub shared_rounds: u64,
    pub due: [u64; SHARED_ROUNDS],
    /// How many barriers there were; they have numbers of their own.
    pub barriers: u64,
    /// Up to which round each rank is known to have acknowledged, and the least of the others'.
    seen: Box<[u64]>,
    pub least: u64,
    /// Up to which round this rank has acknowledged: what it has published ahead of that it may still read itself.
    own: u64,
    small: Ring,
    large_ring: Ring,
    pub large: Large,
    /// The root of the last operation that had one, and its last round.
    pub last_root: (usize, u64),
    /// How far the farthest of the ranks is.
    pub distance: Watch,
    pub reach: Reach,
    /// The operation in which others may read this rank's memory, see [`Area::tell_lost`].
    pub exposed: Option<u64>,
}

impl Staging {
    pub fn new(area: Area, me: usize) -> Staging {
        let geometry = area.geometry;
        Staging {
            area,
            me,
            round: 0,
            uncounted: 0,
            shared_rounds: 0,
            due: [0; SHARED_ROUNDS],
            barriers: 0,
            seen: vec![0; geometry.ranks].into(),
            least: 0,
            own: 0,
            small: Ring::new(false, geometry.small()),
            large_ring: Ring::new(true, geometry.large),
            large: Large::Unknown,
            last_root: (0, 0),
            distance: Watch::new(),
            reach: Reach::Unknown,
            exposed: None,
        }
    }

    #[inline]
    pub fn ranks(&self) -> usize {
        self.area.geometry.ranks
    }

    /// Up to which round a rank is known to have acknowledged.
    pub fn seen(&self, rank: usize) -> u64 {
        self.seen[rank]
    }

    /// Looks how far a rank is.
    pub fn look_at(&mut self, rank: usize) {
        self.seen[rank] = self.area.acknowledged(rank);
    }

    /// Some ranks have published a round to which they came after acknowledging those before.
    #[inline]
    pub fn have_acknowledged(&mut self, ranks: impl Iterator<Item = usize>, round: u64) {
        if self.least < round {
            for rank in ranks {
                self.seen[rank] = round.max(self.seen[rank]);
            }
            self.find_least();
        }
    }

    /// As [`Self::have_acknowledged`], all of them.
    #[inline]
    pub fn all_have_acknowledged(&mut self, round: u64) {
        self.least = round.max(self.least);
        for seen in &mut self.seen {
            *seen = round.max(*seen);
        }
    }

    /// Up to which round all others are known to have acknowledged.
    #[inline]
    pub fn find_least(&mut self) {
        let others = (0..self.seen.len()).filter(|rank| *rank != self.me);
        self.least = others.map(|rank| self.seen[rank]).min().unwrap_or(0);
    }

    /// This rank reads nothing any more of this round and those before.
    #[inline]
    pub fn acknowledge(&mut self, round: u64) {
        self.own = round;
        self.area.acknowledge(self.me, round);
    }

    /// The round whose line is written next, which all must have acknowledged.
    #[inline]
    pub fn line_held(&self, round: u64) -> u64 {
        round.saturating_sub(self.area.geometry.lines as u64)
    }

    /// The next data in the large ring goes to its start.
    #[inline]
    pub fn rewind_large(&mut self) {
        self.large_ring.rewind();
    }

    /// Where this rank's data of a round goes, in the large ring with that spacing or in the small one, and the round that all must have acknowledged before it is written there.
    #[inline]
    pub fn place(&mut self, round: u64, bytes: usize, large: Option<Spacing>) -> (Place, u64) {
        let line = self.line_held(round);
        if bytes <= INLINE {
            return (Place::INLINE, line);
        }
        let over = self.least.min(self.own);
        let (place, last) = match large {
            Some(spacing) => self.large_ring.place(round, bytes, spacing, over),
            None => {
                let spacing = Spacing::small(self.area.geometry.small());
                self.small.place(round, bytes, spacing, over)
            }
        };
        (place, last.max(line))
    }
}

impl Drop for Staging {
    /// This rank uses its area no more.
    fn drop(&mut self) {
        self.area.leave(self.me);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_tells_of_a_loss_inside_a_blocking_operation() {
        let areas = Areas::default();
        let _under_way = areas.blocking.lock();
        areas.tell_lost(3);
    }
}
