//! Communicators, chapter 7.

mod accessors;
pub mod constructors;

pub use constructors::give;
