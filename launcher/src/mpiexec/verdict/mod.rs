//! The verdict: says that the job is stuck once it is proved that no rank can go on, or that some ranks are (`docs/verdict.md`).
//!
//! The supervisor sweeps over the pages of all ranks of its host, and the root asks the keepers of the others and the mpiexecs of jobs that were
//! spawned (`hosts.rs`); `family.rs` puts together what they say, `proof.rs` and `partial.rs` decide, `words.rs` says it. Invariant: of a rank of which anything is not known it is assumed that it may move.

pub mod family;
mod hosts;
#[cfg(test)]
mod model;
pub mod partial;
pub mod proof;
pub mod schedule;
pub mod told;
mod words;

use super::ending::Cause;
use super::rank::{Life, Rank, Stage};
use super::request::Deadlock;
use super::sites;
use super::supervisor::Supervisor;
use family::{Ended, Family, Job};
use oxmpi::os::process;
use oxmpi::sync::Ordering;
use oxmpi::transport::layout::Segment;
use oxmpi::transport::life::{State, World};
use oxmpi::transport::peer::Page;
use oxmpi::transport::slots::{PAIRS, PROGRESS_THREAD, Shown, View};
use oxmpi::transport::waits::{Kind, Whom};
use proof::{Exchanged, Looks, Next, Passive, Records, Seen};
use schedule::Schedule;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use told::{Ask, Proved, ToldRank};
use words::{Stuck, Waiting};

/// Between two questions to other hosts about some ranks, while others of this host go on.
const PARTS_PERIOD: Duration = Duration::from_secs(2);
/// Of a job that is stuck, with `-deadlock abort`.
pub const STUCK_CODE: i32 = 86;

impl Supervisor<'_> {
    fn todo(&self) -> Deadlock {
        self.plan.request.deadlock.unwrap_or_default()
    }

    /// Sweeps, if it is time; when it will be.
    pub(super) fn tend_verdict(&mut self, now: Instant) -> Option<Instant> {
        let is_watched = self.todo() != Deadlock::Off
            && self.ending.is_none()
            && !self.is_keeper()
            && self.plan.singleton.is_none()
            && !self.plan.is_spawned();
        if !is_watched {
            return None;
        }
        if let Some(until) = self.awaits_answers(now) {
            return Some(until);
        }
        let next = *self.verdict.next.get_or_insert(now + Schedule::idle());
        if now < next {
            return Some(next);
        }
        let part = self.may_be_parted();
        let here = self.sweep_here(part);
        let is_open = here.iter().any(|(_, seen)| *seen == Seen::Open);
        // Other hosts have nothing to say about the whole job then.
        if is_open && self.tree.is_some() && !self.is_time_for_parts(part, now) {
            self.verdict.proof.forget();
            self.rest(now);
            return self.verdict.next;
        }
        let ask = Ask {
            part,
            looks: self.verdict.proof.next() == Next::Again && !is_open,
        };
        match self.ask_for_sweep(here, ask, now) {
            Ok(until) => Some(until),
            Err(answers) => {
                self.answered(answers);
                self.verdict.next
            }
        }
    }

    /// Whether ranks of several hosts may be called stuck while others go on: records are counted by peer of so many ranks only.
    fn may_be_parted(&self) -> bool {
        !self.survives() && (self.tree.is_none() || self.ranks.len() <= PAIRS)
    }

    /// Whether other hosts are asked although ranks of this one may move.
    fn is_time_for_parts(&mut self, part: bool, now: Instant) -> bool {
        let verdict = &mut self.verdict;
        if !part {
            verdict.partial.forget();
            return false;
        }
        let is_due = verdict.parts_at.is_none_or(|at| at <= now);
        if is_due {
            verdict.parts_at = Some(now + PARTS_PERIOD);
        }
        is_due || verdict.partial.has_begun()
    }

    /// This job, of whose ranks this was seen.
    fn own_job(&self, ranks: Vec<(u32, Seen)>) -> Job {
        Job {
            id: self.plan.job,
            program: self.plan.programs[0].shown.clone(),
            spawner: None,
            is_spread: self.tree.is_some(),
            ranks: hosts::in_order(ranks, self.ranks.len()),
            ended: self.verdict.ended.clone(),
        }
    }

    /// What the ranks of this job had sent and handled, which has ended. `None`: that of some rank is not known.
    pub(super) fn exchanged(&self) -> Option<Ended> {
        let mut all = Ended {
            ids: vec![self.plan.job],
            ..Ended::default()
        };
        for rank in &self.ranks {
            all.add_rank(&match rank.elsewhere {
                Some(_) => rank.exchanged.clone()?,
                None => self.exchanged_of(rank)?,
            });
        }
        Some(all)
    }

    /// What a rank of this host had sent and handled that has ended by itself: one that was killed may not have counted all.
    pub(super) fn exchanged_of(&self, rank: &Rank) -> Option<Exchanged> {
        let has_ended = matches!(rank.life, Life::Exited(_));
        let stage = rank.stage(&self.segment);
        let is_whole = has_ended && matches!(stage, Stage::Finalized | Stage::Outside);
        let page = &self.segment.rank(rank.seat).status;
        own_records(&page.waits.read().filter(|_| is_whole)?)
    }

    /// When the next sweep is.
    fn rest(&mut self, now: Instant) {
        let hosts = self.tree.as_ref().map_or(0, |tree| tree.keepers());
        let verdict = &mut self.verdict;
        let (sweep, is_part) = (verdict.proof.next(), verdict.partial.has_begun());
        verdict.next = Some(now + verdict.schedule.next(sweep, is_part, hosts));
    }

    /// A sweep over all ranks of the job, and of those that it has spawned, has found this.
    fn swept(&mut self, jobs: Vec<Job>, now: Instant) {
        let family = Family::of(&jobs);
        if self.verdict.family != family {
            self.verdict.forget();
            self.verdict.family = family.clone();
        }
        let is_spread = jobs.iter().any(|job| job.is_spread);
        let all = family.all(jobs);
        let proved = match self.verdict.proof.sweep(&all) {
            true => Some(Proved {
                family,
                set: vec![true; all.len()],
                all,
                is_part: false,
            }),
            false => self.prove_part((family, is_spread), all, now),
        };
        self.rest(now);
        let Some(proved) = proved else {
            return;
        };
        if self.verdict.said.as_ref() != Some(&proved.state()) {
            self.ask_for_waits(proved, now);
        }
    }

    /// Whether some ranks are stuck while others go on. Of several hosts not those of several jobs, and not where calls can be ended by a
    /// revocation.
    fn prove_part(
        &mut self,
        (family, is_spread): (Family, bool),
        all: Vec<Seen>,
        now: Instant,
    ) -> Option<Proved> {
        let is_far = is_spread && family.has_spawned();
        if is_far || !self.may_be_parted() {
            self.verdict.partial.forget();
            return None;
        }
        let set = self.verdict.partial.sweep(&all, now)?.to_vec();
        Some(Proved {
            family,
            set,
            all,
            is_part: true,
        })
    }

    /// A sweep over the ranks of this host, with their numbers in the job. `part`: although some may move, the others matter.
    fn sweep_here(&self, part: bool) -> Vec<(u32, Seen)> {
        let mut all = Vec::with_capacity(self.ranks.len());
        let mut views = Vec::with_capacity(self.ranks.len());
        let mut any_open = false;
        let here = || self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
        for rank in here() {
            let (seen, view) = match self.others_know_end(rank) {
                true => seen(rank, &self.segment),
                false => (Seen::Open, None),
            };
            any_open |= seen == Seen::Open;
            all.push((rank.world as u32, seen));
            views.push(view.filter(|view| view.level > 1));
            // One is enough, where only all together are judged.
            if any_open && !part && self.tree.is_some() {
                return all;
            }
        }
        // The kernel is asked last and seldom: it takes its time.
        for (at, rank) in here().enumerate() {
            let Some(view) = &views[at] else {
                continue;
            };
            let seen = &mut all[at].1;
            if any_open && !self.is_judged(rank.world) {
                if let Seen::Passive(passive) = seen {
                    passive.needs = None;
                }
            } else if !have_all_threads(&self.segment.rank(rank.seat).status, view) {
                *seen = Seen::Open;
            }
        }
        all
    }

    /// Whether more has to be known of a rank although others may move. The mpiexec of a spawned job does not know, nor do keepers.
    fn is_judged(&self, rank: usize) -> bool {
        self.plan.is_spawned() || self.is_keeper() || self.verdict.partial.is_judged(rank)
    }

    /// Whether ranks of other hosts were told what they would see of the end of a rank of their own.
    fn others_know_end(&self, rank: &Rank) -> bool {
        let end = self.segment.rank(rank.seat).status.known_end();
        let told = self.ends.known.get(&rank.number);
        self.tree.is_none() || end == 0 || told.is_some_and(|told| told.0 == end && told.2)
    }

    /// What the ranks of this host wait for that are in a set, with places in the program as far as these can be found out in little time.
    fn waits_here(&self, is_in: impl Fn(usize) -> bool) -> Vec<ToldRank> {
        let ranks = self.ranks.iter();
        let ranks = ranks.filter(|rank| rank.elsewhere.is_none() && is_in(rank.world));
        let views = ranks.filter_map(|rank| {
            let page = &self.segment.rank(rank.seat).status;
            Some((rank, page.waits.read().filter(|view| view.waiting > 0)?))
        });
        let views: Vec<(&Rank, View)> = views.collect();
        let wanted = views.iter().flat_map(|(rank, view)| {
            let pid = pid_of(rank, &self.segment).unwrap_or(0);
            let sites = |shown: &Shown| {
                let sites = shown.sites.iter().copied();
                sites.take_while(|site| *site != 0).collect()
            };
            view.waits.iter().map(move |shown| (pid, sites(shown)))
        });
        let stacks = sites::resolve(&wanted.collect::<Vec<_>>(), sites::LIMIT);
        let place = |stack: &Vec<sites::Places>| sites::of_program(stack).map(ToString::to_string);
        let mut places = stacks.iter().map(place).map(Option::unwrap_or_default);
        let tell = |(rank, view): &(&Rank, View)| ToldRank {
            job: self.plan.job,
            jobs: view.jobs.to_vec(),
            rank: rank.world as u32,
            activity: view.activity,
            is_traced: is_traced(rank, &self.segment),
            waits: Waiting::of(rank.world, view, &mut places)
                .iter()
                .map(Waiting::tell)
                .collect(),
        };
        views.iter().map(tell).collect()
    }

    /// Says what was proved, of ranks that wait for this.
    fn say_proved(&mut self, proved: &Proved, told: Vec<ToldRank>) {
        let state = proved.state();
        let is_as_proved = |told: &ToldRank| {
            let activity = state.get(told.rank as usize).copied().flatten();
            activity == Some(told.activity) && !told.is_traced
        };
        let is_whole = told.len() == state.iter().flatten().count();
        if !is_whole || !told.iter().all(is_as_proved) {
            self.verdict.forget();
            return;
        }
        self.verdict.said = Some(state);
        let is_gone = |rank: &usize| matches!(proved.all[*rank], Seen::Gone(_));
        let gone = (0..proved.family.size()).filter(|rank| is_gone(rank) && !proved.is_part);
        let waits = told.into_iter().flat_map(|told| {
            let number = move |family: &Family, word| {
                let number = family.number_on_page(told.job, &told.jobs, word)?;
                Some(number as u32)
            };
            let waiting = move |wait| {
                Waiting::of_told(wait, told.rank as usize, |word| {
                    number(&proved.family, word)
                })
            };
            told.waits.into_iter().filter_map(waiting)
        });
        let stuck = Stuck {
            waiting: waits.collect(),
            family: proved.family.clone(),
            gone: gone.collect::<BTreeSet<usize>>(),
            is_part: proved.is_part,
        };
        self.show(&stuck.text());
        if proved.is_part {
            self.say("the job goes on, for the other ranks may mean to end it");
        } else if self.todo() == Deadlock::Report {
            self.say("it is left as it is, for a debugger, say; Ctrl-C ends it, and -deadlock abort would have done so");
        } else {
            self.show_short_table();
            self.say(&format!(
                "ending the job with exit code {STUCK_CODE}, as -deadlock abort says"
            ));
            self.fail(STUCK_CODE, Cause::Failure);
        }
    }
}

/// A rank of this host, as it is found now.
fn seen(rank: &Rank, segment: &Segment<'_>) -> (Seen, Option<View>) {
    let open = (Seen::Open, None);
    let page = &segment.rank(rank.seat).status;
    let stage = rank.stage(segment);
    match rank.life {
        Life::Running if stage.is_inside() && is_in_mpi(page) => {}
        // Only then do waits for it end.
        Life::Exited(_) if matches!(stage, Stage::Finalized | Stage::Outside) => {
            return match page.was_reaped() {
                true => (gone(page), None),
                false => open,
            };
        }
        _ => return open,
    }
    let Some(view) = page.waits.read() else {
        return open;
    };
    if !is_passive(&view) {
        return open;
    }
    let waits = view.waits.iter().map(|wait| Looks {
        slot: wait.slot,
        looks: wait.looks,
        checks: wait.checks,
    });
    let needs = needs(&view);
    // What it answers may let others go on, and this rank.
    let thread = view.progress_thread.map(|[looks, checks]| Looks {
        slot: PROGRESS_THREAD as u32,
        looks,
        checks,
    });
    let seen = Seen::Passive(Passive {
        activity: view.activity,
        records: records(&view),
        waits: waits.chain(thread).collect(),
        pairs: needs.as_ref().map(|_| view.pairs.clone()),
        needs,
        jobs: match view.jobs.iter().all(|job| *job == 0) {
            true => Vec::new(),
            false => view.jobs.to_vec(),
        },
        is_collective: view.waits.iter().any(|shown| {
            !matches!(
                shown.waits.wait.kind,
                Kind::Receive | Kind::Send | Kind::Probe
            )
        }),
        has_strangers: view.open,
    });
    (seen, Some(view))
}

/// A rank that has ended.
fn gone(page: &Page) -> Seen {
    let view = page.waits.read();
    let known = view.and_then(|view| own_records(&view));
    known.map_or(Seen::Open, |known| match known.jobs.is_empty() {
        true => Seen::Gone(known.records),
        false => Seen::Met(known),
    })
}

/// Those of a rank that has ended. `None`: some may have gone to jobs that nobody can name or come from there, and sums would say nothing.
fn own_records(view: &View) -> Option<Exchanged> {
    let records = records(view);
    let is_some = records != Records::default();
    let met = view.jobs.iter().copied().filter(|job| *job != 0 && is_some);
    (!view.open || !is_some).then(|| Exchanged {
        records,
        jobs: met.collect(),
    })
}

fn records(view: &View) -> Records {
    Records {
        sent: view.sent,
        handled: view.handled,
    }
}

/// Ranks one of which has to do something in a call of its own before a rank can go on. `None`: any may be.
fn needs(view: &View) -> Option<Vec<u32>> {
    if view.progress_thread.is_some() {
        // It takes what others send, and answers.
        return None;
    }
    let mut needs = BTreeSet::new();
    for shown in &view.waits {
        // Of locks and meetings, what is shown was found between the two checks that a proof has, or later; who has a range of a file may
        // have been found before.
        let is_known = matches!(
            shown.waits.wait.kind,
            Kind::Receive
                | Kind::Send
                | Kind::Probe
                | Kind::Partitioned
                | Kind::Requests
                | Kind::Collective
                | Kind::Lock
                | Kind::Epoch
                | Kind::Fence
                | Kind::FileMeeting
        );
        match &shown.waits.wait.whom {
            Whom::Some(some) if !some.is_empty() && is_known && shown.closed => {
                needs.extend(some);
            }
            _ => return None,
        }
    }
    Some(needs.into_iter().collect())
}

/// Whether it is between MPI_Init and the end of MPI_Finalize, or has sessions.
fn is_in_mpi(page: &Page) -> bool {
    let has_sessions = page.sessions.load(Ordering::Acquire) > 0;
    page.state() == State::Joined
        && (page.world() == World::Initialized || has_sessions)
        && page.world() != World::Failed
        && !page.is_marked_dead()
}

/// Whether all threads that it shows wait, each for something within the job. With several threads in the library there may be more.
fn is_passive(view: &View) -> bool {
    if view.busy != 0 || view.waits.len() as u32 != view.waiting {
        return false;
    }
    if view.waits.iter().any(|shown| shown.waits.wait.is_open()) {
        return false;
    }
    view.waiting > 0 && view.level > 0
}

/// Whether the kernel knows no further thread than those that wait and the library's own.
fn have_all_threads(page: &Page, view: &View) -> bool {
    let Some(pid) = page.pid_here() else {
        return false;
    };
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    let own = || page.waits.own_threads.load(Ordering::Acquire);
    threads.is_ok_and(|threads| {
        threads.count() as u32 == view.waiting + view.own_threads && own() == view.own_threads
    })
}

/// Its process id here, if it is known.
fn pid_of(rank: &Rank, segment: &Segment<'_>) -> Option<i32> {
    segment.rank(rank.seat).status.pid_here()
}

/// Whether a debugger has it, which may do anything.
fn is_traced(rank: &Rank, segment: &Segment<'_>) -> bool {
    if !rank.is_running() {
        return false;
    }
    match pid_of(rank, segment) {
        None => false,
        Some(pid) => process::tracer(&pid.to_string()).is_some(),
    }
}
