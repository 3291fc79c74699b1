//! Ranks that wait for each other, because they have called different operations, or one with different amounts of data.
//!
//! Each call leaves a record, which costs a few instructions. A rank that waits long compares its own with those of all members that it
//! can see. Invariant: what is compared is equal on all ranks of a correct program, so such a program never gets the error, however
//! long it waits.

use super::args::CollArgs;
use crate::comm::{self, COLLECTIVE, Comm, NOBODY};
use crate::engine::losses::DIFFERENT;
use crate::engine::published;
use crate::error::{Class, Error};
use crate::os::monotonic_nanoseconds;
use crate::transport::calls::{Call, Calls};
use smallvec::SmallVec;

/// Between two comparisons of one wait, nanoseconds.
const INTERVAL: u64 = 200_000_000;
/// Equal comparisons in a row before a wait ends with an error, if all ranks have come to the operation. In doubt are waits that may still end
/// by themselves, because a rank may still come, or because the difference is an earlier operation's.
const EQUAL: u32 = 2;
const EQUAL_IN_DOUBT: u32 = 6;

/// The kinds of operations, by the numbers that records have; not zero.
mod kind {
    pub const BARRIER: u64 = 1;
    pub const BCAST: u64 = 2;
    pub const GATHER: u64 = 3;
    pub const GATHERV: u64 = 4;
    pub const SCATTER: u64 = 5;
    pub const SCATTERV: u64 = 6;
    pub const ALLGATHER: u64 = 7;
    pub const ALLTOALL: u64 = 8;
    pub const REDUCE: u64 = 9;
    pub const ALLREDUCE: u64 = 10;
    pub const REDUCE_SCATTER: u64 = 11;
    pub const SCAN: u64 = 12;
    pub const EXSCAN: u64 = 13;
    pub const NEIGHBORS: u64 = 14;
    pub const BITS: u32 = 4;
}

/// The kind of a blocking function's operation, for the compiler.
pub const fn kind_of(function: &str) -> u64 {
    const KINDS: [(&str, u64); 18] = [
        ("MPI_Barrier", kind::BARRIER),
        ("MPI_Bcast", kind::BCAST),
        ("MPI_Gather", kind::GATHER),
        ("MPI_Gatherv", kind::GATHERV),
        ("MPI_Scatter", kind::SCATTER),
        ("MPI_Scatterv", kind::SCATTERV),
        ("MPI_Allgather", kind::ALLGATHER),
        ("MPI_Allgatherv", kind::ALLGATHER),
        ("MPI_Alltoall", kind::ALLTOALL),
        ("MPI_Alltoallv", kind::ALLTOALL),
        ("MPI_Alltoallw", kind::ALLTOALL),
        ("MPI_Reduce", kind::REDUCE),
        ("MPI_Allreduce", kind::ALLREDUCE),
        ("MPI_Reduce_scatter", kind::REDUCE_SCATTER),
        ("MPI_Reduce_scatter_block", kind::REDUCE_SCATTER),
        ("MPI_Scan", kind::SCAN),
        ("MPI_Exscan", kind::EXSCAN),
        ("MPI_Neighbor_", kind::NEIGHBORS),
    ];
    let mut at = 0;
    while at < KINDS.len() {
        let (name, kind) = KINDS[at];
        if begins_with(function, name) && (kind == kind::NEIGHBORS || name.len() == function.len())
        {
            return kind;
        }
        at += 1;
    }
    panic!("no collective operation has this name")
}

const fn begins_with(text: &str, start: &str) -> bool {
    let (text, start) = (text.as_bytes(), start.as_bytes());
    let mut at = 0;
    while at < start.len() {
        if at >= text.len() || text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The call record: the operation, and the bytes that all ranks have alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Record(u64);

/// The record of a call of a kind that is known to the compiler, so that little is left of this.
#[inline(always)]
pub fn record_as(kind: u64, call: &CollArgs) -> u64 {
    let bytes = match (kind, call) {
        (kind::BARRIER | kind::GATHERV | kind::SCATTERV | kind::NEIGHBORS, _) => 0,
        (kind::BCAST, CollArgs::Bcast { buffer, .. }) => buffer.len(),
        (kind::GATHER, CollArgs::Gather { own, parts, .. }) => match parts {
            Some(parts) => parts.len(0),
            None => own.map_or(0, |own| own.len()),
        },
        (kind::SCATTER, CollArgs::Scatter { parts, into, .. }) => match parts {
            Some(parts) => parts.len(0),
            None => into.map_or(0, |into| into.len()),
        },
        (kind::ALLGATHER, CollArgs::Allgather { parts, .. }) if parts.are_equal() => parts.len(0),
        (kind::ALLTOALL, CollArgs::Alltoall { into, .. }) if into.are_equal() => into.len(0),
        (kind::REDUCE, CollArgs::Reduce { own, .. })
        | (kind::ALLREDUCE, CollArgs::Allreduce { own, .. })
        | (kind::REDUCE_SCATTER, CollArgs::ReduceScatter { own, .. })
        | (kind::SCAN | kind::EXSCAN, CollArgs::Scan { own, .. }) => own.len(),
        (kind::ALLGATHER, CollArgs::Allgather { .. })
        | (kind::ALLTOALL, CollArgs::Alltoall { .. }) => 0,
        _ => no_bytes(),
    };
    (bytes as u64) << kind::BITS | kind
}

/// No call comes here. In a function of its own, so that the compiler takes the other way for the one to make short.
#[cold]
#[inline(never)]
fn no_bytes() -> usize {
    0
}

/// The record of any call.
pub fn record(call: &CollArgs) -> u64 {
    let kind = match call {
        CollArgs::Barrier => kind::BARRIER,
        CollArgs::Bcast { .. } => kind::BCAST,
        CollArgs::Gather { equal: true, .. } => kind::GATHER,
        CollArgs::Gather { .. } => kind::GATHERV,
        CollArgs::Scatter { equal: true, .. } => kind::SCATTER,
        CollArgs::Scatter { .. } => kind::SCATTERV,
        CollArgs::Allgather { .. } => kind::ALLGATHER,
        CollArgs::Alltoall { .. } => kind::ALLTOALL,
        CollArgs::Reduce { .. } => kind::REDUCE,
        CollArgs::Allreduce { .. } => kind::ALLREDUCE,
        CollArgs::ReduceScatter { .. } => kind::REDUCE_SCATTER,
        CollArgs::Scan {
            exclusive: false, ..
        } => kind::SCAN,
        CollArgs::Scan { .. } => kind::EXSCAN,
        CollArgs::Neighbors { .. } => kind::NEIGHBORS,
    };
    record_as(kind, call)
}

impl Record {
    fn kind(self) -> u64 {
        self.0 & ((1 << kind::BITS) - 1)
    }

    fn bytes(self) -> u64 {
        self.0 >> kind::BITS
    }

    fn function(self) -> &'static str {
        match self.kind() {
            kind::BARRIER => "MPI_Barrier",
            kind::BCAST => "MPI_Bcast",
            kind::GATHER => "MPI_Gather",
            kind::GATHERV => "MPI_Gatherv",
            kind::SCATTER => "MPI_Scatter",
            kind::SCATTERV => "MPI_Scatterv",
            kind::ALLGATHER => "MPI_Allgather or MPI_Allgatherv",
            kind::ALLTOALL => "MPI_Alltoall, MPI_Alltoallv or MPI_Alltoallw",
            kind::REDUCE => "MPI_Reduce",
            kind::ALLREDUCE => "MPI_Allreduce",
            kind::REDUCE_SCATTER => "MPI_Reduce_scatter or MPI_Reduce_scatter_block",
            kind::SCAN => "MPI_Scan",
            kind::EXSCAN => "MPI_Exscan",
            _ => "a neighborhood operation",
        }
    }

    /// Whose the bytes are.
    fn unit(self) -> &'static str {
        match self.kind() {
            kind::GATHER | kind::SCATTER | kind::ALLGATHER | kind::ALLTOALL => " for each rank",
            _ => "",
        }
    }
}

/// What an operation is known by: its communicator's handle, the context and the tag of its messages.
#[derive(Clone, Copy)]
pub struct Operation {
    pub communicator: i32,
    pub context: u32,
    pub tag: i32,
}

/// A call of another rank that does not fit to this rank's.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Difference {
    rank: i32,
    own: Record,
    other: Record,
}

impl Difference {
    fn error(self, comm: &Comm) -> Error {
        let Difference { rank, own, other } = self;
        let title = comm.title();
        let (ours, theirs) = (own.bytes(), other.bytes());
        if own.kind() != other.kind() {
            let (function, theirs) = (own.function(), other.function());
            let text = format!(
                "rank {rank} of {title} has called {theirs} where this rank has called {function}"
            );
            return Error::new(Class::Other, text);
        }
        let class = match theirs > ours {
            true => Class::Truncate,
            false => Class::Count,
        };
        let (function, unit) = (own.function(), own.unit());
        let text = format!(
            "rank {rank} of {title} has called {function} with {theirs} bytes{unit}, this rank with {ours}"
        );
        Error::new(class, text)
    }
}

/// What the records of the members say of an operation.
#[derive(Default)]
struct Found {
    difference: Option<Difference>,
    /// It may be that this ends by itself: a rank has not come to the operation, or it is one before that differs.
    doubtful: bool,
    /// A rank has ended an operation with an error because of what came, and may not have done its part.
    broken: bool,
    /// A rank has ended the communicator's operations.
    ended: bool,
}

/// Compares the calls of all members that can be seen, of this operation, or else of the blocking ones before it that are remembered: a rank may
/// have ended one with an error, and wait in the next.
fn compare(comm: &Comm, of: Operation) -> Found {
    let mut found = Found::default();
    let Some(calls) = comm.calls() else {
        return found;
    };
    let numbered = (of.tag != 0).then_some(Call::Numbered(of.tag as u64));
    let blocking = calls.last().filter(|_| numbered.is_none());
    let all: SmallVec<[Call; 8]> = numbered.into_iter().chain(blocking).collect();
    let whose = calls.whose(comm.receive_context());
    let others = (0..comm.size()).filter(|rank| *rank != comm.rank());
    let others: Vec<(i32, &Calls)> = others
        .filter_map(|rank| Some((rank, comm.calls_of(comm.process(rank), whose)?)))
        .collect();
    for calls in others.iter().map(|(_, calls)| *calls).chain([calls]) {
        let (broken, ended) = calls.have_failed(whose);
        found.broken |= broken;
        found.ended |= ended;
    }
    for (at, call) in all.iter().enumerate() {
        let Some(own) = calls.of(whose, *call) else {
            continue;
        };
        for (rank, theirs) in &others {
            let other = theirs.of(whose, *call);
            let has_come = other.is_some() || theirs.is_beyond(*call);
            found.doubtful |= at > 0 || !has_come;
            if let (None, Some(other)) = (found.difference, other)
                && own != other
            {
                found.difference = Some(Difference {
                    rank: *rank,
                    own: Record(own),
                    other: Record(other),
                });
            }
        }
        if found.difference.is_some() {
            break;
        }
    }
    found
}

/// The communicator of an operation whose calls are compared.
fn comm_of(of: Operation) -> Option<&'static Comm> {
    let is_collective = of.context & 3 == COLLECTIVE;
    comm::find(of.communicator)
        .filter(|comm| is_collective && comm.receive_context() == of.context - COLLECTIVE)
}

/// The looks of one wait at the calls of the others.
#[derive(Default)]
pub struct Look {
    /// When it looked last, nanoseconds.
    last: u64,
    /// What it saw: a difference, and whether a rank has ended an operation because of what came.
    seen: (Option<Difference>, bool),
    /// How often in a row.
    looks: u32,
    over: bool,
}

impl Look {
    /// Called in liveness checks. Whether the wait is in vain: calls differ, now as at the looks before, or a rank has found that and has left.
    #[cold]
    pub fn finds(&mut self, of: Operation) -> bool {
        let Some(comm) = comm_of(of) else {
            return false;
        };
        let now = monotonic_nanoseconds();
        let is_soon = now - self.last.min(now) < INTERVAL;
        if self.over || is_soon && !published::puts_nothing_off() {
            return self.over;
        }
        if !is_soon {
            self.last = now;
        }
        self.note(&compare(comm, of), is_soon)
    }

    /// Takes what a comparison has found, which counts unless it comes too soon after the last one; what may end the wait has to show all the same.
    fn note(&mut self, found: &Found, is_soon: bool) -> bool {
        if is_soon {
            if found.ended || found.broken || found.difference.is_some() {
                published::stir();
            }
            return false;
        }
        let seen = (found.difference, found.broken);
        self.looks = match seen == self.seen {
            true => self.looks + 1,
            false => 1,
        };
        self.seen = seen;
        let differs = found.difference.is_some();
        let enough = match differs && !found.doubtful {
            true => EQUAL,
            false => EQUAL_IN_DOUBT,
        };
        self.over = found.ended || (differs || found.broken) && self.looks >= enough;
        if !self.over && (differs || found.broken) {
            // Ended by one of the next looks, maybe.
            published::stir();
        }
        self.over
    }
}

/// An operation has ended with an error on this rank, because more or less data came than it wanted.
#[cold]
pub fn note(of: Operation) {
    if let Some(calls) = comm_of(of).and_then(Comm::calls) {
        calls.set_doubtful();
    }
}

/// The error of an operation that has ended with [`DIFFERENT`]. All members that wait will see that this rank does so no more.
#[cold]
pub fn error(of: Operation) -> Error {
    let Some(comm) = comm_of(of) else {
        return crate::engine::losses::explain(DIFFERENT);
    };
    let found = compare(comm, of);
    if let Some(calls) = comm.calls() {
        calls.set_ended();
    }
    if comm.lost() == NOBODY {
        comm.set_lost(DIFFERENT);
    }
    let error = match found.difference {
        Some(difference) => difference.error(comm),
        None => Error::new(
            Class::Other,
            format!(
                "the ranks of {} have called different collective operations, or with different amounts of data, so none works there any more",
                comm.title()
            ),
        ),
    };
    error.of_loss(DIFFERENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Buffer;

    #[test]
    fn records_tell_operation_and_bytes() {
        let mut memory = vec![0; 300].into_boxed_slice();
        let buffer = Buffer::of_copy(&mut memory);
        let call = CollArgs::Bcast { buffer, root: 1 };
        let bcast = Record(record(&call));
        assert_eq!((bcast.kind(), bcast.bytes()), (kind::BCAST, 300));
        assert_eq!(bcast.function(), "MPI_Bcast");
        assert_eq!(bcast.0, record_as(kind_of("MPI_Bcast"), &call));
        assert_ne!(record(&CollArgs::Barrier), 0);
    }

    #[test]
    fn a_comparison_that_comes_too_soon_ends_no_wait() {
        let found = Found {
            broken: true,
            ..Found::default()
        };
        let mut look = Look::default();
        assert!((0..2 * EQUAL_IN_DOUBT).all(|_| !look.note(&found, true)));
        let ends = (1..).find(|_| look.note(&found, false));
        assert_eq!(ends, Some(EQUAL_IN_DOUBT));
    }

    #[test]
    fn unequal_parts_are_not_compared() {
        let mut memory = vec![0; 300].into_boxed_slice();
        let buffer = Buffer::of_copy(&mut memory);
        let gatherv = |own| CollArgs::Gather {
            own: Some(own),
            parts: None,
            root: 0,
            equal: false,
        };
        assert_eq!(
            record(&gatherv(buffer)),
            record(&gatherv(buffer.slice(0, 8)))
        );
    }
}
