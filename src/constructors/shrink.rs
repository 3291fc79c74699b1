//! MPIX_Comm_shrink and its nonblocking twin: a communicator of those who live (`docs/agreement.md`).
//!
//! The members agree on who is left, these make a communicator, and agree again: on whether each of them has it. If one has died meanwhile
//! they try again without it. Invariant: all that live leave with a communicator of one group, or all with an error.

use super::both_groups::{BothGroups, Ids, InterContext};
use super::dup::or_release;
use crate::agree::{Agreed, Turn};
use crate::coll::CollContext;
use crate::comm::{self, Comm, Made, Maker, Members, Parts, job, me};
use crate::context_id::handful::{self, Handful};
use crate::context_id::{self, Creation};
use crate::engine::{self, losses};
use crate::error::{Class, Result, fail};
use crate::group::Group;
use crate::lifetime::communicators::free_in_task;
use std::sync::Arc;

/// Of both forms, which may meet: members that make something else are told so by the name.
const FUNCTION: &str = "MPIX_Comm_shrink";

/// What a member says: it has a communicator of the last attempt.
const MADE: u32 = 1;
/// And: the loss of a process is the only error that it has had.
const GOES_ON: u32 = 2;
/// Behind these the ids that it offers for the first attempt.
const IDS: u32 = 2;
const _: () = assert!(handful::BITS + IDS == u32::BITS);

/// Tags that no program has, and no other creation: -1 is MPI_ANY_TAG, -2 that of creations over both groups. Agreements have those below.
fn tag_of(round: u32) -> i32 {
    -3 - (round & 0x1fff_ffff) as i32
}

/// Those who are left of a communicator, in the order of their ranks.
struct Survivors {
    local: Vec<u32>,
    /// Of an intercommunicator.
    remote: Option<Vec<u32>>,
    /// The rank of the first one in the old remote group.
    first_remote: i32,
}

impl Survivors {
    fn of(comm: &Comm, agreed: &Agreed) -> Survivors {
        let is_left =
            |process: &u32| !agreed.absent.contains(process) && !agreed.marked.contains(process);
        let all = |members: &Members| {
            let members = members.clone();
            (0..members.size()).map(move |rank| members.process(rank))
        };
        let of = |members: &Members| all(members).filter(is_left).collect();
        let remote = comm.remote();
        let first = remote.and_then(|remote| all(remote).position(|process| is_left(&process)));
        Survivors {
            local: of(comm.members()),
            remote: remote.map(of),
            first_remote: first.unwrap_or_default() as i32,
        }
    }

    /// Whether nobody is left of a group.
    fn miss_a_group(&self) -> bool {
        self.local.is_empty() || self.remote.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether both attempts are of the same processes.
    fn are(&self, other: &Survivors) -> bool {
        (&self.local, &self.remote) == (&other.local, &other.remote)
    }

    /// Makes a communicator of them, with the ids that all have agreed on, if any. Others may have none where one has died.
    async fn make(&self, turn: &Turn, round: u32, ids: Option<Ids>) -> Result<&'static Comm> {
        let comm = turn.comm();
        let group = Arc::new(Group::new(self.local.clone()));
        let Some(rank) = group.rank_of(me()) else {
            if let Some(ids) = ids {
                context_id::release(ids.receive);
            }
            return fail!(Class::Other, "the others take this process for dead");
        };
        let members = Members::of(group.clone(), job());
        let ids = match ids {
            Some(ids) => ids,
            None => {
                self.agree_on_ids(turn, round, (group, &members, rank))
                    .await?
            }
        };
        let remote = self.remote.clone().map(Group::new);
        let parts = Parts {
            remote: remote.map(|group| Members::of(Arc::new(group), job())),
            ..ids.parts(rank, members, Made::of(Maker::Shrink, comm))
        };
        or_release(comm::add(parts, comm.errhandler.copy()), ids)
    }

    /// By messages among them; each group has an id of its own.
    async fn agree_on_ids(
        &self,
        turn: &Turn,
        round: u32,
        (group, members, rank): (Arc<Group>, &Members, i32),
    ) -> Result<Ids> {
        let (comm, tag) = (turn.comm(), tag_of(round));
        let both = BothGroups {
            local: CollContext::within(comm, members, rank, tag, FUNCTION).of_living(),
            inter: self.remote.as_ref().map(|_| InterContext {
                coll: CollContext::to_remote(comm, FUNCTION)
                    .of_living()
                    .numbered(tag),
                leader: 0,
                other: self.first_remote,
            }),
        };
        let both = match turn.is_in_task() {
            true => both.task(tag),
            false => both,
        };
        both.ids(Creation::group(comm, group, tag)).await
    }
}

/// MPIX_Comm_shrink, in a call that blocks or in a task, as its turn says. `right` says what is wrong with the other arguments.
///
/// Errors, on all members: there is no memory or no id; one has a wrong argument; MPIX_ERR_PROC_FAILED, nobody is left of a group of an
/// intercommunicator.
pub async fn shrink(turn: Turn, right: Result<()>) -> Result<&'static Comm> {
    let comm = turn.comm();
    // Each group of an intercommunicator has an id of its own.
    let handful = (right.is_ok() && !comm.is_inter()).then(|| Handful::of(comm));
    let offered = handful.as_ref().map_or(0, Handful::bits);
    let (mut agreed, _) = agree(&turn, right.map(|()| None), offered).await?;
    let id = handful.and_then(|handful| handful.settle(agreed.all >> IDS));
    let mut ids = id.map(Ids::one);
    loop {
        let survivors = Survivors::of(comm, &agreed);
        if let Some(process) = agreed.absent.first()
            && survivors.miss_a_group()
        {
            return Err(losses::absent(*process).context("nobody is left of a group"));
        }
        let made = survivors.make(&turn, agreed.round, ids.take()).await;
        let (now, new) = agree(&turn, made.map(Some), 0).await?;
        let is_good = now.all & MADE != 0 && survivors.are(&Survivors::of(comm, &now));
        match new {
            Some(new) if is_good => return Ok(new),
            Some(new) => free_in_task(new),
            None => {}
        }
        agreed = now;
    }
}

/// Agrees on who is left, and tells what has come of the last attempt; `None`: there was none, or one has died in it. `offered`: ids for the next one.
///
/// Errors, on all members: the own one, or that of another one, if that is not the loss of a process.
async fn agree(
    turn: &Turn,
    last: Result<Option<&'static Comm>>,
    offered: u32,
) -> Result<(Agreed, Option<&'static Comm>)> {
    let flag = match &last {
        Ok(_) => MADE | GOES_ON,
        Err(error) if error.lost().is_some() => GOES_ON,
        Err(_) => 0,
    };
    let dead = turn.marked(engine::has_died);
    let agreed = turn.agree(flag | offered << IDS, &dead).await;
    match last {
        Err(error) if flag == 0 => return Err(error),
        last if agreed.all & GOES_ON != 0 => return Ok((agreed, last.ok().flatten())),
        Ok(Some(new)) => free_in_task(new),
        _ => {}
    }
    fail!(
        Class::Other,
        "nothing was made: another process of {} has a wrong argument, or no memory or context id",
        turn.comm().title()
    )
}
