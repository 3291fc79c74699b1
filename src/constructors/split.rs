//! MPI_Comm_split: everybody tells colour and key, and each finds its own group.

use super::context::{self, Creation};
use super::create::{job, me};
use super::dup::made;
use super::sides::Sides;
use super::{bytes, words};
use crate::coll::{Lane, allgather_on, now};
use crate::comm::{self, Comm, Members, Parts};
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
/// does not have.
///
/// Errors: MPI_ERR_ARG on all ranks when one has a negative colour.
pub fn split(comm: &Comm, colour: i32, key: i32) -> Result<Option<&'static Comm>> {
    let right = if colour >= 0 || colour == UNDEFINED {
        Ok(colour)
    } else {
        fail!(
            Class::Arg,
            "color is {colour}; allowed is 0 to {} or MPI_UNDEFINED",
            i32::MAX
        )
    };
    split_by(comm, right, key, "MPI_Comm_split")
}

fn split_by(
    comm: &Comm,
    colour: Result<i32>,
    key: i32,
    function: &'static str,
) -> Result<Option<&'static Comm>> {
    let sides = Sides::of(comm, function);
    let own = now(table(&sides.own, *colour.as_ref().unwrap_or(&WRONG), key))?;
    let remote = match &sides.across {
        None => None,
        Some(across) => Some(decode(&now(across.swap_any(&sides.own, encode(&own)))?)),
    };
    colour?;
    check(&own, "")?;
    check(remote.as_deref().unwrap_or_default(), "the other group's ")?;
    partition(comm, &sides, &own, remote.as_deref())
}

/// Makes the communicators, once all know what all said. No id is taken if there is none to make.
pub(super) fn partition(
    comm: &Comm,
    sides: &Sides<'_>,
    own: &[Entry],
    remote: Option<&[Entry]>,
) -> Result<Option<&'static Comm>> {
    if !is_any(own, remote) {
        return Ok(None);
    }
    let ids = now(sides.ids(Creation::whole(comm)))?;
    let colour = own[comm.rank() as usize].colour;
    let mine = group(own, colour);
    let theirs = remote.map(|remote| Arc::new(group(remote, colour)));
    let nobody = theirs.as_ref().is_some_and(|theirs| theirs.size() == 0);
    let Some(rank) = mine
        .rank_of(me())
        .filter(|_| colour != UNDEFINED && !nobody)
    else {
        context::release(ids.receive);
        return Ok(None);
    };
    let parts = Parts {
        context: ids.send,
        receive_context: ids.receive,
        rank,
        members: Members::of(Arc::new(mine), job()),
        remote: theirs.map(|theirs| Members::of(theirs, job())),
    };
    made(comm::add(parts, comm.errhandler()), ids).map(Some)
}

/// Whether some communicator comes out; both sides find the same.
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

/// Colours and keys of all members, by rank.
async fn table(lane: &Lane<'_>, colour: i32, key: i32) -> Result<Vec<Entry>> {
    const BYTES: usize = 8;
    let (rank, size) = (lane.rank() as usize, lane.size() as usize);
    let mut all = vec![0; size * BYTES].into_boxed_slice();
    all[rank * BYTES..(rank + 1) * BYTES].copy_from_slice(&bytes([colour as u32, key as u32]));
    allgather_on(lane, &mut all, BYTES).await?;
    let pairs = all.chunks_exact(BYTES).zip(0..).map(|(pair, rank)| {
        let pair = words(pair);
        Entry {
            colour: pair[0] as i32,
            key: pair[1] as i32,
            process: lane.world(rank),
        }
    });
    Ok(pairs.collect())
}

fn encode(entries: &[Entry]) -> Box<[u8]> {
    let words = entries
        .iter()
        .flat_map(|entry| [entry.colour as u32, entry.key as u32, entry.process]);
    bytes(words)
}

fn decode(bytes: &[u8]) -> Vec<Entry> {
    let words = words(bytes);
    let entry = |three: &[u32]| Entry {
        colour: three[0] as i32,
        key: three[1] as i32,
        process: three[2],
    };
    words.chunks_exact(3).map(entry).collect()
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
