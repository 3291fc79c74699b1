//! Lock-free queues and bells that live in memory shared between processes.
#![allow(unsafe_code)]

pub mod channel;
pub mod doorbell;
pub mod fair_lock;
pub mod lane;
#[cfg(all(test, loom))]
mod models;
pub mod ring;
pub mod rounds;
pub mod shape;
