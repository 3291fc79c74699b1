//! The tool interface (MPI_T): settings as control variables, counts as performance variables, events, and their categories.
//!
//! It may be used before MPI_Init and after MPI_Finalize, by any thread. Invariant: handles and sessions are numbers that are
//! given out once, so a stale one is found out; all end with the last MPI_T_finalize.

pub mod category;
pub mod control;
pub mod event;
pub mod performance;

use crate::coll::choose::report;
use crate::error::{Class, Result, fail};
use crate::events::{self, next_number};
use parking_lot::Mutex;

/// MPI_T_init_thread without MPI_T_finalize.
static USERS: Mutex<u32> = Mutex::new(0);

/// MPI_T_init_thread.
pub fn init() {
    report::count();
    *USERS.lock() += 1;
}

/// MPI_T_finalize.
pub fn finalize() -> Result<()> {
    check()?;
    let mut users = USERS.lock();
    *users = users.saturating_sub(1);
    if *users == 0 {
        control::end();
        performance::end();
        events::end();
    }
    Ok(())
}

/// Fails unless the interface is in use.
pub fn check() -> Result<()> {
    if *USERS.lock() > 0 {
        return Ok(());
    }
    fail!(
        Class::TNotInitialized,
        "called without MPI_T_init_thread, or after MPI_T_finalize"
    )
}

/// The element that an index of the program's names.
fn at<T: Copy>(all: &[T], name: &str, index: i32) -> Result<T> {
    let found = usize::try_from(index).ok().and_then(|index| all.get(index));
    match found {
        Some(found) => Ok(*found),
        None => fail!(
            Class::TInvalidIndex,
            "{name} is {index}; allowed is 0 to {}",
            all.len() as i64 - 1
        ),
    }
}
