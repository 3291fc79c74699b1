//! Reductions, beside their operands and in place, of an operation that commutes and one that does not.

use super::super::reduction::{Reduction, Sources};
use super::*;

/// Affine functions of 32-bit numbers, eight bytes each, one after the other: associative, and does not commute.
pub fn compose_into(left: &[u8], right: &mut [u8]) {
    let (lefts, _) = left.as_chunks::<8>();
    let (rights, _) = right.as_chunks_mut::<8>();
    assert_eq!(lefts.len(), rights.len());
    for (left, right) in lefts.iter().zip(rights) {
        let [first, second] = [left, &*right].map(|one| {
            let bits = u64::from_le_bytes(*one);
            (bits as u32, (bits >> 32) as u32)
        });
        let slope = first.0.wrapping_mul(second.0);
        let offset = first.1.wrapping_mul(second.0).wrapping_add(second.1);
        *right = (u64::from(offset) << 32 | u64::from(slope)).to_le_bytes();
    }
}

fn add_into(left: &[u8], right: &mut [u8]) {
    assert_eq!(left.len(), right.len());
    let pairs = left.iter().zip(right);
    pairs.for_each(|(left, right)| *right = right.wrapping_add(*left));
}

/// Reduces one operand after the other.
fn each(
    (left, last): Sources<'_>,
    into: &mut [u8],
    combine: impl Fn(&[u8], &mut [u8]),
) -> crate::error::Result<()> {
    if let Some(last) = last {
        into.copy_from_slice(last);
    }
    left.iter().rev().for_each(|left| combine(left, into));
    Ok(())
}

pub const COMPOSE: Reduction<'static> = Reduction {
    with: None,
    unit: 8,
    commutes: false,
    fold: &|operands, into| each(operands, into, compose_into),
};
pub const ADD: Reduction<'static> = Reduction {
    with: None,
    unit: 8,
    commutes: true,
    fold: &|operands, into| each(operands, into, add_into),
};

/// The definition: from left to right.
pub fn reduced(how: &Reduction<'_>, ranks: std::ops::Range<usize>, bytes: usize) -> Box<[u8]> {
    let mut ranks = ranks.map(|rank| pattern(rank, 3, bytes));
    let mut result = ranks.next().unwrap_or_default();
    for mut next in ranks {
        (how.fold)((&[&result], None), &mut next).unwrap();
        result = next;
    }
    result
}

/// A rank's operand, and memory for its result, which may be the same.
pub struct Vectors {
    pub operand: Box<[u8]>,
    pub result: Option<Box<[u8]>>,
    pub rank: usize,
}

impl Vectors {
    pub fn of(rank: usize, bytes: usize, in_place: bool) -> Vectors {
        Vectors {
            operand: pattern(rank, 3, bytes),
            result: (!in_place).then(|| scratch(bytes)),
            rank,
        }
    }

    pub fn own(&mut self) -> Buffer {
        Buffer::of_copy(&mut self.operand)
    }

    pub fn target(&mut self) -> Buffer {
        match &mut self.result {
            Some(result) => Buffer::of_copy(result),
            None => self.own(),
        }
    }

    /// The result; beside it the operand must be as it was.
    pub fn end(self) -> Box<[u8]> {
        let Some(result) = self.result else {
            return self.operand;
        };
        assert_eq!(self.operand, pattern(self.rank, 3, self.operand.len()));
        result
    }
}

/// Bytes of the vectors: whole elements.
pub const VECTORS: [usize; 4] = [8, 24, 72, 1000];

#[test]
fn reductions() {
    for (ranks, root, seed) in cases() {
        for (bytes, how) in [(VECTORS[root % 4], &COMPOSE), (24, &COMPOSE), (72, &ADD)] {
            for (algorithm, in_place) in (0..5).flat_map(|a| [(a, false), (a, true)]) {
                if algorithm == 4 && !how.commutes {
                    continue;
                }
                run(seed, ranks, |team| async move {
                    let is_root = team.rank() == root;
                    let mut vectors = Vectors::of(team.rank(), bytes, in_place && is_root);
                    let own = &vectors.own();
                    let into = &if is_root {
                        vectors.target()
                    } else {
                        Buffer::empty()
                    };
                    let ordered = !how.commutes;
                    match algorithm {
                        0 => reduce::binomial(&team, (own, into, how), root, ordered).await,
                        1 => reduce::binomial(&team, (own, into, how), root, true).await,
                        2 => reduce::linear(&team, (own, into, how), root).await,
                        3 => reduce::chain(&team, (own, into, how), root, ordered, 20).await,
                        _ => reduce::scatter_gather(&team, (own, into, how), root).await,
                    }
                    let (result, expected) = (vectors.end(), reduced(how, 0..ranks, bytes));
                    assert!(
                        !is_root || result == expected,
                        "{algorithm} on {ranks} to {root}, {in_place}"
                    );
                    team.result().unwrap();
                });
            }
        }
    }
}

#[test]
fn allreductions() {
    for (ranks, root, seed) in cases() {
        let bytes = VECTORS[root % 4];
        for how in [&COMPOSE, &ADD] {
            for (algorithm, in_place) in (0..5).flat_map(|a| [(a, false), (a, true)]) {
                if algorithm == 4 && !how.commutes {
                    continue;
                }
                run(seed, ranks, |team| async move {
                    let mut vectors = Vectors::of(team.rank(), bytes, in_place);
                    let (own, into) = (&vectors.own(), &vectors.target());
                    match algorithm {
                        0 => allreduce::recursive_doubling(&team, (own, into, how)).await,
                        1 => allreduce::halving_doubling(&team, (own, into, how)).await,
                        2 => allreduce::tree(&team, (own, into, how)).await,
                        3 => allreduce::linear(&team, (own, into, how)).await,
                        _ => allreduce::ring(&team, (own, into, how)).await,
                    }
                    assert_eq!(
                        vectors.end(),
                        reduced(how, 0..ranks, bytes),
                        "{algorithm} on {ranks}, {in_place}"
                    );
                    team.result().unwrap();
                });
            }
        }
    }
}

/// Where the ranks' blocks begin, and the end.
pub fn blocks_of(ranks: usize, equal: bool) -> Vec<usize> {
    let mut blocks = vec![0];
    for rank in 0..ranks {
        let elements = if equal { 3 } else { uneven(rank, 12) };
        blocks.push(blocks[rank] + 8 * elements);
    }
    blocks
}

/// Where a block is reduced to: beside the operand, at its beginning as in place, or at the block's own place.
pub const TARGETS: [&str; 3] = ["beside", "beginning", "block"];

/// The buffer of a target for a rank's block.
pub fn target_of(vectors: &mut Vectors, blocks: &[usize], target: &str) -> Buffer {
    let (begin, end) = (blocks[vectors.rank], blocks[vectors.rank + 1]);
    match target {
        "block" => vectors.target().slice(begin, end - begin),
        _ => vectors.target().slice(0, end - begin),
    }
}

#[test]
fn reductions_that_are_scattered() {
    let hows = [
        (true, &COMPOSE),
        (false, &COMPOSE),
        (true, &ADD),
        (false, &ADD),
    ];
    for (ranks, (equal, how)) in rank_counts().flat_map(|ranks| hows.map(|how| (ranks, how))) {
        for (algorithm, target) in (0..3).flat_map(|a| TARGETS.map(|target| (a, target))) {
            if algorithm == 2 && !how.commutes {
                continue;
            }
            run(ranks as u64, ranks, |team| async move {
                let blocks = blocks_of(ranks, equal);
                let (rank, bytes) = (team.rank(), blocks[ranks]);
                let mut vectors = Vectors::of(rank, bytes, target != "beside");
                let into = &target_of(&mut vectors, &blocks, target);
                let own = &vectors.own();
                match algorithm {
                    0 => reduce_scatter::linear(&team, (own, into, how), &blocks).await,
                    1 => {
                        reduce_scatter::reduce_then_scatter(&team, (own, into, how), &blocks).await
                    }
                    _ => ring::reduce_scatter(&team, (own, into, how), &blocks).await,
                }
                let mut result = scratch(into.len());
                into.read(0, &mut result);
                vectors.end();
                let all = reduced(how, 0..ranks, bytes);
                assert_eq!(
                    result[..],
                    all[blocks[rank]..blocks[rank + 1]],
                    "{algorithm} on {ranks}, {target}"
                );
                team.result().unwrap();
            });
        }
    }
}

/// What a scan has for a rank.
pub fn scanned(rank: usize, bytes: usize, exclusive: bool) -> Option<Box<[u8]>> {
    let end = if exclusive { rank } else { rank + 1 };
    (end > 0).then(|| reduced(&COMPOSE, 0..end, bytes))
}

#[test]
fn scans() {
    for ranks in rank_counts() {
        let forms = [(true, true), (true, false), (false, true), (false, false)];
        for (bytes, (exclusive, in_place)) in
            VECTORS.into_iter().flat_map(|b| forms.map(|f| (b, f)))
        {
            for linear in [true, false] {
                run(ranks as u64, ranks, |team| async move {
                    let mut vectors = Vectors::of(team.rank(), bytes, in_place);
                    let (own, into) = (&vectors.own(), &vectors.target());
                    match linear {
                        true => scan::linear(&team, (own, into, &COMPOSE), exclusive).await,
                        false => scan::doubling(&team, (own, into, &COMPOSE), exclusive).await,
                    }
                    let result = vectors.end();
                    if let Some(expected) = scanned(team.rank(), bytes, exclusive) {
                        assert_eq!(result, expected, "{ranks}, {in_place}");
                    }
                    team.result().unwrap();
                });
            }
        }
    }
}

/// All reductions of two ranks, of vectors of one piece and of several.
#[test]
fn reductions_of_two() {
    let sizes = [8, 1000, 2 * PIECE, 2 * PIECE + 8, 1 << 20];
    let sizes = sizes.iter().filter(|bytes| !cfg!(miri) || **bytes < PIECE);
    for (bytes, how) in sizes.flat_map(|bytes| [(*bytes, &COMPOSE), (*bytes, &ADD)]) {
        for in_place in [false, true] {
            run(bytes as u64, 2, |team| async move {
                let expected = reduced(how, 0..2, bytes);
                let mut vectors = Vectors::of(team.rank(), bytes, in_place);
                let (own, into) = (&vectors.own(), &vectors.target());
                pair::exchange(&team, own, (own, into, how)).await;
                assert_eq!(vectors.end(), expected);
                team.result().unwrap();
            });
            for root in 0..2 {
                run(bytes as u64, 2, |team| async move {
                    let is_root = team.rank() == root;
                    let mut vectors = Vectors::of(team.rank(), bytes, in_place && is_root);
                    let (own, into) = (vectors.own(), vectors.target());
                    let nothing = Buffer::empty();
                    let (out, into) = if is_root {
                        (nothing, into)
                    } else {
                        (own, nothing)
                    };
                    pair::exchange(&team, &out, (&own, &into, how)).await;
                    assert!(!is_root || vectors.end() == reduced(how, 0..2, bytes));
                    team.result().unwrap();
                });
            }
        }
        for (target, first) in TARGETS
            .iter()
            .flat_map(|target| [(target, 8), (target, bytes / 16 * 8)])
        {
            run(bytes as u64, 2, |team| async move {
                let (rank, blocks) = (team.rank(), [0, first, bytes]);
                let mut vectors = Vectors::of(rank, bytes, *target != "beside");
                let into = &target_of(&mut vectors, &blocks, target);
                let own = vectors.own();
                let block = |rank: usize| own.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
                pair::exchange(&team, &block(1 - rank), (&block(rank), into, how)).await;
                let mut result = scratch(into.len());
                into.read(0, &mut result);
                let all = reduced(how, 0..2, bytes);
                assert_eq!(result[..], all[blocks[rank]..blocks[rank + 1]], "{target}");
                vectors.end();
                team.result().unwrap();
            });
        }
    }
}
