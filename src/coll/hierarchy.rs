//! Operations of ranks on several nodes, in two levels: within each node, and between the nodes' leaders, one of each node, or
//! one for each part of a large vector. Every level is an operation of its own on those ranks, by whatever algorithm is best for
//! them, so between two nodes goes one message where there would be many.
//!
//! Invariant: both levels use the context of the whole: two ranks meet either as members of a node or as leaders of two, never as
//! both, so their messages cannot be mixed up and no context id or tag is needed for them.

mod levels;
mod part;

use super::args::part_bytes;
use super::choose;
use super::packed::{cut, cut_equally};
use super::reduction::Vectors;
use super::team::{Team, copy_own};
use super::{alltoall, barrier, bcast, gather, scatter};
use crate::comm::some;
use crate::datatype::{Buffer, Parts, Scratch};
pub use levels::Levels;
pub use part::{Part, Run, Steps};

/// All of a node tell their leader, the leaders meet, and tell theirs.
pub async fn barrier(team: &Team<'_>, run: Run) {
    let Some(levels) = Levels::of(team) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    // Without messages a barrier is as good as half of one.
    let is_staged = inside.staging().is_some();
    match is_staged {
        true => run(&inside, Part::Barrier).await,
        false => barrier::arrive(&inside).await,
    }
    if let Some(leaders) = &leaders {
        run(leaders, Part::Barrier).await;
    }
    match is_staged {
        true => run(&inside, Part::Barrier).await,
        false => barrier::leave(&inside).await,
    }
    levels.ends(inside, leaders);
}

/// Between the leaders, then within all nodes.
pub async fn bcast(team: &Team<'_>, buffer: Buffer, root: usize, run: Run) {
    let Some(levels) = Levels::to(team, root) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    if let Some(leaders) = &leaders {
        run(leaders, Part::Bcast(buffer, levels.nodes.node_of(root))).await;
    }
    run(&inside, Part::Bcast(buffer, levels.leader())).await;
    levels.ends(inside, leaders);
}

/// Equal parts: a leader collects its node's, the root the leaders'.
pub async fn gather(
    team: &Team<'_>,
    own: Option<Buffer>,
    parts: Option<&Parts>,
    root: usize,
    run: Run,
) {
    let each = part_bytes(own, parts, root);
    let Some(levels) = Levels::to(team, root).filter(|_| each > 0) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let top = levels.nodes.node_of(root);
    let (here, collected) = levels.here(parts, each);
    run(&inside, Part::Gather(own, here.as_ref(), levels.leader())).await;
    match (&leaders, parts) {
        (Some(leaders), Some(parts)) => {
            let (by_node, aside) = levels.by_node_or_aside(parts, each);
            gather::linear(leaders, None, Some(&by_node), top).await;
            if let Some(aside) = &aside {
                let elsewhere = |rank| levels.nodes.node_of(rank) != top;
                levels.each_part(&aside.buffer(), parts, elsewhere, |came, part| {
                    came.copy_to(&part, each);
                });
            }
        }
        (Some(leaders), None) => {
            gather::linear(leaders, Some(collected.buffer()), None, top).await;
        }
        (None, _) => {}
    }
    levels.ends(inside, leaders);
}

/// Equal parts: the root sends each leader those of its node.
pub async fn scatter(
    team: &Team<'_>,
    parts: Option<&Parts>,
    into: Option<Buffer>,
    root: usize,
    run: Run,
) {
    let each = part_bytes(into, parts, root);
    let Some(levels) = Levels::to(team, root).filter(|_| each > 0) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let top = levels.nodes.node_of(root);
    let (mut here, mut ours) = levels.here(parts, each);
    match (&leaders, parts) {
        (Some(leaders), Some(parts)) => {
            let (by_node, aside) = levels.by_node_or_aside(parts, each);
            if let Some(aside) = &aside {
                let elsewhere = |rank| levels.nodes.node_of(rank) != top;
                levels.each_part(&aside.buffer(), parts, elsewhere, |leaves, part| {
                    part.copy_to(&leaves, each);
                });
            }
            scatter::linear(leaders, Some(&by_node), None, top).await;
        }
        (Some(leaders), None) => {
            scatter::linear(leaders, None, Some(ours.buffer()), top).await;
            if leaders.has_failed() && !leaders.has_lost() {
                // The root's parts are longer than those here and begin elsewhere: nobody here may take what has come for its own.
                ours = Scratch::new(2 * ours.buffer().len());
                here = Some(cut_equally(&ours.buffer(), 2 * each));
            }
        }
        (None, _) => {}
    }
    run(&inside, Part::Scatter(here.as_ref(), into, levels.leader())).await;
    levels.ends(inside, leaders);
}

/// Within the nodes to the leaders, between these, and from them to all.
pub async fn allgather(team: &Team<'_>, parts: &Parts, run: Run) {
    let Some(levels) = Levels::of(team) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let own = parts.of(team.rank());
    // The messages are the same, wherever the parts of all are.
    let directly = levels.by_node(parts).zip(parts.range(0, team.size()));
    let scratch;
    let (by_node, here, whole) = match &directly {
        Some((by_node, whole)) => (by_node, levels.of_node(parts), *whole),
        None => {
            let begins = levels.begins(|rank| parts.len(rank));
            scratch = Scratch::new(begins[levels.nodes.number()]);
            let here = levels.begins_here(begins[levels.node], |rank| parts.len(rank));
            let here = cut(&scratch.buffer(), &here);
            (&cut(&scratch.buffer(), &begins), here, scratch.buffer())
        }
    };
    let is_there = leaders.is_some() && directly.is_some();
    let own = (!is_there).then_some(own);
    let here = leaders.is_some().then_some(&here);
    let root = levels.leader();
    match parts.are_equal() {
        true => run(&inside, Part::Gather(own, here, root)).await,
        false => gather::linear(&inside, own, here, root).await,
    }
    if let Some(leaders) = &leaders {
        run(leaders, Part::Allgather(by_node)).await;
    }
    run(&inside, Part::Bcast(whole, levels.leader())).await;
    if directly.is_none() {
        let others = |rank| rank != team.rank();
        levels.each_part(&whole, parts, others, |came, part| {
            came.copy_to(&part, part.len());
        });
    }
    levels.ends(inside, leaders);
}

/// Equal parts: the leaders exchange what their nodes have for each other.
pub async fn alltoall(team: &Team<'_>, out: &Parts, into: &Parts, run: Run) {
    let Some(levels) = Levels::of(team) else {
        return;
    };
    let (size, each) = (team.size(), into.len(0));
    if each == 0 {
        return;
    }
    if out.len(0) != each {
        // An error that the comparison of one's own part finds.
        copy_own(team, &out.of(team.rank()), &into.of(team.rank()));
    }
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let scratch = Scratch::new(size * each);
    let in_order = levels.nodes.are_in_order();
    let as_row = |parts: &Parts| {
        let all = parts.range(0, size).filter(|_| in_order);
        all.filter(|all| all.len() == size * each)
    };
    let row = as_row(out).unwrap_or_else(|| {
        let row = scratch.buffer();
        for (at, rank) in levels.nodes.by_node().enumerate() {
            let part = out.of(rank);
            part.copy_to(&row.slice(at * each, each), part.len().min(each));
        }
        row
    });
    let ours = levels.ranks().len();
    let rows = levels.for_leader(ours * size * each);
    let lines = cut_equally(&rows.buffer(), size * each);
    let lines = leaders.is_some().then_some(&lines);
    let root = levels.leader();
    run(&inside, Part::Gather(Some(row), lines, root)).await;
    if let Some(leaders) = &leaders {
        swap_nodes(&levels, leaders, &rows.buffer(), each).await;
    }
    let came = as_row(into);
    let row = came.unwrap_or_else(|| scratch.buffer());
    run(&inside, Part::Scatter(lines, Some(row), root)).await;
    if came.is_none() {
        for (at, rank) in levels.nodes.by_node().enumerate() {
            copy_own(team, &row.slice(at * each, each), &into.of(rank));
        }
    }
    levels.ends(inside, leaders);
}

/// From what each rank of this node has for all, in the nodes' order, to what all have for each of its ranks.
async fn swap_nodes(levels: &Levels<'_>, leaders: &Team<'_>, rows: &Buffer, each: usize) {
    let (size, ours) = (levels.team.size(), levels.ranks().len());
    // Leaving: node after node, our ranks for its ranks. Coming: node after node, its ranks for ours.
    let begins = levels.begins(|_| ours * each);
    let scratch = Scratch::new(2 * rows.len());
    let [leaving, coming] = scratch.parts(rows.len());
    let copy = |from: &Buffer, source: usize, to: &Buffer, target: usize, bytes: usize| {
        let target = to.slice(target, bytes);
        from.slice(source, bytes).copy_to(&target, bytes);
    };
    let mut at = 0;
    for (node, begin) in begins[..levels.nodes.number()].iter().enumerate() {
        let theirs = levels.nodes.ranks(node).len() * each;
        for rank in 0..ours {
            let from = rank * size * each + begin / ours;
            copy(rows, from, &leaving, at, theirs);
            at += theirs;
        }
    }
    alltoall::linear(leaders, &cut(&leaving, &begins), &cut(&coming, &begins)).await;
    for source in 0..size {
        for rank in 0..ours {
            let from = (source * ours + rank) * each;
            copy(&coming, from, rows, (rank * size + source) * each, each);
        }
    }
}

/// Within the nodes to the leaders, and between these to the root; in the nodes' order.
pub async fn reduce(team: &Team<'_>, (own, into, how): Vectors<'_>, root: usize, run: Run) {
    let Some(levels) = Levels::to(team, root) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let scratch = levels.for_leader(own.len());
    let ours = scratch.buffer();
    run(&inside, Part::Reduce((own, &ours, how), levels.leader())).await;
    if let Some(leaders) = &leaders {
        run(
            leaders,
            Part::Reduce((&ours, into, how), levels.nodes.node_of(root)),
        )
        .await;
    }
    levels.ends(inside, leaders);
}

/// Within the nodes to the leaders, among these, and from them to all; of much data in parts, each of which has a leader on
/// every node.
pub async fn allreduce(team: &Team<'_>, (own, into, how): Vectors<'_>, run: Run) {
    let Some(levels) = Levels::of(team) else {
        return;
    };
    if choose::has_several_leaders(levels.least(), own.len()) {
        return allreduce_in_parts(&levels, (own, into, how), (levels.least(), run)).await;
    }
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let scratch = levels.for_leader(own.len());
    let ours = scratch.buffer();
    run(&inside, Part::Reduce((own, &ours, how), levels.leader())).await;
    if let Some(leaders) = &leaders {
        run(leaders, Part::Allreduce((&ours, into, how))).await;
    }
    run(&inside, Part::Bcast(*into, levels.leader())).await;
    levels.ends(inside, leaders);
}

/// Each of the first `leaders` ranks of a node reduces a part of its node's vectors, then among those of its position on all
/// nodes, and hands it on within the node.
pub(super) async fn allreduce_in_parts(
    levels: &Levels<'_>,
    (own, into, how): Vectors<'_>,
    (leaders, run): (usize, Run),
) {
    let (team, nodes) = (levels.team, levels.nodes);
    let (inside, position) = (levels.inside(), levels.position(team.rank()));
    let mut blocks = how.blocks(own.len(), leaders);
    blocks.resize(inside.size() + 1, own.len());
    let parts = cut(into, &blocks);
    let mine = parts.of(position);
    run(&inside, Part::ReduceScatter((own, &mine, how), &blocks)).await;
    if position < leaders {
        let peers = (0..nodes.number()).map(|node| nodes.ranks(node).at(position));
        let peers = some(team.coll().members, peers);
        let across = team.part(&peers, levels.node, 1);
        run(&across, Part::Allreduce((&mine, &mine, how))).await;
        team.end_of(across);
    }
    run(&inside, Part::Allgather(&parts)).await;
    team.end_of(inside);
}

/// Within the nodes to the leaders, among these by the nodes' blocks, which each scatters.
pub async fn reduce_scatter(
    team: &Team<'_>,
    (own, into, how): Vectors<'_>,
    blocks: &[usize],
    run: Run,
) {
    let Some(levels) = Levels::of(team) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let length = |rank: usize| blocks[rank + 1] - blocks[rank];
    let scratch = levels.for_leader(own.len());
    let mut ours = scratch.buffer();
    run(&inside, Part::Reduce((own, &ours, how), levels.leader())).await;
    let Some(leaders) = leaders else {
        scatter::linear(&inside, None, Some(*into), levels.leader()).await;
        return levels.ends(inside, None);
    };
    let turned;
    if !levels.nodes.are_in_order() {
        turned = Scratch::new(own.len());
        let parts = cut(&ours, blocks);
        levels.each_part(
            &turned.buffer(),
            &parts,
            |_| true,
            |to, part| {
                part.copy_to(&to, part.len());
            },
        );
        ours = turned.buffer();
    }
    let begins = levels.begins(length);
    let (begin, end) = (begins[levels.node], begins[levels.node + 1]);
    let result = Scratch::new(end - begin);
    run(
        &leaders,
        Part::ReduceScatter((&ours, &result.buffer(), how), &begins),
    )
    .await;
    let of_node = levels.begins_here(0, length);
    let here = cut(&result.buffer(), &of_node);
    scatter::linear(&inside, Some(&here), Some(*into), levels.leader()).await;
    levels.ends(inside, Some(leaders));
}

/// Within the nodes, then of the nodes' last ranks, who tell their nodes what was before them. The nodes are in order.
pub async fn scan(team: &Team<'_>, (own, into, how): Vectors<'_>, exclusive: bool, run: Run) {
    let Some(levels) = Levels::led_by(team, |ranks| ranks.at(ranks.len() - 1)) else {
        return;
    };
    let (inside, leaders) = (levels.inside(), levels.leaders());
    let bytes = own.len();
    // A node's first rank has nothing but what was before its node.
    let is_first = exclusive && inside.rank() == 0;
    let scratch = Scratch::new(if leaders.is_some() { 2 * bytes } else { bytes });
    let left = match is_first {
        true => *into,
        false => scratch.buffer().slice(0, bytes),
    };
    let mut operand = *own;
    if exclusive && leaders.is_some() && own.is_at(into) && !is_first {
        operand = scratch.buffer().slice(bytes, bytes);
        own.copy_to(&operand, bytes);
    }
    run(&inside, Part::Scan((own, into, how), exclusive)).await;
    if let Some(leaders) = &leaders {
        let mut total = if is_first { operand } else { *into };
        if exclusive && !is_first {
            total = scratch.buffer().slice(bytes, bytes);
            how.combine(team, into, &operand, &total);
        }
        run(leaders, Part::Scan((&total, &left, how), true)).await;
    }
    if levels.node > 0 {
        bcast::binomial(&inside, left, levels.leader()).await;
        if !is_first {
            how.combine(team, &left, into, into);
        }
    }
    levels.ends(inside, leaders);
}
