//! Lock-free queues and event counts in memory shared between processes.
#![allow(unsafe_code)]

pub mod bulk_ring;
pub mod channel;
pub mod eventcount;
pub mod fair_lock;
#[cfg(all(test, loom))]
mod models;
pub mod ring;
pub mod rounds;
pub mod shape;
