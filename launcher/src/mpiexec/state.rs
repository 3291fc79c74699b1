//! What the supervisor remembers for each of its tasks: the files named here work with it.
//!
//! `exit_policy.rs`: [`Checks`]; `balance.rs`: [`Balance`]; `verdict/`: [`Verdict`]; `spawned.rs`: [`Spawned`]; `nodes/ends.rs`: [`Ends`]; `nodes/below.rs`: [`AtKeeper`]; `nodes/root.rs`: [`AtRoot`];
//! `top/watchers.rs`: [`Watching`].

use super::output::Kind;
use super::rank::Stage;
use super::top::sample::{Sample, Sampler};
use super::verdict::family::{Ended, Family};
use super::verdict::partial::Partial;
use super::verdict::proof::Proof;
use super::verdict::schedule::Schedule;
use super::verdict::told::Asked;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// What is due by the clock.
#[derive(Default)]
pub struct Checks {
    /// Regular looks so far.
    pub done: u32,
    /// When to look at the others because a rank has ended.
    pub soon: Option<Instant>,
    /// The time limit is over, and that was said.
    pub timed_out: bool,
    /// So are disconnected jobs to end: by a signal to mpiexec, or the time limit.
    pub all_end: bool,
    /// Ranks that have ended before MPI_Init, of which that was said.
    pub absent: HashSet<usize>,
    /// A warning about ranks that have ended before MPI_Init was given.
    pub warned: bool,
    /// Ranks whose process in MPI is not the one we started, and a handle to see it end.
    pub watched: HashMap<usize, OwnedFd>,
    /// A rank whose process in MPI has ended while the one we started goes on, and when to judge it.
    pub lost: Option<(usize, Instant)>,
}

/// Clock ticks.
#[derive(Default)]
pub struct Look {
    pub at: Option<Instant>,
    pub of_ranks: Vec<u64>,
    pub idle: BTreeMap<usize, u64>,
}

/// Looks at whether ranks that share a core are better off unbound.
pub struct Balance {
    pub period: Duration,
    pub next: Instant,
    pub last: Look,
    pub found: u32,
}

/// A job that was spawned.
pub struct Spawned {
    pub pid: i32,
    pub socket: Option<UnixStream>,
    pub heard: Vec<u8>,
    /// The rank that waits for an answer, and how many processes it wants.
    pub asker: Option<(usize, usize)>,
    /// The answer to it, if the start works.
    pub codes: String,
    /// The secret part of the port that the processes connect to.
    pub cookie: String,
    pub connected: bool,
    pub disconnected: bool,
    pub failed: bool,
    /// Its code is that of a death, which nobody of it has survived.
    pub died_out: bool,
    pub running: bool,
    pub sources: Vec<usize>,
    /// The rank that has spawned it.
    pub spawner: usize,
    /// It was started, and can be asked what its ranks do: how often it was, and how often it has answered.
    pub started: bool,
    pub asked: u64,
    pub answered: u64,
    /// It has said of which jobs it was, and what they had sent, at its end.
    pub summed: bool,
}

/// What the keeper knows of its own ranks.
#[derive(Default)]
pub struct Ends {
    /// By index: what the page says, since when, and whether that was told.
    pub known: HashMap<usize, (u32, Instant, bool)>,
    /// A rank of any host has died.
    pub has_death: bool,
    /// Hosts that are lost have told nothing: ranks and what to say.
    pub lost: Vec<(u32, u32)>,
}

/// A rank's input, and what it has not taken yet.
pub struct Pipe {
    pub fd: OwnedFd,
    pub bytes: Vec<u8>,
    pub ended: bool,
    pub waiting: bool,
}

/// What only a node keeper knows.
#[derive(Default)]
pub struct AtKeeper {
    /// The rank and kind of each source of output.
    pub streams: HashMap<usize, (usize, Kind)>,
    pub inputs: HashMap<usize, Pipe>,
    /// What the root knows of each rank.
    pub stages: HashMap<usize, (Stage, i32)>,
    /// The root needs nothing more, or is gone.
    pub released: bool,
}

/// The way to the input of a rank on another host.
pub struct Feed {
    pub fd: OwnedFd,
    /// Bytes that may still be sent.
    pub window: usize,
    pub paused: bool,
}

/// Which table to show when the rows have come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    Whole,
    IfHanging,
}

/// What only the root knows.
#[derive(Default)]
pub struct AtRoot {
    pub feeds: HashMap<usize, Feed>,
    /// Tables to show, until when to wait for rows, and how many keepers have still to answer.
    pub wishes: Vec<(Wish, Instant, usize)>,
    /// When the keepers were told to end.
    pub ends: Option<Instant>,
    pub killed: bool,
}

/// What the sweeps over the ranks have found.
#[derive(Default)]
pub struct Verdict {
    pub next: Option<Instant>,
    /// When other hosts are asked next although ranks of this one may move.
    pub parts_at: Option<Instant>,
    pub schedule: Schedule,
    pub proof: Proof,
    pub partial: Partial,
    /// The jobs that it is about, and what has ended of them.
    pub family: Family,
    pub ended: Ended,
    /// What the activity of each rank was that was said to be stuck.
    pub said: Option<Vec<Option<u64>>>,
    /// Questions to keepers and spawned jobs so far, and the one that they have not all answered.
    pub questions: u32,
    pub asked: Option<Asked>,
}

impl Verdict {
    /// All proofs begin anew.
    pub fn forget(&mut self) {
        self.proof.forget();
        self.partial.forget();
        self.asked = None;
    }
}

/// Those who watch the job by `mpiexec -top`, and what is found for them.
#[derive(Default)]
pub struct Watching {
    pub listener: Option<UnixListener>,
    /// By number; those that have left leave their places to others.
    pub watchers: Vec<Option<Watcher>>,
    /// Of the ranks of this host, while somebody watches.
    pub sampler: Option<Sampler>,
    /// Questions to the keepers so far, and the one that is asked.
    pub questions: u32,
    pub gathered: Option<Gathered>,
    /// Places that have not answered in time, and are not waited for until they do.
    pub silent: BTreeSet<u32>,
}

pub struct Watcher {
    pub stream: UnixStream,
    pub heard: Vec<u8>,
    pub unsaid: Vec<u8>,
    /// It has asked, and has no answer yet.
    pub waits: bool,
}

/// What keepers have answered to a question.
pub struct Gathered {
    pub number: u32,
    pub until: Instant,
    /// Places that have not answered.
    pub left: BTreeSet<u32>,
    pub samples: Vec<Sample>,
}
