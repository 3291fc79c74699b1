//! What ranks write and mpiexec reads: the record of a call, and where the lanes of a rank lie in the host's memfd.
//!
//! A rank has [`RANK_WORDS`] there, at its seat: a head, the heads of its lanes, the table of names, and the lanes. Everything is
//! made of 64-bit words. Invariant: a lane's words below `written` and not below `read` are whole records.

/// Lanes of a rank.
pub const LANES: usize = 16;
/// Records of a lane, a power of two.
pub const SLOTS: usize = 1 << 17;
/// Words of a record.
pub const WORDS: usize = 5;
/// Names of functions and communicators that a rank can tell.
pub const NAMES: usize = 1024;
/// Bytes of a name, zeros behind it.
pub const NAME_BYTES: usize = 64;

/// Of a rank: what mpiexec has written there, [`MAGIC`].
pub const MAGIC_AT: usize = 0;
/// Whether times are the processor's counter; by mpiexec.
pub const COUNTER_AT: usize = 1;
/// How many names there are.
pub const NAMES_AT: usize = 2;
/// Of a lane: records written, and what was not written because the lane was full; the writer's.
const LANES_AT: usize = 64;
const LANE_WORDS: usize = 16;
/// Words of all heads, from the beginning on.
pub const HEAD_WORDS: usize = LANES_AT + LANES * LANE_WORDS;
const TABLE_AT: usize = 512;
const NAME_WORDS: usize = NAME_BYTES / 8;
const RECORDS_AT: usize = 9216;

/// Words of a rank.
pub const RANK_WORDS: usize = RECORDS_AT + LANES * SLOTS * WORDS;
pub const RANK_BYTES: u64 = RANK_WORDS as u64 * 8;
/// Another layout has another one.
pub const MAGIC: u64 = 0x6f78_7469_6d65_0001;

const _: () = assert!(
    HEAD_WORDS <= TABLE_AT
        && TABLE_AT + NAMES * NAME_WORDS <= RECORDS_AT
        && RECORDS_AT.is_multiple_of(512)
        && RANK_WORDS.is_multiple_of(512)
);

/// The words of a lane's head.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub written: usize,
    pub dropped: usize,
    /// What the writer last knew of `read`.
    pub known: usize,
    /// On a line of its own: how many records the reader has taken.
    pub read: usize,
}

pub const fn head(lane: usize) -> Head {
    let at = LANES_AT + lane * LANE_WORDS;
    Head {
        written: at,
        dropped: at + 1,
        known: at + 2,
        read: at + 8,
    }
}

/// Where the record of this number is.
#[inline(always)]
pub const fn slot(lane: usize, number: u64) -> usize {
    RECORDS_AT + (lane * SLOTS + (number as usize & (SLOTS - 1))) * WORDS
}

/// Where the name of this number is.
pub const fn name(number: usize) -> usize {
    TABLE_AT + number * NAME_WORDS
}

/// Functions that are none: what else a record is about.
pub mod about {
    /// A receive has completed: source and tag of the message, its context and bytes; `extra`: the request, 0 for a call that blocks.
    pub const RECEIVED: u16 = 0xfff0;
    /// A persistent send was started: as a call that sends.
    pub const SENT: u16 = 0xfff1;
    /// A receive was posted: `extra` is its request.
    pub const POSTED: u16 = 0xfff2;
    /// The thread slept.
    pub const SLEPT: u16 = 0xfff3;
    /// An event of this number in `extra`.
    pub const HAPPENED: u16 = 0xfff4;
}

/// What a call does with messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    #[default]
    Other,
    /// Sends: `peer` is the process, `extra` the caller's rank in the communicator.
    Send,
    /// Receives, posted when the call began; `extra` is [`HAS_RECEIVED`].
    Receive,
    /// Posts a receive: `extra` is the request.
    Post,
    /// Receives what a matched probe has found, which the probe has told.
    Matched,
    /// Sends and receives.
    Both,
    /// Waits for requests or asks for them.
    Complete,
    /// Collective: `extra` is the process of rank 0, `peer` the root.
    Collective,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Other,
        Kind::Send,
        Kind::Receive,
        Kind::Post,
        Kind::Matched,
        Kind::Both,
        Kind::Complete,
        Kind::Collective,
    ];

    /// Whether such a call sends.
    pub fn sends(self) -> bool {
        matches!(self, Kind::Send | Kind::Both)
    }
}

/// `extra` of a call that has received: `peer` and `tag` are the message's.
pub const HAS_RECEIVED: i32 = 1;
/// `context` of several calls in a row that mpiexec has made one slice of: `bytes` is their number.
pub const TOGETHER: u32 = u32::MAX;
/// No peer, and no `extra`.
pub const NONE: i32 = -1;

/// A record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// In ticks.
    pub begin: u64,
    /// In ticks, 48 bits.
    pub duration: u64,
    /// A name's number, or one of [`about`].
    pub function: u16,
    pub kind: Kind,
    pub failed: bool,
    pub peer: i32,
    pub tag: i32,
    pub context: u32,
    pub extra: i32,
    /// 48 bits.
    pub bytes: u64,
}

const LOW: u64 = (1 << 48) - 1;

impl Record {
    #[inline(always)]
    pub fn words(&self) -> [u64; WORDS] {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let kind = self.kind as u64 | u64::from(self.failed) << 8;
        [
            self.begin,
            self.duration.min(LOW) | u64::from(self.function) << 48,
            pair(self.peer as u32, self.tag as u32),
            pair(self.context, self.extra as u32),
            self.bytes.min(LOW) | kind << 48,
        ]
    }

    /// Whether it tells of no message: of a query or a completion.
    fn is_plain(&self) -> bool {
        matches!(self.kind, Kind::Other | Kind::Complete)
            && self.function < about::RECEIVED
            && !self.failed
    }

    /// Makes one record of this and the next one of its lane, if both are calls of one function that tell of no message.
    pub fn takes(&mut self, next: &Record) -> bool {
        let is_same = self.function == next.function && self.kind == next.kind;
        if !is_same || !self.is_plain() || !next.is_plain() {
            return false;
        }
        let calls = |record: &Record| match record.context {
            TOGETHER => record.bytes,
            _ => 1,
        };
        let end = (next.begin + next.duration).max(self.begin + self.duration);
        *self = Record {
            duration: end - self.begin,
            context: TOGETHER,
            bytes: calls(self) + calls(next),
            peer: NONE,
            tag: NONE,
            extra: NONE,
            ..*self
        };
        true
    }

    /// How many calls it stands for.
    pub fn calls(&self) -> u64 {
        match self.is_plain() && self.context == TOGETHER {
            true => self.bytes,
            false => 1,
        }
    }

    pub fn of_words(words: [u64; WORDS]) -> Record {
        let [begin, duration, who, what, bytes] = words;
        let kind = (bytes >> 48 & 0xff) as usize;
        Record {
            begin,
            duration: duration & LOW,
            function: (duration >> 48) as u16,
            kind: Kind::ALL.get(kind).copied().unwrap_or_default(),
            failed: bytes >> 56 & 1 == 1,
            peer: (who >> 32) as i32,
            tag: who as i32,
            context: (what >> 32) as u32,
            extra: what as i32,
            bytes: bytes & LOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            begin: u64::MAX,
            duration: 12345,
            function: about::SLEPT,
            kind: Kind::Collective,
            failed: true,
            peer: -2,
            tag: i32::MAX,
            context: 0x8000_0001,
            extra: i32::MIN,
            bytes: 1 << 40,
        };
        assert_eq!(Record::of_words(record.words()), record);
        assert_eq!(Record::of_words([0; WORDS]), Record::default());
        let long = Record {
            duration: u64::MAX,
            ..record
        };
        assert_eq!(Record::of_words(long.words()).duration, LOW);
        assert_eq!(Record::of_words(long.words()).function, about::SLEPT);
    }

    #[test]
    fn calls_without_messages_come_together() {
        let call = |function, kind, begin| Record {
            begin,
            duration: 2,
            function,
            kind,
            ..Record::default()
        };
        let mut test = call(7, Kind::Complete, 10);
        assert!(test.takes(&call(7, Kind::Complete, 13)));
        assert!(test.takes(&call(7, Kind::Complete, 20)));
        assert_eq!((test.begin, test.duration, test.calls()), (10, 12, 3));
        assert_eq!(Record::of_words(test.words()), test);
        assert!(!test.takes(&call(8, Kind::Complete, 30)));
        assert!(!test.takes(&call(about::RECEIVED, Kind::Other, 30)));
        let mut send = call(7, Kind::Send, 10);
        assert!(!send.takes(&call(7, Kind::Send, 20)) && send.calls() == 1);
    }

    #[test]
    fn lanes_do_not_overlap() {
        assert_eq!(slot(0, SLOTS as u64), slot(0, 0));
        assert_eq!(slot(1, 0), slot(0, SLOTS as u64 - 1) + WORDS);
        assert_eq!(slot(LANES - 1, SLOTS as u64 - 1) + WORDS, RANK_WORDS);
        assert!(head(LANES - 1).read < HEAD_WORDS && name(NAMES) <= slot(0, 0));
    }
}
