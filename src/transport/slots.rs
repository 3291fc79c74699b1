//! What the threads of a process wait for, on its status page: a slot for each thread whose wait is no longer short, and what mpiexec needs to
//! prove that no wait of a job will end (`docs/verdict.md`).
//!
//! Invariants: `activity` changes with each begin and end of a wait here, and whenever a look of one has moved something; a slot is written by
//! the thread that has it.

use super::waits::{self, LOOKS, Record, Wait, Waits};
use crate::group::names;
use crate::os::monotonic_nanoseconds;
use crate::queue::looks::Looks;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Threads whose waits are shown one by one.
pub const SLOTS: usize = 8;
/// The number among the slots of a thread of the library's own that answers others ([`Slots::begin_progress_thread`]).
pub const PROGRESS_THREAD: usize = SLOTS;
/// Addresses of callers.
pub const SITES: usize = crate::os::sites::MOST;
/// Processes of the own job whose records are also counted one by one: those with lower numbers.
pub const PAIRS: usize = 64;
/// Other jobs that a process can name.
pub const JOBS: usize = names::JOBS;
/// Unexpected messages that a wait shows.
pub const MESSAGES: usize = 4;

/// Of a message that is there and that no receive has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Rank in the communicator.
    pub source: i32,
    pub tag: i32,
    pub context: u32,
    /// At most what a word holds.
    pub bytes: u32,
}

/// The wait of a thread.
#[derive(Default)]
#[repr(C)]
pub struct Slot {
    /// Whole looks, at begin and end: odd in one.
    looks: Looks,
    /// Liveness checks alike.
    checks: Looks,
    record: Record,
    /// Where the program is, by return addresses; 0: no more.
    sites: [AtomicU64; SITES],
    messages: [[AtomicU32; 4]; MESSAGES],
    /// How many of them there are.
    shown: AtomicU32,
    /// Not zero: see [`Shown::closed`].
    closed: AtomicU32,
}

/// Looks and checks of the thread that answers others, as a slot has them.
#[derive(Default)]
#[repr(C)]
struct ProgressThread {
    looks: Looks,
    checks: Looks,
}

/// Records by peer, of the first processes.
#[repr(C)]
struct Pairs {
    sent: [AtomicU32; PAIRS],
    handled: [AtomicU32; PAIRS],
}

impl Default for Pairs {
    fn default() -> Pairs {
        let zeros = || std::array::from_fn(|_| AtomicU32::new(0));
        Pairs {
            sent: zeros(),
            handled: zeros(),
        }
    }
}

/// See the module.
#[derive(Default)]
#[repr(C)]
pub struct Slots {
    activity: AtomicU64,
    /// CLOCK_MONOTONIC nanoseconds when the last wait was over or the rank joined.
    idle_since: AtomicU64,
    /// Threads in waits that are not short, shown or not.
    long: AtomicU32,
    /// Threads that wait, also those that found no slot.
    waiting: AtomicU32,
    /// The slots in use, a set of bits.
    taken: AtomicU32,
    /// What threads of the library's own have to do.
    busy: AtomicU32,
    /// Threads of the library's own: never more than there are.
    pub own_threads: AtomicU32,
    /// 0: unknown; 1: the program has one thread in the library at a time; 2: more.
    level: AtomicU32,
    /// Not zero: there are more other jobs than can be named.
    open: AtomicU32,
    /// When the last wait began.
    queues: [AtomicU32; 3],
    /// Not zero: a thread of the library's own answers others, whatever the program does; its looks and checks count as those of a wait.
    has_progress_thread: AtomicU32,
    progress_thread: ProgressThread,
    /// Records that went to other nodes and that came from there, of those that may let a process go on.
    sent: AtomicU64,
    handled: AtomicU64,
    pairs: Pairs,
    /// Other jobs that processes are or may be connected with, by the numbers that waits have for them; 0: none.
    jobs: [AtomicU64; JOBS],
    slots: [Slot; SLOTS],
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    waits::SHAPE,
    shape!(Slot {
        looks,
        checks,
        record,
        sites,
        messages,
        shown,
        closed
    }),
    shape!(ProgressThread { looks, checks }),
    shape!(Pairs { sent, handled }),
    shape!(Slots {
        activity,
        idle_since,
        long,
        waiting,
        taken,
        busy,
        own_threads,
        level,
        open,
        queues,
        has_progress_thread,
        progress_thread,
        sent,
        handled,
        pairs,
        jobs,
        slots
    }),
]);

/// A wait as a reader has found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub slot: u32,
    pub looks: u64,
    pub checks: u64,
    pub waits: Waits,
    pub sites: [u64; SITES],
    pub messages: Vec<Message>,
    /// In the last whole look there was nothing in this process by which others than the awaited ones could help: no task, no packet that waits for
    /// room, none of others that is half written.
    pub closed: bool,
}

/// All of it, as a reader has found it at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub activity: u64,
    pub waiting: u32,
    pub busy: u32,
    pub own_threads: u32,
    pub level: u32,
    /// Processes may be connected of whose jobs not all are in `jobs`.
    pub open: bool,
    /// Other jobs whose processes may end waits, by number; 0: none.
    pub jobs: [u64; JOBS],
    /// Records over the fabric.
    pub sent: u64,
    pub handled: u64,
    /// Those that went to the first processes, and those that came from them, without zeros at the end.
    pub pairs: [Vec<u32>; 2],
    pub waits: Vec<Shown>,
    /// Looks and checks of the thread that answers others, if there is one.
    pub progress_thread: Option<[u64; 2]>,
}

impl Slots {
    /// The rank has joined.
    pub fn join(&self, now: u64) {
        self.idle_since.store(now, Ordering::Relaxed);
    }

    /// The program may have several threads in the library at once, or one.
    pub fn allow(&self, several: bool) {
        self.level
            .fetch_max(1 + u32::from(several), Ordering::Relaxed);
    }

    /// Processes of these other jobs may end waits from now on; `more`: of others, too.
    pub fn set_jobs(&self, jobs: [u64; JOBS], more: bool) {
        self.stir();
        for (word, job) in self.jobs.iter().zip(jobs) {
            word.store(job, Ordering::Relaxed);
        }
        self.open.store(more.into(), Ordering::Relaxed);
        self.stir();
    }

    /// Shows a wait of this thread; its slot, if there is one.
    pub fn begin(&self, waits: &Waits) -> Option<usize> {
        for (word, number) in self.queues.iter().zip(waits.queues) {
            word.store(number, Ordering::Relaxed);
        }
        let slot = self.take();
        if let Some(slot) = slot {
            let slot = &self.slots[slot];
            slot.end_of_last();
            slot.record.write(waits);
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.stir();
        slot
    }

    fn take(&self) -> Option<usize> {
        let free = |taken: u32| Some((!taken).trailing_zeros() as usize).filter(|at| *at < SLOTS);
        let taken = self
            .taken
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |taken| {
                free(taken).map(|at| taken | 1 << at)
            });
        taken.ok().and_then(free)
    }

    /// Describes a wait anew.
    pub fn renew(&self, slot: usize, waits: &Waits) {
        self.slots[slot].record.write(waits);
    }

    /// The wait is over.
    pub fn end(&self, slot: Option<usize>) {
        // First: who still sees the wait sees that something moves.
        self.stir();
        self.idle_since
            .store(monotonic_nanoseconds(), Ordering::Relaxed);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        if let Some(slot) = slot {
            self.taken.fetch_and(!(1 << slot), Ordering::AcqRel);
        }
    }

    /// A thread of the program is in a wait that is not short, until [`Slots::end_long`].
    pub fn begin_long(&self) {
        self.long.fetch_add(1, Ordering::Relaxed);
    }

    /// That wait is over.
    pub fn end_long(&self) {
        self.long.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a thread is in a wait that is not short: it makes progress as soon as it has a core.
    pub fn has_long(&self) -> bool {
        self.long.load(Ordering::Relaxed) > 0
    }

    /// Something moves.
    pub fn stir(&self) {
        self.activity.fetch_add(1, Ordering::AcqRel);
    }

    /// A thread of the library's own has something to do, until [`Slots::rest`].
    pub fn work(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    /// That is done.
    pub fn rest(&self) {
        self.stir();
        self.busy.fetch_sub(1, Ordering::AcqRel);
    }

    /// A thread of the library's own answers others from now on, and looks as slot [`PROGRESS_THREAD`]. There is one at most.
    pub fn begin_progress_thread(&self) {
        self.progress_thread.looks.pass_on();
        self.progress_thread.checks.pass_on();
        self.has_progress_thread.store(1, Ordering::Relaxed);
        self.stir();
    }

    /// It has ended.
    pub fn end_progress_thread(&self) {
        self.stir();
        self.has_progress_thread.store(0, Ordering::Relaxed);
    }

    /// Looks and checks of a slot, or of the [`PROGRESS_THREAD`].
    fn counts(&self, slot: usize) -> (&Looks, &Looks) {
        match self.slots.get(slot) {
            Some(slot) => (&slot.looks, &slot.checks),
            None => (&self.progress_thread.looks, &self.progress_thread.checks),
        }
    }

    /// A look begins: from here on all is seen that was stored before somebody read this slot without it.
    pub fn begin_look(&self, slot: usize) {
        self.counts(slot).0.begin();
    }

    /// It was whole, and has found nothing and moved nothing. `closed`: see [`Shown::closed`].
    pub fn end_look(&self, slot: usize, closed: bool) {
        if let Some(slot) = self.slots.get(slot) {
            slot.closed.store(u32::from(closed), Ordering::Relaxed);
        }
        self.counts(slot).0.end();
    }

    /// A record has gone to another node. It may have come there before this.
    pub fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// As [`Slots::count_sent`], to a process.
    pub fn count_sent_to(&self, process: u32) {
        self.count_sent();
        if let Some(count) = self.pairs.sent.get(process as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// As [`Slots::count_handled`], of a process.
    pub fn count_handled_of(&self, process: u32) {
        self.count_handled();
        if let Some(count) = self.pairs.handled.get(process as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A record of another node has come. What it does shows in the looks that follow.
    pub fn count_handled(&self) {
        self.handled.fetch_add(1, Ordering::Relaxed);
    }

    pub fn begin_check(&self, slot: usize) {
        self.counts(slot).1.begin();
    }

    pub fn end_check(&self, slot: usize) {
        self.counts(slot).1.end();
    }

    /// Where the program is.
    pub fn set_sites(&self, slot: usize, sites: &[u64; SITES]) {
        for (word, site) in self.slots[slot].sites.iter().zip(sites) {
            word.store(*site, Ordering::Relaxed);
        }
    }

    /// Messages that are there and may have been meant for this wait.
    pub fn set_messages(&self, slot: usize, messages: &[Message]) {
        let slot = &self.slots[slot];
        slot.shown.store(0, Ordering::Relaxed);
        for (words, message) in slot.messages.iter().zip(messages) {
            let numbers = [
                message.source as u32,
                message.tag as u32,
                message.context,
                message.bytes,
            ];
            for (word, number) in words.iter().zip(numbers) {
                word.store(number, Ordering::Relaxed);
            }
        }
        let shown = messages.len().min(MESSAGES) as u32;
        slot.shown.store(shown, Ordering::Release);
    }

    /// The longest wait and how many there are. `None`: the process has stopped or ended while it wrote.
    pub fn longest(&self) -> Option<Waits> {
        let view = (0..LOOKS).find_map(|_| self.look_at_once());
        // A process that moves all the time is shown as it is found.
        let view = view.or_else(|| self.look().map(|(view, _)| view))?;
        let queues = std::array::from_fn(|at| self.queues[at].load(Ordering::Relaxed));
        let longest = view.waits.into_iter().min_by_key(|shown| shown.waits.since);
        Some(match longest {
            Some(longest) => Waits {
                threads: view.waiting.max(1),
                queues,
                ..longest.waits
            },
            None => Waits {
                since: self.idle_since.load(Ordering::Relaxed),
                queues,
                ..Waits::default()
            },
        })
    }

    /// All of it at one time. `None`: it changes just now.
    pub fn read(&self) -> Option<View> {
        Looks::prepare();
        self.look_at_once()
    }

    fn look_at_once(&self) -> Option<View> {
        let (view, at_once) = self.look()?;
        at_once.then_some(view)
    }

    /// The page's waits and counters, and whether the activity counter stayed the same while they were read. `None`: a wait was being written.
    fn look(&self) -> Option<(View, bool)> {
        // Acquire: pairs with `stir`, whoever stirs before what it does.
        let activity = self.activity.load(Ordering::Acquire);
        let taken = self.taken.load(Ordering::Acquire);
        let mut waits = Vec::new();
        for slot in (0..SLOTS).filter(|slot| taken >> slot & 1 != 0) {
            waits.push(self.slots[slot].look(slot as u32)?);
        }
        // First, as in a slot.
        let thread = [&self.progress_thread.looks, &self.progress_thread.checks].map(Looks::read);
        let has_thread = self.has_progress_thread.load(Ordering::Relaxed) != 0;
        let view = View {
            activity,
            waiting: self.waiting.load(Ordering::Acquire),
            busy: self.busy.load(Ordering::Acquire),
            own_threads: self.own_threads.load(Ordering::Acquire),
            level: self.level.load(Ordering::Acquire),
            open: self.open.load(Ordering::Acquire) != 0,
            jobs: std::array::from_fn(|at| self.jobs[at].load(Ordering::Acquire)),
            sent: self.sent.load(Ordering::Acquire),
            handled: self.handled.load(Ordering::Acquire),
            waits,
            progress_thread: has_thread.then_some(thread),
            pairs: self.pairs.read(),
        };
        // All that was read was read before this.
        fence(Ordering::Acquire);
        Some((view, self.activity.load(Ordering::Relaxed) == activity))
    }
}

impl Pairs {
    fn read(&self) -> [Vec<u32>; 2] {
        [&self.sent, &self.handled].map(|counts| {
            let counts = counts.iter().map(|count| count.load(Ordering::Acquire));
            let mut counts: Vec<u32> = counts.collect();
            let used = counts.iter().rposition(|count| *count != 0);
            counts.truncate(used.map_or(0, |last| last + 1));
            counts
        })
    }
}

impl Slot {
    /// Of the thread that had it before.
    fn end_of_last(&self) {
        self.looks.pass_on();
        self.checks.pass_on();
        self.sites
            .iter()
            .for_each(|site| site.store(0, Ordering::Relaxed));
        self.shown.store(0, Ordering::Relaxed);
        self.closed.store(0, Ordering::Relaxed);
    }

    fn look(&self, slot: u32) -> Option<Shown> {
        let load = |word: &AtomicU32| word.load(Ordering::Relaxed);
        // First: what was moved in these looks shows in the activity that is read later.
        let looks = self.looks.read();
        let checks = self.checks.read();
        let waits = self.record.read()?;
        let closed = self.closed.load(Ordering::Relaxed) != 0;
        let shown = (self.shown.load(Ordering::Acquire) as usize).min(MESSAGES);
        let messages = self.messages[..shown].iter();
        Some(Shown {
            slot,
            looks,
            checks,
            waits,
            sites: std::array::from_fn(|at| self.sites[at].load(Ordering::Relaxed)),
            messages: messages
                .map(|[source, tag, context, bytes]| Message {
                    source: load(source) as i32,
                    tag: load(tag) as i32,
                    context: load(context),
                    bytes: load(bytes),
                })
                .collect(),
            closed,
        })
    }
}

impl Wait {
    /// Whether somebody outside the job may end it, or this process itself.
    pub fn is_open(&self) -> bool {
        use waits::{Kind, Whom};
        let is_outside = matches!(self.whom, Whom::Outside | Whom::Nobody);
        let by_others = matches!(
            self.kind,
            Kind::Other | Kind::Generalized | Kind::Connection
        );
        is_outside || by_others
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::transport::waits::{Kind, Whom};

    fn wait(process: u32, since: u64) -> Waits {
        Waits {
            threads: 1,
            since,
            function: "MPI_Recv".into(),
            wait: Wait::of(Kind::Receive, Whom::of([process])),
            ..Waits::default()
        }
    }

    #[test]
    fn the_longest_wait_is_shown_that_is_not_over() {
        let slots = Slots::default();
        let shown = || {
            let waits = slots.longest().unwrap();
            (waits.threads, waits.wait.whom)
        };
        let first = slots.begin(&wait(7, 1));
        let second = slots.begin(&wait(8, 2));
        assert_eq!(shown(), (2, Whom::of([7])));
        slots.end(first);
        assert_eq!(shown(), (1, Whom::of([8])));
        let third = slots.begin(&wait(9, 3));
        assert_eq!((shown().1, third), (Whom::of([8]), first));
        slots.end(second);
        slots.end(third);
        assert_eq!(shown().0, 0);
        assert_ne!(slots.longest().unwrap().since, 3);
    }

    #[test]
    fn each_begin_and_end_is_activity_and_more_threads_than_slots_are_counted() {
        let slots = Slots::default();
        let mut last = slots.read().unwrap().activity;
        let mut has_changed = || {
            let activity = slots.read().unwrap().activity;
            std::mem::replace(&mut last, activity) != activity
        };
        let all: Vec<_> = (0..SLOTS as u64 + 2)
            .map(|at| {
                let slot = slots.begin(&wait(at as u32, at));
                assert!(has_changed());
                slot
            })
            .collect();
        let view = slots.read().unwrap();
        assert_eq!(
            (view.waiting as usize, view.waits.len()),
            (SLOTS + 2, SLOTS)
        );
        for slot in all {
            slots.end(slot);
            assert!(has_changed());
        }
        assert!(slots.read().unwrap().waits.is_empty());
    }

    #[test]
    fn looks_of_who_answers_others_are_shown_as_long_as_there_is_one() {
        let slots = Slots::default();
        let thread = || slots.read().unwrap().progress_thread;
        assert_eq!(thread(), None);
        let activity = slots.read().unwrap().activity;
        slots.begin_progress_thread();
        assert_ne!(slots.read().unwrap().activity, activity);
        slots.begin_look(PROGRESS_THREAD);
        slots.end_look(PROGRESS_THREAD, false);
        slots.begin_check(PROGRESS_THREAD);
        assert_eq!(thread(), Some([2, 1]));
        slots.end_progress_thread();
        assert_eq!(thread(), None);
        // Another one begins with whole looks.
        slots.begin_progress_thread();
        assert_eq!(thread(), Some([2, 2]));
        assert_eq!(slots.read().unwrap().waiting, 0);
    }

    #[test]
    fn records_are_counted_by_peer() {
        let slots = Slots::default();
        slots.count_sent_to(2);
        slots.count_sent_to(PAIRS as u32);
        slots.count_sent();
        slots.count_handled_of(0);
        let view = slots.read().unwrap();
        assert_eq!((view.sent, view.handled), (3, 1));
        assert_eq!(view.pairs, [vec![0, 0, 1], vec![1]]);
    }

    #[test]
    fn what_is_shown_of_messages_is_read() {
        let slots = Slots::default();
        let slot = slots.begin(&wait(1, 1)).unwrap();
        let message = Message {
            source: 3,
            tag: -1,
            context: 4,
            bytes: 64,
        };
        slots.set_messages(slot, &[message; MESSAGES + 1]);
        let shown = slots.read().unwrap().waits.remove(0);
        assert_eq!(shown.messages, vec![message; MESSAGES]);
        slots.end(Some(slot));
        slots.begin(&wait(1, 1));
        assert!(slots.read().unwrap().waits[0].messages.is_empty());
    }
}
