//! Settings of context ids, and how members find out that theirs differ.

use super::agreement::{self, Strategy};
use super::space;
use super::store::Kind;
use crate::variables::{Listed, Variable};

/// How members agree.
pub static STRATEGY: Variable<Strategy> = Variable::new(
    "CONTEXT_STRATEGY",
    Strategy::Lease,
    "How the members of a new communicator agree on its context id; the same on all ranks. For comparisons.",
)
.same_on_all();
/// The eager part of the space.
pub static EAGER: Variable<u64> = Variable::new(
    "CONTEXT_EAGER_WORDS",
    32,
    "Words of 32 context ids that are for eager allocation, in one step; 0 to 256, the same on all ranks.",
)
.with_aliases(&["MPIR_CVAR_CTXID_EAGER_SIZE"])
.same_on_all();
/// From id to record.
pub static STORE: Variable<Kind> = Variable::new(
    "CONTEXT_STORE",
    Kind::Array,
    "How communicators are found by their context id. For comparisons.",
);
/// For tests of what happens when ids run out.
pub static PAGES: Variable<u64> = Variable::new(
    "CONTEXT_PAGES",
    space::PAGES as u64,
    "Communicators there may be, in units of 16384; the same on all ranks. To find a program that frees none, make it small.",
)
.same_on_all();
/// The report of live communicators.
pub static REPORT: Variable<bool> = Variable::new(
    "CONTEXT_REPORT",
    false,
    "At MPI_Finalize, and when context ids run out, say where the communicators that live were made, most first.",
);
/// Prints the mask.
pub static PRINT: Variable<bool> = Variable::new(
    "CONTEXT_PRINT",
    false,
    "Print the mask of free context ids after each change, lowest word first, 1 a free one.",
);

/// All of them.
pub static VARIABLES: &[&dyn Listed] = &[&STRATEGY, &EAGER, &STORE, &PAGES, &REPORT, &PRINT];

pub(super) fn eager_words() -> usize {
    EAGER.get().min(space::WORDS as u64 / 2) as usize
}

pub(super) fn pages() -> u32 {
    PAGES.get().clamp(1, u64::from(space::PAGES)) as u32
}

/// What members of a communicator must have the same, in one word, not zero; each rank shows its own to the others.
pub fn settings_word() -> u64 {
    u64::from(pages()) << 32 | (STRATEGY.get() as u64) << 16 | eager_words() as u64
}

/// The first setting that differs in the words of two ranks: its name and both values.
pub(super) fn difference(one: u64, other: u64) -> (String, [String; 2]) {
    let strategy = |word: u64| {
        let named = agreement::ALL.get((word >> 16 & 0xffff) as usize);
        named.map_or_else(|| "unknown".to_owned(), Strategy::to_string)
    };
    let strategies = [strategy(one), strategy(other)];
    if strategies[0] != strategies[1] {
        return (STRATEGY.name(), strategies);
    }
    let words = [one, other].map(|word| (word & 0xffff).to_string());
    if words[0] != words[1] {
        return (EAGER.name(), words);
    }
    (
        PAGES.name(),
        [one, other].map(|word| (word >> 32).to_string()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let word = |pages: u64, strategy: Strategy, words: u64| {
            pages << 32 | (strategy as u64) << 16 | words
        };
        let own = word(9, Strategy::Lease, 32);
        for (other, name, values) in [
            (
                word(9, Strategy::Queue, 32),
                "OXMPI_CONTEXT_STRATEGY",
                ["lease", "queue"],
            ),
            (
                word(9, Strategy::Lease, 2),
                "OXMPI_CONTEXT_EAGER_WORDS",
                ["32", "2"],
            ),
            (
                word(1, Strategy::Lease, 32),
                "OXMPI_CONTEXT_PAGES",
                ["9", "1"],
            ),
        ] {
            let found = difference(own, other);
            assert_eq!(found, (name.to_owned(), values.map(str::to_owned)));
        }
    }
}
