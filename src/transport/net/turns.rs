//! Which peer is asked next whether it is there.
//!
//! A process that waits for a peer and sends it nothing never sees that the connection has broken. Where no keeper tells who has ended,
//! each process asks one peer after the other, one a tick: it costs little however many there are, and of many processes one soon asks the
//! dead one. A peer that computes answers late: it is asked again less and less often, for the questions pile up there.

/// Rounds between two questions to a peer that does not answer, at most, as a power of two.
const RARELY: u32 = 6;

#[derive(Debug, Default)]
pub struct Turns {
    /// The peer that was asked last.
    last: Option<u32>,
    /// Ticks so far.
    ticks: u32,
}

impl Turns {
    /// A tick of the clock. Whom to ask now: `open` are those that may be asked, ascending, each with the number of its questions that have no answer.
    pub fn next<I: Iterator<Item = (u32, u32)>>(&mut self, open: impl Fn() -> I) -> Option<u32> {
        self.ticks = self.ticks.wrapping_add(1);
        let ticks = self.ticks;
        let mut due = open().filter(|(_, unanswered)| {
            let pause = 1 << (*unanswered).min(RARELY);
            ticks.is_multiple_of(pause)
        });
        let last = self.last;
        let first = due.next()?;
        let mut all = std::iter::once(first).chain(due);
        let behind = all.find(|(process, _)| last.is_none_or(|last| *process > last));
        let (process, _) = behind.unwrap_or(first);
        self.last = Some(process);
        self.last
    }
}

/// For how long sends to a peer have been refused or have failed, one attempt after the other. Nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Series {
    first: u64,
    /// The last attempt; 0: the one before it was taken.
    last: u64,
}

impl Series {
    /// An attempt was taken.
    pub fn end(&mut self) {
        self.last = 0;
    }

    /// An attempt was in vain. Since when all are; `None` if there was none for a while: a process that computes has tried nothing.
    pub fn since(&mut self, now: u64) -> Option<u64> {
        const PAUSE: u64 = 1_000_000_000;
        let goes_on = self.last != 0 && now - self.last < PAUSE;
        if !goes_on {
            self.first = now;
        }
        self.last = now;
        goes_on.then_some(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_asked_one_after_the_other() {
        let mut turns = Turns::default();
        let open = || [(2, 0), (5, 0), (900, 0)].into_iter();
        let asked: Vec<_> = (0..7).filter_map(|_| turns.next(open)).collect();
        assert_eq!(asked, [2, 5, 900, 2, 5, 900, 2]);
        assert_eq!(turns.next(std::iter::empty), None);
    }

    #[test]
    fn a_peer_that_does_not_answer_is_asked_less_and_less_often_but_for_ever() {
        let (mut turns, mut unanswered, mut asked) = (Turns::default(), 0, Vec::new());
        for tick in 1..=256 {
            if turns.next(|| std::iter::once((7, unanswered))).is_some() {
                asked.push(tick);
                unanswered += 1;
            }
        }
        assert_eq!(asked, [1, 2, 4, 8, 16, 32, 64, 128, 192, 256]);
    }

    #[test]
    fn attempts_far_apart_are_no_series() {
        let mut refused = Series::default();
        let second = 1_000_000_000;
        assert_eq!(refused.since(9 * second), None);
        assert_eq!(refused.since(9 * second + 500), Some(9 * second));
        assert_eq!(refused.since(20 * second), None, "it has computed");
        assert_eq!(refused.since(20 * second + 7), Some(20 * second));
        refused.end();
        assert_eq!(refused.since(20 * second + 9), None);
    }

    #[test]
    fn one_that_computes_keeps_nobody_else_from_being_asked() {
        let mut turns = Turns::default();
        let open = || [(1, 6), (2, 0)].into_iter();
        let asked: Vec<_> = (0..128).filter_map(|_| turns.next(open)).collect();
        assert_eq!(asked.iter().filter(|process| **process == 1).count(), 2);
        assert_eq!(asked.len(), 128);
    }
}
