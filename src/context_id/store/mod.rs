//! From a context id to what is known of its communicator: the array of paper 002. Its other stores come with the feature `papers`.
//!
//! Invariant: a key has at most one value, and a store that was chosen stays for the whole job. Keys are places in the
//! order of ids, so that they come densely from zero on.

#[cfg(feature = "papers")]
mod alternatives;
mod array;

#[cfg(feature = "papers")]
pub use alternatives::{ALL, Kind, Store};
/// Values by key.
#[cfg(not(feature = "papers"))]
pub use array::Array as Store;
