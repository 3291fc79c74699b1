//! Operations of one round and little data in two halves: what a rank gives is published when the operation begins, and what it gets is taken when
//! all have published. In a task nothing else is left to do between them than to look, so a poll costs that and no chain of futures.
//!
//! Invariant: the halves are those steps of the whole operation (`Work::everybody`, `reduce_by_last`), so a rank may be in halves where
//! another one is in a call that blocks.

use super::env::Env;
use super::waiting::TaskWait;
use super::{Pieces, Step, Work};
use crate::coll::args::CollArgs;
use crate::coll::choose::plan::{Plan, Shape, Staged};
use crate::coll::choose::{report, route};
use crate::error::{Error, Result};
use crate::transport::collective::{Area, Event, INLINE, Place, Staging};
use std::ops::Range;
use std::task::{Poll, ready};

/// An operation of which the first half is done.
pub(super) struct Halves {
    plan: Plan,
    bytes: usize,
    awaited: Awaited,
    wait: TaskWait,
    /// A rank that it waited for in vain.
    lost: Option<u32>,
    /// What went wrong in the first half.
    failure: Option<Error>,
}

/// What the second half waits for.
#[derive(Clone, Copy)]
struct Awaited {
    how: Staged,
    round: u64,
    /// Of counted rounds: the number among those; of barriers by a counter: how many ranks come to them.
    number: u64,
    me: usize,
}

impl Awaited {
    /// Whether all is there.
    #[inline]
    fn is_there(&self, area: &Area) -> bool {
        match self.how {
            Staged::Counter => area.entered_barrier() >= self.number,
            Staged::Last => area.have_arrived(self.number) && self.has_results(area),
            _ => self.missing(area).is_none(),
        }
    }

    #[inline]
    fn has_results(&self, area: &Area) -> bool {
        area.is_published(area.ranks(), self.round)
    }

    /// The first rank that has not published.
    #[inline]
    fn missing(&self, area: &Area) -> Option<usize> {
        let mut others = (0..area.ranks()).filter(|rank| *rank != self.me);
        others.find(|rank| !area.is_published(*rank, self.round))
    }

    /// The ranks that it waits for.
    fn whom(&self, area: &Area) -> Range<usize> {
        match self.how {
            Staged::Direct => self.missing(area).map_or(0..0, |rank| rank..rank + 1),
            // All have come, and one is working.
            Staged::Last if area.have_arrived(self.number) => 0..0,
            _ => 0..area.ranks(),
        }
    }
}

impl Halves {
    /// Does the first half. `None`: not an operation for halves, or there is no room at once; nothing was done.
    #[inline]
    pub fn begin(
        staging: &mut Staging,
        env: Env<'_>,
        oversubscribed: bool,
        args: &CollArgs,
    ) -> Option<Halves> {
        let bytes = match args {
            CollArgs::Barrier => 0,
            CollArgs::Allreduce { own, .. } if (1..=INLINE).contains(&own.len()) => own.len(),
            _ => return None,
        };
        let plan = route::plan(args, staging.me, &Shape::of(staging, oversubscribed))?;
        let is_last = plan.how == Staged::Last;
        let fits = plan.piece >= bytes.max(1) && !plan.is_large();
        match plan.how {
            Staged::Counter => {}
            Staged::Direct | Staged::Last if fits && plan.counted == is_last => {}
            _ => return None,
        }
        let (me, round) = (staging.me, staging.round + 1);
        let by_counter = plan.how == Staged::Counter;
        if !by_counter && !has_room(staging, round) || report::is_wanted() {
            return None;
        }
        let mut work = Work::<true>::new(staging, env, plan);
        let number = if by_counter {
            work.enter_counter()
        } else {
            work.rounds(1, plan.counted);
            work.publish(round, (Place::INLINE, bytes), bytes, |work, data| {
                if let CollArgs::Allreduce { own, .. } = args {
                    work.lay(own, 0, data, bytes);
                }
            });
            let last = work.arrive(round, plan.counted);
            if let CollArgs::Allreduce { with, .. } = args
                && last
            {
                work.make_results(round, bytes, bytes, with);
            }
            round - work.staging.uncounted
        };
        let failure = work.failure.take();
        Some(Halves {
            plan,
            bytes,
            awaited: Awaited {
                how: plan.how,
                round,
                number,
                me,
            },
            wait: TaskWait::default(),
            lost: None,
            failure,
        })
    }

    /// Whether all is there for the second half.
    #[inline]
    pub fn is_there(&self, area: &Area) -> bool {
        self.awaited.is_there(area)
    }

    /// A poll of the task, where not all is there. Ready: it is there now, or a rank is lost.
    pub fn wait(&mut self, staging: &mut Staging, env: Env<'_>) -> Poll<()> {
        let (awaited, area) = (self.awaited, staging.area);
        let work = Work::<true>::new(staging, env, self.plan);
        let mut is_there = || awaited.is_there(&area);
        let whom = awaited.whom(&area);
        self.lost = ready!(work.poll_wait(&mut self.wait, whom, Event::Published, &mut is_there));
        Poll::Ready(())
    }

    #[cfg(test)]
    pub fn is_announced(&self) -> bool {
        self.wait.is_announced()
    }

    /// Does the second half.
    #[inline]
    pub fn end(
        &mut self,
        staging: &mut Staging,
        env: Env<'_>,
        args: &CollArgs,
    ) -> Step<Result<()>> {
        let awaited = self.awaited;
        let mut work = Work::<true>::new(staging, env, self.plan);
        work.failure = self.failure.take();
        // The area may be left after that, and be another communicator's when this is dropped.
        self.wait.end();
        if self.lost.is_some() {
            work.end_wait(self.lost)?;
        }
        if awaited.how == Staged::Counter {
            return Ok(Ok(()));
        }
        let round = awaited.round;
        work.staging.all_have_acknowledged(round - 1);
        match (awaited.how, args) {
            (Staged::Last, CollArgs::Allreduce { into, .. }) => {
                work.take_results(into, round, 0..self.bytes, self.bytes);
            }
            (_, CollArgs::Allreduce { own, into, with }) => {
                let pieces = Pieces {
                    first: round,
                    number: 1,
                    piece: self.bytes,
                    bytes: self.bytes,
                };
                work.take_vectors(own, into, with, &pieces, 0);
            }
            _ => {}
        }
        work.acknowledge(round);
        Ok(work.failure.take().map_or(Ok(()), Err))
    }
}

/// Whether this rank may write the line of a round, as far as it has been told or can see.
#[inline]
fn has_room(staging: &mut Staging, round: u64) -> bool {
    let held = staging.line_held(round);
    if staging.least < held {
        let (ranks, me) = (staging.ranks(), staging.me);
        for rank in (0..ranks).filter(|rank| *rank != me) {
            staging.look_at(rank);
        }
        staging.find_least();
    }
    staging.least >= held
}
