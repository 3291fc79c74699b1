//! Datatypes, chapter 5.

pub mod constructors;
mod contents;
mod inquiry;
