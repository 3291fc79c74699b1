//! The window object and its lookup.
//!
//! Invariant: what operations need (targets, block, mode) never changes once a window is made, so it is read without a lock.

use super::block::Block;
use super::epoch::Access;
use super::hosts::Hosts;
use super::regions::Dynamic;
use crate::assembly::Assembly;
use crate::attr::Attributes;
use crate::engine::published;
use crate::engine::waits::{Kind, Whom};
use crate::errhandler::Attached;
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, Table, null};
use crate::info::Info;
use crate::pt2pt::PROC_NULL;
use crate::sync::AtomicU8;
use crate::transport::SharedWith;
use crate::transport::name::NAME_BYTES;
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
    /// By the kernel.
    Kernel,
    /// By a helper thread of the target's.
    Helper,
    /// By messages to a thread of the target's, which is on another host ([`super::hosts`]).
    Remote,
}

/// What an origin knows of a target. Its size counts: each rank has one for each rank of each window.
pub struct Target {
    /// The window's first byte there: an address of this process if the way is direct, else of the target's process. Zero in a dynamic
    /// window, where displacements are addresses, and on another host.
    pub base: usize,
    pub bytes: u64,
    /// The target's displacement unit, bytes.
    pub unit: u64,
    /// Identity of the first byte for the accumulate locks: the same for all origins and all windows over this memory.
    pub key: u64,
    pub process: u32,
    pub way: Way,
    /// Bits of [`super::epoch::held`]: the epoch of this process that covers the target alone.
    pub held: AtomicU8,
}

const _: () = assert!(size_of::<Target>() == 40);

/// A window.
pub struct Window {
    pub handle: i32,
    pub flavor: Flavor,
    /// All ranks; they wait for each other and wake each other by it.
    pub assembly: Assembly,
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
    pub(super) shared_with: SharedWith,
    /// Where the ranks are on several hosts.
    pub hosts: Option<Box<Hosts>>,
    pub(super) dynamic: Option<Box<Dynamic>>,
    pub(super) name: Mutex<String>,
}

/// What the predefined attributes tell of this process's memory; C reads most of them by their address.
pub struct Facts {
    pub base: usize,
    pub bytes: usize,
    /// An int in the low half, as what follows.
    pub unit: usize,
}

/// MPI_WIN_UNIFIED.
pub static MODEL: usize = 2;
/// By flavour: its number.
static FLAVORS: [usize; 5] = [0, 1, 2, 3, 4];

impl Flavor {
    /// Its number, where C may read it.
    pub fn fact(self) -> &'static usize {
        &FLAVORS[self as usize]
    }
}

impl Facts {
    pub(super) fn new(base: usize, bytes: u64, unit: u64) -> Facts {
        Facts {
            base,
            bytes: bytes as usize,
            unit: unit as usize,
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

/// Adds a window, which `make` makes of its handle.
///
/// Errors: MPI_ERR_NO_MEM when handles are used up.
pub(super) fn add(make: impl FnOnce(i32) -> Window) -> Result<&'static Window> {
    published::describe_windows_by(|handle, named| {
        Some(get(handle)?.wait_at(None, Kind::Target, Whom::Any, named))
    });
    TABLE.insert_with(make)
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

    /// A rank that an argument names; `None`: it is MPI_PROC_NULL.
    ///
    /// Errors: MPI_ERR_RANK.
    #[inline(always)]
    pub fn target(&self, argument: &str, rank: i32) -> Result<Option<usize>> {
        match rank as u32 as usize {
            index if index < self.size() => Ok(Some(index)),
            _ => self.no_target(argument, rank).map(|()| None),
        }
    }

    /// MPI_PROC_NULL, or no rank.
    #[cold]
    fn no_target(&self, argument: &str, rank: i32) -> Result<()> {
        if rank == PROC_NULL {
            return Ok(());
        }
        fail!(
            Class::Rank,
            "{argument} is {rank}; allowed is 0 to {} or MPI_PROC_NULL",
            self.size() - 1
        )
    }

    /// Whether a rank is on another host.
    #[inline(always)]
    pub fn is_remote(&self, rank: usize) -> bool {
        self.targets[rank].way == Way::Remote
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
        self.assembly.tell_name(self.handle);
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

/// What messages call the window of a handle; nothing if there is none.
pub fn title_of(handle: i32) -> String {
    get(handle).map_or_else(String::new, Window::title)
}

/// How status pages name a window.
pub(super) fn name_of(handle: i32) -> Option<String> {
    let mut title = get(handle)?.title();
    if title.len() > NAME_BYTES {
        let end = (0..=NAME_BYTES)
            .rev()
            .find(|at| title.is_char_boundary(*at));
        title.truncate(end.unwrap_or(0));
    }
    Some(title)
}
