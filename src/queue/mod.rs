//! Lock-free queues and event counts in memory shared between processes.
#![allow(unsafe_code)]

pub mod bulk_ring;
pub mod channel;
pub mod eventcount;
#[cfg(all(test, loom))]
mod models;
pub mod ring;
pub mod rounds;
pub mod shape;
