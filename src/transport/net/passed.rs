//! Counts of the pieces of straight transfers, by which two processes notice those that a broken connection has lost.

/// Between this process and a peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Those that have left, and that the peer has said to have.
    pub left: u32,
    pub confirmed: u32,
    pub came: u32,
    /// The peer has asked about more than had come by then, and when.
    missed: Option<(u32, u64)>,
}

/// How long after a question about pieces that are not there those are lost, nanoseconds.
const LOST_AFTER: u64 = 500_000_000;

impl Passed {
    /// Whether the peer has said that it has all.
    pub fn is_settled(&self) -> bool {
        self.left == self.confirmed
    }

    /// The peer says how many have left it. Returns how many of them are lost.
    pub fn asked(&mut self, left: u32, now: u64) -> Option<u32> {
        let missing = left.wrapping_sub(self.came) as i32;
        if missing <= 0 {
            self.missed = None;
            return None;
        }
        match self.missed {
            Some((came, since)) if came == self.came => {
                (now - since > LOST_AFTER).then_some(missing as u32)
            }
            _ => {
                self.missed = Some((self.came, now));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_do_not_come_are_lost_only_after_a_while() {
        let mut passed = Passed {
            came: u32::MAX,
            ..Passed::default()
        };
        assert_eq!(passed.asked(u32::MAX, 0), None);
        assert_eq!(passed.asked(1, 10), None);
        assert_eq!(passed.asked(1, 10 + LOST_AFTER), None);
        assert_eq!(passed.asked(1, 11 + LOST_AFTER), Some(2));
        // Something came meanwhile.
        passed.came = 0;
        assert_eq!(passed.asked(1, 12 + LOST_AFTER), None);
        passed.came = 1;
        assert_eq!(passed.asked(1, 13 + 2 * LOST_AFTER), None);
    }
}
