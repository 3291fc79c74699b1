//! When to look at the fabric: a look costs a system call, fifty times a look at a ring of the node.
//!
//! While something comes in each look at the node is followed by one at the fabric; if nothing does, the distance doubles. At the longest
//! distance a packet of the node puts the next look off, because whoever waits for the fabric gets none. The clock bounds it for programs
//! that look rarely or get many packets of the node, and before a thread yields or sleeps it looks in any case.

/// Looks at the node between two at the fabric, at most.
const FARTHEST: u32 = 64;
/// Looks at the node between two looks at the clock.
const CLOCK: u32 = 8;
/// Longest time without a look, nanoseconds, for a program that looks at all.
const LONGEST: u64 = 20_000;

/// See the module.
#[derive(Debug, Default)]
pub struct Pace {
    distance: u32,
    left: u32,
    last: u64,
    /// Looks at the node, for the clock.
    looks: u32,
}

impl Pace {
    /// Whether it is time for a look at the fabric. Called for each look at the node.
    #[inline]
    pub fn is_due(&mut self, now: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        self.looks = self.looks.wrapping_add(1);
        self.looks.is_multiple_of(CLOCK) && now().wrapping_sub(self.last) > LONGEST
    }

    /// A packet of the node has come.
    #[inline]
    pub fn node_is_busy(&mut self) {
        if self.distance == FARTHEST && self.left > 0 {
            self.left = FARTHEST;
        }
    }

    /// The fabric was looked at.
    #[inline]
    pub fn looked(&mut self, found: bool, now: impl FnOnce() -> u64) {
        self.distance = match found {
            true => 1,
            false => (self.distance * 2).clamp(1, FARTHEST),
        };
        self.left = self.distance;
        if self.distance > CLOCK {
            self.last = now();
        }
    }

    /// The next look is at the fabric.
    #[inline]
    pub fn hurry(&mut self) {
        self.left = 0;
    }

    /// Something is expected: the looks come close again.
    #[inline]
    pub fn expect(&mut self) {
        self.distance = 0;
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until_due(pace: &mut Pace, now: u64) -> u32 {
        (0..).find(|_| pace.is_due(|| now)).unwrap()
    }

    #[test]
    fn looks_become_rare_and_frequent_again() {
        let mut pace = Pace::default();
        let mut distances = Vec::new();
        for _ in 0..9 {
            distances.push(until_due(&mut pace, 0));
            pace.looked(false, || 0);
        }
        assert_eq!(distances, [0, 1, 2, 4, 8, 16, 32, 64, 64]);
        pace.looked(true, || 0);
        assert_eq!(until_due(&mut pace, 0), 1);
        for _ in 0..9 {
            pace.looked(false, || 0);
        }
        pace.hurry();
        assert_eq!(until_due(&mut pace, 0), 0);
        pace.looked(false, || 0);
        assert_eq!(until_due(&mut pace, 0), FARTHEST);
        pace.looked(false, || 0);
        pace.expect();
        pace.looked(false, || 0);
        assert_eq!(until_due(&mut pace, 0), 1);
    }

    #[test]
    fn packets_of_the_node_put_looks_off_until_the_clock_says_so() {
        let mut pace = Pace::default();
        // Not while something may come by the fabric.
        for distance in [0, 1, 2, 4, 8, 16, 32] {
            pace.node_is_busy();
            assert_eq!(until_due(&mut pace, 0), distance);
            pace.looked(false, || 0);
        }
        pace.looked(false, || 1_000);
        let mut busy = |looks: u32, now: u64| {
            (0..looks).position(|_| {
                pace.node_is_busy();
                pace.is_due(|| now)
            })
        };
        assert_eq!(busy(10_000, 1_000 + LONGEST), None);
        assert!(busy(10_000, 1_001 + LONGEST) < Some(CLOCK as usize));
        // Asked for, it comes.
        pace.hurry();
        pace.node_is_busy();
        assert_eq!(until_due(&mut pace, 0), 0);
    }

    #[test]
    fn a_program_that_looks_rarely_is_not_late() {
        let mut pace = Pace::default();
        for _ in 0..9 {
            pace.looked(false, || 1_000);
        }
        assert!(until_due(&mut pace, 1_000 + LONGEST + 1) < CLOCK);
        assert_eq!(until_due(&mut pace, 1_000), FARTHEST - CLOCK);
    }
}
