//! Which algorithm runs: a function an operation, of what all ranks know alike, and the settings that overrule it.
//!
//! Invariant: an answer depends on nothing that may differ between the ranks of one call: not on the datatypes' layout, and
//! not on how many ranks have joined. A setting that an operation cannot be run by is not followed.
//!
//! An operation's setting is its route: an algorithm over messages goes by messages, `staged` through staging wherever that can be done,
//! `nodes` in two levels, `auto` by whatever costs least.

pub mod plan;
pub mod report;
pub mod route;
pub mod staging;

use crate::choice;
use crate::variables::show::SHOW;
use crate::variables::{Listed, Variable};
use std::sync::OnceLock;

/// What the ranks of a call know alike.
#[derive(Clone, Copy, Debug)]
pub struct CallShape {
    pub ranks: usize,
    /// Packed bytes: of the message (bcast, reductions), of one rank's part (gather, scatter, alltoall), or of all parts
    /// (allgather).
    pub bytes: usize,
    /// Of the operation: whether it commutes.
    pub commutes: bool,
    /// Whether the parts of all ranks have the same size by the function that was called.
    pub equal: bool,
    /// The node is oversubscribed, however many of its ranks take part: the others want their cores as well.
    pub oversubscribed: bool,
    /// Ranks of several nodes, on one of them more than one.
    pub several_nodes: bool,
    /// Node after node is rank after rank.
    pub in_order: bool,
}

/// Borders for ranks with a core each, from the LogGP model of benches/MODEL.md, "A host for each rank". They grow with the ranks,
/// because an algorithm of n steps has n latencies, whatever the size.
impl CallShape {
    /// Bytes from which a chain costs least: a step for each rank costs less than the bytes that it saves.
    fn chains_from(self) -> usize {
        self.ranks * PIECE
    }

    /// Bytes from which a root's data goes in parts, over a ring: 2 bβ and n latencies, where a tree has log2 n of both.
    fn scatters_from(self) -> usize {
        match self.ranks {
            0..8 => usize::MAX,
            ranks => ranks * PIECE / (ranks.ilog2() as usize - 1),
        }
    }

    /// Bytes from which an allreduce has two rings: halving and doubling has fewer steps, but two more transfers of the whole
    /// vector unless the ranks are a power of two. Rings send to neighbours only, which networks like.
    fn reduces_in_rings_from(self) -> usize {
        let part = match self.ranks.is_power_of_two() {
            true => 2 * PIECE,
            false => PIECE / 2,
        };
        (self.ranks * part).max(1 << 20)
    }

    /// Whether an alltoall goes by store and forward: log2 n messages instead of n, and each byte is copied log2 n times.
    fn forwards_parts(self) -> bool {
        let most = if self.ranks < 32 { 128 } else { 512 };
        self.bytes <= most && self.ranks > 8 && !self.oversubscribed
    }
}

choice! { pub enum Barrier { Auto = "auto", Staged = "staged", Nodes = "nodes", Dissemination = "dissemination", Central = "central" } }
choice! { pub enum Bcast { Auto = "auto", Staged = "staged", Nodes = "nodes", Binomial = "binomial", Linear = "linear", ScatterAllgather = "scatter_allgather", Chain = "chain" } }
choice! { pub enum Tree { Auto = "auto", Staged = "staged", Nodes = "nodes", Linear = "linear", Binomial = "binomial" } }
choice! { pub enum Allgather { Auto = "auto", Staged = "staged", Nodes = "nodes", Ring = "ring", Bruck = "bruck", RecursiveDoubling = "recursive_doubling", GatherBroadcast = "gather_broadcast", Linear = "linear" } }
choice! { pub enum Alltoall { Auto = "auto", Staged = "staged", Nodes = "nodes", Linear = "linear", Pairwise = "pairwise", Bruck = "bruck" } }
choice! { pub enum Reduce { Auto = "auto", Staged = "staged", Nodes = "nodes", Binomial = "binomial", Linear = "linear", Chain = "chain", ScatterGather = "scatter_gather" } }
choice! { pub enum Allreduce { Auto = "auto", Staged = "staged", Nodes = "nodes", RecursiveDoubling = "recursive_doubling", HalvingDoubling = "halving_doubling", Ring = "ring", Tree = "tree", Linear = "linear" } }
choice! { pub enum ReduceScatter { Auto = "auto", Staged = "staged", Nodes = "nodes", Ring = "ring", Linear = "linear", ReduceThenScatter = "reduce_then_scatter" } }
choice! { pub enum Scan { Auto = "auto", Staged = "staged", Nodes = "nodes", Linear = "linear", Doubling = "doubling" } }

/// What the setting of an operation says of staging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Any,
    /// An algorithm over messages is set by name.
    Messages,
    /// Staging wherever it can be done.
    Staged,
}

macro_rules! wanted {
    ($($operation:ident)*) => {
        $(impl $operation {
            fn wanted(self) -> Wanted {
                match self {
                    Self::Auto | Self::Nodes => Wanted::Any,
                    Self::Staged => Wanted::Staged,
                    _ => Wanted::Messages,
                }
            }
        })*
    };
}

wanted! { Barrier Bcast Tree Allgather Alltoall Reduce Allreduce ReduceScatter Scan }

/// The settings of the operations' routes.
macro_rules! routes {
    ($($name:ident: $choice:ident = $setting:literal, $functions:literal;)*) => {
        $(
            static $name: Variable<$choice> = Variable::new(
                $setting,
                $choice::Auto,
                concat!(
                    "Route of ", $functions,
                    ": an algorithm over messages, staged, nodes (two levels), or the best of them."
                ),
            )
            .same_on_all();
        )*

        /// All settings of this module, and that of the checking mode.
        pub static VARIABLES: &[&dyn Listed] = &[
            $(&$name,)*
            &REPRODUCIBLE,
            &STAGING,
            &super::check::CHECK_COLLECTIVES,
        ];

        /// Whether the route of any operation is set: with none, the question costs a load.
        #[inline]
        fn sets_routes() -> bool {
            static SETS: OnceLock<bool> = OnceLock::new();
            *SETS.get_or_init(|| $(!$name.is_default())||*)
        }
    };
}

routes! {
    BARRIER: Barrier = "BARRIER", "MPI_Barrier";
    BCAST: Bcast = "BCAST", "MPI_Bcast";
    GATHER: Tree = "GATHER", "MPI_Gather";
    SCATTER: Tree = "SCATTER", "MPI_Scatter";
    ALLGATHER: Allgather = "ALLGATHER", "MPI_Allgather and MPI_Allgatherv";
    ALLTOALL: Alltoall = "ALLTOALL", "MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw";
    REDUCE: Reduce = "REDUCE", "MPI_Reduce";
    ALLREDUCE: Allreduce = "ALLREDUCE", "MPI_Allreduce";
    REDUCE_SCATTER: ReduceScatter = "REDUCE_SCATTER", "MPI_Reduce_scatter and MPI_Reduce_scatter_block";
    SCAN: Scan = "SCAN", "MPI_Scan and MPI_Exscan";
}

static REPRODUCIBLE: Variable<bool> = Variable::new(
    "REPRODUCIBLE",
    false,
    "Reductions of floating-point numbers give the same bits whatever the size of the data, its place in it, the root, the \
     machine and the settings of algorithms are; the number of ranks still matters. They are slower.",
)
.same_on_all();
static STAGING: Variable<bool> = Variable::new(
    "STAGING",
    true,
    "Collective operations within a node go through memory that the communicator's ranks share, where there is enough; \
     no: by messages, also where the route of an operation is staged.",
)
.same_on_all();
/// Pieces of the chains.
pub const PIECE: usize = 32 << 10;

/// Whether operations may be staged in shared memory.
pub fn stages() -> bool {
    STAGING.get()
}

/// Whether reductions keep to one association.
pub fn reproducible() -> bool {
    REPRODUCIBLE.get()
}

/// Whether operations with a route of their own are shown.
pub fn shows_routes() -> bool {
    SHOW.get().routes
}

/// Whether reductions over messages are those of two ranks, see [`super::pair`].
pub fn in_pairs(ranks: usize) -> bool {
    ranks == 2
        && !reproducible()
        && matches!(REDUCE.get(), Reduce::Auto | Reduce::Staged)
        && matches!(ALLREDUCE.get(), Allreduce::Auto | Allreduce::Staged)
        && matches!(
            REDUCE_SCATTER.get(),
            ReduceScatter::Auto | ReduceScatter::Staged
        )
}

/// Whether a reduction may be made node by node: then the ranks' order must be the nodes', or be of no meaning.
fn reduces_by_node(shape: CallShape) -> bool {
    shape.several_nodes && (shape.commutes || shape.in_order)
}

pub fn barrier(shape: CallShape) -> Barrier {
    match BARRIER.get() {
        Barrier::Auto | Barrier::Nodes | Barrier::Staged => {
            if shape.several_nodes {
                Barrier::Nodes
            } else if shape.oversubscribed {
                Barrier::Central
            } else {
                Barrier::Dissemination
            }
        }
        set => set,
    }
}

pub fn bcast(shape: CallShape) -> Bcast {
    match BCAST.get() {
        Bcast::Auto | Bcast::Nodes | Bcast::Staged => {
            if shape.several_nodes {
                Bcast::Nodes
            } else if shape.ranks <= 2 {
                Bcast::Binomial
            } else if shape.oversubscribed && shape.bytes < 4 * PIECE {
                Bcast::Linear
            } else if shape.oversubscribed || shape.bytes >= shape.chains_from() {
                Bcast::Chain
            } else if shape.bytes >= shape.scatters_from() {
                Bcast::ScatterAllgather
            } else {
                Bcast::Binomial
            }
        }
        set => set,
    }
}

fn tree(set: Tree, shape: CallShape) -> Tree {
    match set {
        _ if !shape.equal => Tree::Linear,
        Tree::Nodes | Tree::Staged if shape.several_nodes => Tree::Nodes,
        Tree::Auto | Tree::Nodes | Tree::Staged => {
            if shape.several_nodes && shape.bytes <= 4096 {
                Tree::Nodes
            } else if shape.bytes <= 1024 && shape.ranks > 32 && !shape.oversubscribed {
                Tree::Binomial
            } else {
                Tree::Linear
            }
        }
        set => set,
    }
}

pub fn gather(shape: CallShape) -> Tree {
    tree(GATHER.get(), shape)
}

pub fn scatter(shape: CallShape) -> Tree {
    tree(SCATTER.get(), shape)
}

pub fn allgather(shape: CallShape) -> Allgather {
    let doubles = shape.equal && shape.ranks.is_power_of_two();
    match ALLGATHER.get() {
        Allgather::RecursiveDoubling if doubles => Allgather::RecursiveDoubling,
        Allgather::Nodes | Allgather::Staged if shape.several_nodes => Allgather::Nodes,
        Allgather::Auto | Allgather::RecursiveDoubling | Allgather::Nodes | Allgather::Staged => {
            if shape.several_nodes && shape.bytes <= (shape.ranks * PIECE / 4).max(64 << 10) {
                Allgather::Nodes
            } else if shape.several_nodes && !shape.oversubscribed {
                // Doubling would send each rank's half of the data through its node's network; a ring sends all of it once a node.
                Allgather::Ring
            } else if shape.oversubscribed && shape.bytes <= 64 << 10 {
                Allgather::GatherBroadcast
            } else if shape.oversubscribed {
                Allgather::Linear
            } else if doubles && shape.bytes <= shape.ranks * 2 * PIECE {
                Allgather::RecursiveDoubling
            } else if !doubles && shape.bytes <= (shape.ranks * PIECE / 4).max(64 << 10) {
                Allgather::Bruck
            } else {
                Allgather::Ring
            }
        }
        set => set,
    }
}

pub fn alltoall(shape: CallShape) -> Alltoall {
    match ALLTOALL.get() {
        Alltoall::Bruck if shape.equal => Alltoall::Bruck,
        Alltoall::Nodes | Alltoall::Staged if shape.equal && shape.several_nodes => Alltoall::Nodes,
        Alltoall::Auto | Alltoall::Bruck | Alltoall::Nodes | Alltoall::Staged => {
            if shape.equal && shape.several_nodes && shape.bytes <= 256 {
                Alltoall::Nodes
            } else if shape.equal && shape.forwards_parts() {
                Alltoall::Bruck
            } else if shape.equal && shape.bytes >= 32 << 10 && !shape.oversubscribed {
                Alltoall::Pairwise
            } else {
                Alltoall::Linear
            }
        }
        set => set,
    }
}

pub fn reduce(shape: CallShape) -> Reduce {
    match REDUCE.get() {
        _ if reproducible() => Reduce::Binomial,
        Reduce::ScatterGather if shape.commutes => Reduce::ScatterGather,
        Reduce::Auto | Reduce::ScatterGather | Reduce::Nodes | Reduce::Staged => {
            if reduces_by_node(shape) {
                Reduce::Nodes
            } else if shape.ranks > 2 && shape.oversubscribed && shape.bytes >= 2 * PIECE {
                Reduce::Chain
            } else if shape.oversubscribed {
                Reduce::Linear
            } else if shape.ranks > 2 && shape.bytes >= shape.chains_from() {
                Reduce::Chain
            } else if shape.commutes && shape.bytes >= shape.scatters_from() {
                Reduce::ScatterGather
            } else {
                Reduce::Binomial
            }
        }
        set => set,
    }
}

pub fn allreduce(shape: CallShape) -> Allreduce {
    match ALLREDUCE.get() {
        _ if reproducible() => Allreduce::Tree,
        Allreduce::Ring if shape.commutes => Allreduce::Ring,
        Allreduce::Nodes | Allreduce::Staged if reduces_by_node(shape) => Allreduce::Nodes,
        Allreduce::Auto | Allreduce::Ring | Allreduce::Nodes | Allreduce::Staged => {
            if reduces_by_node(shape) && shape.bytes < shape.reduces_in_rings_from() {
                Allreduce::Nodes
            } else if shape.oversubscribed && shape.bytes <= 4096 {
                Allreduce::Linear
            } else if shape.bytes <= 16 << 10 {
                Allreduce::RecursiveDoubling
            } else if shape.commutes && shape.bytes >= shape.reduces_in_rings_from() {
                Allreduce::Ring
            } else {
                Allreduce::HalvingDoubling
            }
        }
        set => set,
    }
}

/// Bytes from which an allreduce of several nodes has several leaders on each.
const SEVERAL_LEADERS: usize = 64 << 10;

/// Whether so many bytes are reduced in parts, with a leader each, where each node has so many ranks at least.
pub fn has_several_leaders(ranks: usize, bytes: usize) -> bool {
    ranks > 1 && bytes >= SEVERAL_LEADERS
}

pub fn reduce_scatter(shape: CallShape) -> ReduceScatter {
    match REDUCE_SCATTER.get() {
        _ if reproducible() => ReduceScatter::ReduceThenScatter,
        ReduceScatter::Ring if shape.commutes => ReduceScatter::Ring,
        ReduceScatter::Nodes | ReduceScatter::Staged if reduces_by_node(shape) => {
            ReduceScatter::Nodes
        }
        ReduceScatter::Auto
        | ReduceScatter::Ring
        | ReduceScatter::Nodes
        | ReduceScatter::Staged => {
            if reduces_by_node(shape) && shape.bytes <= 256 << 10 {
                ReduceScatter::Nodes
            } else if shape.bytes <= 256 << 10 || !shape.commutes {
                ReduceScatter::Linear
            } else {
                ReduceScatter::Ring
            }
        }
        set => set,
    }
}

pub fn scan(shape: CallShape) -> Scan {
    match SCAN.get() {
        // Each rank's association is one, whatever else is set.
        _ if reproducible() => Scan::Doubling,
        Scan::Auto | Scan::Nodes | Scan::Staged => {
            if shape.several_nodes && shape.in_order {
                Scan::Nodes
            } else if shape.oversubscribed {
                Scan::Linear
            } else {
                Scan::Doubling
            }
        }
        set => set,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Node;

    /// The choices of a job's communicator of so many ranks, as numbers, for data of many sizes.
    fn choices(node: Node, ranks: usize) -> Vec<usize> {
        let oversubscribed = node.is_oversubscribed();
        let of_size = |bytes: usize| {
            let shape = CallShape {
                ranks,
                bytes,
                commutes: true,
                equal: true,
                oversubscribed,
                several_nodes: false,
                in_order: true,
            };
            [
                barrier(shape) as usize,
                bcast(shape) as usize,
                gather(shape) as usize,
                scatter(shape) as usize,
                allgather(shape) as usize,
                alltoall(shape) as usize,
                reduce(shape) as usize,
                allreduce(shape) as usize,
                reduce_scatter(shape) as usize,
                scan(shape) as usize,
            ]
        };
        (0..25).flat_map(|power| of_size(1 << power)).collect()
    }

    #[test]
    fn ranks_choose_by_the_cores_that_they_may_use() {
        let small = || Node::of_test(16, 2, None);
        let limited = || Node::of_test(16, 64, Some(2.0));
        let roomy = || Node::of_test(16, 64, None);
        for ranks in [16, 2] {
            assert_eq!(choices(limited(), ranks), choices(small(), ranks));
            assert_ne!(choices(limited(), ranks), choices(roomy(), ranks));
        }
        assert_eq!(
            choices(Node::of_test(2, 64, Some(2.0)), 2),
            choices(roomy(), 2)
        );
    }
}
