//! Whether the job goes on when processes die, as far as this process knows: MPI_Finalize then needs the living only.
//!
//! mpiexec decides at the start, from its options and the program, and says so in the environment; a process that calls one of the functions for
//! failed processes says in its page that it wants it.

use crate::attr;
use crate::choice;
use crate::engine;
use crate::os::own_code;
use crate::sync::{AtomicBool, Ordering};
use crate::transport;
use crate::variables::Variable;

choice! {
    /// Whether a job survives the death of a process.
    pub enum Survive {
        Auto = "auto",
        Yes = "yes" | "ulfm" | "mpi" | "true" | "on" | "1",
        No = "no" | "false" | "off" | "0",
    }
}

/// Read by mpiexec, too, which sets it for the ranks.
pub static SURVIVE: Variable<Survive> = Variable::new(
    "SURVIVE",
    Survive::Auto,
    "Whether the other processes go on when one dies (docs/failures.md); auto: if the program itself has one of the functions \
     MPIX_Comm_get_failed, _revoke, _shrink, _agree and so on, or a process has called one.",
)
.with_aliases(&["MPIR_CVAR_ENABLE_FT"]);

/// A function for failed processes was called here.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Says that this process wants to go on when others die.
pub fn survive() {
    if !WANTED.swap(true, Ordering::Relaxed)
        && let Some(page) = engine::own_page()
    {
        page.survives.store(1, Ordering::Release);
        // Otherwise it was told at the start.
        if SURVIVE.get() == Survive::Auto {
            tell();
        }
    }
}

/// A process has come into the job. Where the job survives it prepares for failures, at the start, so that the first one finds the library's
/// code and memory there: a page that is touched for the first time takes as long as 1,000 to 10,000 instructions.
pub(super) fn begin() {
    tell();
    if survives() {
        own_code::provide();
        if let Some(desks) = transport::desks() {
            desks.provide();
        }
    }
}

/// Tells the program by MPI_COMM_WORLD's attribute MPIX_FT.
fn tell() {
    attr::set(attr::FT, Some(survives().into()));
}

/// Whether it does.
pub fn survives() -> bool {
    match SURVIVE.get() {
        Survive::Yes => true,
        Survive::No => false,
        Survive::Auto => WANTED.load(Ordering::Relaxed),
    }
}
