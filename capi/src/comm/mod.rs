//! Communicators, chapter 7.

mod accessors;
mod constructors;

pub use accessors::give_group;
pub use constructors::give;
