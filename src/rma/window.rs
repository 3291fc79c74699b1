//! The window object and its lookup.
//!
//! Invariant: what operations need (targets, block, mode) never changes once a window is made, so it is read without a lock.

use super::block::Block;
use super::epoch::Access;
use super::regions::Dynamic;
use crate::attr::Attributes;
use crate::comm::Members;
use crate::errhandler::{Attached, ERRORS_ARE_FATAL};
use crate::error::Result;
use crate::handle::{ObjectType, Table, null};
use crate::info::Info;
use crate::transport::Bell;
use parking_lot::Mutex;

/// MPI_WIN_NULL.
pub const NULL: i32 = null(ObjectType::Win);

pub(super) static TABLE: Table<Window> = Table::new(ObjectType::Win);

/// How a window was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Flavor {
    Create = 1,
    Allocate = 2,
    Dynamic = 3,
    Shared = 4,
}

/// How a target's memory is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// By an address of this process.
    Direct,
    /// By the kernel, in the process with this id.
    Kernel { pid: i32 },
    /// By a helper thread of the target's.
    Helper,
}

/// What an origin knows of a target.
pub struct Target {
    /// The window's first byte there: an address of this process if the way is direct, else of the target's process. Zero in a dynamic
    /// window, where displacements are addresses.
    pub base: usize,
    pub bytes: u64,
    /// The target's displacement unit, bytes.
    pub unit: u64,
    pub way: Way,
    /// Identity of the first byte for the accumulate locks: the same for all origins and all windows over this memory.
    pub key: u64,
    pub process: u32,
    /// What the target's process sleeps on.
    pub bell: Bell,
}

/// A window.
pub struct Window {
    pub handle: i32,
    pub flavor: Flavor,
    /// The processes, by rank.
    pub members: Members,
    /// Own rank.
    pub rank: usize,
    /// By rank.
    pub targets: Box<[Target]>,
    pub block: Block,
    /// Where the block is in the heap.
    pub block_offset: u64,
    pub access: Access,
    /// Whether aligned elements of up to 8 bytes are accumulated by atomic instructions (`docs/windows.md`).
    pub element_mode: bool,
    pub errhandler: Attached,
    pub attributes: Attributes,
    pub info: Mutex<Info>,
    pub facts: Facts,
    pub(super) memory: Memory,
    pub(super) dynamic: Option<Dynamic>,
    name: Mutex<String>,
}

/// What the predefined attributes tell of this process's memory; C reads most of them by their address.
pub struct Facts {
    pub base: usize,
    pub bytes: usize,
    /// An int in the low half, as what follows.
    pub unit: usize,
    pub flavor: usize,
    pub model: usize,
}

/// MPI_WIN_UNIFIED.
const UNIFIED: usize = 2;

impl Facts {
    pub(super) fn new(base: usize, bytes: u64, unit: u64, flavor: Flavor) -> Facts {
        Facts {
            base,
            bytes: bytes as usize,
            unit: unit as usize,
            flavor: flavor as usize,
            model: UNIFIED,
        }
    }
}

/// Memory of the heap that goes with the window; zero: none.
pub(super) struct Memory {
    /// This rank's, which it frees.
    pub part: u64,
    /// That of all ranks, which the last one frees.
    pub shared: u64,
}

/// What a window is made of.
pub(super) struct Parts {
    pub flavor: Flavor,
    pub members: Members,
    pub rank: usize,
    pub targets: Box<[Target]>,
    pub block: Block,
    pub block_offset: u64,
    pub access: Access,
    pub element_mode: bool,
    pub info: Info,
    pub facts: Facts,
    pub memory: Memory,
    pub dynamic: Option<Dynamic>,
}

/// Adds a window without attributes and name; errors are fatal until the program says otherwise.
///
/// Errors: MPI_ERR_NO_MEM when handles are used up.
pub(super) fn add(parts: Parts) -> Result<&'static Window> {
    TABLE.insert_with(|handle| Window {
        handle,
        flavor: parts.flavor,
        members: parts.members,
        rank: parts.rank,
        targets: parts.targets,
        block: parts.block,
        block_offset: parts.block_offset,
        access: parts.access,
        element_mode: parts.element_mode,
        errhandler: Attached::predefined(ERRORS_ARE_FATAL),
        attributes: Attributes::new(),
        info: Mutex::new(parts.info),
        facts: parts.facts,
        memory: parts.memory,
        dynamic: parts.dynamic,
        name: Mutex::new(String::new()),
    })
}

/// Ends a window's handle.
pub(super) fn remove(handle: i32) {
    // SAFETY: MPI_Win_free is the last call of the program that names the window.
    unsafe { TABLE.reclaim(handle) };
}

impl Window {
    pub fn size(&self) -> usize {
        self.targets.len()
    }

    /// Whether it was made by MPI_Win_create_dynamic.
    pub fn is_dynamic(&self) -> bool {
        self.flavor == Flavor::Dynamic
    }

    pub fn name(&self) -> String {
        self.name.lock().clone()
    }

    pub fn set_name(&self, name: &str) {
        *self.name.lock() = name.to_owned();
    }

    /// What messages call it: its name, else its handle.
    pub fn title(&self) -> String {
        let name = self.name();
        match name.is_empty() {
            true => format!("window {:#010x}", self.handle),
            false => format!("window \"{name}\""),
        }
    }
}

/// The window of a handle; `None` for MPI_WIN_NULL, a foreign or a stale handle.
#[inline]
pub fn get(handle: i32) -> Option<&'static Window> {
    TABLE.get(handle)
}
