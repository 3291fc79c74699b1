//! Files, chapter 14.

mod explicit;
mod file;
mod individual;
mod shared;
