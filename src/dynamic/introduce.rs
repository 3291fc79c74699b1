//! Processes of two groups that have not met, and whose leaders have: MPI_Intercomm_create of the children of two spawns.
//!
//! Cards go over the communicators that there are: all to all of a group, and between the leaders. As in a meeting, what fails on one
//! process fails on all of both groups.

use super::card::Card;
use super::codec::coded;
use super::conversation::Conversation;
use super::exchange::{Way, gather, nonsense};
use super::job;
use super::means::{self, Meet};
use crate::connections::{self, Hold};
use crate::constructors::{BothGroups, is_met};
use crate::error::{Class, Result};
use crate::group::names::{self, Name};

/// A card, and which processes of the other group its owner has not met: a bit each.
struct Entry {
    card: Card,
    misses: Vec<u8>,
}

coded!(Entry: card misses);

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
    let entry = Entry { card, misses };
    let ours = gather(own, &entry, Some(&entry))?;
    let mut way = Way {
        own,
        root: inter.leader,
        conversation: Conversation::new(own.function),
        leaders: Some(inter),
    };
    let theirs: Vec<Entry> = way.swap(&ours)?;
    if theirs.is_empty() {
        return Err(nonsense(Class::Other));
    }
    let me = own.rank() as usize;
    for (rank, theirs) in theirs.iter().enumerate() {
        // It has ended the connection, and this process's other communicators with its job have kept it until now.
        if theirs.misses(me) && !ours[me].misses(rank) {
            connections::forget(names::number_or_new(theirs.card.name));
        }
    }
    let cards = |entries: &[Entry]| -> Vec<Card> { entries.iter().map(|it| it.card).collect() };
    let (ours, theirs) = (cards(&ours), cards(&theirs));
    let meet = Meet {
        // The group of the smaller name, as the other sees it, too.
        accepts: ours[0].name < theirs[0].name,
        ours: &ours,
        theirs: &theirs,
    };
    means::join(meet, &mut way).map(|(_, holds)| holds)
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
