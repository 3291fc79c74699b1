//! Which operations are staged, and how (`coll/staged`): of the ranks on one node.
//!
//! The choices are a cost model's, see benches/MODEL.md: lines that move, bytes through each core, and, where ranks share cores, time
//! slices. Invariant: as in [`super`]: an answer depends on nothing that may differ between the ranks.

use super::super::args::{CollArgs, Operands, longest_even};
use super::plan::{FEW, MOST_EXCHANGE, Plan, Shape, Staged, part_below};
use super::reproducible;
use crate::datatype::{Buffer, Parts};
use crate::op::Op;
use crate::transport::collective::{INLINE, UNIT};

/// Largest number of ranks, with a core each, that read each other's lines; more use a tree.
const MOST_DIRECT: usize = 16;
/// Bytes from which large rings are used by ranks that share cores: a time slice is to be worth its while.
const LARGE: usize = 32 << 10;
const LARGE_GATHER: usize = 16 << 10;
/// A longer broadcast piece makes fewer time slices.
const LONGEST_BCAST: usize = 512 << 10;
/// Up to so many ranks that share cores reduce a part each in every large allreduce: fewer bytes, but all have to run twice. Of more,
/// whoever runs makes a share, if they have less than [`LARGE_PARTS`].
const MOST_WITH_A_PART_EACH: usize = 4;
/// Bytes from which more ranks that share cores reduce a part each in an allreduce, and in a reduce if the vectors of all together have so many:
/// there the root does all of the work otherwise, but nobody has to run twice.
const LARGE_PARTS: usize = 64 << 10;
const ALL_VECTORS: usize = 1 << 20;
/// Longest parts that two ranks with a core each exchange through staging where messages may be read out of the sender's memory: as
/// long as messages that are not.
pub const LONGEST_OF_TWO: usize = 64 << 10;
/// Up to so many ranks that share cores read all parts of an alltoall out of each other's memory, where that is fast: two turns and a system
/// call for each part. For more, no gain was measured.
const MOST_TO_READ: usize = 8;
/// Operations on larger elements are not staged in large rings.
const LARGEST_ELEMENT: usize = 4096;
/// More ranks scan by messages where there is no memory for a chain: the last one reads all vectors.
const MOST_TO_SCAN: usize = 8;
/// Bytes of a vector for each rank from which a scan goes along a chain, each rank being one step of it; and its pieces if ranks share cores:
/// as many as keep two cores busy.
const LEAST_IN_CHAIN: usize = 4 << 10;
const PIECES_OF_CHAIN: usize = 4;

/// How an operation is staged by its ranks on one node, by what costs least; `None`: it goes by messages.
pub fn plan(args: &CollArgs, me: usize, shape: &Shape) -> Option<Plan> {
    let small = |how, piece| Some(shape.small(how, piece));
    let ranks = shape.ranks();
    match args {
        CollArgs::Barrier => small(
            match shape.oversubscribed {
                _ if ranks <= FEW => Staged::Direct,
                false if ranks <= MOST_DIRECT => Staged::Direct,
                false => Staged::Tree,
                true => Staged::Counter,
            },
            1,
        ),
        CollArgs::Bcast { buffer, .. } => bcast(buffer.len(), shape),
        CollArgs::Gather {
            own,
            parts,
            equal: true,
            ..
        } => gather(rooted(own, parts, me), shape),
        CollArgs::Scatter {
            into,
            parts,
            equal: true,
            ..
        } => scatter(rooted(into, parts, me), shape),
        CollArgs::Allgather { parts, .. } => allgather(longest(parts, ranks), shape),
        CollArgs::Alltoall { out, into } => alltoall(equal(out, into)?, shape),
        _ if reproducible() => None,
        CollArgs::Reduce { own, with, .. } => reduce(own.len(), with, shape),
        CollArgs::Allreduce { own, with, .. } => allreduce(own.len(), with, shape),
        CollArgs::ReduceScatter {
            own, counts, with, ..
        } => reduce_scatter(own.len(), counts, with, shape),
        CollArgs::Scan { own, with, .. } => scan(own.len(), with, shape),
        _ => None,
    }
}

/// Bytes that a rank publishes in a nonblocking operation at most. `None`: not all ranks know alike.
pub fn published(args: &CollArgs, me: usize, ranks: usize) -> Option<usize> {
    Some(match args {
        CollArgs::Barrier => 0,
        CollArgs::Bcast { buffer, .. } => buffer.len(),
        CollArgs::Gather {
            own,
            parts,
            equal: true,
            ..
        } => rooted(own, parts, me),
        CollArgs::Scatter {
            into,
            parts,
            equal: true,
            ..
        } => ranks * rooted(into, parts, me),
        CollArgs::Allgather { parts, .. } => longest(parts, ranks),
        CollArgs::Alltoall { out, into } => ranks * equal(out, into)?,
        CollArgs::Reduce { own, .. }
        | CollArgs::Allreduce { own, .. }
        | CollArgs::ReduceScatter { own, .. }
        | CollArgs::Scan { own, .. } => own.len(),
        _ => return None,
    })
}

/// Whether a nonblocking operation has so little data that it needs no large rings, and no more than a slot of an area for little data.
/// `None`: not all ranks know alike.
pub fn has_little(args: &CollArgs, me: usize, ranks: usize) -> Option<bool> {
    published(args, me, ranks).map(|bytes| bytes <= UNIT)
}

/// Bytes of one rank's part of a gather or scatter.
fn rooted(part: &Option<Buffer>, parts: &Option<Parts>, me: usize) -> usize {
    match (parts, part) {
        (Some(parts), _) => parts.len(me),
        (None, Some(part)) => part.len(),
        (None, None) => 0,
    }
}

/// Bytes of the longest part.
fn longest(parts: &Parts, ranks: usize) -> usize {
    let lengths = (0..ranks).map(|rank| parts.len(rank));
    lengths.max().unwrap_or(0)
}

/// Bytes of each part of an exchange; `None`: the lengths differ by how the parts were made.
pub(super) fn equal(out: &Option<Parts>, into: &Parts) -> Option<usize> {
    let equal = into.are_equal() && out.as_ref().is_none_or(Parts::are_equal);
    equal.then(|| into.len(0))
}

fn bcast(bytes: usize, shape: &Shape) -> Option<Plan> {
    let (ranks, slot) = (shape.ranks(), shape.geometry.slot);
    let small = shape.small(Staged::Direct, slot);
    if shape.oversubscribed {
        if bytes < LARGE || !shape.large {
            return Some(small);
        }
        let piece = LONGEST_BCAST.min(shape.geometry.large / 4);
        return Some(shape.large(Staged::Direct, piece, piece, 4));
    }
    let is_small = match ranks {
        2 => bytes <= 1024 || !shape.large && bytes <= 2048,
        _ => bytes <= 4096,
    };
    if is_small && ranks > MOST_DIRECT && bytes <= INLINE {
        return Some(shape.small(Staged::Tree, slot));
    }
    if is_small {
        return Some(small);
    }
    shape
        .large
        .then(|| shape.stream(Staged::Direct, bytes, true))
}

fn gather(each: usize, shape: &Shape) -> Option<Plan> {
    let most = if shape.oversubscribed { 16 << 10 } else { 2048 };
    if each <= most {
        return Some(shape.small(Staged::Direct, shape.geometry.slot));
    }
    let staged = shape.large && !shape.oversubscribed && shape.ranks() > 2;
    staged.then(|| shape.stream(Staged::Direct, each, true))
}

fn scatter(each: usize, shape: &Shape) -> Option<Plan> {
    let most = if shape.oversubscribed { 16 << 10 } else { 2048 };
    let others = shape.ranks() - 1;
    if each <= most {
        let slot = shape.geometry.slot;
        return Some(shape.small(Staged::Direct, part_below(slot / others)));
    }
    let staged = shape.large && !shape.oversubscribed && shape.ranks() > 2;
    staged.then(|| shape.large(Staged::Direct, shape.part(), shape.part() * others, 4))
}

fn allgather(longest: usize, shape: &Shape) -> Option<Plan> {
    let (ranks, slot) = (shape.ranks(), shape.geometry.slot);
    let small = Some(shape.small(Staged::Direct, slot));
    if shape.oversubscribed {
        if longest < LARGE_GATHER || !shape.large {
            return small;
        }
        return Some(shape.large(Staged::Direct, shape.piece(), shape.piece(), 4));
    }
    if longest <= 1024 || longest <= 2048 && (ranks > 2 || !shape.large) {
        return small;
    }
    shape
        .large
        .then(|| shape.stream(Staged::Direct, longest, false))
}

fn alltoall(each: usize, shape: &Shape) -> Option<Plan> {
    let (ranks, slot) = (shape.ranks(), shape.geometry.slot);
    let small = Some(shape.small(Staged::Direct, part_below(slot / (ranks - 1))));
    let single_copy = small.map(|plan| Plan {
        how: Staged::SingleCopy,
        ..plan
    });
    let large = || shape.parts(Staged::Direct, (each, 1), false);
    if shape.oversubscribed {
        if each < LARGE_GATHER {
            return small;
        }
        let reads = ranks <= MOST_TO_READ && shape.reach && (shape.reads)();
        return match ranks <= MOST_EXCHANGE && shape.large && !reads {
            true => Some(large()),
            false => single_copy,
        };
    }
    if each <= 1024 || each <= 2048 && (ranks > 2 || !shape.large) {
        return small;
    }
    match ranks {
        2 => (shape.large && (each <= LONGEST_OF_TWO || !(shape.reads)()))
            .then(|| shape.stream(Staged::Direct, each, false)),
        3..=MOST_EXCHANGE if shape.large => Some(large()),
        _ if each >= LARGE_GATHER => single_copy,
        _ => shape.large.then(large),
    }
}

/// In parts of the large rings, one for each rank.
fn parts(longest: usize, unit: usize, results: bool, shape: &Shape) -> Plan {
    if shape.ranks() == 2 && !shape.oversubscribed {
        return shape.stream(Staged::Parts, longest, false);
    }
    shape.parts(Staged::Parts, (longest, unit), results)
}

/// As [`parts`], for a vector in even parts, whose results go to all ranks or to a root.
fn even_parts(bytes: usize, unit: usize, shape: &Shape) -> Plan {
    let longest = longest_even(bytes / unit, shape.ranks()) * unit;
    parts(longest, unit, true, shape)
}

/// The ranks, the bytes of a slot and those of an element.
fn sizes(shape: &Shape, with: &Operands) -> (usize, usize, usize) {
    let unit = with.datatype.size as usize;
    (shape.ranks(), shape.geometry.slot, unit)
}

fn reduce(bytes: usize, with: &Operands, shape: &Shape) -> Option<Plan> {
    let (ranks, slot, unit) = sizes(shape, with);
    let small = |how| (unit <= slot).then(|| shape.small(how, slot));
    let large = shape.large && unit <= LARGEST_ELEMENT;
    if shape.oversubscribed {
        return match with.op {
            _ if bytes < LARGE || !large => small(Staged::Direct),
            Op::User(_) => Some(shape.shares(bytes)),
            Op::Predefined(_)
                if bytes >= LARGE_PARTS
                    && ranks * bytes >= ALL_VECTORS
                    && (FEW + 1..=MOST_EXCHANGE).contains(&ranks)
                    && unit <= shape.part() =>
            {
                Some(even_parts(bytes, unit, shape))
            }
            Op::Predefined(_) => Some(shape.large(Staged::Direct, shape.piece(), shape.piece(), 4)),
        };
    }
    if bytes <= 1024 || bytes <= 4096 && (ranks > 2 || !large) {
        return small(match ranks <= MOST_DIRECT {
            true => Staged::Direct,
            false => Staged::Tree,
        });
    }
    if !large || unit > shape.part() {
        return None;
    }
    Some(match ranks {
        2 | 3 => shape.stream(Staged::Direct, bytes, true),
        _ => even_parts(bytes, unit, shape),
    })
}

fn allreduce(bytes: usize, with: &Operands, shape: &Shape) -> Option<Plan> {
    let (ranks, slot, unit) = sizes(shape, with);
    let small = |how| (unit <= slot).then(|| shape.small(how, slot));
    let large = shape.large && unit <= LARGEST_ELEMENT && unit <= shape.part();
    if shape.oversubscribed {
        return match bytes < LARGE || !large {
            true if ranks <= FEW => small(Staged::Direct),
            true => small(Staged::Last),
            false if ranks <= MOST_WITH_A_PART_EACH => Some(even_parts(bytes, unit, shape)),
            false if ranks <= MOST_EXCHANGE && bytes >= LARGE_PARTS => {
                Some(even_parts(bytes, unit, shape))
            }
            false => Some(shape.shares(bytes)),
        };
    }
    if bytes <= 1024 || bytes <= 4096 && (ranks > 2 || !large) {
        return small(match ranks <= MOST_DIRECT {
            true => Staged::Direct,
            false => Staged::Tree,
        });
    }
    large.then(|| even_parts(bytes, unit, shape))
}

/// Whether all of a reduce_scatter goes to one rank.
pub(super) fn goes_to_one(counts: &[u64]) -> bool {
    let mut receivers = counts.iter().filter(|count| **count > 0);
    receivers.next().is_some() && receivers.next().is_none()
}

fn reduce_scatter(bytes: usize, counts: &[u64], with: &Operands, shape: &Shape) -> Option<Plan> {
    let (ranks, slot, unit) = sizes(shape, with);
    let longest = || counts.iter().max().copied().unwrap_or(0);
    let balanced = || longest() * ranks as u64 <= 2 * counts.iter().sum::<u64>();
    let others = ranks - 1;
    let fits = unit * others <= slot;
    // One rank gets all: a reduction to it.
    let piece = match goes_to_one(counts) {
        true => slot,
        false => part_below(slot / others),
    };
    let small = || fits.then(|| shape.small(Staged::Direct, piece));
    let large = shape.large && unit <= LARGEST_ELEMENT && unit <= shape.part();
    if shape.oversubscribed {
        return match bytes < LARGE || !large {
            true => small(),
            false if ranks <= MOST_EXCHANGE && balanced() => {
                Some(parts(longest() as usize * unit, unit, false, shape))
            }
            false => Some(shape.shares(bytes)),
        };
    }
    if bytes <= 1024 || bytes <= 4096 && (ranks > 2 || !large) {
        return small();
    }
    large.then(|| parts(longest() as usize * unit, unit, false, shape))
}

fn scan(bytes: usize, with: &Operands, shape: &Shape) -> Option<Plan> {
    let (ranks, slot, unit) = sizes(shape, with);
    let is_long = bytes >= LEAST_IN_CHAIN * ranks && bytes >= LARGE_GATHER;
    if ranks > 2 && is_long && shape.large && unit <= LARGEST_ELEMENT {
        let plan = shape.stream(Staged::Chain, bytes, true);
        // Where ranks share cores, a piece costs each of them a time slice.
        let piece = (bytes / PIECES_OF_CHAIN).max(plan.piece).min(shape.piece());
        return Some(match shape.oversubscribed {
            true => shape.large(Staged::Chain, piece, piece, 4),
            false => plan,
        });
    }
    let fits = shape.oversubscribed || bytes <= 4096 || ranks <= MOST_TO_SCAN;
    (fits && unit <= slot).then(|| shape.small(Staged::Direct, slot))
}

#[cfg(test)]
mod tests;
