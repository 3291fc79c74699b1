//! Generalised active target epochs: MPI_Win_post and MPI_Win_wait at the target, MPI_Win_start and MPI_Win_complete at the origin.
//!
//! A post is a bit in the origin's post line, a complete adds one to the target's counter ([`crate::queue::posts`]). Assertions need
//! nothing: with MPI_MODE_NOCHECK the bits are there when MPI_Win_start looks.

use super::{assert, check_assertion, held};
use crate::comm::Members;
use crate::engine::waits::{Kind, Whom};
use crate::engine::{Engine, enter, is_multiple, liveness, losses};
use crate::error::{Class, Error, Result, fail};
use crate::group::Group;
use crate::queue::posts::{Completions, Post};
use crate::rma::hosts;
use crate::rma::wait::{Wait, poll};
use crate::rma::window::{Flavor, Window};
use crate::sync::Ordering;

/// Of so many calls of MPI_Win_test in vain, one asks whether all origins can still come.
const TESTS_BEFORE_LOSS: u32 = 256;

const ALLOWED_AT_POST: i32 = assert::NOCHECK | assert::NOSTORE | assert::NOPUT;

/// MPI_Win_post.
///
/// Errors: MPI_ERR_GROUP, MPI_ERR_ASSERT, MPI_ERR_RMA_SYNC.
pub fn post(window: &Window, group: &Group, assertion: i32) -> Result<()> {
    check_assertion(assertion, ALLOWED_AT_POST)?;
    let access = &window.access;
    if window.is_exposed() {
        return window.epoch_is_open("MPI_Win_post");
    }
    let mut origins = access.groups().origins.lock();
    window.ranks_of(group, &mut origins)?;
    access
        .exposed
        .store(origins.len() as u32 + 1, Ordering::Relaxed);
    for origin in origins.iter() {
        if window.is_remote(*origin) {
            window
                .far(*origin, "MPI_Win_post")
                .tell(hosts::Kind::Post, 0);
            continue;
        }
        Post::of(window.block.posts(*origin), window.rank).tell();
        window.assembly.wake(*origin);
    }
    Ok(())
}

/// MPI_Win_start. Waits for posts only where loads and stores of the program reach the targets.
///
/// Errors: MPI_ERR_GROUP, MPI_ERR_ASSERT, MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, a target is lost.
pub fn start(window: &Window, group: &Group, assertion: i32) -> Result<()> {
    check_assertion(assertion, assert::NOCHECK)?;
    window.begin_access()?;
    let access = &window.access;
    let mut targets = access.groups().targets.lock();
    window.ranks_of(group, &mut targets)?;
    access.started.store(1, Ordering::Relaxed);
    for target in targets.iter() {
        let bits = match window.take_post(*target) {
            true => held::STARTED,
            false => held::STARTED | held::AWAITED,
        };
        window.targets[*target].held.store(bits, Ordering::Relaxed);
    }
    if window.flavor != Flavor::Shared {
        return Ok(());
    }
    let awaited = targets
        .iter()
        .try_for_each(|target| window.await_post("MPI_Win_start", *target));
    if awaited.is_err() {
        window.end_start(&mut targets);
    }
    awaited
}

/// MPI_Win_complete. The epoch ends also if it fails.
///
/// Errors: MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, a target is lost.
pub fn complete(window: &Window) -> Result<()> {
    if window.access.started.load(Ordering::Relaxed) == 0 {
        return Err(window.nothing_to_end("MPI_Win_start"));
    }
    let mut targets = window.access.groups().targets.lock();
    let mut done = window.catch_up_all();
    for target in targets.iter() {
        let awaited = window.await_post("MPI_Win_complete", *target);
        if awaited.is_err() {
            done = awaited;
            continue;
        }
        if window.is_remote(*target) {
            done = done.and(window.settle(*target, "MPI_Win_complete"));
            window
                .far(*target, "MPI_Win_complete")
                .tell(hosts::Kind::Complete, 0);
            continue;
        }
        window.completions(*target).add();
        window.assembly.wake(*target);
    }
    window.end_start(&mut targets);
    done
}

/// MPI_Win_wait.
///
/// Errors: MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, an origin is lost.
pub fn wait(window: &Window) -> Result<()> {
    window.share_if_wanted();
    let mut is_over = window.exposure()?;
    if is_over() {
        return Ok(());
    }
    let wait = Wait {
        window,
        function: "MPI_Win_wait",
        kind: Kind::Epoch,
        target: None,
        whom: &|| {
            let origins = window.access.groups().origins.lock();
            Whom::of(origins.iter().map(|rank| window.targets[*rank].process))
        },
    };
    let done = wait.until(&mut is_over, &|engine| window.lost_origin(engine));
    done.map_err(|error| window.end_exposure(error))
}

/// MPI_Win_test: whether the exposure epoch is over.
///
/// Errors: MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, an origin is lost.
pub fn test(window: &Window) -> Result<bool> {
    let mut is_over = window.exposure()?;
    if is_over() {
        return Ok(true);
    }
    poll();
    if is_over() {
        return Ok(true);
    }
    let tests = window.access.tests.load(Ordering::Relaxed).wrapping_add(1);
    window.access.tests.store(tests, Ordering::Relaxed);
    if !tests.is_multiple_of(TESTS_BEFORE_LOSS) {
        return Ok(false);
    }
    let lost = {
        let engine = enter();
        let lost = window.lost_origin(&engine);
        lost.map(|process| losses::error(&engine, process))
    };
    match lost {
        // Lost first, then looked at: what it had completed is there.
        Some(error) if !is_over() => Err(window.end_exposure(error)),
        lost => Ok(lost.is_some()),
    }
}

impl Window {
    /// The ranks in this window of a group's members.
    ///
    /// Errors: MPI_ERR_GROUP.
    fn ranks_of(&self, group: &Group, ranks: &mut Vec<usize>) -> Result<()> {
        ranks.clear();
        for at in 0..group.size() {
            let process = group.member(at);
            let rank = match self.assembly.members() {
                Members::All(size) => (process < *size).then_some(process as usize),
                Members::Of(members) => members.rank_of(process).map(|rank| rank as usize),
            };
            match rank {
                Some(rank) => ranks.push(rank),
                None => {
                    ranks.clear();
                    return self.not_a_member(at, process);
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn not_a_member(&self, at: i32, process: u32) -> Result<()> {
        fail!(
            Class::Group,
            "rank {at} of group is rank {process} of MPI_COMM_WORLD, which is no rank of {}",
            self.title()
        )
    }

    /// Consumes the post of a target, if it is there.
    #[inline]
    fn take_post(&self, target: usize) -> bool {
        Post::of(self.block.posts(self.rank), target).take()
    }

    #[inline]
    fn completions(&self, target: usize) -> Completions<'_> {
        Completions(&self.block.target(target).completed)
    }

    /// Waits for the MPI_Win_post of a target in the group of MPI_Win_start, unless it was seen.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, the target is lost.
    #[inline]
    pub(super) fn await_post(&self, function: &'static str, target: usize) -> Result<()> {
        match self.targets[target].held.load(Ordering::Relaxed) & held::AWAITED {
            0 => Ok(()),
            _ => self.await_post_long(function, target),
        }
    }

    #[cold]
    fn await_post_long(&self, function: &'static str, target: usize) -> Result<()> {
        let held = &self.targets[target].held;
        let process = self.targets[target].process;
        let wait = Wait {
            window: self,
            function,
            kind: Kind::Epoch,
            target: Some(target),
            whom: &|| Whom::of([process]),
        };
        // Another thread may take it.
        let mut holds = || {
            let is_there = self.take_post(target);
            if is_there {
                held.store(held::STARTED, Ordering::Relaxed);
            }
            is_there || is_multiple() && held.load(Ordering::Relaxed) & held::AWAITED == 0
        };
        let done = wait.until(&mut holds, &|engine| {
            liveness::of(engine, process).map(|_| process)
        });
        done.map_err(|error| {
            error.context(format_args!(
                "{} waits for MPI_Win_post of target rank {target}",
                self.title()
            ))
        })
    }

    /// Ends the epoch of MPI_Win_start.
    fn end_start(&self, targets: &mut Vec<usize>) {
        for target in targets.drain(..) {
            self.targets[target].held.store(0, Ordering::Relaxed);
        }
        self.access.started.store(0, Ordering::Relaxed);
    }

    /// What tells whether all origins of the exposure epoch have completed, and then ends it.
    ///
    /// Errors: MPI_ERR_RMA_SYNC.
    fn exposure(&self) -> Result<impl FnMut() -> bool + '_> {
        let exposed = &self.access.exposed;
        let origins = match exposed.load(Ordering::Relaxed) {
            0 => return Err(self.nothing_to_end("MPI_Win_post")),
            more => u64::from(more - 1),
        };
        let completions = self.completions(self.rank);
        Ok(move || {
            let is_over = completions.take(origins);
            if is_over {
                exposed.store(0, Ordering::Relaxed);
            }
            is_over
        })
    }

    /// Ends the exposure epoch, which nothing else ends: a lost origin never completes it. Returns the error with its context.
    #[cold]
    fn end_exposure(&self, error: Error) -> Error {
        self.access.exposed.store(0, Ordering::Relaxed);
        error.context(format_args!(
            "{} waits for MPI_Win_complete of its origins, of which one is lost",
            self.title()
        ))
    }

    /// A process that will not call MPI_Win_complete any more. One that has ended in good order may have done so.
    #[cold]
    fn lost_origin(&self, engine: &Engine) -> Option<u32> {
        let origins = self.access.groups().origins.lock();
        let mut all = origins.iter().map(|rank| self.targets[*rank].process);
        if let Some(died) = all.clone().find(|it| engine.peer(*it).has_died()) {
            return Some(died);
        }
        let completed = self.completions(self.rank).count();
        let left = all.clone().filter(|it| liveness::of(engine, *it).is_some());
        let can_come = origins.len() - left.count();
        match (can_come as u64) < origins.len() as u64 - completed {
            true => all.find(|it| liveness::of(engine, *it).is_some()),
            false => None,
        }
    }
}
