//! When the next sweep is.
//!
//! Nothing is proved by the clock: sweeps that come late or early are right all the same. All ranks are asked to look once in a proof, with its second
//! sweep. They have looked soon after that, so the sweeps that follow come soon, and then less often where ranks get no core.

use super::proof::Next;
use std::time::Duration;

/// Between the first two sweeps of a proof: where something moves meanwhile no rank is woken for it. Longer than the library takes to tell of a connection's end (`lifelines.rs`).
const PERIOD: Duration = Duration::from_millis(250);
/// Between two looks whether a proof can begin: mpiexec's share of a core, and what users wait for the verdict.
const IDLE_PERIOD: Duration = Duration::from_millis(500);
/// From the question for looks to the first sweep that may find that all were made.
const FIRST: Duration = Duration::from_millis(10);
/// Of so many hosts more a look takes as much longer, for the sake of mpiexec, which hears of each.
const HOSTS: u32 = 16;

/// Which sweep was the last one.
#[derive(Default)]
pub struct Schedule {
    /// Sweeps since the ranks were asked to look.
    after: u32,
}

impl Schedule {
    /// How long to wait before the next sweep, which is for this in the proof of all ranks; `is_part`: a proof of some ranks has begun; over so many
    /// further hosts.
    pub fn next(&mut self, sweep: Next, is_part: bool, hosts: u32) -> Duration {
        if sweep != Next::Looks {
            self.after = 0;
        }
        match sweep {
            Next::Looks => {
                self.after += 1;
                (FIRST * 2u32.saturating_pow(self.after.min(8) - 1)).min(PERIOD)
            }
            Next::Begin if !is_part => IDLE_PERIOD * (1 + hosts / HOSTS),
            _ => PERIOD,
        }
    }

    pub const fn idle() -> Duration {
        IDLE_PERIOD
    }
}

#[cfg(test)]
mod tests {
    use super::super::proof::{Looks, Passive, Proof, Seen};
    use super::*;

    /// Sweeps over a rank that makes its looks and checks when it is asked, `late` sweeps later. How many it takes, how often the rank was asked, and
    /// how long the pauses were in all.
    fn prove(late: u64) -> (u32, u32, Duration) {
        let (mut proof, mut schedule) = (Proof::default(), Schedule::default());
        let (mut asked, mut waited, mut looks, mut owed) = (0, Duration::ZERO, 0, None);
        for sweep in 1.. {
            let asks = proof.next() == Next::Again;
            let seen = Seen::Passive(Passive {
                waits: vec![Looks {
                    slot: 0,
                    looks,
                    checks: looks,
                }],
                ..Passive::default()
            });
            if proof.sweep(&[seen]) {
                return (sweep, asked, waited);
            }
            if asks {
                asked += 1;
                owed = Some(late);
            }
            owed = match owed {
                Some(0) => {
                    looks += 4;
                    None
                }
                owed => owed.map(|owed| owed - 1),
            };
            waited += schedule.next(proof.next(), false, 0);
        }
        unreachable!()
    }

    #[test]
    fn ranks_are_asked_once_and_a_proof_takes_three_sweeps_if_they_look() {
        assert_eq!(prove(0), (3, 1, PERIOD + FIRST));
        // One that gets no core for a while: the proof goes on where it stood.
        assert_eq!(prove(2), (5, 1, PERIOD + 7 * FIRST));
        let (sweeps, asked, _) = prove(40);
        assert_eq!((sweeps, asked), (43, 1));
    }

    #[test]
    fn sweeps_come_less_often_the_longer_it_takes() {
        let mut schedule = Schedule::default();
        let all: Vec<Duration> = (0..12)
            .map(|_| schedule.next(Next::Looks, false, 0))
            .collect();
        assert!(all.is_sorted() && all[0] == FIRST && all[11] == PERIOD);
        assert_eq!(schedule.next(Next::Begin, false, 0), IDLE_PERIOD);
        assert_eq!(schedule.next(Next::Begin, false, HOSTS), 2 * IDLE_PERIOD);
        assert_eq!(schedule.next(Next::Begin, true, HOSTS), PERIOD);
        assert_eq!(schedule.next(Next::Looks, false, 0), FIRST);
    }
}
