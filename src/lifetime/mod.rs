//! The end of communicators and datatypes: when a freed object is in use no more (`docs/objects.md`, paper 003).
//!
//! By default nothing is counted: what was freed goes to the [`collector`], which looks at the pending operations. Reference
//! counts, for the schemes that count, are in [`crate::references`].

pub mod collector;
pub mod communicators;
pub mod datatypes;
mod scheme;

pub use scheme::{Scheme, VARIABLES, scheme, start};
