//! Epochs: which targets this process may access now, and the synchronisation that opens and closes them.

mod fence;
mod flush;
mod lock;
mod pscw;
mod state;

pub use fence::fence;
pub use flush::{flush, flush_all, flush_local, flush_local_all, sync};
pub use lock::{LockType, lock, lock_all, unlock, unlock_all};
pub use pscw::{complete, post, start, test, wait};
pub use state::{Access, FAR, all, held};

use super::window::Window;
use crate::error::{Class, Error, Result, fail};
use crate::sync::Ordering;

/// Assertions, with the numbers of the ABI.
pub mod assert {
    pub const NOCHECK: i32 = 1024;
    pub const NOSTORE: i32 = 2048;
    pub const NOPUT: i32 = 4096;
    pub const NOPRECEDE: i32 = 8192;
    pub const NOSUCCEED: i32 = 16384;
}

const ASSERTIONS: [(i32, &str); 5] = [
    (assert::NOCHECK, "MPI_MODE_NOCHECK"),
    (assert::NOSTORE, "MPI_MODE_NOSTORE"),
    (assert::NOPUT, "MPI_MODE_NOPUT"),
    (assert::NOPRECEDE, "MPI_MODE_NOPRECEDE"),
    (assert::NOSUCCEED, "MPI_MODE_NOSUCCEED"),
];

/// Fails unless all bits of an assertion are among these.
///
/// Errors: MPI_ERR_ASSERT.
#[inline(always)]
fn check_assertion(given: i32, allowed: i32) -> Result<()> {
    match given & !allowed {
        0 => Ok(()),
        _ => bad_assertion(given, allowed),
    }
}

#[cold]
fn bad_assertion(given: i32, allowed: i32) -> Result<()> {
    let names = |bits: i32| {
        let names = ASSERTIONS.iter().filter(|(bit, _)| bits & bit != 0);
        names.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    };
    let unknown = given & !ASSERTIONS.iter().fold(0, |all, (bit, _)| all | bit);
    let what = match unknown {
        0 => format!("{} has no meaning here", names(given & !allowed)),
        _ => format!("{unknown:#x} is no assertion"),
    };
    fail!(
        Class::Assert,
        "assert is {given}: {what}; allowed is 0 or a combination of {}",
        names(allowed)
    )
}

impl Window {
    /// Whether an operation to `target`, a rank of the window, is allowed now. Waits for the target's MPI_Win_post if that is not there yet.
    ///
    /// Errors: MPI_ERR_RMA_SYNC; the target is lost.
    #[inline(always)]
    pub fn enter_epoch(&self, target: usize) -> Result<()> {
        match self.has_epoch(target) {
            true => Ok(()),
            false => self.await_epoch(target),
        }
    }

    /// Whether an operation to `target` is allowed without a wait.
    #[inline(always)]
    pub(super) fn has_epoch(&self, target: usize) -> bool {
        self.access.all.load(Ordering::Relaxed) != 0 || {
            let bits = self.targets[target].held.load(Ordering::Relaxed);
            bits != 0 && bits & held::AWAITED == 0
        }
    }

    #[cold]
    fn await_epoch(&self, target: usize) -> Result<()> {
        if self.targets[target].held.load(Ordering::Relaxed) != 0 {
            return self.await_post("MPI_Win_start", target);
        }
        fail!(
            Class::RmaSync,
            "no access epoch for target rank {target} is open at {}: call MPI_Win_fence, MPI_Win_start or MPI_Win_lock first",
            self.title()
        )
    }

    /// The function that has begun an epoch which must end before the window is freed or fenced; `None`: there is none.
    pub fn open_epoch(&self) -> Option<&'static str> {
        self.open_access()
            .or_else(|| self.is_exposed().then_some("MPI_Win_post"))
    }

    /// The function that has begun an access epoch which must end before one of another kind begins. Fences need no end.
    #[inline]
    fn open_access(&self) -> Option<&'static str> {
        let access = &self.access;
        if access.all.load(Ordering::Relaxed) & all::LOCK_ALL != 0 {
            return Some("MPI_Win_lock_all");
        }
        if access.started.load(Ordering::Relaxed) != 0 {
            return Some("MPI_Win_start");
        }
        let is_held = self
            .targets
            .iter()
            .any(|it| it.held.load(Ordering::Relaxed) != 0);
        is_held.then_some("MPI_Win_lock")
    }

    #[inline]
    fn is_exposed(&self) -> bool {
        self.access.exposed.load(Ordering::Relaxed) != 0
    }

    /// Fails if an access epoch is open that another one cannot follow before it ends, else ends that of a fence.
    ///
    /// Errors: MPI_ERR_RMA_SYNC.
    #[inline]
    fn begin_access(&self) -> Result<()> {
        if let Some(function) = self.open_access() {
            return self.epoch_is_open(function);
        }
        self.access.all.store(0, Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn epoch_is_open(&self, function: &str) -> Result<()> {
        let end = match function {
            "MPI_Win_lock" => "MPI_Win_unlock",
            "MPI_Win_lock_all" => "MPI_Win_unlock_all",
            "MPI_Win_start" => "MPI_Win_complete",
            _ => "MPI_Win_wait or MPI_Win_test",
        };
        fail!(
            Class::RmaSync,
            "an epoch that {function} has begun is open at {}: {end} must end it first",
            self.title()
        )
    }

    /// The error that no epoch is open that this call could end.
    #[cold]
    fn nothing_to_end(&self, begin: &str) -> Error {
        let text = format!("no epoch of {begin} is open at {}", self.title());
        Error::new(Class::RmaSync, text)
    }
}
