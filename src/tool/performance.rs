//! Performance variables: what the library counts in any case, and sessions in which tools look at it.
//!
//! Invariant: a session sees nothing of another: starting, stopping and resetting change what one handle shows, never
//! what is counted.

use super::{at, check, next_number};
use crate::constructors::{collector, context};
use crate::engine::{self, Counts, long_wait};
use crate::error::{Class, Result, fail};
use crate::os::schedule;
use crate::process::{self, ThreadLevel};
use parking_lot::Mutex;
use std::collections::BTreeMap;

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
                "Looks in vain of calls that waited, before they let other processes have the core; one that finds its message \
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
        }
    }

    /// The chapter of settings that it belongs to.
    pub fn category(self) -> &'static str {
        match self {
            PostedReceives | UnexpectedMessages | PendingSends | Requests => "protocols",
            UnexpectedBytes | UnexpectedEver | Matches => "protocols",
            EagerMessages | RendezvousMessages | SegmentBytes => "protocols",
            Spins | LongWaits | Sleeps | WakeUps => "waiting",
            CollectorCycles | CollectorEligible | CollectorReclaimed => "lifetimes",
            _ => "context_ids",
        }
    }

    pub fn shows(self) -> Shows {
        match self {
            ContextIdMask => Shows::Generic,
            ContextIdReductions | ContextIdRetries | CommunicatorsMade => Shows::Counter,
            UnexpectedEver | Matches | EagerMessages | RendezvousMessages => Shows::Counter,
            Spins | LongWaits | Sleeps | WakeUps => Shows::Counter,
            SegmentBytes => Shows::Size,
            CollectorCycles | CollectorReclaimed => Shows::Counter,
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
            context::mask_words().len()
        } else {
            1
        }
    }

    /// Counters begin at zero in each handle, high watermarks with what is when they are started; everything else is what it is.
    pub fn is_continuous(self) -> bool {
        !matches!(self.shows(), Shows::Counter | Shows::HighWatermark)
    }

    /// What it is now, for all sessions.
    fn now(self) -> u64 {
        let ids = context::statistics();
        match self {
            ContextIdsFree => context::occupation().0,
            ContextIdsUsed => context::occupation().1,
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

/// A variable as one session sees it.
struct Handle {
    variable: Variable,
    running: bool,
    /// Counted until the last stop; the mark of a watermark.
    sum: u64,
    /// What was counted at the last start.
    base: u64,
}

impl Handle {
    fn is_watermark(&self) -> bool {
        self.variable.shows() == Shows::HighWatermark
    }

    fn value(&self) -> u64 {
        if self.is_watermark() {
            return self.sum;
        }
        if self.variable.is_continuous() {
            return self.variable.now();
        }
        let since = if self.running {
            self.variable.now().wrapping_sub(self.base)
        } else {
            0
        };
        self.sum.wrapping_add(since)
    }

    fn check_writable(&self) -> Result<()> {
        if self.variable.is_continuous() {
            let name = self.variable.name();
            return fail!(Class::TPvarNoWrite, "{name} can only be read");
        }
        Ok(())
    }

    fn run(&mut self, running: bool) {
        if !self.is_watermark() {
            self.write(self.value());
        } else if running && !self.running {
            self.reset();
        }
        self.running = running;
    }

    fn reset(&mut self) {
        let start = match self.is_watermark() {
            true => self.variable.now(),
            false => 0,
        };
        self.write(start);
    }

    fn write(&mut self, value: u64) {
        self.sum = value;
        self.base = self.variable.now();
    }
}

type Session = BTreeMap<usize, Handle>;
static SESSIONS: Mutex<BTreeMap<usize, Session>> = Mutex::new(BTreeMap::new());

pub fn create_session() -> Result<usize> {
    check()?;
    let session = next_number();
    SESSIONS.lock().insert(session, Session::new());
    Ok(session)
}

pub fn free_session(session: usize) -> Result<()> {
    within(session, |_| Ok(()))?;
    SESSIONS.lock().remove(&session);
    Ok(())
}

pub(super) fn end() {
    SESSIONS.lock().clear();
}

/// Raises the marks of all watermarks that are started to what was reached since the last time, so that each of them can begin anew
/// at any moment and the library keeps one number.
fn raise_marks(sessions: &mut BTreeMap<usize, Session>) {
    let most = context::take_most();
    let handles = sessions.values_mut().flat_map(BTreeMap::values_mut);
    for handle in handles.filter(|handle| handle.running && handle.is_watermark()) {
        handle.sum = handle.sum.max(most);
    }
}

fn within<R>(session: usize, work: impl FnOnce(&mut Session) -> Result<R>) -> Result<R> {
    check()?;
    let mut sessions = SESSIONS.lock();
    raise_marks(&mut sessions);
    match sessions.get_mut(&session) {
        Some(found) => work(found),
        None => fail!(
            Class::TInvalidSession,
            "session is {session:#x}, which is no session, or one that was freed"
        ),
    }
}

fn with<R>(
    session: usize,
    handle: usize,
    work: impl FnOnce(&mut Handle) -> Result<R>,
) -> Result<R> {
    within(session, |handles| match handles.get_mut(&handle) {
        Some(found) => work(found),
        None => no_handle(handle),
    })
}

fn no_handle<R>(handle: usize) -> Result<R> {
    fail!(
        Class::TInvalidHandle,
        "handle is {handle:#x}, which is no handle of this session, or one that was freed"
    )
}

/// A handle for a variable in a session, stopped if it can be.
pub fn open(session: usize, index: i32) -> Result<(usize, Variable)> {
    within(session, |handles| {
        let variable = variable(index)?;
        let number = next_number();
        let mut handle = Handle {
            variable,
            running: false,
            sum: 0,
            base: 0,
        };
        handle.reset();
        handles.insert(number, handle);
        Ok((number, variable))
    })
}

pub fn close(session: usize, handle: usize) -> Result<()> {
    within(session, |handles| match handles.remove(&handle) {
        Some(_) => Ok(()),
        None => no_handle(handle),
    })
}

/// What a change does to a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Start,
    Stop,
    Write(u64),
    Reset,
}

/// MPI_T_pvar_readreset, at one moment.
///
/// Errors: MPI_T_ERR_PVAR_NO_WRITE.
pub fn read_and_reset(session: usize, handle: usize) -> Result<u64> {
    with(session, handle, |handle| {
        handle.check_writable()?;
        let value = handle.value();
        handle.reset();
        Ok(value)
    })
}

/// MPI_T_pvar_start, stop, write and reset; without a handle, of all of the session that can be changed.
///
/// Errors: MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_ERR_PVAR_NO_WRITE of what cannot.
pub fn change(session: usize, handle: Option<usize>, change: Change) -> Result<()> {
    let Some(handle) = handle else {
        return within(session, |handles| {
            let all = handles.values_mut();
            all.filter(|handle| !handle.variable.is_continuous())
                .for_each(|handle| apply(handle, change));
            Ok(())
        });
    };
    with(session, handle, |handle| {
        match change {
            Change::Write(_) | Change::Reset => handle.check_writable()?,
            Change::Start | Change::Stop if handle.variable.is_continuous() => {
                let name = handle.variable.name();
                return fail!(Class::TPvarNoStartstop, "{name} is always on");
            }
            Change::Start | Change::Stop => {}
        }
        apply(handle, change);
        Ok(())
    })
}

fn apply(handle: &mut Handle, change: Change) {
    match change {
        Change::Start => handle.run(true),
        Change::Stop => handle.run(false),
        Change::Write(value) => handle.write(value),
        Change::Reset => handle.reset(),
    }
}

/// What a handle shows, and its variable; a mask's words are read by [`context::mask_words`].
pub fn read(session: usize, handle: usize) -> Result<(Variable, u64)> {
    with(session, handle, |handle| {
        Ok((handle.variable, handle.value()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_while_they_run() {
        let mut handle = Handle {
            variable: CommunicatorsMade,
            running: false,
            sum: 0,
            base: 0,
        };
        assert_eq!(handle.value(), 0);
        handle.run(true);
        handle.write(40);
        handle.base = handle.base.wrapping_sub(2); // as if two were made
        assert!(handle.value() >= 42);
        handle.run(false);
        let stopped = handle.value();
        handle.base = handle.base.wrapping_sub(5);
        assert_eq!(handle.value(), stopped);
    }

    #[test]
    fn each_has_an_index_and_sessions_know_their_handles() {
        super::super::init();
        for (index, variable) in Variable::ALL.iter().enumerate() {
            let found = index_of(variable.name(), variable.shows() as i32);
            assert_eq!(found.unwrap(), index);
        }
        assert!(index_of("communicators", Shows::Counter as i32).is_err());
        let (one, two) = (create_session().unwrap(), create_session().unwrap());
        let (handle, _) = open(one, 0).unwrap();
        let stranger = read(two, handle).unwrap_err();
        assert_eq!(stranger.class(), Class::TInvalidHandle);
        let level = change(one, Some(handle), Change::Start).unwrap_err();
        assert_eq!(level.class(), Class::TPvarNoStartstop);
        assert!(change(one, None, Change::Start).is_ok());
        free_session(one).unwrap();
        let gone = read(one, handle).unwrap_err();
        assert_eq!(gone.class(), Class::TInvalidSession);
        free_session(two).unwrap();
    }
}
