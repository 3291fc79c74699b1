//! Operations of the ranks of one node through a staging area (`transport/shm/staging`): each rank publishes its data in rounds, and
//! reads what it needs of the others' rounds, without messages. More data than fits goes in pieces, a round each.
//!
//! The steps are futures, as those over messages: a blocking call waits in them, a task is polled again.
//! Invariant: whether an operation is staged, and in how many rounds, depends on what all ranks know alike. A rank fills what all have
//! acknowledged, reads what is published, and acknowledges a round when it reads nothing of it any more.
#![allow(unsafe_code)]

mod access;
mod env;
mod halves;
mod movement;
mod parts;
mod reduction;
mod scan;
mod single_copy;
mod tree;
mod waiting;

#[cfg(test)]
pub use access::rehearse;
pub use access::{Begun, begin, block, run};

use super::choose::plan::{self, Plan};
use super::packed::scratch;
use crate::datatype::{Buffer, copying};
use crate::error::{Error, Result};
use crate::node::distance::CacheDistance;
use crate::transport::Stores;
use crate::transport::collective::{Area, Event, INLINE, MOST_RANKS, Place, Staging};
use env::Env;
use oxmpi_macros::both;
use std::ops::Range;

/// From so many bytes on data is written with non-temporal stores where the cores share no cache: the rank that read what lay there
/// before may have run on another core, whose caches would have to give back each line.
const NONTEMPORAL: usize = 2048;
/// From so many bytes on, of a rank with a core or of all that share cores, results are written past the caches where such stores are cheap:
/// they would not stay there, and each line would be fetched first (benches/counts.md).
const NONTEMPORAL_RESULTS: usize = 2 << 20;
const _: () = assert!(NONTEMPORAL * MOST_RANKS <= NONTEMPORAL_RESULTS);

/// A rank of MPI_COMM_WORLD that the operation needs is lost: it ends at once, and this rank touches the area no more.
struct Lost(u32);

/// What all functions return that may wait.
type Step<T = ()> = std::result::Result<T, Lost>;

/// One operation under way. `BLOCK`: every wait blocks, as the compiler is told so that nothing of the futures is left.
struct Work<'a, const BLOCK: bool> {
    staging: &'a mut Staging,
    env: Env<'a>,
    me: usize,
    ranks: usize,
    plan: Plan,
    /// What data for the other ranks is written with.
    stores: Stores,
    failure: Option<Error>,
}

impl<'a, const BLOCK: bool> Work<'a, BLOCK> {
    #[inline]
    fn new(staging: &'a mut Staging, env: Env<'a>, plan: Plan) -> Self {
        Work {
            me: staging.me,
            ranks: staging.ranks(),
            staging,
            env,
            plan,
            stores: Stores::Ordinary,
            failure: None,
        }
    }

    #[inline]
    fn area(&self) -> &Area {
        &self.staging.area
    }
}

/// The rounds of an operation: data in pieces.
#[derive(Clone, Copy)]
struct Pieces {
    first: u64,
    number: usize,
    piece: usize,
    bytes: usize,
}

impl Pieces {
    /// The bytes of a buffer of so many that belong to a piece; none behind its end.
    #[inline]
    fn part(&self, at: usize, bytes: usize) -> Range<usize> {
        (at * self.piece).min(bytes)..((at + 1) * self.piece).min(bytes)
    }

    #[inline]
    fn range(&self, at: usize) -> Range<usize> {
        self.part(at, self.bytes)
    }

    #[inline]
    fn round(&self, at: usize) -> u64 {
        self.first + at as u64
    }
}

#[both]
impl Work<'_, BLOCK> {
    #[inline]
    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    /// Begins this number of rounds and returns the first. `counted`: all ranks come to them and count themselves.
    #[inline]
    fn rounds(&mut self, number: usize, counted: bool) -> u64 {
        let first = self.staging.round + 1;
        self.staging.round += number as u64;
        if !counted {
            self.staging.uncounted += number as u64;
        }
        first
    }

    /// Rounds for pieces of at most `piece` bytes of `bytes` in all.
    #[inline]
    fn pieces(&mut self, bytes: usize, piece: usize, counted: bool) -> Pieces {
        let piece = piece.max(1);
        let number = if bytes <= piece {
            usize::from(bytes > 0)
        } else {
            bytes.div_ceil(piece)
        };
        Pieces {
            first: self.rounds(number, counted),
            number,
            piece,
            bytes,
        }
    }

    /// Pieces that are published before one is taken.
    #[inline]
    fn ahead(&self, pieces: &Pieces) -> usize {
        self.plan.ahead().min(pieces.number.saturating_sub(1))
    }

    /// Room for this rank's data of a round, when all have acknowledged what it held.
    #[inline]
    async fn room(&mut self, round: u64, bytes: usize) -> Step<Place> {
        let (place, held) = match bytes <= INLINE {
            true => (Place::INLINE, self.staging.line_held(round)),
            false => self
                .staging
                .place(round, bytes, self.plan.rings.map(|rings| rings.spacing)),
        };
        if self.staging.least < held {
            self.await_acknowledged(held).await?;
        }
        Ok(place)
    }

    /// Fills the room of a round and publishes it.
    #[inline]
    fn publish(
        &mut self,
        round: u64,
        (place, bytes): (Place, usize),
        total: usize,
        fill: impl FnOnce(&mut Self, &mut [u8]),
    ) {
        let (area, me, stores) = (self.staging.area, self.me, self.stores_for(bytes));
        // SAFETY: its own room, and all have acknowledged what it held.
        unsafe { area.fill(me, round, (place, bytes), |data| fill(self, data)) };
        area.publish(me, round, place, total, stores);
    }

    /// What so many bytes for the other ranks are written with.
    #[inline]
    fn stores_for(&self, bytes: usize) -> Stores {
        match bytes < NONTEMPORAL {
            true => Stores::Ordinary,
            false => self.stores,
        }
    }

    /// Whether some of the ranks share no cache with this one; the same until the operation is over.
    fn is_far(&self) -> bool {
        self.staging.distance.last() == CacheDistance::Far
    }

    /// Whether a result of so many bytes, which every rank gets, is written past the caches. Ranks that share cores share their caches.
    #[inline]
    fn writes_past_caches(&self, bytes: usize) -> bool {
        // Too few even of all ranks.
        bytes >= NONTEMPORAL && self.is_much(bytes)
    }

    fn is_much(&self, bytes: usize) -> bool {
        let all = bytes.saturating_mul(self.ranks);
        let together = match self.plan.oversubscribed {
            true => all,
            false => bytes,
        };
        copying::is_beyond_all_caches(bytes) || self.is_far() && together > NONTEMPORAL_RESULTS
    }

    /// Unpacks a part of a result.
    #[inline]
    fn take_in(past_caches: bool, into: &Buffer, at: usize, data: &[u8]) {
        match past_caches {
            true => into.write_past_caches(at, data),
            false => into.write(at, data),
        }
    }

    /// Packs a part of a buffer into room of so many bytes in all.
    #[inline]
    fn lay(&self, buffer: &Buffer, at: usize, data: &mut [u8], all: usize) {
        match self.stores_for(all) {
            Stores::NonTemporal => buffer.read_nontemporal(at, data),
            Stores::Ordinary => buffer.read(at, data),
        }
    }

    /// Lets `look` read a part of a buffer, where it lies if it has no holes.
    fn with_packed<T>(
        (own, begin): (&Buffer, usize),
        bytes: usize,
        look: impl FnOnce(&[u8]) -> T,
    ) -> T {
        if own.contiguous().is_some() {
            return own.slice(begin, bytes).with_bytes(look);
        }
        let mut packed = scratch(bytes);
        own.read(begin, &mut packed);
        look(&packed)
    }

    /// Tells the others that this rank has published its data of a round. True for the last one to come to a counted round.
    #[inline]
    fn arrive(&mut self, round: u64, counted: bool) -> bool {
        if !counted {
            self.wake_others();
            return false;
        }
        let last = self.area().arrive(round - self.staging.uncounted);
        if last {
            self.wake_others();
        }
        last
    }

    /// Waits until all have published a round.
    #[inline]
    async fn await_all(&mut self, round: u64, counted: bool) -> Step {
        let (area, me) = (self.staging.area, self.me);
        if counted {
            let number = round - self.staging.uncounted;
            let arrived = || area.have_arrived(number);
            return self.wait(0..self.ranks, Event::Published, arrived).await;
        }
        if self.ranks == 2 {
            return self.await_published(1 - me, round).await;
        }
        self.await_ranks((0..self.ranks).filter(|rank| *rank != me), round)
            .await
    }

    /// This rank reads nothing any more of a round and those before.
    #[inline]
    fn acknowledge(&mut self, round: u64) {
        self.staging.acknowledge(round);
        self.wake_for_room();
    }

    /// Publishes all pieces, some ahead, and takes them round by round, when all have published them. What all ranks have published
    /// they publish after acknowledging what they were not ahead of.
    async fn everybody(
        &mut self,
        (pieces, total, counted): (Pieces, usize, bool),
        bytes: impl Fn(usize) -> usize,
        mut lay: impl FnMut(&mut Self, usize, &mut [u8]),
        mut take: impl FnMut(&mut Self, usize),
    ) -> Step {
        if pieces.number == 1 {
            let (round, length) = (pieces.first, bytes(0));
            let place = self.room(round, length).await?;
            self.publish(round, (place, length), total, |work, data| {
                lay(work, 0, data);
            });
            self.arrive(round, counted);
            self.await_all(round, counted).await?;
            self.staging.all_have_acknowledged(round - 1);
            take(self, 0);
            self.acknowledge(round);
            return Ok(());
        }
        let ahead = self.ahead(&pieces);
        for step in 0..pieces.number + ahead {
            if step < pieces.number {
                let (round, length) = (pieces.round(step), bytes(step));
                let place = self.room(round, length).await?;
                self.publish(round, (place, length), total, |work, data| {
                    lay(work, step, data);
                });
                self.arrive(round, counted);
            }
            if let Some(at) = step.checked_sub(ahead) {
                let round = pieces.round(at);
                self.await_all(round, counted).await?;
                self.staging
                    .all_have_acknowledged(round.saturating_sub(1 + ahead as u64));
                take(self, at);
                self.acknowledge(round);
            }
        }
        Ok(())
    }
}

/// How many whole elements of `unit` bytes fit into so many bytes, in bytes.
#[inline]
fn elements(unit: u64, bytes: usize) -> usize {
    let unit = (unit as usize).max(1);
    bytes / unit * unit
}

/// The rank at a distance below `ranks` from this one, around: without a division.
#[inline]
fn after(me: usize, distance: usize, ranks: usize) -> usize {
    let rank = me + distance;
    if rank < ranks { rank } else { rank - ranks }
}

/// Copies what is packed already.
#[inline]
fn copy(from: &[u8], to: &mut [u8]) {
    #[cfg(test)]
    crate::datatype::copies::count(to.len());
    to.copy_from_slice(from);
}

/// Distance between two parts of so many bytes in a piece that has one for each rank: long ones begin at lines.
#[inline]
fn stride(bytes: usize) -> usize {
    match bytes >= plan::ALIGNED {
        true => bytes.next_multiple_of(64),
        false => bytes,
    }
}

/// Where in a piece that has a part for each other rank that of one is.
#[inline]
fn part_of(from: usize, to: usize, bytes: usize) -> Range<usize> {
    let at = (if to < from { to } else { to - 1 }) * stride(bytes);
    at..at + bytes
}
