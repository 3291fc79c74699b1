//! The strategies that a job can choose with the feature `papers`.

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
