//! The performance variables: what each is called and shows, and where the library counts it.
//!
//! Invariant: what is read here is what was counted for all sessions; nothing here changes it.

use super::super::{at, check};
use crate::coll::choose::report::{self, Route};
use crate::context_id;
use crate::engine::{self, Counts, long_wait};
use crate::error::{Class, Result, fail};
use crate::lifetime::collector;
use crate::node;
use crate::os::schedule;
use crate::process::{self, ThreadLevel};

/// What kind of thing a variable shows, with MPI's numbers.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    Level = 241,
    Size = 242,
    HighWatermark = 244,
    Counter = 246,
    Generic = 249,
}

macro_rules! variables {
    ($($name:ident)*) => {
        /// The variables, in the order of their indices.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Variable {
            $($name),*
        }

        impl Variable {
            pub const ALL: &[Variable] = &[$(Variable::$name),*];
        }
    };
}

variables! {
    ContextIdsFree
    ContextIdsUsed
    ContextIdMask
    ContextIdReductions
    ContextIdRetries
    Communicators
    CommunicatorsMost
    CommunicatorsMade
    PostedReceives
    UnexpectedMessages
    UnexpectedBytes
    UnexpectedEver
    Matches
    EagerMessages
    RendezvousMessages
    Spins
    LongWaits
    Sleeps
    WakeUps
    SegmentBytes
    PendingSends
    Requests
    CollectorCycles
    CollectorEligible
    CollectorReclaimed
    Oversubscribed
    CollectorLooks
    CollectivesStaged
    CollectivesByMessages
    CollectivesTwoLevels
    NetRecords
    NetBytesCopied
    NetBytesStraight
    NetRecordsFurther
    EngineLocks
}

use Variable::*;

impl Variable {
    pub fn name(self) -> &'static str {
        match self {
            ContextIdsFree => "context_ids_free",
            ContextIdsUsed => "context_ids_used",
            ContextIdMask => "context_id_mask",
            ContextIdReductions => "context_id_reductions",
            ContextIdRetries => "context_id_retries",
            Communicators => "communicators",
            CommunicatorsMost => "communicators_most",
            CommunicatorsMade => "communicators_made",
            PostedReceives => "posted_recvq_length",
            UnexpectedMessages => "unexpected_recvq_length",
            UnexpectedBytes => "unexpected_recvq_buffer_size",
            UnexpectedEver => "unexpected_messages",
            Matches => "matches",
            EagerMessages => "eager_messages",
            RendezvousMessages => "rendezvous_messages",
            Spins => "spins",
            LongWaits => "long_waits",
            Sleeps => "sleeps",
            WakeUps => "wake_ups",
            SegmentBytes => "segment_bytes",
            PendingSends => "pending_sends",
            Requests => "requests",
            CollectorCycles => "collector_cycles",
            CollectorEligible => "collector_eligible",
            CollectorReclaimed => "collector_reclaimed",
            Oversubscribed => "oversubscribed",
            CollectorLooks => "collector_looks",
            CollectivesStaged => "collectives_staged",
            CollectivesByMessages => "collectives_by_messages",
            CollectivesTwoLevels => "collectives_two_levels",
            NetRecords => "net_records",
            NetBytesCopied => "net_bytes_copied",
            NetBytesStraight => "net_bytes_straight",
            NetRecordsFurther => "net_records_further",
            EngineLocks => "engine_locks",
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            ContextIdsFree => "Context ids of the 16-bit space that are free on this process.",
            ContextIdsUsed => {
                "Context ids that are taken on this process, those leased to parents and the predefined ones included."
            }
            ContextIdMask => {
                "The mask of the 16-bit space of context ids: 512 words of 32 ids, lowest word first, 1 a free id."
            }
            ContextIdReductions => {
                "Reductions of this process's agreements on context ids; an id that was leased before needs none."
            }
            ContextIdRetries => "Reductions after the first one of their agreement.",
            Communicators => {
                "Communicators that live on this process, the predefined ones not counted."
            }
            CommunicatorsMost => {
                "The most communicators that lived at one time while the handle was started, since its start or reset."
            }
            CommunicatorsMade => "Communicators made.",
            PostedReceives => "Receives that have not met their message.",
            UnexpectedMessages => "Messages that nobody has asked for yet.",
            UnexpectedBytes => "Bytes kept of messages that nobody has asked for yet.",
            UnexpectedEver => "Messages that came before somebody asked for them.",
            Matches => {
                "Messages and receives that met in one of the queues; a blocking receive that needs no request is not counted."
            }
            EagerMessages => "Messages sent without waiting for the receiver's answer.",
            RendezvousMessages => {
                "Messages of which the receiver answers that it has matched them: large ones, and synchronous sends."
            }
            Spins => {
                "Idle polls of waiting calls, before they yield the core; one that finds its message \
                 at once has none."
            }
            LongWaits => {
                "Calls that waited for so long that they let other processes have the core."
            }
            Sleeps => "How often such calls slept until they were woken.",
            WakeUps => "How often this process woke one that slept, itself included.",
            SegmentBytes => "Bytes of the memory that the ranks of the node share.",
            PendingSends => "Sends that are not done.",
            Requests => "Requests that live, those inside calls included.",
            CollectorCycles => {
                "Cycles of the collector of freed communicators and datatypes, each a look at the pending operations."
            }
            CollectorEligible => {
                "Freed communicators and datatypes that wait for a cycle, or for operations that use them."
            }
            CollectorReclaimed => "Communicators and datatypes that cycles gave back.",
            Oversubscribed => {
                "1 where more ranks run on the node than there are cores for them by affinity and CPU quota, else 0."
            }
            CollectorLooks => {
                "Slots of requests, free ones included, and freed objects that cycles looked at."
            }
            CollectivesStaged => {
                "Collective operations that went through memory that the ranks of a node share, since the first MPI_T_init_thread."
            }
            CollectivesByMessages => {
                "Collective operations that went by messages, since the first MPI_T_init_thread."
            }
            CollectivesTwoLevels => {
                "Collective operations within the nodes and between their leaders, since the first MPI_T_init_thread."
            }
            NetRecords => {
                "Records sent over the fabric between nodes: packets, and what its ends tell each other."
            }
            NetBytesCopied => {
                "Bytes of messages that were copied into send buffers of the fabric, or out of receive buffers."
            }
            NetRecordsFurther => {
                "Those of the records sent over the fabric that went by other engines than the first."
            }
            EngineLocks => {
                "1 where a call takes a lock to enter an engine: at MPI_THREAD_MULTIPLE, and while there is a window over several hosts; else 0."
            }
            NetBytesStraight => {
                "Bytes of messages that the fabric took straight out of buffers of the program, or brought there."
            }
        }
    }

    /// The chapter of settings that it belongs to.
    pub fn category(self) -> &'static str {
        match self {
            PostedReceives | UnexpectedMessages | PendingSends | Requests => "protocols",
            UnexpectedBytes | UnexpectedEver | Matches => "protocols",
            EagerMessages | RendezvousMessages | SegmentBytes => "protocols",
            NetRecords | NetRecordsFurther | NetBytesCopied | NetBytesStraight => "protocols",
            Spins | LongWaits | Sleeps | WakeUps | Oversubscribed => "waiting",
            CollectorCycles | CollectorEligible | CollectorReclaimed | CollectorLooks => {
                "lifetimes"
            }
            CollectivesStaged | CollectivesByMessages | CollectivesTwoLevels => "collectives",
            EngineLocks => "threads",
            _ => "context_ids",
        }
    }

    pub fn shows(self) -> Shows {
        match self {
            ContextIdMask => Shows::Generic,
            ContextIdReductions | ContextIdRetries | CommunicatorsMade => Shows::Counter,
            UnexpectedEver | Matches | EagerMessages | RendezvousMessages => Shows::Counter,
            Spins | LongWaits | Sleeps | WakeUps => Shows::Counter,
            NetRecords | NetRecordsFurther | NetBytesCopied | NetBytesStraight => Shows::Counter,
            SegmentBytes => Shows::Size,
            CollectorCycles | CollectorReclaimed | CollectorLooks => Shows::Counter,
            CollectivesStaged | CollectivesByMessages | CollectivesTwoLevels => Shows::Counter,
            CommunicatorsMost => Shows::HighWatermark,
            _ => Shows::Level,
        }
    }

    /// Whether it is an array of 32-bit words instead of a 64-bit number.
    pub fn is_mask(self) -> bool {
        self == ContextIdMask
    }

    /// How many elements it has.
    pub fn count(self) -> usize {
        if self.is_mask() {
            context_id::mask_words().len()
        } else {
            1
        }
    }

    /// Counters begin at zero in each handle, high watermarks with what is when they are started; everything else is what it is.
    pub fn is_continuous(self) -> bool {
        !matches!(self.shows(), Shows::Counter | Shows::HighWatermark)
    }

    /// What it is now, for all sessions.
    pub fn now(self) -> u64 {
        let ids = context_id::statistics();
        match self {
            ContextIdsFree => context_id::occupation().0,
            ContextIdsUsed => context_id::occupation().1,
            ContextIdMask => 0,
            ContextIdReductions => ids.reductions,
            ContextIdRetries => ids.retries,
            Communicators => ids.live,
            CommunicatorsMost => ids.live,
            CommunicatorsMade => ids.made,
            PostedReceives => counts().posted,
            UnexpectedMessages => counts().unexpected,
            UnexpectedBytes => counts().unexpected_bytes,
            UnexpectedEver => counts().unexpected_ever,
            Matches => counts().matches,
            EagerMessages => counts().eager,
            RendezvousMessages => counts().rendezvous,
            Spins => counts().spins,
            LongWaits => long_wait::long_waits(),
            Sleeps => schedule::sleeps_and_wake_ups().0,
            WakeUps => schedule::sleeps_and_wake_ups().1,
            SegmentBytes => process::job().map_or(0, |job| job.segment_bytes),
            PendingSends => counts().sending,
            Requests => counts().requests,
            CollectorCycles => collector::statistics().cycles,
            CollectorEligible => collector::statistics().eligible,
            CollectorReclaimed => collector::statistics().reclaimed,
            Oversubscribed => node::here()
                .is_some_and(|node| node.is_oversubscribed())
                .into(),
            CollectorLooks => collector::statistics().looks,
            CollectivesStaged => report::counted(Route::Staged),
            CollectivesByMessages => report::counted(Route::ByMessages),
            CollectivesTwoLevels => report::counted(Route::TwoLevels),
            NetRecords => counts().net_records,
            NetBytesCopied => counts().net_copied,
            NetBytesStraight => counts().net_straight,
            NetRecordsFurther => counts().net_further,
            EngineLocks => engine::has_threads().into(),
        }
    }
}

/// A tool's thread may be none that may call MPI: then it sees what was last said.
fn counts() -> Counts {
    if process::thread_level() == ThreadLevel::Multiple || process::is_main_thread() {
        engine::counts()
    } else {
        engine::counts_of_last_wait()
    }
}

/// The variable with an index.
pub fn variable(index: i32) -> Result<Variable> {
    check()?;
    at(Variable::ALL, "pvar_index", index)
}

pub fn index_of(name: &str, shows: i32) -> Result<usize> {
    check()?;
    let called = |one: &Variable| one.name() == name && one.shows() as i32 == shows;
    match Variable::ALL.iter().position(called) {
        Some(index) => Ok(index),
        None => fail!(
            Class::TInvalidName,
            "no performance variable of class {shows} is called {name}"
        ),
    }
}
