//! Shared memory within a node: the segment, its rings, copy buffers and event counts.
#![allow(unsafe_code)]

pub mod cells;
pub mod desks;
pub mod endpoint;
pub mod heap;
mod inbound;
pub mod layout;
pub mod notifier;
pub mod outbound;
pub mod pace;
mod packing;
pub mod settings;
pub mod staging;

use crate::queue::shape;

/// The layouts of what is built upon the segment, which a build must know alike to join it.
const SHAPE: u64 = shape::combine(&[
    shape::number(shape::START, cells::CELL_BYTES),
    shape::number(shape::START, staging::area::MOST_RANKS),
    settings::SHAPE,
    staging::area::SHAPE,
    heap::SHAPE,
    desks::SHAPE,
]);
