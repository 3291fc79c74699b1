//! What tests need for ever, as the library has it in a table or a segment: leaked, but Miri and the address sanitizer, for which a
//! leak is what nothing points to any more, find it here.
//!
//! Invariant: what is kept is never dropped.

use parking_lot::Mutex;

static KEPT: Mutex<Vec<&'static (dyn Sync + Send)>> = Mutex::new(Vec::new());

/// Keeps a value for ever.
pub fn keep<T: Sync + Send + 'static>(value: T) -> &'static T {
    let kept: &'static T = Box::leak(Box::new(value));
    KEPT.lock().push(kept);
    kept
}
