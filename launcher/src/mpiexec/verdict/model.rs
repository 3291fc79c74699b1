//! A model of processes that wait and of sweeps over them, in orders that a seed gives: no sweep takes a job for stuck that goes on, one that
//! is stuck is found, and each part of the proof is needed.
//!
//! A process runs a script of sends and receives, tasks and computing. Its waits look in steps, one channel at a time, so that messages come
//! between them; sweeps read one process at a time, so that everything happens between two readings. Some messages go over the fabric: they come
//! when it likes, however long that takes, and are counted where they are sent and where they are handled.

use super::partial::{BOUNDS, Bounds, Partial};
use super::proof::{Looks, Passive, Proof, RULES, Records, Rules, Seen};
use std::time::Instant;

/// A generator of numbers (xorshift), the same for each seed everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(usize),
    /// From that process.
    Receive(usize),
    /// So many turns outside of MPI.
    Compute(usize),
    /// A wait that the library ends by itself, so many checks after the first.
    Timed(u64),
    /// Begins a task, which passes a message of the first on to the second in whatever wait comes.
    Task(usize, usize),
}

#[derive(Default)]
struct Process {
    script: Vec<Step>,
    at: usize,
    computes: usize,
    /// Messages by sender.
    inbox: Vec<usize>,
    /// Those that have come over the fabric, and those that are under way.
    came: Vec<usize>,
    under_way: Vec<usize>,
    records: Records,
    tasks: Vec<(usize, usize)>,
    activity: u64,
    /// Whether the wait is published.
    waits: bool,
    looks: u64,
    checks: u64,
    timer: Option<u64>,
    /// In a look: the next place to look at; tasks come first.
    place: Option<usize>,
    found: bool,
    moved: bool,
}

struct World {
    random: Random,
    all: Vec<Process>,
    /// What the library leaves out, for mutations of its side.
    begins_quietly: bool,
    tasks_are_quiet: bool,
    timers_are_quiet: bool,
    /// Processes of one host have these numbers and lower ones, and their messages are there at once. All others go over the fabric.
    last_of_host: usize,
    /// Tasks do not show.
    tasks_are_hidden: bool,
    /// A process of a job that is none of the family: no sweep sees it.
    stranger: Option<usize>,
    /// What a process of a job that has ended had sent and handled is forgotten.
    ended_are_forgotten: bool,
}

impl World {
    fn is_far(&self, one: usize, other: usize) -> bool {
        (one <= self.last_of_host) != (other <= self.last_of_host)
    }

    fn send(&mut self, from: usize, to: usize) {
        if self.is_far(from, to) {
            self.all[from].records.sent += 1;
            self.all[to].under_way[from] += 1;
        } else {
            self.all[to].inbox[from] += 1;
        }
    }

    /// The fabric brings a message, if one is under way.
    fn bring(&mut self) {
        let size = self.all.len();
        let (to, from) = (self.random.below(size), self.random.below(size));
        let it = &mut self.all[to];
        if it.under_way[from] > 0 {
            it.under_way[from] -= 1;
            it.came[from] += 1;
        }
    }

    /// One step of one process.
    fn step(&mut self, me: usize) {
        let size = self.all.len();
        let it = &mut self.all[me];
        let Some(step) = it.script.get(it.at).copied() else {
            // It has said that it takes nothing more, and handles what comes all the same.
            let came: usize = it.came.iter_mut().map(std::mem::take).sum();
            it.records.handled += came as u64;
            return;
        };
        match step {
            Step::Send(to) => {
                it.at += 1;
                self.send(me, to);
            }
            Step::Task(from, to) => {
                it.at += 1;
                it.tasks.push((from, to));
            }
            Step::Compute(turns) => {
                it.computes += 1;
                if it.computes > turns {
                    (it.computes, it.at) = (0, it.at + 1);
                }
            }
            Step::Receive(_) | Step::Timed(_) if !it.waits => {
                it.waits = true;
                it.looks = it.looks.next_multiple_of(2);
                it.checks = it.checks.next_multiple_of(2);
                if !self.begins_quietly {
                    it.activity += 1;
                }
            }
            Step::Receive(_) | Step::Timed(_) => self.look(me, step, size),
        }
    }

    /// A step of a look: begin, a place, or the end.
    fn look(&mut self, me: usize, step: Step, size: usize) {
        let it = &mut self.all[me];
        let Some(place) = it.place else {
            it.looks |= 1;
            it.checks |= 1;
            (it.place, it.found, it.moved) = (Some(0), false, false);
            return;
        };
        if place < size {
            it.place = Some(place + 1);
            // Whatever was brought is handled, which alone is nothing that moves.
            let came = std::mem::take(&mut it.came[place]);
            it.inbox[place] += came;
            it.records.handled += came as u64;
            // Tasks that wait for a message from there, then the wait itself.
            if let Some(at) = it.tasks.iter().position(|(from, _)| *from == place)
                && it.inbox[place] > 0
            {
                it.inbox[place] -= 1;
                let (_, to) = it.tasks.remove(at);
                if !self.tasks_are_quiet {
                    it.activity += 1;
                    it.moved = true;
                }
                self.send(me, to);
                return;
            }
            if let Step::Receive(from) = step
                && from == place
                && it.inbox[place] > 0
            {
                it.inbox[place] -= 1;
                it.found = true;
            }
            return;
        }
        it.place = None;
        if let Step::Timed(checks) = step {
            let since = *it.timer.get_or_insert(it.checks);
            it.found = (it.checks - since) / 2 >= checks;
            if !it.found && !self.timers_are_quiet {
                it.activity += 1;
            }
        }
        if it.found {
            (it.waits, it.timer, it.at) = (false, None, it.at + 1);
            it.activity += 1;
        } else if !it.moved {
            it.looks += 1;
            it.checks += 1;
        }
    }

    fn seen(&self, rank: usize) -> Seen {
        let it = &self.all[rank];
        if self.stranger == Some(rank) {
            return Seen::Gone(Records::default());
        }
        match (it.at < it.script.len(), it.waits) {
            (false, _) if self.knows_stranger(it) && it.records != Records::default() => Seen::Open,
            (false, _) if self.ended_are_forgotten => Seen::Gone(Records::default()),
            (false, _) => Seen::Gone(it.records),
            (true, false) => Seen::Open,
            (true, true) => Seen::Passive(Passive {
                activity: it.activity,
                records: it.records,
                waits: vec![Looks {
                    slot: 0,
                    looks: it.looks,
                    checks: it.checks,
                }],
                needs: self.needs(it),
                has_strangers: self.knows_stranger(it),
                ..Passive::default()
            }),
        }
    }

    /// Whether it is connected to a process that no sweep sees.
    fn knows_stranger(&self, it: &Process) -> bool {
        let Some(stranger) = self.stranger else {
            return false;
        };
        it.script.iter().any(|step| match *step {
            Step::Send(other) | Step::Receive(other) => other == stranger,
            Step::Task(from, to) => from == stranger || to == stranger,
            Step::Compute(_) | Step::Timed(_) => false,
        })
    }

    /// Whom it waits for; others may have a part in it while it has tasks.
    fn needs(&self, it: &Process) -> Option<Vec<u32>> {
        let is_closed = it.tasks.is_empty() || self.tasks_are_hidden;
        match it.script[it.at] {
            Step::Receive(from) if is_closed => Some(vec![from as u32]),
            _ => None,
        }
    }

    /// Whether some processes would ever move, run to the end without sweeps.
    fn goes_on(&mut self, set: &[bool]) -> bool {
        let at = |world: &World| -> Vec<(usize, usize)> {
            let set = world.all.iter().zip(set).filter(|(_, is_in)| **is_in);
            set.map(|(it, _)| (it.at, it.tasks.len())).collect()
        };
        let before = at(self);
        for _ in 0..400 {
            for me in 0..self.all.len() {
                self.step(me);
            }
            (0..20).for_each(|_| self.bring());
        }
        at(self) != before
    }
}

const SIZE: usize = 3;

/// A job of few steps, of which about half get stuck.
fn world(seed: u64) -> World {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut all: Vec<Process> = (0..SIZE)
        .map(|_| Process {
            inbox: vec![0; SIZE],
            came: vec![0; SIZE],
            under_way: vec![0; SIZE],
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
    }
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
    for _ in 0..12_000 {
        if world.random.below(slowness) == 0 {
            world.bring();
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
/// A check is part of a look here.
const ONE_LOOK: Rules = Rules { checks: 0, ..RULES };

/// How often each came.
fn count(run: impl Fn(u64) -> Came) -> [usize; 4] {
    let mut counts = [0; 4];
    for seed in 1..=SEEDS {
        counts[run(seed) as usize] += 1;
    }
    counts
}

#[test]
fn no_job_that_goes_on_is_taken_for_stuck_and_each_that_is_stuck_is_found() {
    // Without the second check, too: it is for what the model leaves out, comparisons of calls that a check may skip.
    let [alarms, ..] = count(|seed| run(world(seed), ONE_LOOK));
    assert_eq!(alarms, 0);
    let [alarms, stuck, ended, missed] = count(|seed| run(world(seed), RULES));
    assert_eq!((alarms, missed), (0, 0), "{stuck} stuck, {ended} ended");
    assert!(
        stuck > SEEDS as usize / 10 && ended > SEEDS as usize / 10,
        "{stuck} {ended}"
    );
}

#[test]
fn no_part_that_goes_on_is_taken_for_stuck_and_many_are_found() {
    let [alarms, stuck, ..] = count(|seed| run_parts(world_of_parts(seed), ONE_LOOK, BOUNDS));
    assert_eq!(alarms, 0, "{stuck} stuck");
    assert!(stuck > SEEDS as usize / 100, "{stuck}");
}

#[test]
fn a_job_that_strangers_may_wake_is_not_taken_for_stuck() {
    let [alarms, stuck, ..] = count(|seed| run(world_with_stranger(seed), ONE_LOOK));
    assert_eq!(alarms, 0, "{stuck} stuck");
    assert!(stuck > SEEDS as usize / 1000, "{stuck}");
    let [alarms, stuck, ..] = count(|seed| {
        let mut world = world_with_stranger(seed);
        // The stranger is seen by nobody, so it is in no part.
        world.last_of_host = SIZE;
        run_parts(world, ONE_LOOK, BOUNDS)
    });
    assert_eq!(alarms, 0, "{stuck} stuck");
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
fn a_part_must_have_sent_nothing_over_the_fabric() {
    let bounds = Bounds {
        is_near: false,
        ..BOUNDS
    };
    assert!(is_wrong_of_parts(ONE_LOOK, bounds, |_| {}));
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
