//! Puts and gets of many pieces, and accumulates, that the target does, where it happens to be in MPI: for the kernel each piece is a page to look up,
//! 130 ns, and an accumulate is two calls. The origin of an accumulate holds the locks of its elements meanwhile.
//!
//! ```text
//! origin   write pieces and data to its box in the heap, post that at the target (queue/asked.rs), look for 2 us, longer where a wake-up pays   done: take a get's data
//! target   at its next poll: claim it, have the pages provided, copy, end                                            not claimed: withdraw, the kernel
//! ```
//!
//! Invariants: an operation is done by the target or by the origin, never by both; a target that is elsewhere delays nobody for longer than
//! that time, and not often; memory that is not mapped, or may not be written, is left to the kernel, so that it is the error that it always
//! is. An origin waits for the end of what is claimed: a target that is stopped within that microsecond holds it up.
//!
//! # An origin that dies
//!
//! What it has offered stays in the target's word, and the target may claim it at any later time. The box is still one then, and stays it until the target
//! has ended the operation: memory of the dead becomes another one's only when nobody who lives shares any with them (`transport/shm/heap/dead.rs`), and
//! the target shares memory with the origin as long as it has the window that the operation is for ([`Window::shared_with`]). MPI_Win_free gives that up
//! behind a barrier only. The origin has come to that barrier, and so has no operation left that it has offered; or it has not, and the window stays. A window
//! that could not be made stays, too, where a rank is lost. So there is no time between the look at a box and the copy in which it could be used again. The
//! operation itself is done late, and once: it is one of an epoch that the dead has never ended, in memory that is still the window's.
//!
//! [`Window::shared_with`]: super::window::Window

mod offer;
mod serve;

pub(super) use serve::Server;

use super::groups::{GROUPS, Group};
use crate::queue::asked::Outcome;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicI32, AtomicU16, AtomicU32, AtomicUsize};

/// Bytes of one operation, at most, with those of its result.
const BYTES: usize = 16 << 10;
/// Bytes of one that the target fetches, at most.
const FETCHED: usize = 128 << 10;

/// What lies at the beginning of a process's box; the groups follow, then, at the next line, the packed data.
#[repr(C)]
struct Head {
    /// [`MARK`] plus the number of the target.
    mark: AtomicU32,
    /// The process that the box is of.
    origin: AtomicU32,
    /// Of [`Action::AccumulateFrom`]: the address of the packed elements, at the origin.
    source: AtomicUsize,
    bytes: AtomicU32,
    groups: AtomicU16,
    /// A number of [`Action`]; of accumulates, that of the operation above it.
    action: AtomicU16,
    outcome: Outcome,
    /// Of accumulates: handle of the predefined type of the elements.
    basic: AtomicI32,
}

const OPERATION: u16 = 1 << 8;

/// What the target is to do with the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Action {
    Get = 1,
    Put = 2,
    Accumulate = 3,
    /// What was there before goes behind the data.
    GetAccumulate = 4,
    /// The target fetches the data: more than a box has room for.
    AccumulateFrom = 5,
}

impl Action {
    fn of_number(number: u16) -> Option<Action> {
        use Action::{Accumulate, AccumulateFrom, Get, GetAccumulate, Put};
        let all = [Get, Put, Accumulate, GetAccumulate, AccumulateFrom];
        all.into_iter().find(|it| *it as u16 == number)
    }

    /// Packed bytes of an operation, at most.
    fn most(self) -> usize {
        match self {
            Action::Get | Action::Put | Action::Accumulate => BYTES,
            Action::GetAccumulate => BYTES / 2,
            Action::AccumulateFrom => FETCHED,
        }
    }
}

const HEAD: usize = size_of::<Head>();
const BOX: usize = data_of(GROUPS) + BYTES;
/// Says that a box is one: its place is what another process has named.
const MARK: u32 = 0x6f78_0000;

/// The layout of what lies in the heap.
pub(super) const SHAPE: u64 = shape::combine(&[
    shape!(Head {
        mark,
        origin,
        source,
        bytes,
        groups,
        action,
        outcome,
        basic
    }),
    shape!(Group {
        first,
        bytes,
        stride,
        count
    }),
    BOX as u64,
    MARK as u64,
]);

/// Where the data begins behind so many groups.
const fn data_of(groups: usize) -> usize {
    (HEAD + groups * size_of::<Group>()).next_multiple_of(64)
}
