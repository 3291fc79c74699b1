//! Collective communication, chapter 6.

mod blocking;
mod neighborhood;
mod nonblocking;
mod persistent;
