//! Windows whose ranks are on several hosts: what reaches a rank of another host goes by messages to a thread of its process.
//!
//! ```text
//! origin.rs     an operation in calls of up to 256 KB                                 lock, post, complete: one call each
//! flights.rs    calls that the program goes on without; their answers, and requests that wait for those
//! direct.rs     puts and gets by the fabric itself
//! registered.rs memory that it reaches
//! wire.rs       what is in a call
//! service.rs    the thread of the target's process: takes calls, answers
//! target.rs     applies an operation to the own memory, as an origin of this host does
//! claims.rs     locks that ranks of other hosts want or hold
//! ```
//!
//! Invariant: operations are complete when a call that synchronises returns, in dynamic windows when their own does.

mod claims;
pub mod direct;
mod flights;
pub mod origin;
pub mod registered;
pub mod service;
mod state;
mod target;
#[cfg(test)]
mod tests;
mod wire;

pub use flights::Track;
pub use state::Hosts;
pub use wire::Kind;
