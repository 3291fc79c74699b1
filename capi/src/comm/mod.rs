//! Communicators, chapter 7.

pub mod accessors;
mod constructors;

pub use accessors::give_group;
pub use constructors::give;
