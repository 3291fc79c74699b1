//! Shared memory within a node: the segment, its rings, cells and doorbells.
#![allow(unsafe_code)]

pub mod board;
pub mod cells;
pub mod doorbell;
pub mod endpoint;
pub mod heap;
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

use crate::queue::shape;

/// The layouts of what is built upon the segment, which a build must know alike to join it.
const SHAPE: u64 = shape::combine(&[
    shape::number(shape::START, cells::CELL_BYTES),
    shape::number(shape::START, board::MOST_RANKS),
    settings::SHAPE,
    board::SHAPE,
    pipe::SHAPE,
    heap::SHAPE,
]);
