//! Settings of context ids.

use super::agreement::Strategy;
use super::space;
#[cfg(feature = "papers")]
use super::store::Kind;
use super::store::Store;
use crate::variables::{Listed, Variable};

/// How members agree.
#[cfg(feature = "papers")]
static STRATEGY: Variable<Strategy> = Variable::new(
    "CONTEXT_STRATEGY",
    Strategy::Lease,
    "How the members of a new communicator agree on its context id. For comparisons.",
)
.same_on_all();
/// The eager part of the space.
pub static EAGER: Variable<u64> = Variable::new(
    "CONTEXT_EAGER_WORDS",
    32,
    "Words of 32 context ids that are for eager allocation, in one step; 0 to 256.",
)
.with_aliases(&["MPIR_CVAR_CTXID_EAGER_SIZE"])
.same_on_all();
/// From id to record.
#[cfg(feature = "papers")]
static STORE: Variable<Kind> = Variable::new(
    "CONTEXT_STORE",
    Kind::Array,
    "How communicators are found by their context id. For comparisons.",
);
/// For tests of what happens when ids run out.
pub static PAGES: Variable<u64> = Variable::new(
    "CONTEXT_PAGES",
    space::PAGES as u64,
    "Communicators there may be, in units of 16384. To find a program that frees none, make it small.",
)
.same_on_all();
/// Prints the mask.
#[cfg(feature = "papers")]
pub static PRINT: Variable<bool> = Variable::new(
    "CONTEXT_PRINT",
    false,
    "Print the mask of free context ids after each change, lowest word first, 1 a free one.",
);

/// All of them.
pub static VARIABLES: &[&dyn Listed] = &[
    #[cfg(feature = "papers")]
    &STRATEGY,
    &EAGER,
    #[cfg(feature = "papers")]
    &STORE,
    &PAGES,
    #[cfg(feature = "papers")]
    &PRINT,
];

/// How members agree.
pub(super) fn strategy() -> Strategy {
    #[cfg(feature = "papers")]
    return STRATEGY.get();
    #[cfg(not(feature = "papers"))]
    Strategy::Lease
}

/// An empty store.
pub(super) fn store<T>() -> Store<T> {
    #[cfg(feature = "papers")]
    return Store::new(STORE.get());
    #[cfg(not(feature = "papers"))]
    Store::default()
}

pub(super) fn eager_words() -> usize {
    EAGER.get().min(space::WORDS as u64 / 2) as usize
}

pub(super) fn pages() -> u32 {
    PAGES.get().clamp(1, u64::from(space::PAGES)) as u32
}
