//! Processes of two groups that have not met, and whose leaders have: MPI_Intercomm_create of the children of two spawns.
//!
//! Cards go over the communicators that there are: all to all of a group, and between the leaders. As in a meeting, what fails on one
//! process fails on all of both groups.

use super::card::Card;
use super::job;
use super::means::{Means, Setting};
use super::meeting::{gather, listed, unlisted};
use crate::coll::{CollContext, allgather_on, block_on};
use crate::connections::{self, Hold};
use crate::constructors::{BothGroups, InterContext, everywhere, is_met};
use crate::error::{Class, Error, Result, fail};
use crate::group::names::{self, Name};

/// A card, and which processes of the other group its owner has not met: a bit each.
struct Entry {
    card: Card,
    misses: Vec<u8>,
}

/// What all of both groups have brought.
struct Round {
    ours: Vec<Entry>,
    theirs: Vec<Entry>,
}

impl Entry {
    fn misses(&self, rank: usize) -> bool {
        self.misses
            .get(rank / 8)
            .is_some_and(|byte| byte >> (rank % 8) & 1 != 0)
    }
}

/// See the module; `theirs` are the names of the other group.
///
/// Errors: on all of both groups, MPI_ERR_OTHER if some cannot reach some of the others.
pub fn introduce(both: &BothGroups<'_>, theirs: &[Name]) -> Result<Vec<Hold>> {
    let (own, Some(inter)) = (&both.local, &both.inter) else {
        return Ok(Vec::new());
    };
    let card = Card::own(job()?);
    let misses = misses(theirs);
    let known = swap(own, inter, &card, &misses)?;
    let me = own.rank() as usize;
    for (rank, theirs) in known.theirs.iter().enumerate() {
        // It has ended the connection, and this process's other communicators with its job have kept it until now.
        if theirs.misses(me) && !known.ours[me].misses(rank) {
            connections::forget(names::number_or_new(theirs.card.name));
        }
    }
    let cards = |entries: &[Entry]| -> Vec<Card> { entries.iter().map(|it| it.card).collect() };
    let (ours, theirs) = (cards(&known.ours), cards(&known.theirs));
    let setting = Setting {
        function: own.function,
        // The group of the smaller name, as the other sees it, too.
        accepts: ours[0].name < theirs[0].name,
        place: me as u32,
    };
    let mut means = Means::prepare(setting, &card, &ours, &theirs);
    let our_means = gather(own, means.told().as_bytes())?;
    let told = block_on(inter.swap_any(own, listed(&our_means).into()))?;
    let their_means = unlisted(&told);
    let joined = means.join(&card, (&ours, &our_means), (&theirs, &their_means));
    let [all] = block_on(everywhere(own, [joined.is_ok()]))?;
    let told = block_on(inter.swap_any(own, Box::new([u8::from(all)])))?;
    drop(means);
    let (_, holds) = joined?;
    if !all || told.first() != Some(&1) {
        return Err(Error::new(
            Class::Other,
            format!(
                "{}: a process of the two groups cannot reach all of the others",
                own.function
            ),
        ));
    }
    Ok(holds)
}

/// Which of the other group this process has not met.
fn misses(theirs: &[Name]) -> Vec<u8> {
    let mut misses = vec![0u8; theirs.len().div_ceil(8)];
    for (rank, name) in theirs.iter().enumerate() {
        if !is_met(*name) {
            misses[rank / 8] |= 1 << (rank % 8);
        }
    }
    misses
}

/// Each process brings a card and a few bytes, as many as all of its group; all get those of all.
fn swap(
    own: &CollContext<'_>,
    inter: &InterContext<'_>,
    card: &Card,
    more: &[u8],
) -> Result<Round> {
    let (rank, size) = (own.rank() as usize, own.size() as usize);
    let each = Card::BYTES + more.len();
    let mut mine = card.encode();
    mine.extend(more);
    let mut all = vec![0; size * each].into_boxed_slice();
    all[rank * each..][..each].copy_from_slice(&mine);
    block_on(allgather_on(own, &mut all, each))?;
    let mut told = Vec::from((each as u32).to_le_bytes());
    told.extend(&all);
    let told = block_on(inter.swap_any(own, told.into()))?;
    let (their_each, theirs) = told.split_at(4.min(told.len()));
    let their_each = their_each.try_into().map_or(0, u32::from_le_bytes) as usize;
    let theirs = entries(theirs, their_each);
    if theirs.is_empty() {
        return fail!(Class::Other, "the other group sends nonsense");
    }
    let ours = entries(&all, each);
    Ok(Round { ours, theirs })
}

fn entries(bytes: &[u8], each: usize) -> Vec<Entry> {
    let entry = |bytes: &[u8]| {
        let card = Card::decode_all(&bytes[..Card::BYTES]).pop()?;
        let misses = bytes[Card::BYTES..].to_vec();
        Some(Entry { card, misses })
    };
    match each >= Card::BYTES {
        true => bytes.chunks_exact(each).filter_map(entry).collect(),
        false => Vec::new(),
    }
}
