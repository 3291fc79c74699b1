//! Reference counts of communicators and datatypes, for the lifetime schemes that count ([`crate::lifetime`] chooses one): in a
//! library with the feature `papers`. In the default library nothing is counted, and what is asked here is a constant.

#[cfg(feature = "papers")]
mod counting;
#[cfg(not(feature = "papers"))]
mod none;

#[cfg(feature = "papers")]
pub use counting::*;
#[cfg(not(feature = "papers"))]
pub use none::*;
