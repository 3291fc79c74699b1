//! Lock-free queues, event counts, locks and barriers in memory shared between processes.
#![allow(unsafe_code)]

pub mod asked;
pub mod barrier;
pub mod bulk_ring;
pub mod channel;
pub mod desk;
pub mod eventcount;
pub mod fair_lock;
pub mod frames;
pub mod looks;
#[cfg(all(test, loom))]
mod models;
pub mod named_lock;
pub mod offers;
pub mod posts;
pub mod range_lock;
pub mod relocation;
pub mod revocations;
pub mod ring;
pub mod sequence;
pub mod shape;
pub mod shares;
