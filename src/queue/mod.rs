//! Lock-free queues and event counts in memory shared between processes.
#![allow(unsafe_code)]

pub mod channel;
pub mod eventcount;
pub mod lane;
#[cfg(all(test, loom))]
mod models;
pub mod ring;
pub mod rounds;
pub mod shape;
