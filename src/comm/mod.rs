//! The communicator object and its lookup.
//!
//! Invariant: what communication needs (context, ranks) never changes once a communicator is complete, so it is read
//! without a lock; what users set (name, error handler) has its own.

mod agreements;
mod calls;
mod engines;
mod error_range;
mod failures;
mod members;
mod nodes;
mod own_process;
pub mod revocation;
mod title;
mod waits;

use crate::attr::Attributes;
use crate::connections;
use crate::engine::losses::{self, Cause, REVOKED};
use crate::engine::{self, mapping::EngineMapping, node_of};
use crate::errhandler::{self, Attached};
use crate::error::{Class, Result, fail};
use crate::events::{self, Event};
use crate::group::{Comparison, Group};
use crate::handle::{self, ObjectType, Table, builtin, null};
use crate::info::Info;
use crate::launch;
use crate::queue::revocations;
use crate::references;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use crate::topology::Topology;
use crate::transport::calls::Calls;
use crate::transport::collective::Areas;
use crate::transport::{Heap, Loss, SharedWith};
use agreements::Agreements;
pub use agreements::AtDesk;
pub use engines::engines_offered_by;
use engines::mapping_of;
pub use error_range::ErrorRange;
pub use members::Members;
pub use nodes::{Nodes, Ranks, some};
use once_cell::race::OnceBox;
pub use own_process::{job, me};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
pub use title::{Made, Maker};
pub use waits::name_of_context;

/// MPI_COMM_NULL.
pub const NULL: i32 = null(ObjectType::Comm);
/// MPI_COMM_WORLD.
pub const WORLD: i32 = builtin(ObjectType::Comm, 0);
/// MPI_COMM_SELF.
pub const SELF: i32 = builtin(ObjectType::Comm, 1);

/// Context id of MPI_COMM_WORLD.
pub const WORLD_CONTEXT: u32 = 0;
/// Context id of MPI_COMM_SELF.
pub const SELF_CONTEXT: u32 = 4;
/// Context id of the library itself.
pub const INTERNAL_CONTEXT: u32 = 8;
/// The context id of a communicator that has none yet: no message with it is ever received.
pub const PENDING: u32 = !3;

// The two low bits of a context are its type; each is added to a communicator's context id.
/// Collective operations.
pub const COLLECTIVE: u32 = 1;
/// Operations of a group inside: the members of an MPI_Comm_create_group, the local side of an intercommunicator.
pub const INSIDE: u32 = 2;
/// The two leaders of an MPI_Intercomm_create.
pub const LEADERS: u32 = 3;

static TABLE: Table<Comm> = Table::new(ObjectType::Comm);

/// Held by those who walk over communicators that they were not given, against their end.
static WALKS: RwLock<()> = RwLock::new(());

/// What a communicator is made of.
pub struct Parts {
    /// Of the messages that are sent: an intercommunicator's is the remote group's choice.
    pub context: u32,
    /// Of the messages that are received; the same in an intracommunicator.
    pub receive_context: u32,
    /// How many engines every process of both groups offers.
    pub engines: u32,
    /// Own rank in the local group.
    pub rank: i32,
    /// The local group.
    pub members: Members,
    /// The remote group of an intercommunicator.
    pub remote: Option<Members>,
    pub made: Made,
}

/// Of the number of users: no operation will begin any more.
const FREED: u32 = 1 << 31;

/// A communicator.
pub struct Comm {
    pub handle: i32,
    /// How many had been made before this one.
    pub born: u64,
    // Both are set once: at the birth, or, of a nonblocking duplicate, when that is complete.
    context: AtomicU32,
    receive_context: AtomicU32,
    /// A [`EngineMapping`].
    engine_mapping: AtomicU32,
    rank: i32,
    size: i32,
    made: Made,
    /// Whom messages go to and come from: of an intercommunicator, the remote group.
    peers: Members,
    /// The local group of an intercommunicator.
    local: Option<Members>,
    /// See [`Comm::has_foreign`].
    has_foreign: bool,
    /// Nonblocking collective operations begun.
    operations: AtomicU32,
    /// Collective operations of all forms, when they are compared.
    checks: AtomicU32,
    /// Operations under way that use the object itself, and [`FREED`].
    users: AtomicU32,
    name: Mutex<String>,
    pub errhandler: Attached,
    pub attributes: Attributes,
    /// Hints.
    pub info: Mutex<Info>,
    /// See [`Comm::told_calls`].
    calls: &'static Calls,
    /// Whether others can find them.
    tells: bool,
    /// Memory that collective operations share with the ranks of this node, but persistent ones.
    pub staging: Areas,
    /// What the members agree on though some of them die.
    pub agreements: Agreements,
    /// Set once, before the program knows the communicator; one pointer where there is none.
    topology: OnceBox<Arc<Topology>>,
    /// See [`Comm::lost`].
    lost: AtomicU32,
    /// See [`Comm::acknowledged`].
    acknowledged: AtomicU32,
    /// See [`Comm::is_revoked`].
    revoked: AtomicBool,
    /// See [`Comm::set_error_range`].
    error_range: AtomicU32,
    /// See [`Comm::end`].
    is_over: AtomicBool,
    /// Found out when it is first asked for; in a job of one node it never is.
    nodes: OnceBox<Option<Nodes>>,
}

/// In place of a lost process. See also [`engine::losses::DIFFERENT`].
pub const NOBODY: u32 = u32::MAX;

impl Comm {
    /// The process whose loss has ended a collective operation of this rank, or [`NOBODY`]: messages of later ones may be those of that one.
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Says that a collective operation has ended because a process is lost; or that none works any more because the communicator is revoked.
    #[cold]
    pub fn set_lost(&self, process: u32) {
        let keep = |lost: u32| (lost != REVOKED).then_some(process);
        let (to, seen) = (Ordering::Relaxed, Ordering::Relaxed);
        // An error: it is revoked, and stays so.
        let _ = self.lost.fetch_update(to, seen, keep);
    }

    /// The context id of messages sent; its two low bits are zero.
    #[inline]
    pub fn context(&self) -> u32 {
        self.context.load(Ordering::Relaxed)
    }

    /// The context id of messages received, which belongs to this process and the local group.
    #[inline]
    pub fn receive_context(&self) -> u32 {
        self.receive_context.load(Ordering::Relaxed)
    }

    /// Gives a communicator made with [`PENDING`] its contexts.
    pub fn complete(&'static self, context: u32, receive_context: u32, engines: u32) {
        let contexts = (context, receive_context);
        let mapping = mapping_of(contexts, engines, &self.peers, self.local.as_ref());
        self.set_engine_mapping(mapping);
        self.context.store(context, Ordering::Relaxed);
        self.receive_context
            .store(receive_context, Ordering::Relaxed);
        if let Some(calls) = self.calls() {
            calls.take(calls::whose(receive_context, self.members()));
        }
        self.tell(Event::CommunicatorCreated);
        self.find_early_revocation();
        revocation::look();
    }

    /// Tells of its birth or end.
    pub fn tell(&self, event: Event) {
        events::raise(event, || {
            let remote = self.remote().map_or(0, Members::size);
            [
                self.receive_context().into(),
                events::int(self.rank),
                events::int(self.size),
                events::int(remote),
                0,
            ]
        });
    }

    /// Own rank in the local group.
    #[inline]
    pub fn rank(&self) -> i32 {
        self.rank
    }

    /// Size of the local group.
    #[inline]
    pub fn size(&self) -> i32 {
        self.size
    }

    /// How many processes messages can go to.
    #[inline]
    pub fn peers(&self) -> i32 {
        self.peers.size()
    }

    /// The process number of a rank that messages go to or come from, which must be one of the communicator's.
    #[inline(always)]
    pub fn process(&self, rank: i32) -> u32 {
        self.peers.process(rank)
    }

    /// The local group.
    #[inline]
    pub fn members(&self) -> &Members {
        match &self.local {
            None => &self.peers,
            Some(local) => local,
        }
    }

    /// The remote group of an intercommunicator.
    pub fn remote(&self) -> Option<&Members> {
        self.local.as_ref().map(|_| &self.peers)
    }

    /// Those that messages go to and come from: the remote group of an intercommunicator, else the own.
    pub fn peers_as_members(&self) -> &Members {
        &self.peers
    }

    #[inline]
    pub fn is_inter(&self) -> bool {
        self.local.is_some()
    }

    /// A tag for the next nonblocking collective operation, the same on all members.
    pub fn next_operation(&self) -> i32 {
        // Above zero, which is the tag of all blocking operations.
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        (number & 0x3fff_ffff) as i32 + 1
    }

    /// The number of a collective operation of any form, when those are compared.
    pub fn next_check(&self) -> u32 {
        self.checks.fetch_add(1, Ordering::Relaxed)
    }

    /// A task uses the communicator, until [`Comm::let_go`].
    pub fn hold(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    pub fn let_go(&self) {
        let mut seen = self.users.load(Ordering::Acquire);
        loop {
            if seen == FREED + 1 {
                self.staging.leave();
            }
            // Release: pairs with `is_idle`. Acquire: pairs with `leave_staging`.
            let users = &self.users;
            match users.compare_exchange_weak(seen, seen - 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Whether no task uses it.
    pub fn is_idle(&self) -> bool {
        self.users.load(Ordering::Acquire) & !FREED == 0
    }

    /// The nodes of the local group, if there are several.
    #[inline]
    pub fn nodes(&self) -> Option<&Nodes> {
        if launch::nodes::number() == 1 && !self.has_foreign() {
            return None;
        }
        let find = || Box::new(Nodes::of(self.members(), node_of));
        self.nodes.get_or_init(find).as_ref()
    }

    /// Whether processes of other jobs are in one of its groups.
    #[inline]
    pub fn has_foreign(&self) -> bool {
        self.has_foreign
    }

    /// The numbers of all its processes.
    pub fn processes(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let all = |members: &Members| {
            let members = members.clone();
            (0..members.size()).map(move |rank| members.process(rank))
        };
        all(&self.peers).chain(self.local.iter().flat_map(all))
    }

    /// Whether the memory of this host's segment is that of all ranks of the local group.
    pub fn shares_memory(&self) -> bool {
        self.members().share_memory()
    }

    /// To be called before the local group's ranks tell each other of memory of the heap that they are to use together.
    ///
    /// Errors: a rank has died; there is no memory.
    pub fn share_memory(&self, heap: &'static Heap) -> Result<SharedWith> {
        let processes = (0..self.size()).map(|rank| self.members().process(rank));
        match heap.share_with(processes.filter_map(engine::seat_of)) {
            Ok(Some(with)) => Ok(with),
            Ok(None) => {
                let text = format!("a rank of {} has died", self.title());
                Err(losses::error_of(Cause::Lost(Some(Loss::Exited)), text))
            }
            Err(why) => fail!(Class::NoMem, "there is no memory to be shared: {why}"),
        }
    }

    /// MPI_Comm_compare.
    pub fn compare(&self, other: &Comm) -> Comparison {
        if self.handle == other.handle {
            return Comparison::Identical;
        }
        let of = |one: &Members, two: &Members| one.group().compare(&two.group());
        let members = of(self.members(), other.members());
        let remote = match (self.remote(), other.remote()) {
            (None, None) => Comparison::Identical,
            (Some(one), Some(two)) => of(one, two),
            _ => Comparison::Unequal,
        };
        match (members, remote) {
            (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal,
            (Comparison::Similar, _) | (_, Comparison::Similar) => Comparison::Similar,
            _ => Comparison::Congruent,
        }
    }

    pub fn name(&self) -> String {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &str) {
        *self.name.lock() = name.to_owned();
    }

    /// Gives up the staging areas when no operation will begin any more: the last one of those under way does, or this call.
    pub fn leave_staging(&self) {
        if self.users.fetch_or(FREED, Ordering::AcqRel) == 0 {
            self.staging.leave();
        }
    }

    /// Nothing of this process uses the communicator any more: it has no news of it from now on. To be called before the context id is given
    /// back. Whether that can be: false if this process knows that the communicator was revoked.
    pub fn end(&self) -> bool {
        let can_go = revocations::end(&self.revoked, &self.is_over);
        self.leave_desk();
        can_go && self.lost() != REVOKED
    }

    /// The topology, if it has one.
    #[inline]
    pub fn topology(&self) -> Option<&Arc<Topology>> {
        self.topology.get()
    }

    /// Of a new communicator, from its creator or from the one that it is a duplicate of.
    pub fn set_topology(&self, topology: Arc<Topology>) {
        let first = self.topology.set(Box::new(topology));
        debug_assert!(first.is_ok(), "a topology never changes");
    }

    fn new(handle: i32, parts: Parts, name: &str) -> Self {
        let (peers, local) = match parts.remote {
            None => (parts.members, None),
            Some(remote) => (remote, Some(parts.members)),
        };
        let has_foreign = [Some(&peers), local.as_ref()]
            .into_iter()
            .flatten()
            .any(Members::has_foreign);
        let has_others = local.is_none() && !has_foreign && peers.size() > 1;
        let place = if has_others { calls::place() } else { None };
        if parts.receive_context != PENDING
            && let Some(place) = place
        {
            place.take(calls::whose(parts.receive_context, &peers));
        }
        Self {
            has_foreign,
            calls: place.unwrap_or_else(|| calls::nowhere(handle)),
            tells: place.is_some(),
            handle,
            born: 0,
            context: AtomicU32::new(parts.context),
            receive_context: AtomicU32::new(parts.receive_context),
            engine_mapping: AtomicU32::new(EngineMapping::FIRST.to_bits()),
            rank: parts.rank,
            made: parts.made,
            size: local.as_ref().unwrap_or(&peers).size(),
            peers,
            local,
            operations: AtomicU32::new(0),
            checks: AtomicU32::new(0),
            lost: AtomicU32::new(NOBODY),
            acknowledged: AtomicU32::new(0),
            revoked: AtomicBool::new(false),
            error_range: AtomicU32::new(ErrorRange::Local as u32),
            is_over: AtomicBool::new(false),
            users: AtomicU32::new(0),
            name: Mutex::new(name.to_owned()),
            errhandler: Attached::predefined(errhandler::ERRORS_ARE_FATAL),
            attributes: Attributes::new(),
            info: Mutex::new(Info::new()),
            staging: Areas::default(),
            agreements: Agreements::default(),
            topology: OnceBox::new(),
            nodes: OnceBox::new(),
        }
    }
}

/// The communicator of a handle; `None` for MPI_COMM_NULL, a foreign or a stale handle, and of a revoked communicator.
#[inline]
pub fn get(handle: i32) -> Option<&'static Comm> {
    TABLE.get(handle)
}

/// As [`get`], also of a revoked communicator.
#[inline]
pub fn find(handle: i32) -> Option<&'static Comm> {
    TABLE.find(handle)
}

/// As [`find`], also of a communicator that was freed and that requests or tasks still use.
#[cold]
pub fn find_used(handle: i32) -> Option<&'static Comm> {
    let is_used = |comm: &&Comm| !comm.is_over.load(Ordering::Relaxed);
    find(handle).or_else(|| retired(handle).filter(is_used))
}

/// Says which process of how many this one is.
pub fn set_own_process(rank: u32, size: u32) {
    own_process::set(rank, size);
    waits::begin_to_tell();
    revocation::begin_to_look();
}

/// Ends the predefined communicators.
pub fn stop() {
    if let Some(world) = find(WORLD) {
        world.end_calls();
    }
    TABLE.retire(WORLD);
    TABLE.retire(SELF);
}

/// Makes the predefined communicators of process `rank` among `size`.
pub fn start(rank: u32, size: u32) {
    let parts = |context, rank, members| Parts {
        context,
        receive_context: context,
        engines: 1,
        rank,
        members,
        remote: None,
        made: Made::without_parent(Maker::Start),
    };
    let world = parts(WORLD_CONTEXT, rank as i32, Members::All(size));
    let own = Members::of(Arc::new(Group::range(rank, 1)), size);
    let own = parts(SELF_CONTEXT, 0, own);
    TABLE.insert_builtin(0, Comm::new(WORLD, world, "MPI_COMM_WORLD"));
    TABLE.insert_builtin(1, Comm::new(SELF, own, "MPI_COMM_SELF"));
}

/// Adds a communicator with this error handler and without attributes, name and hints.
///
/// Errors: MPI_ERR_NO_MEM when handles are used up.
pub fn add(parts: Parts, errhandler: Attached) -> Result<&'static Comm> {
    let mapping = match engine::is_multiple() && parts.context != PENDING {
        true => mapping_of(
            (parts.context, parts.receive_context),
            parts.engines,
            &parts.members,
            parts.remote.as_ref(),
        ),
        false => EngineMapping::FIRST,
    };
    if mapping != EngineMapping::FIRST {
        engine::activate(mapping.engines());
    }
    let comm = TABLE.insert_with(|handle| {
        references::begin_communicator(handle);
        let comm = Comm {
            born: handle::number_communicator(),
            errhandler,
            ..Comm::new(handle, parts, "")
        };
        comm.engine_mapping
            .store(mapping.to_bits(), Ordering::Relaxed);
        if comm.receive_context() != PENDING {
            comm.tell(Event::CommunicatorCreated);
        }
        if comm.has_foreign() {
            connections::hold(comm.processes());
        }
        comm
    })?;
    if comm.receive_context() != PENDING {
        comm.find_early_revocation();
    }
    Ok(comm)
}

/// Ends a handle. The object stays as long as operations on it may be pending.
pub fn retire(handle: i32) -> bool {
    TABLE.retire(handle)
}

/// The communicator of a handle that was retired and not reclaimed.
pub fn retired(handle: i32) -> Option<&'static Comm> {
    TABLE.retired(handle)
}

/// Drops a retired communicator, so that its handle can be given out again.
///
/// For [`crate::lifetime::collector`] only, long after the communicator was freed and when no request or task uses it.
///
/// # Safety
/// No call, task or request uses a reference to it any more; walks over all communicators are kept out here.
#[allow(unsafe_code)]
pub(crate) unsafe fn reclaim(handle: i32) {
    let _nobody_walks = WALKS.write();
    // SAFETY: by the caller.
    unsafe { TABLE.reclaim(handle) };
}

/// Visits the communicators that were freed and that requests or tasks still use.
fn for_each_freed(mut visit: impl FnMut(&'static Comm)) {
    let _none_goes = WALKS.read();
    TABLE.for_each_retired(|comm| {
        if !comm.is_over.load(Ordering::Relaxed) {
            visit(comm);
        }
    });
}

/// Visits all live communicators.
pub fn for_each(visit: impl FnMut(i32, &'static Comm)) {
    let _none_goes = WALKS.read();
    TABLE.for_each_live(visit);
}
