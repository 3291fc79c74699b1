//! MPI_Comm_split: everybody tells colour and key, and each finds its own group.

use super::both_groups::BothGroups;
use super::dup::or_release;
use crate::coll::{allgather_on, block_on};
use crate::comm::{self, Comm, Made, Maker, Members, Parts};
use crate::comm::{job, me};
use crate::context_id::offer::{bytes, combine, words};
use crate::context_id::{self, Creation, Proposal};
use crate::error::{Class, Error, Result, fail};
use crate::group::Group;
use std::collections::BTreeSet;
use std::sync::Arc;

/// MPI_UNDEFINED.
pub const UNDEFINED: i32 = -32766;
/// What a rank with a wrong argument says instead of its colour.
const WRONG: i32 = -1;

/// Colour, key and process number of a rank.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub colour: i32,
    pub key: i32,
    pub process: u32,
}

/// MPI_Comm_split. `None` for the colour MPI_UNDEFINED, and, on an intercommunicator, for one that the other side
/// does not have. `right` says what is wrong with the other arguments.
///
/// Errors: MPI_ERR_ARG on all ranks when one has a negative colour, or another wrong argument.
pub fn split(
    comm: &Comm,
    right: Result<()>,
    colour: i32,
    key: i32,
) -> Result<Option<&'static Comm>> {
    let colour = if colour >= 0 || colour == UNDEFINED {
        Ok(colour)
    } else {
        fail!(
            Class::Arg,
            "color is {colour}; allowed is 0 to {} or MPI_UNDEFINED",
            i32::MAX
        )
    };
    let colour = right.and(colour);
    let both = BothGroups::of(comm, "MPI_Comm_split");
    let mut proposal = Proposal::new(both.local.function, Creation::whole(comm));
    let said = [*colour.as_ref().unwrap_or(&WRONG), key].map(|word| word as u32);
    let own = block_on(tell(&both, &mut proposal, said))?;
    let own: Vec<Entry> = own.iter().map(Entry::of).collect();
    let remote = block_on(tell_remote(&both, &mut proposal, || encode(&own)))?;
    let remote = remote.map(|remote| decode(&remote, &processes_of(comm)));
    let right = colour.and_then(|_| {
        check(&own, "")?;
        check(remote.as_deref().unwrap_or_default(), "the other group's ")
    });
    let both = (&both, Maker::Split);
    partition(comm, both, proposal, right, &own, remote.as_deref())
}

/// Makes the communicators, once all know what all said and whether it is `right`. No id is taken if there is none to
/// make.
pub(super) fn partition(
    comm: &Comm,
    (both, by): (&BothGroups<'_>, Maker),
    proposal: Proposal,
    right: Result<()>,
    own: &[Entry],
    remote: Option<&[Entry]>,
) -> Result<Option<&'static Comm>> {
    if right.is_err() || !is_any(own, remote) {
        proposal.give_up();
        return right.map(|()| None);
    }
    let ids = block_on(both.ids_of(proposal))?;
    let colour = own[comm.rank() as usize].colour;
    let mine = group(own, colour);
    let theirs = remote.map(|remote| Arc::new(group(remote, colour)));
    let nobody = theirs.as_ref().is_some_and(|theirs| theirs.size() == 0);
    let Some(rank) = mine
        .rank_of(me())
        .filter(|_| colour != UNDEFINED && !nobody)
    else {
        context_id::release(ids.receive);
        return Ok(None);
    };
    let members = Members::of(Arc::new(mine), job());
    let parts = Parts {
        remote: theirs.map(|theirs| Members::of(theirs, job())),
        ..ids.parts(rank, members, Made::of(by, comm))
    };
    or_release(comm::add(parts, comm.errhandler.copy()), ids).map(Some)
}

/// Whether some communicator comes out; both groups find the same.
fn is_any(own: &[Entry], remote: Option<&[Entry]>) -> bool {
    let colours = |entries: &[Entry]| -> BTreeSet<i32> {
        let colours = entries.iter().map(|entry| entry.colour);
        colours.filter(|colour| *colour != UNDEFINED).collect()
    };
    match remote {
        None => own.iter().any(|entry| entry.colour != UNDEFINED),
        Some(remote) => !colours(own).is_disjoint(&colours(remote)),
    }
}

/// The words that a rank brings to the step in which all take part.
pub(super) struct Contribution<const N: usize> {
    pub words: [u32; N],
    pub process: u32,
}

/// More members than this agree on the id in a step of its own: everybody's offer would go to everybody.
const MOST_IN_ONE_STEP: i32 = 64;

/// Marks the words of a rank that was reached.
const HERE: u32 = 1;

/// Tells all of the local side some words, and with them the first offer of an allocation. Returns what all say, by rank.
///
/// An allocation that has an offer has one on all members: those whose turn comes later wait for it here. Of an
/// intercommunicator nothing is offered yet: whoever has offered may hold the mask, or a place in the queue, and must
/// wait for nobody but those who have offered too; the other side comes next, and may not have called at all.
pub(super) async fn tell<const N: usize>(
    both: &BothGroups<'_>,
    proposal: &mut Proposal,
    said: [u32; N],
) -> Result<Vec<Contribution<N>>> {
    let coll = &both.local;
    let mut row = vec![HERE];
    row.extend(said);
    let mut offer = None;
    if both.inter.is_none() && coll.size() <= MOST_IN_ONE_STEP {
        proposal.ready(coll).await;
        offer = proposal.offer();
        row.extend(offer.iter().flatten());
    }
    let (rank, size) = (coll.rank() as usize, coll.size() as usize);
    let length = 4 * row.len();
    let mut all = vec![0; size * length].into_boxed_slice();
    all[rank * length..(rank + 1) * length].copy_from_slice(&bytes(row));
    let told = allgather_on(coll, &mut all, length).await;
    let rows: Vec<Vec<u32>> = all.chunks_exact(length).map(words).collect();
    let told = told.and_then(|()| match rows.iter().position(|row| row[0] != HERE) {
        None => Ok(()),
        Some(rank) => fail!(
            Class::Other,
            "rank {rank} could not be reached by all, so nothing was made"
        ),
    });
    match (offer, told) {
        (None, Ok(())) => {}
        (_, Err(error)) => {
            proposal.withdraw();
            return Err(error);
        }
        (Some(mut combined), Ok(())) => {
            let others = rows.iter().zip(0..).filter(|(_, other)| *other != rank);
            others.for_each(|(row, _)| combine(&mut combined, &row[1 + N..]));
            proposal.settle(combined)?;
        }
    }
    let said = rows.iter().zip(0..).map(|(row, rank)| Contribution {
        words: std::array::from_fn(|at| row[1 + at]),
        process: coll.process(rank),
    });
    Ok(said.collect())
}

/// Tells the other side, if there is one, what all of this one say. Returns what it says.
pub(super) async fn tell_remote(
    both: &BothGroups<'_>,
    proposal: &mut Proposal,
    mine: impl FnOnce() -> Box<[u8]>,
) -> Result<Option<Box<[u8]>>> {
    let Some(inter) = &both.inter else {
        return Ok(None);
    };
    let theirs = inter.swap_any(&both.local, mine()).await;
    theirs.map(Some).inspect_err(|_| proposal.withdraw())
}

impl Entry {
    fn of(said: &Contribution<2>) -> Entry {
        Entry {
            colour: said.words[0] as i32,
            key: said.words[1] as i32,
            process: said.process,
        }
    }
}

fn encode(entries: &[Entry]) -> Box<[u8]> {
    let words = entries
        .iter()
        .flat_map(|entry| [entry.colour as u32, entry.key as u32]);
    bytes(words)
}

/// What the processes of the other group have said, by rank.
fn decode(bytes: &[u8], processes: &[u32]) -> Vec<Entry> {
    let words = words(bytes);
    let entry = |(two, process): (&[u32], &u32)| Entry {
        colour: two[0] as i32,
        key: two[1] as i32,
        process: *process,
    };
    words.chunks_exact(2).zip(processes).map(entry).collect()
}

/// The processes of the remote group, by rank.
pub(super) fn processes_of(comm: &Comm) -> Vec<u32> {
    comm.peers_as_members().group().members()
}

/// The error of a rank whose own arguments were right.
fn check(entries: &[Entry], whose: &str) -> Result<()> {
    match entries.iter().position(|entry| entry.colour == WRONG) {
        None => Ok(()),
        Some(rank) => Err(Error::new(
            Class::Arg,
            format!("{whose}rank {rank} had a wrong argument, so nothing was made"),
        )),
    }
}

/// The processes of one colour, by key and then by rank.
fn group(entries: &[Entry], colour: i32) -> Group {
    let mut chosen: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.colour == colour)
        .collect();
    chosen.sort_by_key(|entry| entry.key);
    chosen.iter().map(|entry| entry.process).collect()
}
