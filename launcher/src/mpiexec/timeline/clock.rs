//! The clocks of a host: ticks of records, its own seconds, and the time of day.

use oxmpi::os::{monotonic_nanoseconds, ticks, ticks_are_steady};
use std::time::SystemTime;

/// One moment by the clocks of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    pub ticks: u64,
    /// CLOCK_MONOTONIC, nanoseconds.
    pub monotonic: u64,
    /// Of the day, nanoseconds.
    pub wall: u64,
}

impl Clock {
    /// Now. Of several readings the one that took the least time.
    pub fn read() -> Clock {
        let counter = ticks_are_steady();
        let once = |_| {
            let before = monotonic_nanoseconds();
            let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let counted = if counter { ticks() } else { before };
            let after = monotonic_nanoseconds();
            let clock = Clock {
                ticks: counted,
                monotonic: if counter {
                    before.midpoint(after)
                } else {
                    before
                },
                wall: wall.map_or(0, |wall| wall.as_nanos() as u64),
            };
            (after - before, clock)
        };
        let best = (0..16).map(once).min_by_key(|(took, _)| *took);
        best.map_or(Clock::default(), |(_, clock)| clock)
    }

    pub fn words(&self) -> [u64; 3] {
        [self.ticks, self.monotonic, self.wall]
    }
}

/// From ticks of a host to nanoseconds of the time of day, as that host has it.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    begin: Clock,
    /// Nanoseconds a tick.
    rate: f64,
    /// By which the host's time of day differs from that of the first host.
    pub shift: i64,
}

impl Scale {
    pub fn of(begin: Clock, end: Clock) -> Scale {
        let ticks = end.ticks.saturating_sub(begin.ticks);
        let nanoseconds = end.monotonic.saturating_sub(begin.monotonic);
        Scale {
            begin,
            rate: match ticks {
                0 => 1.0,
                ticks => nanoseconds as f64 / ticks as f64,
            },
            shift: 0,
        }
    }

    pub fn time(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.begin.ticks) as i64;
        self.begin.wall as i64 + (since as f64 * self.rate) as i64 - self.shift
    }

    pub fn span(&self, ticks: u64) -> i64 {
        (ticks as f64 * self.rate) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds() {
        let begin = Clock {
            ticks: 1000,
            monotonic: 500,
            wall: 10_000,
        };
        let end = Clock {
            ticks: 4000,
            monotonic: 1500,
            wall: 77,
        };
        let mut scale = Scale::of(begin, end);
        assert_eq!(scale.time(1300), 10_100);
        assert_eq!(scale.time(700), 9_900);
        assert_eq!(scale.span(300), 100);
        scale.shift = 50;
        assert_eq!(scale.time(1300), 10_050);
        assert_eq!(Scale::of(begin, begin).time(1001), 10_001);
    }

    #[test]
    fn time_goes_on() {
        let (first, second) = (Clock::read(), Clock::read());
        assert!(first.monotonic <= second.monotonic && first.ticks <= second.ticks);
    }
}
