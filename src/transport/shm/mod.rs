//! Shared memory within a node: the segment, its rings, cells and doorbells.
#![allow(unsafe_code)]

pub mod board;
pub mod cells;
pub mod doorbell;
pub mod endpoint;
pub mod layout;
pub mod outbound;
pub mod pace;
mod packing;
pub mod pipe;
pub mod seat;
pub mod settings;
#[cfg(test)]
pub mod stage;
pub mod trays;
