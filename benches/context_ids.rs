//! The fragmentation benchmark of paper 002 on simulated ranks, every strategy and store: `cargo bench --features papers --bench context_ids`.
//!
//! Ranks are plain values in one process and run the library's own steps, so rounds, bytes and density are exact and depend on
//! no machine; only the lookup times do. LARGE: each split leaves out a random few ranks; SMALL: each makes a small
//! communicator; from a random communicator that is large enough. All ranks of the parent take part, and who is not in
//! the new one gives its id back, as MPI_Comm_split with MPI_UNDEFINED does. A third case frees as many as it makes.
//! Prints one JSON value a line; `benches/context_ids.py` makes the tables and plots.

use oxmpi::context_id::agreement::lease::Lease;
use oxmpi::context_id::agreement::{ALL, Allocation, Settings, Step, Strategy};
use oxmpi::context_id::offer::combine;
use oxmpi::context_id::space::{Key, Space, in_order};
use oxmpi::context_id::store::{self, Store};
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

/// A small generator with the same sequence for every strategy.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    /// `count` of these, in their order.
    fn choose(&mut self, from: &[usize], count: usize) -> Vec<usize> {
        let mut left = from.to_vec();
        while left.len() > count {
            left.remove(self.below(left.len()));
        }
        left
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Case {
    Large,
    Small,
    /// As small, and for each communicator beyond 100 another one is freed.
    Churn,
}

struct Rank {
    space: Space,
    /// By parent's number: contexts of the parents are the same on all members.
    leases: HashMap<u32, Lease>,
    store: Vec<Store<u32>>,
}

struct Communicator {
    context: u32,
    members: Vec<usize>,
    /// How it is told from others with the same context elsewhere.
    number: usize,
}

/// What the allocations cost.
#[derive(Default)]
struct Cost {
    /// Reductions of each allocation.
    reductions: Vec<u32>,
    /// Bytes that one rank offers, all allocations together.
    bytes: u64,
    /// How many allocations took place entirely above the 16-bit space.
    extended: u64,
}

fn allocate(
    ranks: &mut [Rank],
    parent: &Communicator,
    settings: &Settings,
    sequence: u32,
    cost: &mut Cost,
) -> u32 {
    let mut allocations: Vec<Allocation> = Vec::new();
    for member in &parent.members {
        let lease = ranks[*member].leases.entry(parent.context).or_default();
        let number = lease.begin();
        let key = Key {
            context: parent.context,
            tag: -1,
            sequence,
        };
        allocations.push(Allocation::new(settings, key, number));
    }
    let mut reductions = 0;
    loop {
        let mut combined: Option<Vec<u32>> = None;
        let mut done = None;
        for (member, allocation) in parent.members.iter().zip(&mut allocations) {
            let rank = &mut ranks[*member];
            let lease = rank.leases.entry(parent.context).or_default();
            match allocation.step(&mut rank.space, lease) {
                Step::Done(taken) => {
                    let prefix = taken.prefix;
                    assert!(done.is_none_or(|other| other == prefix), "agreement");
                    assert!(!rank.space.is_free(prefix));
                    done = Some(prefix);
                }
                Step::Offer(words) => match &mut combined {
                    None => combined = Some(words),
                    Some(combined) => combine(combined, &words),
                },
                step => panic!("one allocation at a time, and {step:?}"),
            }
        }
        if let Some(prefix) = done {
            cost.reductions.push(reductions);
            cost.extended += u64::from(prefix >> 14 != 0);
            return prefix;
        }
        let Some(combined) = combined else {
            unreachable!("offers or ids")
        };
        reductions += 1;
        cost.bytes += 4 * combined.len() as u64;
        for (member, allocation) in parent.members.iter().zip(&mut allocations) {
            let rank = &mut ranks[*member];
            let lease = rank.leases.entry(parent.context).or_default();
            allocation.settle(&mut rank.space, lease, &combined);
        }
    }
}

fn release(rank: &mut Rank, prefix: u32) {
    if let Some(mut lease) = rank.leases.remove(&(prefix << 2)) {
        for leased in lease.drain() {
            rank.space.free(leased);
        }
    }
    rank.space.free(prefix);
}

struct Run {
    name: String,
    settings: Settings,
}

fn run(case: Case, size: usize, splits: usize, choice: &Run) {
    let mut random = Random(42);
    let mut ranks: Vec<Rank> = (0..size)
        .map(|_| Rank {
            space: Space::of_process(),
            leases: HashMap::new(),
            store: store::ALL.map(Store::new).into(),
        })
        .collect();
    let mut live = vec![Communicator {
        context: 0,
        members: (0..size).collect(),
        number: 0,
    }];
    let mut cost = Cost::default();
    let began = Instant::now();
    for number in 1..=splits {
        // The paper's numbers on 128 ranks: 0 to 8 leave, or 8 to 16 stay.
        let wanted = match case {
            Case::Large => size - random.below(if size >= 128 { 9 } else { size / 4 + 1 }),
            _ if size >= 128 => 8 + random.below(9),
            _ => 2 + random.below(size / 4 - 1),
        };
        let fitting: Vec<usize> = (0..live.len())
            .filter(|at| live[*at].members.len() >= wanted)
            .collect();
        let parent = &live[fitting[random.below(fitting.len())]];
        let members = random.choose(&parent.members, wanted);
        let prefix = allocate(
            &mut ranks,
            parent,
            &choice.settings,
            number as u32,
            &mut cost,
        );
        for member in &parent.members {
            if members.binary_search(member).is_err() {
                ranks[*member].space.free(prefix);
            } else {
                for store in &mut ranks[*member].store {
                    store.insert(in_order(prefix), number as u32);
                }
            }
        }
        live.push(Communicator {
            context: prefix << 2,
            members,
            number,
        });
        if case == Case::Churn && live.len() > 100 {
            let gone = live.swap_remove(1 + random.below(live.len() - 1));
            for member in &gone.members {
                let rank = &mut ranks[*member];
                release(rank, gone.context >> 2);
                for store in &mut rank.store {
                    assert_eq!(
                        store.remove(in_order(gone.context >> 2)),
                        Some(gone.number as u32)
                    );
                }
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    print_run(case, size, choice, &ranks, &cost, seconds);
}

fn name_of(case: Case) -> &'static str {
    match case {
        Case::Large => "large",
        Case::Small => "small",
        Case::Churn => "churn",
    }
}

fn print_run(case: Case, size: usize, choice: &Run, ranks: &[Rank], cost: &Cost, seconds: f64) {
    let count = cost.reductions.len() as f64;
    let total: u32 = cost.reductions.iter().sum();
    let mut histogram = [0u32; 16];
    for reductions in &cost.reductions {
        histogram[(*reductions as usize).min(15)] += 1;
    }
    let density: Vec<String> = (0..store::ALL.len())
        .map(|at| {
            let stores = ranks.iter().map(|rank| &rank.store[at]);
            let each: Vec<f64> = stores
                .filter(|store| store.cells() > 0)
                .map(|store| store.values().count() as f64 / store.cells() as f64)
                .collect();
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            format!("\"{}\": {mean:.4}", store::ALL[at])
        })
        .collect();
    let taken: usize = ranks.iter().map(|rank| rank.space.taken()).sum();
    println!(
        "{{\"what\": \"fragmentation\", \"case\": \"{}\", \"ranks\": {size}, \"splits\": {count}, \"strategy\": \"{}\", \
         \"reductions\": {:.4}, \"most\": {}, \"bytes\": {:.1}, \"histogram\": {histogram:?}, \"extended\": {}, \
         \"taken\": {:.1}, \"density\": {{{}}}, \"seconds\": {seconds:.3}}}",
        name_of(case),
        choice.name,
        f64::from(total) / count,
        cost.reductions.iter().max().copied().unwrap_or(0),
        cost.bytes as f64 / count,
        cost.extended,
        taken as f64 / ranks.len() as f64,
        density.join(", "),
    );
}

/// Nanoseconds of a lookup among so many communicators, dense or one of sixteen ids.
fn lookups(kind: store::Kind, live: u32, sparse: bool) {
    let step = if sparse { 16 } else { 1 };
    let mut store = Store::new(kind);
    let mut keys: Vec<u32> = (0..live).map(|number| number * step).collect();
    for key in &keys {
        store.insert(*key, 0);
    }
    let mut random = Random(7);
    for at in (1..keys.len()).rev() {
        keys.swap(at, random.below(at + 1));
    }
    keys.truncate(4096);
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let began = Instant::now();
        // The values are zero; each lookup depends on the one before, as the next message on the last.
        let mut last = black_box(0);
        for key in &keys {
            last = store.get(*key ^ last).copied().unwrap_or(0);
        }
        black_box(last);
        best = best.min(began.elapsed().as_nanos() as f64 / keys.len() as f64);
    }
    println!(
        "{{\"what\": \"lookup\", \"store\": \"{kind}\", \"live\": {live}, \"sparse\": {sparse}, \"nanoseconds\": {best:.2}, \
         \"density\": {:.4}}}",
        f64::from(live) / store.cells() as f64
    );
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let settings = |strategy, eager_words, printed| Settings {
        strategy,
        eager_words,
        printed,
        alone: printed,
        seeds: false,
    };
    let mut runs: Vec<Run> = ALL
        .iter()
        .map(|strategy| Run {
            name: strategy.to_string(),
            settings: settings(*strategy, 32, false),
        })
        .collect();
    for (name, strategy) in [
        ("mask, printed", Strategy::Mask),
        ("candidate, printed", Strategy::Candidate),
        ("highest, printed", Strategy::Highest),
    ] {
        runs.push(Run {
            name: name.to_owned(),
            settings: settings(strategy, 0, true),
        });
    }
    runs.push(Run {
        name: "eager, 2 words".to_owned(),
        settings: settings(Strategy::Eager, 2, false),
    });
    let sizes: &[(usize, usize)] = if quick {
        &[(16, 200)]
    } else {
        &[(8, 1000), (16, 1000), (128, 2000)]
    };
    for (size, splits) in sizes {
        for case in [Case::Large, Case::Small, Case::Churn] {
            if case == Case::Churn && *size < 16 {
                continue;
            }
            for choice in &runs {
                run(case, *size, *splits, choice);
            }
        }
    }
    for kind in store::ALL {
        for live in if quick {
            vec![100]
        } else {
            vec![10, 1000, 16_000, 200_000]
        } {
            lookups(kind, live, false);
            lookups(kind, live, true);
        }
    }
}
