//! The checking mode's second question, when all ranks have called the same: whether what each has for each other is as much as that
//! one expects. So the counts of the v and w forms are compared, and those of the neighborhoods.
//!
//! Invariant: all ranks come to the same end, so that no one is left in an operation that another has given up.

use super::allgather;
use super::alltoall;
use super::args::{CollArgs, blocks};
use super::packed::scratch;
use super::team::Team;
use crate::datatype::Parts;
use crate::error::{Class, Result, fail};

/// What goes from one rank to another: bytes, and a number that depends on how they are divided.
type Amount = [u64; 2];
const BYTES: usize = 16;
/// A rank that is content says so instead of another's number.
const CONTENT: u64 = u64::MAX;
/// Whom a rank does not agree with, what came, and what it expects.
const VERDICT: usize = 24;

fn amount(bytes: usize) -> Amount {
    [bytes as u64, 0]
}

/// What this rank has for each, and expects from each; `None` for calls whose descriptions say all of it.
fn amounts(call: &CollArgs, rank: usize, size: usize) -> Option<(Vec<Amount>, Vec<Amount>)> {
    let none = || vec![amount(0); size];
    let each = |parts: &Parts| -> Vec<Amount> {
        let lengths = (0..size).map(|rank| amount(parts.len(rank)));
        lengths.collect()
    };
    let one = |at: i32, bytes: usize| {
        let mut all = none();
        all[at as usize] = amount(bytes);
        all
    };
    Some(match call {
        CollArgs::Gather {
            own, parts, root, ..
        } => {
            let into = parts.as_ref().map_or_else(none, each);
            let mine = own.map_or(into[rank], |own| amount(own.len()));
            (one(*root, mine[0] as usize), into)
        }
        CollArgs::Scatter {
            parts, into, root, ..
        } => {
            let out = parts.as_ref().map_or_else(none, each);
            let mine = into.map_or(out[rank], |into| amount(into.len()));
            (out, one(*root, mine[0] as usize))
        }
        CollArgs::Allgather { own, parts } => {
            let mine = own.map_or(parts.len(rank), |own| own.len());
            (vec![amount(mine); size], each(parts))
        }
        CollArgs::Alltoall { out, into } => (each(out.as_ref().unwrap_or(into)), each(into)),
        CollArgs::ReduceScatter { counts, with, .. } => {
            let begins = blocks(counts, with.datatype);
            let mut lengths = begins.windows(2).map(|pair| pair[1] - pair[0]);
            let mine = lengths.clone().nth(rank).unwrap_or(0);
            (
                lengths.by_ref().map(amount).collect(),
                vec![amount(mine); size],
            )
        }
        CollArgs::Neighbors { receives, sends } => {
            let mut both = (none(), none());
            for (list, all) in [(sends, &mut both.0), (receives, &mut both.1)] {
                for (rank, buffer) in list.iter().filter(|(_, buffer)| !buffer.is_empty()) {
                    let [bytes, divided] = &mut all[*rank as usize];
                    *bytes += buffer.len() as u64;
                    *divided = divided.wrapping_mul(31).wrapping_add(buffer.len() as u64);
                }
            }
            both
        }
        _ => return None,
    })
}

/// Compares them, rank with rank; all of the team's ranks have called the same function.
pub async fn agree(team: &Team<'_>, title: &str, call: &CollArgs) -> Result<()> {
    let (rank, size) = (team.rank(), team.size());
    let Some((out, expected)) = amounts(call, rank, size) else {
        return Ok(());
    };
    let mut leaving: Box<[u8]> = out
        .iter()
        .flatten()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    let mut coming = scratch(size * BYTES);
    let into = Parts::of_copy(&mut coming, BYTES);
    alltoall::linear(team, &Parts::of_copy(&mut leaving, BYTES), &into).await;
    let coming = words(&coming);
    let wrong = (0..size).find(|from| coming[2 * from..][..2] != expected[*from]);
    let mine = wrong.map_or([CONTENT, 0, 0], |from| {
        [from as u64, coming[2 * from], expected[from][0]]
    });
    let mut all = scratch(size * VERDICT);
    for (slot, word) in all[rank * VERDICT..].chunks_exact_mut(8).zip(mine) {
        slot.copy_from_slice(&word.to_ne_bytes());
    }
    allgather::bruck(team, &Parts::of_copy(&mut all, VERDICT)).await;
    if team.has_failed() {
        return Ok(());
    }
    let function = team.coll().function;
    for (to, verdict) in words(&all).chunks_exact(3).enumerate() {
        if verdict[0] != CONTENT {
            let (from, sent, wanted) = (verdict[0], verdict[1], verdict[2]);
            let how = match sent == wanted {
                true => ", divided otherwise",
                false => "",
            };
            return fail!(
                Class::Count,
                "the counts of the ranks of {title} do not fit together in {function}: rank {from} has {sent} bytes for rank \
                 {to}, which expects {wanted} bytes from it{how}; this is rank {rank}"
            );
        }
    }
    Ok(())
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::simulation::run;
    use super::*;
    use crate::datatype::Buffer;

    /// Ranks where one sends one byte too many to the next: all get the same error; without that, none.
    #[test]
    fn one_byte_too_many_is_told_to_all() {
        for (ranks, wrong) in [(1, None), (2, Some(1)), (5, None), (7, Some(3))] {
            let said = run(ranks as u64, ranks, |team| async move {
                let rank = team.rank();
                let next = (rank + 1) % team.size();
                let mut memory = scratch(8);
                let whole = Buffer::of_copy(&mut memory);
                let usual = |_| whole.slice(0, 3);
                let mut out: Box<[Buffer]> = (0..ranks).map(usual).collect();
                if wrong == Some(rank) {
                    out[next] = whole.slice(0, 4);
                }
                let call = CollArgs::Alltoall {
                    out: Some(Parts::Each(out)),
                    into: Parts::Each((0..ranks).map(usual).collect()),
                };
                agree(&team, "TEAM", &call).await.err()
            });
            for (rank, error) in said.into_iter().enumerate() {
                let Some(wrong) = wrong else {
                    assert!(error.is_none());
                    continue;
                };
                let (error, next) = (error.unwrap(), (wrong + 1) % ranks);
                assert_eq!(error.class(), Class::Count);
                let text = error.text();
                let expected = format!(
                    "rank {wrong} has 4 bytes for rank {next}, which expects 3 bytes from it; this is rank {rank}"
                );
                assert!(text.contains(&expected), "{text}");
            }
        }
    }
}
