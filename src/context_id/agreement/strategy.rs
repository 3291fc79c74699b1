//! The strategies that a job can choose, and the settings that go with them.

#[cfg(feature = "papers")]
pub use super::alternatives::{ALL, Strategy};

#[cfg(not(feature = "papers"))]
crate::choice! {
    /// The only strategy without the feature `papers`.
    pub enum Strategy { Lease = "lease" }
}

/// All of them, for tests and comparisons.
#[cfg(not(feature = "papers"))]
pub const ALL: [Strategy; 1] = [Strategy::Lease];

/// Settings that all members share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub strategy: Strategy,
    /// Words of page 0 for eager allocation.
    pub eager_words: usize,
    /// The strategy as its paper prints it: nobody makes sure that all members have begun. These deadlock; they are here
    /// for the models and for the comparison, and no job can choose them.
    #[cfg(feature = "papers")]
    pub printed: bool,
    /// Only with `printed`: the members have one thread each and one allocation at a time, so what needs confirmation
    /// among threads needs none.
    #[cfg(feature = "papers")]
    pub alone: bool,
    /// A communicator gets the id of the first creation on it with its own. Of leases.
    pub seeds: bool,
}

impl Settings {
    /// Leases, without an eager part and without seeds.
    pub const PLAIN: Settings = Settings {
        strategy: Strategy::Lease,
        eager_words: 0,
        #[cfg(feature = "papers")]
        printed: false,
        #[cfg(feature = "papers")]
        alone: false,
        seeds: false,
    };
}
