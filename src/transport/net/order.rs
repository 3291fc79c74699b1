//! That nothing is lost or comes twice: each record has its number among those of its sender to its receiver.
//!
//! A provider may make a broken connection again without a word, and what was under way is gone. The number is added to the receiver's
//! word ([`super::record`]), so it costs no byte. The last records before a silence have none behind them that could show their loss, so a
//! sender asks after a while ([`super::record::ASK`]).

/// More numbers apart than that, a record is not the pair's. There is credit for fewer records at a time.
const FAR: i32 = 1 << 16;
/// Ticks between two questions, at most.
const RARELY: u32 = 8;

/// Both directions between this process and a peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    sent: u32,
    came: u32,
    /// What was sent at the last tick, and how many have passed since anything else was.
    seen: u32,
    quiet: u32,
}

/// What a record is by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    Next,
    /// So many before it have not come.
    Early(u32),
    /// It has come before.
    Again,
    /// It is none of this pair.
    Foreign,
}

impl Order {
    /// The word of the next record to a peer that has this one.
    pub fn word(&self, word: u32) -> u32 {
        word.wrapping_add(self.sent)
    }

    /// How many records have gone, and have come.
    pub fn counts(&self) -> (u32, u32) {
        (self.sent, self.came)
    }

    /// A record has left.
    pub fn sent(&mut self) {
        self.sent = self.sent.wrapping_add(1);
    }

    /// The word of the next record that comes, of a process that has this one.
    pub fn next(&self, word: u32) -> u32 {
        word.wrapping_add(self.came)
    }

    /// Whether any has come: there was a connection.
    pub fn has_come(&self) -> bool {
        self.came != 0
    }

    /// A record has come; `word`: this process's own, `found`: the record's.
    pub fn came(&mut self, word: u32, found: u32) -> Came {
        let distance = found.wrapping_sub(word).wrapping_sub(self.came) as i32;
        match distance {
            0 => {
                self.came = self.came.wrapping_add(1);
                Came::Next
            }
            1..FAR => Came::Early(distance as u32),
            _ if (-FAR..0).contains(&distance) => Came::Again,
            _ => Came::Foreign,
        }
    }

    /// A tick of the clock. Whether to ask the peer, which has not said that it has everything if `open`.
    pub fn tick(&mut self, open: bool) -> bool {
        if !open || self.sent != self.seen {
            self.seen = self.sent;
            self.quiet = 0;
            return false;
        }
        self.quiet += 1;
        self.quiet == 2 || self.quiet == 4 || self.quiet.is_multiple_of(RARELY)
    }

    /// The question has left: it breaks no silence.
    pub fn asked(&mut self) {
        self.seen = self.sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_or_comes_twice_is_seen() {
        let own = u32::MAX - 2;
        let (mut sender, mut receiver) = (Order::default(), Order::default());
        let mut words = Vec::new();
        for _ in 0..6 {
            words.push(sender.word(own));
            sender.sent();
        }
        for word in &words[..3] {
            assert_eq!(receiver.came(own, *word), Came::Next);
        }
        assert_eq!(receiver.came(own, words[2]), Came::Again);
        assert_eq!(receiver.came(own, words[5]), Came::Early(2));
        assert_eq!(receiver.came(own, own ^ 0x4000_0000), Came::Foreign);
        assert_eq!(receiver.came(own, words[3]), Came::Next);
    }

    #[test]
    fn questions_become_rare_and_stop_when_all_is_said_to_be_there() {
        let mut order = Order::default();
        order.sent();
        assert!(!order.tick(true), "there was traffic");
        let mut asked = Vec::new();
        for tick in 1..=40 {
            if order.tick(true) {
                asked.push(tick);
                order.sent();
                order.asked();
            }
        }
        assert_eq!(asked, [2, 4, 8, 16, 24, 32, 40]);
        assert!(!order.tick(false));
        assert!(!order.tick(true));
        order.sent();
        assert!(!order.tick(true));
    }
}
