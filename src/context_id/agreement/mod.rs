//! How processes agree on a context id: strategies as plain steps between reductions, for one process each.
//!
//! A strategy offers words, which are combined with those of the other members ([`combine`](super::offer::combine)), and settles on the result.
//! It knows neither messages nor threads: the library, the models and the simulation drive the same steps under a lock of
//! their own. Invariant: all members of an allocation make the same kind of offer in the same order, because what comes
//! next depends on nothing but the results.

mod allocation;
#[cfg(feature = "papers")]
mod alternatives;
mod base;
mod eager;
pub mod lease;
mod queue;
mod steps;
mod strategy;

pub use allocation::{Allocation, Step};
pub use strategy::{ALL, Settings, Strategy};
