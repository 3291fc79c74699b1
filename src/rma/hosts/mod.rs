//! Windows whose ranks are on several hosts: what reaches a rank of another host goes by messages to a thread of its process.
//!
//! ```text
//! origin.rs     an operation in calls of up to 256 KB; waits for their answers        lock, post, complete, fence: one call each
//! wire.rs       what is in a call
//! service.rs    the thread of the target's process: takes calls, answers
//! target.rs     applies an operation to the own memory, as an origin of this host does
//! claims.rs     locks that ranks of other hosts want or hold
//! ```
//!
//! Invariant: gets, and what has a result, are complete when their call returns; puts and accumulates when a call that synchronises does.

mod claims;
pub mod origin;
pub mod service;
mod state;
mod target;
mod wire;

pub use state::Hosts;
pub use wire::Kind;
