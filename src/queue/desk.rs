//! A desk: memory of some members in which they agree, again and again, though any of them may die at any time.
//!
//! ```text
//! member   | odd agreements: number and flag, acknowledged members | even agreements: the same |       each in lines of its own
//! ```
//!
//! Agreements are numbered from 1. A member contributes by one store, the number with its flag, and then looks until each other member has
//! contributed or is lost. Who has contributed is settled by then: what is stored stays, and a lost member stores nothing any more. The
//! outcome depends on that alone, so every member has the same one and nobody has to decide for the others.
//!
//! Invariant: a member contributes to an agreement only when it has the outcome of the one before. So nobody reads what it had stored for
//! the agreement two before, which has the same place: all that live have contributed to the one between. Lost means that a process stores
//! no more, and whoever learns of it sees all that it had stored (models below, for loom).

use crate::sync::{AtomicU64, Ordering, fence_after_update};

/// Words of a cache line; loom has no lines.
const LINE: usize = if cfg!(loom) { 1 } else { 8 };

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// Words for the members that somebody has acknowledged, a bit for each.
const fn bitmap(members: usize) -> usize {
    members.div_ceil(BITS)
}

/// Words of one contribution.
const fn place_words(members: usize) -> usize {
    (1 + bitmap(members)).next_multiple_of(LINE)
}

/// Words of a desk for so many members. Zeros are a fresh one.
pub const fn words(members: usize) -> usize {
    2 * members * place_words(members)
}

/// What the members have agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The bitwise AND of the flags of the contributors among the first members, and of those among the others.
    pub flags: [u32; 2],
    /// Those who have not contributed, ascending.
    pub absent: Vec<usize>,
    /// Whether every contributor had acknowledged all of these.
    pub is_acknowledged: bool,
}

/// See the module.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    words: &'a [AtomicU64],
    members: usize,
}

impl<'a> Desk<'a> {
    /// Of so many members, in that many [`words`].
    pub fn new(words: &'a [AtomicU64], members: usize) -> Desk<'a> {
        assert_eq!(words.len(), self::words(members));
        Desk { words, members }
    }

    /// A member's contribution to an agreement.
    fn place(self, member: usize, number: u32) -> &'a [AtomicU64] {
        let words = place_words(self.members);
        let at = (2 * member + (number & 1) as usize) * words;
        &self.words[at..at + words]
    }

    /// The flag of a member that has contributed.
    fn flag_of(self, member: usize, number: u32) -> Option<u32> {
        // Acquire: pairs with `contribute`.
        let word = self.place(member, number)[0].load(Ordering::Acquire);
        (word >> 32 == u64::from(number)).then_some(word as u32)
    }

    /// Contributes to an agreement, after the outcome of the one before. If two members do so and look then, one of them sees both.
    pub fn contribute(
        self,
        me: usize,
        number: u32,
        flag: u32,
        has_acknowledged: impl Fn(usize) -> bool,
    ) {
        let place = self.place(me, number);
        for (at, word) in place[1..=bitmap(self.members)].iter().enumerate() {
            let members = at * BITS..self.members.min((at + 1) * BITS);
            let bit = |member: usize| u64::from(has_acknowledged(member)) << (member % BITS);
            word.store(members.map(bit).sum(), Ordering::Relaxed);
        }
        // Release: pairs with `flag_of`. SeqCst: whoever contributes last wakes those who sleep.
        place[0].swap(u64::from(number) << 32 | u64::from(flag), Ordering::SeqCst);
        fence_after_update();
    }

    /// Whether each member has contributed or is lost. `seen`, 0 at first, is how many of them were found so in earlier looks.
    pub fn is_settled(
        self,
        number: u32,
        seen: &mut usize,
        is_lost: impl Fn(usize) -> bool,
    ) -> bool {
        while *seen < self.members {
            if self.flag_of(*seen, number).is_none() && !is_lost(*seen) {
                return false;
            }
            *seen += 1;
        }
        true
    }

    /// The members that some contributor has acknowledged, ascending; of an agreement that [is settled](Desk::is_settled).
    pub fn marked(self, number: u32) -> Vec<usize> {
        let contributors =
            (0..self.members).filter(|member| self.flag_of(*member, number).is_some());
        let words = |at: usize| {
            let word = |member: usize| self.place(member, number)[1 + at].load(Ordering::Relaxed);
            contributors
                .clone()
                .fold(0, |all, member| all | word(member))
        };
        let bits = (0..bitmap(self.members)).flat_map(|at| {
            let word = words(at);
            (0..BITS)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| at * BITS + bit)
        });
        bits.collect()
    }

    /// The outcome of an agreement that [is settled](Desk::is_settled). `first`: how many members are the first ones.
    pub fn outcome(self, number: u32, first: usize) -> Outcome {
        let mut outcome = Outcome {
            flags: [u32::MAX; 2],
            absent: Vec::new(),
            is_acknowledged: true,
        };
        for member in 0..self.members {
            // Read behind the look that has found it lost: a lost one may have contributed.
            match self.flag_of(member, number) {
                Some(flag) => outcome.flags[usize::from(member >= first)] &= flag,
                None => outcome.absent.push(member),
            }
        }
        let knows_all = |member: usize| {
            let place = self.place(member, number);
            let knows = |absent: &usize| {
                let word = place[1 + absent / BITS].load(Ordering::Relaxed);
                word >> (absent % BITS) & 1 != 0
            };
            self.flag_of(member, number).is_none() || outcome.absent.iter().all(knows)
        };
        outcome.is_acknowledged = outcome.absent.is_empty() || (0..self.members).all(knows_all);
        outcome
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn desk(members: usize) -> Desk<'static> {
        let words = (0..words(members)).map(|_| AtomicU64::new(0));
        Desk::new(Vec::leak(words.collect()), members)
    }

    #[test]
    fn an_agreement_is_settled_when_each_has_contributed_or_is_lost() {
        // More members than a word has bits.
        let desk = desk(70);
        for number in 1..=5 {
            let mut seen = 0;
            for member in (0..70).filter(|member| *member != 66) {
                assert!(!desk.is_settled(number, &mut seen, |_| false));
                let flag = u32::MAX ^ 1 << (member % 30);
                desk.contribute(member, number, flag, |other| other == 66 && number > 1);
            }
            assert!(!desk.is_settled(number, &mut seen, |member| member == 65));
            assert_eq!(seen, 66);
            assert!(desk.is_settled(number, &mut seen, |member| member == 66));
            let outcome = desk.outcome(number, 10);
            assert_eq!(outcome.flags, [!0x3ff, 3 << 30]);
            assert_eq!(outcome.absent, [66]);
            assert_eq!(outcome.is_acknowledged, number > 1);
        }
    }

    #[test]
    fn one_contributor_that_has_not_acknowledged_is_enough() {
        let desk = desk(4);
        for member in 0..3 {
            desk.contribute(member, 1, 7, |other| other == 3 && member != 1);
        }
        let outcome = desk.outcome(1, 4);
        assert_eq!((outcome.flags[0], outcome.absent.as_slice()), (7, &[3][..]));
        assert_eq!(desk.marked(1), [3]);
        assert!(!outcome.is_acknowledged);
    }

    #[test]
    fn a_contribution_counts_though_its_member_has_died_since() {
        let desk = desk(2);
        desk.contribute(0, 1, 5, |_| false);
        desk.contribute(1, 1, 4, |_| false);
        let mut seen = 0;
        assert!(desk.is_settled(1, &mut seen, |_| true));
        let outcome = desk.outcome(1, 2);
        assert_eq!((outcome.flags[0], outcome.is_acknowledged), (4, true));
        assert!(outcome.absent.is_empty());
    }
}
