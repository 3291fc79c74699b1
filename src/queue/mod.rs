//! Lock-free queues and bells that live in memory shared between processes.
#![allow(unsafe_code)]

pub mod doorbell;
pub mod ring;
