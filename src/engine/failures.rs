//! The processes that this one knows to have failed, in the order in which it has learned of them.
//!
//! A process has failed once it has ended without MPI_Finalize; one that cannot be reached may live. Invariant: the list only grows, so that a number
//! says how much of it somebody knows; every process that an error of class MPIX_ERR_PROC_FAILED names is in it before the program sees that error.
//! Nothing is looked for as long as no death was told.

use super::table;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use crate::transport::{Table, deaths};
use parking_lot::Mutex;

/// By process number.
static FAILED: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// Whether there are any.
static ANY: AtomicBool = AtomicBool::new(false);
/// What [`deaths::count`] was when the table was last gone through.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Whether any process is known to have failed.
#[inline]
pub fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// Adds a process, if it is new.
pub(super) fn note(process: u32) {
    add(&mut FAILED.lock(), [process]);
}

fn add(list: &mut Vec<u32>, processes: impl IntoIterator<Item = u32>) {
    for process in processes {
        if !list.contains(&process) {
            list.push(process);
            ANY.store(true, Ordering::Relaxed);
        }
    }
}

/// Adds those of whose deaths was told since the last time. Only a changed [`deaths::count`] costs anything.
#[inline]
pub fn look() {
    if deaths::count() != SEEN.load(Ordering::Relaxed)
        && let Some(table) = table()
    {
        look_in(table);
    }
}

#[cold]
fn look_in(table: &Table) {
    let count = deaths::count();
    // What was written of these deaths is seen from here on.
    add(&mut FAILED.lock(), table.failed());
    SEEN.store(count, Ordering::Relaxed);
}

/// Those known by now, in the order of detection: process numbers.
pub fn known() -> Vec<u32> {
    look();
    FAILED.lock().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_is_added_once_at_the_end() {
        let mut list = Vec::new();
        add(&mut list, [7, 3]);
        add(&mut list, [3, 1, 7, 9]);
        assert_eq!(list, [7, 3, 1, 9]);
        assert!(any());
    }
}
