//! Waiting at a board, and waking those who wait.
//!
//! Invariant: whoever may sleep has said so at the board and looked once more after that. A rank that gives up, because one that it
//! needs is lost, says so at the board and writes nothing there any more: so what others read is always what all have given.

#[cfg(test)]
use super::around::Around;
use super::{FEW, Lost, Step, Work};
use crate::engine::long_wait::YIELDS;
use crate::engine::wait::{Watch, until_at, yield_until};
use crate::engine::{Engine, enter_at, liveness};
#[cfg(test)]
use crate::sync::scheduler;
use std::ops::Range;

/// Looks at a flag before the engine makes progress in between.
const LOOKS: u32 = 100;
/// Looks in a wait for messages before this rank says that it may sleep: fewer than before it does.
const RESTLESS: u32 = 8;
/// Rounds from the one that is taken to the one whose line is asked for, where the others are ahead.
const FORESIGHT: u64 = 2;

const _: () = assert!(RESTLESS < YIELDS);

impl Work<'_> {
    /// Waits for some of the ranks.
    #[inline]
    pub(super) fn wait(&self, whom: Range<usize>, mut holds: impl FnMut() -> bool) -> Step {
        #[cfg(test)]
        if let Around::Stage(_) = self.around {
            self.wait_in_turns(whom, &mut holds);
            return Ok(());
        }
        if self.crowded {
            if yield_until(&mut holds) {
                return Ok(());
            }
        } else {
            for _ in 0..LOOKS {
                if holds() {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
        }
        self.wait_long(whom, &mut holds)
    }

    /// The rest of a wait, with progress of all that is under way.
    #[cold]
    fn wait_long(&self, whom: Range<usize>, holds: &mut dyn FnMut() -> bool) -> Step {
        let (mut watch, mut looks) = (Watch::default(), 0u32);
        let mut watch_of_all = Watch::default();
        let lost = until_at(self.engine(), &self.reason, |engine| {
            looks = looks.saturating_add(1);
            if looks == RESTLESS {
                self.board.rest();
            }
            if holds() {
                return Some(None);
            }
            if let Some(world) = self.board.lost() {
                return Some(Some(world));
            }
            let ranks = whom.clone().filter(|rank| *rank != self.me);
            let mut worlds = ranks.map(|rank| self.around.comm().process(rank as i32));
            if let Some(world) = worlds.find(|world| watch.is_unreachable(engine, *world)) {
                return Some(Some(world));
            }
            // Those who are waited for may have given up, because of a rank that this one does not wait for.
            if !engine.checks_liveness() {
                return None;
            }
            let world = self.missing(engine)?;
            watch_of_all.is_gone(engine, world).then_some(Some(world))
        });
        if looks >= RESTLESS {
            self.board.rise();
        }
        let Some(world) = lost else {
            return Ok(());
        };
        // The others may wait for this rank, which does nothing more at this board.
        self.board.tell_lost(world);
        self.wake_others();
        Err(Lost(world))
    }

    /// A rank without which the board cannot be used any further: it has died, or was lost before it came here. A rank that has only
    /// left for MPI_Finalize may have done its part in this operation.
    #[cold]
    fn missing(&self, engine: &Engine) -> Option<u32> {
        let ranks = (0..self.ranks).filter(|rank| *rank != self.me);
        let mut lost = ranks.filter_map(|rank| {
            let world = self.around.comm().process(rank as i32);
            let never_here = self.board.passed(rank) == 0 && liveness::of(engine, world).is_some();
            (never_here || liveness::has_died(engine, world)).then_some(world)
        });
        lost.next()
    }

    /// On a stage: a few looks, then sleep. What is waited for comes from those who take turns with this rank, or never.
    #[cfg(test)]
    fn wait_in_turns(&self, whom: Range<usize>, holds: &mut dyn FnMut() -> bool) {
        let looks = [0, 1, 5, u64::MAX][scheduler::random(4) as usize];
        let mut looked = 0;
        let mut rests = false;
        while !holds() {
            if looked == looks && !rests {
                self.board.rest();
                rests = true;
            } else if !scheduler::pause(rests) {
                self.say_stuck(whom, holds());
            }
            looked += 1;
        }
        if rests {
            self.board.rise();
        }
    }

    #[cfg(test)]
    fn say_stuck(&self, whom: Range<usize>, holds: bool) -> ! {
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        let lines = trace.lines().filter(|line| line.contains("coll/board/"));
        let places: Vec<&str> = lines.map(|line| line.trim_start()).collect();
        let came = if holds {
            " (it came, and nobody woke it)"
        } else {
            ""
        };
        let (function, me, round) = (self.reason.function, self.me, self.seat.round);
        panic!("{function}: rank {me} waits for {whom:?}{came}; last round {round}; {places:?}")
    }

    /// The engine that the others notify.
    #[inline]
    fn engine(&self) -> u32 {
        self.around.comm().engine_mapping().of_library().1
    }

    /// Wakes a rank that sleeps, after something was stored that it may wait for.
    #[inline]
    pub(super) fn wake(&self, rank: usize) {
        if self.board.somebody_rests() {
            self.ring(rank..rank + 1);
        }
    }

    #[inline]
    pub(super) fn wake_others(&self) {
        if self.board.somebody_rests() {
            self.ring(0..self.ranks);
        }
    }

    #[cold]
    fn ring(&self, ranks: Range<usize>) {
        #[cfg(test)]
        if let Around::Stage(_) = self.around {
            return ranks.for_each(scheduler::wake);
        }
        let engine = enter_at(self.engine());
        for rank in ranks.filter(|rank| *rank != self.me) {
            let world = self.around.comm().process(rank as i32);
            engine.transport().wake(engine.peer(world).route);
        }
    }

    /// Waits until all others have passed a round, and looks how far they are.
    pub(super) fn await_passing(&mut self, enough: u64) -> Step {
        let (board, me) = (self.board, self.me);
        for rank in (0..self.ranks).filter(|rank| *rank != me) {
            if self.seat.seen[rank] < enough {
                self.wait(rank..rank + 1, || board.passed(rank) >= enough)?;
                self.seat.seen[rank] = board.passed(rank);
            }
        }
        self.seat.find_least();
        Ok(())
    }

    /// Waits until a rank shows its data of a round.
    #[inline]
    pub(super) fn await_rank(&self, rank: usize, round: u64) -> Step {
        let board = self.board;
        // The desk of results is nobody's: all have come, and one is working.
        let owner = rank..(rank + 1).min(self.ranks);
        self.wait(owner, || board.is_shown(rank, round))
    }

    /// Wakes all, because any of them may wait for a slot of its own, which it wants to write.
    #[inline]
    pub(super) fn pass(&mut self, round: u64) {
        self.seat.passed = round;
        self.board.pass(self.me, round);
        self.wake_others();
    }

    /// Waits until all have come to a counted round.
    #[inline]
    pub(super) fn await_arrivals(&mut self, round: u64) -> Step {
        let board = self.board;
        let number = round - self.seat.others;
        let all = board.all_arrived(number);
        self.wait(0..self.ranks, || board.arrived(number) >= all)
    }

    /// Asks for the lines of a round that this rank will read: they come together. Of two ranks there is one, and of few each was
    /// looked at already.
    #[inline]
    pub(super) fn expect_others(&self, round: u64) {
        if self.ranks > FEW {
            for rank in (0..self.ranks).filter(|rank| *rank != self.me) {
                self.board.expect(rank, round);
            }
        }
    }

    /// Waits until the ranks from which data goes to one root show theirs, or the root shows its own. A rank that takes from
    /// the ranks again and again, and finds them ahead, asks for their next lines in time.
    pub(super) fn await_rooted(
        &mut self,
        root: usize,
        ranks: impl Iterator<Item = usize> + Clone,
        round: u64,
    ) -> Step {
        let again = self.seat.last_root == (root, round - 1);
        self.seat.last_root = (root, round);
        let board = self.board;
        if again && ranks.clone().all(|rank| board.is_shown(rank, round)) {
            for rank in ranks.clone() {
                board.expect(rank, round + FORESIGHT);
            }
        } else {
            self.await_ranks(ranks.clone(), round)?;
        }
        self.seat.have_passed(ranks, round - 1);
        Ok(())
    }

    /// Waits until some ranks show their data of a round; their lines come together.
    #[inline]
    pub(super) fn await_ranks(
        &self,
        ranks: impl Iterator<Item = usize> + Clone,
        round: u64,
    ) -> Step {
        if self.ranks > 2 {
            for rank in ranks.clone() {
                self.board.expect(rank, round);
            }
        }
        for rank in ranks {
            self.await_rank(rank, round)?;
        }
        Ok(())
    }
}
