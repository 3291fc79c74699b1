//! Hints that the library makes use of: what the program promises not to do with a communicator.
//!
//! Messages of a communicator on which nobody receives with a wildcard are spread over the engines
//! ([`crate::engine::spread`]), which all members must do in the same way. Invariant: they do it only if all have promised the
//! same, and a promise that is relied on is kept for the communicator's life: MPI lets the library refuse another value.

use super::everywhere;
use crate::coll::{Lane, now};
use crate::comm::Comm;
use crate::error::Result;
use crate::info::Info;

const NO_ANY_TAG: &str = "mpi_assert_no_any_tag";
const NO_ANY_SOURCE: &str = "mpi_assert_no_any_source";

/// What all members of a communicator have promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    no_any_tag: bool,
    no_any_source: bool,
}

fn promises(hints: &Info, key: &str) -> bool {
    matches!(hints.get(key), Ok(Some("true")))
}

/// What all members of `parent` promise for a duplicate that they have just made, or tried to. Every member calls it.
pub fn agreed(parent: &Comm, hints: &Info) -> Result<Promises> {
    if parent.is_inter() || parent.engines_offered() == 1 {
        return Ok(Promises::default());
    }
    let own = [promises(hints, NO_ANY_TAG), promises(hints, NO_ANY_SOURCE)];
    let lane = Lane::new(parent, "MPI_Comm_dup_with_info");
    let [no_any_tag, no_any_source] = now(everywhere(&lane, own))?;
    Ok(Promises {
        no_any_tag,
        no_any_source,
    })
}

/// Spreads a communicator that nothing was sent on yet.
///
/// Errors: MPI_ERR_NO_MEM.
pub fn rely_on(comm: &Comm, promises: Promises) -> Result<()> {
    let spread = comm.spread();
    comm.set_spread(spread.without(promises.no_any_tag, promises.no_any_source))
}

/// MPI_Comm_set_info. A promise that is relied on stays what it is, which MPI_Comm_get_info tells.
pub fn set(comm: &Comm, new: &Info) -> Result<()> {
    let (tag, source) = comm.spread().relies_on_none_of();
    let mut hints = comm.info.lock();
    for (key, value) in new.entries() {
        let fixed = tag && key == NO_ANY_TAG || source && key == NO_ANY_SOURCE;
        if !fixed {
            hints.set(key, value)?;
        }
    }
    Ok(())
}
