//! Collective communication, chapter 6.

mod arguments;
mod blocking;
mod neighborhood;
mod neighbors;
mod nonblocking;
mod persistent;
