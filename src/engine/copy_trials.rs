//! Which way of large messages is faster on this machine, found out by their receivers: through the segment, which two cores copy at the same
//! time, or read out of the sender's memory, by one.
//!
//! Neither is always better where each rank has a core. On Zen 3 two copies are (27 beside 15 GB/s); on an Intel processor whose kernel
//! copies by `rep movsb` one is (512 KB in 29 instead of 57 us), for a core keeps few lines on their way from another one's cache by loads.
//!
//! A receiver times some messages of a size that come through the segment, then asks the senders to let it read some, and publishes in its
//! page which was faster. It compares medians, which a message that another program on the cores has held up does not change. Only of
//! messages that wait for their receiver anyway, so that no program notices but by its time.

use super::Engine;
use super::requests::{Index, Phase};
use crate::os::monotonic_nanoseconds;
use crate::sync::Ordering;

/// Sizes are told apart by a factor of four from the smallest on, 16 KB: what the caches of a core hold, what they do not.
const SMALLEST_BITS: u32 = 14;
const SIZES: usize = 5;
/// Messages that are timed of each way.
const TIMED: usize = 9;
/// After so many messages all is found out anew: a program may send in one direction now and in both later.
const RENEWED_AFTER: u32 = 2_000;

/// What senders are told of a size, in two bits of [`crate::transport::Page::copies`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    /// Not known; through the segment so far.
    #[default]
    Unknown,
    /// Let the receiver read.
    Tried,
    ReadIsFaster,
    SegmentIsFaster,
}

/// A receiver is to read where that saves at least one part in so many: what it costs the sender to wait for the answer is not timed.
const MARGIN: u64 = 8;

fn size_of(bytes: usize) -> usize {
    let bits = bytes.max(1).ilog2().saturating_sub(SMALLEST_BITS);
    (bits as usize / 2).min(SIZES - 1)
}

/// The last times of messages, picoseconds a byte.
#[derive(Clone, Copy, Default)]
struct Times {
    count: usize,
    last: [u64; TIMED],
}

impl Times {
    fn add(&mut self, bytes: usize, nanoseconds: u64) {
        let time = nanoseconds.saturating_mul(1000) / bytes.max(1) as u64;
        self.last[self.count % TIMED] = time;
        self.count += 1;
    }

    fn are_enough(&self) -> bool {
        self.count >= TIMED
    }

    fn median(&self) -> u64 {
        let mut sorted = self.last;
        sorted.sort_unstable();
        sorted[TIMED / 2]
    }
}

#[derive(Clone, Copy, Default)]
struct Trial {
    verdict: Verdict,
    segment: Times,
    read: Times,
    messages: u32,
}

impl Trial {
    /// A message has come; whether the verdict has changed.
    fn note(&mut self, was_read: bool, bytes: usize, nanoseconds: u64) -> bool {
        let before = self.verdict;
        self.messages += 1;
        if self.messages > RENEWED_AFTER {
            *self = Trial::default();
        }
        match was_read {
            true => self.read.add(bytes, nanoseconds),
            false => self.segment.add(bytes, nanoseconds),
        }
        self.verdict = match self.verdict {
            Verdict::Unknown if self.segment.are_enough() => Verdict::Tried,
            Verdict::Tried if self.read.are_enough() => {
                let (read, segment) = (self.read.median(), self.segment.median());
                match read + segment / MARGIN < segment {
                    true => Verdict::ReadIsFaster,
                    false => Verdict::SegmentIsFaster,
                }
            }
            same => same,
        };
        self.verdict != before
    }
}

#[derive(Clone, Copy)]
struct Timed {
    index: Index,
    /// Nanoseconds.
    began: u64,
    /// Bytes that have come since, of all announced messages: in a stream those ahead of this one take most of its time.
    moved: usize,
}

/// What a receiver has found out so far.
#[derive(Default)]
pub(super) struct Trials {
    sizes: [Trial; SIZES],
    /// A message that is coming through the segment.
    timed: Option<Timed>,
}

impl Trials {
    /// A message begins to come through the segment; `is_coming`: the timed one still is.
    fn begin(&mut self, index: Index, now: u64, is_coming: impl FnOnce(Index) -> bool) {
        if !self.timed.is_some_and(|timed| is_coming(timed.index)) {
            self.timed = Some(Timed {
                index,
                began: now,
                moved: 0,
            });
        }
    }

    /// Bytes have come, for a receive or for none yet; whether they are the timed message's.
    #[inline]
    fn came(&mut self, index: Option<Index>, bytes: usize) -> bool {
        let Some(timed) = &mut self.timed else {
            return false;
        };
        timed.moved += bytes;
        index == Some(timed.index)
    }

    /// What senders are told.
    fn published(&self) -> u32 {
        let bits = self.sizes.iter().zip(0..);
        bits.fold(0, |all, (trial, at)| {
            all | (trial.verdict as u32) << (2 * at)
        })
    }
}

/// Whether a receiver that has published this wants to read a message of so many bytes.
fn wants_to_read(published: u32, bytes: usize) -> bool {
    let verdict = published >> (2 * size_of(bytes)) & 3;
    verdict == Verdict::Tried as u32 || verdict == Verdict::ReadIsFaster as u32
}

impl Engine {
    /// As if reading had been found faster for all sizes.
    #[cfg(test)]
    pub(super) fn prefer_reading(&mut self) {
        for trial in &mut self.trials.sizes {
            trial.verdict = Verdict::ReadIsFaster;
        }
        let page = self.transport.table().own();
        page.copies
            .store(self.trials.published(), Ordering::Relaxed);
    }

    /// Whether a process is to read a message of so many bytes out of this one's memory, as far as it has found out.
    pub(super) fn is_read_by(&self, process: usize, bytes: usize) -> bool {
        let page = self.peer(process as u32).page;
        wants_to_read(page.copies.load(Ordering::Relaxed), bytes)
    }

    /// A message that was announced and has a receive begins to come through the segment.
    pub(super) fn begin_timing(&mut self, index: Index) {
        if self.oversubscribed || !self.limits.single_copy.learns() {
            return;
        }
        let requests = &mut self.requests;
        self.trials.begin(index, monotonic_nanoseconds(), |timed| {
            let request = requests.get(timed);
            request.is_some_and(|request| request.phase == Phase::Active)
        });
    }

    /// Data of an announced message has come; `index`: its receive, if it has one. Ends the timing of a message that is complete by it.
    #[inline]
    pub(super) fn look_at_timed(&mut self, index: Option<Index>, bytes: usize) {
        if self.trials.came(index, bytes) {
            self.end_timing();
        }
    }

    #[cold]
    fn end_timing(&mut self) {
        let Some(timed) = self.trials.timed else {
            return;
        };
        let total = match self.requests.get(timed.index) {
            Some(request) if request.phase != Phase::Complete => return,
            Some(request) => request.total,
            None => 0,
        };
        self.trials.timed = None;
        if total > 0 {
            self.note_copy(false, total, timed.moved, timed.began);
        }
    }

    /// Notes the time in which `bytes` have come while a message of `total` did, read out of the sender's memory or through the segment.
    pub(super) fn note_copy(&mut self, read: bool, total: usize, bytes: usize, began: u64) {
        if self.oversubscribed || !self.limits.single_copy.learns() || total >> SMALLEST_BITS == 0 {
            return;
        }
        let took = monotonic_nanoseconds().saturating_sub(began);
        if self.trials.sizes[size_of(total)].note(read, bytes, took) {
            let page = self.transport.table().own();
            page.copies
                .store(self.trials.published(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    /// Lets so many messages come, each in the way that is wanted; how many were read.
    fn run(trials: &mut Trials, messages: usize, read: u64, segment: u64) -> usize {
        let bytes = MB / 2;
        let mut count = 0;
        for _ in 0..messages {
            let is_read = wants_to_read(trials.published(), bytes);
            let took = if is_read { read } else { segment };
            trials.sizes[size_of(bytes)].note(is_read, bytes, took);
            count += usize::from(is_read);
        }
        count
    }

    #[test]
    fn the_faster_way_is_taken_after_some_messages_of_each() {
        let mut trials = Trials::default();
        assert_eq!(run(&mut trials, TIMED, 30_000, 60_000), 0);
        assert_eq!(run(&mut trials, 1000, 30_000, 60_000), 1000);
        let mut trials = Trials::default();
        assert_eq!(run(&mut trials, 1000, 60_000, 30_000), TIMED);
        // Hardly faster is not fast enough.
        let mut trials = Trials::default();
        assert_eq!(run(&mut trials, 1000, 95_000, 100_000), TIMED);
    }

    #[test]
    fn messages_ahead_in_a_stream_are_no_time_of_a_message() {
        let mut trials = Trials::default();
        let active = |_| true;
        for index in 0..4 {
            trials.begin(index, 1000, active);
        }
        let all: Vec<bool> = (0..4).map(|index| trials.came(Some(index), MB)).collect();
        assert_eq!(all, [true, false, false, false]);
        let timed = trials.timed.unwrap();
        assert_eq!((timed.began, timed.moved), (1000, 4 * MB));
        // A message that ends otherwise leaves its place to the next one.
        trials.begin(7, 2000, |_| false);
        assert!(!trials.came(None, 10) && trials.came(Some(7), 20));
        assert_eq!(trials.timed.unwrap().moved, 30);
    }

    #[test]
    fn one_size_says_nothing_of_another() {
        let mut trials = Trials::default();
        run(&mut trials, 1000, 30_000, 60_000);
        assert!(wants_to_read(trials.published(), MB / 2));
        assert!(!wants_to_read(trials.published(), 64 << 10));
        assert!(!wants_to_read(trials.published(), 64 * MB));
    }

    #[test]
    fn what_was_found_is_found_out_anew() {
        let mut trials = Trials::default();
        run(&mut trials, 1000, 30_000, 60_000);
        // Now other ranks are at work, too.
        run(&mut trials, RENEWED_AFTER as usize, 90_000, 60_000);
        assert!(!wants_to_read(trials.published(), MB / 2));
    }

    #[test]
    fn a_message_that_was_held_up_does_not_decide() {
        let mut trials = Trials::default();
        run(&mut trials, TIMED - 1, 0, 60_000);
        run(&mut trials, 1, 0, 9_000_000);
        run(&mut trials, 1, 8_000_000, 0);
        run(&mut trials, TIMED, 30_000, 0);
        assert!(wants_to_read(trials.published(), MB / 2));
    }
}
