//! Point-to-point communication, chapter 3.

mod arguments;
mod buffer;
mod completion;
mod probe;
mod status;
mod transfer;
