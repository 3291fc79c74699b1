//! How an operation gets a staging area, and runs there.

use super::env::Env;
use super::halves::Halves;
use super::{Lost, NONTEMPORAL, Step, Work};
use crate::coll::args::CollArgs;
use crate::coll::bcast;
use crate::coll::choose::plan::{Rings, Shape, Staged};
use crate::coll::choose::{self, report, route};
use crate::coll::context::CollContext;
use crate::coll::differing;
use crate::coll::team::Team;
use crate::comm::Comm;
use crate::datatype::Buffer;
use crate::engine::losses::{self, DIFFERENT};
use crate::engine::{enter, liveness};
use crate::error::{Error, Result};
use crate::node;
use crate::transport::Stores;
use crate::transport::collective::{
    Access, Area, Geometry, Large, MOST_RANKS, Spacing, Staging, Told, UNIT,
};
#[cfg(test)]
use crate::transport::collective::{Fixture, Form};
use oxmpi_macros::both;
use parking_lot::Mutex;
#[cfg(test)]
use std::task::Context;
use std::task::Poll;

/// Part of a large ring that two ranks use with non-temporal stores: nothing is to be evicted then, and fewer pages are
/// better (benches/counts.md). A gap would break the reader's stream.
const NONTEMPORAL_SPACING: Spacing = Spacing {
    gap: 0,
    extent: 512 << 10,
};
/// In place of where an area is: a rank on the way from rank 0 is lost.
const NO_WORD: u64 = u64::MAX;

/// Runs an operation of ranks that are all on this node, in the staging area that `access` leads to. `None`: it goes by messages, and nothing
/// was done.
///
/// Errors: a rank is lost; those of the operation.
#[inline]
pub async fn run(
    access: &Mutex<Access>,
    coll: &CollContext<'_>,
    geometry: Geometry,
    args: &CollArgs,
) -> Option<Result<()>> {
    if !route::may_be_staged(args) {
        return None;
    }
    // Taken out: a task holds no lock while it waits.
    let mut mine = std::mem::replace(&mut *access.lock(), Access::Busy);
    if let Access::Unknown = mine {
        mine = open(coll, geometry).await;
    }
    let done = match &mut mine {
        Access::Given(staging) => {
            let oversubscribed = node::is_oversubscribed();
            let done = Work::<false>::stage(staging, Env::Coll(coll), oversubscribed, args).await;
            unless_lost(done, &staging.area)
        }
        Access::Lost(world) => Err(Lost(*world)),
        Access::Unknown | Access::Busy | Access::Refused => Ok(None),
    };
    let done = match done {
        Ok(done) => done,
        Err(Lost(world)) => {
            mine = Access::Lost(world);
            Some(Err(error_of_loss(coll, world)))
        }
    };
    *access.lock() = mine;
    done
}

/// As [`run`], of a blocking operation that has an area by now; the others are not run.
#[inline]
pub fn block(comm: &Comm, function: &'static str, args: &CollArgs) -> Option<Result<()>> {
    let mut mine = comm.staging.blocking.lock();
    let Access::Given(staging) = &mut *mine else {
        return None;
    };
    let env = Env::Comm(comm, function, None);
    let done = Work::<true>::stage(staging, env, node::is_oversubscribed(), args);
    match unless_lost(done, &staging.area) {
        Ok(done) => done,
        Err(Lost(world)) => {
            *mine = Access::Lost(world);
            Some(Err(error_of_loss(&env.coll(), world)))
        }
    }
}

/// An operation that a task has begun in an area, which it has until it ends.
pub struct Begun {
    halves: Halves,
    /// Until it ends; dropped last.
    staging: Option<Box<Staging>>,
}

/// Begins an operation in halves where it can be done ([`Halves`]) and the area is there. `None`: nothing was done.
#[inline]
pub fn begin(
    access: &Mutex<Access>,
    (comm, function, tag): (&Comm, &'static str, i32),
    args: &CollArgs,
) -> Option<Begun> {
    let mut mine = access.lock();
    let Access::Given(staging) = &mut *mine else {
        return None;
    };
    if staging.area.lost().is_some() {
        return None;
    }
    let env = Env::Comm(comm, function, Some(tag));
    let halves = Halves::begin(staging, env, node::is_oversubscribed(), args)?;
    let Access::Given(staging) = std::mem::replace(&mut *mine, Access::Busy) else {
        unreachable!("an area that was there")
    };
    Some(Begun {
        staging: Some(staging),
        halves,
    })
}

impl Begun {
    /// A poll of the task. Ready: it can end, if only by an error.
    #[inline]
    pub fn can_end(&mut self, (comm, function, tag): (&Comm, &'static str, i32)) -> Poll<()> {
        match &mut self.staging {
            Some(staging) if !self.halves.is_there(&staging.area) => {
                let env = Env::Comm(comm, function, Some(tag));
                self.halves.wait(staging, env)
            }
            _ => Poll::Ready(()),
        }
    }

    /// Ends it, and gives the area back.
    ///
    /// Errors: as [`run`].
    #[inline]
    pub fn end(
        &mut self,
        access: &Mutex<Access>,
        (comm, function, tag): (&Comm, &'static str, i32),
        args: &CollArgs,
    ) -> Result<()> {
        let Some(mut staging) = self.staging.take() else {
            return Ok(());
        };
        let env = Env::Comm(comm, function, Some(tag));
        let (mine, done) = match self.halves.end(&mut staging, env, args) {
            Ok(done) => (Access::Given(staging), done),
            Err(Lost(world)) => (Access::Lost(world), Err(error_of_loss(&env.coll(), world))),
        };
        *access.lock() = mine;
        done
    }
}

/// An operation that goes by messages does not, where some have given up at the area: they do not come.
#[inline]
fn unless_lost<T>(done: Step<Option<T>>, area: &Area) -> Step<Option<T>> {
    if let Ok(None) = done
        && let Some(world) = area.lost()
    {
        return Err(Lost(world));
    }
    done
}

/// A rank that takes part is lost, so nothing more is done at this area.
#[cold]
fn error_of_loss(coll: &CollContext<'_>, world: u32) -> Error {
    match world {
        DIFFERENT => differing::error(coll.operation()),
        _ => losses::error(&enter(), world),
    }
}

/// Rank 0 makes an area and tells the others where, and with how many bytes. They expect others only if the ranks' calls differ.
#[cold]
async fn open(coll: &CollContext<'_>, geometry: Geometry) -> Access {
    if geometry.ranks > MOST_RANKS || !choose::stages() {
        return Access::Refused;
    }
    let rank = coll.rank() as usize;
    let at = |told: Told| {
        let engine = enter();
        let area = engine.transport().node_memory().area(told, geometry, rank);
        area.map(|area| Box::new(Staging::new(area, rank)))
    };
    // Passed on as it is where no word has come.
    let mut words = [NO_WORD.to_ne_bytes(); 3].concat().into_boxed_slice();
    let mut mine = None;
    if rank == 0 {
        let told = make(coll, geometry);
        mine = told.and_then(at);
        let Told { offset, number } = told.unwrap_or_default();
        let told = [offset, geometry.bytes() as u64, u64::from(number)];
        words = told.map(u64::to_ne_bytes).concat().into_boxed_slice();
    }
    let team = Team::on(*coll);
    bcast::binomial(&team, Buffer::of_copy(&mut words), 0).await;
    let result = team.result();
    let word = |at: usize| u64::from_ne_bytes(words[at..at + 8].try_into().unwrap_or_default());
    let (offset, bytes, number) = (word(0), word(8), word(16) as u32);
    let told = Told { offset, number };
    // Of an operation on several nodes it may be a rank of another node, and all of these live.
    let told_of = result.as_ref().err().and_then(Error::lost);
    if told_of == Some(DIFFERENT) {
        return Access::Lost(DIFFERENT);
    }
    let lost = || {
        let engine = enter();
        let mut worlds = (0..coll.size()).map(|rank| coll.process(rank));
        told_of.or_else(|| worlds.find(|world| liveness::of(&engine, *world).is_some()))
    };
    if result.is_err() || offset == NO_WORD {
        // Some of the others may have got the message, and wait at the area.
        let lost = lost();
        if let (Some(world), Some(mine)) = (lost, mine) {
            mine.area.tell_lost(world, None);
        }
        return lost.map_or(Access::Refused, Access::Lost);
    }
    if bytes != geometry.bytes() as u64 {
        return Access::Lost(DIFFERENT);
    }
    if told == Told::default() {
        return Access::Refused;
    }
    // One that is nobody's any more: a rank that has died has made others leave it.
    let mine = mine.or_else(|| at(told));
    mine.map_or_else(|| Access::Lost(lost().unwrap_or(DIFFERENT)), Access::Given)
}

/// Makes an area for the ranks of a communicator.
fn make(coll: &CollContext<'_>, geometry: Geometry) -> Option<Told> {
    let engine = enter();
    let table = engine.transport().table();
    let seat = |rank| table.seat_of(coll.process(rank));
    let seats: Option<Vec<usize>> = (0..coll.size()).map(seat).collect();
    let seats = seats?.into_iter().map(|seat| seat as u32);
    engine.transport().node_memory().make_area(geometry, seats)
}

/// About as many bytes as a rank publishes at most.
#[inline]
fn longest(args: &CollArgs, ranks: usize) -> usize {
    match args {
        CollArgs::Barrier | CollArgs::Neighbors { .. } => 0,
        CollArgs::Bcast { buffer, .. } => buffer.len(),
        CollArgs::Gather { own, .. } => own.map_or(0, |own| own.len()),
        CollArgs::Scatter { parts, .. } => parts.as_ref().map_or(0, |parts| ranks * parts.len(0)),
        CollArgs::Allgather { parts, .. } => (0..ranks).map(|rank| parts.len(rank)).sum(),
        CollArgs::Alltoall { into, .. } => ranks * into.len(0),
        CollArgs::Reduce { own, .. }
        | CollArgs::Allreduce { own, .. }
        | CollArgs::ReduceScatter { own, .. }
        | CollArgs::Scan { own, .. } => own.len(),
    }
}

/// An operation on a fixture, for tests: the ranks take turns.
#[cfg(test)]
pub fn rehearse(
    staging: &mut Staging,
    (fixture, oversubscribed, form): (&Fixture, bool, Form),
    function: &'static str,
    args: &CollArgs,
) -> Option<Result<()>> {
    let (env, me) = (Env::Fixture(fixture, function, form), staging.me);
    let done = match form {
        Form::Call => Work::<true>::stage(staging, env, oversubscribed, args),
        Form::Task if let Some(mut halves) = Halves::begin(staging, env, oversubscribed, args) => {
            let poll = |_: &mut Context<'_>| match halves.is_there(&staging.area) {
                true => Poll::Ready(()),
                false => halves.wait(staging, env),
            };
            fixture.run_task(me, std::future::poll_fn(poll));
            let done = halves.end(staging, env, args).map(Some);
            assert!(!halves.is_announced(), "the area may be left now");
            done
        }
        Form::Future | Form::Task => {
            fixture.run_task(me, Work::<false>::stage(staging, env, oversubscribed, args))
        }
    };
    match done {
        Ok(done) => done,
        Err(Lost(rank)) => unreachable!("rank {rank} of a fixture is lost"),
    }
}

#[both]
impl Work<'_, BLOCK> {
    #[inline]
    async fn stage(
        staging: &mut Staging,
        env: Env<'_>,
        oversubscribed: bool,
        args: &CollArgs,
    ) -> Step<Option<Result<()>>> {
        let mut shape = Shape::of(staging, oversubscribed);
        let Some(plan) = route::plan(args, staging.me, &shape) else {
            return Ok(None);
        };
        let (me, ranks) = (staging.me, staging.ranks());
        let mut work = Work::<BLOCK>::new(staging, env, plan);
        if plan.is_large() && work.staging.large == Large::Unknown {
            work.make_large().await?;
            shape.large = work.staging.large == Large::Given;
            let Some(plan) = route::plan(args, me, &shape) else {
                return Ok(None);
            };
            work.plan = plan;
        }
        if plan.is_large() || plan.oversubscribed && longest(args, ranks) >= NONTEMPORAL {
            work.look_around();
        }
        if work.plan.rings.is_some_and(|rings| rings.from_start) {
            work.staging.rewind_large();
        }
        let done = work.run(args).await?;
        if done && report::is_wanted() {
            work.env.report(args, &work.plan);
        }
        Ok(done.then(|| work.failure.take().map_or(Ok(()), Err)))
    }

    /// Rank 0 makes the large rings, and tells the others in a round.
    #[cold]
    async fn make_large(&mut self) -> Step {
        let round = self.rounds(1, false);
        if self.me == 0 {
            self.env.make_large(&self.staging.area);
            let place = self.room(round, 0).await?;
            self.publish(round, (place, 0), 0, |_, _| {});
            self.wake_others();
        } else {
            self.await_published(0, round).await?;
        }
        self.acknowledge(round);
        self.staging.large = match self.env.open_large(&mut self.staging.area) {
            true => Large::Given,
            false => Large::Refused,
        };
        Ok(())
    }

    /// Looks how far the others are when it is time, for an operation on much data, and what to write it with.
    fn look_around(&mut self) {
        let (env, ranks) = (self.env, self.ranks);
        self.staging.distance.look(|| env.farthest(ranks));
        let distance = self.staging.distance.last();
        self.stores = match ranks == 2 && !self.plan.oversubscribed {
            true => Stores::for_much(distance),
            false => Stores::for_reader(distance),
        };
        if let Some(Rings { spacing, .. }) = &mut self.plan.rings
            && ranks == 2
            && spacing.gap == UNIT
            && self.stores == Stores::NonTemporal
        {
            *spacing = NONTEMPORAL_SPACING;
        }
    }

    /// False: not an operation for staging after all.
    #[inline]
    async fn run(&mut self, args: &CollArgs) -> Step<bool> {
        match args {
            CollArgs::Barrier => self.barrier().await?,
            CollArgs::Bcast { buffer, root } => self.bcast(buffer, *root as usize).await?,
            CollArgs::Gather {
                own, parts, root, ..
            } => {
                self.gather(own.as_ref(), parts.as_ref(), *root as usize)
                    .await?;
            }
            CollArgs::Scatter {
                parts, into, root, ..
            } => {
                self.scatter(parts.as_ref(), into.as_ref(), *root as usize)
                    .await?;
            }
            CollArgs::Allgather { own, parts } => self.allgather(own.as_ref(), parts).await?,
            CollArgs::Alltoall { out, into } => {
                if let Staged::SingleCopy = self.plan.how {
                    return self.alltoall_directly(out.as_ref(), into).await;
                }
                self.alltoall(out.as_ref(), into).await?;
            }
            CollArgs::Reduce {
                own,
                into,
                with,
                root,
            } => self.reduce(own, into, with, *root as usize).await?,
            CollArgs::Allreduce { own, into, with } => self.allreduce(own, into, with).await?,
            CollArgs::ReduceScatter {
                own,
                into,
                counts,
                with,
            } => self.reduce_scatter(own, into, counts, with).await?,
            CollArgs::Scan {
                own,
                into,
                with,
                exclusive,
            } => self.scan(own, into, with, *exclusive).await?,
            CollArgs::Neighbors { .. } => return Ok(false),
        }
        // What was written past the caches comes before whatever this rank stores next.
        self.stores.finish();
        Ok(true)
    }
}
