//! Which operations are staged, and how (`coll/staged`): of the ranks on one node.
//!
//! The choices are a cost model's, see docs/collectives.md: lines that move, bytes through each core, and, where ranks share cores, time
//! slices. Invariant: as in [`super`]: an answer depends on nothing that may differ between the ranks.

use super::super::args::{CollArgs, Operands};
use super::reproducible;
use crate::datatype::{Buffer, Parts};
use crate::op::Op;
use crate::transport::collective::{Geometry, INLINE, Large, SMALL_DEPTH, Spacing, Staging, UNIT};

/// How an operation is staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staged {
    /// Each rank that needs data reads that of all which give it; of a reduction, each rank that gets a result reduces all of it.
    Direct,
    /// A counter of arrivals alone.
    Counter,
    /// Up and down a tree.
    Tree,
    /// The last rank to come reduces for all.
    Last,
    /// Whichever rank runs reduces shares, which all copy.
    Shares,
    /// Each rank reduces a part.
    Parts,
    /// Each rank reads the others' memory.
    SingleCopy,
}

impl Staged {
    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Staged::Direct => "staged",
            Staged::Counter => "staged by a counter",
            Staged::Tree => "staged in a tree",
            Staged::Last => "staged, reduced by the last rank",
            Staged::Shares => "staged, reduced in shares",
            Staged::Parts => "staged, reduced in parts",
            Staged::SingleCopy => "single copy",
        }
    }
}

/// How an operation is staged, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub how: Staged,
    /// The longest data of a rank in a round, for all or, where it has parts, for one other rank, bytes.
    pub piece: usize,
    /// The longest share, bytes.
    pub share: usize,
    /// Whether the large rings are used.
    pub large: bool,
    /// Rounds that are published ahead of the one that is read.
    pub ahead: usize,
    pub spacing: Spacing,
    /// Whether the first piece goes to the start of the ring.
    pub from_start: bool,
    /// Whether ranks that wait for all wait at a counter, and not for each rank's line.
    pub counted: bool,
    pub oversubscribed: bool,
    /// Whether the stores depend on how far apart the ranks' caches are.
    pub looks: bool,
}

/// What all ranks of an area know alike.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub geometry: Geometry,
    pub oversubscribed: bool,
    /// Whether there is memory for the large rings, as far as is known.
    pub large: bool,
}

/// Longer parts begin at lines, where non-temporal stores begin.
pub const ALIGNED: usize = 1024;
/// Up to so many ranks each watches each; of more that share cores, all watch one counter.
pub(super) const FEW: usize = 3;
/// Largest number of ranks, with a core each, that read each other's lines; more use a tree.
const MOST_DIRECT: usize = 16;
/// Rounds of little data that are published ahead.
const AHEAD: usize = 2;
/// Two ranks with a core each, in pieces of the large rings: the fewer begin a reader's stream anew, the better.
const AHEAD_OF_TWO: usize = 4;
/// The longest piece of what goes one way between ranks with a core each, so that writing and reading overlap, and the shortest and
/// longest of all.
const ONE_WAY: usize = 16 << 10;
const SHORTEST: usize = 8 << 10;
const LONGEST: usize = 64 << 10;
/// Bytes from which large rings are used by ranks that share cores: a time slice is to be worth its while.
const LARGE: usize = 32 << 10;
const LARGE_GATHER: usize = 16 << 10;
/// The pieces of all ranks together, about what the own caches of two cores hold, and the longest.
const ALL_PIECES: usize = 2 << 20;
const LONGEST_PIECE: usize = 256 << 10;
const LONGEST_PART: usize = 128 << 10;
/// A longer broadcast piece makes fewer time slices.
const LONGEST_BCAST: usize = 512 << 10;
/// Up to so many ranks that share cores reduce a part each in every large allreduce: fewer bytes, but all have to run twice. Of more,
/// whoever runs makes a share, if they have less than [`LARGE_PARTS`].
const MOST_WITH_A_PART_EACH: usize = 4;
/// Parts of more ranks would be short.
const MOST_EXCHANGE: usize = 16;
/// Bytes from which more ranks that share cores reduce a part each in an allreduce, and in a reduce if the vectors of all together have so many:
/// there the root does all of the work otherwise, but nobody has to run twice.
const LARGE_PARTS: usize = 64 << 10;
const ALL_VECTORS: usize = 1 << 20;
/// What one rank reduces at a time, at most and at least: it stays in the first cache. A piece is so many shares.
const LONGEST_SHARE: usize = 16 << 10;
const SHORTEST_SHARE: usize = 4 << 10;
const SHARES: usize = 16;
/// Operations on larger elements are not staged in large rings.
const LARGEST_ELEMENT: usize = 4096;
/// More ranks scan by messages: the last one reads all vectors.
const MOST_TO_SCAN: usize = 8;

/// Half of a power of two, or less.
fn power_below(bytes: usize) -> usize {
    1 << bytes.max(1).ilog2()
}

/// A part of so many bytes, or less, so that those of all ranks fit where they are aligned.
pub(super) fn part_below(bytes: usize) -> usize {
    match bytes >= ALIGNED {
        true => bytes / 64 * 64,
        false => bytes,
    }
}

impl Shape {
    /// Of an area, as far as its rank knows.
    #[inline]
    pub fn of(staging: &Staging, oversubscribed: bool) -> Shape {
        Shape {
            geometry: staging.area.geometry,
            oversubscribed,
            large: staging.large != Large::Refused,
        }
    }

    pub(super) fn ranks(&self) -> usize {
        self.geometry.ranks
    }

    /// In the small rings.
    pub(super) fn small(&self, how: Staged, piece: usize) -> Plan {
        Plan {
            how,
            piece: piece.max(1),
            share: 0,
            large: false,
            ahead: AHEAD,
            spacing: Spacing {
                gap: UNIT,
                extent: SMALL_DEPTH * self.geometry.slot,
            },
            from_start: false,
            counted: self.oversubscribed && self.ranks() > FEW,
            oversubscribed: self.oversubscribed,
            looks: self.oversubscribed,
        }
    }

    /// In the large rings, of which `pieces` of `published` bytes are used.
    pub(super) fn large(&self, how: Staged, piece: usize, published: usize, pieces: usize) -> Plan {
        let extent = (pieces * (published + UNIT)).min(self.geometry.large);
        Plan {
            large: true,
            looks: true,
            ahead: 1,
            spacing: Spacing { gap: 0, extent },
            ..self.small(how, piece)
        }
    }

    /// The longest piece of what every rank publishes for all.
    fn piece(&self) -> usize {
        power_below((ALL_PIECES / self.ranks()).min(LONGEST_PIECE))
    }

    /// The longest part of what every rank publishes for each.
    pub(super) fn part(&self) -> usize {
        power_below((self.geometry.large / 4 / self.ranks()).min(LONGEST_PART))
    }

    /// Parts for every other rank, of at most `longest` bytes in whole elements of `unit`. `results`: a round with each rank's result follows each
    /// piece.
    ///
    /// A piece costs ranks that share cores a time slice. Where the ring would cut parts short, as few pieces as fit are used: all at
    /// once, or two at a time if there are no results.
    pub(super) fn parts(
        &self,
        how: Staged,
        (longest, unit): (usize, usize),
        results: bool,
    ) -> Plan {
        let (ranks, ring) = (self.ranks(), self.geometry.large);
        let (part, others) = (self.part(), ranks - 1);
        let rounds = others + usize::from(results);
        let usual = self.large(how, part, part * rounds, 4);
        let is_cut_short = part < LONGEST_PART && longest > part;
        if !self.oversubscribed || !is_cut_short || ranks > MOST_EXCHANGE {
            return usual;
        }
        let length_of = |number: usize| {
            let bytes = longest.div_ceil(number).next_multiple_of(unit);
            bytes.next_multiple_of(UNIT)
        };
        let used = |number: usize| number * length_of(number) * rounds;
        let fits = |number: &usize| length_of(*number) <= LONGEST_PART && used(*number) <= ring;
        let (piece, from_start) = match (1..=2).find(fits) {
            // From anywhere, if two such operations fit side by side, or the one piece finds its place by itself.
            Some(number) => {
                let from_anywhere = !results || 2 * used(number) <= ring;
                (length_of(number), number > 1 || !from_anywhere)
            }
            None if results => return usual,
            None => {
                let most = (ring / 2 / others / UNIT * UNIT).min(LONGEST_PART);
                (length_of(longest.div_ceil(most)).min(most), true)
            }
        };
        Plan {
            piece,
            from_start,
            spacing: Spacing {
                gap: 0,
                extent: ring,
            },
            ..usual
        }
    }

    /// In pieces that go one way, or with cores for all both ways.
    fn stream(&self, how: Staged, bytes: usize, one_way: bool) -> Plan {
        let most = LONGEST.min(self.geometry.large / 8);
        let pieces = if one_way { bytes.div_ceil(ONE_WAY) } else { 1 };
        let piece = (bytes / pieces.max(1)).clamp(SHORTEST.min(most), most);
        Plan {
            ahead: match self.ranks() {
                2 => AHEAD_OF_TWO,
                _ => AHEAD,
            },
            ..self.large(how, piece, 0, 0)
        }
        .spread(self)
    }
}

impl Plan {
    /// Over all of the ring, with a gap behind each piece.
    fn spread(self, shape: &Shape) -> Plan {
        Plan {
            spacing: Spacing {
                gap: UNIT,
                extent: shape.geometry.large,
            },
            ..self
        }
    }
}

/// How an operation is staged by its ranks on one node, by what costs least; `None`: it goes by messages.
pub fn plan(args: &CollArgs, me: usize, shape: &Shape) -> Option<Plan> {
    let small = |how, piece| Some(shape.small(how, piece));
    let (ranks, slot) = (shape.ranks(), shape.geometry.slot);
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
        CollArgs::Scan { own, with, .. } => {
            let bytes = own.len();
            if with.datatype.size as usize > slot {
                return None;
            }
            let fits = shape.oversubscribed || bytes <= 4096 || ranks <= MOST_TO_SCAN;
            fits.then(|| shape.small(Staged::Direct, slot))
        }
        _ => None,
    }
}

/// Whether a nonblocking operation has so little data that it needs no large rings, and no more than a slot of an area for little data.
/// `None`: not all ranks know alike.
pub fn has_little(args: &CollArgs, me: usize, ranks: usize) -> Option<bool> {
    let bytes = match args {
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
    };
    Some(bytes <= UNIT)
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
    let large = |how| Some(shape.parts(how, (each, 1), false));
    if shape.oversubscribed {
        return match each >= LARGE_GATHER {
            true if ranks <= MOST_EXCHANGE && shape.large => large(Staged::Direct),
            true => small.map(|plan| Plan {
                how: Staged::SingleCopy,
                ..plan
            }),
            false => small,
        };
    }
    if each <= 1024 || each <= 2048 && (ranks > 2 || !shape.large) {
        return small;
    }
    match ranks {
        2 => shape
            .large
            .then(|| shape.stream(Staged::Direct, each, false)),
        3..=MOST_EXCHANGE if shape.large => large(Staged::Direct),
        _ if each >= LARGE_GATHER => small.map(|plan| Plan {
            how: Staged::SingleCopy,
            ..plan
        }),
        _ => shape.large.then(|| large(Staged::Direct)).flatten(),
    }
}

/// In pieces of the large rings, made in shares.
fn shares(bytes: usize, shape: &Shape) -> Plan {
    let piece = shape.piece();
    let share = (bytes.min(piece) / SHARES).clamp(SHORTEST_SHARE, LONGEST_SHARE);
    Plan {
        share,
        counted: true,
        ..shape.large(Staged::Shares, piece, piece, 4)
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
    let longest = (bytes / unit).div_ceil(shape.ranks()) * unit;
    parts(longest, unit, true, shape)
}

fn reduce(bytes: usize, with: &Operands, shape: &Shape) -> Option<Plan> {
    let (ranks, slot, unit) = (
        shape.ranks(),
        shape.geometry.slot,
        with.datatype.size as usize,
    );
    let small = |how| (unit <= slot).then(|| shape.small(how, slot));
    let large = shape.large && unit <= LARGEST_ELEMENT;
    if shape.oversubscribed {
        return match with.op {
            _ if bytes < LARGE || !large => small(Staged::Direct),
            Op::User(_) => Some(shares(bytes, shape)),
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
    let (ranks, slot, unit) = (
        shape.ranks(),
        shape.geometry.slot,
        with.datatype.size as usize,
    );
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
            false => Some(shares(bytes, shape)),
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
    let (ranks, slot, unit) = (
        shape.ranks(),
        shape.geometry.slot,
        with.datatype.size as usize,
    );
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
            false => Some(shares(bytes, shape)),
        };
    }
    if bytes <= 1024 || bytes <= 4096 && (ranks > 2 || !large) {
        return small();
    }
    large.then(|| parts(longest() as usize * unit, unit, false, shape))
}

#[cfg(test)]
mod tests;
