//! Communicators, chapter 7.

pub mod accessors;
mod constructors;

pub use constructors::give;
