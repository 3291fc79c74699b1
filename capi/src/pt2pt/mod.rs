//! Point-to-point communication, chapter 3.

pub mod arguments;
mod buffer;
mod completion;
mod probe;
mod status;
mod transfer;
