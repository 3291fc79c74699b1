//! The verdict: says that the job is stuck once it is proved that no rank can go on (`docs/verdict.md`).
//!
//! The supervisor sweeps over the pages of all ranks; `proof.rs` decides, `words.rs` says it. Invariant: of a rank of which anything is not
//! known it is assumed that it may move.

#[cfg(test)]
mod model;
pub mod proof;
mod words;

use super::ending::Cause;
use super::rank::{Life, Rank, Stage};
use super::request::Deadlock;
use super::sites;
use super::supervisor::Supervisor;
use oxmpi::os::process;
use oxmpi::sync::Ordering;
use oxmpi::transport::layout::Segment;
use oxmpi::transport::life::{State, World};
use oxmpi::transport::peer::Page;
use oxmpi::transport::slots::View;
use proof::{Looks, Seen};
use std::time::{Duration, Instant};
use words::Stuck;

/// Between two sweeps of a proof.
const PERIOD: Duration = Duration::from_millis(250);
/// Between two looks whether a proof can begin: mpiexec's share of a core, and what users wait for the verdict.
const IDLE_PERIOD: Duration = Duration::from_millis(500);
/// Of a job that is stuck, with `-deadlock abort`.
pub const STUCK_CODE: i32 = 86;

impl Supervisor<'_> {
    /// Sweeps, if it is time; when it will be.
    pub(super) fn tend_verdict(&mut self, now: Instant) -> Option<Instant> {
        let todo = self.plan.request.deadlock.unwrap_or_default();
        let is_watched = todo != Deadlock::Off
            && self.ending.is_none()
            && self.tree.is_none()
            && self.plan.singleton.is_none()
            && !self.plan.is_spawned();
        if !is_watched {
            return None;
        }
        let next = *self.verdict.next.get_or_insert(now + IDLE_PERIOD);
        if now < next {
            return Some(next);
        }
        if let Some(views) = self.sweep() {
            self.say_stuck(&views, todo);
        }
        let period = match self.verdict.proof.has_begun() {
            true => PERIOD,
            false => IDLE_PERIOD,
        };
        self.verdict.next = Some(now + period);
        self.verdict.next
    }

    /// A sweep. What all ranks wait for, if it is proved that nothing can move, and was not said.
    fn sweep(&mut self) -> Option<Vec<Option<View>>> {
        let segment = &self.segment;
        let mut all = Vec::with_capacity(self.ranks.len());
        let mut views = Vec::with_capacity(self.ranks.len());
        let has_spawned = self.has_spawned();
        for rank in &self.ranks {
            let (seen, view) = match has_spawned {
                true => (Seen::Open, None),
                false => seen(rank, segment),
            };
            let is_open = seen == Seen::Open;
            all.push(seen);
            views.push(view);
            // Most sweeps end with the first rank.
            if is_open {
                break;
            }
        }
        // The kernel is asked last: it takes its time.
        let are_open = |(rank, view): (&Rank, &Option<View>)| {
            let view = view.as_ref().filter(|view| view.level > 1);
            view.is_some_and(|view| !have_all_threads(&segment.rank(rank.seat).status, view))
        };
        if all.last() != Some(&Seen::Open) && self.ranks.iter().zip(&views).any(are_open) {
            all.push(Seen::Open);
        }
        if !self.verdict.proof.sweep(&all) {
            return None;
        }
        let activity = |view: &Option<View>| view.as_ref().map_or(0, |view| view.activity);
        let state: Vec<u64> = views.iter().map(activity).collect();
        if self.verdict.said.as_ref() == Some(&state) {
            return None;
        }
        if self.ranks.iter().any(|rank| is_traced(rank, segment)) {
            self.verdict.proof.forget();
            return None;
        }
        self.verdict.said = Some(state);
        Some(views)
    }

    /// Where in the program each wait of each rank is, as far as that can be found out in little time.
    fn places(&self, views: &[Option<View>]) -> Vec<String> {
        let mut wanted = Vec::new();
        for (rank, view) in self.ranks.iter().zip(views) {
            let pid = pid_of(rank, &self.segment).unwrap_or(0);
            for shown in view.iter().flat_map(|view| &view.waits) {
                let sites = shown.sites.iter().copied().take_while(|site| *site != 0);
                wanted.push((pid, sites.collect()));
            }
        }
        let stacks = sites::resolve(&wanted, sites::LIMIT);
        let place = |stack: &Vec<sites::Places>| sites::of_program(stack).map(ToString::to_string);
        let places = stacks.iter().map(place);
        places.map(Option::unwrap_or_default).collect()
    }

    fn say_stuck(&mut self, views: &[Option<View>], todo: Deadlock) {
        let text = Stuck::of(views, self.places(views)).text();
        self.show(&text);
        if todo == Deadlock::Report {
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
    if rank.elsewhere.is_some() {
        return open;
    }
    let page = &segment.rank(rank.seat).status;
    let stage = rank.stage(segment);
    match rank.life {
        Life::Running if stage.is_inside() && is_in_mpi(page) => {}
        // Only then do waits for it end.
        Life::Exited(_) if matches!(stage, Stage::Finalized | Stage::Outside) => {
            return match page.was_reaped() {
                true => (Seen::Gone, None),
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
    let seen = Seen::Passive {
        activity: view.activity,
        waits: waits.collect(),
    };
    (seen, Some(view))
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
    if view.open || view.busy != 0 || view.waits.len() as u32 != view.waiting {
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
