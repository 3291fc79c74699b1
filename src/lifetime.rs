//! How it is known that a freed communicator or datatype is in use no more: the schemes of paper 003.
//!
//! Invariant: the scheme is read once, and never changes; where nothing is counted a message costs one load here.

use crate::choice;
use crate::handle::{self, Kind, ObjectType};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::variables::{Listed, Variable};
use once_cell::race::OnceBox;

choice! {
    /// See the variable's text.
    pub enum Scheme {
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
    64,
    "So many freed communicators and datatypes wait before the pending operations are looked at, where looking costs \
     something; a program that frees large types while messages are pending may want fewer.",
);

pub static VARIABLES: &[&dyn Listed] = &[&LIFETIME, &COLLECT_AT];

pub fn scheme() -> Scheme {
    LIFETIME.get()
}

/// See the variable.
pub fn threshold() -> usize {
    COLLECT_AT.get().max(1) as usize
}

/// What requests count: nothing, references to what is not predefined, all.
static COUNTS: AtomicU32 = AtomicU32::new(NOTHING);
const NOTHING: u32 = 0;
const DERIVED: u32 = 1;
const ALL: u32 = 2;
/// Whether a request was the last to have something that was freed, since [`has_fallen`] was asked.
static FALLEN: AtomicBool = AtomicBool::new(false);

/// Reads the scheme, when MPI starts.
pub fn start() {
    let counts = match scheme() {
        Scheme::Collected | Scheme::Never => NOTHING,
        Scheme::Suppressed => DERIVED,
        Scheme::Counting => ALL,
    };
    COUNTS.store(counts, Ordering::Release);
}

/// Whether requests count what they use.
#[inline(always)]
pub fn counts() -> bool {
    COUNTS.load(Ordering::Relaxed) != NOTHING
}

/// Whether references to this are counted; for schemes that count.
#[inline]
pub fn counts_of(is_predefined: bool) -> bool {
    !is_predefined || COUNTS.load(Ordering::Relaxed) == ALL
}

pub fn has_fallen() -> bool {
    FALLEN.load(Ordering::Relaxed) && FALLEN.swap(false, Ordering::Acquire)
}

/// Communicators made so far.
static COMMUNICATORS_MADE: AtomicU64 = AtomicU64::new(0);

pub fn communicators_made() -> u64 {
    COMMUNICATORS_MADE.load(Ordering::Acquire)
}

/// A new communicator: how many were made before.
pub fn begin_communicator(handle: i32) -> u64 {
    if counts()
        && let Some(references) = of_communicator(handle)
    {
        references.begin();
    }
    COMMUNICATORS_MADE.fetch_add(1, Ordering::AcqRel)
}

/// References that are counted: the program's, which is there from the birth to the free, and the requests'.
pub struct References(AtomicU32);

impl References {
    pub const fn of_program() -> References {
        References(AtomicU32::new(1))
    }

    #[inline]
    pub fn take(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// True if it was the last.
    #[inline]
    pub fn give(&self) -> bool {
        let last = self.0.fetch_sub(1, Ordering::Release) == 1; // pairs with `are_gone`
        if last {
            FALLEN.store(true, Ordering::Release);
        }
        last
    }

    pub fn are_gone(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Of a new object in the place of one that is gone.
    pub fn begin(&self) {
        self.0.store(1, Ordering::Relaxed);
    }
}

/// The counts of communicators by handle: requests, which have it, are floors below the objects.
struct Counts {
    builtin: [Line; 32],
    direct: [Line; 256],
    blocks: [OnceBox<[Line; 1 << 12]>; 1 << 14],
}

/// A count in a cache line of its own, as it would have in the object.
#[repr(align(64))]
struct Line(References);

impl Line {
    const fn new() -> Line {
        Line(References::of_program())
    }
}

static COMMUNICATORS: Counts = Counts {
    builtin: [const { Line::new() }; 32],
    direct: [const { Line::new() }; 256],
    blocks: [const { OnceBox::new() }; 1 << 14],
};

/// The counted references to the object that an operation is on; nothing for what is not counted. Communicators are.
#[inline]
pub fn of_object(owner: i32) -> Option<&'static References> {
    match handle::object_type(owner) {
        Some(ObjectType::Comm) => of_communicator(owner),
        _ => None,
    }
}

/// The counted references to a communicator; nothing for one that is not counted.
#[inline]
pub fn of_communicator(communicator: i32) -> Option<&'static References> {
    let position = handle::index(communicator) as usize;
    let line = match handle::kind(communicator) {
        Kind::Invalid => None,
        Kind::Builtin if !counts_of(true) => None,
        Kind::Builtin => COMMUNICATORS.builtin.get(position),
        Kind::Direct => COMMUNICATORS.direct.get(position),
        Kind::Indirect => {
            let new = || Box::new([const { Line::new() }; 1 << 12]);
            let block = COMMUNICATORS.blocks[position >> 12].get_or_init(new);
            block.get(position & 0xfff)
        }
    };
    line.map(|line| &line.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{ObjectType, builtin, direct, indirect, null};

    #[test]
    fn the_last_reference_is_noticed() {
        let of = |handle| of_communicator(handle).unwrap();
        let (one, other) = (
            direct(ObjectType::Comm, 7),
            indirect(ObjectType::Comm, 3, 9),
        );
        for handle in [one, other] {
            of(handle).begin();
            of(handle).take();
            assert!(!of(handle).give());
            assert!(!of(handle).are_gone());
            assert!(of(handle).give() && of(handle).are_gone());
            assert!(has_fallen() && !has_fallen());
        }
        assert!(of_communicator(null(ObjectType::Comm)).is_none());
        // The scheme of tests counts nothing, and so nothing predefined.
        assert!(of_communicator(builtin(ObjectType::Comm, 0)).is_none());
    }
}
