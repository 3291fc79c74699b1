//! The end of communicators and datatypes: when a freed object is in use no more (`docs/objects.md`, paper 003).
//!
//! Nothing is counted: what was freed goes to the [`collector`], which looks at the pending operations. With the feature `papers` a
//! job can choose a scheme that counts (`scheme.rs`); the counts are in [`crate::references`].

pub mod collector;
pub mod communicators;
pub mod datatypes;
#[cfg(feature = "papers")]
mod scheme;

#[cfg(feature = "papers")]
pub use scheme::{VARIABLES, start};

/// There is nothing to choose.
#[cfg(not(feature = "papers"))]
pub static VARIABLES: &[&dyn crate::variables::Listed] = &[];

/// Eligible objects that are worth a cycle which has to look at many requests.
const ENOUGH: usize = 64;
