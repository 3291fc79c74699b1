//! Memory for tests in which the ranks of a staging area take turns in one process.
//!
//! Invariant: what was tested before is over when an area is set up.

#![allow(unsafe_code)]

use super::area::{Area, Geometry};
use crate::node::distance::{CacheDistance, Sight};
use crate::sync::{AtomicBool, Ordering, scheduler};
use std::alloc::{Layout, alloc_zeroed};

/// The most ranks of an area with a large ring of each.
pub const MOST_RANKS: usize = 33;

/// See the module.
pub struct Fixture {
    /// Of the area, and of its large rings.
    memory: [*mut u8; 2],
    made: AtomicBool,
    /// Whether there is memory for large rings.
    has_large: bool,
    /// A rank whose memory cannot be read, if there is one.
    hidden: Option<usize>,
}

// SAFETY: the addresses do not change while ranks use them; what may be touched when is the protocol's matter.
unsafe impl Sync for Fixture {}

impl Fixture {
    /// Room for any of them.
    pub fn new() -> Fixture {
        let most = |bytes: fn(&Geometry) -> usize| {
            let all = (2..=MOST_RANKS).map(|ranks| bytes(&Geometry::of(ranks)));
            let layout = Layout::from_size_align(all.max().unwrap_or(0), 4096);
            // SAFETY: not of no bytes. It stays for good.
            unsafe { alloc_zeroed(layout.expect("memory for a fixture")) }
        };
        Fixture {
            memory: [most(Geometry::area_bytes), most(Geometry::large_bytes)],
            made: AtomicBool::new(false),
            has_large: true,
            hidden: None,
        }
    }

    /// A fresh area. There may be no memory for large rings, and one of its ranks may have memory that cannot be read.
    pub fn set(&mut self, geometry: Geometry, has_large: bool, hidden: Option<usize>) -> Area {
        self.hidden = hidden;
        self.has_large = has_large;
        self.made = AtomicBool::new(false);
        assert!(geometry.ranks <= MOST_RANKS);
        // SAFETY: the ranks of the test before are gone.
        unsafe { Area::renewed(self.memory[0], geometry) }
    }

    /// By the rank that publishes it afterwards.
    pub fn make_large(&self) {
        let made = self.made.swap(true, Ordering::Relaxed);
        assert!(!made, "made twice");
    }

    pub fn open_large(&self, area: &mut Area) -> bool {
        assert!(self.made.load(Ordering::Relaxed), "looked for too early");
        if self.has_large {
            area.set_large(self.memory[1]);
        }
        self.has_large
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
