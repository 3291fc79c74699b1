//! Runs an operation by the algorithm that [`super::choose`] names: staged, by messages, or in two levels.
//!
//! Invariant: every rank of a call chooses the same algorithm.

use super::args::{CollArgs, blocks, part_bytes};
use super::choose::{self, CallShape, PIECE};
use super::hierarchy::{Part, Steps};
use super::packed::{Copied, Packed};
use super::reduction::{Reduction, Vectors};
use super::team::{Team, copy_own};
use super::{
    allgather, allreduce, alltoall, barrier, bcast, gather, hierarchy, pair, reduce,
    reduce_scatter, ring, scan, scatter, staged,
};
use crate::comm::Nodes;
use crate::datatype::{Buffer, Parts};
#[cfg(not(test))]
use crate::{launch::nodes, node};

/// Runs an operation on the ranks of an intracommunicator.
pub async fn run(team: &Team<'_>, args: &CollArgs) {
    if stage(team, args).await {
        return;
    }
    if choose::report::is_wanted() {
        choose::report::by_messages(team.coll(), args, shape(team, 0), team.nodes());
    }
    match args {
        CollArgs::Barrier => run_barrier(team).await,
        CollArgs::Bcast { buffer, root } => run_bcast(team, *buffer, *root as usize).await,
        CollArgs::Gather {
            own,
            parts,
            root,
            equal,
        } => run_gather(team, *own, parts.as_ref(), *root as usize, *equal).await,
        CollArgs::Scatter {
            parts,
            into,
            root,
            equal,
        } => run_scatter(team, parts.as_ref(), *into, *root as usize, *equal).await,
        CollArgs::Allgather { own, parts } => {
            if let Some(own) = own {
                copy_own(team, own, &parts.of(team.rank()));
            }
            run_allgather(team, parts).await;
        }
        CollArgs::Alltoall { out, into } => run_alltoall(team, out.as_ref(), into).await,
        CollArgs::Reduce {
            own,
            into,
            with,
            root,
        } => {
            let fold = with.fold();
            run_reduce(team, (own, into, &with.reduction(&fold)), *root as usize).await;
        }
        CollArgs::Allreduce { own, into, with } => {
            let fold = with.fold();
            run_allreduce(team, (own, into, &with.reduction(&fold))).await;
        }
        CollArgs::ReduceScatter {
            own,
            into,
            counts,
            with,
        } => {
            let (fold, blocks) = (with.fold(), blocks(counts, with.datatype));
            run_reduce_scatter(team, (own, into, &with.reduction(&fold)), &blocks).await;
        }
        CollArgs::Scan {
            own,
            into,
            with,
            exclusive,
        } => {
            let fold = with.fold();
            run_scan(team, (own, into, &with.reduction(&fold)), *exclusive).await;
        }
        CollArgs::Neighbors { receives, sends } => {
            let with_data = |(_, buffer): &&(i32, Buffer)| !buffer.is_empty();
            let receives = receives.iter().filter(with_data);
            let receives = receives.map(|(rank, into)| team.begin_recv(*into, *rank as usize));
            let mut pending: Vec<_> = receives.collect();
            let sends = sends.iter().filter(with_data);
            pending.extend(sends.map(|(rank, out)| team.begin_send(*out, *rank as usize)));
            team.finish_all(pending).await;
        }
    }
}

/// Runs it in the ranks' staging area. False: it goes by messages.
async fn stage(team: &Team<'_>, args: &CollArgs) -> bool {
    let Some(staging) = team.staging() else {
        return false;
    };
    if team.has_lost() {
        // What this rank would publish may be wrong. The end of the operation tells so at the area.
        return true;
    }
    let done = staged::run(staging.access, team.coll(), staging.geometry, args).await;
    done.map(|done| team.note(done)).is_some()
}

/// Runs a level of an operation on several nodes.
pub fn run_part<'a>(team: &'a Team<'a>, part: Part<'a>) -> Steps<'a> {
    Box::pin(async move {
        if team.staging().is_some()
            && let Some(args) = args_of(part)
            && stage(team, &args).await
        {
            return;
        }
        match part {
            Part::Barrier => run_barrier(team).await,
            Part::Bcast(buffer, root) => run_bcast(team, buffer, root).await,
            Part::Gather(own, parts, root) => run_gather(team, own, parts, root, true).await,
            Part::Scatter(parts, into, root) => run_scatter(team, parts, into, root, true).await,
            Part::Allgather(parts) => run_allgather(team, parts).await,
            Part::Reduce(vectors, root) => run_reduce(team, vectors, root).await,
            Part::Allreduce(vectors) => run_allreduce(team, vectors).await,
            Part::ReduceScatter(vectors, blocks) => {
                run_reduce_scatter(team, vectors, blocks).await;
            }
            Part::Scan(vectors, exclusive) => run_scan(team, vectors, exclusive).await,
        }
    })
}

/// A part as an operation; `None` of a reduction in a test, which has no operation of MPI.
fn args_of(part: Part<'_>) -> Option<CollArgs> {
    Some(match part {
        Part::Barrier => CollArgs::Barrier,
        Part::Bcast(buffer, root) => CollArgs::Bcast {
            buffer,
            root: root as i32,
        },
        Part::Gather(own, parts, root) => CollArgs::Gather {
            own,
            parts: parts.cloned(),
            root: root as i32,
            equal: true,
        },
        Part::Scatter(parts, into, root) => CollArgs::Scatter {
            parts: parts.cloned(),
            into,
            root: root as i32,
            equal: true,
        },
        Part::Allgather(parts) => CollArgs::Allgather {
            own: None,
            parts: parts.clone(),
        },
        Part::Reduce((&own, &into, how), root) => CollArgs::Reduce {
            own,
            into,
            with: how.with?.clone(),
            root: root as i32,
        },
        Part::Allreduce((&own, &into, how)) => CollArgs::Allreduce {
            own,
            into,
            with: how.with?.clone(),
        },
        Part::ReduceScatter((&own, &into, how), blocks) => {
            let lengths = blocks.windows(2).map(|ends| ends[1] - ends[0]);
            CollArgs::ReduceScatter {
                own,
                into,
                counts: lengths.map(|bytes| (bytes / how.unit) as u64).collect(),
                with: how.with?.clone(),
            }
        }
        Part::Scan((&own, &into, how), exclusive) => CollArgs::Scan {
            own,
            into,
            with: how.with?.clone(),
            exclusive,
        },
    })
}

/// Whether the ranks share cores with others. Ranks of several hosts must choose alike, and none knows the cores of the others.
#[cfg(not(test))]
fn is_oversubscribed(team: &Team<'_>) -> bool {
    (!nodes::are_hosts() && !crate::group::names::has_foreign() || team.shares_memory())
        && node::is_oversubscribed()
}

/// Simulated ranks have no node: some numbers of them share cores.
#[cfg(test)]
fn is_oversubscribed(team: &Team<'_>) -> bool {
    team.ranks_per_node() > 2 && team.ranks_per_node() % 3 != 1
}

fn shape(team: &Team<'_>, bytes: usize) -> CallShape {
    CallShape {
        ranks: team.size(),
        bytes,
        commutes: true,
        equal: true,
        oversubscribed: is_oversubscribed(team),
        several_nodes: team.nodes().is_some() && team.ranks_per_node() > 1,
        in_order: team.nodes().is_none_or(Nodes::are_in_order),
    }
}

pub async fn run_barrier(team: &Team<'_>) {
    match choose::barrier(shape(team, 0)) {
        choose::Barrier::Nodes => hierarchy::barrier(team, run_part).await,
        choose::Barrier::Central => barrier::central(team).await,
        _ => barrier::dissemination(team).await,
    }
}

pub async fn run_bcast(team: &Team<'_>, buffer: Buffer, root: usize) {
    if buffer.is_empty() {
        return;
    }
    match choose::bcast(shape(team, buffer.len())) {
        choose::Bcast::Nodes => hierarchy::bcast(team, buffer, root, run_part).await,
        choose::Bcast::Linear => bcast::linear(team, buffer, root).await,
        choose::Bcast::Chain => bcast::chain(team, buffer, root, PIECE).await,
        choose::Bcast::ScatterAllgather => bcast::scatter_allgather(team, buffer, root).await,
        _ => bcast::binomial(team, buffer, root).await,
    }
}

pub async fn run_gather(
    team: &Team<'_>,
    own: Option<Buffer>,
    parts: Option<&Parts>,
    root: usize,
    equal: bool,
) {
    let shape = CallShape {
        equal,
        ..shape(team, part_bytes(own, parts, root))
    };
    match choose::gather(shape) {
        choose::Tree::Nodes => hierarchy::gather(team, own, parts, root, run_part).await,
        choose::Tree::Binomial => gather::binomial(team, own, parts, root).await,
        _ => gather::linear(team, own, parts, root).await,
    }
}

pub async fn run_scatter(
    team: &Team<'_>,
    parts: Option<&Parts>,
    into: Option<Buffer>,
    root: usize,
    equal: bool,
) {
    let shape = CallShape {
        equal,
        ..shape(team, part_bytes(into, parts, root))
    };
    match choose::scatter(shape) {
        choose::Tree::Nodes => hierarchy::scatter(team, parts, into, root, run_part).await,
        choose::Tree::Binomial => scatter::binomial(team, parts, into, root).await,
        _ => scatter::linear(team, parts, into, root).await,
    }
}

/// This rank's own part is in its place.
pub async fn run_allgather(team: &Team<'_>, parts: &Parts) {
    let bytes = (0..team.size()).map(|rank| parts.len(rank)).sum();
    if bytes == 0 {
        return;
    }
    let shape = CallShape {
        equal: parts.are_equal(),
        ..shape(team, bytes)
    };
    match choose::allgather(shape) {
        choose::Allgather::Nodes => hierarchy::allgather(team, parts, run_part).await,
        choose::Allgather::RecursiveDoubling => allgather::recursive_doubling(team, parts).await,
        choose::Allgather::GatherBroadcast => allgather::gather_broadcast(team, parts).await,
        choose::Allgather::Bruck => allgather::bruck(team, parts).await,
        choose::Allgather::Linear => allgather::linear(team, parts).await,
        _ => ring::allgather(team, parts).await,
    }
}

pub async fn run_alltoall(team: &Team<'_>, out: Option<&Parts>, into: &Parts) {
    let copy = out.is_none().then(|| Copied::of(into, team.size()));
    let out = match (out, &copy) {
        (Some(out), _) => out,
        (None, Some(copy)) => &copy.parts,
        (None, None) => return,
    };
    let shape = CallShape {
        equal: into.are_equal(),
        ..shape(team, into.len(0))
    };
    match choose::alltoall(shape) {
        choose::Alltoall::Nodes => hierarchy::alltoall(team, out, into, run_part).await,
        choose::Alltoall::Bruck => alltoall::bruck(team, out, into).await,
        choose::Alltoall::Pairwise => alltoall::pairwise(team, out, into).await,
        _ => alltoall::linear(team, out, into).await,
    }
}

fn shape_of(team: &Team<'_>, bytes: usize, how: &Reduction<'_>) -> CallShape {
    CallShape {
        commutes: how.commutes,
        ..shape(team, bytes)
    }
}

/// `own` and `into` may be the same; `into` is of no meaning but at the root.
pub async fn run_reduce(team: &Team<'_>, (own, into, how): Vectors<'_>, root: usize) {
    if own.is_empty() {
        return;
    }
    let is_root = team.rank() == root;
    let into = if is_root { *into } else { Buffer::empty() };
    let (from, to) = (Packed::of(*own, true), Packed::of(into, false));
    let (own, into) = (&from.bytes(), &to.bytes());
    let vectors = (own, into, how);
    let ordered = !how.commutes || choose::reproducible();
    if choose::in_pairs(team.size()) {
        let out = if is_root { Buffer::empty() } else { *own };
        pair::exchange(team, &out, vectors).await;
        return to.unpack(is_root);
    }
    match choose::reduce(shape_of(team, own.len(), how)) {
        choose::Reduce::Nodes => hierarchy::reduce(team, vectors, root, run_part).await,
        choose::Reduce::Linear => reduce::linear(team, vectors, root).await,
        choose::Reduce::Chain => reduce::chain(team, vectors, root, ordered, PIECE).await,
        choose::Reduce::ScatterGather => reduce::scatter_gather(team, vectors, root).await,
        _ => reduce::binomial(team, vectors, root, ordered).await,
    }
    to.unpack(is_root);
}

/// `own` and `into` may be the same.
pub async fn run_allreduce(team: &Team<'_>, (own, into, how): Vectors<'_>) {
    if own.is_empty() {
        return;
    }
    let (from, to) = (Packed::of(*own, true), Packed::of(*into, false));
    let (own, into) = (&from.bytes(), &to.bytes());
    let vectors = (own, into, how);
    if choose::in_pairs(team.size()) {
        pair::exchange(team, own, vectors).await;
        return to.unpack(true);
    }
    match choose::allreduce(shape_of(team, own.len(), how)) {
        choose::Allreduce::Nodes => hierarchy::allreduce(team, vectors, run_part).await,
        choose::Allreduce::HalvingDoubling => {
            allreduce::halving_doubling(team, vectors).await;
        }
        choose::Allreduce::Ring => allreduce::ring(team, vectors).await,
        choose::Allreduce::Tree => allreduce::tree(team, vectors).await,
        choose::Allreduce::Linear => allreduce::linear(team, vectors).await,
        _ => allreduce::recursive_doubling(team, vectors).await,
    }
    to.unpack(true);
}

/// As [`reduce_scatter`] has it.
pub async fn run_reduce_scatter(team: &Team<'_>, (own, into, how): Vectors<'_>, blocks: &[usize]) {
    if own.is_empty() {
        return;
    }
    let (from, to) = (Packed::of(*own, true), Packed::of(*into, false));
    let (own, into) = (&from.bytes(), &to.bytes());
    let vectors = (own, into, how);
    if choose::in_pairs(team.size()) {
        let block = |rank: usize| own.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
        let (mine, theirs) = (block(team.rank()), block(1 - team.rank()));
        pair::exchange(team, &theirs, (&mine, into, how)).await;
        return to.unpack(true);
    }
    match choose::reduce_scatter(shape_of(team, own.len(), how)) {
        choose::ReduceScatter::Nodes => {
            hierarchy::reduce_scatter(team, vectors, blocks, run_part).await;
        }
        choose::ReduceScatter::Ring => ring::reduce_scatter(team, vectors, blocks).await,
        choose::ReduceScatter::ReduceThenScatter => {
            reduce_scatter::reduce_then_scatter(team, vectors, blocks).await;
        }
        _ => reduce_scatter::linear(team, vectors, blocks).await,
    }
    to.unpack(true);
}

/// As [`scan`] has it.
pub async fn run_scan(team: &Team<'_>, (own, into, how): Vectors<'_>, exclusive: bool) {
    if own.is_empty() {
        return;
    }
    let (from, to) = (Packed::of(*own, true), Packed::of(*into, false));
    let (own, into) = (&from.bytes(), &to.bytes());
    let vectors = (own, into, how);
    match choose::scan(shape_of(team, own.len(), how)) {
        choose::Scan::Nodes => hierarchy::scan(team, vectors, exclusive, run_part).await,
        choose::Scan::Linear => scan::linear(team, vectors, exclusive).await,
        _ => scan::doubling(team, vectors, exclusive).await,
    }
    to.unpack(!exclusive || team.rank() > 0);
}
