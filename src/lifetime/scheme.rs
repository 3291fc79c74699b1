//! The settings that choose a scheme of paper 003, and what the schemes count.

use crate::choice;
use crate::references::{self, Counted};
use crate::variables::{Listed, Variable};

choice! {
    /// See the variable's text.
    enum Scheme {
        Collected = "collected",
        Suppressed = "suppressed",
        Counting = "counting",
        Never = "never",
    }
}

static LIFETIME: Variable<Scheme> = Variable::new(
    "LIFETIME",
    Scheme::Collected,
    "How it is known that a freed communicator or datatype is in use no more: collected looks at the pending operations \
     from time to time, and a message counts nothing; counting counts the references of all requests, suppressed only those to \
     what is not predefined. never counts nothing and gives nothing back: a bound for measurements, not for programs.",
);
static COLLECT_AT: Variable<u64> = Variable::new(
    "COLLECT_AT",
    super::ENOUGH as u64,
    "So many freed communicators and datatypes wait before the pending operations are looked at, where looking costs \
     something; a program that frees large types while messages are pending may want fewer.",
);

pub static VARIABLES: &[&dyn Listed] = &[&LIFETIME, &COLLECT_AT];

/// Whether freed objects are given back at all.
pub fn gives_back() -> bool {
    LIFETIME.get() != Scheme::Never
}

/// See the variable.
pub fn threshold() -> usize {
    COLLECT_AT.get().max(1) as usize
}

/// Reads the scheme, when MPI starts.
pub fn start() {
    references::count(match LIFETIME.get() {
        Scheme::Collected | Scheme::Never => Counted::Nothing,
        Scheme::Suppressed => Counted::Derived,
        Scheme::Counting => Counted::All,
    });
}
