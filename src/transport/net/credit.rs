//! Flow control: how far a sender may be ahead of what its receiver's engine has taken.
//!
//! Both sides count bytes of records, payloads included, modulo 2^32. Each record says how much of the other direction was
//! taken; where nothing goes that way, a record of its own says it after each quarter of the window. Invariant: what was sent and
//! not said to be taken is at most [`WINDOW`], so a receiver needs no more memory than that for a peer that does not look.

/// Bytes under way to one peer, at most.
pub const WINDOW: u32 = 1 << 20;
/// What a record costs a receiver beside its bytes: many small messages fill a window, too.
const OVERHEAD: u32 = 64;

/// Both directions between this process and a peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credit {
    sent: u32,
    confirmed: u32,
    taken: u32,
    told: u32,
    /// What the peer was told first.
    first_told: u32,
}

/// What a message of so many bytes counts.
pub fn charge(bytes: usize) -> u32 {
    bytes as u32 + OVERHEAD
}

impl Credit {
    pub fn has_room(&self, bytes: usize) -> bool {
        self.sent.wrapping_sub(self.confirmed) + charge(bytes) <= WINDOW
    }

    /// Whether the peer has said that all was taken.
    pub fn is_settled(&self) -> bool {
        self.sent == self.confirmed
    }

    /// Whether so little is under way that buffers of any connection hold it.
    pub fn is_light(&self) -> bool {
        self.sent.wrapping_sub(self.confirmed) <= 16 << 10
    }

    /// A message of so many bytes has left, and has told the peer what was taken.
    pub fn sent(&mut self, bytes: usize) {
        self.sent = self.sent.wrapping_add(charge(bytes));
        self.told();
    }

    /// As [`Self::sent`], of a record that takes no credit.
    pub fn told(&mut self) {
        self.told = self.taken;
        if self.first_told == 0 {
            self.first_told = self.taken;
        }
    }

    /// Whether the peer was told of anything that was taken, and later of more.
    pub fn has_told_twice(&self) -> bool {
        self.told != self.first_told
    }

    /// What was sent.
    pub fn count(&self) -> u32 {
        self.sent
    }

    /// What the next record tells.
    pub fn untold(&self) -> u32 {
        self.taken
    }

    /// The peer has told so much.
    pub fn confirmed(&mut self, taken: u32) {
        // Records come in order; more than was sent is nonsense of a peer, and no credit.
        if taken.wrapping_sub(self.confirmed) <= self.sent.wrapping_sub(self.confirmed) {
            self.confirmed = taken;
        }
    }

    /// The engine has taken a message of so many bytes.
    pub fn taken(&mut self, bytes: usize) {
        self.taken = self.taken.wrapping_add(charge(bytes));
    }

    /// Whether the peer should be told by a record of its own.
    pub fn wants_telling(&self) -> bool {
        self.taken.wrapping_sub(self.told) >= WINDOW / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_stops_at_the_window_and_goes_on_when_told() {
        // Near the end of the numbers, which start again.
        let start = u32::MAX - WINDOW / 2;
        let mut one = Credit {
            sent: start,
            confirmed: start,
            ..Credit::default()
        };
        let mut other = Credit {
            taken: start,
            told: start,
            ..Credit::default()
        };
        let mut messages = 0;
        for _ in 0..5 {
            let mut burst = 0;
            while one.has_room(1000) {
                one.sent(1000);
                burst += 1;
            }
            assert!(burst > 0);
            messages += burst;
            while !other.wants_telling() {
                other.taken(1000);
            }
            one.confirmed(other.untold());
            other.told();
            assert!(!other.wants_telling());
        }
        let most = (WINDOW + 5 * (WINDOW / 4 + charge(1000))) / charge(1000);
        assert!(messages <= most, "{messages} of {most}");
    }

    #[test]
    fn a_peer_cannot_take_more_than_was_sent() {
        let mut credit = Credit::default();
        credit.sent(100);
        credit.confirmed(charge(100) + 1);
        assert_eq!(credit.confirmed, 0);
        credit.confirmed(charge(100));
        assert_eq!(credit.confirmed, charge(100));
    }
}
