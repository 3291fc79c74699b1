//! The program of a rank: epochs of operations at random, and what they must give.
//!
//! The first words of a rank's memory are everybody's: a counter, a word that is swapped, and a pair that is counted up under the exclusive
//! lock. Then comes an area for each rank, whose words are only changed by that one: what it knows of them is a sequential model, since
//! calls of one origin to one target are done in their order.

use super::judge::Judge;
use super::sides::{BLOCK, Place, buffer, int64, operand, with_holes};
use crate::datatype::Datatype;
use crate::engine::losses;
use crate::engine::tests::data::Dice;
use crate::engine::tests::processes::moved;
use crate::error::{Class, Result};
use crate::op::{Op, Operation};
use crate::rma::access::Remote;
use crate::rma::epoch::{self, LockType};
use crate::rma::window::Window;
use crate::rma::{accumulate, atomic, put_get};
use parking_lot::{Mutex, MutexGuard};

const COUNTER: usize = 0;
const SWAPPED: usize = 1;
const PAIR: usize = 2;
/// Where the areas begin.
pub const AREAS: usize = 8;
const EPOCHS: usize = 12;
/// More than may be under way to one target.
const MOST_OPERATIONS: usize = 50;

/// What an operation has to return.
enum Wanted {
    Words(Vec<u64>),
    /// Added to the counter.
    Counted(u64),
    /// Expected in the word that is swapped, and brought there.
    Swapped(u64, u64),
}

/// An operation whose result may not be there.
struct Pending {
    target: usize,
    result: Box<[u64]>,
    wanted: Wanted,
}

pub struct Program<'a> {
    me: usize,
    window: &'static Window,
    dice: Dice,
    judge: &'a Mutex<Judge>,
    /// By target: the own area there.
    models: Vec<Vec<u64>>,
    /// By target: an operation has failed there.
    lost: Vec<bool>,
    /// By target: the last that was seen of the word that is swapped, and of the pair.
    seen: Vec<u64>,
    pairs: Vec<u64>,
    pending: Vec<Pending>,
    swaps: u64,
}

impl<'a> Program<'a> {
    pub fn new(window: &'static Window, dice: Dice, area: usize, judge: &'a Mutex<Judge>) -> Self {
        let ranks = window.size();
        Self {
            me: window.rank,
            window,
            dice,
            judge,
            models: vec![vec![0; area]; ranks],
            lost: vec![false; ranks],
            seen: vec![0; ranks],
            pairs: vec![0; ranks],
            pending: Vec::new(),
            swaps: 0,
        }
    }

    /// The own areas; `None` of those where an operation has failed.
    pub fn run(mut self) -> Vec<Option<Vec<u64>>> {
        for _ in 0..EPOCHS {
            let target = self.dice.below(self.window.size());
            match self.dice.below(8) {
                0..=2 => self.operates(target),
                3..=4 => self.counts_the_pair(target),
                5 => self.reads_the_pair(target),
                _ => self.operates_everywhere(),
            }
            moved();
        }
        for target in 0..self.window.size() {
            self.compares(target);
            moved();
        }
        assert!(self.pending.is_empty());
        let all = self.models.into_iter().zip(self.lost);
        all.map(|(model, lost)| (!lost).then_some(model)).collect()
    }

    fn judge(&self) -> MutexGuard<'a, Judge> {
        self.judge.lock()
    }

    fn is_gone(&self, target: usize) -> bool {
        losses::loss(self.window.targets[target].process).is_some()
    }

    /// An error is right only where somebody is lost.
    fn has_failed(&self, error: &crate::error::Error, what: &'static str) {
        let class = error.class();
        assert!(
            matches!(class, Class::Other | Class::ProcFailed),
            "{error:?}"
        );
        let anybody = (0..self.window.size()).any(|rank| self.is_gone(rank));
        assert!(anybody, "{error:?}");
        self.judge().note(what);
    }

    fn locks(&self, target: usize, kind: LockType) -> bool {
        match epoch::lock(self.window, kind, Some(target), 0) {
            Ok(()) => {
                self.judge().locked(self.me, target, kind);
                true
            }
            Err(error) => {
                self.has_failed(&error, "a lock is refused");
                false
            }
        }
    }

    fn unlocks(&mut self, target: usize) {
        self.judge().unlocks(self.me, target);
        let done = epoch::unlock(self.window, Some(target));
        self.is_settled(Some(target), done);
    }

    /// What was wanted of a target, or of all, is here.
    fn is_settled(&mut self, target: Option<usize>, done: Result<()>) {
        let is_meant = |rank: usize| target.is_none_or(|target| target == rank);
        if let Err(error) = done {
            self.has_failed(&error, "a target is lost");
            let gone =
                (0..self.window.size()).filter(|rank| is_meant(*rank) && self.is_gone(*rank));
            let gone: Vec<usize> = gone.collect();
            assert!(!gone.is_empty(), "{target:?} is not lost: {error:?}");
            gone.into_iter().for_each(|rank| self.lost[rank] = true);
        }
        let all = std::mem::take(&mut self.pending).into_iter();
        let (over, pending) = all.partition(|it| is_meant(it.target));
        self.pending = pending;
        over.into_iter().for_each(|it: Pending| self.compare(it));
    }

    fn compare(&mut self, over: Pending) {
        let Pending {
            target,
            result,
            wanted,
        } = over;
        if self.lost[target] {
            return;
        }
        match wanted {
            Wanted::Words(words) => assert_eq!(*result, *words, "from {target}"),
            Wanted::Counted(added) => self.judge().fetched(target, result[0], added),
            Wanted::Swapped(expected, new) => {
                let found = result[0];
                self.seen[target] = found;
                if found == expected {
                    self.seen[target] = new;
                    self.judge().swapped(target, found, new);
                    self.judge().note("a swap succeeds");
                } else {
                    self.judge().note("a swap finds another value");
                }
            }
        }
    }

    /// Completes operations to a target in one of the ways.
    fn flushes(&mut self, target: usize) {
        let (window, one) = (self.window, Some(target));
        match self.dice.below(3) {
            0 => self.is_settled(one, epoch::flush_local(window, one)),
            _ => self.is_settled(one, epoch::flush(window, one)),
        }
    }

    fn operates(&mut self, target: usize) {
        if !self.locks(target, LockType::Shared) {
            return;
        }
        for _ in 0..1 + self.dice.below(MOST_OPERATIONS) {
            self.operate(target);
            if self.dice.one_in(12) {
                self.flushes(target);
            }
        }
        self.unlocks(target);
    }

    fn operates_everywhere(&mut self) {
        let ranks = self.window.size();
        if let Err(error) = epoch::lock_all(self.window, 0) {
            return self.has_failed(&error, "not all locks are to be had");
        }
        for target in 0..ranks {
            self.judge().locked(self.me, target, LockType::Shared);
        }
        for _ in 0..1 + self.dice.below(MOST_OPERATIONS) {
            let target = self.dice.below(ranks);
            self.operate(target);
            match self.dice.below(24) {
                0 => self.flushes(target),
                1 => self.is_settled(None, epoch::flush_all(self.window)),
                2 => self.is_settled(None, epoch::flush_local_all(self.window)),
                _ => {}
            }
        }
        for target in 0..ranks {
            self.judge().unlocks(self.me, target);
        }
        self.is_settled(None, epoch::unlock_all(self.window));
    }

    fn remote(&self, target: usize, at: usize, count: u64, datatype: &'static Datatype) -> Remote {
        Remote {
            rank: target as i32,
            disp: at as i64,
            count,
            datatype,
        }
    }

    /// Words of the own area at a target.
    fn there(&self, target: usize, place: Place) -> Remote {
        let at = AREAS + self.me * self.models[target].len() + place.at;
        match place.holes {
            true => self.remote(target, at, (place.words / BLOCK) as u64, with_holes()),
            false => self.remote(target, at, place.words as u64, int64()),
        }
    }

    fn place(&mut self) -> Place {
        let area = self.models[self.me].len();
        let holes = self.dice.one_in(4);
        let most = if holes { area / (2 * BLOCK) } else { area };
        // Large ones are few: they take their time.
        let is_any = self.dice.one_in(if most > 1000 { 10 } else { 2 });
        let most = if is_any { most } else { most.min(4) };
        let count = 1 + self.dice.below(most);
        let (words, span) = match holes {
            true => (count * BLOCK, count * 2 * BLOCK),
            false => (count, count),
        };
        Place {
            at: self.dice.below(area - span + 1),
            words,
            holes,
        }
    }

    fn words(&mut self, words: usize) -> Vec<u64> {
        let first = self.dice.below(1 << 30) as u64;
        (0..words as u64).map(|word| first << 20 ^ word).collect()
    }

    /// Begins an operation on a target.
    fn operate(&mut self, target: usize) {
        if self.dice.one_in(3) {
            moved();
        }
        match self.dice.below(12) {
            0..=2 => self.put(target),
            3..=5 => self.get(target),
            6..=8 => self.accumulate(target),
            9 => self.count(target),
            _ => self.swap(target),
        }
    }

    /// Has an operation begun whose result is not there yet.
    fn begin(
        &mut self,
        target: usize,
        (words, wanted): (usize, Wanted),
        begin: impl FnOnce(&mut [u64]) -> Result<()>,
    ) {
        let mut result = vec![u64::MAX; words].into_boxed_slice();
        begin(&mut result).unwrap();
        self.pending.push(Pending {
            target,
            result,
            wanted,
        });
    }

    fn put(&mut self, target: usize) {
        let place = self.place();
        let mut words = self.words(place.words);
        for (word, value) in words.iter().enumerate() {
            self.models[target][place.index(word)] = *value;
        }
        let remote = self.there(target, place);
        put_get::transfer::<true>(self.window, buffer(&mut words), &remote, None).unwrap();
    }

    /// What the own area at a target has at a place.
    fn known(&self, target: usize, place: Place) -> Vec<u64> {
        let model = &self.models[target];
        (0..place.words)
            .map(|word| model[place.index(word)])
            .collect()
    }

    fn get(&mut self, target: usize) {
        let place = self.place();
        let wanted = Wanted::Words(self.known(target, place));
        let (window, remote) = (self.window, self.there(target, place));
        self.begin(target, (place.words, wanted), |result| {
            put_get::transfer::<false>(window, buffer(result), &remote, None)
        });
    }

    fn accumulate(&mut self, target: usize) {
        let place = self.place();
        let operation = self
            .dice
            .one_of(&[Operation::Sum, Operation::Replace, Operation::NoOp]);
        let mut words = self.words(place.words);
        let before = self.known(target, place);
        for (word, value) in words.iter().enumerate() {
            let known = &mut self.models[target][place.index(word)];
            *known = match operation {
                Operation::Sum => known.wrapping_add(*value),
                Operation::Replace => *value,
                _ => *known,
            };
        }
        let (window, remote) = (self.window, self.there(target, place));
        let op = Op::Predefined(operation);
        let own = operand(&mut words);
        if operation != Operation::NoOp && self.dice.one_in(2) {
            return accumulate::accumulate(window, &op, &own, &remote).unwrap();
        }
        self.begin(target, (place.words, Wanted::Words(before)), |result| {
            let own = (operation != Operation::NoOp).then_some(&own);
            accumulate::get_accumulate(window, &op, own, &operand(result), &remote, None)
        });
    }

    /// Adds to the counter.
    fn count(&mut self, target: usize) {
        let added = 1 + self.dice.below(3) as u64;
        let (window, remote) = (self.window, self.remote(target, COUNTER, 1, int64()));
        let op = Op::Predefined(Operation::Sum);
        self.begin(target, (1, Wanted::Counted(added)), |result| {
            let mut added = [added];
            let own = operand(&mut added);
            accumulate::get_accumulate(window, &op, Some(&own), &operand(result), &remote, None)
        });
    }

    fn swap(&mut self, target: usize) {
        self.swaps += 1;
        let new = self.swaps << 8 | (self.me as u64 + 1);
        let expected = self.seen[target];
        let (window, remote) = (self.window, self.remote(target, SWAPPED, 1, int64()));
        self.begin(target, (1, Wanted::Swapped(expected, new)), |result| {
            let (new, expected) = ([new], [expected]);
            let result = result.as_mut_ptr().cast();
            // SAFETY: an element each; the result lives until the operation is complete.
            unsafe {
                atomic::compare_and_swap(
                    window,
                    new.as_ptr().cast(),
                    expected.as_ptr().cast(),
                    result,
                    &remote,
                )
            }
        });
    }

    /// Reads the pair in an epoch; `None` if the target is lost.
    fn pair(&mut self, target: usize) -> Option<u64> {
        let (window, remote) = (self.window, self.remote(target, PAIR, 2, int64()));
        let mut pair = [u64::MAX; 2];
        put_get::transfer::<false>(window, buffer(&mut pair), &remote, None).unwrap();
        let done = match self.dice.one_in(2) {
            true => epoch::flush(window, Some(target)),
            false => epoch::flush_local(window, Some(target)),
        };
        self.is_settled(Some(target), done);
        if self.lost[target] {
            return None;
        }
        assert_eq!(pair[0], pair[1], "at {target}");
        assert!(pair[0] >= self.pairs[target]);
        self.pairs[target] = pair[0];
        Some(pair[0])
    }

    fn reads_the_pair(&mut self, target: usize) {
        if self.locks(target, LockType::Shared) {
            moved();
            self.pair(target);
            self.unlocks(target);
        }
    }

    fn counts_the_pair(&mut self, target: usize) {
        if !self.locks(target, LockType::Exclusive) {
            return;
        }
        moved();
        if let Some(count) = self.pair(target) {
            *self.judge().pairs_begun.entry(target).or_default() += 1;
            for word in [PAIR, PAIR + 1] {
                let remote = self.remote(target, word, 1, int64());
                let put = put_get::transfer::<true>;
                put(self.window, buffer(&mut [count + 1]), &remote, None).unwrap();
                moved();
            }
        }
        let is_begun = !self.lost[target];
        self.unlocks(target);
        if is_begun && !self.lost[target] {
            *self.judge().pairs_done.entry(target).or_default() += 1;
        }
    }

    /// Compares the own area at a target as a whole.
    fn compares(&mut self, target: usize) {
        if self.lost[target] || !self.locks(target, LockType::Shared) {
            return;
        }
        let place = Place {
            at: 0,
            words: self.models[target].len(),
            holes: false,
        };
        let wanted = Wanted::Words(self.known(target, place));
        let (window, remote) = (self.window, self.there(target, place));
        self.begin(target, (place.words, wanted), |result| {
            put_get::transfer::<false>(window, buffer(result), &remote, None)
        });
        self.unlocks(target);
    }
}
