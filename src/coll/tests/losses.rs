//! A rank dies at a point that a seed decides, in one of several operations in a row, by any algorithm, also of several nodes. Each of the others
//! comes to an end, and what returns without an error has brought the right data.

use super::hierarchies::PLACEMENTS;
use super::reductions::{ADD, COMPOSE, Vectors, blocks_of, reduced, scanned};
use super::*;
use crate::coll::context::CollContext;
use crate::coll::dispatch::run_part;
use crate::coll::simulation::losses::run_losing;
use crate::comm::{Members, NOBODY, Nodes};
use crate::engine::losses;
use crate::error::{Class, Error, Result};
use crate::sync::{AtomicUsize, Ordering};

/// The number of algorithms in [`operate`].
const ALGORITHMS: usize = 41;
/// Operations in a row.
const OPERATIONS: usize = 4;

/// One operation, drawn alike on all ranks.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    algorithm: usize,
    root: usize,
    bytes: usize,
    seed: usize,
}

/// Numbers from a seed.
fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    }
}

/// Runs it, and looks at the data if there was no error. `entered`: how many ranks have begun it.
async fn operate(team: Team<'static>, drawn: Drawn, entered: &AtomicUsize) -> Result<()> {
    let Drawn {
        algorithm,
        root,
        bytes,
        seed,
    } = drawn;
    let (rank, ranks) = (team.rank(), team.size());
    let in_order = team.nodes().is_none_or(Nodes::are_in_order);
    let has_nodes = team.nodes().is_some();
    entered.fetch_add(1, Ordering::Relaxed);
    match algorithm {
        0..5 => {
            let mut data = match rank == root {
                true => pattern(root, seed, bytes),
                false => scratch(bytes),
            };
            let buffer = Buffer::of_copy(&mut data);
            match algorithm {
                0 => bcast::binomial(&team, buffer, root).await,
                1 => bcast::linear(&team, buffer, root).await,
                2 => bcast::scatter_allgather(&team, buffer, root).await,
                3 => bcast::chain(&team, buffer, root, 20).await,
                _ if has_nodes => hierarchy::bcast(&team, buffer, root, run_part).await,
                _ => return Ok(()),
            }
            team.result()?;
            assert_eq!(data, pattern(root, seed, bytes), "{drawn:?}");
        }
        5..8 => {
            match algorithm {
                5 => barrier::dissemination(&team).await,
                6 => barrier::central(&team).await,
                _ if has_nodes => hierarchy::barrier(&team, run_part).await,
                _ => return Ok(()),
            }
            team.result()?;
            assert_eq!(entered.load(Ordering::Relaxed), ranks, "{drawn:?}");
        }
        8..11 => {
            let all: Box<[u8]> = (0..ranks).flat_map(|r| pattern(r, seed, bytes)).collect();
            let mut own = pattern(rank, seed, bytes);
            let mut memory = scratch(all.len());
            let parts = Parts::in_memory(&mut memory, bytes);
            let parts = (rank == root).then_some(&parts);
            let out = Some(Buffer::of_copy(&mut own));
            match algorithm {
                8 => gather::linear(&team, out, parts, root).await,
                9 => gather::binomial(&team, out, parts, root).await,
                _ if has_nodes => hierarchy::gather(&team, out, parts, root, run_part).await,
                _ => return Ok(()),
            }
            team.result()?;
            assert!(rank != root || memory == all, "{drawn:?}");
        }
        11..14 => {
            let mut all: Box<[u8]> = (0..ranks).flat_map(|r| pattern(r, seed, bytes)).collect();
            let parts = Parts::in_memory(&mut all, bytes);
            let parts = (rank == root).then_some(&parts);
            let mut into = scratch(bytes);
            let target = Some(Buffer::of_copy(&mut into));
            match algorithm {
                11 => scatter::linear(&team, parts, target, root).await,
                12 => scatter::binomial(&team, parts, target, root).await,
                _ if has_nodes => hierarchy::scatter(&team, parts, target, root, run_part).await,
                _ => return Ok(()),
            }
            team.result()?;
            assert_eq!(into, pattern(rank, seed, bytes), "{drawn:?}");
        }
        14..20 => {
            let all: Box<[u8]> = (0..ranks).flat_map(|r| pattern(r, seed, bytes)).collect();
            let mut memory = scratch(all.len());
            let parts = Parts::in_memory(&mut memory, bytes);
            parts.of(rank).write(0, &pattern(rank, seed, bytes));
            match algorithm {
                14 => ring::allgather(&team, &parts).await,
                15 => allgather::bruck(&team, &parts).await,
                16 => allgather::linear(&team, &parts).await,
                17 => allgather::gather_broadcast(&team, &parts).await,
                18 if ranks.is_power_of_two() => allgather::recursive_doubling(&team, &parts).await,
                19 if has_nodes => hierarchy::allgather(&team, &parts, run_part).await,
                _ => return Ok(()),
            }
            team.result()?;
            assert_eq!(memory, all, "{drawn:?}");
        }
        20..24 => {
            let row = |to| pattern(rank, to + seed, bytes);
            let column = |from| pattern(from, rank + seed, bytes);
            let mut data: Box<[u8]> = (0..ranks).flat_map(row).collect();
            let all: Box<[u8]> = (0..ranks).flat_map(column).collect();
            let mut memory = scratch(all.len());
            let (out, into) = (
                Parts::in_memory(&mut data, bytes),
                Parts::in_memory(&mut memory, bytes),
            );
            match algorithm {
                20 => alltoall::linear(&team, &out, &into).await,
                21 => alltoall::pairwise(&team, &out, &into).await,
                22 => alltoall::bruck(&team, &out, &into).await,
                _ if has_nodes => hierarchy::alltoall(&team, &out, &into, run_part).await,
                _ => return Ok(()),
            }
            team.result()?;
            assert_eq!(memory, all, "{drawn:?}");
        }
        24..36 => return reduce_by(team, drawn, in_order).await,
        36..39 => {
            let how = if seed % 2 == 0 { &ADD } else { &COMPOSE };
            let blocks = blocks_of(ranks, seed % 3 == 0);
            let mut vectors = Vectors::of(rank, blocks[ranks], false);
            let length = blocks[rank + 1] - blocks[rank];
            let (own, into) = (&vectors.own(), &vectors.target().slice(0, length));
            match algorithm {
                36 => reduce_scatter::linear(&team, (own, into, how), &blocks).await,
                37 => reduce_scatter::reduce_then_scatter(&team, (own, into, how), &blocks).await,
                _ if has_nodes && (in_order || how.commutes) => {
                    hierarchy::reduce_scatter(&team, (own, into, how), &blocks, run_part).await;
                }
                _ if how.commutes => ring::reduce_scatter(&team, (own, into, how), &blocks).await,
                _ => return Ok(()),
            }
            team.result()?;
            let all = reduced(how, 0..ranks, blocks[ranks]);
            assert_eq!(
                vectors.end()[..length],
                all[blocks[rank]..blocks[rank + 1]],
                "{drawn:?}"
            );
        }
        _ => {
            let (exclusive, bytes) = (seed % 2 == 0, bytes.next_multiple_of(8));
            let mut vectors = Vectors::of(rank, bytes, false);
            let (own, into) = (&vectors.own(), &vectors.target());
            match algorithm {
                39 => scan::linear(&team, (own, into, &COMPOSE), exclusive).await,
                _ if has_nodes && in_order => {
                    hierarchy::scan(&team, (own, into, &COMPOSE), exclusive, run_part).await;
                }
                _ => scan::doubling(&team, (own, into, &COMPOSE), exclusive).await,
            }
            team.result()?;
            if let Some(expected) = scanned(rank, bytes, exclusive) {
                assert_eq!(vectors.end(), expected, "{drawn:?}");
            }
        }
    }
    Ok(())
}

async fn reduce_by(team: Team<'static>, drawn: Drawn, in_order: bool) -> Result<()> {
    let Drawn {
        algorithm,
        root,
        bytes,
        seed,
    } = drawn;
    let (rank, ranks, bytes) = (team.rank(), team.size(), bytes.next_multiple_of(8));
    let how = if seed % 2 == 0 { &ADD } else { &COMPOSE };
    let by_nodes = team.nodes().is_some() && (in_order || how.commutes);
    let mut vectors = Vectors::of(rank, bytes, false);
    let own = &vectors.own();
    let is_for_all = algorithm >= 30;
    let gets = is_for_all || rank == root;
    let into = &if gets {
        vectors.target()
    } else {
        Buffer::empty()
    };
    match algorithm {
        24 => reduce::binomial(&team, (own, into, how), root, !how.commutes).await,
        25 => reduce::binomial(&team, (own, into, how), root, true).await,
        26 => reduce::linear(&team, (own, into, how), root).await,
        27 => reduce::chain(&team, (own, into, how), root, !how.commutes, 24).await,
        28 if how.commutes => reduce::scatter_gather(&team, (own, into, how), root).await,
        29 if by_nodes => hierarchy::reduce(&team, (own, into, how), root, run_part).await,
        30 => allreduce::recursive_doubling(&team, (own, into, how)).await,
        31 => allreduce::halving_doubling(&team, (own, into, how)).await,
        32 => allreduce::tree(&team, (own, into, how)).await,
        33 => allreduce::linear(&team, (own, into, how)).await,
        34 if how.commutes => allreduce::ring(&team, (own, into, how)).await,
        35 if by_nodes => hierarchy::allreduce(&team, (own, into, how), run_part).await,
        _ => return Ok(()),
    }
    team.result()?;
    assert!(
        !gets || vectors.end() == reduced(how, 0..ranks, bytes),
        "{drawn:?}"
    );
    Ok(())
}

/// What a failure says of the seed.
struct Told(String);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

/// The number that others have of it may mean somebody else here.
#[test]
fn a_lost_process_of_another_job_is_a_loss() {
    run(1, 2, |team| async move {
        let lost = Error::new(
            Class::Other,
            "a process of another job has ended".to_owned(),
        );
        team.note(Err(lost.of_loss(losses::SOMEBODY)));
        assert!(team.has_lost());
        assert_eq!(losses::failed(losses::SOMEBODY).process, losses::SOMEBODY);
        assert_eq!(team.result().unwrap_err().lost(), Some(losses::SOMEBODY));
    });
}

#[test]
fn no_rank_waits_for_ever_or_takes_wrong_data() {
    lose_ranks(0..if cfg!(miri) { 20 } else { 2000 });
}

#[test]
#[ignore = "minutes"]
fn no_rank_waits_for_ever_or_takes_wrong_data_in_many_schedules() {
    lose_ranks(2000..22_000);
}

fn lose_ranks(seeds: std::ops::Range<u64>) {
    let (mut errors, mut results) = (0, 0);
    for seed in seeds {
        let mut next = numbers(seed);
        let ranks = 2 + next(9);
        let about = 1 << next(6);
        let victim = (next(ranks), 1 + next(about) as u64);
        let nodes = match next(PLACEMENTS.len() + 2) {
            at if at < PLACEMENTS.len() => Nodes::of(&Members::All(ranks as u32), PLACEMENTS[at]),
            _ => None,
        };
        let nodes = nodes.map(keep);
        let plan: [Drawn; OPERATIONS] = std::array::from_fn(|_| Drawn {
            algorithm: next(ALGORITHMS),
            root: next(ranks),
            bytes: [1, 13, 64, 200][next(4)],
            seed: next(100),
        });
        let entered: &[AtomicUsize; OPERATIONS] = keep(Default::default());
        let _told = Told(format!("seed {seed}: {ranks} ranks, {victim:?}, {plan:?}"));
        let ended = run_losing(seed, ranks, victim, |coll| async move {
            let (mut lost, mut failed) = (NOBODY, 0);
            for (drawn, entered) in plan.into_iter().zip(entered) {
                let team = Team::over(CollContext { lost, ..coll }, nodes);
                if let Err(error) = operate(team, drawn, entered).await {
                    failed += 1;
                    // As the communicator keeps it.
                    lost = error
                        .lost()
                        .unwrap_or_else(|| panic!("{error}, seed {seed}"));
                }
            }
            failed
        });
        for (rank, failed) in ended.iter().enumerate() {
            let failed = failed.unwrap_or_else(|| {
                assert_eq!(rank, victim.0, "seed {seed}");
                0
            });
            errors += failed;
            results += OPERATIONS - failed;
        }
    }
    assert!(errors > 0 && results > 0);
}
