//! What mpiexec knows of one rank: its process, its connection, and how far it is in MPI.
//!
//! A program of oxmpi tells nothing: its status page in the segment is read. A program of another MPI tells by PMI-1.

use super::plan::Plan;
use super::table::{Row, Wait, signal_name};
use oxmpi::launch::exit_status;
use oxmpi::launch::wire::Lines;
use oxmpi::os::monotonic_nanoseconds;
use oxmpi::sync::Ordering;
use oxmpi::transport::shm::layout::Segment;
use oxmpi::transport::shm::status::State;
use std::os::fd::OwnedFd;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Running,
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// How far a rank is in MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Outside,
    Inside,
    Finalized,
    /// With this exit status.
    Aborted(i32),
}

pub struct Rank {
    pub number: usize,
    pub pid: i32,
    pub own_session: bool,
    pub pmi: Option<OwnedFd>,
    pub lines: Lines,
    /// Numbers of its streams in `Output`.
    pub sources: Vec<usize>,
    pub life: Life,
    /// What it told by PMI-1.
    pub told: Stage,
}

impl Rank {
    pub fn is_running(&self) -> bool {
        self.life == Life::Running
    }

    pub fn stage(&self, segment: &Segment<'_>) -> Stage {
        if let Stage::Aborted(_) = self.told {
            return self.told;
        }
        let page = &segment.rank(self.number).status;
        match page.state() {
            State::NotJoined => self.told,
            State::Joined => Stage::Inside,
            State::Finalized => Stage::Finalized,
            State::Aborted => Stage::Aborted(exit_status(page.abort_code.load(Ordering::Relaxed))),
        }
    }

    /// The process that is in MPI, which may be a descendant of the one that was started.
    pub fn mpi_pid(&self, segment: &Segment<'_>) -> i32 {
        match segment.rank(self.number).status.pid.load(Ordering::Relaxed) {
            0 => self.pid,
            pid => pid,
        }
    }

    /// For messages: rank, process, host and program.
    pub fn name(&self, plan: &Plan, segment: &Segment<'_>) -> String {
        let program = &plan.programs[plan.ranks[self.number].program].shown;
        let pid = self.mpi_pid(segment);
        format!(
            "rank {} (pid {pid} on {}, {program})",
            self.number, plan.host
        )
    }

    /// The rank's line of the table.
    pub fn row(&self, segment: &Segment<'_>) -> Row {
        let page = &segment.rank(self.number).status;
        let load = |number: &oxmpi::sync::AtomicU32| number.load(Ordering::Relaxed);
        let ours = page.state() != State::NotJoined;
        let stage = self.stage(segment);
        let state = match (self.life, stage) {
            (Life::Exited(code), _) => format!("ended, exit code {code}"),
            (Life::Killed(signal), _) => signal_name(signal),
            (_, Stage::Outside) => "before MPI_Init".into(),
            (_, Stage::Inside) => "in MPI".into(),
            (_, Stage::Finalized) => "after MPI_Finalize".into(),
            (_, Stage::Aborted(_)) => "in MPI_Abort".into(),
        };
        let waits = ours && stage == Stage::Inside && load(&page.waiting) != 0;
        let known = |number: i32| (number >= 0).then_some(number);
        let wait = waits.then(|| {
            let since = page.since.load(Ordering::Relaxed);
            let name = page.communicator.load().replace(char::is_control, "?");
            Wait {
                function: page.function.load(),
                peer: known(page.peer.load(Ordering::Relaxed)),
                tag: known(page.tag.load(Ordering::Relaxed)),
                communicator: match (name.is_empty(), load(&page.context)) {
                    (false, _) => name,
                    (true, u32::MAX) => "-".into(),
                    // The two low bits say what the library does with it.
                    (true, context) => format!("no name, context {}", context & !3),
                },
                time: Duration::from_nanos(monotonic_nanoseconds().saturating_sub(since)),
            }
        });
        Row {
            pid: self.mpi_pid(segment),
            state,
            wait,
            queues: ours.then(|| {
                (
                    load(&page.posted),
                    load(&page.unexpected),
                    load(&page.sending),
                )
            }),
        }
    }
}
