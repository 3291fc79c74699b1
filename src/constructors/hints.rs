//! Hints that the library makes use of: what the program promises not to do with a communicator.
//!
//! Messages of a communicator on which nobody receives with a wildcard are spread over the engines
//! ([`crate::engine::mapping`]), which all members must do in the same way. Invariant: they do it only if all have promised the
//! same, and a promise that is relied on is kept for the communicator's life: MPI lets the library refuse another value.

use super::both_groups::BothGroups;
use super::exchange::everywhere;
use crate::coll::{CollContext, block_on};
use crate::comm::{self, Comm, ErrorRange, Members, revocation};
use crate::context_id::offer::{bytes, words};
use crate::error::Result;
use crate::info::{Info, kinds};

const NO_ANY_TAG: &str = "mpi_assert_no_any_tag";
const NO_ANY_SOURCE: &str = "mpi_assert_no_any_source";

/// What one member, or all members, of a communicator promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    no_any_tag: bool,
    no_any_source: bool,
}

impl Promises {
    pub fn of(hints: &Info) -> Promises {
        let promises = |key| matches!(hints.get(key), Ok(Some("true")));
        Promises {
            no_any_tag: promises(NO_ANY_TAG),
            no_any_source: promises(NO_ANY_SOURCE),
        }
    }

    /// What this and another promise, as numbers that messages carry: common bits.
    pub(super) fn to_bits(self) -> u32 {
        u32::from(self.no_any_tag) | u32::from(self.no_any_source) << 1
    }

    pub(super) fn of_bits(bits: u32) -> Promises {
        Promises {
            no_any_tag: bits & 1 != 0,
            no_any_source: bits & 2 != 0,
        }
    }
}

/// What all members of `parent` promise for a duplicate that they have just made, or tried to. Every member calls it.
pub fn agreed(parent: &Comm, hints: &Info) -> Result<Promises> {
    let both = BothGroups::of(parent, "MPI_Comm_dup_with_info");
    block_on(agreed_for_duplicate(&both, parent, Promises::of(hints)))
}

/// As [`agreed`], in a step that may wait.
pub(super) async fn agreed_for_duplicate(
    both: &BothGroups<'_>,
    parent: &Comm,
    own: Promises,
) -> Result<Promises> {
    // A member that got no id does not know what the creation has agreed on: the parent decides.
    match parent.engines_offered() {
        1 if parent.has_agreed_on_engines() => Ok(Promises::default()),
        _ => agreed_on_both_groups(both, own).await,
    }
}

/// What these processes, who are on the collective context and have just taken part in a creation that has given so many engines, promise
/// for what they have made.
pub(super) fn agreed_among(
    coll: &CollContext<'_>,
    (all, engines): (&Members, u32),
    own: Promises,
) -> Result<Promises> {
    match comm::engines_offered_by(all, engines) {
        1 => Ok(Promises::default()),
        _ => block_on(agreed_on(coll, own)),
    }
}

/// What both groups promise; a group that fails promises nothing to the other.
pub(super) async fn agreed_on_both_groups(
    both: &BothGroups<'_>,
    own: Promises,
) -> Result<Promises> {
    let own = agreed_on(&both.local, own).await;
    let Some(inter) = &both.inter else {
        return own;
    };
    let bits = own.as_ref().map_or(0, |own| own.to_bits());
    let (mut mine, mut theirs) = (bytes([bits]), bytes([0]));
    inter.swap(&both.local, &mut mine, &mut theirs).await?;
    own.map(|_| Promises::of_bits(bits & words(&theirs)[0]))
}

async fn agreed_on(coll: &CollContext<'_>, own: Promises) -> Result<Promises> {
    let own = [own.no_any_tag, own.no_any_source];
    let [no_any_tag, no_any_source] = everywhere(coll, own).await?;
    Ok(Promises {
        no_any_tag,
        no_any_source,
    })
}

/// Spreads a communicator that nothing was sent on yet.
pub fn rely_on(comm: &Comm, promises: Promises) {
    if promises == Promises::default() {
        return;
    }
    let mapping = comm.engine_mapping();
    comm.set_engine_mapping(mapping.without(promises.no_any_tag, promises.no_any_source));
}

/// The hints that communicators have, besides [`kinds::PROMISE`]; `true` or `false`, which is the default. The library makes use of the first two,
/// and what it does is right whatever the others say.
const KNOWN: [&str; 5] = [
    NO_ANY_TAG,
    NO_ANY_SOURCE,
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
];

/// Which deaths revoke the communicator, and on which members an error of an operation is one: the library has the default of that one only.
const ERROR_RANGE: &str = "mpi_error_range";
const ERROR_UNIFORM: &str = "mpi_error_uniform";
const LOCAL: &str = "local";

/// Sets hints of a communicator; those that are not known, or have no valid value, are passed over.
fn keep(comm: &Comm, new: &Info, may_change: impl Fn(&str) -> bool) -> Result<()> {
    let mut hints = comm.info.lock();
    for (key, value) in new.entries() {
        let is_valid = match key {
            kinds::PROMISE => kinds::are_supported(value),
            ERROR_RANGE => ErrorRange::named(value).is_some(),
            key => KNOWN.contains(&key) && matches!(value, "true" | "false"),
        };
        if is_valid && may_change(key) {
            hints.set(key, value)?;
        }
    }
    let range = hints.get(ERROR_RANGE)?.and_then(ErrorRange::named);
    drop(hints);
    comm.set_error_range(range.unwrap_or_default());
    revocation::look();
    Ok(())
}

/// Gives a new communicator the hints that it was made with.
pub fn give(comm: &Comm, hints: &Info) -> Result<()> {
    keep(comm, hints, |_| true)
}

/// MPI_Comm_set_info. A promise that is relied on stays what it is, which MPI_Comm_get_info tells.
pub fn set(comm: &Comm, new: &Info) -> Result<()> {
    let (tag, source) = comm.engine_mapping().relies_on_none_of();
    keep(comm, new, |key| {
        !(tag && key == NO_ANY_TAG || source && key == NO_ANY_SOURCE)
    })
}

/// MPI_Comm_get_info: the hints in use.
pub fn in_use(comm: &Comm) -> Result<Info> {
    let hints = comm.info.lock();
    let mut used = Info::new();
    for key in KNOWN {
        used.set(key, hints.get(key)?.unwrap_or("false"))?;
    }
    used.set(ERROR_RANGE, hints.get(ERROR_RANGE)?.unwrap_or(LOCAL))?;
    used.set(ERROR_UNIFORM, LOCAL)?;
    if let Some(value) = hints.get(kinds::PROMISE)? {
        used.set(kinds::PROMISE, value)?;
    }
    used.set(kinds::KEY, kinds::ALWAYS)?;
    Ok(used)
}
