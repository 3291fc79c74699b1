//! Every algorithm on simulated ranks against the definition of its operation: 1 to 33 ranks, odd sizes, all kinds of roots,
//! an operation that does not commute, and schedules by seed.

use super::packed::scratch;
use super::simulation::run;
use super::team::Team;
use super::*;
use crate::datatype::Parts;
use crate::sync::keep::keep;
use choose::PIECE;
use std::future::Future;

mod borders;
mod copies;
mod hierarchies;
mod losses;
mod reductions;
mod staged;

pub use reductions::compose_into;

/// What rank r has for rank s, byte by byte.
fn pattern(rank: usize, other: usize, bytes: usize) -> Box<[u8]> {
    let byte = |at: usize| (rank * 37 + other * 101 + at * 7 + (at >> 8) * 3 + 1) as u8;
    (0..bytes).map(byte).collect()
}

/// Sizes of parts that differ from rank to rank, some of them zero.
fn uneven(rank: usize, most: usize) -> usize {
    (rank * 5 + 2) % 4 * most / 3
}

fn rank_counts() -> impl Iterator<Item = usize> {
    (1..=33).filter(|ranks| !cfg!(miri) || ranks % 5 == 3)
}

/// Rank counts with some roots each, and a seed that is different for each case.
fn cases() -> impl Iterator<Item = (usize, usize, u64)> {
    rank_counts().flat_map(|ranks| {
        let mut roots = vec![0, ranks - 1, ranks / 3];
        roots.sort_unstable();
        roots.dedup();
        let seed = move |root| (ranks * 1000 + root) as u64;
        roots.into_iter().map(move |root| (ranks, root, seed(root)))
    })
}

/// Parts in memory of the caller's.
fn parts_of(memory: &mut Box<[u8]>, sizes: &[usize]) -> Parts {
    let whole = Buffer::of_copy(memory);
    let mut begin = 0;
    let parts = sizes.iter().map(|bytes| {
        begin += bytes;
        whole.slice(begin - bytes, *bytes)
    });
    Parts::Each(parts.collect())
}

#[test]
fn broadcasts() {
    for (ranks, root, seed) in cases() {
        for (bytes, piece) in [(1, 8), (17, 4), (1000, 64), (1023, 1023)] {
            for algorithm in 0..4 {
                let results = run(seed, ranks, |team| async move {
                    let mine = team.rank() == root;
                    let mut data = if mine {
                        pattern(root, 0, bytes)
                    } else {
                        scratch(bytes)
                    };
                    let buffer = Buffer::of_copy(&mut data);
                    match algorithm {
                        0 => bcast::binomial(&team, buffer, root).await,
                        1 => bcast::linear(&team, buffer, root).await,
                        2 => bcast::scatter_allgather(&team, buffer, root).await,
                        _ => bcast::chain(&team, buffer, root, piece).await,
                    }
                    team.result().unwrap();
                    data
                });
                for data in results {
                    assert_eq!(data, pattern(root, 0, bytes), "{algorithm} on {ranks}");
                }
            }
        }
    }
}

#[test]
fn nobody_leaves_a_barrier_before_all_are_in() {
    use crate::sync::{AtomicUsize, Ordering};
    for ranks in rank_counts() {
        for algorithm in 0..2 {
            let entered = keep(AtomicUsize::new(0));
            let seen = run(ranks as u64, ranks, |team| async move {
                entered.fetch_add(1, Ordering::Relaxed);
                match algorithm {
                    0 => barrier::dissemination(&team).await,
                    _ => barrier::central(&team).await,
                }
                team.result().unwrap();
                entered.load(Ordering::Relaxed)
            });
            assert_eq!(seen, vec![ranks; ranks]);
        }
    }
}

#[test]
fn gathers_and_scatters() {
    for (ranks, root, seed) in cases() {
        for (equal, in_place) in [(true, false), (false, false), (true, true)] {
            let size_of = move |rank| if equal { 13 } else { uneven(rank, 30) };
            for binomial in [false, true] {
                if binomial && !equal {
                    continue;
                }
                run(seed, ranks, |team| async move {
                    let (rank, sizes) = (team.rank(), (0..ranks).map(size_of).collect::<Vec<_>>());
                    let all: Vec<u8> = (0..ranks).flat_map(|r| pattern(r, 1, sizes[r])).collect();
                    let mut own = pattern(rank, 1, sizes[rank]);
                    let mut memory = scratch(all.len());
                    let parts = (rank == root).then(|| parts_of(&mut memory, &sizes));
                    let own_in_place = in_place && rank == root;
                    if let (true, Some(parts)) = (own_in_place, &parts) {
                        parts.of(root).write(0, &own);
                    }
                    let out = (!own_in_place).then(|| Buffer::of_copy(&mut own));
                    match binomial {
                        true => gather::binomial(&team, out, parts.as_ref(), root).await,
                        false => gather::linear(&team, out, parts.as_ref(), root).await,
                    }
                    if rank == root {
                        assert_eq!(memory[..], all, "gather on {ranks} to {root}");
                    }
                    let mut into = scratch(sizes[rank]);
                    let target = (!own_in_place).then(|| Buffer::of_copy(&mut into));
                    match binomial {
                        true => scatter::binomial(&team, parts.as_ref(), target, root).await,
                        false => scatter::linear(&team, parts.as_ref(), target, root).await,
                    }
                    assert!(own_in_place || into == pattern(rank, 1, sizes[rank]));
                    team.result().unwrap();
                });
            }
        }
    }
}

#[test]
fn allgathers() {
    for (ranks, root, seed) in cases() {
        for equal in [true, false] {
            let size_of = move |rank| if equal { 13 + root } else { uneven(rank, 30) };
            for algorithm in 0..5 {
                if algorithm == 4 && !ranks.is_power_of_two() {
                    continue;
                }
                run(seed, ranks, |team| async move {
                    let (rank, sizes) = (team.rank(), (0..ranks).map(size_of).collect::<Vec<_>>());
                    let all: Vec<u8> = (0..ranks).flat_map(|r| pattern(r, 2, sizes[r])).collect();
                    let mut memory = scratch(all.len());
                    let parts = match equal {
                        true => Parts::in_memory(&mut memory, sizes[0]),
                        false => parts_of(&mut memory, &sizes),
                    };
                    parts.of(rank).write(0, &pattern(rank, 2, sizes[rank]));
                    match algorithm {
                        0 => ring::allgather(&team, &parts).await,
                        1 => allgather::bruck(&team, &parts).await,
                        2 => allgather::linear(&team, &parts).await,
                        3 => allgather::gather_broadcast(&team, &parts).await,
                        _ if equal => allgather::recursive_doubling(&team, &parts).await,
                        _ => return,
                    }
                    assert_eq!(memory[..], all, "{algorithm} on {ranks}");
                    team.result().unwrap();
                });
            }
        }
    }
}

#[test]
fn alltoalls() {
    for ranks in rank_counts() {
        for equal in [true, false] {
            let size_of = move |from, to| if equal { 9 } else { uneven(from * 3 + to, 20) };
            for algorithm in 0..4 {
                if algorithm == 2 && !equal {
                    continue;
                }
                run(ranks as u64, ranks, |team| async move {
                    let rank = team.rank();
                    let leaving: Vec<usize> = (0..ranks).map(|to| size_of(rank, to)).collect();
                    let coming: Vec<usize> = (0..ranks).map(|from| size_of(from, rank)).collect();
                    let row = |to: usize| pattern(rank, to, leaving[to]);
                    let column = |from: usize| pattern(from, rank, coming[from]);
                    let mut data: Box<[u8]> = (0..ranks).flat_map(row).collect();
                    let all: Vec<u8> = (0..ranks).flat_map(column).collect();
                    let mut memory = if algorithm == 3 {
                        data.clone()
                    } else {
                        scratch(all.len())
                    };
                    let out = parts_of(&mut data, &leaving);
                    match algorithm {
                        0 => alltoall::linear(&team, &out, &parts_of(&mut memory, &coming)).await,
                        1 => alltoall::pairwise(&team, &out, &parts_of(&mut memory, &coming)).await,
                        2 => alltoall::bruck(&team, &out, &parts_of(&mut memory, &coming)).await,
                        _ if equal => {
                            let into = parts_of(&mut memory, &coming);
                            dispatch::run(&team, &CollArgs::Alltoall { out: None, into }).await;
                        }
                        _ => return,
                    }
                    assert_eq!(memory[..], all, "{algorithm} on {ranks}");
                    team.result().unwrap();
                });
            }
        }
    }
}

/// What is chosen without settings, at sizes on both sides of every border.
#[test]
fn what_is_chosen_works() {
    let (int, sum) = (crate::datatype::get(crate::datatype::INT), crate::op::SUM);
    let with = Operands {
        op: crate::op::get(sum).unwrap(),
        datatype: int.unwrap(),
    };
    for ranks in [1, 2, 3, 8, 17] {
        for bytes in [4, 2048, 12_000, 70_000, 4 * PIECE, 1 << 20] {
            if ranks * bytes > 4 << 20 {
                continue;
            }
            let with = &with;
            run(bytes as u64, ranks, |team| async move {
                everything(&team, bytes, with).await;
                team.result().unwrap();
            });
        }
    }
}

async fn everything(team: &Team<'_>, bytes: usize, with: &Operands) {
    let (rank, ranks) = (team.rank(), team.size());
    let value = |rank: usize| (rank as i32 + 1).to_ne_bytes().repeat(bytes / 4);
    let mut data = value(rank).into_boxed_slice();
    let mut result = scratch(bytes);
    let (own, into) = (Buffer::of_copy(&mut data), Buffer::of_copy(&mut result));
    let with = with.clone();
    let call = CollArgs::Allreduce {
        own,
        into,
        with: with.clone(),
    };
    dispatch::run(team, &call).await;
    assert_eq!(result[..], value(ranks * (ranks + 1) / 2 - 1), "allreduce");
    let (root, buffer) = (ranks as i32 - 1, own);
    dispatch::run(team, &CollArgs::Bcast { buffer, root }).await;
    assert_eq!(data[..], value(ranks - 1), "bcast");
    let own = Buffer::of_copy(&mut data);
    own.write(0, &value(rank));
    let call = CollArgs::Scan {
        own,
        into: Buffer::of_copy(&mut result),
        with,
        exclusive: false,
    };
    dispatch::run(team, &call).await;
    assert_eq!(result[..], value((rank + 1) * (rank + 2) / 2 - 1), "scan");
    let mut all = scratch(bytes * ranks);
    let parts = Parts::in_memory(&mut all, bytes);
    let own = Some(Buffer::of_copy(&mut data));
    dispatch::run(team, &CollArgs::Allgather { own, parts }).await;
    let everyone: Vec<u8> = (0..ranks).flat_map(value).collect();
    assert_eq!(all[..], everyone, "allgather");
}
