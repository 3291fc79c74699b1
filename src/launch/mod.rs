//! How this process became part of a job: started by oxmpi's mpiexec, by a server of PMI-1 (MPICH's hydra, Slurm's
//! pmi2 plug-in) or PMIx (Slurm's pmix plug-in, PRRTE), or alone. Knows ranks and nodes, and brings the segment that the
//! ranks of a node share; what is in the segment is the transport's business.
//!
//! Invariant: a process that was started as one of several ranks never becomes a job of its own in silence.

mod client;
mod environment;
pub mod map;
mod mapping;
pub mod nodes;
mod pmix;
#[rustfmt::skip]
#[allow(dead_code, non_camel_case_types, non_upper_case_globals, missing_debug_implementations, unreachable_pub, clippy::all)]
mod pmix_bindings;
mod refusal;
mod segment;
mod service;
pub mod sets;
mod soft;
mod spawn;
mod start;
pub mod wire;

use crate::error::{Class, Error, Result};
use crate::os::addresses;
use crate::os::cancellation::Uncancelled;
use crate::os::process::{admit_descendants_of, die_with, exit_now, parent};
use crate::variables::{Listed, Variable};
use client::Client;
use environment::{Ours, Started};
use map::NodeMap;
use pmix::Pmix;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How many ranks a job can have.
pub const MOST_RANKS: u32 = 1 << 16;

pub use environment::names;
pub use segment::create as create_segment;
pub use soft::largest_of;
pub use spawn::Spawning;
pub use start::Program;

/// What started the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// oxmpi's own mpiexec.
    Mpiexec,
    /// Another launcher that speaks PMI-1.
    Pmi1,
    /// Another launcher that speaks PMIx.
    Pmix,
    /// Nobody: a job of one.
    Singleton,
}

/// This process's rank and its job.
#[derive(Debug)]
pub struct Job {
    pub rank: u32,
    pub size: u32,
    /// The ranks of this node in MPI_COMM_WORLD, ascending; this one's among them.
    pub local_ranks: Vec<u32>,
    /// The node of every rank.
    pub nodes: Arc<NodeMap>,
    /// How many processes the job could have; `None` if the launcher does not say.
    pub universe_size: Option<i32>,
    /// Which of the programs of an MPMD command line this is; `None` if the launcher does not say.
    pub appnum: Option<i32>,
    /// The segment of this node, initialised.
    pub segment: OwnedFd,
    pub segment_bytes: u64,
    pub how: Launcher,
    /// What tells the job from all others.
    pub id: u64,
    server: Mutex<Option<Server>>,
}

/// The launcher's key-value store.
#[derive(Debug)]
enum Server {
    Pmi1(Client),
    Pmix(Box<Pmix>),
}

/// What the transport knows about the segment, so that this module need not.
pub struct SegmentPlan<'a> {
    /// The size for so many ranks, bytes.
    pub bytes: &'a dyn Fn(usize) -> u64,
    /// Makes a fresh file of that size a segment for so many ranks.
    pub initialise: &'a dyn Fn(BorrowedFd<'_>, usize) -> io::Result<()>,
}

static SINGLETON: Variable<bool> = Variable::new(
    "SINGLETON",
    false,
    "Each process is a job of its own, whatever a launcher says.",
);
/// What users can set about joining a job.
pub static VARIABLES: &[&dyn Listed] = &[&SINGLETON];

/// Finds the job that this process belongs to.
///
/// Errors: the job cannot be joined (another library's launcher, a broken environment, no way to share memory).
pub fn join(plan: &SegmentPlan<'_>) -> Result<Job> {
    if SINGLETON.get() {
        return alone(plan);
    }
    match environment::detect(&|name| std::env::var(name).ok())? {
        Started::Ours(ours) => join_ours(ours, plan),
        Started::Inherited { fd, rank, size } => {
            join_pmi(Client::inherited(fd)?, (rank, size), plan)
        }
        Started::Port { address, id } => {
            let (client, rank, size) = Client::connected(&address, &id)?;
            join_pmi(client, (rank, size), plan)
        }
        Started::Pmix { namespace } => join_pmix(Pmix::connect(&namespace)?, plan),
        Started::Alone => alone(plan),
    }
}

fn alone(plan: &SegmentPlan<'_>) -> Result<Job> {
    let segment = |_: &[u32]| segment::create(plan, 1).map_err(|error| no_segment(&error));
    Job::new(
        Launcher::Singleton,
        (0, 1),
        NodeMap::of_one(1),
        plan,
        segment,
    )
}

fn join_ours(ours: Ours, plan: &SegmentPlan<'_>) -> Result<Job> {
    let segment = segment::of_mpiexec(&ours)?;
    // Should mpiexec and its supervisor be killed at the same moment, nobody else would end this process.
    die_with(ours.supervisor);
    admit_descendants_of(ours.supervisor);
    let server = ours
        .pmi_fd
        .and_then(crate::os::process::inherited)
        .map(|socket| Server::Pmi1(Client::silent(socket)));
    let place = (ours.rank, ours.size);
    Ok(Job {
        universe_size: ours.universe_size,
        appnum: ours.appnum,
        id: ours.job,
        server: Mutex::new(server),
        ..Job::new(Launcher::Mpiexec, place, ours.nodes, plan, |_| Ok(segment))?
    })
}

fn join_pmi(mut client: Client, place: (u32, u32), plan: &SegmentPlan<'_>) -> Result<Job> {
    client.introduce()?;
    // The launcher of the node, unless a script is in between: then windows are served by helper threads.
    admit_descendants_of(parent());
    let universe_size = client.number("get_universe_size", "size")?;
    let appnum = client.number("get_appnum", "appnum")?;
    let nodes = mapping::node_map(&mut client, place.0, place.1)?;
    let job = Job::new(Launcher::Pmi1, place, nodes, plan, |local_ranks| {
        segment::of_node(&mut client, place, local_ranks, plan)
    })?;
    Ok(Job {
        id: hash(&client.store_name()),
        universe_size: universe_size.filter(|size| *size > 0),
        appnum: appnum.filter(|appnum| *appnum >= 0),
        server: Mutex::new(Some(Server::Pmi1(client))),
        ..job
    })
}

/// A job's number, by its name (FNV-1a).
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Waits for no other rank.
fn join_pmix(pmix: Pmix, plan: &SegmentPlan<'_>) -> Result<Job> {
    admit_descendants_of(parent());
    let place = (pmix.rank(), pmix.size());
    let job = Job::new(Launcher::Pmix, place, pmix.nodes()?, plan, |local_ranks| {
        segment::of_first(&pmix.namespace(), local_ranks, plan)
    })?;
    Ok(Job {
        id: hash(&pmix.namespace()),
        universe_size: pmix.universe_size(),
        appnum: pmix.appnum(),
        server: Mutex::new(Some(Server::Pmix(Box::new(pmix)))),
        ..job
    })
}

/// Where mpiexec is in a debugger: waits until that has attached to the processes it wants.
pub fn wait_for_debugger(job: &Job) {
    let given = std::env::var(environment::names::DEBUG_GATE);
    let Some(given) = given.ok().filter(|_| job.how == Launcher::Mpiexec) else {
        return;
    };
    let gate = segment::descriptor(&given, None).map(std::fs::File::from);
    // Nothing comes but the end.
    let _ = gate.map(|mut gate| std::io::copy(&mut gate, &mut std::io::sink()));
}

/// Where our mpiexec wants the timeline of this process; `None`: nowhere.
///
/// Errors: it cannot be reached, which is as with the segment.
pub fn timeline(job: &Job) -> Result<Option<OwnedFd>> {
    let given = std::env::var(environment::names::TIMELINE);
    let keeper = std::env::var(environment::names::KEEPER).ok();
    match given {
        Ok(given) if job.how == Launcher::Mpiexec => {
            segment::of_timeline(&given, keeper.and_then(|pid| pid.parse().ok())).map(Some)
        }
        _ => Ok(None),
    }
}

/// How long another launcher has for what this process has written, before it hears that the job ends.
const FORWARDED_WITHIN: Duration = Duration::from_millis(100);

impl Job {
    /// This process's place among those of its node.
    pub fn seat(&self) -> usize {
        let seat = self.local_ranks.iter().position(|it| *it == self.rank);
        seat.unwrap_or_default()
    }

    /// What follows from a rank, the size and the nodes; `segment` gets the node's segment for its ranks.
    fn new(
        how: Launcher,
        (rank, size): (u32, u32),
        nodes: NodeMap,
        plan: &SegmentPlan<'_>,
        segment: impl FnOnce(&[u32]) -> Result<OwnedFd>,
    ) -> Result<Job> {
        let local_ranks = nodes.ranks_of(nodes.node_of(rank));
        Ok(Job {
            rank,
            size,
            segment: segment(&local_ranks)?,
            segment_bytes: (plan.bytes)(local_ranks.len()),
            local_ranks,
            nodes: Arc::new(nodes),
            universe_size: None,
            appnum: None,
            id: addresses::random() as u64,
            how,
            server: Mutex::new(None),
        })
    }

    /// Ends the whole job with the [`exit_status`] of this code, and this process at once.
    pub fn abort(&self, code: i32) -> ! {
        let status = exit_status(code);
        if matches!(self.how, Launcher::Pmi1 | Launcher::Pmix) {
            // hydra forwards nothing any more once it hears of the abort, and the error's text was just written.
            std::thread::sleep(FORWARDED_WITHIN);
        }
        if let Ok(mut server) = self.server.lock() {
            match server.as_mut() {
                Some(Server::Pmi1(client)) => {
                    client.abort(status);
                    if self.how == Launcher::Pmi1 {
                        // hydra answers by a kill and takes the exit code from the message, not from this process.
                        client.wait_for_the_end();
                    }
                }
                Some(Server::Pmix(pmix)) => pmix.abort(status),
                None => {}
            }
        }
        exit_now(status)
    }

    /// Tells the launcher that from now on an exit of this process is orderly. Its key-value store cannot be reached afterwards, but for that
    /// of our mpiexec, which reads the status page in the segment: there is nothing to say.
    ///
    /// Errors: the launcher is gone.
    pub fn finalize(&self) -> Result<()> {
        if self.how == Launcher::Mpiexec {
            return Ok(());
        }
        let mut server = self.server.lock().unwrap_or_else(|lock| lock.into_inner());
        finalize_at(server.take())
    }

    /// As [`Job::finalize`], by a process that exits. Where another of its threads speaks to the launcher nothing is told.
    ///
    /// Errors: the launcher is gone.
    pub fn finalize_at_exit(&self) -> Result<()> {
        match (self.how, self.server.try_lock()) {
            (Launcher::Mpiexec, _) | (_, Err(_)) => Ok(()),
            (_, Ok(mut server)) => finalize_at(server.take()),
        }
    }

    /// Whether the launcher's key-value store can be reached.
    pub fn has_server(&self) -> bool {
        let server = self.server.lock().unwrap_or_else(|lock| lock.into_inner());
        server.is_some()
    }

    /// Waits until all ranks of the job are in this call. Not under PMIx, where no call needs it.
    pub fn barrier(&self) -> Result<()> {
        self.with_server(|server| match server {
            Server::Pmi1(client) => client.barrier(),
            Server::Pmix(_) => Err(no_server()),
        })
    }

    /// Leaves a value (no blanks, below 1,000 characters) for other ranks. Under PMI-1 they see it after the next barrier.
    pub fn put(&self, key: &str, value: &str) -> Result<()> {
        self.with_server(|server| match server {
            Server::Pmi1(client) => client.put(key, value),
            Server::Pmix(pmix) => pmix.put(key, value),
        })
    }

    /// The value that a rank has left; `None` if there is none yet.
    pub fn get(&self, rank: u32, key: &str) -> Result<Option<String>> {
        self.with_server(|server| match server {
            Server::Pmi1(client) => client.get(key),
            Server::Pmix(pmix) => pmix.get(rank, key),
        })
    }

    fn with_server<T>(&self, call: impl FnOnce(&mut Server) -> Result<T>) -> Result<T> {
        let _uncancelled = Uncancelled::begin();
        let mut server = self.server.lock().unwrap_or_else(|lock| lock.into_inner());
        let server = server.as_mut().ok_or_else(no_server)?;
        if let Server::Pmi1(client) = server {
            client.introduce()?;
        }
        call(server)
    }
}

fn no_server() -> Error {
    Error::new(
        Class::Other,
        "the launcher's key-value store cannot be reached from this process",
    )
}

fn finalize_at(server: Option<Server>) -> Result<()> {
    match server {
        Some(Server::Pmi1(mut client)) => client.finalize(),
        Some(Server::Pmix(pmix)) => pmix.finalize(),
        None => Ok(()),
    }
}

/// The exit status that stands for an abort code: its low eight bits, as a shell sees it. Success is for code 0 alone.
pub fn exit_status(code: i32) -> i32 {
    match code & 0xff {
        0 => i32::from(code != 0),
        low => low,
    }
}

fn no_segment(error: &io::Error) -> Error {
    Error::new(
        Class::NoMem,
        format!("cannot make the shared memory segment of this node: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abort_succeeds_by_code_zero_alone() {
        assert_eq!(exit_status(0), 0);
        assert_eq!(exit_status(7), 7);
        assert_eq!(exit_status(256), 1);
        assert_eq!(exit_status(-256), 1);
        assert_eq!(exit_status(-1), 255);
    }

    #[test]
    fn alone_is_a_job_of_one_with_a_segment() {
        let plan = SegmentPlan {
            bytes: &|ranks| 4096 * ranks as u64,
            initialise: &|_, _| Ok(()),
        };
        let job = alone(&plan).unwrap();
        assert_eq!((job.rank, job.size, job.how), (0, 1, Launcher::Singleton));
        assert_eq!(job.segment_bytes, 4096);
        assert!(job.barrier().is_err());
        job.finalize().unwrap();
    }
}
