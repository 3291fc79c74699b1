//! How an operation is staged, in numbers, and the shape of the node that they follow from.
//!
//! Invariant: as in [`super`]: both depend on nothing that may differ between the ranks.

use crate::os::hardware;
use crate::transport::collective::{Geometry, Large, Reach, Spacing, Staging, UNIT};

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
    /// Each rank gets the result up to the one before it.
    Chain,
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
            Staged::Chain => "staged in a chain",
            Staged::Parts => "staged, reduced in parts",
            Staged::SingleCopy => "single copy",
        }
    }
}

/// How an operation is staged, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub how: Staged,
    /// Whether ranks that wait for all wait at a counter, and not for each rank's line.
    pub counted: bool,
    pub oversubscribed: bool,
    /// The longest data of a rank in a round, for all or, where it has parts, for one other rank, bytes.
    pub piece: usize,
    /// How the large rings are used; `None`: the small ones are.
    pub rings: Option<Rings>,
}

/// How the large rings are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rings {
    /// Rounds that are published ahead of the one that is read.
    pub ahead: usize,
    pub spacing: Spacing,
    /// Whether the first piece goes to the start of the ring.
    pub from_start: bool,
    /// The longest share, bytes, where there are some.
    pub share: usize,
}

/// What all ranks of an area know alike.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub geometry: Geometry,
    pub oversubscribed: bool,
    /// Whether there is memory for the large rings, as far as is known.
    pub large: bool,
    /// Whether ranks read long data out of each other's memory faster than through staging: two with a core each parts of more than
    /// [`super::staging::LONGEST_OF_TWO`], more that share cores the parts of an alltoall.
    pub reads: fn() -> bool,
    /// Whether all ranks may read each other's memory, as far as is known.
    pub reach: bool,
}

/// Longer parts begin at lines, where non-temporal stores begin.
pub const ALIGNED: usize = 1024;
/// Up to so many ranks each watches each; of more that share cores, all watch one counter.
pub(super) const FEW: usize = 3;
/// Rounds of little data that are published ahead.
const AHEAD: usize = 2;
/// Two ranks with a core each, in pieces of the large rings: the fewer begin a reader's stream anew, the better.
const AHEAD_OF_TWO: usize = 4;
/// The longest piece of what goes one way between ranks with a core each, so that writing and reading overlap, and the shortest and
/// longest of all.
const ONE_WAY: usize = 16 << 10;
const SHORTEST: usize = 8 << 10;
const LONGEST: usize = 64 << 10;
/// The pieces of all ranks together, about what the own caches of two cores hold, and the longest.
const ALL_PIECES: usize = 2 << 20;
const LONGEST_PIECE: usize = 256 << 10;
pub(super) const LONGEST_PART: usize = 128 << 10;
/// Parts of more ranks would be short.
pub(super) const MOST_EXCHANGE: usize = 16;
/// What one rank reduces at a time, at most and at least: it stays in the first cache. A piece is so many shares.
const LONGEST_SHARE: usize = 16 << 10;
const SHORTEST_SHARE: usize = 4 << 10;
const SHARES: usize = 16;

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
            // Tests give the same answers on every processor.
            reads: match cfg!(test) {
                true => || true,
                false => hardware::loads_from_far_caches_are_fast,
            },
            reach: !matches!(staging.reach, Reach::Refused),
        }
    }

    pub(super) fn ranks(&self) -> usize {
        self.geometry.ranks
    }

    /// In the small rings.
    pub(super) fn small(&self, how: Staged, piece: usize) -> Plan {
        Plan {
            how,
            counted: self.oversubscribed && self.ranks() > FEW,
            oversubscribed: self.oversubscribed,
            piece: piece.max(1),
            rings: None,
        }
    }

    /// In the large rings, of which `pieces` of `published` bytes are used.
    pub(super) fn large(&self, how: Staged, piece: usize, published: usize, pieces: usize) -> Plan {
        let extent = (pieces * (published + UNIT)).min(self.geometry.large);
        Plan {
            rings: Some(Rings {
                ahead: 1,
                spacing: Spacing { gap: 0, extent },
                from_start: false,
                share: 0,
            }),
            ..self.small(how, piece)
        }
    }

    /// The longest piece of what every rank publishes for all.
    pub(super) fn piece(&self) -> usize {
        let most = LONGEST_PIECE.min(self.geometry.large / 4);
        power_below((ALL_PIECES / self.ranks()).min(most))
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
        let spacing = Spacing {
            gap: 0,
            extent: ring,
        };
        Plan {
            piece,
            rings: usual.rings.map(|rings| Rings {
                from_start,
                spacing,
                ..rings
            }),
            ..usual
        }
    }

    /// In pieces that go one way, or with cores for all both ways.
    pub(super) fn stream(&self, how: Staged, bytes: usize, one_way: bool) -> Plan {
        let most = LONGEST.min(self.geometry.large / 8);
        let pieces = if one_way { bytes.div_ceil(ONE_WAY) } else { 1 };
        let piece = (bytes / pieces.max(1)).clamp(SHORTEST.min(most), most);
        Plan {
            rings: Some(Rings {
                ahead: match self.ranks() {
                    2 => AHEAD_OF_TWO,
                    _ => AHEAD,
                },
                // Over all of the ring, with a gap behind each piece.
                spacing: Spacing {
                    gap: UNIT,
                    extent: self.geometry.large,
                },
                from_start: false,
                share: 0,
            }),
            ..self.small(how, piece)
        }
    }

    /// In pieces of the large rings, made in shares.
    pub(super) fn shares(&self, bytes: usize) -> Plan {
        let piece = self.piece();
        let share = (bytes.min(piece) / SHARES).clamp(SHORTEST_SHARE, LONGEST_SHARE);
        let plan = self.large(Staged::Shares, piece, piece, 4);
        Plan {
            counted: true,
            rings: plan.rings.map(|rings| Rings { share, ..rings }),
            ..plan
        }
    }
}

impl Plan {
    /// Rounds that are published ahead of the one that is read.
    #[inline]
    pub fn ahead(&self) -> usize {
        self.rings.map_or(AHEAD, |rings| rings.ahead)
    }

    pub fn is_large(&self) -> bool {
        self.rings.is_some()
    }
}
