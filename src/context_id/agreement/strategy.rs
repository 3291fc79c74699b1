//! The strategies that a job can choose, and the settings that go with them.

crate::choice! {
    /// The strategies that a job can choose.
    pub enum Strategy {
        Lease = "lease",
        Eager = "eager",
        Mask = "mask",
        Queue = "queue",
        Disjoint = "disjoint",
        Candidate = "candidate",
        Highest = "highest",
    }
}

/// All of them, for tests and comparisons.
pub const ALL: [Strategy; 7] = [
    Strategy::Lease,
    Strategy::Eager,
    Strategy::Mask,
    Strategy::Queue,
    Strategy::Disjoint,
    Strategy::Candidate,
    Strategy::Highest,
];

/// Settings that all members share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub strategy: Strategy,
    /// Words of page 0 for eager allocation.
    pub eager_words: usize,
    /// The strategy as its paper prints it: nobody makes sure that all members have begun. These deadlock; they are here
    /// for the models and for the comparison, and no job can choose them.
    pub printed: bool,
    /// Only with `printed`: the members have one thread each and one allocation at a time, so what needs confirmation
    /// among threads needs none.
    pub alone: bool,
    /// A communicator gets the id of the first creation on it with its own. Of leases.
    pub seeds: bool,
}
