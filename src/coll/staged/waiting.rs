//! Waiting at a staging area, and waking those who wait.
//!
//! Invariant: a rank that may sleep has announced that and looked once more. A rank that gives up, because one that it needs is lost, says so
//! at the area and writes nothing there any more: so what others read is always what all have given.

#[cfg(test)]
use super::env::Env;
use super::{Lost, Step, Work};
use crate::coll::differing::Look;
use crate::engine::losses::{DIFFERENT, REVOKED};
use crate::engine::wait::{Reason, Watch, soon, until_at};
use crate::engine::{Engine, enter_at, liveness, losses, tasks};
use crate::os::turns::{RESTLESS_YIELDS, TASK_POLLS_PER_CHECK};
#[cfg(test)]
use crate::sync::scheduler;
use crate::transport::collective::{Area, Event};
use oxmpi_macros::both;
use std::ops::Range;
use std::task::Poll;

/// Rounds from the one that is taken to the one whose line is prefetched, where the others are ahead.
const FORESIGHT: u64 = 2;

/// The announcement that this rank may sleep; taken back when dropped.
struct Announced(Area, Event);

impl Announced {
    fn new(area: Area, event: Event) -> Announced {
        area.announce_sleep(event);
        Announced(area, event)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.0.wake_up(self.1);
    }
}

/// A wait of a task between its polls.
#[derive(Default)]
pub(super) struct TaskWait {
    polls: u32,
    announced: Option<Announced>,
    search: Search,
}

impl TaskWait {
    /// Takes back the announcement.
    #[inline]
    pub(super) fn end(&mut self) {
        self.announced = None;
    }

    #[cfg(test)]
    pub(super) fn is_announced(&self) -> bool {
        self.announced.is_some()
    }
}

/// What a wait knows of those who may be gone.
#[derive(Default)]
struct Search {
    /// Those that are waited for.
    watch: Watch,
    /// All others.
    watch_of_all: Watch,
    look: Look,
}

impl Work<'_, true> {
    /// Waits for some of the ranks.
    #[inline]
    pub(super) fn wait(
        &self,
        whom: Range<usize>,
        event: Event,
        holds: impl FnMut() -> bool,
    ) -> Step {
        self.wait_here(whom, event, holds)
    }
}

impl Work<'_, false> {
    /// Waits for some of the ranks.
    #[inline]
    pub(super) async fn wait(
        &self,
        whom: Range<usize>,
        event: Event,
        holds: impl FnMut() -> bool,
    ) -> Step {
        match self.env.blocks() {
            true => self.wait_here(whom, event, holds),
            false => self.wait_in_task(whom, event, holds).await,
        }
    }
}

impl<const BLOCK: bool> Work<'_, BLOCK> {
    /// As `wait`, in a call that blocks.
    #[inline]
    fn wait_here(&self, whom: Range<usize>, event: Event, mut holds: impl FnMut() -> bool) -> Step {
        #[cfg(test)]
        if let Env::Fixture(..) = self.env {
            self.wait_in_turns(whom, event, &mut holds);
            return Ok(());
        }
        match soon(self.plan.oversubscribed, &mut holds) {
            true => Ok(()),
            false => self.wait_long(whom, event, &mut holds),
        }
    }

    /// The rest of a wait, with progress of all that is under way.
    #[cold]
    fn wait_long(&self, whom: Range<usize>, event: Event, holds: &mut dyn FnMut() -> bool) -> Step {
        let (mut search, mut looks, mut announced) = (Search::default(), 0u32, None);
        let coll = self.env.coll();
        let what = &|named: bool| match whom.is_empty() {
            // The results are nobody's.
            true => coll.awaits(self.worlds(0..self.ranks), named),
            false => coll.awaits(self.worlds(whom.clone()), named),
        };
        let function = coll.function;
        let lost = until_at(self.engine(), &Reason { function, what }, |engine| {
            looks = looks.saturating_add(1);
            if looks == RESTLESS_YIELDS {
                announced = Some(Announced::new(self.staging.area, event));
            }
            if holds() {
                return Some(None);
            }
            let asks = engine.checks_liveness();
            let lost = self.area().lost();
            let lost = lost.or_else(|| self.find_gone(engine, whom.clone(), &mut search, asks))?;
            // Lost first, then looked at: what it had published is there.
            Some((!holds()).then_some(lost))
        });
        self.end_wait(lost)
    }

    /// A process that is gone, of those that are waited for, or without which none of them may come: these may have given up. `asks`: it is
    /// time to ask about all.
    fn find_gone(
        &self,
        engine: &Engine,
        whom: Range<usize>,
        search: &mut Search,
        asks: bool,
    ) -> Option<u32> {
        let Search {
            watch,
            watch_of_all,
            look,
        } = search;
        let is_gone = |world: &u32| match asks {
            true => watch.is_gone(engine, *world),
            false => watch.is_unreachable(engine, *world),
        };
        let gone = self.worlds(whom).find(is_gone);
        if gone.is_some() || !asks {
            return gone;
        }
        if self.env.coll().is_revoked() {
            return Some(REVOKED);
        }
        if look.finds(self.env.coll().operation()) {
            return Some(DIFFERENT);
        }
        let world = self.missing(engine)?;
        watch_of_all.is_long_gone(engine, world).then_some(world)
    }

    /// In a task: polled again whenever the engines are.
    async fn wait_in_task(
        &self,
        whom: Range<usize>,
        event: Event,
        mut holds: impl FnMut() -> bool,
    ) -> Step {
        let mut wait = TaskWait::default();
        let lost = std::future::poll_fn(|_| match holds() {
            true => Poll::Ready(None),
            false => self.poll_wait(&mut wait, whom.clone(), event, &mut holds),
        })
        .await;
        self.end_wait(lost)
    }

    /// A poll of a wait that has found that its condition does not hold.
    pub(super) fn poll_wait(
        &self,
        wait: &mut TaskWait,
        whom: Range<usize>,
        event: Event,
        holds: &mut dyn FnMut() -> bool,
    ) -> Poll<Option<u32>> {
        #[cfg(test)]
        self.end_if_stuck(whom.clone(), holds);
        let sleeps = self.before_sleep();
        if sleeps && wait.announced.is_none() {
            wait.announced = Some(Announced::new(self.staging.area, event));
            if holds() {
                return Poll::Ready(None);
            }
        }
        if let Some(world) = self.area().lost() {
            return Poll::Ready(Some(world));
        }
        wait.polls = wait.polls.wrapping_add(1);
        if sleeps || tasks::checks_liveness() || wait.polls.is_multiple_of(TASK_POLLS_PER_CHECK) {
            let lost = self.find_gone_in_task(&mut wait.search, whom);
            if lost.is_some() {
                // Lost first, then looked at: what it had published is there.
                return Poll::Ready(lost.filter(|_| !holds()));
            }
        }
        tasks::wait_for_anything();
        Poll::Pending
    }

    /// Whether the thread that polls this task is about to sleep.
    #[inline]
    fn before_sleep(&self) -> bool {
        #[cfg(test)]
        if let Env::Fixture(fixture, ..) = self.env {
            return fixture.sleeps(self.me);
        }
        tasks::before_sleep()
    }

    #[cold]
    fn find_gone_in_task(&self, search: &mut Search, whom: Range<usize>) -> Option<u32> {
        #[cfg(test)]
        if let Env::Fixture(..) = self.env {
            return None;
        }
        self.find_gone(&enter_at(self.engine()), whom, search, true)
    }

    pub(super) fn end_wait(&self, lost: Option<u32>) -> Step {
        let Some(world) = lost else {
            return Ok(());
        };
        // The others may wait for this rank, which does nothing more at this area.
        let for_others = losses::number_for_others(world);
        self.area().tell_lost(for_others, self.staging.exposed);
        self.wake(0..self.ranks, Event::Published);
        self.wake(0..self.ranks, Event::Acknowledged);
        Err(Lost(world))
    }

    /// The processes of some ranks but this one.
    fn worlds(&self, ranks: Range<usize>) -> impl Iterator<Item = u32> {
        let coll = self.env.coll();
        let others = ranks.filter(|rank| *rank != self.me);
        others.map(move |rank| coll.process(rank as i32))
    }

    /// A process without which the area cannot be used any further: it was lost before it came here, or has died. One of another node that has
    /// died counts, too: a rank of this node that has lost it in the other level may have given up before it knew the area. A rank that has
    /// only left for MPI_Finalize may have done its part in this operation.
    #[cold]
    fn missing(&self, engine: &Engine) -> Option<u32> {
        let ranks = (0..self.ranks).filter(|rank| *rank != self.me);
        let mut lost = ranks.filter_map(|rank| {
            let world = self.env.coll().process(rank as i32);
            let never_here =
                self.area().acknowledged(rank) == 0 && liveness::of(engine, world).is_some();
            (never_here || engine.peer(world).has_died()).then_some(world)
        });
        lost.next().or_else(|| self.env.coll().dead_member())
    }

    /// On a fixture: a few looks, then sleep. What is waited for comes from those who take turns with this rank, or never.
    #[cfg(test)]
    fn wait_in_turns(&self, whom: Range<usize>, event: Event, holds: &mut dyn FnMut() -> bool) {
        let looks = [0, 1, 5, u64::MAX][scheduler::random(4) as usize];
        let mut looked = 0;
        let mut announced = None;
        while !holds() {
            if looked == looks && announced.is_none() {
                announced = Some(Announced::new(self.staging.area, event));
            } else if !scheduler::pause(announced.is_some()) {
                self.say_stuck(whom, holds());
            }
            looked += 1;
        }
    }

    /// In a task on a fixture.
    #[cfg(test)]
    fn end_if_stuck(&self, whom: Range<usize>, holds: &mut dyn FnMut() -> bool) {
        if let Env::Fixture(fixture, ..) = self.env
            && fixture.is_stuck(self.me)
        {
            self.say_stuck(whom, holds());
        }
    }

    #[cfg(test)]
    fn say_stuck(&self, whom: Range<usize>, holds: bool) -> ! {
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        let lines = trace.lines().filter(|line| line.contains("coll/staged/"));
        let places: Vec<&str> = lines.map(|line| line.trim_start()).collect();
        let came = if holds {
            " (it came, and nobody woke it)"
        } else {
            ""
        };
        let (function, me, round) = (self.env.function(), self.me, self.staging.round);
        panic!(
            "{function}: rank {me} waits for {whom:?}{came}; last round {round}; {:?}; {places:?}",
            self.plan
        )
    }

    /// The engine that the others notify.
    #[inline]
    fn engine(&self) -> u32 {
        self.env.coll().engines.1
    }

    /// Wakes a rank that sleeps, after something was published that it may wait for.
    #[inline]
    pub(super) fn wake_one(&self, rank: usize) {
        self.wake(rank..rank + 1, Event::Published);
    }

    #[inline]
    pub(super) fn wake_others(&self) {
        self.wake(0..self.ranks, Event::Published);
    }

    /// Wakes all, because any of them may wait for room of its own, which it wants to write.
    #[inline]
    pub(super) fn wake_for_room(&self) {
        self.wake(0..self.ranks, Event::Acknowledged);
    }

    #[inline]
    fn wake(&self, ranks: Range<usize>, event: Event) {
        if self.area().has_sleepers(event) {
            self.wake_sleepers(ranks);
        }
    }

    #[cold]
    fn wake_sleepers(&self, ranks: Range<usize>) {
        #[cfg(test)]
        if let Env::Fixture(..) = self.env {
            return ranks.for_each(scheduler::wake);
        }
        let engine = enter_at(self.engine());
        for rank in ranks.filter(|rank| *rank != self.me) {
            let world = self.env.coll().process(rank as i32);
            engine.transport().wake(engine.peer(world).route);
        }
    }

    /// Prefetches the lines of a round that this rank will read: they come together. Of two ranks there is one, and where each was
    /// looked at already they are here.
    #[inline]
    pub(super) fn prefetch_others(&self, round: u64, counted: bool) {
        if counted {
            for rank in (0..self.ranks).filter(|rank| *rank != self.me) {
                self.area().prefetch(rank, round);
            }
        }
    }
}

#[both]
impl Work<'_, BLOCK> {
    /// Waits until all others have acknowledged a round, and looks how far they are.
    pub(super) async fn await_acknowledged(&mut self, enough: u64) -> Step {
        let (area, me) = (self.staging.area, self.me);
        for rank in (0..self.ranks).filter(|rank| *rank != me) {
            if self.staging.seen(rank) < enough {
                self.wait(rank..rank + 1, Event::Acknowledged, || {
                    area.acknowledged(rank) >= enough
                })
                .await?;
                self.staging.look_at(rank);
            }
        }
        self.staging.find_least();
        Ok(())
    }

    /// Waits until a rank, or whoever makes the results, has published its data of a round.
    #[inline]
    pub(super) async fn await_published(&self, publisher: usize, round: u64) -> Step {
        if self.area().is_published(publisher, round) {
            return Ok(());
        }
        let area = self.staging.area;
        // The results are nobody's: all have come, and one is working.
        let owner = publisher..(publisher + 1).min(self.ranks);
        self.wait(owner, Event::Published, || {
            area.is_published(publisher, round)
        })
        .await
    }

    /// Waits until the ranks from which data goes to one root have published it, or the root its own. A rank that takes from
    /// the ranks again and again, and finds them ahead, prefetches their next lines in time.
    #[inline]
    pub(super) async fn await_rooted(
        &mut self,
        root: usize,
        ranks: impl Iterator<Item = usize> + Clone,
        round: u64,
    ) -> Step {
        let again = self.staging.last_root == (root, round - 1);
        self.staging.last_root = (root, round);
        let area = self.staging.area;
        if again && ranks.clone().all(|rank| area.is_published(rank, round)) {
            for rank in ranks.clone() {
                area.prefetch(rank, round + FORESIGHT);
            }
        } else {
            self.await_ranks(ranks.clone(), round).await?;
        }
        self.staging.have_acknowledged(ranks, round - 1);
        Ok(())
    }

    /// Waits until some ranks have published their data of a round; their lines come together.
    #[inline]
    pub(super) async fn await_ranks(
        &self,
        ranks: impl Iterator<Item = usize> + Clone,
        round: u64,
    ) -> Step {
        if self.ranks > 2 {
            for rank in ranks.clone() {
                self.area().prefetch(rank, round);
            }
        }
        for rank in ranks {
            self.await_published(rank, round).await?;
        }
        Ok(())
    }
}
