//! Frames in memory that ranks share: pieces of a file that all fill and one writes, or one reads and all take from. They stand in a ring,
//! and the same frame serves a later piece when it is over.
//!
//! ```text
//! writing    OPEN   each rank fills its part and arrives; the last one: FULL, or over, if the parts are not the whole piece
//!            FULL   one rank claims it: TAKEN, writes it, says how that went: over
//! reading    OPEN   one rank claims it: TAKEN, reads it, says how that went: FULL
//!            FULL   each rank takes its part and arrives; the last one: over
//! over       OPEN of the next lap
//! ```
//!
//! Invariant: what a rank stores into a frame before it arrives is seen by whoever writes it, and nobody stores into a frame of a lap before
//! all have arrived at it in the lap before and its piece was written. All ranks arrive at all frames of a lap, each once it has seen what
//! became of the frame's lap before: so that is told until then (models below, for loom).

use crate::queue::shape::shape;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The words of one frame. Zeros are a fresh one.
#[repr(C)]
pub struct Frame {
    /// Lap and phase.
    state: AtomicU64,
    /// What became of the last piece.
    outcome: AtomicU64,
    /// The sum of the marks of all that have arrived.
    marks: AtomicU64,
    /// Ranks that have arrived, and from [`APART`] on those of them that have not filled their part.
    arrived: AtomicU32,
    _pad: [u32; 9],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Frame>() == 64);

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape!(Frame {
    state,
    outcome,
    marks,
    arrived,
    _pad
});

const OPEN: u64 = 0;
const FULL: u64 = 1;
const TAKEN: u64 = 2;
const PHASES: u64 = 4;
/// Added for each rank that has arrived without filling its part; the low bits count ranks.
const APART: u32 = 1 << 16;
/// The most ranks that the low bits can count.
pub const RANKS: usize = APART as usize - 1;

/// What one rank arrives with at a frame that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// See [`Frame::arrive`].
    pub marks: u64,
    /// Whether the rank's bytes are in the frame.
    pub is_filled: bool,
}

impl Frame {
    /// Whether it may be filled in a lap, or read into.
    #[inline]
    pub fn is_open(&self, lap: u64) -> bool {
        // Acquire: pairs with the end of the lap before; nobody uses the frame any more.
        self.state.load(Ordering::Acquire) == lap * PHASES + OPEN
    }

    /// Whether all have filled it and nobody writes it yet, or it was read.
    #[inline]
    pub fn is_full(&self, lap: u64) -> bool {
        self.state.load(Ordering::Acquire) == lap * PHASES + FULL
    }

    /// Whether a lap has ended.
    #[inline]
    pub fn is_over(&self, lap: u64) -> bool {
        self.state.load(Ordering::Acquire) >= (lap + 1) * PHASES
    }

    /// What became of a lap that is over, or of a frame that was read: until this rank arrives at its next lap, or at this one.
    pub fn outcome(&self) -> u64 {
        self.outcome.load(Ordering::Relaxed)
    }

    /// This rank's part is stored. It is the last one of `ranks`: the frame is full if all parts are there and their marks add up to
    /// `expected`, else over with the outcome `incomplete`. Returns whether it was the last one.
    pub fn arrive(&self, lap: u64, part: Part, ranks: u32, expected: u64, incomplete: u64) -> bool {
        self.marks.fetch_add(part.marks, Ordering::Relaxed);
        let own = if part.is_filled { 1 } else { 1 + APART };
        // Release: the part and its marks are seen by the last one, which acquires those of all and hands them on.
        let arrived = self.arrived.fetch_add(own, Ordering::AcqRel) + own;
        if arrived % APART != ranks {
            return false;
        }
        let marks = self.marks.load(Ordering::Relaxed);
        self.marks.store(0, Ordering::Relaxed);
        self.arrived.store(0, Ordering::Relaxed);
        if arrived == ranks && marks == expected {
            self.state.store(lap * PHASES + FULL, Ordering::Release);
        } else {
            self.end(lap, incomplete);
        }
        true
    }

    /// This rank has taken its part of what was read. Returns whether it was the last one of `ranks`, with which the lap is over.
    pub fn leave(&self, lap: u64, ranks: u32) -> bool {
        // Release: nobody reads the frame any more when it is read into again.
        let arrived = self.arrived.fetch_add(1, Ordering::AcqRel) + 1;
        if arrived != ranks {
            return false;
        }
        self.arrived.store(0, Ordering::Relaxed);
        self.state.store((lap + 1) * PHASES, Ordering::Release);
        true
    }

    fn claim(&self, lap: u64, phase: u64) -> bool {
        let (from, to) = (lap * PHASES + phase, lap * PHASES + TAKEN);
        let claimed = self
            .state
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed);
        claimed.is_ok()
    }

    /// Claims a full frame to write it.
    pub fn claim_full(&self, lap: u64) -> bool {
        self.claim(lap, FULL)
    }

    /// Claims an open frame to read into it.
    pub fn claim_open(&self, lap: u64) -> bool {
        self.claim(lap, OPEN)
    }

    /// The frame is written, by whoever has claimed it.
    pub fn end(&self, lap: u64, outcome: u64) {
        self.outcome.store(outcome, Ordering::Relaxed);
        self.state.store((lap + 1) * PHASES, Ordering::Release);
    }

    /// The frame is read, by whoever has claimed it.
    pub fn fill(&self, lap: u64, outcome: u64) {
        self.outcome.store(outcome, Ordering::Relaxed);
        self.state.store(lap * PHASES + FULL, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::queue::models::Sleepers;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 2;
    const INCOMPLETE: u64 = 77;

    struct Shared {
        frames: Vec<Frame>,
        /// What each rank stores in each frame, and what whoever reads stores for each.
        data: Vec<Vec<UnsafeCell<u64>>>,
        ranks: usize,
        sleepers: Sleepers,
        written: AtomicU32,
    }

    // SAFETY: that `data` is accessed as the frames allow is what the models check.
    unsafe impl Sync for Shared {}

    struct Rank<'a>(&'a Shared, usize);

    impl Rank<'_> {
        fn frame(&self, number: u64) -> (&Frame, u64, &Vec<UnsafeCell<u64>>) {
            let all = self.0.frames.len() as u64;
            let at = (number % all) as usize;
            (&self.0.frames[at], number / all, &self.0.data[at])
        }

        fn wait(&self, mut holds: impl FnMut() -> bool) {
            self.0.sleepers.wait(self.1, || holds().then_some(()));
        }

        fn tell(&self) {
            self.0.sleepers.light_fence();
            self.0.sleepers.wake_all();
        }

        fn open(&self, number: u64) -> bool {
            let (frame, lap, _) = self.frame(number);
            frame.is_open(lap)
        }

        fn over(&self, number: u64) -> bool {
            let (frame, lap, _) = self.frame(number);
            frame.is_over(lap)
        }

        /// Writes a full frame, if there is one that nobody has claimed.
        fn write_one(&self, numbers: std::ops::Range<u64>) -> bool {
            for number in numbers {
                let (frame, lap, data) = self.frame(number);
                if frame.is_full(lap) && frame.claim_full(lap) {
                    for part in data {
                        // SAFETY: as above; loom reports accesses at the same time.
                        assert_eq!(part.with(|part| unsafe { *part }), number + 1);
                    }
                    self.0.written.fetch_add(1, Ordering::Relaxed);
                    frame.end(lap, number);
                    self.tell();
                    return true;
                }
            }
            false
        }

        /// Fills `count` frames and helps to write them. `apart`: a frame that this rank does not fill.
        fn write(&self, count: u64, apart: Option<u64>) {
            let (all, ranks) = (self.0.frames.len() as u64, self.0.ranks as u32);
            let (mut filled, mut seen) = (0, 0);
            while seen < count {
                if seen < filled && self.over(seen) {
                    let (frame, ..) = self.frame(seen);
                    let outcome = frame.outcome();
                    assert!(outcome == seen || outcome == INCOMPLETE);
                    seen += 1;
                    continue;
                }
                if filled < count && filled < seen + all && self.open(filled) {
                    let (frame, lap, data) = self.frame(filled);
                    // SAFETY: as above.
                    data[self.1].with_mut(|part| unsafe { *part = filled + 1 });
                    let part = Part {
                        marks: 1,
                        is_filled: apart != Some(filled),
                    };
                    if frame.arrive(lap, part, ranks, u64::from(ranks), INCOMPLETE) {
                        self.tell();
                    }
                    filled += 1;
                    continue;
                }
                if self.write_one(seen..filled) {
                    continue;
                }
                self.wait(|| {
                    let fills = filled < count && filled < seen + all && self.open(filled);
                    let full = |number| {
                        let (frame, lap, _) = self.frame(number);
                        frame.is_full(lap)
                    };
                    fills || seen < filled && self.over(seen) || (seen..filled).any(full)
                });
            }
        }

        /// Takes from `count` frames and helps to read them.
        fn read(&self, count: u64) {
            let (all, ranks) = (self.0.frames.len() as u64, self.0.ranks as u32);
            let mut taken = 0;
            while taken < count {
                let (frame, lap, data) = self.frame(taken);
                if frame.is_full(lap) {
                    assert_eq!(frame.outcome(), taken);
                    // SAFETY: as above.
                    assert_eq!(data[self.1].with(|part| unsafe { *part }), taken + 1);
                    if frame.leave(lap, ranks) {
                        self.tell();
                    }
                    taken += 1;
                    continue;
                }
                let claimed = (taken..count.min(taken + all)).find(|number| {
                    let (frame, lap, _) = self.frame(*number);
                    frame.is_open(lap) && frame.claim_open(lap)
                });
                if let Some(number) = claimed {
                    let (frame, lap, data) = self.frame(number);
                    for part in data {
                        // SAFETY: as above.
                        part.with_mut(|part| unsafe { *part = number + 1 });
                    }
                    frame.fill(lap, number);
                    self.tell();
                    continue;
                }
                self.wait(|| {
                    frame.is_full(lap)
                        || (taken..count.min(taken + all)).any(|number| self.open(number))
                });
            }
        }
    }

    fn explore(
        ranks: usize,
        frames: usize,
        sleeps: bool,
        written: u32,
        body: impl Fn(&Rank<'_>) + Send + Sync + 'static,
    ) {
        let body = std::sync::Arc::new(body);
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(if ranks > 2 || frames > 1 { 1 } else { CHANGES });
        builder.check(move || {
            let frame = |_| Frame {
                state: AtomicU64::new(0),
                outcome: AtomicU64::new(0),
                marks: AtomicU64::new(0),
                arrived: AtomicU32::new(0),
                _pad: [0; 9],
            };
            let parts = |_| (0..ranks).map(|_| UnsafeCell::new(0)).collect();
            let shared = Arc::new(Shared {
                frames: (0..frames).map(frame).collect(),
                data: (0..frames).map(parts).collect(),
                ranks,
                sleepers: Sleepers::new(ranks, sleeps),
                written: AtomicU32::new(0),
            });
            let threads: Vec<_> = (1..ranks)
                .map(|rank| {
                    let (shared, body) = (shared.clone(), body.clone());
                    thread::spawn(move || body(&Rank(&shared, rank)))
                })
                .collect();
            body(&Rank(&shared, 0));
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(shared.written.load(Ordering::Relaxed), written);
        });
    }

    #[test]
    fn what_all_have_filled_is_written_once() {
        for sleeps in [false, true] {
            explore(2, 1, sleeps, 2, |rank| rank.write(2, None));
            explore(2, 2, sleeps, 3, |rank| rank.write(3, None));
        }
        explore(3, 1, true, 1, |rank| rank.write(1, None));
    }

    #[test]
    fn what_one_has_not_filled_is_not_written() {
        for sleeps in [false, true] {
            explore(2, 1, sleeps, 1, |rank| {
                rank.write(2, (rank.1 == 1).then_some(0))
            });
            explore(2, 2, sleeps, 2, |rank| {
                rank.write(3, (rank.1 == 0).then_some(1))
            });
        }
    }

    #[test]
    fn what_one_has_read_all_take_from() {
        for sleeps in [false, true] {
            explore(2, 1, sleeps, 0, |rank| rank.read(2));
            explore(2, 2, sleeps, 0, |rank| rank.read(3));
        }
        explore(3, 1, true, 0, |rank| rank.read(1));
    }
}
