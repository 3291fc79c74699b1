//! Windows over several hosts on simulated ranks: random programs of operations and locks, run by the product's code from MPI_Win_lock down,
//! over engines of the tests. A seed decides what the programs do, who has a turn, how much room there is for messages, and whether a rank
//! ends without a word, at any wait.
//!
//! Two threads for each rank, its program and the thread of windows. Not here: the barrier of MPI_Win_fence, post and start, requests of
//! MPI_Rput and its like, dynamic windows, memory that is private to its rank, and the fabric's own RMA.

mod judge;
mod program;
mod sides;
mod world;

use super::flights::Until;
use super::service::Service;
use crate::engine::enter_at;
use crate::engine::tests::data::Dice;
use crate::engine::tests::job::{Shape, Ways};
use crate::engine::tests::processes::{self, Left};
use crate::sync::keep::keep;
use judge::{Judge, Reached};
use parking_lot::Mutex;
use program::{AREAS, Program};
use world::World;

/// What the plays together must reach.
const REACHED: [&str; 7] = [
    "a lock is refused",
    "a target is lost",
    "a swap succeeds",
    "a swap finds another value",
    "not all locks are to be had",
    "a rank ends",
    "all ranks live",
];

/// What a thread of a rank says in the end.
enum Said {
    /// The program: its areas by target.
    Areas(Vec<Option<Vec<u64>>>),
    /// The thread of windows: the ranks that have locks, calls that are not done, and requests.
    Left(Vec<usize>, usize, Left),
}

/// The thread of windows, until nothing moves any more.
fn serve(world: &World, me: usize, mut dice: Dice) -> Said {
    // Others may still write to what it takes in when this one has ended.
    let service = keep(Mutex::new(Service::of(world.found[me])));
    let mut service = service.lock();
    let mut asks = false;
    loop {
        if service.look(asks) {
            asks = dice.one_in(4);
            processes::moved();
        } else if !asks {
            asks = true;
        } else {
            asks = false;
            if !processes::rest() {
                break;
            }
        }
    }
    let window = world.windows[me];
    for target in 0..window.size() {
        let queue = window.hosts.as_ref().and_then(|hosts| hosts.queue(target));
        if let Some(queue) = queue {
            let settled = queue.reap(&mut enter_at(0), false, Until::Settled);
            assert!(
                matches!(settled, Some(Ok(()))),
                "calls to {target} are left"
            );
        }
    }
    let (claims, arrivals) = service.left();
    Said::Left(claims, arrivals, processes::left())
}

fn play(seed: u64, reached: &mut Reached) {
    let mut dice = Dice(seed);
    let ranks = dice.one_of(&[2, 3, 3, 4]);
    let shape = Shape {
        processes: ranks,
        ways: match ranks {
            2 => Ways::Loopback,
            _ => dice.one_of(&[Ways::Loopback, Ways::Both]),
        },
        memory: dice.one_of(&[64 << 10, 8 << 20]),
        room: dice.one_of(&[1, 2, 8, 100]),
        bulk: dice.one_in(2),
        straight: dice.one_of(&[20_000, 65_536, usize::MAX]),
    };
    // The largest takes two calls.
    let area = match dice.one_in(8) {
        true => 40_000,
        false => dice.one_of(&[16, 64, 200]),
    };
    let ends = dice.one_in(3).then(|| {
        let at = dice.one_of(&[30, 200, 1000]);
        (dice.below(ranks), 1 + dice.below(at) as u32)
    });
    let ends_at = |me: usize| ends.filter(|(who, _)| *who == me).map(|(_, at)| at);
    let words = AREAS + ranks * area;
    let world = World::new(ranks, shape.ways, words, dice.one_in(2));
    let judge = Mutex::new(Judge::default());
    let ran = processes::run(seed, &shape, ends_at, |me, thread| {
        let dice = Dice(seed ^ (me as u64 + 1) << 40 ^ (thread as u64) << 50);
        match thread {
            0 => Said::Areas(Program::new(world.windows[me], dice, area, &judge).run()),
            _ => serve(&world, me, dice),
        }
    });
    let said = match ran {
        Ok(said) => said,
        Err(text) => panic!("seed {seed}, {shape:?}, {ends:?}: {text}"),
    };
    let is_there: Vec<bool> = said.iter().map(|[_, left]| left.is_some()).collect();
    let all = is_there.iter().all(|there| *there);
    let mut judge = judge.into_inner();
    judge.note(if all { "all ranks live" } else { "a rank ends" });
    for (me, threads) in said.iter().enumerate() {
        let [
            Some(Said::Areas(areas)),
            Some(Said::Left(claims, arrivals, left)),
        ] = threads
        else {
            continue;
        };
        for (target, area_there) in areas.iter().enumerate().filter(|it| is_there[it.0]) {
            let there = &world.words_of(target)[AREAS + me * area..][..area];
            assert_eq!(
                area_there.as_deref(),
                Some(there),
                "seed {seed}: {me} at {target}"
            );
        }
        let living = claims.iter().find(|rank| is_there[**rank]);
        assert_eq!(living, None, "seed {seed}: who has a lock of {me}");
        assert_eq!(*arrivals, 0, "seed {seed}: {me}");
        let nothing = Left {
            requests: 0,
            posted: 0,
            unexpected: 0,
        };
        assert_eq!(*left, nothing, "seed {seed}: {me}");
        let [counter, swapped, first, second, ..] = *world.words_of(me) else {
            continue;
        };
        judge.check_counter(me, counter, all);
        judge.check_swaps(me, swapped, all);
        let [done, begun] =
            [&judge.pairs_done, &judge.pairs_begun].map(|it| it.get(&me).copied().unwrap_or(0));
        assert!((done..=begun).contains(&first) && (done..=begun).contains(&second));
        if all {
            assert_eq!((first, second), (done, done), "seed {seed}: {me}");
            assert!(world.is_unlocked(me), "seed {seed}: {me}");
        }
    }
    for (what, count) in judge.reached {
        *reached.entry(what).or_default() += count;
    }
}

fn plays(seeds: std::ops::Range<u64>) -> Reached {
    let mut reached = Reached::default();
    seeds.for_each(|seed| play(seed, &mut reached));
    println!("{reached:#?}");
    reached
}

#[test]
fn operations_over_hosts_give_what_one_after_the_other_would() {
    let reached = plays(0..100);
    for what in REACHED {
        assert!(reached.contains_key(what), "no play has reached: {what}");
    }
}

#[test]
#[ignore = "minutes"]
fn operations_over_hosts_in_many_plays() {
    plays(1000..6000);
}
