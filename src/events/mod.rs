//! What happens inside of the library and tools may want to be told of (MPI 5.0, section 15.3.8): what events there are, and
//! raising them.
//!
//! An event is raised wherever it happens, under any lock, and only written down ([`registrations`]); the program's functions
//! run later, where the library holds nothing. Invariant: while nobody listens to an event, raising it costs one load and one
//! branch, and is done where a message needs a system call, a copy or an answer anyhow.

mod registrations;
pub mod timeline;

pub use registrations::{
    Callback, Instance, add, change, deliver, end, free, instance, listen_for_timeline, of,
    set_dropped_handler, wait_to_be_delivered,
};

use crate::os::monotonic_nanoseconds;
use crate::sync::{AtomicU32, AtomicUsize, Ordering};
use crate::variables::{Listed, Variable};

static EVENT_QUEUE: Variable<u64> = Variable::new(
    "EVENT_QUEUE",
    1024,
    "How many events wait for each registration of a tool until they can be told; further ones are dropped and counted.",
);
/// What users can set about events.
pub static VARIABLES: &[&dyn Listed] = &[&EVENT_QUEUE];

/// How many events wait for a registration that has no wish of its own.
pub fn most_waiting() -> usize {
    EVENT_QUEUE.get().clamp(1, 1 << 20) as usize
}

/// What an element of an event's data is in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `int`
    Int(&'static str),
    /// `unsigned long`
    Long(&'static str),
}

impl Element {
    pub fn bytes(self) -> usize {
        match self {
            Element::Int(_) => 4,
            Element::Long(_) => 8,
        }
    }
}

macro_rules! events {
    ($($name:ident)*) => {
        /// The events, in the order of their indices.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event {
            $($name),*
        }

        impl Event {
            pub const ALL: &[Event] = &[$(Event::$name),*];
        }
    };
}

events! {
    UnexpectedMessage
    RendezvousBegun
    RendezvousCompleted
    SleepBegun
    SleepEnded
    ContextIdRetry
    CommunicatorCreated
    CommunicatorFreed
    CollectorCycle
    PeerLost
}

/// The values of an event's elements; those that it does not have are zero.
pub type Values = [u64; 5];

/// What a callback must be fit for, with MPI's numbers: one that is fit for more can be called where less is needed.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safety {
    None = 0,
    MpiRestricted = 1,
    ThreadSafe = 2,
    AsyncSignalSafe = 3,
}

impl Safety {
    pub const ALL: [Safety; 4] = [
        Safety::None,
        Safety::MpiRestricted,
        Safety::ThreadSafe,
        Safety::AsyncSignalSafe,
    ];
}

/// The events that somebody listens to, a set of bits.
static LISTENED: AtomicU32 = AtomicU32::new(0);

/// The word that every entry looks at: the state of the process ([`crate::process`]), and whether events wait to be told.
pub static GATE: AtomicU32 = AtomicU32::new(0);
/// In [`GATE`]: events wait.
pub const WAIT: u32 = 1 << 16;
/// In [`GATE`]: calls tell what memory they use ([`crate::engine`]'s buffers in use).
pub const CHECKED: u32 = 1 << 18;

/// The last number given out to something of the tool interface. Small ones are no addresses, and could be taken for
/// constants.
static NUMBERS: AtomicUsize = AtomicUsize::new(0x1000);

/// A number for a handle, given out once, so that a stale one is found out.
pub fn next_number() -> usize {
    NUMBERS.fetch_add(16, Ordering::Relaxed)
}

/// The ticks of the source of all events: nanoseconds.
pub fn now() -> u64 {
    monotonic_nanoseconds()
}

impl Event {
    fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Whether somebody wants to know.
    #[inline(always)]
    pub fn is_heard(self) -> bool {
        LISTENED.load(Ordering::Relaxed) & self.bit() != 0
    }
}

/// Says that something has happened; `values` is asked for only if somebody listens.
#[inline(always)]
pub fn raise(event: Event, values: impl FnOnce() -> Values) {
    if event.is_heard() {
        registrations::keep(event, values());
    }
}

/// A number that may be negative, such as a rank or tag, as the value of an [`Element::Int`].
#[inline]
pub fn int(value: i32) -> u64 {
    u64::from(value as u32)
}

/// What a message is known by: context id and type of context, rank and tag, bytes.
#[inline]
pub fn message(context: u32, rank: i32, tag: i32, bytes: usize) -> Values {
    let (id, kind) = (context & !3, context & 3);
    [id.into(), kind.into(), int(rank), int(tag), bytes as u64]
}
