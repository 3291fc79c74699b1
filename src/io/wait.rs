//! Waits of the program's threads at a file, for what goes on behind a call.

use crate::engine::wait::{Reason, until_at};

/// Waits until it `holds`, which it will.
pub fn until_done(function: &'static str, handle: i32, mut holds: impl FnMut() -> bool) {
    until_at(0, &Reason::at_file(function, handle), |_| {
        holds().then_some(())
    });
}
