//! Exit policy: what an event means for the job, and the exit code.
//!
//! - A rank that dies inside MPI (by a signal, or by exit without MPI_Finalize) ends the job: the others would wait.
//! - So does a rank that fails before MPI_Init while others are inside, and one that is killed by a signal anywhere.
//! - A program that does not use MPI may end with any code; the others go on. So may a rank after MPI_Finalize.
//! - A rank that has left sessions open, or whose MPI_Finalize has failed, may end with 0; a warning says so at the end of the job.
//!
//! The exit code is that of the first failure: the rank's own, 128 + signal, or the code of MPI_Abort.
//!
//! Invariant: each end of the job that is not orderly is explained by one message before it.

use super::descendants;
use super::ending::{Cause, Ending, LOST_CODE, TIMEOUT_CODE};
use super::foreign;
use super::missing;
use super::nodes::frames::Frame;
use super::rank::{Life, Rank, Stage};
use super::stacks;
use super::state::Wish;
use super::supervisor::{Supervisor, WATCHED, tag};
use super::table::{Row, render, render_short, signal_name};
use oxmpi::error::Class;
use oxmpi::process::survival::Survive;
use oxmpi::sync::Ordering;
use oxmpi::transport::life::End;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, test_kill_process_group};
use signal_hook::consts::signal::{
    SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
};
use std::time::{Duration, Instant};

/// After the end of a rank others that end with it have ended too.
const SOON: Duration = Duration::from_millis(10);
/// How often a job in the background looks whether it is in the foreground by now.
const FOREGROUND: Duration = Duration::from_millis(300);
/// When to look whether the ranks are what they should be, milliseconds after the start; then every five seconds.
const CHECKS: &[u64] = &[20, 100, 400, 1500];

impl Supervisor<'_> {
    /// Remembers the first failure and begins to end the job, unless that is under way for a better reason.
    pub(super) fn fail(&mut self, code: i32, cause: Cause) {
        self.code.get_or_insert(code);
        self.end_spawned();
        if self
            .ending
            .as_ref()
            .is_none_or(|it| it.is_overtaken_by(cause))
        {
            self.ending = Some(Ending::new(cause, Instant::now()));
        }
    }

    /// A rank's process has ended.
    pub(super) fn ended(&mut self, number: usize) {
        if self.is_keeper() {
            self.report_end(number);
            return self.tell_ranks(number);
        }
        if self.ending.is_some() {
            // Ranks that we end are no news.
            return;
        }
        let rank = &self.ranks[number];
        let stage = rank.stage(&self.segment);
        let name = rank.name(self.plan, &self.segment);
        match (rank.life, stage) {
            (_, Stage::Aborted(code)) => self.aborted(number, code),
            (Life::Killed(signal), stage) => {
                let whose = match signal {
                    9 => "; when memory runs out, the kernel does that",
                    _ => "",
                };
                let others = match stage {
                    Stage::Finalized => "",
                    _ => self.what_others_do(number),
                };
                self.say(&format!(
                    "{name} was killed by {}{whose}{others}",
                    signal_name(signal)
                ));
                if stage == Stage::Finalized && !self.survives() {
                    self.code.get_or_insert(128 + signal);
                } else {
                    self.died(128 + signal);
                }
            }
            (Life::Exited(0), Stage::InSessions(_) | Stage::Failed) => {
                self.left_open.add(stage, name);
                self.checks.soon.get_or_insert(Instant::now() + SOON);
            }
            (Life::Exited(code), stage) if stage.is_inside() => {
                let hint = as_of_a_shell(code);
                let how = match stage {
                    Stage::InSessions(_) => "without MPI_Session_finalize",
                    Stage::Failed => "after its MPI_Finalize had failed",
                    _ => "without MPI_Finalize",
                };
                let others = self.what_others_do(number);
                self.say(&format!(
                    "{name} ended with exit code {code}{hint} {how}{others}"
                ));
                self.died(if code == 0 { 1 } else { code });
            }
            (Life::Exited(code), _) => {
                if code != 0 {
                    self.code.get_or_insert(code);
                }
                if code != 0 {
                    self.check_absent();
                }
                if code == missing::LOADER_CODE {
                    self.explain_loader(number);
                }
                // Will the others miss it? Not each one of many that end together needs an answer of its own.
                self.checks.soon.get_or_insert(Instant::now() + SOON);
            }
            (Life::Running | Life::Lost, _) => {}
        }
        self.tell_ranks(number);
    }

    /// Says once for each program that it cannot be loaded, if that is why the rank has ended.
    fn explain_loader(&mut self, number: usize) {
        let program = self.plan.ranks[number].program;
        let ended_so = |rank: &&Rank| {
            rank.life == Life::Exited(missing::LOADER_CODE)
                && self.plan.ranks[rank.number].program == program
        };
        if self.ranks.iter().filter(ended_so).count() == 1
            && let Some(text) = missing::explain(&self.plan.programs[program])
        {
            self.say(&text);
        }
    }

    /// Tells the others that a rank has ended, for whom the job goes on: who waits for it need not do so for ever. Not while it has
    /// processes left that may be the rank yet.
    fn tell_ranks(&self, number: usize) {
        let rank = &self.ranks[number];
        if rank.elsewhere.is_some() {
            return;
        }
        let goes_on = self.ending.is_none() && !rank.is_running();
        let left_some = |pid| test_kill_process_group(pid).is_ok();
        if goes_on && !(rank.session.is_some() && Pid::from_raw(rank.pid).is_some_and(left_some)) {
            let page = &self.segment.rank(rank.seat).status;
            let known = page.known_end();
            page.set_reaped();
            // A rank that has ended as it should is waited for by nobody, and many end together.
            if page.known_end() != known && End::is_death(page.known_end()) {
                self.segment.tell_of_deaths();
            }
        }
    }

    /// After a death that the others cannot go on without.
    pub(super) fn died(&mut self, code: i32) {
        if self.is_keeper() {
            if self.survives() {
                // First, so that the root knows when it decides.
                self.tell_ends(Instant::now());
            }
            return self.report(&Frame::Missed { code });
        }
        if self.survives() {
            self.deaths.get_or_insert(code);
            return;
        }
        if self.plan.request.keep_going {
            self.code.get_or_insert(code);
            return;
        }
        self.missed(code);
    }

    /// After the end of a rank that the others need.
    fn missed(&mut self, code: i32) {
        self.table_due = self.ranks.len() > 1;
        // Keepers answer before the table is shown.
        self.ask_for_rows();
        self.fail(code, Cause::Failure);
    }

    /// Whether the program goes on when a rank dies: it was said so, the program looks so, or a rank has asked for it.
    pub(super) fn survives(&self) -> bool {
        let asked = |rank: &Rank| {
            self.segment
                .rank(rank.seat)
                .status
                .survives
                .load(Ordering::Acquire)
                != 0
        };
        match self.plan.request.survive {
            Some(Survive::Yes) => true,
            Some(Survive::No) => false,
            Some(Survive::Auto) | None => {
                let mut here = self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
                let mut elsewhere = self.segment.ends().unwrap_or_default().iter();
                here.any(asked) || elsewhere.any(End::survives)
            }
        }
    }

    /// What to add to the word that a rank has died.
    fn what_others_do(&self, number: usize) -> &'static str {
        let mut others = self.ranks.iter().filter(|rank| rank.number != number);
        match self.survives() && others.any(Rank::is_running) {
            true => "; the others go on",
            false => "",
        }
    }

    /// The exit code of the job: of one that survives, that of the survivors, and that of the first death if there are none. Those of jobs that
    /// are connected are survivors, too.
    pub(super) fn code(&self) -> Option<i32> {
        match self.has_survivors() {
            true => self.code,
            false => self.code.or(self.deaths),
        }
    }

    pub(super) fn has_survivors(&self) -> bool {
        let has_survived = |rank: &Rank| {
            matches!(rank.life, Life::Exited(0)) && rank.stage(&self.segment) == Stage::Finalized
        };
        self.is_outlived || self.ranks.iter().any(has_survived)
    }

    /// Whether the exit code is that of a death.
    pub(super) fn has_died_out(&self) -> bool {
        self.code.is_none() && self.deaths.is_some() && !self.has_survivors()
    }

    pub(super) fn aborted(&mut self, number: usize, code: i32) {
        if self.is_keeper() {
            return self.tell_stages();
        }
        if self.ending.is_none() {
            // An error that is fatal because a process has died: the reason is that death.
            let is_of_death =
                code == Class::ProcFailed.value() || code == Class::ProcFailedPending.value();
            let first = self.deaths.filter(|_| is_of_death);
            let code = first.unwrap_or(code);
            self.ranks[number].look_for_debugger(&self.segment);
            let name = self.ranks[number].name(self.plan, &self.segment);
            if !std::mem::replace(&mut self.ranks[number].abort_said, true) {
                // No error has this number.
                let why = match code {
                    0 => ": MPI_Abort",
                    _ => ": MPI_Abort, or an error that is fatal",
                };
                self.say(&format!("{name} ended the job with exit code {code}{why}"));
            }
            // A single rank ends itself; its debugger may go on.
            let rank = &self.ranks[number];
            if self.ranks.len() == 1 && rank.is_running() && rank.shown_debugger().is_some() {
                self.code.get_or_insert(code);
                return;
            }
            self.fail(code, Cause::Abort);
        }
    }

    /// A rank that ended without MPI while others are in it will be missed.
    fn check_absent(&mut self) {
        if self.ending.is_some() || self.is_keeper() {
            return;
        }
        let segment = &self.segment;
        let inside = |rank: &&Rank| rank.is_running() && rank.stage(segment).is_inside();
        let absent = self
            .ranks
            .iter()
            .filter(|rank| rank.stage(segment) == Stage::Outside);
        let stuck = self.server.waiting().next().is_some();
        let absent = absent.filter_map(|rank| match rank.life {
            Life::Exited(code) => Some((rank, code)),
            // That was said; but others are in MPI_Init, which needs all.
            Life::Killed(signal) if stuck => Some((rank, 128 + signal)),
            Life::Lost if stuck => Some((rank, LOST_CODE)),
            _ => None,
        });
        let Some((rank, code)) =
            absent.max_by_key(|(rank, code)| (*code != 0, usize::MAX - rank.number))
        else {
            return;
        };
        if !self.ranks.iter().any(|rank| inside(&rank)) {
            return;
        }
        let name = rank.name(self.plan, segment);
        if code != 0 || stuck {
            let how = match rank.life {
                Life::Exited(_) => format!("ended with exit code {code}"),
                _ => "was lost".to_owned(),
            };
            // Where the job goes on it is looked at again.
            if self.checks.absent.insert(rank.number) {
                self.say(&format!(
                    "{name} {how} before MPI_Init, but other ranks are in MPI"
                ));
            }
            let code = if code == 0 { 1 } else { code };
            match stuck && self.survives() {
                // Others are in MPI_Init, which needs all.
                true => self.missed(code),
                false => self.died(code),
            }
        } else if !self.checks.warned {
            self.checks.warned = true;
            self.say(&format!(
                "warning: {name} ended before MPI_Init, but other ranks are in MPI; what waits for it will fail"
            ));
        }
    }

    /// A signal that somebody sent to mpiexec.
    pub(super) fn told_signal(&mut self, signal: i32, by_kernel: bool) {
        let at_terminal = self.ranks.iter().any(|rank| rank.session.is_none());
        self.tell_spawned(signal);
        match signal {
            // The rank has got it too, and may live on: a debugger, an interpreter at its prompt.
            SIGINT if by_kernel && at_terminal => {
                self.ranks[0].look_for_debugger(&self.segment);
                if self.ranks[0].shown_debugger().is_none() {
                    self.show_hang();
                }
            }
            SIGINT | SIGTERM | SIGHUP | SIGQUIT if self.is_keeper() => {
                let why = format!("its node keeper got {}", signal_name(signal));
                self.leave_root(&why);
                self.fail(128 + signal, Cause::AtOnce);
            }
            SIGINT | SIGTERM | SIGHUP | SIGQUIT => {
                let again = self
                    .ending
                    .as_ref()
                    .is_some_and(|it| it.cause != Cause::Leftovers);
                self.checks.all_end = true;
                let cause = match signal {
                    SIGQUIT => Cause::AtOnce,
                    _ if again => Cause::AtOnce,
                    SIGINT => Cause::Interrupt,
                    _ => Cause::Terminate,
                };
                if !again {
                    let hint = if cause == Cause::Interrupt {
                        " (once more: at once)"
                    } else {
                        ""
                    };
                    self.say(&format!(
                        "got {}: ending the job{hint}",
                        signal_name(signal)
                    ));
                    self.show_hang();
                }
                self.fail(128 + signal, cause);
            }
            SIGALRM if !self.is_keeper() => self.time_is_over(true),
            SIGUSR1 => {
                self.show_table();
                if self.plan.request.stack_traces {
                    self.show_stacks();
                }
            }
            SIGUSR2 => self.signal_ranks(Signal::USR2),
            // The rank has got it too: an editor would put its terminal in order twice, and stop again after it was continued.
            SIGTSTP if by_kernel && at_terminal => {}
            SIGTSTP => self.suspend_ranks(),
            SIGCONT => {
                self.signal_ranks(Signal::CONT);
                // This process may be in the foreground now, where it may read from the terminal.
                self.input.advance(&self.epoll);
            }
            _ => {}
        }
    }

    /// `told`: by a signal, which jobs that were spawned have got too.
    fn time_is_over(&mut self, told: bool) {
        if !self.checks.timed_out && self.ending.is_none() {
            self.checks.timed_out = true;
            self.checks.all_end = true;
            if !told {
                self.tell_disconnected(SIGALRM);
            }
            let limit = self.plan.request.timeout;
            let limit = limit.map_or(String::new(), |limit| format!(" of {limit} s"));
            self.say(&format!("the time limit{limit} is over: ending the job"));
            self.show_table();
            if self.plan.request.stack_traces {
                self.show_stacks();
            }
            self.fail(TIMEOUT_CODE, Cause::Failure);
        }
    }

    pub(super) fn show_stacks(&mut self) {
        if let Some(tree) = &mut self.tree {
            tree.broadcast(&Frame::StacksWanted);
        }
        let here = self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
        let running = here.filter(|rank| rank.is_running());
        let processes: Vec<_> = running
            .map(|rank| (rank.world, rank.mpi_pid(&self.segment)))
            .collect();
        self.show(&stacks::show(&processes));
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let rows = self.ranks.iter().map(|rank| rank.row(&self.segment));
        rows.collect()
    }

    pub(super) fn show_table(&mut self) {
        if self.wait_for_rows(Wish::Whole) {
            return;
        }
        let text = render(&self.rows());
        self.show(&text);
    }

    /// For somebody who did not ask.
    pub(super) fn show_short_table(&mut self) {
        let text = render_short(&self.rows());
        self.show(&text);
    }

    /// Shows what is known of the ranks to somebody who ends the job, maybe because it hangs.
    fn show_hang(&mut self) {
        if !self.wait_for_rows(Wish::IfHanging) {
            self.show_if_hanging();
        }
    }

    pub(super) fn show_if_hanging(&mut self) {
        let rows = self.rows();
        let known = |row: &Row| row.time.is_some() && (rows.len() > 1 || row.wait.is_some());
        if rows.iter().any(known) {
            self.show(&render_short(&rows));
        }
    }

    /// Does what is due by the clock; when something will be due next.
    pub(super) fn due(&mut self, now: Instant) -> Option<Instant> {
        if let Some(error) = self.output.broken()
            && self.ending.is_none()
        {
            // As any program whose reader has gone: no words about that.
            if error == Errno::PIPE {
                self.fail(128 + 13, Cause::Failure);
            } else {
                self.say(&format!("cannot write standard output: {error}"));
                self.fail(1, Cause::Failure);
            }
        }
        let mut next = None;
        let mut earlier =
            |time: Instant| next = Some(next.map_or(time, |next: Instant| next.min(time)));
        if let Some(ending) = &mut self.ending {
            let signal = ending.due(now);
            earlier(ending.next(now));
            if let Some(signal) = signal {
                if std::mem::take(&mut self.table_due) {
                    self.show_short_table();
                }
                self.signal_job(signal);
            }
            return next;
        }
        if self.input.is_suspended() {
            self.input.advance(&self.epoll);
            if self.input.is_suspended() {
                earlier(now + FOREGROUND);
            }
        }
        if let Some(limit) = self.plan.request.timeout.filter(|limit| *limit > 0.0) {
            let end = self.begin + Duration::from_secs_f64(limit.min(1e9));
            if now >= end {
                self.time_is_over(false);
                return Some(now);
            }
            earlier(end);
        }
        if let Some((number, due)) = self.checks.lost {
            if now >= due {
                self.checks.lost = None;
                self.judge_lost(number);
                return Some(now);
            }
            earlier(due);
        }
        if self.plan.size > 1 {
            let regular = self.next_check();
            let soon = self.checks.soon.unwrap_or(regular);
            if now >= regular.min(soon) {
                self.checks.done += u32::from(now >= regular);
                self.checks.soon = self.checks.soon.filter(|soon| now < *soon);
                self.check();
                return Some(now);
            }
            earlier(regular.min(soon));
        }
        next
    }

    fn next_check(&self) -> Instant {
        let number = self.checks.done as usize;
        let milliseconds = CHECKS
            .get(number)
            .copied()
            .unwrap_or_else(|| 5000 * (number - CHECKS.len() + 1) as u64);
        self.begin + Duration::from_millis(milliseconds)
    }

    /// Looks at what no event tells.
    fn check(&mut self) {
        self.check_absent();
        (0..self.ranks.len()).for_each(|rank| self.tell_ranks(rank));
        self.watch_descendants();
        if self.is_keeper() {
            return;
        }
        let nobody = |rank: &Rank| rank.stage(&self.segment) == Stage::Outside;
        if !self.ranks.iter().all(nobody) {
            return;
        }
        // The rank may be a shell that started the program.
        let here = |rank: &&Rank| rank.elsewhere.is_none() && rank.is_running();
        let Some(first) = self.ranks.iter().find(here) else {
            return;
        };
        let below = descendants::below(first.pid);
        let complaint = std::iter::once(first.pid)
            .chain(below)
            .find_map(foreign::mapped);
        if let Some(complaint) = complaint {
            let program = &self.plan.programs[0].shown;
            self.say(&format!("{program} {complaint}"));
            self.fail(1, Cause::Failure);
        }
    }

    /// Where the process in MPI is a descendant of the one we started (a script's program), its end must be watched too.
    fn watch_descendants(&mut self) {
        for rank in self
            .ranks
            .iter_mut()
            .filter(|rank| rank.elsewhere.is_none())
        {
            rank.look_for_debugger(&self.segment);
            let pid = rank.mpi_pid(&self.segment);
            let new = pid != rank.pid && !self.checks.watched.contains_key(&rank.number);
            // A rank in a namespace of its own calls itself by another number than we do.
            if !new || !rank.is_running() || !descendants::below(rank.pid).contains(&pid) {
                continue;
            }
            let handle = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
            if let Some(Ok(handle)) = handle {
                let _ = epoll::add(
                    &self.epoll,
                    &handle,
                    tag(WATCHED, rank.number),
                    EventFlags::IN,
                );
                self.checks.watched.insert(rank.number, handle);
            }
        }
    }

    /// The process of a rank that was in MPI has ended; usually the one that started it ends now too.
    pub(super) fn watched_ended(&mut self, number: usize) {
        if let Some(handle) = self.checks.watched.get(&number) {
            let _ = epoll::delete(&self.epoll, handle);
        }
        self.checks.lost = Some((number, Instant::now() + Duration::from_millis(100)));
    }

    fn judge_lost(&mut self, number: usize) {
        if self.plan.size == 1 {
            return;
        }
        let rank = &self.ranks[number];
        if rank.is_running() && rank.stage(&self.segment).is_inside() {
            let name = rank.name(self.plan, &self.segment);
            if let Some(debugger) = rank.shown_debugger() {
                self.say(&format!(
                    "{name} ended without MPI_Finalize in its debugger, {debugger}; what waits for this rank waits until the \
                     debugger has ended too, which ends the job"
                ));
                return;
            }
            self.say(&format!(
                "{name} died without MPI_Finalize; the process that started it goes on"
            ));
            self.died(1);
        }
    }
}

/// A shell passes on the death of its last command as 128 + signal.
fn as_of_a_shell(code: i32) -> String {
    match code {
        129..=159 => format!(" (as after {})", signal_name(code - 128)),
        _ => String::new(),
    }
}
