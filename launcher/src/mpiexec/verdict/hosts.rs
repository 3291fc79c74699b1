//! The verdict over several hosts: the root asks all keepers for a sweep over their ranks, and begins the next when it has all answers.
//!
//! Invariants: what a keeper has read it has read between the question and its answer, so a sweep begins after the end of the one before; an answer to
//! an earlier question is none.

use super::proof::Seen;
use super::told::{Answers, Asked, Proved, ToldRank};
use crate::mpiexec::nodes::frames::Frame;
use crate::mpiexec::supervisor::Supervisor;
use std::time::{Duration, Instant};

/// For the answers of all keepers.
const ANSWERS: Duration = Duration::from_secs(10);

impl Supervisor<'_> {
    /// Until when answers are awaited, if any are.
    pub(super) fn awaits_hosts(&mut self, now: Instant) -> Option<Instant> {
        let until = self.verdict.asked.as_ref()?.until;
        if now < until {
            return Some(until);
        }
        self.verdict.forget();
        None
    }

    fn ask_hosts(&mut self, answers: Answers, now: Instant) -> Option<Instant> {
        let tree = self.tree.as_mut()?;
        let number = self.verdict.questions.wrapping_add(1);
        tree.broadcast(&match answers {
            Answers::Sweep(_) => Frame::SweepWanted { number },
            Answers::Waits(..) => Frame::WaitsWanted { number },
        });
        let until = now + ANSWERS;
        self.verdict.questions = number;
        self.verdict.asked = Some(Asked {
            number,
            until,
            left: tree.keepers(),
            answers,
        });
        Some(until)
    }

    /// At the root: asks for a sweep, of which the part of this host is there. Until when answers are awaited; `None`: there are no other hosts.
    pub(super) fn ask_for_sweep(&mut self, here: &[(u32, Seen)], now: Instant) -> Option<Instant> {
        self.tree.as_ref()?;
        self.ask_hosts(Answers::Sweep(here.to_vec()), now)
    }

    /// Asks what the ranks wait for of which something was proved, and says it when all is known.
    pub(super) fn ask_for_waits(&mut self, proved: Proved, now: Instant) {
        let here = self.waits_here(|rank| proved.set.get(rank) == Some(&true));
        if self.tree.is_none() {
            return self.say_proved(&proved, here);
        }
        // Their rows come before their waits.
        self.ask_for_rows();
        self.ask_hosts(Answers::Waits(proved, here), now);
    }

    /// At a node keeper.
    pub(crate) fn answer_sweep(&mut self, number: u32) {
        let ranks = self.sweep_here();
        self.report(&Frame::Swept { number, ranks });
    }

    /// At a node keeper.
    pub(crate) fn answer_waits(&mut self, number: u32) {
        let ranks = self.waits_here(|_| true);
        self.report(&Frame::Waits { number, ranks });
    }

    /// At the root: a keeper has swept over its ranks.
    pub(crate) fn hear_sweep(&mut self, number: u32, ranks: Vec<(u32, Seen)>) {
        let add = |answers: &mut Answers| match answers {
            Answers::Sweep(all) => {
                all.extend(ranks);
                true
            }
            Answers::Waits(..) => false,
        };
        let asked = &mut self.verdict.asked;
        let Some(asked) = asked.take_if(|asked| asked.is_last(number, add)) else {
            return;
        };
        if let Answers::Sweep(all) = asked.answers {
            self.swept(in_order(all, self.ranks.len()), Instant::now());
        }
    }

    /// At the root: a keeper has said what its ranks wait for.
    pub(crate) fn hear_waits(&mut self, number: u32, ranks: Vec<ToldRank>) {
        let add = |answers: &mut Answers| match answers {
            Answers::Waits(_, all) => {
                all.extend(ranks);
                true
            }
            Answers::Sweep(_) => false,
        };
        let asked = &mut self.verdict.asked;
        let Some(asked) = asked.take_if(|asked| asked.is_last(number, add)) else {
            return;
        };
        if let Answers::Waits(proved, mut all) = asked.answers
            && self.ending.is_none()
        {
            all.sort_by_key(|told| told.rank);
            self.say_proved(&proved, all);
        }
    }
}

/// What keepers have found, by rank. One of which nothing was told may move.
fn in_order(told: Vec<(u32, Seen)>, ranks: usize) -> Vec<Seen> {
    let mut all = vec![Seen::Open; ranks];
    for (rank, seen) in told {
        if let Some(place) = all.get_mut(rank as usize) {
            *place = seen;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::proof::{Passive, Records};
    use super::*;

    #[test]
    fn a_rank_that_was_not_told_of_may_move() {
        let passive = |activity| {
            Seen::Passive(Passive {
                activity,
                ..Passive::default()
            })
        };
        let told = vec![
            (2, passive(7)),
            (0, Seen::Gone(Records::default())),
            (9, passive(1)),
        ];
        let all = [Seen::Gone(Records::default()), Seen::Open, passive(7)];
        assert_eq!(in_order(told, 3), all);
    }
}
