//! Times of algorithms on simulated ranks with a clock, against formulas; and by the formulas, for up to 100,000 ranks, where another
//! algorithm would be faster than the one chosen: a table in benches/MODEL.md.

use super::reductions::{ADD, Vectors};
use super::*;
use crate::coll::choose::{self, CallShape};
use crate::coll::simulation::clock::{Clock, Costs};
use crate::coll::simulation::{formulas, time};
use std::fmt::Write;

/// A network of 100 Gb/s: L 1 us, o 0.3 us, g 0.05 us, G 0.08 ns.
const NETWORK: Costs = Costs {
    latency: 1_000_000,
    overhead: 300_000,
    gap: 50_000,
    byte: 80,
};
/// One whose gap counts.
const SLOW: Costs = Costs {
    latency: 2_000_000,
    overhead: 100_000,
    gap: 700_000,
    byte: 1000,
};
/// A node's memory.
const MEMORY: Costs = Costs {
    latency: 100_000,
    overhead: 200_000,
    gap: 25_000,
    byte: 83,
};

/// The time of `body(team, bytes)`, whatever the schedule.
fn timed<F: Future<Output = ()>>(
    costs: Costs,
    ranks: usize,
    body: impl Fn(Team<'static>) -> F,
) -> u64 {
    let time_of = |seed| time(seed, Clock::new(ranks, costs), ranks, &body);
    let first = time_of(1);
    assert_eq!(time_of(2), first, "the schedule of {ranks} ranks matters");
    first
}

fn clocks() -> impl Iterator<Item = (Costs, usize)> {
    let ranks = [2, 3, 4, 5, 7, 8, 13, 16, 32, 33].into_iter();
    let ranks = ranks.filter(|ranks| !cfg!(miri) || *ranks < 6);
    ranks.flat_map(|ranks| [(NETWORK, ranks), (SLOW, ranks)])
}

#[test]
fn barriers_and_broadcasts_take_what_the_formulas_say() {
    for (costs, ranks) in clocks() {
        let barrier = timed(costs, ranks, |team| async move {
            barrier::dissemination(&team).await;
        });
        assert_eq!(barrier, formulas::dissemination(&costs, ranks), "{ranks}");
        for (pieces, piece) in [(1, 8), (4, 100), (9, 2000)] {
            let bytes = pieces * piece;
            let broadcast = |algorithm| {
                let bytes = if algorithm == 2 { bytes * ranks } else { bytes };
                timed(costs, ranks, move |team| async move {
                    let mut data = scratch(bytes);
                    let buffer = Buffer::of_copy(&mut data);
                    match algorithm {
                        0 => bcast::binomial(&team, buffer, 0).await,
                        1 => bcast::linear(&team, buffer, 0).await,
                        2 => bcast::scatter_allgather(&team, buffer, 0).await,
                        _ => bcast::chain(&team, buffer, 0, piece).await,
                    }
                })
            };
            let of = format!("{bytes} bytes on {ranks} ranks, {costs:?}");
            assert_eq!(
                broadcast(0),
                formulas::binomial(&costs, ranks, bytes),
                "{of}"
            );
            assert_eq!(broadcast(1), formulas::linear(&costs, ranks, bytes), "{of}");
            let scattered = formulas::scatter_allgather(&costs, ranks, bytes * ranks);
            assert_eq!(broadcast(2), scattered, "{of}");
            let chain = formulas::chain(&costs, ranks, bytes, piece);
            assert_eq!(broadcast(3), chain, "{of}");
        }
    }
}

#[test]
fn exchanges_take_what_the_formulas_say() {
    for (costs, ranks) in clocks() {
        for each in [8, 1000] {
            let all = ranks * each;
            let of = format!("{each} bytes each on {ranks} ranks, {costs:?}");
            let allgather = |algorithm| {
                timed(costs, ranks, move |team| async move {
                    let mut memory = scratch(all);
                    let parts = Parts::in_memory(&mut memory, each);
                    match algorithm {
                        0 => ring::allgather(&team, &parts).await,
                        1 => allgather::bruck(&team, &parts).await,
                        _ => allgather::recursive_doubling(&team, &parts).await,
                    }
                })
            };
            let doubling = formulas::doubling(&costs, ranks, all);
            assert_eq!(allgather(0), formulas::ring(&costs, ranks, all), "{of}");
            assert_eq!(allgather(1), doubling, "{of}");
            if ranks.is_power_of_two() {
                assert_eq!(allgather(2), doubling, "{of}");
            }
            let alltoall = |algorithm| {
                timed(costs, ranks, move |team| async move {
                    let (mut data, mut memory) = (scratch(all), scratch(all));
                    let out = Parts::in_memory(&mut data, each);
                    let into = Parts::in_memory(&mut memory, each);
                    match algorithm {
                        0 => alltoall::linear(&team, &out, &into).await,
                        1 => alltoall::pairwise(&team, &out, &into).await,
                        _ => alltoall::bruck(&team, &out, &into).await,
                    }
                })
            };
            assert_eq!(alltoall(0), formulas::at_once(&costs, ranks, each), "{of}");
            assert_eq!(alltoall(1), formulas::pairwise(&costs, ranks, each), "{of}");
            assert_eq!(alltoall(2), formulas::bruck(&costs, ranks, each), "{of}");
            let allreduce = |algorithm| {
                timed(costs, ranks, move |team| async move {
                    let mut vectors = Vectors::of(team.rank(), all, false);
                    let (own, into) = (vectors.own(), vectors.target());
                    match algorithm {
                        0 => allreduce::recursive_doubling(&team, (&own, &into, &ADD)).await,
                        1 => allreduce::halving_doubling(&team, (&own, &into, &ADD)).await,
                        _ => allreduce::ring(&team, (&own, &into, &ADD)).await,
                    }
                })
            };
            let doubling = formulas::recursive_doubling(&costs, ranks, all);
            assert!(allreduce(0) <= doubling, "{of}");
            assert_eq!(
                allreduce(2),
                formulas::two_rings(&costs, ranks, all),
                "{of}"
            );
            if ranks.is_power_of_two() {
                assert_eq!(allreduce(0), doubling, "{of}");
                let halving = formulas::halving_doubling(&costs, ranks, all);
                assert_eq!(allreduce(1), halving, "{of}");
            }
        }
    }
}

#[test]
fn messages_within_a_node_cost_less() {
    let clock = Clock::new(4, NETWORK).with_nodes(2, MEMORY);
    let two_levels = time(7, clock, 4, |team| async move {
        let mut data = scratch(500);
        bcast::binomial(&team, Buffer::of_copy(&mut data), 0).await;
    });
    assert_eq!(two_levels, NETWORK.hop(500) + MEMORY.hop(500));
}

/// A name and a time.
type Candidate = (String, u64);

fn name(algorithm: impl std::fmt::Display) -> String {
    algorithm.to_string()
}

/// The algorithm that is chosen, and those that could be.
type Choice = (String, Vec<Candidate>);

fn bcasts(shape: CallShape) -> Choice {
    use choose::Bcast::*;
    let CallShape { ranks, bytes, .. } = shape;
    let candidates = [
        (Binomial, formulas::binomial(&NETWORK, ranks, bytes)),
        (Linear, formulas::linear(&NETWORK, ranks, bytes)),
        (
            ScatterAllgather,
            formulas::scatter_allgather(&NETWORK, ranks, bytes),
        ),
        (Chain, formulas::chain(&NETWORK, ranks, bytes, PIECE)),
    ];
    let named = candidates.map(|(algorithm, time)| (name(algorithm), time));
    (name(choose::bcast(shape)), named.into())
}

fn allgathers_of(shape: CallShape) -> Choice {
    use choose::Allgather::*;
    let CallShape { ranks, bytes, .. } = shape;
    let doubling = match ranks.is_power_of_two() {
        true => RecursiveDoubling,
        false => Bruck,
    };
    let candidates = [
        (doubling, formulas::doubling(&NETWORK, ranks, bytes)),
        (Ring, formulas::ring(&NETWORK, ranks, bytes)),
    ];
    let named = candidates.map(|(algorithm, time)| (name(algorithm), time));
    (name(choose::allgather(shape)), named.into())
}

fn alltoalls_of(shape: CallShape) -> Choice {
    use choose::Alltoall::*;
    let CallShape { ranks, bytes, .. } = shape;
    let candidates = [
        (Linear, formulas::at_once(&NETWORK, ranks, bytes)),
        (Pairwise, formulas::pairwise(&NETWORK, ranks, bytes)),
        (Bruck, formulas::bruck(&NETWORK, ranks, bytes)),
    ];
    let named = candidates.map(|(algorithm, time)| (name(algorithm), time));
    (name(choose::alltoall(shape)), named.into())
}

fn allreduces(shape: CallShape) -> Choice {
    use choose::Allreduce::*;
    let CallShape { ranks, bytes, .. } = shape;
    let candidates = [
        (
            RecursiveDoubling,
            formulas::recursive_doubling(&NETWORK, ranks, bytes),
        ),
        (
            HalvingDoubling,
            formulas::halving_doubling(&NETWORK, ranks, bytes),
        ),
        (Ring, formulas::two_rings(&NETWORK, ranks, bytes)),
    ];
    let named = candidates.map(|(algorithm, time)| (name(algorithm), time));
    (name(choose::allreduce(shape)), named.into())
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

/// What is said of each size, where it changes: `binomial; 16 KB chain`.
fn borders(of: &[(usize, String)]) -> String {
    let mut text = String::new();
    for run in of.chunk_by(|one, next| one.1 == next.1) {
        match text.is_empty() {
            true => text.clone_from(&run[0].1),
            false => {
                let _ = write!(text, "; {} {}", size(run[0].0), run[0].1);
            }
        }
    }
    text
}

/// An operation, and what is chosen for it.
type Operation = (&'static str, fn(CallShape) -> Choice);

fn table() -> String {
    let mut table = String::from(
        "| operation | ranks | chosen | best in the model | chosen to best, worst |\n|---|---|---|---|---|\n",
    );
    let operations: [Operation; 4] = [
        ("bcast", bcasts),
        ("allgather", allgathers_of),
        ("alltoall", alltoalls_of),
        ("allreduce", allreduces),
    ];
    for (operation, choices) in operations {
        for ranks in [2, 8, 64, 512, 4096, 32_768, 100_000] {
            let (mut chosen, mut best) = (Vec::new(), Vec::new());
            let (mut worst, mut worst_at) = (0, 0);
            // Of an allgather, a byte of each rank at least.
            let least = if operation == "allgather" { ranks } else { 1 };
            for bytes in (0..27)
                .map(|power| 1 << power)
                .filter(|bytes| *bytes >= least)
            {
                let (choice, candidates) = choices(CallShape {
                    ranks,
                    bytes,
                    commutes: true,
                    equal: true,
                    oversubscribed: false,
                    several_nodes: false,
                    in_order: true,
                });
                let (fastest, shortest) = candidates.iter().min_by_key(|(_, time)| *time).unwrap();
                let (_, time) = candidates.iter().find(|(name, _)| *name == choice).unwrap();
                // Where both take as long, the choice is as good.
                let fastest = if time == shortest { &choice } else { fastest };
                let percent = time * 100 / shortest;
                if percent > worst {
                    (worst, worst_at) = (percent, bytes);
                }
                best.push((bytes, fastest.clone()));
                chosen.push((bytes, choice));
            }
            let at = match worst {
                100 => String::from("1"),
                _ => format!("{}.{:02} at {}", worst / 100, worst % 100, size(worst_at)),
            };
            let (chosen, best) = (borders(&chosen), borders(&best));
            let _ = writeln!(
                table,
                "| {operation} | {ranks} | {chosen} | {best} | {at} |"
            );
        }
    }
    table
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/MODEL.md");
const BEGIN: &str = "<!-- borders: made by make support -->\n";
const END: &str = "<!-- end of borders -->\n";

#[test]
#[cfg_attr(miri, ignore)]
fn the_page_has_the_current_borders() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    let table = table();
    if std::env::var_os("OXMPI_WRITE_PAGES").is_some() {
        std::fs::write(PAGE, [before, BEGIN, &table, END, after].concat()).unwrap();
        return;
    }
    assert_eq!(found, table, "make support writes the page anew");
}
