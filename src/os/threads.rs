//! The library's own threads. They have names, and all signals blocked, so that no handler of the program's runs there.

use super::signals::without_signals;
use crate::sync::{AtomicU32, Ordering, guarded};
use std::io::Result;
use std::sync::OnceLock;
use std::thread::{Builder, JoinHandle};

/// Where they are counted.
static COUNT: OnceLock<&'static AtomicU32> = OnceLock::new();

/// Counts those that are started from now on: never more than there are.
pub fn count_at(count: &'static AtomicU32) {
    let _ = COUNT.set(count);
}

/// A thread that is counted, as long as this lives.
struct Counted(Option<&'static AtomicU32>);

impl Counted {
    fn new() -> Counted {
        let count = COUNT.get().copied();
        if let Some(count) = count {
            count.fetch_add(1, Ordering::AcqRel);
        }
        Counted(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(count) = self.0 {
            count.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Starts a thread that enters no engine, with a stack of so many bytes.
///
/// Errors: there is no thread to be had.
pub fn start(
    name: &str,
    stack: usize,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>> {
    start_entering(name, stack, || {
        guarded::stay_outside();
        work();
    })
}

/// As [`start`], for a thread that may enter engines.
pub fn start_entering(
    name: &str,
    stack: usize,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>> {
    let builder = Builder::new().name(name.to_owned()).stack_size(stack);
    without_signals(|| {
        builder.spawn(|| {
            let _counted = Counted::new();
            work();
        })
    })
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::sync::guarded::Guarded;

    static VALUE: Guarded<u32> = Guarded::new(0);

    type Start = fn(&str, usize, fn()) -> Result<JoinHandle<()>>;

    fn is_refused(start: Start, enter: fn()) -> bool {
        start("test", 256 << 10, enter).unwrap().join().is_err()
    }

    #[test]
    fn a_thread_that_is_to_enter_no_engine_is_refused() {
        let enter = || drop(VALUE.enter(|| {}));
        assert!(is_refused(start, enter));
        assert!(!is_refused(start_entering, enter));
    }
}
