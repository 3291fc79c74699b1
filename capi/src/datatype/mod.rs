//! Datatypes, chapter 5.

mod constructors;
mod inquiry;
