//! Agreement of a communicator's members on a flag and on who takes no part, though any of them may die at any time (`docs/agreement.md`).
//!
//! One core is behind MPIX_Comm_agree, MPIX_Comm_shrink and their kin: [`Turn::agree`]. It needs no collective operation and no message, so a
//! revoked communicator and one whose collective operations have failed serve as well. Invariant: all members that live have the same
//! outcome, by the order of their calls, which has a counter of its own.

use crate::coll::CollContext;
use crate::comm::{AtDesk, COLLECTIVE, Comm};
use crate::engine::wait::{Reason, soon, until_at};
use crate::engine::{self, enter_at, losses, requests, tasks};
use crate::error::{Class, Result, fail};
use crate::node;
use crate::os::turns::LOOKS_PER_CHECK;
use crate::sync::{AtomicUsize, Ordering};
use std::future::Future;
use std::task::Poll;

/// Processes that a member has marked: it has acknowledged their failures, say, or knows that they have died.
pub struct Marked(Vec<usize>);

/// What the members have agreed on.
#[derive(Debug)]
pub struct Agreed {
    /// A number that is alike on all members, and another one for each agreement of the communicator.
    pub round: u32,
    /// The bitwise AND of the flags; of an intercommunicator, of the remote group's.
    pub flag: u32,
    /// That of all members, of both groups.
    pub all: u32,
    /// The processes that took no part.
    pub absent: Vec<u32>,
    /// The processes that some member had marked.
    pub marked: Vec<u32>,
    /// Whether every member that took part had marked all of the absent.
    pub is_acknowledged: bool,
}

impl Agreed {
    fn alone(round: u32, flag: u32) -> Agreed {
        Agreed {
            round,
            flag,
            all: flag,
            absent: Vec::new(),
            marked: Vec::new(),
            is_acknowledged: true,
        }
    }

    /// Errors: MPIX_ERR_PROC_FAILED, on all members, somebody took no part and not all had acknowledged that.
    pub fn verdict(&self) -> Result<()> {
        match self.absent.first() {
            Some(process) if !self.is_acknowledged => Err(losses::absent(*process)),
            _ => Ok(()),
        }
    }
}

/// A place in the order of a communicator's calls that agree, which is alike on all members; until it is dropped. A call may agree several times.
#[must_use = "the other members wait for it"]
pub struct Turn<'a> {
    comm: &'a Comm,
    function: &'static str,
    number: u32,
    /// `None`: there is no other member.
    at: Option<AtDesk<'a>>,
    in_task: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.comm.agreements.end(self.number) {
            engine::wake_own_threads();
        }
    }
}

impl<'a> Turn<'a> {
    /// The next one, for a call that blocks.
    ///
    /// Errors, alike on all members: MPI_ERR_UNSUPPORTED_OPERATION, they are on several nodes; MPI_ERR_NO_MEM.
    pub fn next(comm: &'a Comm, function: &'static str) -> Result<Turn<'a>> {
        let is_alone = comm.size() == 1 && !comm.is_inter();
        let at = match is_alone {
            true => None,
            false => Some(desk_of(comm)?),
        };
        Ok(Turn {
            comm,
            function,
            number: comm.agreements.call(),
            at,
            in_task: false,
        })
    }

    /// For a call that agrees in a task.
    pub fn in_task(mut self) -> Turn<'a> {
        self.in_task = true;
        self
    }

    pub fn comm(&self) -> &'a Comm {
        self.comm
    }

    pub fn is_in_task(&self) -> bool {
        self.in_task
    }

    /// The processes that are marked, of the communicator's.
    pub fn marked(&self, is_marked: impl Fn(u32) -> bool) -> Marked {
        let places = 0..self.at.map_or(0, |at| at.places());
        let is_marked = |place: &usize| self.at.is_some_and(|at| is_marked(at.process(*place)));
        Marked(places.filter(is_marked).collect())
    }

    /// Waits until each member takes part or is lost. It fails on none.
    pub async fn agree(&self, flag: u32, marked: &Marked) -> Agreed {
        let agreements = &self.comm.agreements;
        // No other thread has it: a task may be polled on several.
        let seen = AtomicUsize::new(0);
        if !agreements.is_turn(self.number) {
            self.until(&seen, |_| agreements.is_turn(self.number)).await;
        }
        let number = agreements.next_round();
        let Some(at) = self.at else {
            return Agreed::alone(number, flag);
        };
        let desk = at.desk();
        let is_marked = |place: usize| marked.0.binary_search(&place).is_ok();
        desk.contribute(at.own(), number, flag, is_marked);
        let is_lost = |place: usize| engine::has_stopped(at.process(place));
        let is_settled = |asks: bool| {
            let mut places = seen.load(Ordering::Relaxed);
            let is_lost = asks.then_some(&is_lost as &dyn Fn(usize) -> bool);
            let is_settled = desk.is_settled(number, &mut places, is_lost);
            seen.store(places, Ordering::Relaxed);
            is_settled
        };
        if is_settled(true) {
            // The others sleep until the last one comes, or until a death is told.
            let mut others = (0..at.places()).filter(|place| *place != at.own());
            others.by_ref().for_each(|place| at.wake(place));
        } else if self.in_task || !soon(node::is_oversubscribed(), || is_settled(false)) {
            self.until(&seen, is_settled).await;
        }
        let outcome = desk.outcome(number, at.first());
        let [first, second] = outcome.flags;
        let process = |place: usize| at.process(place);
        Agreed {
            round: number,
            flag: match self.comm.is_inter() && at.is_own_first() {
                true => second,
                false => first,
            },
            all: first & second,
            absent: outcome.absent.into_iter().map(process).collect(),
            marked: desk.marked(number).into_iter().map(process).collect(),
            is_acknowledged: outcome.is_acknowledged,
        }
    }

    /// Waits until it `holds`, which is told now and then to ask who is lost. `seen`: the first place that is waited for.
    async fn until(&self, seen: &AtomicUsize, holds: impl Fn(bool) -> bool) {
        let mut looks = 0u32;
        if self.in_task {
            return std::future::poll_fn(|_| {
                looks = looks.wrapping_add(1);
                if holds(tasks::before_sleep() || tasks::is_to_ask(looks)) {
                    return Poll::Ready(());
                }
                tasks::wait_for_anything();
                Poll::Pending
            })
            .await;
        }
        let what = &|named: bool| {
            let place = seen.load(Ordering::Relaxed);
            let at = self.at.filter(|at| place < at.places());
            let missing = at.map(|at| at.process(place));
            CollContext::new(self.comm, self.function).awaits(missing, named)
        };
        let function = self.function;
        until_at(0, &Reason { function, what }, |engine| {
            looks = looks.wrapping_add(1);
            let asks = engine.checks_liveness() || looks.is_multiple_of(LOOKS_PER_CHECK);
            holds(asks).then_some(())
        });
    }
}

fn desk_of(comm: &Comm) -> Result<AtDesk<'_>> {
    if !comm.can_have_desk() {
        return fail!(
            Class::UnsupportedOperation,
            "the processes of {} are on several nodes or of several jobs; so far those of one node and one job agree",
            comm.title()
        );
    }
    match comm.desk() {
        Some(desk) => Ok(desk),
        None => fail!(
            Class::NoMem,
            "there is no memory in which the processes of {} could agree",
            comm.title()
        ),
    }
}

/// Runs what agrees in a task, and completes a request with its result. Returns the request's handle.
///
/// Errors: MPI_ERR_NO_MEM, there are too many requests.
pub fn begin(
    comm: &'static Comm,
    agrees: impl Future<Output = Result<()>> + Send + 'static,
) -> Result<i32> {
    let context = comm.receive_context() + COLLECTIVE;
    let mut engine = enter_at(comm.engine_mapping().of_library().1);
    engine.requests().check_room()?;
    let request = engine.begin_task(comm.handle, context);
    drop(engine);
    comm.hold();
    tasks::spawn(async move {
        let done = agrees.await;
        comm.let_go();
        tasks::end(request, done.err());
    });
    Ok(requests::handle_of(request))
}
