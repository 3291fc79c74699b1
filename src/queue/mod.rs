//! Lock-free queues and bells that live in memory shared between processes.
#![allow(unsafe_code)]

pub mod doorbell;
#[cfg(all(test, loom))]
mod models;
pub mod ring;
