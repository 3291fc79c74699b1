//! The prober: measures how far apart the caches of two cores are, where nobody can be asked.
//!
//! Two ranks that exchange data, each on its core, take turns at modifying the lines of a *track*, and time how long the lines take
//! to come over from the other core. What they find goes into a table of pairs of cores in the segment, for all ranks of the
//! node, and is measured again after [`VALID`].
//!
//! Invariant: a pair's answer is one for all who ask, wherever they ask, until it is measured again. Nobody waits for a turn.

use super::distance::{CacheDistance, Sight};
use crate::os::monotonic_nanoseconds;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Pairs of cores that the table has room for. Of two with one place the later one is remembered.
const ANSWERS: usize = 1024;
/// Tracks: pairs of cores that are measured at the same time.
const TRACKS: usize = 16;
/// Lines of a track.
const LINES: usize = 16;
/// From line to line, so that no prefetcher goes ahead.
const STEP: usize = 7;
/// Measurements for an answer. Their median counts: a rank that was preempted in between measures far too much, one that was moved
/// to the other core, too little.
const SAMPLES: usize = 7;
/// Nanoseconds that an answer is good for.
const VALID: u64 = 100_000_000;
/// Lines that were modified earlier may have left the caches, nanoseconds.
const FRESH: u64 = 2_000_000;
/// A pair of cores that has not come by for so long gives its track to another one, nanoseconds.
const IDLE: u64 = 5_000_000;
/// A shared cache hands a line over in less, nanoseconds; through memory or from another package it takes more than the second.
/// Between them an earlier answer stays.
const NEAR: u64 = 60;
const AFAR: u64 = 70;

const _: () = assert!(LINES.is_multiple_of(2) && !STEP.is_multiple_of(2));

/// Two different cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    low: usize,
    high: usize,
}

/// More cores than a mask has bits are not told apart.
const CORE_BITS: u32 = 12;
const KEY_BITS: u32 = 2 * CORE_BITS;

impl Pair {
    fn of(one: usize, other: usize) -> Option<Pair> {
        let (low, high) = (one.min(other), one.max(other));
        (low < high && high < 1 << CORE_BITS).then_some(Pair { low, high })
    }

    /// Never zero.
    fn key(self) -> u64 {
        (self.low as u64) << CORE_BITS | self.high as u64
    }

    fn index(self, size: usize) -> usize {
        (self.key().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % size
    }
}

/// A line that two cores modify in turn, and one that is left free, because hardware fetches pairs of lines. The words are always
/// zero.
#[repr(C, align(128))]
struct Line([AtomicU32; 2]);

/// Where the ranks on two cores take turns.
#[repr(C, align(128))]
struct Track {
    /// The pair's key, which of the two cores had the last turn, and the number of that turn.
    turn: AtomicU64,
    /// The number of the last turn that is over.
    over: AtomicU32,
    samples_taken: AtomicU32,
    /// When the last turn began, nanoseconds.
    since: AtomicU64,
    /// Nanoseconds for all lines.
    samples: [AtomicU32; SAMPLES],
    lines: [Line; LINES],
}

/// What [`Track::turn`] says.
#[derive(Clone, Copy)]
struct Turn {
    key: u64,
    by_high: bool,
    number: u32,
}

impl Turn {
    fn decode(word: u64) -> Turn {
        Turn {
            key: word >> 33 & ((1 << KEY_BITS) - 1),
            by_high: word >> 32 & 1 != 0,
            number: word as u32,
        }
    }

    fn encode(self) -> u64 {
        self.key << 33 | u64::from(self.by_high) << 32 | u64::from(self.number)
    }
}

/// In the segment; zeros: nothing is known.
#[repr(C)]
pub struct Distances {
    /// The pair's key, whether it is far, and until when this is good, milliseconds.
    answers: [AtomicU64; ANSWERS],
    tracks: [Track; TRACKS],
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Track {
        turn,
        over,
        samples_taken,
        since,
        samples,
        lines
    }),
    shape!(Distances { answers, tracks }),
]);

const TIME_BITS: u32 = 64 - KEY_BITS - 1;
const MILLISECOND: u64 = 1_000_000;

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    distance: CacheDistance,
    /// Nanoseconds.
    until: u64,
}

/// Time and lines, which tests make up.
trait Means {
    /// Nanoseconds.
    fn now(&self) -> u64;
    /// Modifies all lines; how long they took to come, nanoseconds.
    fn cross(&self, lines: &[Line; LINES]) -> u64;
}

struct Real;

impl Means for Real {
    fn now(&self) -> u64 {
        monotonic_nanoseconds()
    }

    fn cross(&self, lines: &[Line; LINES]) -> u64 {
        let before = monotonic_nanoseconds();
        let begin = monotonic_nanoseconds();
        // Each address needs the word before, so that the lines come one after the other.
        let mut word = 0;
        for number in 0..LINES {
            let line = &lines[number * STEP % LINES];
            word = line.0[word as usize & 1].fetch_or(word, Ordering::Relaxed);
        }
        std::hint::black_box(word);
        let end = monotonic_nanoseconds();
        // The clock itself may take long.
        (end - begin).saturating_sub(begin - before)
    }
}

impl Distances {
    fn answer(&self, pair: Pair) -> Option<Answer> {
        let word = self.answers[pair.index(ANSWERS)].load(Ordering::Relaxed);
        (word >> (TIME_BITS + 1) == pair.key()).then(|| Answer {
            distance: match word >> TIME_BITS & 1 {
                0 => CacheDistance::Shared,
                _ => CacheDistance::Far,
            },
            until: (word & ((1 << TIME_BITS) - 1)) * MILLISECOND,
        })
    }

    fn set_answer(&self, pair: Pair, answer: Answer) {
        let far = u64::from(answer.distance == CacheDistance::Far);
        let until = (answer.until / MILLISECOND) & ((1 << TIME_BITS) - 1);
        let word = pair.key() << (TIME_BITS + 1) | far << TIME_BITS | until;
        self.answers[pair.index(ANSWERS)].store(word, Ordering::Relaxed);
    }

    /// The distance of this rank's core from another one's, by the real clock; may take a turn.
    pub fn sight(&self, mine: usize, theirs: usize) -> Sight {
        self.sight_by(mine, theirs, &Real)
    }

    /// The distance of this rank's core from another one's; takes a turn at their track where it is time to measure.
    fn sight_by(&self, mine: usize, theirs: usize, means: &impl Means) -> Sight {
        let Some(pair) = Pair::of(mine, theirs) else {
            return Sight::of(CacheDistance::SameCore);
        };
        let now = means.now();
        let known = self.answer(pair);
        if let Some(known) = known
            && now < known.until
        {
            return Sight::of(known.distance);
        }
        let found = self.take_turn(pair, mine == pair.high, known, now, means);
        if let Some(distance) = found {
            let until = now + VALID;
            self.set_answer(pair, Answer { distance, until });
            return Sight::of(distance);
        }
        let distance = known.map_or(CacheDistance::Shared, |known| known.distance);
        Sight {
            distance,
            measures: true,
        }
    }

    /// Takes a turn at a pair's track if it is this core's; what was found if enough was measured.
    #[cold]
    fn take_turn(
        &self,
        pair: Pair,
        is_high: bool,
        known: Option<Answer>,
        now: u64,
        means: &impl Means,
    ) -> Option<CacheDistance> {
        let track = &self.tracks[pair.index(TRACKS)];
        // Acquire: pairs with the end of a turn; its samples are there.
        let over = track.over.load(Ordering::Acquire);
        let word = track.turn.load(Ordering::Acquire);
        let last = Turn::decode(word);
        let age = now.saturating_sub(track.since.load(Ordering::Relaxed));
        let is_ours = last.key == pair.key();
        // A rank that was ended in its turn is not waited for.
        if age < IDLE && (last.number != over || !is_ours) {
            return None;
        }
        let is_fresh = is_ours && age < FRESH && last.number == over;
        if is_fresh && last.by_high == is_high {
            return None;
        }
        let next = Turn {
            key: pair.key(),
            by_high: is_high,
            number: last.number.wrapping_add(1),
        };
        let taken =
            track
                .turn
                .compare_exchange(word, next.encode(), Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            return None;
        }
        track.since.store(now, Ordering::Relaxed);
        if !is_ours {
            track.samples_taken.store(0, Ordering::Relaxed);
        }
        let cost = means.cross(&track.lines);
        let found = is_fresh
            .then(|| track.note(cost))
            .flatten()
            .map(|cost| judge(cost / LINES as u64, known));
        // Release: pairs with the beginning of the next turn.
        track.over.store(next.number, Ordering::Release);
        found
    }
}

impl Track {
    /// One more sample; with the last one, what all of them say.
    fn note(&self, cost: u64) -> Option<u64> {
        let taken = self.samples_taken.load(Ordering::Relaxed) as usize % SAMPLES;
        self.samples[taken].store(cost.min(u64::from(u32::MAX)) as u32, Ordering::Relaxed);
        let taken = (taken + 1) % SAMPLES;
        self.samples_taken.store(taken as u32, Ordering::Relaxed);
        if taken > 0 {
            return None;
        }
        let mut samples = [0; SAMPLES];
        for (copy, sample) in samples.iter_mut().zip(&self.samples) {
            *copy = sample.load(Ordering::Relaxed);
        }
        samples.sort_unstable();
        Some(samples[SAMPLES / 2].into())
    }
}

/// What a line's way of so many nanoseconds means.
fn judge(nanoseconds: u64, known: Option<Answer>) -> CacheDistance {
    match nanoseconds {
        _ if nanoseconds < NEAR => CacheDistance::Shared,
        _ if nanoseconds > AFAR => CacheDistance::Far,
        _ => known.map_or(CacheDistance::Shared, |known| known.distance),
    }
}

#[cfg(test)]
impl super::Node {
    /// Says for a long time how far a core is from all that this thread may run on.
    pub fn pretend(&self, core: usize, distance: CacheDistance) {
        let cores = crate::os::schedule::affinity();
        let usable = (0..64 * cores.len()).filter(|core| cores[core / 64] & 1 << (core % 64) != 0);
        for pair in usable.filter_map(|usable| Pair::of(usable, core)) {
            let until = monotonic_nanoseconds() + 10_000 * VALID;
            self.shared
                .distances
                .set_answer(pair, Answer { distance, until });
        }
    }
}

#[cfg(test)]
impl Distances {
    /// Nothing is known.
    pub fn fresh() -> Distances {
        let small = |_| AtomicU32::new(0);
        Distances {
            answers: std::array::from_fn(|_| AtomicU64::new(0)),
            tracks: std::array::from_fn(|_| Track {
                turn: AtomicU64::new(0),
                over: AtomicU32::new(0),
                samples_taken: AtomicU32::new(0),
                since: AtomicU64::new(0),
                samples: std::array::from_fn(small),
                lines: std::array::from_fn(|_| Line(std::array::from_fn(small))),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CacheDistance::{Far, SameCore, Shared};
    use std::cell::Cell;

    fn fresh() -> Box<Distances> {
        Box::new(Distances::fresh())
    }

    /// A machine on which a line takes so many nanoseconds.
    struct Made {
        now: Cell<u64>,
        line: Cell<u64>,
        turns: Cell<u32>,
    }

    impl Means for Made {
        fn now(&self) -> u64 {
            self.now.get()
        }

        fn cross(&self, _: &[Line; LINES]) -> u64 {
            self.turns.set(self.turns.get() + 1);
            self.line.get() * LINES as u64
        }
    }

    fn machine(line: u64) -> Made {
        Made {
            now: Cell::new(1_000_000_000),
            line: Cell::new(line),
            turns: Cell::new(0),
        }
    }

    impl Made {
        fn pass(&self, nanoseconds: u64) {
            self.now.set(self.now.get() + nanoseconds);
        }
    }

    /// The ranks on two cores ask in turn; the answers.
    fn ask(
        distances: &Distances,
        made: &Made,
        times: usize,
        (one, other): (usize, usize),
    ) -> Vec<Sight> {
        let both = [(one, other), (other, one)];
        (0..times)
            .map(|at| {
                made.pass(10_000);
                let (mine, theirs) = both[at % 2];
                distances.sight_by(mine, theirs, made)
            })
            .collect()
    }

    #[test]
    fn two_cores_find_out_and_all_others_know() {
        for (line, expected) in [(37, Shared), (140, Far)] {
            let (distances, made) = (fresh(), machine(line));
            let sights = ask(&distances, &made, SAMPLES + 1, (0, 1));
            assert!(sights[..SAMPLES].iter().all(|one| *one == Sight::UNKNOWN));
            assert_eq!(sights[SAMPLES], Sight::of(expected));
            let turns = made.turns.get();
            assert_eq!(distances.sight_by(1, 0, &made), Sight::of(expected));
            assert_eq!(distances.sight_by(0, 1, &made), Sight::of(expected));
            assert_eq!(made.turns.get(), turns);
            assert_eq!(distances.sight_by(1, 1, &made), Sight::of(SameCore));
            assert_eq!(distances.sight_by(0, 2, &made), Sight::UNKNOWN);
        }
    }

    #[test]
    fn what_the_host_moves_is_found_again() {
        let (distances, made) = (fresh(), machine(37));
        ask(&distances, &made, 10, (3, 700));
        made.line.set(130);
        assert!(
            ask(&distances, &made, 100, (3, 700))
                .iter()
                .all(|one| *one == Sight::of(Shared))
        );
        made.pass(VALID);
        let sights = ask(&distances, &made, 10, (3, 700));
        assert_eq!(
            sights[0],
            Sight {
                distance: Shared,
                measures: true
            }
        );
        assert_eq!(sights[9], Sight::of(Far));
    }

    #[test]
    fn between_the_limits_the_earlier_answer_stays() {
        for line in [37, 130] {
            let (distances, made) = (fresh(), machine(line));
            let first = ask(&distances, &made, 10, (0, 1))[9];
            made.line.set((NEAR + AFAR) / 2);
            made.pass(VALID);
            let sights = ask(&distances, &made, 10, (0, 1));
            assert!(sights[0].measures && !sights[9].measures);
            assert_eq!(sights[9].distance, first.distance);
        }
    }

    #[test]
    fn one_who_was_preempted_or_moved_does_not_count() {
        for (line, wrong) in [(37, 1_000_000), (140, 5)] {
            let (distances, made) = (fresh(), machine(line));
            ask(&distances, &made, 2, (0, 1));
            made.line.set(wrong);
            ask(&distances, &made, 1, (0, 1));
            made.line.set(line);
            // One core's turns again, after an odd number.
            let sights = ask(&distances, &made, 10, (1, 0));
            let expected = if line == 37 { Shared } else { Far };
            assert_eq!(sights[9], Sight::of(expected));
        }
    }

    #[test]
    fn lines_that_have_left_the_caches_tell_nothing() {
        let (distances, made) = (fresh(), machine(90));
        for at in 0..100 {
            made.pass(FRESH);
            let (mine, theirs) = [(0, 1), (1, 0)][at % 2];
            assert_eq!(distances.sight_by(mine, theirs, &made), Sight::UNKNOWN);
        }
        // Nor does a core that nobody answers.
        for _ in 0..100 {
            made.pass(10_000);
            assert_eq!(distances.sight_by(0, 1, &made), Sight::UNKNOWN);
        }
    }

    #[test]
    fn a_track_is_one_pairs_at_a_time_and_goes_on_after_a_rank_that_ended_in_its_turn() {
        let (distances, made) = (fresh(), machine(140));
        let track = Pair { low: 0, high: 1 }.index(TRACKS);
        let other = (2..).find(|core| {
            Pair {
                low: 0,
                high: *core,
            }
            .index(TRACKS)
                == track
        });
        let other = other.unwrap();
        ask(&distances, &made, 2, (0, 1));
        let turns = made.turns.get();
        assert_eq!(distances.sight_by(0, other, &made), Sight::UNKNOWN);
        assert_eq!(made.turns.get(), turns);
        made.pass(IDLE);
        assert_eq!(ask(&distances, &made, 8, (0, other))[7], Sight::of(Far));
        made.pass(IDLE);
        let track = &distances.tracks[track];
        track
            .over
            .store(track.over.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        ask(&distances, &made, 2, (0, 1));
        made.pass(IDLE);
        assert_eq!(ask(&distances, &made, 8, (0, 1))[7], Sight::of(Far));
    }

    #[test]
    fn real_lines_come_over() {
        let distances = fresh();
        let sight = |mine, theirs| distances.sight_by(mine, theirs, &Real);
        for _ in 0..1000 {
            sight(0, 1);
            sight(1, 0);
        }
        assert!(sight(0, 1).distance >= Shared);
        assert_eq!(sight(1, 1).distance, SameCore);
    }
}
