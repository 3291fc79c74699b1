//! Operations of ranks on several nodes, in two levels: within each node, and between the nodes' leaders, one of each. Every
//! level is an operation of its own on those ranks, by whatever algorithm is best for them, so between two nodes goes one
//! message where there would be many.
//!
//! Invariant: both levels use the context of the whole: two ranks meet either as members of a node or as leaders of two, never as
//! both, so their messages cannot be mixed up and no context id or tag is needed for them.

use super::call::{
    run_allgather, run_allreduce, run_barrier, run_bcast, run_gather, run_reduce,
    run_reduce_scatter, run_scan, run_scatter,
};
use super::packed::scratch;
use super::team::{Reduction, Team, copy_own, deposit};
use super::{alltoall, barrier, bcast, gather, scatter};
use crate::comm::{Members, Nodes, some};
use crate::datatype::{Buffer, Parts};
use std::future::Future;
use std::pin::Pin;

/// Algorithms that call those which choose them.
type Steps<'a, T = ()> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The two levels, as one rank sees them.
struct Levels<'a> {
    team: &'a Team<'a>,
    nodes: &'a Nodes,
    /// This rank's node.
    node: usize,
    /// By node.
    leads: Vec<usize>,
    inside: Members,
    leaders: Members,
}

impl<'a> Levels<'a> {
    /// With these leaders, by node. `None` on one node, which nothing here is chosen for.
    fn led_by(team: &'a Team<'a>, lead: impl Fn(&[usize]) -> usize) -> Option<Levels<'a>> {
        let nodes = team.nodes()?;
        let node = nodes.node_of(team.rank());
        let leads = (0..nodes.number()).map(|node| lead(nodes.ranks(node)));
        let leads: Vec<usize> = leads.collect();
        let all = team.coll().members;
        Some(Levels {
            inside: some(all, nodes.ranks(node).iter().copied()),
            leaders: some(all, leads.iter().copied()),
            team,
            nodes,
            node,
            leads,
        })
    }

    /// Each node is led by its lowest rank.
    fn of(team: &'a Team<'a>) -> Option<Levels<'a>> {
        Self::led_by(team, |ranks| ranks[0])
    }

    /// The root leads its node.
    fn to(team: &'a Team<'a>, root: usize) -> Option<Levels<'a>> {
        Self::led_by(team, |ranks| {
            if ranks.contains(&root) {
                root
            } else {
                ranks[0]
            }
        })
    }

    fn ranks(&self) -> &'a [usize] {
        self.nodes.ranks(self.node)
    }

    fn position(&self, rank: usize) -> usize {
        let found = self.ranks().iter().position(|other| *other == rank);
        found.unwrap_or(0)
    }

    /// Those of this node.
    fn inside(&self) -> Team<'_> {
        let rank = self.position(self.team.rank());
        self.team.inside(&self.inside, rank)
    }

    /// The leader's rank within the node.
    fn leader(&self) -> usize {
        self.position(self.leads[self.node])
    }

    fn leads(&self) -> bool {
        self.leads[self.node] == self.team.rank()
    }

    /// The leaders, for one of them; their ranks are the nodes' numbers.
    fn leaders(&self) -> Option<Team<'_>> {
        let part = || self.team.part(&self.leaders, self.node, 1);
        self.leads().then(part)
    }

    fn ends(&self, inside: Team<'_>, leaders: Option<Team<'_>>) {
        self.team.end_of(inside);
        if let Some(leaders) = leaders {
            self.team.end_of(leaders);
        }
    }

    /// Where each node's data begins, of `bytes` for each of its ranks, and the end.
    fn begins(&self, bytes: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut begins = vec![0];
        for node in 0..self.nodes.number() {
            let all: usize = self.nodes.ranks(node).iter().map(|rank| bytes(*rank)).sum();
            begins.push(begins[node] + all);
        }
        begins
    }
}

/// Consecutive parts of a buffer without holes.
fn cut(whole: &Buffer, begins: &[usize]) -> Parts {
    let pairs = begins.windows(2);
    let parts = pairs.map(|pair| whole.slice(pair[0], pair[1] - pair[0]));
    Parts::Each(parts.collect())
}

/// All of a node tell their leader, the leaders meet, and tell theirs.
pub fn barrier<'a>(team: &'a Team<'a>) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::of(team) else {
            return;
        };
        let (inside, leaders) = (levels.inside(), levels.leaders());
        barrier::arrive(&inside).await;
        if let Some(leaders) = &leaders {
            run_barrier(leaders).await;
        }
        barrier::leave(&inside).await;
        levels.ends(inside, leaders);
    })
}

/// Between the leaders, then within all nodes.
pub fn bcast<'a>(team: &'a Team<'a>, buffer: Buffer, root: usize) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::to(team, root) else {
            return;
        };
        let (inside, leaders) = (levels.inside(), levels.leaders());
        if let Some(leaders) = &leaders {
            run_bcast(leaders, buffer, levels.nodes.node_of(root)).await;
        }
        run_bcast(&inside, buffer, levels.leader()).await;
        levels.ends(inside, leaders);
    })
}

/// Equal parts: a leader collects its node's, the root the leaders'.
pub fn gather<'a>(
    team: &'a Team<'a>,
    own: Option<Buffer>,
    parts: Option<&'a Parts>,
    root: usize,
) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::to(team, root) else {
            return;
        };
        let own = own.or_else(|| Some(parts?.of(root)));
        let each = parts.map_or_else(|| own.map_or(0, |own| own.len()), |parts| parts.len(root));
        if each == 0 {
            return;
        }
        let (inside, leaders) = (levels.inside(), levels.leaders());
        let Some(leaders) = leaders else {
            run_gather(&inside, own, None, levels.leader(), true).await;
            return levels.ends(inside, None);
        };
        let mut collected = scratch(levels.ranks().len() * each);
        let here = Parts::of_copy(&mut collected, each);
        run_gather(&inside, own, Some(&here), levels.leader(), true).await;
        let mut all = scratch(parts.map_or(0, |_| team.size() * each));
        let begins = levels.begins(|_| each);
        let by_node = parts.map(|_| cut(&Buffer::of_copy(&mut all), &begins));
        let whole = Some(Buffer::of_copy(&mut collected));
        let top = levels.nodes.node_of(root);
        gather::linear(&leaders, whole, by_node.as_ref(), top).await;
        if let Some(parts) = parts {
            for (part, rank) in all.chunks_exact(each).zip(levels.nodes.by_node()) {
                deposit(team, part, &parts.of(rank));
            }
        }
        levels.ends(inside, Some(leaders));
    })
}

/// Equal parts: the root sends each leader those of its node.
pub fn scatter<'a>(
    team: &'a Team<'a>,
    parts: Option<&'a Parts>,
    into: Option<Buffer>,
    root: usize,
) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::to(team, root) else {
            return;
        };
        let each = parts.map_or_else(
            || into.map_or(0, |into| into.len()),
            |parts| parts.len(root),
        );
        if each == 0 {
            return;
        }
        let (inside, leaders) = (levels.inside(), levels.leaders());
        let Some(leaders) = leaders else {
            run_scatter(&inside, None, into, levels.leader(), true).await;
            return levels.ends(inside, None);
        };
        let mut all = scratch(parts.map_or(0, |_| team.size() * each));
        if let Some(parts) = parts {
            for (part, rank) in all.chunks_exact_mut(each).zip(levels.nodes.by_node()) {
                parts.of(rank).read(0, part);
            }
        }
        let begins = levels.begins(|_| each);
        let by_node = parts.map(|_| cut(&Buffer::of_copy(&mut all), &begins));
        let mut ours = scratch(levels.ranks().len() * each);
        let whole = Some(Buffer::of_copy(&mut ours));
        let top = levels.nodes.node_of(root);
        scatter::linear(&leaders, by_node.as_ref(), whole, top).await;
        let here = Parts::of_copy(&mut ours, each);
        run_scatter(&inside, Some(&here), into, levels.leader(), true).await;
        levels.ends(inside, Some(leaders));
    })
}

/// Within the nodes to the leaders, between these, and from them to all.
pub fn allgather<'a>(team: &'a Team<'a>, parts: &'a Parts) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::of(team) else {
            return;
        };
        let (inside, leaders) = (levels.inside(), levels.leaders());
        let begins = levels.begins(|rank| parts.len(rank));
        let mut all = scratch(begins[levels.nodes.number()]);
        let whole = Buffer::of_copy(&mut all);
        let mut begin = begins[levels.node];
        let here = levels.ranks().iter().map(|rank| {
            begin += parts.len(*rank);
            whole.slice(begin - parts.len(*rank), parts.len(*rank))
        });
        let here = Parts::Each(here.collect());
        let here = leaders.is_some().then_some(&here);
        let own = parts.of(team.rank());
        gather::linear(&inside, Some(own), here, levels.leader()).await;
        if let Some(leaders) = &leaders {
            run_allgather(leaders, &cut(&whole, &begins)).await;
        }
        run_bcast(&inside, whole, levels.leader()).await;
        let mut begin = 0;
        for rank in levels.nodes.by_node() {
            let part = &all[begin..begin + parts.len(rank)];
            if rank != team.rank() {
                parts.of(rank).write(0, part);
            }
            begin += part.len();
        }
        levels.ends(inside, leaders);
    })
}

/// Equal parts: the leaders exchange what their nodes have for each other.
pub fn alltoall<'a>(team: &'a Team<'a>, out: &'a Parts, into: &'a Parts) -> Steps<'a> {
    Box::pin(async move {
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
        let mut row = scratch(size * each);
        for (slot, rank) in row.chunks_exact_mut(each).zip(levels.nodes.by_node()) {
            let part = out.of(rank);
            let bytes = part.len().min(each);
            part.read(0, &mut slot[..bytes]);
        }
        let ours = levels.ranks().len();
        let mut rows = scratch(leaders.as_ref().map_or(0, |_| ours * size * each));
        let lines = Parts::of_copy(&mut rows, size * each);
        let lines = leaders.is_some().then_some(&lines);
        let own = Buffer::of_copy(&mut row);
        gather::linear(&inside, Some(own), lines, levels.leader()).await;
        if let Some(leaders) = &leaders {
            rows = swap_nodes(&levels, leaders, &rows, each).await;
        }
        let lines = Parts::of_copy(&mut rows, size * each);
        let lines = leaders.is_some().then_some(&lines);
        scatter::linear(&inside, lines, Some(own), levels.leader()).await;
        for (part, rank) in row.chunks_exact(each).zip(levels.nodes.by_node()) {
            deposit(team, part, &into.of(rank));
        }
        levels.ends(inside, leaders);
    })
}

/// From what each rank of this node has for all, in the nodes' order, to what all have for each of its ranks.
async fn swap_nodes(
    levels: &Levels<'_>,
    leaders: &Team<'_>,
    rows: &[u8],
    each: usize,
) -> Box<[u8]> {
    let (size, ours) = (levels.team.size(), levels.ranks().len());
    // Leaving: node after node, our ranks for its ranks. Coming: node after node, its ranks for ours.
    let begins = levels.begins(|_| ours * each);
    let (mut leaving, mut coming) = (scratch(rows.len()), scratch(rows.len()));
    let sizes = (0..levels.nodes.number()).map(|node| levels.nodes.ranks(node).len());
    let sizes: Vec<usize> = sizes.collect();
    let mut at = 0;
    for (node, theirs) in sizes.iter().enumerate() {
        for rank in 0..ours {
            let from = (rank * size + begins[node] / (ours * each)) * each;
            leaving[at..at + theirs * each].copy_from_slice(&rows[from..from + theirs * each]);
            at += theirs * each;
        }
    }
    let out = cut(&Buffer::of_copy(&mut leaving), &begins);
    let into = cut(&Buffer::of_copy(&mut coming), &begins);
    alltoall::linear(leaders, &out, &into).await;
    let mut turned = scratch(rows.len());
    for (source, parts) in coming.chunks_exact(ours * each).enumerate() {
        for (rank, part) in parts.chunks_exact(each).enumerate() {
            turned[(rank * size + source) * each..][..each].copy_from_slice(part);
        }
    }
    turned
}

/// Within the nodes to the leaders, and between these to the root; in the nodes' order.
pub fn reduce<'a>(
    team: &'a Team<'a>,
    data: &'a mut Box<[u8]>,
    how: &'a Reduction<'a>,
    root: usize,
) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::to(team, root) else {
            return;
        };
        let (inside, leaders) = (levels.inside(), levels.leaders());
        run_reduce(&inside, data, how, levels.leader()).await;
        if let Some(leaders) = &leaders {
            run_reduce(leaders, data, how, levels.nodes.node_of(root)).await;
        }
        levels.ends(inside, leaders);
    })
}

/// Within the nodes to the leaders, among these, and from them to all.
pub fn allreduce<'a>(
    team: &'a Team<'a>,
    data: &'a mut Box<[u8]>,
    how: &'a Reduction<'a>,
) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::of(team) else {
            return;
        };
        let (inside, leaders) = (levels.inside(), levels.leaders());
        run_reduce(&inside, data, how, levels.leader()).await;
        if let Some(leaders) = &leaders {
            run_allreduce(leaders, data, how).await;
        }
        run_bcast(&inside, Buffer::of_copy(data), levels.leader()).await;
        levels.ends(inside, leaders);
    })
}

/// Within the nodes to the leaders, among these by the nodes' blocks, which each scatters.
pub fn reduce_scatter<'a>(
    team: &'a Team<'a>,
    data: &'a mut Box<[u8]>,
    how: &'a Reduction<'a>,
    blocks: &'a [usize],
) -> Steps<'a> {
    Box::pin(async move {
        let Some(levels) = Levels::of(team) else {
            return;
        };
        let (inside, leaders) = (levels.inside(), levels.leaders());
        let of_rank = |rank: usize| blocks[rank]..blocks[rank + 1];
        if !levels.nodes.are_in_order() {
            let by_node = levels.nodes.by_node();
            *data = by_node
                .flat_map(|rank| data[of_rank(rank)].to_vec())
                .collect();
        }
        run_reduce(&inside, data, how, levels.leader()).await;
        let begins = levels.begins(|rank| of_rank(rank).len());
        if let Some(leaders) = &leaders {
            run_reduce_scatter(leaders, data, how, &begins).await;
        }
        let whole = Buffer::of_copy(data);
        let mut begin = begins[levels.node];
        let here = levels.ranks().iter().map(|rank| {
            begin += of_rank(*rank).len();
            whole.slice(begin - of_rank(*rank).len(), of_rank(*rank).len())
        });
        let here = Parts::Each(here.collect());
        let here = leaders.is_some().then_some(&here);
        let mut own = scratch(of_rank(team.rank()).len());
        let into = Some(Buffer::of_copy(&mut own));
        scatter::linear(&inside, here, into, levels.leader()).await;
        data[of_rank(team.rank())].copy_from_slice(&own);
        levels.ends(inside, leaders);
    })
}

/// Within the nodes, then of the nodes' last ranks, who tell their nodes what was before them. The nodes are in order.
pub fn scan<'a>(
    team: &'a Team<'a>,
    data: Box<[u8]>,
    how: &'a Reduction<'a>,
    exclusive: bool,
) -> Steps<'a, Option<Box<[u8]>>> {
    Box::pin(async move {
        let levels = Levels::led_by(team, |ranks| ranks[ranks.len() - 1])?;
        let (inside, leaders) = (levels.inside(), levels.leaders());
        let mut all = data.clone();
        let mut mine = run_scan(&inside, data, how, exclusive).await;
        let mut before = None;
        if let Some(leaders) = &leaders {
            if let Some(mine) = &mine {
                let mut left = mine.clone();
                match exclusive {
                    true => how.combine(team, &mut left, &mut all),
                    false => all = left,
                }
            }
            before = run_scan(leaders, all.clone(), how, true).await;
        }
        if levels.node > 0 {
            let mut left = before.unwrap_or_else(|| scratch(all.len()));
            bcast::binomial(&inside, Buffer::of_copy(&mut left), levels.leader()).await;
            match &mut mine {
                Some(mine) => how.combine(team, &mut left, mine),
                None => mine = Some(left),
            }
        }
        levels.ends(inside, leaders);
        mine
    })
}
