//! Waits of the program's threads at a file, for what goes on behind a call.

use crate::engine::published;
use crate::engine::wait::{FILE, Reason, until_at};
use crate::engine::waits::{Kind, Wait, Whom};

/// Waits until it `holds`, which it will. `handle`: 0 for any file.
pub fn until_done(function: &'static str, handle: i32, mut holds: impl FnMut() -> bool) {
    // Steps of collective operations may wait for any rank.
    let what = &|named: bool| match handle {
        0 => Wait::of(Kind::FileAccess, Whom::Any),
        _ => published::without_messages(FILE, handle, named),
    };
    until_at(0, &Reason { function, what }, |_| holds().then_some(()));
}
