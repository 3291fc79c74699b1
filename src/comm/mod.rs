//! The communicator object and its lookup.
//!
//! Invariant: what communication needs (context, ranks) never changes after a communicator was made, so it is read
//! without a lock; what users set (name, error handler) has its own.

use crate::attr::Attributes;
use crate::errhandler;
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, Table, builtin, null};
use crate::info::Info;
use crate::sync::{AtomicI32, Ordering};
use parking_lot::Mutex;

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
/// Added to a communicator's context id for collective operations: the two low bits are the context's type.
pub const COLLECTIVE: u32 = 1;

static TABLE: Table<Comm> = Table::new(ObjectType::Comm);

/// The ranks of a communicator as process numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Rank and process number are the same, for so many processes.
    All(u32),
    /// This process alone.
    Alone(u32),
}

/// A communicator.
pub struct Comm {
    pub handle: i32,
    context: u32,
    rank: i32,
    members: Members,
    name: Mutex<String>,
    errhandler: AtomicI32,
    pub attributes: Attributes,
    /// Hints.
    pub info: Mutex<Info>,
}

impl Comm {
    /// The context id; its two low bits are zero.
    #[inline]
    pub fn context(&self) -> u32 {
        self.context
    }

    #[inline]
    pub fn rank(&self) -> i32 {
        self.rank
    }

    #[inline]
    pub fn size(&self) -> i32 {
        match self.members {
            Members::All(size) => size as i32,
            Members::Alone(_) => 1,
        }
    }

    /// The process number of a rank, which must be one of the communicator's.
    #[inline]
    pub fn world(&self, rank: i32) -> u32 {
        match self.members {
            Members::All(_) => rank as u32,
            Members::Alone(world) => world,
        }
    }

    pub fn members(&self) -> &Members {
        &self.members
    }

    pub fn name(&self) -> String {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &str) {
        *self.name.lock() = name.to_owned();
    }

    /// Handle of the error handler.
    pub fn errhandler(&self) -> i32 {
        self.errhandler.load(Ordering::Relaxed)
    }

    pub fn set_errhandler(&self, handle: i32) -> i32 {
        self.errhandler.swap(handle, Ordering::Relaxed)
    }

    fn new(handle: i32, context: u32, rank: i32, members: Members, name: &str) -> Self {
        Self {
            handle,
            context,
            rank,
            members,
            name: Mutex::new(name.to_owned()),
            errhandler: AtomicI32::new(errhandler::ERRORS_ARE_FATAL),
            attributes: Attributes::new(),
            info: Mutex::new(Info::new()),
        }
    }
}

/// The communicator of a handle; `None` for MPI_COMM_NULL, a foreign or a stale handle.
#[inline]
pub fn get(handle: i32) -> Option<&'static Comm> {
    TABLE.get(handle)
}

/// Makes the predefined communicators of process `rank` among `size`.
pub fn start(rank: u32, size: u32) {
    let world = Comm::new(
        WORLD,
        WORLD_CONTEXT,
        rank as i32,
        Members::All(size),
        "MPI_COMM_WORLD",
    );
    let own = Comm::new(SELF, SELF_CONTEXT, 0, Members::Alone(rank), "MPI_COMM_SELF");
    TABLE.insert_builtin(0, world);
    TABLE.insert_builtin(1, own);
}

/// Adds a communicator with the members of `parent`, its error handler and its hints.
///
/// Errors: MPI_ERR_OTHER when memory or handles are used up.
pub fn add_like(parent: &Comm, context: u32) -> Result<&'static Comm> {
    let handle = TABLE.insert_with(|handle| {
        let comm = Comm::new(handle, context, parent.rank, parent.members.clone(), "");
        errhandler::retain(parent.errhandler());
        comm.set_errhandler(parent.errhandler());
        *comm.info.lock() = parent.info.lock().clone();
        comm
    })?;
    match get(handle) {
        Some(comm) => Ok(comm),
        None => fail!(Class::Intern, "a new communicator is gone"),
    }
}

/// Ends a handle. The object stays as long as operations on it may be pending.
pub fn retire(handle: i32) -> bool {
    TABLE.retire(handle)
}

/// Visits all live communicators.
pub fn for_each(visit: impl FnMut(i32, &'static Comm)) {
    TABLE.for_each_live(visit);
}
