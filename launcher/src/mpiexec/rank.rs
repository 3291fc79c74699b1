//! What mpiexec knows of one rank: its process, its connection, and how far it is in MPI.
//!
//! A program of oxmpi tells nothing: its status page in the segment is read. A program of another MPI tells by PMI-1.

use super::activity::Activity;
use super::debugger;
use super::plan::Plan;
use super::table::{Row, Wait, signal_name};
use super::verdict::proof::Exchanged;
use oxmpi::launch::exit_status;
use oxmpi::launch::wire::Lines;
use oxmpi::os::monotonic_nanoseconds;
use oxmpi::sync::Ordering;
use oxmpi::transport::layout::Segment;
use oxmpi::transport::life::{State, World};
use oxmpi::transport::peer::Page;
use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Life {
    Running,
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// With its host, which cannot be reached.
    Lost,
}

/// How far a rank is in MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    Outside,
    Inside,
    /// Has these sessions open, and nothing else.
    InSessions(u32),
    /// Its MPI_Finalize has returned an error.
    Failed,
    Finalized,
    /// With this exit status.
    Aborted(i32),
}

impl Stage {
    /// Of a rank that has joined.
    fn of(page: &Page) -> Stage {
        match (page.world(), page.sessions.load(Ordering::Acquire)) {
            (World::Failed, _) => Stage::Failed,
            (World::Before | World::Finalized, sessions @ 1..) => Stage::InSessions(sessions),
            _ => Stage::Inside,
        }
    }

    /// Whether it may communicate.
    pub fn is_inside(self) -> bool {
        matches!(self, Stage::Inside | Stage::InSessions(_) | Stage::Failed)
    }
}

pub struct Rank {
    /// Its index among the ranks that this process knows; at the root the rank in MPI_COMM_WORLD.
    pub number: usize,
    /// In MPI_COMM_WORLD.
    pub world: usize,
    /// Its page in the segment.
    pub seat: usize,
    /// The place of its keeper, if that is another process than this one.
    pub elsewhere: Option<u32>,
    /// Its row in the table of waits, as that keeper sent it last.
    pub told_row: Option<Row>,
    /// What it had sent and handled when it ended, as that keeper has told.
    pub exchanged: Option<Exchanged>,
    pub pid: i32,
    /// The leader of its session; `None`: the session is not of mpiexec's making.
    pub session: Option<i32>,
    pub pmi: Option<OwnedFd>,
    pub lines: Lines,
    /// Numbers of its streams in `Output`.
    pub sources: Vec<usize>,
    pub life: Life,
    /// The debugger that it was seen in.
    pub debugger: Option<i32>,
    /// That it has ended the job was said.
    pub abort_said: bool,
    /// What it told by PMI-1.
    pub told: Stage,
}

impl Rank {
    /// A rank that runs, on this host, of which nothing else is known.
    pub fn running(number: usize, world: usize, seat: usize, pid: i32) -> Rank {
        Rank {
            number,
            world,
            seat,
            elsewhere: None,
            told_row: None,
            exchanged: None,
            pid,
            session: None,
            pmi: None,
            lines: Lines::default(),
            sources: Vec::new(),
            life: Life::Running,
            debugger: None,
            abort_said: false,
            told: Stage::Outside,
        }
    }

    pub fn is_running(&self) -> bool {
        self.life == Life::Running
    }

    pub fn stage(&self, segment: &Segment<'_>) -> Stage {
        if let Stage::Aborted(_) = self.told {
            return self.told;
        }
        if self.elsewhere.is_some() {
            return self.told;
        }
        let page = &segment.rank(self.seat).status;
        match page.state() {
            State::NotJoined => self.told,
            State::Joined => Stage::of(page),
            State::Finalized => Stage::Finalized,
            State::Aborted => Stage::Aborted(exit_status(page.abort_code.load(Ordering::Relaxed))),
        }
    }

    /// The process that is in MPI, which may be a descendant of the one that was started.
    pub fn mpi_pid(&self, segment: &Segment<'_>) -> i32 {
        if self.elsewhere.is_some() {
            return self.pid;
        }
        match segment.rank(self.seat).status.pid.load(Ordering::Relaxed) {
            0 => self.pid,
            pid => pid,
        }
    }

    /// Looks for a debugger that mpiexec has started with the rank.
    pub fn look_for_debugger(&mut self, segment: &Segment<'_>) {
        let pid = self.mpi_pid(segment);
        if pid != self.pid {
            let tracer = segment
                .rank(self.seat)
                .status
                .tracer
                .load(Ordering::Relaxed);
            self.debugger = debugger::of(pid, tracer, self.pid).or(self.debugger);
        }
    }

    /// That debugger, if it is still there, for messages.
    pub fn shown_debugger(&self) -> Option<String> {
        debugger::shown(self.debugger?)
    }

    /// For messages: rank, process, host and program.
    pub fn name(&self, plan: &Plan, segment: &Segment<'_>) -> String {
        let program = &plan.programs[plan.ranks[self.number].program].shown;
        let pid = self.mpi_pid(segment);
        format!(
            "rank {} (pid {pid} on {}, {program})",
            self.world,
            plan.host_of(self.number)
        )
    }

    /// Whether it waits in MPI, as its page says. Of this host.
    pub fn is_waiting(&self, segment: &Segment<'_>) -> bool {
        let page = &segment.rank(self.seat).status;
        let is_inside = page.state() != State::NotJoined && self.stage(segment).is_inside();
        let waits = || page.waits.longest().is_some_and(|it| it.threads != 0);
        self.is_running() && is_inside && waits()
    }

    /// The rank's line of the table.
    pub fn row(&self, segment: &Segment<'_>) -> Row {
        if self.elsewhere.is_some() {
            return self.row_elsewhere();
        }
        let page = &segment.rank(self.seat).status;
        let ours = page.state() != State::NotJoined;
        let stage = self.stage(segment);
        let joined = ours && stage.is_inside() && self.is_running();
        let waits = page.waits.longest();
        let threads = waits.as_ref().map_or(0, |waits| waits.threads);
        let threads = if joined { threads } else { 0 };
        let state = match (self.life, stage) {
            (Life::Exited(_) | Life::Killed(_) | Life::Lost, _) => self.life.shown(),
            (_, Stage::Outside) => "before MPI_Init".into(),
            (_, Stage::Finalized) => "after MPI_Finalize".into(),
            (_, Stage::Aborted(_)) => "in MPI_Abort".into(),
            _ => state_inside(self.mpi_pid(segment), ours, threads != 0).into(),
        };
        // A library of another version may say nothing.
        let since = waits.as_ref().map_or(0, |waits| waits.since);
        let time = (joined && since != 0)
            .then(|| Duration::from_nanos(monotonic_nanoseconds().saturating_sub(since)));
        Row {
            pid: self.mpi_pid(segment),
            state,
            time,
            queues: waits
                .as_ref()
                .filter(|_| ours)
                .map(|waits| waits.queues.into()),
            wait: waits.filter(|_| threads != 0).map(|waits| Wait {
                function: waits.function.into_owned(),
                further_threads: threads - 1,
                what: waits.wait,
            }),
        }
    }
}

impl Rank {
    /// Of another host: what its keeper said, unless the rank has ended since.
    fn row_elsewhere(&self) -> Row {
        let told = self.told_row.clone().unwrap_or_else(|| Row {
            state: "no answer from its host".into(),
            ..Row::default()
        });
        match self.life {
            Life::Running => told,
            ended => Row {
                pid: self.pid,
                state: ended.shown(),
                ..Row::default()
            },
        }
    }
}

impl Life {
    /// For the table.
    fn shown(self) -> String {
        match self {
            Life::Running => "running".into(),
            Life::Exited(code) => format!("ended, exit code {code}"),
            Life::Killed(signal) => signal_name(signal),
            Life::Lost => "its host is lost".into(),
        }
    }
}

/// What to call the state of a rank between MPI_Init and MPI_Finalize. Of a program of another MPI nobody knows whether it waits.
fn state_inside(pid: i32, ours: bool, waits: bool) -> &'static str {
    match Activity::of(pid) {
        Some(Activity::Stopped) => "stopped",
        Some(Activity::Traced) => "in a debugger",
        Some(Activity::Runs) if ours && !waits => "computing",
        Some(Activity::Sleeps) if ours && !waits => "sleeping",
        Some(Activity::Disk) if ours && !waits => "in I/O",
        _ => "in MPI",
    }
}
