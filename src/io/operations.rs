//! What goes on at files behind the calls that began it ([`super::request`]): counts, queues, results.

use super::workers::Queue;
use crate::pt2pt::complete::Completion;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// What goes on at a file.
#[derive(Default)]
pub struct Operations {
    pub queue: Arc<Queue>,
    /// Collective ones that have begun and are not over, and others.
    pub collective: AtomicUsize,
    pub independent: AtomicUsize,
}

/// Operations on all files that are not over.
pub static ALL: AtomicUsize = AtomicUsize::new(0);

/// The queue of the independent ones.
pub fn independent() -> &'static Arc<Queue> {
    static QUEUE: OnceLock<Arc<Queue>> = OnceLock::new();
    QUEUE.get_or_init(Arc::default)
}

/// The result of an operation, once it is there.
#[derive(Default)]
pub struct Outcome {
    is_there: AtomicBool,
    done: Mutex<Option<Completion>>,
}

impl Outcome {
    pub fn put(&self, done: Completion) {
        *self.done.lock() = Some(done);
        self.is_there.store(true, Ordering::Release);
    }

    pub fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Acquire)
    }

    /// Takes it, once, when it is there.
    pub fn take(&self) -> Completion {
        self.done
            .lock()
            .take()
            .expect("an outcome is taken once, when it is there")
    }
}
