//! Point-to-point communication, chapter 3.

mod arguments;
mod blocking;
mod buffer;
mod completion;
mod nonblocking;
mod persistent;
mod probe;
mod status;
