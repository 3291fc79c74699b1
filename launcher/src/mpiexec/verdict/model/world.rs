//! Processes of the model, their messages, progress threads and looks.

use crate::mpiexec::verdict::proof::{Looks, Passive, Records, Seen};
use std::collections::VecDeque;

/// A generator of numbers (xorshift), the same for each seed everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Send(usize),
    /// From that process.
    Receive(usize),
    /// So many turns outside of MPI.
    Compute(usize),
    /// A wait that the library ends by itself, so many checks after the first.
    Timed(u64),
    /// Begins a task, which passes a message of the first on to the second in whatever wait comes.
    Task(usize, usize),
    /// Calls that the progress thread of a process takes; the first has an answer, which is waited for.
    Lock(usize),
    Unlock(usize),
    Post(usize),
    /// Waits for a post, of which the own progress thread tells.
    Posted,
    /// A lock in memory that all share.
    Take,
    Give,
    /// Calls what does not fit to what others have called.
    Call,
    /// A wait that the library ends when it has seen twice that this process has made such a call. Nothing wakes the one that waits.
    Compare(usize),
}

/// What the progress thread of a process takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Lock,
    Unlock,
    Post,
}

/// The thread of the library's own that takes calls, and what it knows.
#[derive(Default)]
pub(super) struct ProgressThread {
    /// Calls that are under way, that have come, and that were handled, with their origins.
    under_way: VecDeque<(usize, Call)>,
    came: VecDeque<(usize, Call)>,
    handled: VecDeque<(usize, Call)>,
    holder: Option<usize>,
    wanted: VecDeque<usize>,
    looks: u64,
    /// In a look: the next step.
    place: Option<usize>,
    moved: bool,
}

#[derive(Default)]
pub(super) struct Process {
    pub(super) script: Vec<Step>,
    pub(super) at: usize,
    pub(super) computes: usize,
    /// Messages by sender.
    pub(super) inbox: Vec<usize>,
    /// Those that have come over the fabric, and those that are under way.
    pub(super) came: Vec<usize>,
    pub(super) under_way: Vec<usize>,
    pub(super) records: Records,
    /// Those to and from each.
    pub(super) pairs: [Vec<u32>; 2],
    pub(super) tasks: Vec<(usize, usize)>,
    pub(super) activity: u64,
    /// Whether the wait is published.
    pub(super) waits: bool,
    pub(super) looks: u64,
    pub(super) checks: u64,
    pub(super) timer: Option<u64>,
    /// When the last check began that counts, and whether this one does.
    pub(super) counted: Option<usize>,
    pub(super) counts: bool,
    /// mpiexec wants a look; this one is made for it, and its checks put nothing off.
    pub(super) is_wanted: bool,
    pub(super) is_thorough: bool,
    /// It has made a call that does not fit; when it last compared those of another, and how often in a row it has found one.
    pub(super) has_called: bool,
    pub(super) compared: Option<usize>,
    pub(super) differed: u32,
    /// In a look: the next place to look at; tasks come first.
    pub(super) place: Option<usize>,
    pub(super) found: bool,
    pub(super) moved: bool,
    pub(super) thread: ProgressThread,
    /// Whether it has called for the lock that it wants; answers that are under way, that have come, and that are here; posts.
    pub(super) called: bool,
    pub(super) answers: [usize; 3],
    pub(super) posts: usize,
    /// Whom the wait for the lock shows as its holder.
    pub(super) shown: Option<usize>,
}

pub(super) struct World {
    pub(super) random: Random,
    pub(super) all: Vec<Process>,
    /// What the library leaves out, for mutations of its side.
    pub(super) begins_quietly: bool,
    pub(super) tasks_are_quiet: bool,
    pub(super) timers_are_quiet: bool,
    /// Processes of one host have these numbers and lower ones, and their messages are there at once. All others go over the fabric.
    pub(super) last_of_host: usize,
    /// Tasks do not show.
    pub(super) tasks_are_hidden: bool,
    /// A process of a job that is none of the family: no sweep sees it.
    pub(super) stranger: Option<usize>,
    /// What a process of a job that has ended had sent and handled is forgotten.
    pub(super) ended_are_forgotten: bool,
    /// Processes have progress threads, and end together.
    pub(super) has_threads: bool,
    /// Their looks do not show, or what they do.
    pub(super) threads_are_hidden: bool,
    /// The holder of the lock, and whether waits for it show whom they met at their begin.
    pub(super) holder: Option<usize>,
    pub(super) shown_is_old: bool,
    pub(super) threads_are_quiet: bool,
    /// Steps so far, and how many lie between two comparisons, or half of those between two checks that count.
    pub(super) clock: usize,
    pub(super) pause: usize,
    /// A look that mpiexec wants does not compare if the last comparison was a short time ago.
    pub(super) wanted_put_off: bool,
}

impl World {
    /// mpiexec wants all to look.
    pub(super) fn want_looks(&mut self) {
        for it in self.all.iter_mut().filter(|it| it.waits) {
            it.is_wanted = true;
        }
    }

    /// Compares the calls of another process, if it is time for that, at the end of a look.
    fn compare(&mut self, me: usize, other: usize) {
        let differs = self.all[other].has_called;
        let it = &mut self.all[me];
        let is_soon = it.compared.is_some_and(|at| self.clock - at < self.pause);
        if is_soon && (!it.is_thorough || self.wanted_put_off) {
            return;
        }
        if !is_soon {
            it.compared = Some(self.clock);
            it.differed = if differs { it.differed + 1 } else { 0 };
        }
        it.found = it.differed >= 2;
        it.activity += u64::from(differs && !it.found);
    }

    fn is_far(&self, one: usize, other: usize) -> bool {
        (one <= self.last_of_host) != (other <= self.last_of_host)
    }

    fn send(&mut self, from: usize, to: usize) {
        if self.is_far(from, to) {
            self.all[from].records.sent += 1;
            self.all[from].pairs[0][to] += 1;
            self.all[to].under_way[from] += 1;
        } else {
            self.all[to].inbox[from] += 1;
        }
    }

    /// The fabric brings a message, if one is under way.
    pub(super) fn bring(&mut self) {
        let size = self.all.len();
        let (to, from) = (self.random.below(size), self.random.below(size));
        let it = &mut self.all[to];
        if it.under_way[from] > 0 {
            it.under_way[from] -= 1;
            it.came[from] += 1;
        }
        match from {
            0 => it.thread.came.extend(it.thread.under_way.pop_front()),
            _ if it.answers[0] > 0 => {
                it.answers[0] -= 1;
                it.answers[1] += 1;
            }
            _ => {}
        }
    }

    fn call(&mut self, from: usize, to: usize, call: Call) {
        if self.is_far(from, to) {
            self.all[from].records.sent += 1;
            self.all[to].thread.under_way.push_back((from, call));
        } else {
            self.all[to].thread.handled.push_back((from, call));
        }
    }

    /// A step of a progress thread's look: begin, take, act, grant, or the end.
    fn turn(&mut self, me: usize) {
        let is_quiet = self.threads_are_quiet;
        let it = &mut self.all[me];
        let its = &mut it.thread;
        let Some(place) = its.place else {
            its.looks |= 1;
            (its.place, its.moved) = (Some(0), false);
            return;
        };
        its.place = Some(place + 1);
        match place {
            0 => {
                it.records.handled += its.came.len() as u64;
                its.handled.append(&mut its.came);
            }
            1 => {
                if let Some((from, call)) = its.handled.pop_front() {
                    its.moved = true;
                    match call {
                        Call::Lock => its.wanted.push_back(from),
                        Call::Unlock => its.holder = None,
                        Call::Post => it.posts += 1,
                    }
                }
            }
            2 => {
                if its.holder.is_none()
                    && let Some(next) = its.wanted.pop_front()
                {
                    its.moved = true;
                    its.holder = Some(next);
                    let is_far = self.is_far(me, next);
                    self.all[me].records.sent += u64::from(is_far);
                    self.all[next].answers[if is_far { 0 } else { 2 }] += 1;
                }
            }
            _ => {
                its.place = None;
                match its.moved {
                    true if is_quiet => {}
                    true => it.activity += 1,
                    false => its.looks += 1,
                }
            }
        }
    }

    /// One step of one process.
    pub(super) fn step(&mut self, me: usize) {
        let size = self.all.len();
        self.clock += 1;
        if self.has_threads && self.random.below(2) == 0 {
            return self.turn(me);
        }
        let it = &mut self.all[me];
        let Some(step) = it.script.get(it.at).copied() else {
            // It has said that it takes nothing more, and handles what comes all the same.
            let came: usize = it.came.iter_mut().map(std::mem::take).sum();
            it.records.handled += came as u64;
            // Those with progress threads wait for each other.
            it.looks = it.looks.next_multiple_of(2) + 2;
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
            Step::Unlock(target) | Step::Post(target) => {
                it.at += 1;
                let is_post = matches!(step, Step::Post(_));
                self.call(me, target, if is_post { Call::Post } else { Call::Unlock });
            }
            Step::Lock(target) if !it.called => {
                it.called = true;
                self.call(me, target, Call::Lock);
            }
            Step::Give => {
                it.at += 1;
                self.holder = None;
            }
            Step::Call => {
                it.at += 1;
                it.has_called = true;
            }
            _ if !it.waits => {
                (it.counted, it.compared, it.differed) = (None, None, 0);
                // Only those that wait are asked.
                it.is_wanted = false;
                it.shown = self.holder;
                it.waits = true;
                it.looks = it.looks.next_multiple_of(2);
                it.checks = it.checks.next_multiple_of(2);
                if !self.begins_quietly {
                    it.activity += 1;
                }
            }
            _ => self.look(me, step, size),
        }
    }

    /// A step of a look: begin, a place, or the end.
    fn look(&mut self, me: usize, step: Step, size: usize) {
        let it = &mut self.all[me];
        let Some(place) = it.place else {
            it.looks |= 1;
            it.is_thorough = std::mem::take(&mut it.is_wanted);
            let is_late = |at| self.clock - at >= 2 * self.pause;
            it.counts = it.is_thorough || it.counted.is_none_or(is_late);
            if it.counts {
                it.checks |= 1;
                it.counted = Some(self.clock);
            }
            (it.place, it.found, it.moved) = (Some(0), false, false);
            return;
        };
        if place < size {
            it.place = Some(place + 1);
            // Whatever was brought is handled, which alone is nothing that moves.
            let came = std::mem::take(&mut it.came[place]);
            it.inbox[place] += came;
            it.pairs[1][place] += came as u32;
            let [_, answers, here] = &mut it.answers;
            it.records.handled += (came + *answers) as u64;
            *here += std::mem::take(answers);
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
            let awaited = match step {
                Step::Take if place == 0 && self.holder.is_none() => {
                    self.holder = Some(me);
                    it.found = true;
                    return;
                }
                Step::Lock(_) => &mut it.answers[2],
                Step::Posted => &mut it.posts,
                _ => return,
            };
            if place == 0 && *awaited > 0 {
                *awaited -= 1;
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
        if let Step::Compare(other) = step {
            self.compare(me, other);
        }
        let it = &mut self.all[me];
        if it.found {
            (it.waits, it.timer, it.at) = (false, None, it.at + 1);
            it.called = false;
            it.activity += 1;
        } else if !it.moved {
            if !self.shown_is_old {
                it.shown = self.holder;
            }
            it.looks += 1;
            if it.counts {
                // Two checks in a row, where nothing is put off.
                it.checks += if it.is_thorough { 3 } else { 1 };
            }
        }
    }

    pub(super) fn seen(&self, rank: usize) -> Seen {
        let it = &self.all[rank];
        if self.stranger == Some(rank) {
            return Seen::Gone(Records::default());
        }
        let meets = self.has_threads && it.at == it.script.len();
        let thread = Looks {
            slot: 1,
            looks: it.thread.looks,
            checks: it.thread.looks,
        };
        let thread = (self.has_threads && !self.threads_are_hidden).then_some(thread);
        match (it.at < it.script.len() || meets, it.waits || meets) {
            (false, _) if self.knows_stranger(it) && it.records != Records::default() => Seen::Open,
            (false, _) if self.ended_are_forgotten => Seen::Gone(Records::default()),
            (false, _) => Seen::Gone(it.records),
            (true, false) => Seen::Open,
            (true, true) => Seen::Passive(Passive {
                activity: it.activity,
                records: it.records,
                waits: [Looks {
                    slot: 0,
                    looks: it.looks,
                    checks: it.checks,
                }]
                .into_iter()
                .chain(thread)
                .collect(),
                needs: self.needs(it),
                pairs: (!self.has_threads).then(|| it.pairs.clone()),
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
            _ => false,
        })
    }

    /// Whom it waits for; others may have a part in it while it has tasks.
    fn needs(&self, it: &Process) -> Option<Vec<u32>> {
        let is_closed = it.tasks.is_empty() || self.tasks_are_hidden;
        match it.script.get(it.at) {
            Some(Step::Receive(from)) if is_closed => Some(vec![*from as u32]),
            Some(Step::Take) if is_closed => Some(vec![it.shown? as u32]),
            _ => None,
        }
    }

    /// Whether some processes would ever move, run to the end without sweeps.
    pub(super) fn goes_on(&mut self, set: &[bool]) -> bool {
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
