//! Files (MPI 5.0, chapter 14); `docs/files.md`.
//!
//! Invariant: an operation on data is in the file, or has failed, when its call returns, or that which completes it; nothing is kept back.

#![allow(unsafe_code)]

mod access;
mod agree;
pub mod amode;
mod atomic;
mod board;
mod collective;
mod conversion;
mod convert;
pub mod datarep;
mod direction;
mod errors;
mod file;
mod hints;
mod kind;
mod mapped;
mod open;
mod operations;
mod pointer;
mod position;
mod ranges;
mod request;
mod scratch;
mod shared;
mod sizes;
mod split;
mod transfer;
mod view;
mod wait;
mod workers;

pub use access::{Direction, Place};
pub use file::{File, get, handle_of};
pub use kind::{Form as SplitForm, Kind as SplitKind};
pub use open::{Wish, close, delete, open};
pub use pointer::remove_all as abandon;
pub use position::Whence;
pub use request::finish;
pub use view::{Types, View};

/// The layout of what lies in the heap.
pub const SHAPE: u64 = crate::queue::shape::combine(&[board::SHAPE, collective::SHAPE]);
