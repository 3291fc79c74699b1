//! The thread-safety classes of paper 001, and what an entry of each takes before its body runs.
//!
//! Invariant: no class takes a lock. Below MPI_THREAD_MULTIPLE none takes anything; above it those mark their call, in two
//! stores to the thread's own memory, that go on using an object after others can know of the call and no request says so.

use crate::param::{Param, Small};

/// What a function may meet other threads at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Nothing.
    None,
    /// What never changes in an object, or one value that is replaced.
    AccessOnly,
    /// A reference count.
    UpdateRef,
    /// The engine: requests, matching, messages.
    CommIo,
    /// Other threads make no collective call on the same object.
    Collective,
    /// A list that others may change elsewhere.
    ReadList,
    /// A list that others may change and read.
    UpdateList,
    /// The table of new objects.
    Allocate,
    /// State of its own, which has its own lock, or calls of other classes.
    Own,
    /// The beginning and the end.
    Other,
}

impl Class {
    /// Whether a call goes on using a communicator or datatype after others can know of it.
    ///
    /// A function of class Comm/IO does not: it touches them only until its request is in the pool, where the collector
    /// finds it. In the other classes collective steps, copy and delete callbacks and reduction functions come between.
    const fn goes_on(self) -> bool {
        match self {
            Class::None
            | Class::AccessOnly
            | Class::ReadList
            | Class::UpdateRef
            | Class::CommIo => false,
            Class::Collective | Class::UpdateList | Class::Allocate | Class::Own | Class::Other => {
                true
            }
        }
    }

    /// Whether a call has points everywhere where a cancelled thread would end; in others each such point says so itself.
    pub const fn may_block_in_system(self) -> bool {
        matches!(self, Class::Other)
    }

    /// Whether calls are part of a timeline: queries are not.
    pub const fn is_recorded(self) -> bool {
        !matches!(self, Class::None | Class::AccessOnly)
    }

    /// Whether a call with a parameter of this type is marked because of it.
    pub const fn marks<P: Param<Small>>(self) -> bool {
        self.goes_on() && P::PINS
    }
}
