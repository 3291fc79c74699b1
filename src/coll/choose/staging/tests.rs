//! The routes of all operations for shapes of nodes: alike on all ranks, in pieces that fit their rings.

use super::super::plan::ALIGNED;
use super::super::route::plan_anyway;
use super::*;
use crate::datatype::pack::Laid;
use crate::datatype::{get, predefined_handles};
use crate::op;
use crate::transport::collective::{Geometry, Ring, Spacing};

const RANKS: [usize; 10] = [2, 3, 4, 7, 8, 16, 17, 64, 128, 256];
const BYTES: [usize; 12] = [
    8,
    48,
    1 << 10,
    (1 << 10) + 8,
    4 << 10,
    (4 << 10) + 8,
    16 << 10,
    64 << 10,
    200_000,
    1 << 20,
    (1 << 20) + 8,
    4 << 20,
];
/// The most bytes of all ranks' parts together that are tried.
const MOST_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Barrier,
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceToOne,
    Scan,
}

use Kind::*;

const KINDS: [Kind; 11] = [
    Barrier,
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceToOne,
    Scan,
];

/// What the ranks call: on elements of eight bytes, with the last one as root.
struct Call {
    kind: Kind,
    ranks: usize,
    bytes: usize,
    memory: Laid,
    with: Operands,
}

impl Call {
    fn new(kind: Kind, ranks: usize, bytes: usize) -> Call {
        let mut predefined = predefined_handles().filter_map(get);
        let word = predefined.find(|one| one.name() == "MPI_UINT64_T");
        let word = word.expect("a predefined type");
        Call {
            kind,
            ranks,
            bytes,
            memory: Laid::new((ranks * bytes / 8) as u64, word),
            with: Operands {
                op: op::get(op::SUM).expect("a predefined operation"),
                datatype: word,
            },
        }
    }

    /// Ranks that get something, of a reduction whose result is dealt out: each element has eight bytes.
    fn receivers(&self) -> usize {
        match self.kind {
            ReduceScatter => self.ranks.min(self.bytes / 8),
            ReduceToOne => 1,
            _ => self.ranks,
        }
    }

    /// Of one rank.
    fn args(&mut self, me: usize) -> CollArgs {
        let parts = Parts::of_laid(&mut self.memory, self.ranks);
        let (root, own, with) = (self.ranks as i32 - 1, parts.of(0), self.with.clone());
        let at_root = (me as i32 == root).then(|| parts.clone());
        let buffer = own;
        match self.kind {
            Barrier => CollArgs::Barrier,
            Bcast => CollArgs::Bcast { buffer, root },
            // In place at the root.
            Gather => CollArgs::Gather {
                own: at_root.is_none().then_some(own),
                parts: at_root,
                root,
                equal: true,
            },
            Scatter => CollArgs::Scatter {
                into: at_root.is_none().then_some(own),
                parts: at_root,
                root,
                equal: true,
            },
            Allgather => CollArgs::Allgather {
                own: Some(own),
                parts,
            },
            Alltoall => CollArgs::Alltoall {
                out: (me > 0).then(|| parts.clone()),
                into: parts,
            },
            Reduce => CollArgs::Reduce {
                own,
                into: at_root.map_or(Buffer::empty(), |parts| parts.of(1)),
                with,
                root,
            },
            Allreduce => CollArgs::Allreduce {
                own,
                into: parts.of(1),
                with,
            },
            ReduceScatter | ReduceToOne => {
                let elements = self.bytes / 8;
                let of = |rank: usize| match self.kind {
                    ReduceToOne => elements * usize::from(rank == 0),
                    _ => (rank + 1) * elements / self.ranks - rank * elements / self.ranks,
                };
                CollArgs::ReduceScatter {
                    own,
                    into: parts.of(1),
                    counts: (0..self.ranks).map(|rank| of(rank) as u64).collect(),
                    with,
                }
            }
            Scan => CollArgs::Scan {
                own,
                into: parts.of(1),
                with,
                exclusive: me % 2 == 1,
            },
        }
    }
}

/// Calls on all shapes of nodes.
fn each_shape(mut look: impl FnMut(&mut Call, Shape)) {
    for (ranks, bytes) in RANKS
        .into_iter()
        .flat_map(|ranks| BYTES.map(|bytes| (ranks, bytes)))
    {
        if ranks * bytes > MOST_BYTES {
            continue;
        }
        for kind in KINDS {
            let mut call = Call::new(kind, ranks, bytes);
            let known = super::published(&call.args(0), 0, ranks);
            for number in 0..64 {
                let geometry = match number & 33 {
                    0 => Geometry::of(ranks),
                    1 => Geometry::of_operation(ranks),
                    32 => Geometry::of_persistent(ranks, known),
                    _ => Geometry::of_persistent(ranks, None),
                };
                let shape = Shape {
                    geometry,
                    oversubscribed: number & 2 > 0,
                    large: number & 4 > 0,
                    reads: [|| false, || true][number >> 3 & 1],
                    reach: number >> 4 & 1 > 0,
                };
                look(&mut call, shape);
            }
        }
    }
}

/// Bytes from one part to the next.
fn stride_of(part: usize) -> usize {
    match part >= ALIGNED {
        true => part.next_multiple_of(64),
        false => part,
    }
}

/// Bytes that a rank publishes in a round at most, of what so many ranks receive.
fn published(kind: Kind, plan: &Plan, (ranks, receivers): (usize, usize)) -> usize {
    let stride = stride_of(plan.piece);
    match (kind, plan.how) {
        (_, Staged::SingleCopy) => 0,
        (_, Staged::Direct) if receivers == 1 => plan.piece,
        (Scatter | Alltoall, _) | (ReduceScatter, Staged::Direct) => stride * (ranks - 1),
        (_, Staged::Parts) => stride * (ranks - 1),
        _ => plan.piece,
    }
}

fn spacing(plan: &Plan, geometry: Geometry) -> Spacing {
    let small = Spacing::small(geometry.small());
    plan.rings.map_or(small, |rings| rings.spacing)
}

/// Whether the first piece goes to the start of the ring.
fn begins_anew(plan: &Plan) -> bool {
    plan.rings.is_some_and(|rings| rings.from_start)
}

/// All pieces that are published ahead of the one that is read are in the ring, so no rank waits for itself.
fn check_room((kind, receivers): (Kind, usize), plan: &Plan, shape: &Shape) {
    let geometry = shape.geometry;
    let bytes = if plan.is_large() {
        geometry.large
    } else {
        geometry.small()
    };
    let published = published(kind, plan, (geometry.ranks, receivers));
    assert!(
        plan.piece > 0 && published <= bytes,
        "{kind:?} {shape:?} {plan:?}"
    );
    assert!(
        plan.ahead() + 1 < geometry.lines,
        "{kind:?} {shape:?} {plan:?}"
    );
    if plan.how == Staged::Shares {
        let share = plan.rings.map_or(0, |rings| rings.share);
        assert!(share > 0 && share <= plan.piece, "{shape:?} {plan:?}");
    }
    let mut ring = Ring::new(plan.is_large(), bytes);
    let spacing = spacing(plan, geometry);
    for round in 1..50 {
        // Nothing is known to be acknowledged.
        let (_, needed) = ring.place(round, published, spacing, 0);
        assert!(
            needed <= round.saturating_sub(1 + plan.ahead() as u64),
            "{kind:?} {shape:?} {plan:?}: round {round} needs {needed}"
        );
    }
}

/// An operation in parts of at most `longest` bytes, of elements of `unit`, waits only for rounds of its own that it has taken, wherever in the
/// ring the one before ended.
fn check_rounds((longest, unit, results): (usize, usize, bool), plan: &Plan, shape: &Shape) {
    let (ranks, ring_bytes) = (shape.geometry.ranks, shape.geometry.large);
    let piece = plan.piece / unit * unit;
    let pieces = longest.div_ceil(piece);
    let bytes = |at: usize| piece.min(longest - at * piece);
    // Of two pieces with results none is acknowledged before the last is placed.
    assert!(pieces <= 2 || !results);
    let spacing = spacing(plan, shape.geometry);
    for before in [1, ring_bytes / 3, ring_bytes / 2 + 1, ring_bytes] {
        let mut ring = Ring::new(true, ring_bytes);
        ring.place(1, before, spacing, 0);
        if begins_anew(plan) {
            ring.rewind();
        }
        let (mut over, mut round) = (1, 1);
        for at in 0..=pieces {
            let mut place = |bytes: usize| {
                round += 1;
                let (_, needed) = ring.place(round, bytes, spacing, over);
                assert!(
                    needed <= over,
                    "{longest} bytes of {unit}, {results}, {shape:?} {plan:?}: piece {at}, behind {before} bytes"
                );
            };
            if at < pieces {
                place(stride_of(bytes(at)) * (ranks - 1));
            }
            if at > 0 && results {
                place(bytes(at - 1));
            } else if at > 0 {
                over = round - u64::from(at < pieces);
            }
        }
    }
}

#[test]
fn long_parts_of_ranks_that_share_cores_find_room() {
    let (mut from_start, mut from_anywhere, mut two) = (0, 0, 0);
    for ranks in 2..=MOST_EXCHANGE + 1 {
        let shape = Shape {
            geometry: Geometry::of(ranks),
            oversubscribed: true,
            large: true,
            reads: || false,
            reach: true,
        };
        for unit in [1, 8, 12, 24, 1000, 3000] {
            for about in (1..300).map(|step| step * 1021) {
                let longest = about / unit * unit;
                for results in [false, true] {
                    let plan = shape.parts(Staged::Parts, (longest, unit), results);
                    if plan.piece == shape.part() || longest == 0 {
                        assert!(!begins_anew(&plan));
                        continue;
                    }
                    check_rounds((longest, unit, results), &plan, &shape);
                    from_start += usize::from(begins_anew(&plan));
                    from_anywhere += usize::from(!begins_anew(&plan));
                    two += usize::from(results && longest > plan.piece);
                }
            }
        }
    }
    let least = from_start.min(from_anywhere).min(two);
    assert!(least > 20, "{from_start} {from_anywhere} {two}");
}

/// What decides how an operation is staged.
type Way = fn(&CollArgs, usize, &Shape) -> Option<Plan>;

#[test]
fn plans_are_alike_on_all_ranks_and_their_pieces_fit() {
    let mut staged = 0;
    each_shape(|call, shape| {
        let (kind, bytes) = (call.kind, call.bytes);
        let ways: [Way; 2] = [plan, plan_anyway];
        for way in ways {
            let first = way(&call.args(0), 0, &shape);
            for me in [1, call.ranks / 2, call.ranks - 1] {
                let other = way(&call.args(me), me, &shape);
                assert_eq!(
                    first, other,
                    "{kind:?} of {bytes} bytes, {shape:?}, rank {me}"
                );
            }
            if let Some(plan) = first {
                assert!(
                    shape.large || !plan.is_large(),
                    "{kind:?} {shape:?} {plan:?}"
                );
                if plan.is_large() && plan.piece > shape.part() && plan.how == Staged::Parts {
                    let results = matches!(kind, Reduce | Allreduce);
                    let longest = (bytes / 8).div_ceil(shape.ranks()) * 8;
                    check_rounds((longest, 8, results), &plan, &shape);
                } else if plan.is_large() && plan.piece > shape.part() && kind == Alltoall {
                    check_rounds((bytes, 1, false), &plan, &shape);
                } else {
                    check_room((kind, call.receivers()), &plan, &shape);
                }
                staged += 1;
            }
        }
    });
    assert!(staged > 1000, "{staged}");
}

#[test]
fn with_a_core_for_each_rank_all_sizes_are_staged_but_long_exchanges_of_two() {
    each_shape(|call, shape| {
        let usual = shape.large && !shape.oversubscribed && call.ranks <= 16;
        let kinds = [Barrier, Bcast, Reduce, Allreduce, Allgather, Alltoall];
        if usual && kinds.contains(&call.kind) {
            let by_messages = (shape.reads)()
                && (call.kind, call.ranks) == (Alltoall, 2)
                && call.bytes > LONGEST_OF_TWO;
            let staged = plan(&call.args(0), 0, &shape).is_some();
            assert!(
                staged != by_messages,
                "{:?} of {} bytes, {shape:?}",
                call.kind,
                call.bytes
            );
        }
    });
}

#[test]
fn what_is_wanted_staged_is_staged_wherever_it_can_be() {
    let mut messages = 0;
    each_shape(|call, shape| {
        let args = call.args(0);
        let staged = plan_anyway(&args, 0, &shape);
        // A part of an element for each other rank may be longer than there is room for.
        let fits = call.receivers() == 1
            || call.kind != ReduceScatter
            || shape.geometry.slot / (call.ranks - 1) >= 8;
        assert!(
            staged.is_some_and(|plan| plan.how != Staged::SingleCopy) || !fits,
            "{:?} of {} bytes, {shape:?}: {staged:?}",
            call.kind,
            call.bytes
        );
        messages += usize::from(plan(&args, 0, &shape).is_none());
    });
    assert!(messages > 0, "nothing goes by messages otherwise");
}
