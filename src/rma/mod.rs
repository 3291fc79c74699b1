//! One-sided communication (MPI 5.0, chapter 12); `docs/windows.md`.
//!
//! Invariant: all operations of a window are complete at the target when their call returns, and none needs a call of the target.

#![allow(unsafe_code)]

pub mod block;
pub mod create;
mod dynamic;
pub mod epoch;
mod info;
pub mod memory;
mod query;
mod unmerged;
mod wait;
mod ways;
pub mod window;

pub use window::{Flavor, NULL, Target, Way, Window, get};
