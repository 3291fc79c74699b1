//! How a job is brought to its end: which signals when.
//!
//! Invariant: the last step is a SIGKILL, at most a second and a half after the first.

use rustix::process::Signal;
use std::time::{Duration, Instant};

/// The exit code of a job whose time limit is over, as that of `timeout` of the shell.
pub const TIMEOUT_CODE: i32 = 124;

/// Of a job that has lost a host.
pub const LOST_CODE: i32 = 128 + 9;

/// Steps: how long after the beginning, and what all processes of the job get then.
type Steps = &'static [(u64, Signal)];

/// Why a job is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A rank died, a time limit, nobody reads the output. The moment before the first step lets ranks that have just
    /// begun to wait write down what for.
    Failure,
    /// The caller of MPI_Abort gets a moment to write what it has buffered and to go by itself.
    Abort,
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, SIGHUP.
    Terminate,
    /// A second Ctrl-C, SIGQUIT, the death of the front process.
    AtOnce,
    /// All ranks are done, but some process they started is not.
    Leftovers,
}

impl Cause {
    fn steps(self) -> Steps {
        match self {
            Cause::Failure => &[(80, Signal::TERM), (480, Signal::KILL)],
            Cause::Abort => &[(150, Signal::TERM), (500, Signal::KILL)],
            Cause::Interrupt => &[(0, Signal::INT), (500, Signal::TERM), (1000, Signal::KILL)],
            Cause::Terminate => &[(0, Signal::TERM), (1000, Signal::KILL)],
            Cause::AtOnce => &[(0, Signal::KILL)],
            Cause::Leftovers => &[(1000, Signal::TERM), (1400, Signal::KILL)],
        }
    }
}

/// A job on its way to the end.
#[derive(Debug)]
pub struct Ending {
    pub cause: Cause,
    since: Instant,
    done: usize,
}

impl Ending {
    pub fn new(cause: Cause, now: Instant) -> Ending {
        Ending {
            cause,
            since: now,
            done: 0,
        }
    }

    /// The signal that is due now, if one is. The last one, SIGKILL, is due again and again: a process may just have
    /// been started by one that we killed.
    pub fn due(&mut self, now: Instant) -> Option<Signal> {
        let steps = self.cause.steps();
        let mut due = None;
        while let Some((after, signal)) = steps.get(self.done)
            && now >= self.since + Duration::from_millis(*after)
        {
            due = Some(*signal);
            self.done += 1;
        }
        if due.is_none() && self.is_last() {
            due = Some(Signal::KILL);
        }
        due
    }

    /// When to ask again.
    pub fn next(&self, now: Instant) -> Instant {
        match self.cause.steps().get(self.done) {
            Some((after, _)) => self.since + Duration::from_millis(*after),
            None => now + Duration::from_millis(10),
        }
    }

    /// Whether only SIGKILL is left.
    pub fn is_last(&self) -> bool {
        self.done == self.cause.steps().len()
    }

    /// How long it has been under way.
    pub fn time(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    /// Whether a process resists SIGKILL (asleep in a broken file system, or of another user).
    pub fn is_hopeless(&self, now: Instant) -> bool {
        self.is_last() && self.time(now) > Duration::from_secs(5)
    }

    /// Whether this cause is more urgent than the one under way.
    pub fn is_overtaken_by(&self, cause: Cause) -> bool {
        let rank = |cause| match cause {
            Cause::Leftovers => 0,
            Cause::AtOnce => 2,
            _ => 1,
        };
        rank(cause) > rank(self.cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSES: [Cause; 6] = [
        Cause::Failure,
        Cause::Abort,
        Cause::Interrupt,
        Cause::Terminate,
        Cause::AtOnce,
        Cause::Leftovers,
    ];

    #[test]
    fn every_end_is_a_kill_in_time() {
        for cause in CAUSES {
            let start = Instant::now();
            let mut ending = Ending::new(cause, start);
            let mut sent = Vec::new();
            while !ending.is_last() {
                let now = ending.next(start);
                assert!(now <= start + Duration::from_millis(1500));
                sent.extend(ending.due(now));
            }
            assert_eq!(sent.last(), Some(&Signal::KILL), "{cause:?}");
            assert_eq!(ending.due(start), Some(Signal::KILL));
            assert!(!ending.is_hopeless(start));
            assert!(ending.is_hopeless(start + Duration::from_secs(6)));
        }
    }

    #[test]
    fn a_second_interrupt_is_more_urgent() {
        let ending = Ending::new(Cause::Interrupt, Instant::now());
        assert!(ending.is_overtaken_by(Cause::AtOnce));
        assert!(!ending.is_overtaken_by(Cause::Failure));
        assert!(Ending::new(Cause::Leftovers, Instant::now()).is_overtaken_by(Cause::Interrupt));
    }
}
