//! What the timeline is told (docs/timeline.md): records of calls, of completed receives and of events, written by each thread to a lane of its own.
//!
//! Invariant: a thread never waits for the reader: where its lane is full the record is dropped and counted. Without
//! `mpiexec -timeline` nothing here is called but [`is_on`].

pub mod layout;

use super::{Event, GATE, Values};
use crate::os::memory::Mapping;
use crate::os::{monotonic_nanoseconds, ticks};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use layout::{Kind, LANES, MAGIC, NAME_BYTES, NAMES, RANK_BYTES, Record, about};
use parking_lot::Mutex;
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

/// In [`GATE`]: calls are recorded.
pub const RECORDED: u32 = 1 << 17;

/// Where the records go.
struct Timeline {
    words: &'static [AtomicU64],
    counter: bool,
    /// Lanes that threads have, a set of bits.
    taken: AtomicU32,
    /// Of the last lane.
    shared: Mutex<()>,
    names: Mutex<()>,
}

static TIMELINE: OnceLock<Timeline> = OnceLock::new();

/// Contexts whose communicator was told, by a few of their bits.
static TOLD: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

const SHARED: u32 = LANES as u32 - 1;
const NO_LANE: u32 = u32::MAX;

/// Gives a lane back when its thread ends.
struct Owner(Cell<u32>);

impl Drop for Owner {
    fn drop(&mut self) {
        LANE.set(NO_LANE);
        if let Some(timeline) = TIMELINE.get()
            && self.0.get() < SHARED
        {
            timeline
                .taken
                .fetch_and(!(1 << self.0.get()), Ordering::AcqRel);
        }
    }
}

/// What a call that blocks has received, for its own record.
#[derive(Clone, Copy)]
enum Receiving {
    /// No such call, or one whose message has a record of its own.
    No,
    Awaited,
    Received {
        source: i32,
        tag: i32,
        context: u32,
        bytes: u64,
    },
}

thread_local! {
    static RECEIVING: Cell<Receiving> = const { Cell::new(Receiving::No) };
    static LANE: Cell<u32> = const { Cell::new(NO_LANE) };
    static OWNER: Owner = const { Owner(Cell::new(NO_LANE)) };
    /// When this thread fell asleep.
    static ASLEEP: Cell<u64> = const { Cell::new(0) };
}

/// Whether calls are recorded.
#[inline(always)]
pub fn is_on() -> bool {
    GATE.load(Ordering::Relaxed) & RECORDED != 0
}

/// Begins to record, to this seat of a memfd of mpiexec's; what it wants to know of events is settled by [`super::listen_for_timeline`].
///
/// Errors: it cannot be mapped, or is of another build.
pub fn begin(fd: BorrowedFd<'_>, seat: usize) -> io::Result<()> {
    let offset = seat as u64 * RANK_BYTES;
    let map = Mapping::of_part(fd, offset, RANK_BYTES as usize)?;
    map.leave_out_of_core_dumps()?;
    let words = map.leak().words();
    if words[layout::MAGIC_AT].load(Ordering::Relaxed) != MAGIC {
        return Err(io::Error::other("mpiexec and libmpi are of two builds"));
    }
    let counter = words[layout::COUNTER_AT].load(Ordering::Relaxed) != 0;
    let timeline = Timeline {
        words,
        counter,
        taken: AtomicU32::new(0),
        shared: Mutex::new(()),
        names: Mutex::new(()),
    };
    if TIMELINE.set(timeline).is_ok() {
        GATE.fetch_or(RECORDED, Ordering::Relaxed);
    }
    Ok(())
}

/// MPI_Pcontrol: calls are recorded from now on, or no more. Nothing without a timeline.
pub fn switch(on: bool) {
    if TIMELINE.get().is_none() {
        return;
    }
    match on {
        true => GATE.fetch_or(RECORDED, Ordering::Relaxed),
        false => GATE.fetch_and(!RECORDED, Ordering::Relaxed),
    };
}

/// Which events are written down.
pub(super) fn events() -> u32 {
    match is_on() {
        true => {
            Event::SleepBegun.bit()
                | Event::SleepEnded.bit()
                | Event::UnexpectedMessage.bit()
                | Event::RendezvousBegun.bit()
                | Event::PeerLost.bit()
        }
        false => 0,
    }
}

/// The time, in ticks.
#[inline(always)]
pub fn now() -> u64 {
    match TIMELINE.get() {
        Some(timeline) if timeline.counter => ticks(),
        _ => monotonic_nanoseconds(),
    }
}

/// A function, with the number that it gets when it is first called.
pub struct Function {
    name: &'static str,
    /// One more than the number.
    number: AtomicU32,
}

impl Function {
    pub const fn new(name: &'static str) -> Function {
        Function {
            name,
            number: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    fn number(&self) -> u16 {
        match self.number.load(Ordering::Relaxed) {
            0 => self.get_number(),
            number => (number - 1) as u16,
        }
    }

    #[cold]
    fn get_number(&self) -> u16 {
        let Some(timeline) = TIMELINE.get() else {
            return 0;
        };
        let number = timeline.tell_name(self.name, &self.number);
        (number.max(1) - 1) as u16
    }
}

/// Writes a record down.
#[inline]
pub fn write(record: &Record) {
    let Some(timeline) = TIMELINE.get() else {
        return;
    };
    let lane = match LANE.get() {
        NO_LANE => timeline.take_lane(),
        lane => lane,
    };
    if lane == SHARED {
        let _alone = timeline.shared.lock();
        return timeline.push(lane as usize, record);
    }
    timeline.push(lane as usize, record);
}

/// This thread begins a call that receives one message.
#[inline(always)]
pub fn await_one() {
    RECEIVING.set(Receiving::Awaited);
}

/// A receive has completed; `handle` is 0 where the call blocks.
pub fn received(handle: i32, source: i32, tag: i32, context: u32, bytes: u64) {
    if !is_on() {
        return;
    }
    if handle == 0 && matches!(RECEIVING.get(), Receiving::Awaited) {
        return RECEIVING.set(Receiving::Received {
            source,
            tag,
            context,
            bytes,
        });
    }
    write(&Record {
        begin: now(),
        function: about::RECEIVED,
        peer: source,
        tag,
        context,
        extra: handle,
        bytes,
        ..Record::default()
    });
}

/// The call that began with [`await_one`] ends: its record has the message that came.
#[inline(always)]
pub fn add_received(call: &mut Record) {
    if let Receiving::Received {
        source,
        tag,
        context,
        bytes,
    } = RECEIVING.replace(Receiving::No)
    {
        call.peer = source;
        call.tag = tag;
        call.context = context;
        call.bytes = bytes;
        call.extra = layout::HAS_RECEIVED;
    }
}

/// Writes a call down that has ended.
#[inline]
pub fn called(function: &Function, call: Record) {
    write(&Record {
        duration: now().saturating_sub(call.begin),
        function: function.number(),
        ..call
    });
}

/// A moment that may lie before the timeline's beginning, by both clocks.
pub struct Moment {
    ticks: u64,
    nanoseconds: u64,
}

impl Moment {
    pub fn now() -> Moment {
        Moment {
            ticks: ticks(),
            nanoseconds: monotonic_nanoseconds(),
        }
    }
}

/// Writes down a call that began then and ends now, and has no arguments of interest.
pub fn spanned(function: &Function, begin: &Moment) {
    if let Some(timeline) = TIMELINE.get() {
        let nothing = Record {
            begin: match timeline.counter {
                true => begin.ticks,
                false => begin.nanoseconds,
            },
            kind: Kind::Other,
            peer: layout::NONE,
            tag: layout::NONE,
            extra: layout::NONE,
            ..Record::default()
        };
        called(function, nothing);
    }
}

/// Whether a communicator with this context was told before; it counts as told then.
pub fn is_told(context: u32) -> bool {
    let bit = (context >> 2) as usize;
    let word = &TOLD[bit / 64 % TOLD.len()];
    let mask = 1 << (bit % 64);
    word.load(Ordering::Relaxed) & mask != 0 || word.fetch_or(mask, Ordering::Relaxed) & mask != 0
}

/// Tells what a communicator is called.
#[cold]
pub fn tell_communicator(context: u32, title: &str) {
    if let Some(timeline) = TIMELINE.get() {
        timeline.tell_name(&format!("={context} {title}"), &AtomicU32::new(0));
    }
}

/// An event that the timeline wants.
pub(super) fn happened(event: Event, values: &Values) {
    if events() & event.bit() == 0 {
        return;
    }
    let now = now();
    let begin = match event {
        Event::SleepBegun => return ASLEEP.set(now),
        // 0: it was switched on meanwhile.
        Event::SleepEnded => match ASLEEP.replace(0) {
            0 => return,
            begin => begin,
        },
        _ => 0,
    };
    let record = match begin {
        0 => Record {
            begin: now,
            function: about::HAPPENED,
            context: (values[0] | values[1]) as u32,
            peer: values[2] as i32,
            tag: values[3] as i32,
            bytes: values[4],
            extra: event as i32,
            ..Record::default()
        },
        begin => Record {
            begin,
            duration: now.saturating_sub(begin),
            function: about::SLEPT,
            ..Record::default()
        },
    };
    write(&record);
}

impl Timeline {
    #[cold]
    fn take_lane(&self) -> u32 {
        let free = |taken: u32| (!taken).trailing_zeros().min(SHARED);
        let take = |taken: u32| Some(taken | 1 << free(taken));
        let before = (self.taken).fetch_update(Ordering::AcqRel, Ordering::Relaxed, take);
        let lane = free(before.unwrap_or(u32::MAX));
        // A thread that is ending has none to give back.
        let owned = OWNER.try_with(|owner| owner.0.set(lane)).is_ok();
        if !owned {
            if lane != SHARED {
                self.taken.fetch_and(!(1 << lane), Ordering::AcqRel);
            }
            return SHARED;
        }
        LANE.set(lane);
        lane
    }

    #[inline(always)]
    fn push(&self, lane: usize, record: &Record) {
        let head = layout::head(lane);
        let words = self.words;
        let number = words[head.written].load(Ordering::Relaxed);
        let known = words[head.known].load(Ordering::Relaxed);
        if number - known >= layout::SLOTS as u64 && self.is_full(lane, number) {
            return;
        }
        let slot = layout::slot(lane, number);
        for (word, value) in words[slot..slot + layout::WORDS].iter().zip(record.words()) {
            word.store(value, Ordering::Relaxed);
        }
        words[head.written].store(number + 1, Ordering::Release);
    }

    #[cold]
    fn is_full(&self, lane: usize, number: u64) -> bool {
        let head = layout::head(lane);
        let read = self.words[head.read].load(Ordering::Acquire);
        self.words[head.known].store(read, Ordering::Relaxed);
        let full = number - read >= layout::SLOTS as u64;
        if full {
            self.words[head.dropped].fetch_add(1, Ordering::Relaxed);
        }
        full
    }

    /// Writes a name into the table, unless `number` was given meanwhile; one more than its number. The last place stands for all that find none.
    fn tell_name(&self, name: &str, number: &AtomicU32) -> u32 {
        let _alone = self.names.lock();
        let given = number.load(Ordering::Relaxed);
        if given != 0 {
            return given;
        }
        let count = self.words[layout::NAMES_AT].load(Ordering::Relaxed) as usize;
        let at = count.min(NAMES - 1);
        let name = if count < NAMES - 1 { name } else { "others" };
        let mut bytes = [0u8; NAME_BYTES];
        for (place, byte) in bytes.iter_mut().zip(name.bytes()) {
            *place = byte;
        }
        let first = layout::name(at);
        for (index, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            self.words[first + index].store(u64::from_ne_bytes(*eight), Ordering::Relaxed);
        }
        self.words[layout::NAMES_AT].store(at as u64 + 1, Ordering::Release);
        number.store(at as u32 + 1, Ordering::Relaxed);
        at as u32 + 1
    }
}
