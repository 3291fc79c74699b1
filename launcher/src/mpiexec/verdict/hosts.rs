//! The verdict over several hosts and jobs: the root asks all keepers, and the mpiexecs of jobs that were spawned, for a sweep over their ranks, and
//! begins the next when it has all answers. Those mpiexecs ask their own keepers and spawned jobs in turn.
//!
//! Invariants: what is told was read between the question and its answer, so a sweep begins after the end of the one before; an answer to
//! an earlier question is none.

use super::family::Job;
use super::proof::Seen;
use super::told::{Answers, Ask, Asked, OfJobs, Proved, ToldRank};
use crate::mpiexec::nodes::frames::Frame;
use crate::mpiexec::spawned;
use crate::mpiexec::supervisor::Supervisor;
use std::time::{Duration, Instant};

/// For the answers of all keepers.
const ANSWERS: Duration = Duration::from_secs(10);

impl Supervisor<'_> {
    /// Until when answers are awaited, if any are.
    pub(super) fn awaits_answers(&mut self, now: Instant) -> Option<Instant> {
        let until = self.verdict.asked.as_ref()?.until;
        if now < until {
            return Some(until);
        }
        self.verdict.forget();
        None
    }

    /// Asks keepers and spawned jobs. Until when answers are awaited; `Err`: there is nobody to ask. `answers`: those of this host, which are found
    /// while the others find theirs. `sweep`: which one is wanted; none: what ranks wait for.
    fn ask_all(
        &mut self,
        sweep: Option<Ask>,
        now: Instant,
        answers: impl FnOnce(&Self) -> Answers,
    ) -> Result<Instant, Answers> {
        let number = self.verdict.questions.wrapping_add(1);
        let keepers = self.tree.as_mut().map_or(0, |tree| {
            tree.broadcast(&match sweep {
                Some(ask) => Frame::SweepWanted { number, ask },
                None => Frame::WaitsWanted { number },
            });
            tree.keepers()
        });
        let left = keepers
            + self.ask_spawned(match sweep {
                Some(ask) if ask.looks => spawned::LOOKS,
                Some(_) => spawned::SWEEP,
                None => spawned::WAITS,
            });
        let answers = answers(self);
        if left == 0 {
            return Err(answers);
        }
        let until = now + ANSWERS;
        self.verdict.questions = number;
        self.verdict.asked = Some(Asked {
            number,
            until,
            left,
            answers,
        });
        Ok(until)
    }

    /// Asks for a sweep, of which the part of this host is there. Until when answers are awaited; `Err`: this is all.
    pub(super) fn ask_for_sweep(
        &mut self,
        here: Vec<(u32, Seen)>,
        ask: Ask,
        now: Instant,
    ) -> Result<Instant, Answers> {
        self.want_looks(ask);
        let unknown = self.has_spawned_unasked().then(Job::unknown);
        self.ask_all(Some(ask), now, |_| {
            Answers::Sweep(here, Vec::from_iter(unknown))
        })
    }

    /// Asks what the ranks wait for of which something was proved, and says it when all is known.
    pub(super) fn ask_for_waits(&mut self, proved: Proved, now: Instant) {
        if self.tree.is_some() {
            // Their rows come before their waits.
            self.ask_for_rows();
        }
        let asked = self.ask_all(None, now, |it| {
            let here = it.waits_here(|rank| proved.set.get(rank) == Some(&true));
            Answers::Waits(Some(proved), here)
        });
        if let Err(answers) = asked {
            self.answered(answers);
        }
    }

    /// At a node keeper.
    pub(crate) fn answer_sweep(&mut self, number: u32, ask: Ask) {
        let ranks = self.sweep_here(ask.part);
        self.want_looks(ask);
        self.report(&Frame::Swept { number, ranks });
    }

    /// Has the ranks of this host look again, which were read before: what they have begun by then counts for nothing.
    fn want_looks(&self, ask: Ask) {
        if ask.looks {
            self.segment.want_looks();
        }
    }

    /// At a node keeper.
    pub(crate) fn answer_waits(&mut self, number: u32) {
        let ranks = self.waits_here(|_| true);
        self.report(&Frame::Waits { number, ranks });
    }

    /// In the mpiexec of a spawned job: that of its parents asks. Each question gets one answer, in their order.
    pub(crate) fn asked_by_parents(&mut self, question: u8) {
        if self.verdict.asked.take().is_some() {
            // Who asks again has given that one up.
            self.tell_parents_mpiexec(&OfJobs::Swept(vec![Job::unknown()]));
        }
        let now = Instant::now();
        let asked = if question == spawned::WAITS {
            self.ask_all(None, now, |it| {
                Answers::Waits(None, it.waits_here(|_| true))
            })
        } else {
            let ask = Ask {
                // Parts of families over several hosts are not judged.
                part: self.tree.is_none(),
                looks: question == spawned::LOOKS,
            };
            let here = self.sweep_here(ask.part);
            self.ask_for_sweep(here, ask, now)
        };
        if let Err(answers) = asked {
            self.answered(answers);
        }
    }

    /// All have answered.
    pub(super) fn answered(&mut self, answers: Answers) {
        let is_spawned = self.plan.is_spawned();
        match answers {
            Answers::Sweep(ranks, jobs) => {
                let own = self.own_job(ranks);
                let jobs = [vec![own], jobs].concat();
                match is_spawned {
                    true => self.tell_parents_mpiexec(&OfJobs::Swept(jobs)),
                    false => self.swept(jobs, Instant::now()),
                }
            }
            Answers::Waits(_, told) if is_spawned => {
                self.tell_parents_mpiexec(&OfJobs::Waits(told));
            }
            Answers::Waits(Some(proved), all) if self.ending.is_none() => {
                let number = |told: &ToldRank| proved.family.number(told.job, told.rank);
                let is_of_set = |number: &usize| proved.set.get(*number) == Some(&true);
                let mut told: Vec<ToldRank> = Vec::new();
                for rank in all {
                    if let Some(number) = number(&rank).filter(is_of_set) {
                        told.push(ToldRank {
                            rank: number as u32,
                            ..rank
                        });
                    }
                }
                told.sort_by_key(|told| told.rank);
                self.say_proved(&proved, told);
            }
            Answers::Waits(..) => {}
        }
    }

    /// Takes an answer to the question that is asked, if it is one.
    fn hear_answer(&mut self, add: impl FnOnce(&mut Answers) -> bool) {
        let asked = &mut self.verdict.asked;
        if let Some(asked) = asked.take_if(|asked| asked.is_last(add)) {
            self.answered(asked.answers);
        }
    }

    fn is_asked(&self, number: u32) -> bool {
        let asked = self.verdict.asked.as_ref();
        asked.is_some_and(|asked| asked.number == number)
    }

    /// At the root: a keeper has swept over its ranks.
    pub(crate) fn hear_sweep(&mut self, number: u32, ranks: Vec<(u32, Seen)>) {
        if self.is_asked(number) {
            self.hear_answer(|answers| match answers {
                Answers::Sweep(all, _) => {
                    all.extend(ranks);
                    true
                }
                Answers::Waits(..) => false,
            });
        }
    }

    /// At the root: a keeper has said what its ranks wait for.
    pub(crate) fn hear_waits(&mut self, number: u32, ranks: Vec<ToldRank>) {
        if self.is_asked(number) {
            self.hear_answer(|answers| add_waits(answers, ranks));
        }
    }

    /// The mpiexec of a spawned job has answered the last question, which rank `spawner` has spawned.
    pub(crate) fn hear_jobs(&mut self, spawner: u32, answer: OfJobs) {
        let own = self.plan.job;
        self.hear_answer(|answers| match (answers, answer) {
            (Answers::Sweep(_, all), OfJobs::Swept(mut jobs)) => {
                if let Some(first) = jobs.first_mut() {
                    first.spawner = Some((own, spawner));
                }
                all.extend(jobs);
                true
            }
            (answers, OfJobs::Waits(ranks)) => add_waits(answers, ranks),
            (Answers::Waits(..), OfJobs::Swept(_)) => false,
        });
    }
}

fn add_waits(answers: &mut Answers, ranks: Vec<ToldRank>) -> bool {
    match answers {
        Answers::Waits(_, all) => {
            all.extend(ranks);
            true
        }
        Answers::Sweep(..) => false,
    }
}

/// What keepers have found, by rank. One of which nothing was told may move.
pub(super) fn in_order(told: Vec<(u32, Seen)>, ranks: usize) -> Vec<Seen> {
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
