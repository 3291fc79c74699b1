//! What each operation over messages copies and receives, exactly. Contiguous operands are copied nowhere, and what comes in
//! a message comes where it belongs; what is left are results of operations in place, and packed copies of data with holes.

use super::super::reduction::Reduction;
use super::super::simulation::run_and_count;
use super::reductions::{ADD, COMPOSE, Vectors};
use super::*;
use crate::coll::dispatch::run_part;
use crate::comm::{Members, Nodes};
use crate::datatype::{BYTE, create, pack::Laid};

const RANKS: usize = 8;
/// Bytes of a rank's part, and of a vector.
const PART: usize = 128;
const VECTOR: usize = RANKS * PART;

/// The bytes that a rank copies at most, that all copy, and that a rank receives at most, in eighths of a vector. They do not
/// depend on the schedule.
fn traffic<F: Future<Output = ()>>(part: usize, body: impl Fn(Team<'static>) -> F) -> [u64; 3] {
    let of = |seed| {
        let each = run_and_count(seed, RANKS, &body);
        let each = || each.iter().map(|(_, traffic)| *traffic);
        let copied = each().map(|traffic| traffic.copied);
        let received = each().map(|traffic| traffic.received);
        let figures = [copied.clone().max(), Some(copied.sum()), received.max()];
        figures.map(|bytes| {
            let bytes = bytes.unwrap_or_default() as usize;
            assert_eq!(bytes % part, 0, "{bytes} bytes");
            (bytes / part) as u64
        })
    };
    let figures = of(1);
    (2..5).for_each(|seed| assert_eq!(of(seed), figures, "with seed {seed}"));
    figures
}

/// A reduction by its name; the root is rank 3, or rank 0.
async fn reduction(name: &str, team: &Team<'_>, own: &Buffer, into: &Buffer, how: &Reduction<'_>) {
    let at_root = |root| match team.rank() == root {
        true => *into,
        false => Buffer::empty(),
    };
    let blocks = how.blocks(VECTOR, RANKS);
    let block = into.slice(0, PART);
    match name {
        "recursive_doubling" => allreduce::recursive_doubling(team, (own, into, how)).await,
        "halving_doubling" => allreduce::halving_doubling(team, (own, into, how)).await,
        "ring" => allreduce::ring(team, (own, into, how)).await,
        "tree" => allreduce::tree(team, (own, into, how)).await,
        "linear" => allreduce::linear(team, (own, into, how)).await,
        "reduce, binomial" => reduce::binomial(team, (own, &at_root(3), how), 3, false).await,
        "reduce, in order" => reduce::binomial(team, (own, &at_root(3), how), 3, true).await,
        "reduce, linear" => reduce::linear(team, (own, &at_root(3), how), 3).await,
        "reduce, linear to 0" => reduce::linear(team, (own, &at_root(0), how), 0).await,
        "reduce, chain" => reduce::chain(team, (own, &at_root(0), how), 0, true, PART).await,
        "reduce, scatter_gather" => reduce::scatter_gather(team, (own, &at_root(3), how), 3).await,
        "reduce_scatter, linear" => reduce_scatter::linear(team, (own, &block, how), &blocks).await,
        "reduce_scatter, ring" => ring::reduce_scatter(team, (own, &block, how), &blocks).await,
        "reduce_then_scatter" => {
            reduce_scatter::reduce_then_scatter(team, (own, &block, how), &blocks).await;
        }
        "scan, linear" => scan::linear(team, (own, into, how), false).await,
        "scan, doubling" => scan::doubling(team, (own, into, how), false).await,
        "exscan, linear" => scan::linear(team, (own, into, how), true).await,
        "exscan, doubling" => scan::doubling(team, (own, into, how), true).await,
        _ => unreachable!("{name}"),
    }
}

/// Each reduction beside its operand and in place: copied by a rank at most, by all, received by a rank at most.
const REDUCTIONS: [(&str, [u64; 3], [u64; 3]); 18] = [
    // In place, ranks with an odd number of peers behind them end in the other place.
    ("recursive_doubling", [0, 0, 24], [8, 32, 24]),
    ("halving_doubling", [0, 0, 14], [1, 4, 14]),
    ("ring", [0, 0, 14], [0, 0, 14]),
    ("tree", [0, 0, 24], [8, 8, 24]),
    ("linear", [0, 0, 56], [0, 0, 56]),
    ("reduce, binomial", [0, 0, 24], [0, 0, 24]),
    ("reduce, in order", [0, 0, 24], [0, 0, 24]),
    ("reduce, linear", [0, 0, 56], [0, 0, 56]),
    ("reduce, linear to 0", [0, 0, 56], [0, 0, 56]),
    ("reduce, chain", [0, 0, 8], [0, 0, 8]),
    ("reduce, scatter_gather", [0, 0, 14], [0, 0, 14]),
    // In place the block's result goes to the beginning of the operand.
    ("reduce_scatter, linear", [0, 0, 7], [1, 1, 7]),
    ("reduce_scatter, ring", [0, 0, 7], [1, 7, 7]),
    ("reduce_then_scatter", [1, 1, 24], [1, 1, 24]),
    // The first rank's result is its operand.
    ("scan, linear", [8, 8, 8], [0, 0, 8]),
    ("scan, doubling", [8, 8, 24], [0, 0, 24]),
    // What was before and what goes on, but one place.
    ("exscan, linear", [0, 0, 8], [8, 56, 8]),
    ("exscan, doubling", [0, 0, 24], [8, 56, 24]),
];

#[test]
fn reductions_copy_no_operand() {
    for (name, beside, in_place) in REDUCTIONS {
        for (in_place, expected) in [(false, beside), (true, in_place)] {
            let figures = traffic(PART, |team| async move {
                let mut vectors = Vectors::of(team.rank(), VECTOR, in_place);
                let (own, into) = (vectors.own(), vectors.target());
                reduction(name, &team, &own, &into, &ADD).await;
            });
            assert_eq!(figures, expected, "{name}, in place: {in_place}");
        }
    }
}

/// An operation that does not commute costs no copy either, but where its left operand and its result have one place.
#[test]
fn the_order_of_operands_costs_no_copy() {
    let names = ["recursive_doubling", "halving_doubling", "tree", "linear"];
    let reduces = ["reduce, in order", "reduce, linear", "reduce, chain"];
    for name in names.into_iter().chain(reduces) {
        let figures = traffic(PART, |team| async move {
            let mut vectors = Vectors::of(team.rank(), VECTOR, false);
            let (own, into) = (vectors.own(), vectors.target());
            reduction(name, &team, &own, &into, &COMPOSE).await;
        });
        assert_eq!(figures[..2], [0, 0], "{name}");
    }
}

/// What the library chooses for large vectors: at most 2 b (n - 1) / n come, and b are packed and b unpacked if there are holes.
#[test]
fn holes_cost_two_copies() {
    let byte = crate::datatype::get(BYTE).unwrap();
    let holes = create::vector(false, 2, 4, 12, byte).unwrap();
    for (name, expected) in [("allreduce", [16, 128, 14]), ("bcast", [8, 64, 8])] {
        let figures = traffic(PART, |team| async move {
            let laid = || Laid::new(VECTOR as u64 / 8, holes);
            let (mut own, mut into) = (laid(), laid());
            let (own, into) = (own.buffer(), into.buffer());
            match name {
                "bcast" => bcast::chain(&team, own, 0, PART).await,
                _ => {
                    let (from, to) = (
                        packed::Packed::of(own, true),
                        packed::Packed::of(into, false),
                    );
                    allreduce::ring(&team, (&from.bytes(), &to.bytes(), &ADD)).await;
                    to.unpack(true);
                }
            }
        });
        assert_eq!(figures, expected, "{name}");
    }
}

/// Operations that move data: copied by a rank at most, by all, received by a rank at most.
const MOVEMENTS: [(&str, [u64; 3]); 13] = [
    ("bcast, binomial", [0, 0, 8]),
    ("bcast, linear", [0, 0, 8]),
    ("bcast, chain", [0, 0, 8]),
    ("bcast, scatter_allgather", [0, 0, 11]),
    ("gather, linear", [1, 1, 7]),
    ("scatter, linear", [1, 1, 1]),
    ("allgather, ring", [0, 0, 7]),
    ("allgather, recursive_doubling", [0, 0, 7]),
    ("allgather, linear", [0, 0, 7]),
    ("allgather, gather_broadcast", [0, 0, 8]),
    // Packed copies of all, for little data.
    ("allgather, bruck", [8, 64, 7]),
    ("alltoall, linear", [1, 8, 7]),
    ("alltoall, pairwise", [1, 8, 7]),
];

#[test]
fn movements_copy_a_rank_s_own_part_only() {
    for (name, expected) in MOVEMENTS {
        let figures = traffic(PART, |team| async move {
            let root = 3;
            let is_root = team.rank() == root;
            let (mut out, mut into) = (scratch(VECTOR), scratch(VECTOR));
            let vector = Buffer::of_copy(&mut out);
            let (own, out) = (vector.slice(0, PART), Parts::in_memory(&mut out, PART));
            let parts = Parts::in_memory(&mut into, PART);
            let at_root = |parts| is_root.then_some(parts);
            match name {
                "bcast, binomial" => bcast::binomial(&team, vector, root).await,
                "bcast, linear" => bcast::linear(&team, vector, root).await,
                "bcast, chain" => bcast::chain(&team, vector, root, PART).await,
                "bcast, scatter_allgather" => bcast::scatter_allgather(&team, vector, root).await,
                "gather, linear" => gather::linear(&team, Some(own), at_root(&parts), root).await,
                "scatter, linear" => scatter::linear(&team, at_root(&parts), Some(own), root).await,
                "allgather, ring" => ring::allgather(&team, &parts).await,
                "allgather, linear" => allgather::linear(&team, &parts).await,
                "allgather, bruck" => allgather::bruck(&team, &parts).await,
                "allgather, recursive_doubling" => {
                    allgather::recursive_doubling(&team, &parts).await;
                }
                "allgather, gather_broadcast" => allgather::gather_broadcast(&team, &parts).await,
                "alltoall, linear" => alltoall::linear(&team, &out, &parts).await,
                "alltoall, pairwise" => alltoall::pairwise(&team, &out, &parts).await,
                _ => unreachable!("{name}"),
            }
        });
        assert_eq!(figures, expected, "{name}");
    }
}

/// Two nodes of four ranks. A leader that is no root has memory of its own for its node's parts, and copies its own part there.
#[test]
fn two_levels_copy_no_operand() {
    let nodes = keep(Nodes::of(&Members::All(RANKS as u32), |rank| rank / 4).unwrap());
    let rows = [
        ("bcast", [0, 0, 8]),
        ("reduce", [0, 0, 24]),
        ("allreduce", [0, 0, 24]),
        // Of two leaders, which reduce in the order of the ranks, the left one copies its results.
        ("allreduce in parts", [2, 8, 14]),
        ("reduce_scatter", [1, 2, 20]),
        ("gather", [1, 2, 7]),
        ("scatter", [1, 2, 4]),
        ("allgather", [0, 0, 8]),
    ];
    for (name, expected) in rows {
        // Parts are for large data, of which an allgather makes no packed copies.
        let part = if name == "allreduce in parts" {
            16 << 10
        } else {
            PART
        };
        let figures = traffic(part, |team| async move {
            let team = Team::over(*team.coll(), Some(nodes));
            let is_root = team.rank() == 0;
            let mut vectors = Vectors::of(team.rank(), RANKS * part, false);
            let (own, into) = (&vectors.own(), &vectors.target());
            let parts = &parts_of(vectors.result.as_mut().unwrap(), &[part; RANKS]);
            let block = &own.slice(0, part);
            let blocks = ADD.blocks(RANKS * part, RANKS);
            match name {
                "bcast" => hierarchy::bcast(&team, *own, 0, run_part).await,
                "reduce" => hierarchy::reduce(&team, (own, into, &ADD), 0, run_part).await,
                "allreduce" => hierarchy::allreduce(&team, (own, into, &ADD), run_part).await,
                "allreduce in parts" => {
                    let levels = hierarchy::Levels::of(&team).unwrap();
                    hierarchy::allreduce_in_parts(&levels, (own, into, &ADD), (4, run_part)).await;
                }
                "reduce_scatter" => {
                    let into = &into.slice(0, part);
                    hierarchy::reduce_scatter(&team, (own, into, &ADD), &blocks, run_part).await;
                }
                "gather" => {
                    hierarchy::gather(&team, Some(*block), is_root.then_some(parts), 0, run_part)
                        .await;
                }
                "scatter" => {
                    hierarchy::scatter(&team, is_root.then_some(parts), Some(*block), 0, run_part)
                        .await;
                }
                _ => hierarchy::allgather(&team, parts, run_part).await,
            }
        });
        assert_eq!(figures, expected, "{name}");
    }
}
