//! The route of an operation: staged, or by messages, with the setting of its kind considered.
//!
//! Invariant: as in [`super`].

use super::super::args::{CollArgs, Operands};
use super::plan::{FEW, Plan, Shape, Staged, part_below};
use super::staging::{self, equal, goes_to_one};
use super::{Wanted, reproducible, sets_routes, stages};

/// What the setting of an operation says.
#[inline]
fn wanted(args: &CollArgs) -> Wanted {
    match sets_routes() {
        true => setting(args),
        false => Wanted::Any,
    }
}

#[cold]
fn setting(args: &CollArgs) -> Wanted {
    match args {
        CollArgs::Barrier => super::BARRIER.get().wanted(),
        CollArgs::Bcast { .. } => super::BCAST.get().wanted(),
        CollArgs::Gather { .. } => super::GATHER.get().wanted(),
        CollArgs::Scatter { .. } => super::SCATTER.get().wanted(),
        CollArgs::Allgather { .. } => super::ALLGATHER.get().wanted(),
        CollArgs::Alltoall { .. } => super::ALLTOALL.get().wanted(),
        CollArgs::Reduce { .. } => super::REDUCE.get().wanted(),
        CollArgs::Allreduce { .. } => super::ALLREDUCE.get().wanted(),
        CollArgs::ReduceScatter { .. } => super::REDUCE_SCATTER.get().wanted(),
        CollArgs::Scan { .. } => super::SCAN.get().wanted(),
        CollArgs::Neighbors { .. } => Wanted::Any,
    }
}

/// Whether an operation may be staged, before anything is known but the ranks on this node.
pub fn may_be_staged(args: &CollArgs) -> bool {
    let messages = matches!(args, CollArgs::Neighbors { .. }) || wanted(args) == Wanted::Messages;
    stages() && !messages
}

/// How an operation is staged by its ranks on one node; `None`: it goes by messages.
#[inline]
pub fn plan(args: &CollArgs, me: usize, shape: &Shape) -> Option<Plan> {
    match wanted(args) {
        Wanted::Any => staging::plan(args, me, shape),
        Wanted::Messages => None,
        Wanted::Staged => plan_anyway(args, me, shape),
    }
}

/// As [`staging::plan`], also where messages cost less, or where the ranks would have to read each other's memory, which may be forbidden: in
/// small pieces, which always fit. `None`: the ranks do not know alike how long the data is, or an element is too long.
pub(super) fn plan_anyway(args: &CollArgs, me: usize, shape: &Shape) -> Option<Plan> {
    let best = staging::plan(args, me, shape);
    if best.is_some_and(|plan| plan.how != Staged::SingleCopy) {
        return best;
    }
    let (slot, others) = (shape.geometry.slot, shape.ranks() - 1);
    let direct = |piece| Some(shape.small(Staged::Direct, piece));
    let reduced = |with: &Operands, how, piece: usize| {
        let fits = !reproducible() && with.datatype.size as usize <= piece;
        fits.then(|| shape.small(how, piece))
    };
    match args {
        CollArgs::Bcast { .. }
        | CollArgs::Gather { equal: true, .. }
        | CollArgs::Allgather { .. } => direct(slot),
        CollArgs::Scatter { equal: true, .. } => direct(part_below(slot / others)),
        CollArgs::Alltoall { out, into } => equal(out, into).map(|each| match shape.large {
            true => shape.parts(Staged::Direct, (each, 1), false),
            false => shape.small(Staged::Direct, part_below(slot / others)),
        }),
        CollArgs::Reduce { with, .. } | CollArgs::Scan { with, .. } => {
            reduced(with, Staged::Direct, slot)
        }
        CollArgs::Allreduce { with, .. } => {
            let last = shape.oversubscribed && shape.ranks() > FEW;
            let how = if last { Staged::Last } else { Staged::Direct };
            reduced(with, how, slot)
        }
        CollArgs::ReduceScatter { counts, with, .. } => {
            // One rank gets all: a reduction to it.
            let piece = if goes_to_one(counts) {
                slot
            } else {
                part_below(slot / others)
            };
            reduced(with, Staged::Direct, piece)
        }
        _ => None,
    }
}
