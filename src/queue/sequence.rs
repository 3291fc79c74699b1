//! A sequence lock: data in shared memory that one process changes and others copy, without waiting for each other.
//!
//! The version is odd while the data are changed. Invariant: a copy that has a version is what was written before the version became that
//! one, all of it and nothing later (models below, for loom).

use crate::sync::{AtomicU64, Ordering, fence};

/// Changes the data by relaxed stores, under a new version. One at a time.
#[inline]
pub fn write(version: &AtomicU64, change: impl FnOnce()) {
    let before = version.load(Ordering::Relaxed);
    version.store(before + 1, Ordering::Relaxed);
    // The odd version is seen before any change.
    fence(Ordering::Release);
    change();
    version.store(before + 2, Ordering::Release); // pairs with `read`
}

/// Copies the data by relaxed loads, which may find a mixture. Returns their version; `None`: they were being changed, look again.
#[inline]
pub fn read(version: &AtomicU64, copy: impl FnOnce()) -> Option<u64> {
    // Acquire: pairs with `write`.
    let before = version.load(Ordering::Acquire);
    if !before.is_multiple_of(2) {
        return None;
    }
    copy();
    // What was copied was loaded before the version is compared.
    fence(Ordering::Acquire);
    (version.load(Ordering::Relaxed) == before).then_some(before)
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 3;

    fn explore(model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(CHANGES);
        builder.check(model);
    }

    /// Two tables and which one is in use, as a dynamic window's that grows: it moves from the first to the second.
    struct Tables {
        version: AtomicU64,
        table: AtomicU64,
        count: AtomicU64,
        words: [[AtomicU64; 2]; 2],
    }

    impl Tables {
        fn new() -> Tables {
            let zero = || AtomicU64::new(0);
            Tables {
                version: zero(),
                table: zero(),
                count: zero(),
                words: std::array::from_fn(|_| std::array::from_fn(|_| zero())),
            }
        }

        /// Table number n has n entries, all of n; from the second on it is in the other place.
        fn write(&self, number: u64) {
            write(&self.version, || {
                let table = number / 2;
                for word in &self.words[table as usize][..number as usize] {
                    word.store(number, Ordering::Relaxed);
                }
                self.table.store(table, Ordering::Relaxed);
                self.count.store(number, Ordering::Relaxed);
            });
        }

        /// The number of the table that was seen, if one was.
        fn read(&self) -> Option<u64> {
            let mut seen = Vec::new();
            let mut table = 0;
            let version = read(&self.version, || {
                table = self.table.load(Ordering::Relaxed);
                let count = self.count.load(Ordering::Relaxed);
                let words = &self.words[table as usize][..count as usize];
                seen.extend(words.iter().map(|word| word.load(Ordering::Relaxed)));
            })?;
            let number = version / 2;
            assert_eq!(table, number / 2);
            assert_eq!(seen, vec![number; number as usize]);
            Some(number)
        }
    }

    /// A reader sees whole tables only, and none that is older than one before.
    #[test]
    fn whole_tables_are_seen_only() {
        explore(|| {
            let tables = Arc::new(Tables::new());
            let writer = tables.clone();
            let writer = thread::spawn(move || {
                writer.write(1);
                writer.write(2);
            });
            let first = tables.read();
            let second = tables.read();
            assert!(second.is_none() || second >= first);
            writer.join().unwrap();
            assert_eq!(tables.read(), Some(2));
        });
    }

    /// Whoever is told that a table was written finds it, or one after it.
    #[test]
    fn a_table_that_was_announced_is_seen() {
        explore(|| {
            let shared = Arc::new((Tables::new(), AtomicU64::new(0)));
            let other = shared.clone();
            let writer = thread::spawn(move || {
                other.0.write(1);
                other.1.store(1, Ordering::Release);
                other.0.write(2);
            });
            let is_told = shared.1.load(Ordering::Acquire) == 1;
            let seen = shared.0.read();
            assert!(!is_told || seen.is_none() || seen >= Some(1));
            writer.join().unwrap();
        });
    }
}
