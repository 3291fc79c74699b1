//! What this node is to the ranks of the job: how many of them there are, which cores they may use, and so whether they are
//! oversubscribed; and which of the cores have a cache in common ([`distance`]).
//!
//! Invariant: whether the node is oversubscribed is decided once, in memory that its ranks share, and is then the answer of every
//! rank to everybody who asks: the engine, collective operations, tools. So ranks that choose algorithms by it choose alike.

pub mod distance;
mod prober;

use crate::os::backoff;
use crate::os::schedule::{self, CPU_WORDS};
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::variables::pretend::PRETEND;
use prober::Distances;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a node's ranks tell each other about it, in the segment. Zeros: nobody has joined.
#[repr(C)]
pub struct Shared {
    /// How many ranks have joined.
    joined: AtomicU32,
    /// The least CPU quota of a rank, in hundredths of a core; 0: none has one.
    quota: AtomicU32,
    /// One of the decisions below.
    decision: AtomicU32,
    _pad: u32,
    /// Union of the cores that the ranks may run on.
    cores: [AtomicU64; CPU_WORDS],
    distances: Distances,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    prober::SHAPE,
    shape!(Shared {
        joined,
        quota,
        decision,
        _pad,
        cores,
        distances
    }),
]);

const OPEN: u32 = 0;
const ENOUGH_CORES: u32 = 1;
const OVERSUBSCRIBED: u32 = 2;

/// How long a collective operation waits for the ranks that have not joined, which may be bound to fewer cores. A rank that
/// calls MPI_Init late costs no more than a worse choice of algorithms.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Clone, Copy)]
pub struct Node {
    shared: &'static Shared,
    ranks: usize,
}

static HERE: OnceLock<Node> = OnceLock::new();
/// The decision, as soon as it was read: one load for those who ask often.
static DECIDED: AtomicU32 = AtomicU32::new(OPEN);

/// How many cores' worth of time there is: cores that may be used, and the quota in hundredths of a core, 0 without.
fn usable_hundredths(cores: usize, quota: u32) -> usize {
    let cores = cores * 100;
    match quota {
        0 => cores,
        quota => cores.min(quota as usize),
    }
}

fn too_many(ranks: usize, cores: usize, quota: u32) -> bool {
    ranks * 100 > usable_hundredths(cores, quota)
}

fn hundredths(quota: Option<f64>) -> u32 {
    quota.map_or(0, |cores| (cores * 100.0).clamp(1.0, 1e8) as u32)
}

impl Shared {
    /// A rank joins: the cores that it may run on and its quota count from now on.
    pub fn join(&self) {
        self.join_with(schedule::affinity(), schedule::cpu_quota());
    }

    fn join_with(&self, cores: [u64; CPU_WORDS], quota: Option<f64>) {
        for (word, mine) in self.cores.iter().zip(cores) {
            word.fetch_or(mine, Ordering::Relaxed);
        }
        let mine = hundredths(quota);
        let mut least = self.quota.load(Ordering::Relaxed);
        while mine != 0 && (least == 0 || mine < least) {
            match self
                .quota
                .compare_exchange(least, mine, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(other) => least = other,
            }
        }
        // Whoever counts this rank sees what it has told.
        self.joined.fetch_add(1, Ordering::Release);
    }

    pub fn joined(&self) -> usize {
        self.joined.load(Ordering::Acquire) as usize
    }
}

impl Node {
    pub fn new(shared: &'static Shared, ranks: usize) -> Node {
        Node { shared, ranks }
    }

    pub fn all_joined(&self) -> bool {
        self.shared.joined() >= self.ranks
    }

    /// Whether the answer of [`Self::is_oversubscribed`] is final.
    pub fn is_decided(&self) -> bool {
        self.shared.decision.load(Ordering::Acquire) != OPEN
    }

    /// Whether more ranks run than there are cores for them. Before all have joined and told where they may run, every
    /// core of the machine counts, and the answer may change.
    pub fn is_oversubscribed(&self) -> bool {
        match self.shared.decision.load(Ordering::Acquire) {
            OPEN if self.all_joined() => self.decide() == OVERSUBSCRIBED,
            OPEN => self.estimate() == OVERSUBSCRIBED,
            decision => decision == OVERSUBSCRIBED,
        }
    }

    /// The cores that the ranks may use, by affinity and quota.
    pub fn usable_cores(&self) -> f64 {
        let quota = self.quota();
        usable_hundredths(self.cores(), quota) as f64 / 100.0
    }

    fn quota(&self) -> u32 {
        match PRETEND.get().cores {
            0 => self.shared.quota.load(Ordering::Relaxed),
            _ => 0,
        }
    }

    fn cores(&self) -> usize {
        let pretended = PRETEND.get().cores;
        if pretended > 0 {
            return pretended as usize;
        }
        if !self.all_joined() {
            return schedule::online_cores();
        }
        let words = self.shared.cores.iter();
        let cores = words.map(|word| word.load(Ordering::Relaxed).count_ones() as usize);
        cores.sum()
    }

    fn estimate(&self) -> u32 {
        match too_many(self.ranks, self.cores(), self.quota()) {
            true => OVERSUBSCRIBED,
            false => ENOUGH_CORES,
        }
    }

    /// Makes what is known now the answer for all, unless there is one.
    fn decide(&self) -> u32 {
        let mine = self.estimate();
        let decision = &self.shared.decision;
        match decision.compare_exchange(OPEN, mine, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => mine,
            Err(earlier) => earlier,
        }
    }

    /// Whether ranks that have not joined yet cannot change the estimate. Until they join all cores of the machine count, and quotas only
    /// fall: an oversubscribed node stays so.
    fn is_certain(&self) -> bool {
        self.all_joined() || self.estimate() == OVERSUBSCRIBED
    }

    fn await_decision(&self) -> u32 {
        let begin = Instant::now();
        let waits = !self.is_certain();
        while waits && !self.is_decided() && !self.all_joined() && begin.elapsed() < JOIN_TIMEOUT {
            backoff::give_way(begin.elapsed());
        }
        self.decide()
    }
}

/// This process has joined a node.
pub fn set_here(node: Node) {
    // A process joins once.
    let _ = HERE.set(node);
}

pub fn here() -> Option<Node> {
    HERE.get().copied()
}

/// Whether this process's node is oversubscribed: the final answer, for choices that all ranks must make alike. Not while a guard
/// of an engine is held: the first call may wait for ranks that have not joined.
#[inline]
pub fn is_oversubscribed() -> bool {
    match DECIDED.load(Ordering::Relaxed) {
        OPEN => ask(),
        decision => decision == OVERSUBSCRIBED,
    }
}

#[cold]
fn ask() -> bool {
    let Some(node) = here() else {
        return false;
    };
    let decision = node.await_decision();
    DECIDED.store(decision, Ordering::Relaxed);
    decision == OVERSUBSCRIBED
}

#[cfg(test)]
fn mask(cores: std::ops::Range<usize>) -> [u64; CPU_WORDS] {
    let mut mask = [0; CPU_WORDS];
    for core in cores {
        mask[core / 64] |= 1 << (core % 64);
    }
    mask
}

#[cfg(test)]
impl Node {
    /// A node of so many ranks, none of which has joined.
    fn empty(ranks: usize) -> Node {
        let shared = Shared {
            joined: AtomicU32::new(0),
            quota: AtomicU32::new(0),
            decision: AtomicU32::new(OPEN),
            _pad: 0,
            cores: std::array::from_fn(|_| AtomicU64::new(0)),
            distances: Distances::fresh(),
        };
        Node::new(crate::sync::keep::keep(shared), ranks)
    }

    /// A node whose ranks have joined: each may use the first so many cores, at this quota.
    pub fn of_test(ranks: usize, cores: usize, quota: Option<f64>) -> Node {
        let node = Node::empty(ranks);
        for _ in 0..ranks {
            node.shared.join_with(mask(0..cores), quota);
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_compared_with_mask_and_quota() {
        let cases = [
            // ranks, cores by mask, quota, oversubscribed
            (16, 64, None, false),
            (16, 2, None, true),
            (16, 64, Some(2.0), true),
            (2, 64, Some(2.0), false),
            (2, 64, Some(1.5), true),
            (2, 1, None, true),
            (1, 1, None, false),
            (1, 64, Some(0.5), true),
            (64, 64, None, false),
            (65, 64, None, true),
            (3, 2, Some(100.0), true),
        ];
        for (ranks, cores, quota, expected) in cases {
            let node = Node::empty(ranks);
            for rank in 0..ranks {
                assert_eq!(node.all_joined(), rank == ranks);
                node.shared.join_with(mask(0..cores), quota);
            }
            assert!(node.all_joined() && !node.is_decided());
            assert_eq!(
                node.is_oversubscribed(),
                expected,
                "{ranks} {cores} {quota:?}"
            );
            assert!(node.is_decided());
        }
    }

    #[test]
    fn masks_are_united_and_the_least_quota_counts() {
        let node = Node::empty(3);
        node.shared.join_with(mask(0..1), None);
        node.shared.join_with(mask(1..2), Some(8.0));
        node.shared.join_with(mask(100..101), Some(4.0));
        assert_eq!(node.usable_cores(), 3.0);
        assert!(!node.is_oversubscribed());
    }

    /// Ranks that wait for others to start must not hold the cores on which these do so.
    #[test]
    fn too_many_ranks_for_the_machine_wait_for_nobody() {
        let cores = schedule::online_cores();
        for (ranks, expected) in [(cores, false), (cores + 1, true), (100 * cores, true)] {
            let node = Node::empty(ranks);
            assert_eq!(node.is_certain(), expected, "{ranks} ranks");
        }
        let slow = Node::empty(2);
        slow.shared.join_with(mask(0..1), Some(0.5));
        assert!(slow.is_certain() && !slow.all_joined());
        assert_eq!(slow.await_decision(), OVERSUBSCRIBED);
    }

    /// A rank that decides before the others have joined decides for them too.
    #[test]
    fn the_first_decision_stays() {
        let node = Node::empty(2);
        node.shared.join_with(mask(0..1), None);
        let before = node.is_oversubscribed();
        assert!(!node.is_decided());
        assert_eq!(node.decide() == OVERSUBSCRIBED, before);
        node.shared.join_with(mask(0..1), None);
        assert_eq!(node.is_oversubscribed(), before);
    }
}
