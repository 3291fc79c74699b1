//! The tool interface, chapter 15.

mod category;
mod control;
mod event;
mod performance;
