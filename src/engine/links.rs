//! Connections to processes of other jobs: which links there are, which communicators use them, and their end.
//!
//! Invariant: a link is there as long as a communicator has processes that are reached by it. What MPI_Comm_free has ended stays a
//! connection, as the standard has it, until the processes at the other end are gone.

use super::{Engine, enter};
use crate::error::{Class, Error, Result};
use crate::group::names;
use crate::os::monotonic_nanoseconds;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::transport::link::Plan;
use crate::transport::{Link, Page, Peer, Route, Seat, State};
use parking_lot::Mutex;

/// A link in use.
struct Connection {
    link: u16,
    /// Numbers of the processes at the other end.
    processes: Vec<u32>,
    /// Communicators with some of them.
    users: usize,
    /// Whether one of those was freed and not disconnected.
    kept: bool,
    /// To be called when it ends.
    at_end: Option<Box<dyn FnOnce() + Send>>,
}

static CONNECTIONS: Mutex<Vec<Connection>> = Mutex::new(Vec::new());

/// The number of the node of the first process met that is on a node of another job.
const FIRST_NODE: u32 = 1 << 15;
/// Job and node there, by number from [`FIRST_NODE`] on.
static NODE_NAMES: Mutex<Vec<(u64, u32)>> = Mutex::new(Vec::new());

/// The number here of a node of another job.
fn node_of(job: u64, node: u32) -> u32 {
    let mut known = NODE_NAMES.lock();
    let place = known.iter().position(|it| *it == (job, node));
    let place = place.unwrap_or_else(|| {
        known.push((job, node));
        known.len() - 1
    });
    FIRST_NODE + place as u32
}

/// A process of another job on this host that was met and had no route, with its seat in a new link and its node in its job.
pub struct Met {
    pub process: u32,
    pub seat: usize,
    pub node: u32,
}

/// A link that is there although no communicator uses it yet.
#[must_use]
pub struct Hold(u16);

impl Drop for Hold {
    fn drop(&mut self) {
        let mut connections = CONNECTIONS.lock();
        if let Some(connection) = connections.iter_mut().find(|it| it.link == self.0) {
            connection.users -= 1;
        }
        drop(connections);
        end_unused();
    }
}

/// Joins a link to the processes `met`.
///
/// Errors: MPI_ERR_OTHER, the memory cannot be shared; the text says why.
pub fn connect(plan: Plan, met: &[Met]) -> Result<Hold> {
    let mut engine = enter();
    let home = engine.transport.table().own();
    let link = Link::join(plan, home).map_err(|error| {
        Error::new(
            Class::Other,
            format!("the memory shared with processes of another job cannot be used: {error}"),
        )
    })?;
    let oversubscribed = engine.oversubscribed;
    let number = engine.transport.add_link(link);
    engine.transport.set_oversubscribed(oversubscribed);
    for it in met {
        let Some(page) = engine.transport.link(number).map(|link| link.page(it.seat)) else {
            continue;
        };
        let route = Route::Link(Seat {
            link: number,
            index: it.seat as u16,
        });
        let peer = Peer {
            node: node_of(names::of(it.process).job, it.node),
            route,
            seat: None,
            page,
        };
        engine.transport.table().set_foreign(it.process, peer);
        engine.peers.renew(it.process as usize);
    }
    CONNECTIONS.lock().push(Connection {
        link: number,
        processes: met.iter().map(|it| it.process).collect(),
        users: 1,
        kept: false,
        at_end: None,
    });
    Ok(Hold(number))
}

/// Whether a process is reached by this one.
pub fn is_connected(process: u32) -> bool {
    super::table().is_some_and(|table| table.has(process) && !table.of(process).is_disconnected())
}

/// A communicator with these processes is used from now on.
pub fn hold(processes: impl Iterator<Item = u32> + Clone) {
    visit(processes, |connection| connection.users += 1);
}

/// A communicator with these processes is used no more; `disconnects`: so that a link without users ends.
pub fn release(processes: impl Iterator<Item = u32> + Clone, disconnects: bool) {
    visit(processes, |connection| {
        connection.users -= connection.users.min(1);
        connection.kept |= !disconnects;
    });
    end_unused();
}

/// Visits the connections to some of these processes.
fn visit(processes: impl Iterator<Item = u32> + Clone, mut what: impl FnMut(&mut Connection)) {
    let foreign = processes.filter(|process| names::is_foreign(*process));
    for connection in CONNECTIONS.lock().iter_mut() {
        let is_of_it = |process: u32| connection.processes.contains(&process);
        if foreign.clone().any(is_of_it) {
            what(connection);
        }
    }
}

/// Ends the links that nothing uses: the connection was ended, or the others have.
pub fn end_unused() {
    if !names::has_foreign() {
        return;
    }
    let mut engine = enter();
    let mut ended = Vec::new();
    CONNECTIONS.lock().retain_mut(|connection| {
        let link = engine.transport.link(connection.link);
        let is_over = connection.users == 0
            && (!connection.kept || link.is_none_or(|link| link.is_deserted()));
        if is_over {
            let at_end = connection.at_end.take();
            ended.push((connection.link, connection.processes.clone(), at_end));
        }
        !is_over
    });
    for (link, processes, _) in &ended {
        engine.part(*link, processes);
    }
    drop(engine);
    for (_, _, at_end) in ended {
        at_end.into_iter().for_each(|tell| tell());
    }
}

/// Has `tell` called when the connection to a process ends, once.
pub fn at_end(process: u32, tell: impl FnOnce() + Send + 'static) {
    let mut connections = CONNECTIONS.lock();
    let mut of_it = connections.iter_mut();
    if let Some(connection) = of_it.find(|it| it.processes.contains(&process)) {
        connection.at_end = Some(Box::new(tell));
    }
}

/// The pages of this process in its links.
pub fn own_pages() -> Vec<&'static Page> {
    match names::has_foreign() {
        true => enter().transport.links().map(Link::own).collect(),
        false => Vec::new(),
    }
}

/// Tells the processes of other jobs that this one has left.
pub fn leave() {
    for page in own_pages() {
        page.set_state(State::Finalized);
        page.set_exited();
    }
}

/// The launcher tells nobody of ranks that have ended.
static IS_UNTOLD: AtomicBool = AtomicBool::new(false);

/// Says that the launcher of this job tells nobody of ranks that have ended: this process looks itself.
pub fn launcher_tells_nothing() {
    IS_UNTOLD.store(true, Ordering::Relaxed);
}

/// Time between two looks for ranks that have ended, nanoseconds: each is some files of /proc.
const PAUSE: u64 = 400_000_000;

/// Finds out which ranks of this host have ended, if nobody tells.
fn look_for_the_dead() {
    static LOOKED: AtomicU64 = AtomicU64::new(0);
    if IS_UNTOLD.load(Ordering::Relaxed) {
        let now = monotonic_nanoseconds();
        let looked = LOOKED.load(Ordering::Relaxed);
        if now - looked.min(now) > PAUSE {
            LOOKED.store(now, Ordering::Relaxed);
            let table = enter().transport.table().clone();
            table.mark_the_dead();
        }
    }
}

/// Finds out which processes have ended that no mpiexec of ours watches; called with liveness checks.
pub(super) fn look_after() {
    look_for_the_dead();
    if names::has_foreign() {
        enter().transport.links().for_each(Link::mark_the_dead);
        end_unused();
    }
}

impl Engine {
    /// Ends a link to these processes.
    fn part(&mut self, link: u16, processes: &[u32]) {
        // What waits for room, if a peer has died, will never leave.
        self.busy.retain(|process| !processes.contains(process));
        for process in processes {
            self.transport
                .table()
                .set_foreign(*process, Peer::disconnected());
            self.peers.renew(*process as usize);
        }
        self.transport.remove_link(link);
    }
}
