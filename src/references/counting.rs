//! The counts of the lifetime schemes that count.
//!
//! Invariant: what is counted is set once, when MPI starts; where nothing is, a message costs one load here.

use crate::handle::{self, Kind, ObjectType};
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use once_cell::race::OnceBox;

/// What requests count references to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Counted {
    Nothing,
    /// References to objects that are not predefined.
    Derived,
    All,
}

/// A [`Counted`].
static COUNTED: AtomicU32 = AtomicU32::new(Counted::Nothing as u32);
/// Whether a request was the last to have something that was freed, since [`has_fallen`] was asked.
static FALLEN: AtomicBool = AtomicBool::new(false);

/// Sets what is counted, when MPI starts.
pub fn count(what: Counted) {
    COUNTED.store(what as u32, Ordering::Release);
}

/// Whether requests count what they use.
#[inline(always)]
pub fn are_counted() -> bool {
    COUNTED.load(Ordering::Relaxed) != Counted::Nothing as u32
}

/// Whether references to this are counted; for schemes that count.
#[inline]
pub fn are_counted_of(is_predefined: bool) -> bool {
    !is_predefined || COUNTED.load(Ordering::Relaxed) == Counted::All as u32
}

pub fn has_fallen() -> bool {
    FALLEN.load(Ordering::Relaxed) && FALLEN.swap(false, Ordering::Acquire)
}

/// A new communicator has this handle.
pub fn begin_communicator(handle: i32) {
    if are_counted()
        && let Some(references) = of_communicator(handle)
    {
        references.begin();
    }
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
        Kind::Builtin if !are_counted_of(true) => None,
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
