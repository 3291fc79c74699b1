//! Memory for tests in which the ranks of a staging area take turns in one process.
//!
//! Invariant: what was tested before is over when an area is set up.

#![allow(unsafe_code)]

use super::area::{Area, Geometry};
use crate::node::distance::{CacheDistance, Sight};
use crate::sync::{AtomicBool, Ordering, scheduler};
use std::alloc::{Layout, alloc_zeroed};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

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
    /// How far apart the ranks are; `None`: by the seed, and not always alike.
    pub sight: Option<Sight>,
    /// Ranks whose task is polled for the last time before they sleep, and those that wait for ever.
    sleeps: [AtomicBool; MOST_RANKS],
    stuck: [AtomicBool; MOST_RANKS],
}

/// How a rank waits in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In a call that blocks.
    Call,
    /// In a future that blocks: the first operation of a communicator.
    Future,
    /// In a task, which is polled again.
    Task,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Call, Form::Future, Form::Task];
}

// SAFETY: the addresses do not change while ranks use them; what may be touched when is the protocol's matter.
unsafe impl Sync for Fixture {}

impl Fixture {
    /// Room for any of them.
    pub fn build() -> Fixture {
        let most = |bytes: fn(&Geometry) -> usize| {
            let all = (2..=MOST_RANKS).map(|ranks| bytes(&Geometry::of(ranks)));
            let layout = Layout::from_size_align(all.max().unwrap_or(0), 4096);
            // SAFETY: not of no bytes. It stays for good.
            unsafe { alloc_zeroed(layout.expect("memory for a fixture")) }
        };
        Fixture {
            memory: [most(Geometry::bytes), most(Geometry::large_bytes)],
            made: AtomicBool::new(false),
            has_large: true,
            hidden: None,
            sight: None,
            sleeps: std::array::from_fn(|_| AtomicBool::new(false)),
            stuck: std::array::from_fn(|_| AtomicBool::new(false)),
        }
    }

    /// A fresh area. There may be no memory for large rings, and one of its ranks may have memory that cannot be read.
    pub fn set(&mut self, geometry: Geometry, has_large: bool, hidden: Option<usize>) -> Area {
        self.hidden = hidden;
        self.has_large = has_large;
        self.made = AtomicBool::new(false);
        for flag in self.sleeps.iter().chain(&self.stuck) {
            flag.store(false, Ordering::Relaxed);
        }
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

    /// How far apart the ranks are.
    pub fn farthest(&self) -> Sight {
        if let Some(sight) = self.sight {
            return sight;
        }
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

    /// Whether a rank sleeps if its task, which is being polled, cannot go on.
    pub fn sleeps(&self, rank: usize) -> bool {
        self.sleeps[rank].load(Ordering::Relaxed)
    }

    /// Whether no rank can go on, this one neither.
    pub fn is_stuck(&self, rank: usize) -> bool {
        self.stuck[rank].load(Ordering::Relaxed)
    }

    /// Runs a task of a rank to its end. It is polled as the engine does: again and again, and once more before the rank sleeps.
    pub fn run_task<T>(&self, rank: usize, task: impl Future<Output = T>) -> T {
        let mut task = pin!(task);
        let mut context = Context::from_waker(Waker::noop());
        let looks = [0, 1, 5, u64::MAX][scheduler::random(4) as usize];
        let mut looked = 0;
        loop {
            let sleeps = looked >= looks;
            self.sleeps[rank].store(sleeps, Ordering::Relaxed);
            if let Poll::Ready(result) = task.as_mut().poll(&mut context) {
                return result;
            }
            if !scheduler::pause(sleeps) {
                self.stuck[rank].store(true, Ordering::Relaxed);
            }
            // Awake again, it looks around before it sleeps.
            looked = if sleeps { 0 } else { looked + 1 };
        }
    }
}
