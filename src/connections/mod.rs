//! Connections to processes of other jobs: by a link or over the fabric ([`far`]), which communicators use them, and their end.
//!
//! Invariant: a connection is there as long as a communicator has processes that are reached by it. What MPI_Comm_free has ended stays a
//! connection, as the standard has it, until the processes at the other end are gone.

pub mod far;
mod guests;
mod lifelines;
mod told;

use crate::engine::{self, Engine, enter, liveness};
use crate::error::{Class, Error, Result};
use crate::group::names;
use crate::sync::{AtomicU64, Ordering};
use crate::transport::link::Plan;
use crate::transport::{Link, Page, Peer, Route, Seat, State};
use parking_lot::Mutex;

/// A connection in use.
struct Connection {
    number: u64,
    /// The link that it goes by; none: it goes over the fabric.
    link: Option<u16>,
    /// Numbers of the processes at the other end.
    processes: Vec<u32>,
    /// Communicators with some of them.
    users: usize,
    /// Whether one of those was freed and not disconnected.
    kept: bool,
    /// It is ending: nothing is sent any more, and the others are told.
    ends: bool,
}

type Tell = Box<dyn FnOnce() + Send>;

/// A callback for the disconnection of some processes, which may be reached by several connections: it is called when the last of these is over.
struct AtDisconnect {
    processes: Vec<u32>,
    tell: Tell,
    /// Whether one of the connections was ended with somebody at the other end.
    is_due: bool,
}

static CONNECTIONS: Mutex<Vec<Connection>> = Mutex::new(Vec::new());
static AT_DISCONNECT: Mutex<Vec<AtDisconnect>> = Mutex::new(Vec::new());
/// Of processes that are disconnected, to be called without an engine.
static TO_TELL: Mutex<Vec<Tell>> = Mutex::new(Vec::new());

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

/// A process of another job that shares memory with this one, and has no route yet.
pub struct NearPeer {
    pub process: u32,
    /// Its seat in the new link.
    pub seat: usize,
    /// Its node in its job.
    pub node: u32,
}

/// A connection that is there although no communicator uses it yet.
#[must_use]
pub struct Hold(u64);

impl Drop for Hold {
    fn drop(&mut self) {
        let mut connections = CONNECTIONS.lock();
        if let Some(connection) = connections.iter_mut().find(|it| it.number == self.0) {
            connection.users -= 1;
        }
        drop(connections);
        end_unused();
    }
}

/// Joins a link to the processes `met`.
///
/// Errors: MPI_ERR_OTHER, the memory cannot be shared; the text says why.
pub fn connect(plan: Plan, met: &[NearPeer]) -> Result<Hold> {
    let mut engine = enter();
    let home = engine.transport().table().own();
    let link = Link::join(plan, home).map_err(|error| {
        Error::new(
            Class::Other,
            format!("the memory shared with processes of another job cannot be used: {error}"),
        )
    })?;
    let pages: Vec<&'static Page> = met.iter().map(|it| link.page(it.seat)).collect();
    let number = engine.add_link(link);
    for (it, page) in met.iter().zip(pages) {
        let route = Route::Link(Seat {
            link: number,
            index: it.seat as u16,
        });
        let node = node_of(names::of(it.process).job, it.node);
        engine.reach(it.process, Peer::new(node, route, None, page));
    }
    let processes = met.iter().map(|it| it.process).collect();
    Ok(add(Some(number), processes))
}

/// Takes a connection to these processes into the list. Liveness checks look after it.
fn add(link: Option<u16>, processes: Vec<u32>) -> Hold {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut connections = CONNECTIONS.lock();
    // Processes that are met again move to the new connection.
    for connection in connections.iter_mut() {
        connection.processes.retain(|it| !processes.contains(it));
    }
    connections.push(Connection {
        number,
        link,
        processes,
        users: 1,
        kept: false,
        ends: false,
    });
    told::changed(&connections);
    drop(connections);
    liveness::look_until(move || look_after(number));
    Hold(number)
}

/// Whether a process is reached by this one.
pub fn is_connected(process: u32) -> bool {
    let Some(table) = engine::table().filter(|table| table.has(process)) else {
        return false;
    };
    let peer = table.of(process);
    let has_left = matches!(peer.route, Route::Net(_)) && peer.state() == State::Finalized;
    let ends = |connection: &Connection| connection.ends && connection.processes.contains(&process);
    !peer.is_disconnected() && !has_left && !CONNECTIONS.lock().iter().any(ends)
}

/// Whether a process has died, as far as this one can know: it is of this job, or has been met. On any thread.
pub fn has_died(process: u32) -> bool {
    let table = engine::table().filter(|table| table.has(process));
    table.is_some_and(|table| !table.of(process).is_disconnected() && table.has_died(process))
}

/// Ends the connection to one process, which has ended it; its link stays for the others.
pub fn forget(process: u32) {
    let mut engine = enter();
    lose(&mut engine, &[process]);
    let mut connections = CONNECTIONS.lock();
    for connection in connections.iter_mut() {
        connection.processes.retain(|known| *known != process);
    }
    told::changed(&connections);
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

/// Ends the connections that nothing uses: they were ended, or the others have.
pub fn end_unused() {
    step(&mut enter());
    tell_disconnected();
}

/// Takes all that is ending a step further; what is to be told then is left.
fn step(engine: &mut Engine) {
    retain(|connection| !connection.step(engine));
}

/// Keeps the connections of which `stays` says so.
fn retain(stays: impl FnMut(&mut Connection) -> bool) {
    let mut connections = CONNECTIONS.lock();
    let before = connections.len();
    connections.retain_mut(stays);
    if connections.len() != before {
        told::changed(&connections);
        let mut waiting = AT_DISCONNECT.lock();
        let is_left = |to: &AtDisconnect| connections.iter().any(|it| it.reaches(&to.processes));
        let over = waiting.extract_if(.., |to| !is_left(to));
        let due = over.filter(|to| to.is_due).map(|to| to.tell);
        TO_TELL.lock().extend(due);
    }
}

fn tell_disconnected() {
    let all = std::mem::take(&mut *TO_TELL.lock());
    all.into_iter().for_each(|tell| tell());
}

/// Goes on with what is ending. Whether no connection to these processes is: what was sent has arrived, and they know that this one
/// has left. [`end_unused`] is to be called then.
pub fn have_parted(engine: &mut Engine, processes: &[u32]) -> bool {
    step(engine);
    let ends = |connection: &Connection| connection.ends && connection.reaches(processes);
    !CONNECTIONS.lock().iter().any(ends)
}

/// Has `tell` called once when these processes, which are connected, are disconnected.
pub fn at_disconnect(processes: Vec<u32>, tell: impl FnOnce() + Send + 'static) {
    AT_DISCONNECT.lock().push(AtDisconnect {
        processes,
        tell: Box::new(tell),
        is_due: false,
    });
}

/// Tells the processes of other jobs that this one is in MPI_Finalize, as [`Page::set_finalizing`] says.
pub fn say_finalizing(receiving: bool) {
    let mut engine = enter();
    for link in engine.transport().links() {
        link.own().set_finalizing(receiving);
    }
    lifelines::say_finalizing(receiving, |process| {
        guests::exchanged(&mut engine, process).0
    });
}

/// Takes that back.
pub fn say_staying() {
    for link in enter().transport().links() {
        link.own().clear_loss();
    }
    lifelines::say_staying();
}

/// Begins to leave all other jobs, when all that was sent has left; to be followed by [`has_left`] until that is so.
pub fn begin_to_leave() {
    for link in enter().transport().links() {
        link.own().set_state(State::Finalized);
        link.own().set_exited();
    }
    // The jobs stay connected for those that started them.
    AT_DISCONNECT.lock().clear();
    for connection in CONNECTIONS.lock().iter_mut().filter(|it| it.is_far()) {
        connection.ends = true;
        connection.users = 0;
        connection.kept = false;
    }
}

/// Whether all processes that are reached over the fabric know that this one has left.
pub fn has_left(engine: &mut Engine) -> bool {
    step(engine);
    !CONNECTIONS.lock().iter().any(Connection::is_far)
}

/// Goes on with a connection whose other side has left or finalizes; called with liveness checks. Whether it is over.
fn look_after(number: u64) -> bool {
    lifelines::count_deaths();
    let mut engine = enter();
    lifelines::mark_finalizing(|process| guests::exchanged(&mut engine, process).1);
    let mut is_over = true;
    retain(|connection| {
        if connection.number == number {
            is_over = connection.step(&mut engine);
        }
        connection.number != number || !is_over
    });
    drop(engine);
    tell_disconnected();
    is_over
}

impl Connection {
    fn is_far(&self) -> bool {
        self.link.is_none()
    }

    /// Whether it is one to any of these processes.
    fn reaches(&self, processes: &[u32]) -> bool {
        self.processes.iter().any(|it| processes.contains(it))
    }

    /// Ends it a step further if nothing uses it: it was ended, or the others have. Whether it is over.
    fn step(&mut self, engine: &mut Engine) -> bool {
        let processes = &self.processes;
        let is_deserted = |engine: &Engine| match self.link {
            Some(link) => {
                (engine.transport().link(link)).is_none_or(|link| link.is_deserted_by(processes))
            }
            None => processes.iter().all(|it| engine.peer(*it).has_gone()),
        };
        self.ends |= self.users == 0 && (!self.kept || is_deserted(engine));
        let is_over = self.ends && (!self.is_far() || guests::have_parted(engine, processes));
        if is_over {
            // What was kept is over because the others have finalized or died.
            if !self.kept && !processes.iter().all(|it| has_died(*it)) {
                for to in AT_DISCONNECT.lock().iter_mut() {
                    to.is_due |= self.reaches(&to.processes);
                }
            }
            lose(engine, processes);
            if let Some(link) = self.link {
                engine.remove_link(link);
            }
        }
        is_over
    }
}

/// These processes are not reached any more.
fn lose(engine: &mut Engine, processes: &[u32]) {
    for process in processes {
        guests::forget(engine, *process);
    }
    engine.disconnect(processes);
}
