//! Files (MPI 5.0, chapter 14); `docs/files.md`.
//!
//! Invariant: an operation on data is in the file, or has failed, when its call returns; nothing is kept back.

#![allow(unsafe_code)]

mod access;
mod agree;
pub mod amode;
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
mod open;
mod position;
mod request;
mod shared;
mod sizes;
mod split;
mod transfer;
mod view;

pub use access::{Direction, Place};
pub use board::SHAPE;
pub use file::{File, get, handle_of};
pub use kind::{Form as SplitForm, Kind as SplitKind};
pub use open::{Wish, close, delete, open};
pub use position::Whence;
pub use request::completed;
pub use view::{Types, View};
