//! A model of processes that wait and of sweeps over them, in orders that a seed gives: no sweep takes a job for stuck that goes on, one that
//! is stuck is found, and each part of the proof is needed.
//!
//! A process runs a script of sends and receives, tasks and computing. Its waits look in steps, one channel at a time, so that messages come
//! between them; sweeps read one process at a time, so that everything happens between two readings. Some messages go over the fabric: they come
//! when it likes, however long that takes, and are counted where they are sent and where they are handled. At any time all are asked to look again.

mod world;

use super::partial::{BOUNDS, Bounds, Partial};
use super::proof::{Proof, RULES, Rules, Seen};
use std::time::Instant;
use world::{Process, Random, Step, World};

const SIZE: usize = 3;

/// A job of few steps, of which about half get stuck.
fn world(seed: u64) -> World {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut all: Vec<Process> = (0..SIZE)
        .map(|_| Process {
            inbox: vec![0; SIZE],
            came: vec![0; SIZE],
            under_way: vec![0; SIZE],
            pairs: std::array::from_fn(|_| vec![0; SIZE]),
            ..Process::default()
        })
        .collect();
    for _ in 0..2 + random.below(5) {
        let (from, to) = (random.below(SIZE), random.below(SIZE));
        if from == to {
            continue;
        }
        match random.below(8) {
            0 => all[from].script.push(Step::Compute(random.below(40))),
            1 => all[from]
                .script
                .push(Step::Timed(1 + random.below(3) as u64)),
            // A receive that nobody sends to.
            2 => all[to].script.push(Step::Receive(from)),
            3 => {
                // By way of a task of a third one, which waits for something else.
                let by = SIZE - from - to;
                all[by].script.push(Step::Task(from, to));
                all[from].script.push(Step::Send(by));
                all[to].script.push(Step::Receive(by));
                if random.below(2) == 0 {
                    all[by].script.push(Step::Receive(to));
                    all[to].script.push(Step::Send(by));
                }
            }
            _ => {
                all[from].script.push(Step::Send(to));
                all[to].script.push(Step::Receive(from));
            }
        }
    }
    // Half of the jobs are on one host.
    let last_of_host = [SIZE, SIZE, 0, 1][random.below(4)];
    World {
        random,
        all,
        begins_quietly: false,
        tasks_are_quiet: false,
        timers_are_quiet: false,
        last_of_host,
        tasks_are_hidden: false,
        stranger: None,
        ended_are_forgotten: false,
        holder: None,
        shown_is_old: false,
        has_threads: false,
        threads_are_hidden: false,
        threads_are_quiet: false,
        clock: 0,
        pause: 0,
        wanted_put_off: false,
    }
}

/// A job some of whose calls do not fit. Comparisons of calls are made seldom, and end waits.
fn world_of_comparisons(seed: u64) -> World {
    let mut world = world(seed);
    world.pause = 20;
    for _ in 0..1 + world.random.below(2) {
        let waits = world.random.below(SIZE);
        let calls = (waits + 1 + world.random.below(SIZE - 1)) % SIZE;
        for (who, step) in [(waits, Step::Compare(calls)), (calls, Step::Call)] {
            let at = world.random.below(world.all[who].script.len() + 1);
            world.all[who].script.insert(at, step);
        }
    }
    world
}

/// A job with windows: locks, of which some are not given back, and posts, of which some do not come.
fn world_of_windows(seed: u64) -> World {
    let mut world = world(seed);
    world.has_threads = true;
    for _ in 0..1 + world.random.below(4) {
        let (me, target) = (world.random.below(SIZE), world.random.below(SIZE));
        let mut place = |of: usize, from: usize| {
            let script = &world.all[of].script;
            from + world.random.below(script.len() + 1 - from)
        };
        let at = place(me, 0);
        let behind = place(me, at);
        let kind = place(target, 0) + at;
        let posted = place(target, 0);
        let script = &mut world.all[me].script;
        match kind % 5 {
            0 => script.insert(at, Step::Lock(target)),
            1 | 2 => {
                script.insert(behind, Step::Unlock(target));
                script.insert(at, Step::Lock(target));
            }
            3 => world.all[target].script.insert(posted, Step::Posted),
            _ => {
                script.insert(at, Step::Post(target));
                world.all[target].script.insert(posted, Step::Posted);
            }
        }
    }
    world
}

/// A job that is connected to one of another mpiexec, of which one process takes part.
fn world_with_stranger(seed: u64) -> World {
    let mut world = world(seed);
    let stranger = world.random.below(SIZE);
    let at = world.random.below(world.all[stranger].script.len() + 1);
    world.all[stranger].script.insert(at, Step::Compute(200));
    world.stranger = Some(stranger);
    world
}

/// A job one of whose processes computes for long, at some time.
fn world_of_parts(seed: u64) -> World {
    let mut world = world(seed);
    let script = &mut world.all[seed as usize % SIZE].script;
    let at = world.random.below(script.len() + 1);
    script.insert(at, Step::Compute(300));
    world
}

/// As [`world_of_parts`], with a lock, which some do not give back.
fn world_of_locks(seed: u64) -> World {
    let mut world = world_of_parts(seed);
    for me in 0..SIZE {
        for _ in 0..world.random.below(3) {
            let length = world.all[me].script.len();
            let at = world.random.below(length + 1);
            let behind = at + world.random.below(length + 1 - at);
            let script = &mut world.all[me].script;
            if world.random.below(8) > 0 {
                script.insert(behind, Step::Give);
            }
            script.insert(at, Step::Take);
        }
    }
    world
}

/// What came of a run.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    /// A job, or a part of it, was said to be stuck, and would have gone on.
    FalseAlarm,
    Stuck,
    Ended,
    /// Neither in so many steps.
    Missed,
}

/// A run with sweeps over the whole job.
fn run(world: World, rules: Rules) -> Came {
    let mut proof = Proof::by(rules);
    run_with(world, |all| proof.sweep(all).then(|| vec![true; all.len()]))
}

/// A run with sweeps for parts of the job.
fn run_parts(world: World, rules: Rules, bounds: Bounds) -> Came {
    let mut partial = Partial::by(rules, bounds);
    let now = Instant::now();
    run_with(world, |all| partial.sweep(all, now).map(<[bool]>::to_vec))
}

fn run_with(mut world: World, mut judge: impl FnMut(&[Seen]) -> Option<Vec<bool>>) -> Came {
    let mut sweep = Vec::new();
    // Some seeds sweep often, some seldom; some processes are slow.
    let pace = 1 + world.random.below(12);
    let slow = world.random.below(SIZE);
    // The fabric is slow, too.
    let slowness = 1 + world.random.below(60);
    let wishes = 10 + world.random.below(200);
    for _ in 0..12_000 {
        if world.random.below(slowness) == 0 {
            world.bring();
        }
        // At any time, whatever sweeps have found: to ask is never wrong.
        if world.random.below(wishes) == 0 {
            world.want_looks();
        }
        let who = world.random.below(SIZE * pace + 1);
        if who == SIZE * pace {
            sweep.push(world.seen(sweep.len()));
            if sweep.len() == SIZE
                && let Some(mut set) = judge(&std::mem::take(&mut sweep))
            {
                if let Some(stranger) = world.stranger {
                    set[stranger] = false;
                }
                return match world.goes_on(&set) {
                    true => Came::FalseAlarm,
                    false => Came::Stuck,
                };
            }
            continue;
        }
        let who = who % SIZE;
        if who != slow || world.random.below(4) == 0 {
            world.step(who);
        }
        if world.all.iter().all(|it| it.at == it.script.len()) {
            return Came::Ended;
        }
    }
    Came::Missed
}

const SEEDS: u64 = 30_000;
/// Of them those that `make check` looks at where none may be wrong.
const FEW: u64 = 5_000;
/// A check is part of a look here.
const ONE_LOOK: Rules = Rules { checks: 0, ..RULES };

/// How often each came.
fn count(seeds: u64, run: impl Fn(u64) -> Came) -> [usize; 4] {
    let mut counts = [0; 4];
    for seed in 1..=seeds {
        counts[run(seed) as usize] += 1;
    }
    counts
}

fn jobs(seeds: u64) {
    // Without the second check, too: it is for what the model leaves out, comparisons of calls that a check may skip.
    let [alarms, ..] = count(seeds, |seed| run(world(seed), ONE_LOOK));
    assert_eq!(alarms, 0);
    let [alarms, stuck, ended, missed] = count(seeds, |seed| run(world(seed), RULES));
    assert_eq!((alarms, missed), (0, 0), "{stuck} stuck, {ended} ended");
    assert!(
        stuck > seeds as usize / 10 && ended > seeds as usize / 10,
        "{stuck} {ended}"
    );
}

#[test]
fn no_job_that_goes_on_is_taken_for_stuck_and_each_that_is_stuck_is_found() {
    jobs(FEW);
}

fn parts(seeds: u64) {
    let [alarms, stuck, ..] = count(seeds, |seed| {
        run_parts(world_of_parts(seed), ONE_LOOK, BOUNDS)
    });
    assert_eq!(alarms, 0, "{stuck} stuck");
    assert!(stuck > seeds as usize / 100, "{stuck}");
}

#[test]
fn no_part_that_goes_on_is_taken_for_stuck_and_many_are_found() {
    parts(FEW);
}

fn progress_threads(seeds: u64) {
    let [alarms, stuck, ended, missed] = count(seeds, |seed| run(world_of_windows(seed), ONE_LOOK));
    assert_eq!((alarms, missed), (0, 0), "{stuck} stuck, {ended} ended");
    assert!(
        stuck > seeds as usize / 10 && ended > seeds as usize / 10,
        "{stuck} {ended}"
    );
}

#[test]
fn no_job_with_progress_threads_that_goes_on_is_taken_for_stuck_and_each_that_is_stuck_is_found() {
    progress_threads(FEW);
}

fn comparisons(seeds: u64) {
    let [alarms, stuck, ended, missed] =
        count(seeds, |seed| run(world_of_comparisons(seed), RULES));
    assert_eq!((alarms, missed), (0, 0), "{stuck} stuck, {ended} ended");
    assert!(
        stuck > seeds as usize / 10 && ended > seeds as usize / 10,
        "{stuck} {ended}"
    );
}

#[test]
fn no_job_whose_calls_differ_is_taken_for_stuck_and_each_that_is_stuck_is_found() {
    comparisons(FEW);
}

#[test]
#[ignore = "minutes"]
fn what_holds_for_few_seeds_holds_for_all() {
    for holds in [jobs, parts, progress_threads, comparisons, strangers, locks] {
        holds(SEEDS);
    }
}

/// Whether a proof over processes whose calls differ is wrong for some seed.
fn is_wrong_of_comparisons(rules: Rules, change: impl Fn(&mut World)) -> bool {
    (1..=SEEDS).any(|seed| {
        let mut world = world_of_comparisons(seed);
        change(&mut world);
        run(world, rules) == Came::FalseAlarm
    })
}

#[test]
fn the_second_check_is_needed_where_comparisons_are_put_off() {
    let rules = Rules { checks: 1, ..RULES };
    assert!(is_wrong_of_comparisons(rules, |_| {}));
}

#[test]
fn looks_that_mpiexec_wants_must_put_nothing_off() {
    assert!(is_wrong_of_comparisons(RULES, |world| world
        .wanted_put_off =
        true));
}

/// Whether a proof over processes with progress threads is wrong for some seed.
fn is_wrong_of_windows(change: impl Fn(&mut World)) -> bool {
    (1..=SEEDS).any(|seed| {
        let mut world = world_of_windows(seed);
        change(&mut world);
        run(world, ONE_LOOK) == Came::FalseAlarm
    })
}

#[test]
fn looks_of_threads_are_needed() {
    assert!(is_wrong_of_windows(|world| world.threads_are_hidden = true));
}

#[test]
fn what_progress_threads_do_must_stir() {
    assert!(is_wrong_of_windows(|world| world.threads_are_quiet = true));
}

fn strangers(seeds: u64) {
    let [alarms, stuck, ..] = count(seeds, |seed| run(world_with_stranger(seed), ONE_LOOK));
    assert_eq!(alarms, 0, "{stuck} stuck");
    assert!(stuck > seeds as usize / 1000, "{stuck}");
    let [alarms, stuck, ..] = count(seeds, |seed| {
        let mut world = world_with_stranger(seed);
        // The stranger is seen by nobody, so it is in no part.
        world.last_of_host = SIZE;
        run_parts(world, ONE_LOOK, BOUNDS)
    });
    assert_eq!(alarms, 0, "{stuck} stuck");
}

#[test]
fn a_job_that_strangers_may_wake_is_not_taken_for_stuck() {
    strangers(FEW);
}

#[test]
fn strangers_must_be_known() {
    let rules = Rules {
        strangers: false,
        ..ONE_LOOK
    };
    let is_wrong = |seed| run(world_with_stranger(seed), rules) == Came::FalseAlarm;
    assert!((1..=SEEDS).any(is_wrong));
}

#[test]
fn what_ended_processes_have_sent_must_count() {
    assert!(is_wrong(ONE_LOOK, |world| world.ended_are_forgotten = true));
}

/// Whether a proof of a part that asks for less is wrong for some seed.
fn is_wrong_of_parts(rules: Rules, bounds: Bounds, change: impl Fn(&mut World)) -> bool {
    (1..=SEEDS).any(|seed| {
        let mut world = world_of_parts(seed);
        change(&mut world);
        run_parts(world, rules, bounds) == Came::FalseAlarm
    })
}

#[test]
fn a_part_must_need_nobody_else() {
    let bounds = Bounds {
        is_closed: false,
        ..BOUNDS
    };
    assert!(is_wrong_of_parts(ONE_LOOK, bounds, |_| {}));
}

#[test]
fn a_part_must_have_no_tasks() {
    assert!(is_wrong_of_parts(ONE_LOOK, BOUNDS, |world| {
        world.tasks_are_hidden = true;
    }));
}

#[test]
fn what_a_part_has_sent_over_the_fabric_must_have_been_handled() {
    let bounds = Bounds {
        is_near: false,
        ..BOUNDS
    };
    assert!(is_wrong_of_parts(ONE_LOOK, bounds, |_| {}));
}

fn locks(seeds: u64) {
    let [alarms, stuck, ..] = count(seeds, |seed| {
        run_parts(world_of_locks(seed), ONE_LOOK, BOUNDS)
    });
    assert_eq!(alarms, 0, "{stuck} stuck");
    assert!(stuck > seeds as usize / 100, "{stuck}");
}

#[test]
fn no_part_that_waits_for_a_lock_is_taken_for_stuck_and_many_are_found() {
    locks(FEW);
}

#[test]
fn holders_of_locks_must_be_shown_anew() {
    let is_wrong = |seed| {
        let mut world = world_of_locks(seed);
        world.shown_is_old = true;
        run_parts(world, ONE_LOOK, BOUNDS) == Came::FalseAlarm
    };
    assert!((1..=SEEDS).any(is_wrong));
}

#[test]
fn looks_are_needed_of_parts_too() {
    let rules = Rules {
        looks: 0,
        checks: 0,
        ..RULES
    };
    assert!(is_wrong_of_parts(rules, BOUNDS, |_| {}));
}

#[test]
fn records_must_all_have_been_handled() {
    let rules = Rules {
        records: false,
        ..RULES
    };
    assert!(is_wrong(rules, |_| {}));
}

/// Whether a proof that asks for less is wrong for some seed.
fn is_wrong(rules: Rules, change: impl Fn(&mut World)) -> bool {
    (1..=SEEDS).any(|seed| {
        let mut world = world(seed);
        change(&mut world);
        run(world, rules) == Came::FalseAlarm
    })
}

#[test]
fn looks_are_needed() {
    let rules = Rules {
        looks: 0,
        checks: 0,
        ..RULES
    };
    assert!(is_wrong(rules, |_| {}));
}

#[test]
fn looks_must_be_whole() {
    let rules = Rules {
        are_whole: false,
        checks: 0,
        ..RULES
    };
    assert!(is_wrong(rules, |_| {}));
}

#[test]
fn looks_must_begin_after_all_were_seen_to_wait() {
    let rules = Rules {
        second: false,
        checks: 1,
        ..RULES
    };
    assert!(is_wrong(rules, |_| {}));
}

#[test]
fn activity_must_be_the_same() {
    let rules = Rules {
        activity: false,
        ..RULES
    };
    assert!(is_wrong(rules, |_| {}));
}

#[test]
fn a_wait_that_begins_must_say_so() {
    // The end of the wait before says so, too; that a wait has begun is lost with the sweep's first reading only.
    let rules = Rules {
        activity: false,
        ..RULES
    };
    assert!(is_wrong(rules, |world| world.begins_quietly = true));
}

#[test]
fn a_task_that_goes_on_must_say_so() {
    assert!(is_wrong(ONE_LOOK, |world| world.tasks_are_quiet = true));
}

#[test]
fn a_timer_that_runs_must_say_so() {
    assert!(is_wrong(ONE_LOOK, |world| world.timers_are_quiet = true));
}
