//! A creation by one group or by two: ids for both, and what the groups tell each other.
//!
//! Invariant: each group takes an id of its own, on which it receives; the other group's is what it sends on (paper 004). A
//! group that fails tells the other, so that both fail.

use super::exchange::share;
use crate::coll::{self, CollContext};
use crate::comm::{Comm, Made, Members, NOBODY, Parts};
use crate::context_id::offer::{bytes, words};
use crate::context_id::{self, Agreed, Creation, Proposal};
use crate::datatype::Buffer;
use crate::engine::losses;
use crate::error::{Class, Error, Result};

/// The collective contexts of a creation: of a communicator's local group, and between the leaders of both groups.
#[derive(Clone, Copy)]
pub struct BothGroups<'a> {
    pub local: CollContext<'a>,
    pub inter: Option<InterContext<'a>>,
}

#[derive(Clone, Copy)]
pub struct InterContext<'a> {
    pub coll: CollContext<'a>,
    /// Rank of the leader in the local group.
    pub leader: i32,
    /// Rank of the other leader on the collective context.
    pub other: i32,
}

/// The ids of a new communicator, and how many engines every process of its groups offers.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    pub send: u32,
    pub receive: u32,
    pub engines: u32,
}

impl Ids {
    /// Of an intracommunicator.
    pub fn one(agreed: Agreed) -> Ids {
        Ids {
            send: agreed.context,
            receive: agreed.context,
            engines: agreed.engines,
        }
    }

    /// What an intracommunicator with these ids is made of, or all of an intercommunicator but its remote group.
    pub fn parts(self, rank: i32, members: Members, made: Made) -> Parts {
        Parts {
            context: self.send,
            receive_context: self.receive,
            engines: self.engines,
            rank,
            members,
            remote: None,
            made,
        }
    }
}

/// Instead of an id: there is none; the word behind it says whether a process is lost.
const FAILED: u32 = u32::MAX;
const NO_ID: &str =
    "the other group of the intercommunicator has no context id that is free on all its ranks";

impl<'a> BothGroups<'a> {
    pub fn of(comm: &'a Comm, function: &'static str) -> Self {
        Self {
            local: CollContext::new(comm, function),
            inter: comm.is_inter().then(|| InterContext {
                coll: CollContext::to_remote(comm, function),
                leader: 0,
                other: 0,
            }),
        }
    }

    /// For an operation that does not block.
    pub fn task(self, operation: i32) -> Self {
        Self {
            local: self.local.task(operation),
            inter: self.inter.map(|inter| InterContext {
                coll: inter.coll.task(operation),
                ..inter
            }),
        }
    }

    /// Allocates the ids of a new communicator for all, the same for all communicators that one creation makes.
    pub async fn ids(&self, creation: Creation) -> Result<Ids> {
        self.ids_of(Proposal::new(self.local.function, creation))
            .await
    }

    /// As [`Self::ids`], of a proposal that exists already.
    pub async fn ids_of(&self, proposal: Proposal) -> Result<Ids> {
        let own = proposal.finish(&self.local).await;
        let Some(inter) = &self.inter else {
            return own.map(Ids::one);
        };
        let mut mine = match &own {
            Ok(agreed) => bytes([agreed.context, agreed.engines]),
            Err(error) => bytes([
                FAILED,
                losses::in_a_word(error, inter.coll.members.has_foreign()),
            ]),
        };
        let mut theirs = mine.clone();
        let swapped = inter.swap(&self.local, &mut mine, &mut theirs).await;
        let own = own?;
        let theirs = words(&theirs);
        match (swapped, theirs[0]) {
            (Ok(()), send) if send != FAILED => Ok(Ids {
                send,
                receive: own.context,
                engines: own.engines.min(theirs[1]),
            }),
            (swapped, _) => {
                context_id::release(own.context);
                swapped?;
                let lost = losses::of_a_word(theirs[1]);
                Err(lost.unwrap_or_else(|| Error::new(Class::Other, NO_ID)))
            }
        }
    }
}

/// The local group, for a leader that has lost a process, if it has: the others are told so in place of what it does not have.
fn without<'a>(own: &CollContext<'a>, failed: Option<&Error>) -> CollContext<'a> {
    let lost = failed.and_then(Error::lost);
    CollContext {
        lost: lost.unwrap_or(own.lost),
        ..*own
    }
}

impl InterContext<'_> {
    fn is_leader(&self, own: &CollContext<'_>) -> bool {
        own.rank() == self.leader
    }

    /// Swaps data of the same size with the remote group; all of a group get what the other's leader has.
    pub async fn swap(
        &self,
        own: &CollContext<'_>,
        mine: &mut Box<[u8]>,
        theirs: &mut Box<[u8]>,
    ) -> Result<()> {
        let swapped = match self.is_leader(own) {
            true => self.leaders_swap(mine, theirs).await,
            false => Ok(()),
        };
        let own = without(own, swapped.as_ref().err());
        let told = coll::bcast_on(&own, Buffer::of_copy(theirs), self.leader).await;
        swapped.and(told)
    }

    /// The local group has lost a process: has its leader say so to the other one, which waits for a message.
    #[cold]
    pub fn tell_failed(&self, own: &CollContext<'_>, error: &Error) {
        if let Some(process) = error.lost().filter(|_| self.is_leader(own)) {
            self.coll.tell_failed(self.other, process);
        }
    }

    /// Errors: a process is lost, also to an earlier operation: then a message may be left of that, and none is received.
    async fn leaders_swap(&self, mine: &mut Box<[u8]>, theirs: &mut Box<[u8]>) -> Result<()> {
        let lost = self.coll.lost;
        if lost != NOBODY {
            self.coll.tell_failed(self.other, lost);
            return Err(losses::explain(lost));
        }
        let (out, into) = (Buffer::of_copy(mine), Buffer::of_copy(theirs));
        self.coll.exchange(out, self.other, into, self.other).await
    }

    /// Swaps data of any size; what the other ranks than the leader have does not matter.
    pub async fn swap_any(&self, own: &CollContext<'_>, mut mine: Box<[u8]>) -> Result<Box<[u8]>> {
        let swapped = match self.is_leader(own) {
            true => self.leaders_swap_any(&mut mine).await,
            false => Ok(Box::default()),
        };
        let (mut theirs, failed) = match swapped {
            Ok(theirs) => (theirs, None),
            Err(error) => (Box::default(), Some(error)),
        };
        let told = share(&without(own, failed.as_ref()), &mut theirs, self.leader).await;
        failed.map_or(told, Err).map(|()| theirs)
    }

    /// The leaders' part of [`InterContext::swap_any`].
    pub async fn leaders_swap_any(&self, mine: &mut Box<[u8]>) -> Result<Box<[u8]>> {
        let mut sizes = bytes([mine.len() as u32]);
        let mut other_sizes = sizes.clone();
        self.leaders_swap(&mut sizes, &mut other_sizes).await?;
        let mut theirs = vec![0; words(&other_sizes)[0] as usize].into_boxed_slice();
        self.leaders_swap(mine, &mut theirs).await?;
        Ok(theirs)
    }
}
