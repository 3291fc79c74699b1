//! Memory for tests in which the ranks of a board take turns in one process: a segment with a board, and pipes or trays.
//!
//! Invariant: what was played before is over when a board is set up.

use super::board::{Board, MOST_RANKS, board_bytes};
use super::layout::{Segment, initialise, segment_bytes};
use super::pipe::{PAIR_BYTES, Pipes};
use super::trays::{self, SERVICES, Service, Trays};
use crate::node::distance::{CacheDistance, Sight};
use crate::os::memory::{self, Mapping};
use crate::sync::{AtomicBool, Ordering, scheduler};
use std::os::fd::AsFd;

/// See the module.
pub struct Stage {
    segment: Segment<'static>,
    board: usize,
    /// Of pipes or trays for parts, and of trays for exchanges.
    large: [usize; 2],
    made: [AtomicBool; 2],
    /// A rank whose memory cannot be read, if there is one.
    hidden: Option<usize>,
}

impl Stage {
    /// Room for any of them.
    pub fn build() -> Stage {
        let made = || -> std::io::Result<Stage> {
            let fd = memory::create("test", segment_bytes(2), false)?;
            initialise(fd.as_fd(), 2)?;
            let map: &'static Mapping = Mapping::of(fd.as_fd())?.leak();
            let segment = Segment::open(map, 2)?;
            let most = |service| {
                (2..=MOST_RANKS)
                    .map(move |ranks| trays::bytes(service, ranks))
                    .max()
            };
            let most = SERVICES.map(|service| most(service).unwrap_or(0).max(PAIR_BYTES));
            let [parts, exchange] = most.map(|bytes| segment.allocate(fd.as_fd(), bytes));
            Ok(Stage {
                segment,
                board: segment.allocate(fd.as_fd(), board_bytes(MOST_RANKS))?,
                large: [parts?, exchange?],
                made: [AtomicBool::new(false), AtomicBool::new(false)],
                hidden: None,
            })
        };
        made().expect("memory for a stage")
    }

    /// A fresh board of so many ranks, one of whom may have memory that cannot be read.
    pub fn set(&mut self, ranks: usize, hidden: Option<usize>) -> Board {
        self.hidden = hidden;
        self.made = [AtomicBool::new(false), AtomicBool::new(false)];
        // SAFETY: the ranks of the play before are gone.
        unsafe { Board::renewed(self.segment, self.board, ranks) }
    }

    /// Bytes of a rank's tray, where there are so many.
    pub fn tray_bytes(&self, service: Service, ranks: usize) -> usize {
        let trays = Trays::open(self.segment, self.large[service as usize], service, ranks);
        trays.map_or(0, |trays| trays.tray_bytes())
    }

    /// Whoever shows that they are made has made them.
    fn make(&self, which: usize) -> usize {
        let made = self.made[which].swap(true, Ordering::Relaxed);
        assert!(!made, "made twice");
        self.large[which]
    }

    fn made(&self, which: usize) -> usize {
        let made = self.made[which].load(Ordering::Relaxed);
        assert!(made, "looked for too early");
        self.large[which]
    }

    pub fn make_pipes(&self) {
        // SAFETY: `make` lets this be done once in a play, before anybody opens them.
        unsafe { Pipes::renew(self.segment, self.make(0)) };
    }

    pub fn pipes(&self, me: usize) -> Option<Pipes> {
        // SAFETY: renewed for this play, in which a rank's seat asks once.
        unsafe { Pipes::open(self.segment, self.made(0), me) }
    }

    pub fn make_trays(&self, board: &Board, service: Service) {
        let offset = self.make(service as usize);
        // SAFETY: as for the pipes.
        unsafe { Trays::renew(self.segment, offset, service, board.ranks()) };
    }

    pub fn trays(&self, board: &Board, service: Service) -> Option<Trays> {
        let offset = self.made(service as usize);
        Trays::open(self.segment, offset, service, board.ranks())
    }

    /// How far apart the ranks are: by the seed, and not always alike.
    pub fn farthest(&self) -> Sight {
        match scheduler::random(2) {
            0 => Sight::SAME_CORE,
            _ => Sight {
                distance: CacheDistance::Far,
                measures: true,
            },
        }
    }

    /// Under which number a rank's memory is read.
    pub fn pid(&self, rank: usize) -> Option<i32> {
        (Some(rank) != self.hidden).then_some(std::process::id() as i32)
    }
}
