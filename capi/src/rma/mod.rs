//! One-sided communication, chapter 12.

mod communication;
mod synchronization;
mod window;
