//! What travels over the fabric: records of 32 bytes, each with a payload of the engine's behind it, or one of the transport's own.
//!
//! A record is the wire header (24 bytes), the word of the job's receiver and the record's number in one ([`super::order`]), and how much
//! of the receiver's traffic its sender has taken ([`super::credit`]). The word is random: a record of another job that comes to the
//! same address is dropped.

use crate::transport::wire::{FLAGS, Header};

/// Kinds of records that the engine never sees; they have no payload.
///
/// Says only how much was taken.
pub const TAKEN: u8 = 0xf0;
/// The sender wants data to be held back.
pub const HOLD: u8 = 0xf1;
/// Takes that back.
pub const END_HOLD: u8 = 0xf2;
/// Nothing follows from the sender, which is about to leave the job.
pub const GOODBYE: u8 = 0xf3;
/// The receiver is to answer by [`TAKEN`]. Its own connection breaks if it cannot be sent, and its number shows what was lost before.
pub const ASK: u8 = 0xf4;
/// The receiver is to send records once more, from the number in `context` on as many as `tag` says: see [`super::first`].
pub const AGAIN: u8 = 0xf5;

/// The receiver is lost to the sender, which sends and takes nothing more: see [`super::losses`].
pub const LOST: u8 = 0xf6;

/// Whether the engine never sees records of this kind.
#[inline]
pub fn is_own(kind: u8) -> bool {
    kind >= TAKEN
}

/// Whether a record may let its receiver go on, so that those under way are counted ([`crate::transport::slots`]). A loss has a mark of its own, and the
/// others only say what has come.
#[inline]
pub fn is_counted(kind: u8) -> bool {
    !is_own(kind) || matches!(kind, HOLD | END_HOLD | GOODBYE)
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub header: Header,
    pub word: u32,
    pub taken: u32,
}

impl Record {
    pub const BYTES: usize = 32;

    pub fn encode(&self, out: &mut [u8]) {
        out[..Header::BYTES].copy_from_slice(&self.header.encode());
        out[24..28].copy_from_slice(&self.word.to_le_bytes());
        out[28..32].copy_from_slice(&self.taken.to_le_bytes());
    }

    /// The record that a message begins with, if it can be one, and is whole.
    pub fn decode(message: &[u8]) -> Option<Record> {
        let (record, payload) = message.split_at_checked(Self::BYTES)?;
        let at = |from: usize| record[from..from + 4].try_into().map(u32::from_le_bytes);
        let found = Record {
            header: Header::decode(record[..Header::BYTES].try_into().ok()?),
            word: at(24).ok()?,
            taken: at(28).ok()?,
        };
        let header = &found.header;
        let whole = header.length as usize == payload.len() && header.flags & !FLAGS == 0;
        whole.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(payload: usize) -> Vec<u8> {
        let record = Record {
            header: Header {
                kind: 5,
                flags: 3,
                context: 0x1234_5678,
                tag: -2,
                source: 7,
                length: payload as u32,
                process: 3,
            },
            word: 0xdead_beef,
            taken: 77,
        };
        let mut bytes = vec![9; Record::BYTES + payload];
        record.encode(&mut bytes);
        assert_eq!(Record::decode(&bytes), Some(record));
        bytes
    }

    #[test]
    fn a_record_comes_back() {
        message(0);
        message(100);
    }

    #[test]
    fn what_is_not_whole_is_no_record() {
        let whole = message(5);
        for length in 0..whole.len() {
            assert_eq!(Record::decode(&whole[..length]), None);
        }
        let mut flagged = whole;
        flagged[1] |= 0x10;
        assert_eq!(Record::decode(&flagged), None);
    }
}
