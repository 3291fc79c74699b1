//! MPI_Win_fence: a barrier in the window's block. The algorithm is in [`crate::queue::barrier`].

use super::{all, assert, check_assertion};
use crate::engine::wait::Watch;
use crate::engine::{Engine, enter, liveness};
use crate::error::{Error, Result};
use crate::queue::barrier::{IsLost, Member};
use crate::rma::hosts::{Hosts, Kind};
use crate::rma::wait::{Wait, holds_soon};
use crate::rma::window::Window;
use crate::sync::{AtomicU32, Ordering, compiler_fence, full_fence};
use std::cell::RefCell;

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

/// This process at a barrier.
#[derive(Clone, Copy)]
struct At<'a> {
    window: &'a Window,
    function: &'static str,
}

impl At<'_> {
    #[cold]
    fn explained(&self, error: Error) -> Error {
        let title = self.window.title();
        error.context(format_args!(
            "{title} waits for all its ranks, of which one is lost"
        ))
    }
}

impl Member for At<'_> {
    type Failure = Error;

    #[inline(always)]
    fn ranks(&self) -> usize {
        self.window.size()
    }

    #[inline(always)]
    fn rank(&self) -> usize {
        self.window.rank
    }

    #[inline(always)]
    fn process(&self, rank: usize) -> u32 {
        self.window.targets[rank].process
    }

    #[inline(always)]
    fn number(&self, rank: usize) -> &AtomicU32 {
        &self.window.block.target(rank).barriers
    }

    /// A sleeper's membarrier is the other half.
    #[inline(always)]
    fn light_fence(&self) {
        compiler_fence(Ordering::SeqCst);
    }

    #[inline]
    fn holds_soon(&self, holds: &mut dyn FnMut() -> bool) -> bool {
        holds_soon(holds)
    }

    fn wait(
        &self,
        holds: &mut dyn FnMut() -> bool,
        missing: &dyn Fn(IsLost<'_>) -> Option<u32>,
    ) -> Result<()> {
        let wait = Wait {
            window: self.window,
            function: self.function,
            target: None,
        };
        let done = wait.until_long(holds, &|engine| {
            missing(&|process| liveness::of(engine, process).is_some())
        });
        done.map_err(|error| self.explained(error))
    }

    #[inline]
    fn wake(&self, rank: usize) {
        self.window.wake(rank);
    }

    #[cold]
    fn failure(&self, lost: u32) -> Error {
        self.explained(liveness::error(&enter(), lost))
    }
}

impl Window {
    /// Waits until all ranks have come here. What they have stored before is seen after it.
    ///
    /// Errors: MPI_ERR_OTHER, a rank is lost.
    pub fn barrier(&self, function: &'static str) -> Result<()> {
        if let Some(hosts) = &self.hosts {
            return self.barrier_over_hosts(hosts, function);
        }
        let at = At {
            window: self,
            function,
        };
        let barrier = self.block.header().barrier();
        barrier.pass(at, self.size() <= FEW)
    }

    /// By messages: in round k each rank tells the one that is 2^k behind it (dissemination).
    #[cold]
    fn barrier_over_hosts(&self, hosts: &Hosts, function: &'static str) -> Result<()> {
        let (ranks, rank) = (self.size(), self.rank);
        let settled = self.settle_all(function);
        let number = hosts.next_barrier();
        full_fence();
        let (mut round, mut distance) = (0, 1);
        while distance < ranks {
            let to = (rank + distance) % ranks;
            self.far(to, function).tell(Kind::Arrive, round as u32);
            let from = self.targets[(rank + ranks - distance) % ranks].process;
            let wait = Wait {
                window: self,
                function,
                target: None,
            };
            // What a rank in MPI_Finalize has told may still be on its way.
            let mut watch = Watch::default();
            let gone = RefCell::new(&mut watch);
            let missing = |engine: &Engine| {
                let mut all = self.targets.iter().map(|it| it.process);
                match all.find(|process| liveness::has_died(engine, *process)) {
                    Some(died) => Some(died),
                    None => gone.borrow_mut().is_gone(engine, from).then_some(from),
                }
            };
            let done = wait.until(&mut || hosts.is_there(round, number), &missing);
            done.map_err(|error| {
                error.context(format_args!(
                    "{} waits for all its ranks, of which one is lost",
                    self.title()
                ))
            })?;
            (round, distance) = (round + 1, distance * 2);
        }
        settled
    }
}
