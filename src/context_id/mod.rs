//! Context ids: how the members of a new communicator agree on one, and who uses which (`docs/context-ids.md`).
//!
//! [`allocate`] and [`release`] are what makers of communicators call. The default way is a lease (`agreement/lease.rs`), filled by
//! eager agreement (`agreement/eager.rs`), over an array of records; the papers' other strategies and stores are in folders
//! named `alternatives`, compiled with the feature `papers`.

pub mod agreement;
mod allocate;
mod creation;
pub mod handful;
#[cfg(test)]
mod models;
pub mod offer;
mod registry;
mod report;
mod settings;
pub mod space;
pub mod store;

pub use allocate::{Agreed, Proposal, allocate, before_creations};
pub use creation::Creation;
pub use registry::{
    Statistics, at_finalize, live_report, mask, mask_words, occupation, release, statistics,
    take_most,
};
pub use settings::VARIABLES;
