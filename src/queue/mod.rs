//! Lock-free queues that live in memory shared between processes.
#![allow(unsafe_code)]

pub mod ring;
