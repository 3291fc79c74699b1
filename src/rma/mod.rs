//! One-sided communication (MPI 5.0, chapter 12); `docs/windows.md`.
//!
//! Invariant: all operations of a window are complete at the target when their call returns, but those to other hosts ([`hosts`]) and small puts to
//! private memory ([`batch`]), which are complete locally; and none
//! needs a call of the target.

#![allow(unsafe_code)]

pub mod access;
pub mod accumulate;
mod addresses;
mod apply;
pub mod atomic;
mod batch;
pub mod block;
mod claimed;
pub mod create;
mod dynamic;
mod element;
pub mod epoch;
pub mod groups;
mod helper;
pub mod hosts;
pub mod in_place;
mod info;
pub mod locks;
pub mod memory;
mod private;
mod provided;
pub mod put_get;
mod query;
mod regions;
mod room;
pub mod share;
mod wait;
mod waiting;
mod ways;
pub mod window;

use crate::queue::shape;

/// The layout of what windows have in the node's heap. The ranks of a node must have one, as they must agree on the segment's.
pub const SHAPE: u64 = shape::combine(&[
    block::SHAPE,
    claimed::SHAPE,
    helper::SHAPE,
    regions::SHAPE,
    locks::SHAPE,
    create::SHAPE,
]);

pub use window::{Flavor, MODEL, NULL, Target, Way, Window, get};
