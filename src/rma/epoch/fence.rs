//! MPI_Win_fence: a barrier in the window's block.
//!
//! Of few ranks each one looks at the lines of all others. Of more, the last one to come tells the others. Invariant: a rank that gives up,
//! because one is lost, says so in the block and comes to no barrier any more; so nobody passes one to which not all have come.

use super::{all, assert, check_assertion};
use crate::engine::{Engine, enter, loss};
use crate::error::{Error, Result};
use crate::rma::wait::{Wait, holds_soon};
use crate::rma::window::Window;
use crate::sync::{AtomicU32, Ordering, compiler_fence, fence_after_update};
use std::cell::Cell;

const ALLOWED: i32 = assert::NOSTORE | assert::NOPUT | assert::NOPRECEDE | assert::NOSUCCEED;
/// Neither before nor after it is anything to be ordered.
const IDLE: i32 = assert::NOPRECEDE | assert::NOSUCCEED;
/// As many ranks look at each other's lines.
const FEW: usize = 3;

/// MPI_Win_fence.
///
/// Errors: MPI_ERR_ASSERT, MPI_ERR_RMA_SYNC; MPI_ERR_OTHER, a rank is lost.
pub fn fence(window: &Window, assertion: i32) -> Result<()> {
    check_assertion(assertion, ALLOWED)?;
    if let Some(function) = window.open_epoch() {
        return window.epoch_is_open(function);
    }
    window.access.all.store(0, Ordering::Relaxed);
    if assertion & IDLE != IDLE {
        window.barrier("MPI_Win_fence")?;
    }
    if assertion & assert::NOSUCCEED == 0 {
        window.access.all.store(all::FENCE, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether a barrier's number is that one or a later one; they count modulo 2^32.
fn is_reached(number: &AtomicU32, wanted: u32) -> bool {
    // Acquire: pairs with the update by who has come.
    number.load(Ordering::Acquire).wrapping_sub(wanted) as i32 >= 0
}

impl Window {
    /// Waits until all ranks have come here. What they have stored before is seen after it.
    ///
    /// Errors: MPI_ERR_OTHER, a rank is lost.
    pub fn barrier(&self, function: &'static str) -> Result<()> {
        let (header, ranks) = (self.block.header(), self.size());
        if let Some(process) = self.lost() {
            return Err(self.explained(loss::error(&enter(), process)));
        }
        let own = &self.block.target(self.rank).barriers;
        let number = own.load(Ordering::Relaxed).wrapping_add(1);
        // Release: what was stored before is seen by whoever sees this. Not more, which would wait for the line before the first look at
        // others; a sleeper's membarrier is the other half of the fence that waking needs.
        own.store(number, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        if ranks <= FEW {
            self.wake_others();
            for rank in (0..ranks).filter(|rank| *rank != self.rank) {
                let theirs = &self.block.target(rank).barriers;
                if !is_reached(theirs, number) {
                    let mut holds = || is_reached(theirs, number);
                    self.wait_for_others(function, number, &mut holds)?;
                }
            }
            return Ok(());
        }
        let arrived = header.arrived.fetch_add(1, Ordering::AcqRel);
        if arrived.wrapping_add(1) == number.wrapping_mul(ranks as u32) {
            header.epoch.store(number, Ordering::Release);
            compiler_fence(Ordering::SeqCst);
            self.wake_others();
            return Ok(());
        }
        let mut holds = || is_reached(&header.epoch, number);
        self.wait_for_others(function, number, &mut holds)
    }

    /// A process without which no barrier will be complete, as one of the ranks has said.
    #[inline]
    fn lost(&self) -> Option<u32> {
        self.block
            .header()
            .lost
            .load(Ordering::Relaxed)
            .checked_sub(1)
    }

    #[cold]
    fn explained(&self, error: Error) -> Error {
        let title = self.title();
        error.context(format_args!(
            "{title} waits for all its ranks, of which one is lost"
        ))
    }

    #[inline(never)]
    fn wait_for_others(
        &self,
        function: &'static str,
        number: u32,
        holds: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        if holds_soon(&mut *holds) {
            return Ok(());
        }
        let wait = Wait {
            window: self,
            function,
            target: None,
        };
        // From here on who comes wakes this rank, which looks once more.
        let resting = &self.block.header().resting;
        resting.fetch_add(1, Ordering::SeqCst);
        fence_after_update();
        let missing = |engine: &Engine| {
            let mut others = (0..self.size()).filter(|rank| *rank != self.rank);
            let is_missing = |rank: &usize| {
                !is_reached(&self.block.target(*rank).barriers, number)
                    && loss::of(engine, self.targets[*rank].process).is_some()
            };
            let found = || Some(self.targets[others.find(is_missing)?].process);
            self.lost().or_else(found)
        };
        let given_up = Cell::new(None);
        let done = wait.until_long(holds, &|engine| {
            let process = missing(engine)?;
            given_up.set(Some(process));
            Some(process)
        });
        resting.fetch_sub(1, Ordering::SeqCst);
        done.map_err(|error| {
            if let Some(process) = given_up.get() {
                self.block.header().lost.swap(process + 1, Ordering::SeqCst);
                fence_after_update();
                self.wake_others();
            }
            self.explained(error)
        })
    }

    /// Wakes those that sleep at a barrier.
    #[inline]
    fn wake_others(&self) {
        if self.block.header().resting.load(Ordering::Relaxed) != 0 {
            for rank in (0..self.size()).filter(|rank| *rank != self.rank) {
                self.wake(rank);
            }
        }
    }
}
