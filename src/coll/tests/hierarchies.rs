//! The algorithms for several nodes: nodes of following ranks, of the same size and others, and of ranks dealt out.

use super::reductions::{
    ADD, COMPOSE, TARGETS, VECTORS, Vectors, blocks_of, reduced, scanned, target_of,
};
use super::*;
use crate::coll::dispatch::run_part;
use crate::comm::{Members, Nodes};

pub const PLACEMENTS: [fn(u32) -> u32; 4] = [
    |rank| rank / 4,
    |rank| rank.isqrt(),
    |rank| rank % 3,
    |rank| rank * 7 % 5 / 2,
];

/// Runs `body(team)` on simulated ranks on all kinds of nodes, with whether the nodes' order is the ranks'.
fn on_nodes<T, F: Future<Output = T>>(
    ranks: usize,
    seed: u64,
    body: impl Fn(&'static Team<'static>, bool) -> F,
) {
    for (at, placement) in PLACEMENTS.into_iter().enumerate() {
        let Some(nodes) = Nodes::of(&Members::All(ranks as u32), placement) else {
            continue;
        };
        let nodes = keep(nodes);
        run(seed + at as u64, ranks, |team| {
            // The body's team lives as long as the schedule.
            let team = keep(Team::over(*team.coll(), Some(nodes)));
            let body = body(team, nodes.are_in_order());
            async move {
                body.await;
                assert!(!team.has_failed());
            }
        });
    }
}

#[test]
fn nobody_leaves_before_all_are_in() {
    use crate::sync::{AtomicUsize, Ordering};
    for ranks in rank_counts() {
        for placement in PLACEMENTS {
            let Some(nodes) = Nodes::of(&Members::All(ranks as u32), placement) else {
                continue;
            };
            let nodes = keep(nodes);
            let entered = keep(AtomicUsize::new(0));
            let seen = run(ranks as u64, ranks, |team| async move {
                let team = Team::over(*team.coll(), Some(nodes));
                entered.fetch_add(1, Ordering::Relaxed);
                hierarchy::barrier(&team, run_part).await;
                entered.load(Ordering::Relaxed)
            });
            assert_eq!(seen, vec![ranks; ranks]);
        }
    }
}

#[test]
fn broadcasts() {
    for (ranks, root, seed) in cases() {
        for bytes in [1, 1023, 20_000] {
            on_nodes(ranks, seed, |team, _| async move {
                let mut data = match team.rank() == root {
                    true => pattern(root, 0, bytes),
                    false => scratch(bytes),
                };
                hierarchy::bcast(team, Buffer::of_copy(&mut data), root, run_part).await;
                assert_eq!(data, pattern(root, 0, bytes), "{ranks} from {root}");
            });
        }
    }
}

#[test]
fn gathers_and_scatters() {
    for (ranks, root, seed) in cases() {
        for (each, in_place) in [(13, false), (13, true), (0, false)] {
            on_nodes(ranks, seed, |team, _| async move {
                let rank = team.rank();
                let all: Box<[u8]> = (0..ranks).flat_map(|r| pattern(r, 1, each)).collect();
                let mut own = pattern(rank, 1, each);
                let mut memory = scratch(all.len());
                let parts = Parts::in_memory(&mut memory, each);
                let parts = (rank == root).then_some(&parts);
                let own_in_place = in_place && rank == root;
                if let (true, Some(parts)) = (own_in_place, parts) {
                    parts.of(root).write(0, &own);
                }
                let out = (!own_in_place).then(|| Buffer::of_copy(&mut own));
                hierarchy::gather(team, out, parts, root, run_part).await;
                if rank == root {
                    assert_eq!(memory, all, "{ranks} to {root}");
                }
                let mut into = scratch(each);
                let target = (!own_in_place).then(|| Buffer::of_copy(&mut into));
                hierarchy::scatter(team, parts, target, root, run_part).await;
                assert!(own_in_place || into == pattern(rank, 1, each));
            });
        }
    }
}

#[test]
fn allgathers() {
    for (ranks, root, seed) in cases() {
        for equal in [true, false] {
            let size_of = move |rank| if equal { 13 + root } else { uneven(rank, 30) };
            on_nodes(ranks, seed, |team, _| async move {
                let (rank, sizes) = (team.rank(), (0..ranks).map(size_of).collect::<Vec<_>>());
                let all: Box<[u8]> = (0..ranks).flat_map(|r| pattern(r, 2, sizes[r])).collect();
                let mut memory = scratch(all.len());
                let parts = parts_of(&mut memory, &sizes);
                parts.of(rank).write(0, &pattern(rank, 2, sizes[rank]));
                hierarchy::allgather(team, &parts, run_part).await;
                assert_eq!(memory, all, "{ranks}");
            });
        }
    }
}

#[test]
fn alltoalls() {
    for ranks in rank_counts() {
        on_nodes(ranks, ranks as u64, |team, _| async move {
            let (rank, each) = (team.rank(), 9);
            let mut data: Box<[u8]> = (0..ranks).flat_map(|to| pattern(rank, to, each)).collect();
            let all: Box<[u8]> = (0..ranks)
                .flat_map(|from| pattern(from, rank, each))
                .collect();
            let mut memory = scratch(all.len());
            let out = Parts::in_memory(&mut data, each);
            hierarchy::alltoall(team, &out, &Parts::in_memory(&mut memory, each), run_part).await;
            assert_eq!(memory, all, "{ranks}");
        });
    }
}

#[test]
fn reductions() {
    for (ranks, root, seed) in cases() {
        let bytes = VECTORS[root % 4];
        for (how, in_place) in [
            (&COMPOSE, true),
            (&COMPOSE, false),
            (&ADD, true),
            (&ADD, false),
        ] {
            on_nodes(ranks, seed, |team, in_order| async move {
                if !in_order && !how.commutes {
                    return;
                }
                let expected = reduced(how, 0..ranks, bytes);
                let is_root = team.rank() == root;
                let mut vectors = Vectors::of(team.rank(), bytes, in_place && is_root);
                let own = &vectors.own();
                let into = &if is_root {
                    vectors.target()
                } else {
                    Buffer::empty()
                };
                hierarchy::reduce(team, (own, into, how), root, run_part).await;
                assert!(!is_root || vectors.end() == expected, "{ranks} to {root}");
                let mut vectors = Vectors::of(team.rank(), bytes, in_place);
                let (own, into) = (&vectors.own(), &vectors.target());
                hierarchy::allreduce(team, (own, into, how), run_part).await;
                assert_eq!(vectors.end(), expected, "{ranks}");
            });
        }
    }
}

/// As many leaders as the smallest node has ranks, or fewer; also where a part has no element.
#[test]
fn reductions_with_several_leaders() {
    for ranks in rank_counts() {
        let bytes = VECTORS[ranks % 4];
        for (how, in_place) in [
            (&COMPOSE, true),
            (&COMPOSE, false),
            (&ADD, true),
            (&ADD, false),
        ] {
            on_nodes(ranks, ranks as u64, |team, in_order| async move {
                if !in_order && !how.commutes {
                    return;
                }
                let levels = hierarchy::Levels::of(team).unwrap();
                for leaders in 1..=levels.least() {
                    let mut vectors = Vectors::of(team.rank(), bytes, in_place);
                    let (own, into) = (&vectors.own(), &vectors.target());
                    hierarchy::allreduce_in_parts(&levels, (own, into, how), (leaders, run_part))
                        .await;
                    let expected = reduced(how, 0..ranks, bytes);
                    assert_eq!(vectors.end(), expected, "{leaders} on {ranks}");
                }
            });
        }
    }
}

#[test]
fn reductions_that_are_scattered() {
    for ranks in rank_counts() {
        for (equal, how) in [(true, &COMPOSE), (false, &COMPOSE), (false, &ADD)] {
            for target in TARGETS {
                on_nodes(ranks, ranks as u64, |team, in_order| async move {
                    if !in_order && !how.commutes {
                        return;
                    }
                    let blocks = blocks_of(ranks, equal);
                    let (rank, bytes) = (team.rank(), blocks[ranks]);
                    let mut vectors = Vectors::of(rank, bytes, target != "beside");
                    let into = &target_of(&mut vectors, &blocks, target);
                    let own = &vectors.own();
                    hierarchy::reduce_scatter(team, (own, into, how), &blocks, run_part).await;
                    let mut result = scratch(into.len());
                    into.read(0, &mut result);
                    let all = reduced(how, 0..ranks, bytes);
                    assert_eq!(result[..], all[blocks[rank]..blocks[rank + 1]], "{ranks}");
                    vectors.end();
                });
            }
        }
    }
}

#[test]
fn scans() {
    for ranks in rank_counts() {
        let forms = [(true, true), (true, false), (false, true), (false, false)];
        for (bytes, (exclusive, in_place)) in
            VECTORS.into_iter().flat_map(|b| forms.map(|f| (b, f)))
        {
            on_nodes(ranks, ranks as u64, |team, in_order| async move {
                if !in_order {
                    return;
                }
                let mut vectors = Vectors::of(team.rank(), bytes, in_place);
                let (own, into) = (&vectors.own(), &vectors.target());
                hierarchy::scan(team, (own, into, &COMPOSE), exclusive, run_part).await;
                let result = vectors.end();
                if let Some(expected) = scanned(team.rank(), bytes, exclusive) {
                    assert_eq!(result, expected, "{ranks}, {exclusive}, {in_place}");
                }
            });
        }
    }
}

/// What is chosen without settings is for several nodes, and right for calls as they come.
#[test]
fn what_is_chosen_works() {
    let (int, sum) = (crate::datatype::get(crate::datatype::INT), crate::op::SUM);
    let with = &Operands {
        op: crate::op::get(sum).unwrap(),
        datatype: int.unwrap(),
    };
    for ranks in [2, 8, 17] {
        for bytes in [4, 12_000, 70_000] {
            on_nodes(ranks, bytes as u64, |team, _| everything(team, bytes, with));
        }
    }
}
