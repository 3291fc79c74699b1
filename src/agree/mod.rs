//! Agreement of a communicator's members on a flag and on who takes no part, though any of them may die at any time (`docs/agreement.md`).
//!
//! One core is behind MPIX_Comm_agree, MPIX_Comm_shrink and their kin: [`Turn::agree`]. It needs no collective operation and no message, so a
//! revoked communicator and one whose collective operations have failed serve as well. Invariant: all members that live have the same
//! outcome, by the order of their calls, which has a counter of its own.

mod flood;
mod messages;

use crate::coll::CollContext;
use crate::comm::{AtDesk, COLLECTIVE, Comm, Members};
use crate::engine::wait::{Reason, soon, until_at};
use crate::engine::{self, enter_at, losses, published, requests, tasks};
use crate::error::{Class, Result, fail};
use crate::node;
use crate::os::turns::LOOKS_PER_CHECK;
use crate::queue::desk::Outcome;
use crate::sync::{AtomicUsize, Ordering};
use flood::{Flood, Sum};
use messages::Circle;
use std::future::Future;
use std::task::Poll;

/// Tags of messages of agreements, which no program and no other operation has.
fn tag_of(round: u32) -> i32 {
    i32::MIN + (round & 0x1fff_ffff) as i32
}

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
pub struct Turn {
    comm: &'static Comm,
    function: &'static str,
    number: u32,
    medium: Medium,
    in_task: bool,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.comm.agreements.end(self.number) {
            engine::wake_own_threads();
        }
    }
}

impl Turn {
    /// The next one, for a call that blocks.
    ///
    /// Errors, alike on all members: MPI_ERR_NO_MEM.
    pub fn next(comm: &'static Comm, function: &'static str) -> Result<Turn> {
        Ok(Turn {
            comm,
            function,
            number: comm.agreements.call(),
            medium: Medium::of(comm)?,
            in_task: false,
        })
    }

    /// For a call that agrees in a task.
    pub fn in_task(mut self) -> Turn {
        self.in_task = true;
        self
    }

    pub fn comm(&self) -> &'static Comm {
        self.comm
    }

    pub fn is_in_task(&self) -> bool {
        self.in_task
    }

    /// The processes that are marked, of the communicator's.
    pub fn marked(&self, is_marked: impl Fn(u32) -> bool) -> Marked {
        let (medium, comm) = (&self.medium, self.comm);
        let is_marked = |place: &usize| is_marked(medium.process(comm, *place));
        Marked((0..medium.places()).filter(is_marked).collect())
    }

    /// Waits until each member takes part or is lost. It fails on none.
    pub async fn agree(&self, flag: u32, marked: &Marked) -> Agreed {
        let agreements = &self.comm.agreements;
        if !agreements.is_turn(self.number) {
            self.until(&AtomicUsize::new(usize::MAX), |_| {
                agreements.is_turn(self.number)
            })
            .await;
        }
        let number = agreements.next_round();
        match &self.medium {
            Medium::Alone => Agreed::alone(number, flag),
            Medium::Desk(at) => self.agree_at(*at, number, flag, marked).await,
            Medium::Messages { members, first } => {
                let circle = Circle {
                    comm: self.comm,
                    members: members.clone(),
                    own_first: self.comm.is_first_group(),
                    function: self.function,
                    tag: tag_of(number),
                    in_task: self.in_task,
                };
                let (me, all) = (self.comm.place_in_groups(), self.medium.places());
                let own = Sum::of_one(me, all, *first, flag, &marked.0);
                let decided = circle
                    .agree(Flood::new(me, all, own).without(&agreements.absent()))
                    .await;
                let sum = &decided.message().sum;
                let outcome = Outcome {
                    flags: sum.flags,
                    absent: sum.absent(all),
                    is_acknowledged: sum.is_acknowledged(all),
                };
                agreements.set_absent(&outcome.absent);
                self.agreed(number, outcome, sum.marked(all))
            }
        }
    }

    async fn agree_at(&self, at: AtDesk<'_>, number: u32, flag: u32, marked: &Marked) -> Agreed {
        // No other thread has it: a task may be polled on several.
        let seen = AtomicUsize::new(0);
        let desk = at.desk();
        let is_marked = |place: usize| marked.0.binary_search(&place).is_ok();
        desk.contribute(at.own(), number, flag, is_marked);
        // Also in looks that do not ask: whoever comes last may have asked, and have woken this process just before it slept.
        let is_lost = |place: usize, asks: bool| {
            let process = at.process(place);
            let is_lost = match asks {
                true => engine::has_stopped(process),
                false => engine::is_known_to_have_stopped(process),
            };
            if is_lost {
                // It is marked in its page, which may end waits of others.
                published::stir();
            }
            is_lost
        };
        let is_settled = |asks: bool| {
            let mut places = seen.load(Ordering::Relaxed);
            let is_settled = desk.is_settled(number, &mut places, |place| is_lost(place, asks));
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
        self.agreed(
            number,
            desk.outcome(number, at.first()),
            desk.marked(number),
        )
    }

    fn agreed(&self, round: u32, outcome: Outcome, marked: Vec<usize>) -> Agreed {
        let [first, second] = outcome.flags;
        let process = |place: usize| self.medium.process(self.comm, place);
        Agreed {
            round,
            flag: match self.comm.is_inter() && self.comm.is_first_group() {
                true => second,
                false => first,
            },
            all: first & second,
            absent: outcome.absent.into_iter().map(process).collect(),
            marked: marked.into_iter().map(process).collect(),
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
                    tasks::go_on();
                    return Poll::Ready(());
                }
                tasks::wait_for_anything();
                Poll::Pending
            })
            .await;
        }
        let what = &|named: bool| {
            let place = seen.load(Ordering::Relaxed);
            let is_known = place < self.medium.places();
            let missing = is_known.then(|| self.medium.process(self.comm, place));
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

/// How the members reach each other; alike on all.
enum Medium {
    /// There is no other member.
    Alone,
    Desk(AtDesk<'static>),
    /// The members of both groups, and how many are of the first one.
    Messages {
        members: Members,
        first: usize,
    },
}

impl Medium {
    fn of(comm: &'static Comm) -> Result<Medium> {
        if comm.size() == 1 && !comm.is_inter() {
            return Ok(Medium::Alone);
        }
        if !comm.can_have_desk() {
            let (members, first) = comm.in_order_of_groups();
            return Ok(Medium::Messages { members, first });
        }
        match comm.desk() {
            Some(desk) => Ok(Medium::Desk(desk)),
            None => fail!(
                Class::NoMem,
                "there is no memory in which the processes of {} could agree",
                comm.title()
            ),
        }
    }

    /// How many places the members have.
    fn places(&self) -> usize {
        match self {
            Medium::Alone => 0,
            Medium::Desk(at) => at.places(),
            Medium::Messages { members, .. } => members.size() as usize,
        }
    }

    /// The process at a place.
    fn process(&self, comm: &Comm, place: usize) -> u32 {
        match self {
            Medium::Alone => comm.process(0),
            Medium::Desk(at) => at.process(place),
            Medium::Messages { members, .. } => members.process(place as i32),
        }
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
