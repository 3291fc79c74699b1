//! Communicators, chapter 7.

mod accessors;
mod constructors;

pub use constructors::give;
