//! What travels in front of the payload of every packet, whatever transport carries it.
//!
//! A transport packs it as it likes: slots in shared memory have 16 bits for the length and an index in the segment instead of
//! the process. Bits that a transport adds for itself stay in its own part of a [`Packet`].

use super::shm::outbound::NONTEMPORAL;
use crate::queue::ring;

/// The header of a packet. `context` has the 16-bit context id in its low half; `source` is the sender's rank in that
/// communicator, `process` its number in the job; `length` counts the bytes of the payload. The upper four
/// bits of `flags` are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub kind: u8,
    pub flags: u8,
    pub context: u32,
    pub tag: i32,
    pub source: i32,
    pub length: u32,
    pub process: u32,
}

/// Kinds of packets that no process sends: by them a transport tells its own engine the end of a transfer ([`super::straight`]). `context` is its
/// token. All data has left this process;
pub const LEFT: u8 = 0xe0;
/// all data has come into the buffer.
pub const LANDED: u8 = 0xe1;

/// The flags of a header that are the engine's.
pub const FLAGS: u8 = 0x0f;

impl Header {
    /// Whether `source` is a process number. That is so of the library's own messages, by the two low bits of their context, but for those of
    /// partitioned operations, which count ranks from negative numbers on.
    #[inline]
    pub const fn names_process(&self) -> bool {
        const LIBRARY: u32 = 3;
        self.context & LIBRARY != 0 && self.source >= 0
    }

    /// Its size as a message between nodes has it.
    pub const BYTES: usize = 24;

    /// As bytes for a peer that does not share memory, little-endian.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0u8; Self::BYTES];
        bytes[0] = self.kind;
        bytes[1] = self.flags;
        let words = [
            self.context,
            self.tag as u32,
            self.source as u32,
            self.length,
            self.process,
        ];
        for (target, word) in bytes[4..].chunks_exact_mut(4).zip(words) {
            target.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// What [`Self::encode`] made bytes of.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            kind: bytes[0],
            flags: bytes[1],
            context: word(4),
            tag: word(8) as i32,
            source: word(12) as i32,
            length: word(16),
            process: word(20),
        }
    }
}

/// A packet that has come in and is still where the transport has it. Its payload is read by [`super::Transport::payload`].
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub header: Header,
    /// Of a packet in shared memory: its header there.
    pub(super) slot: ring::SlotHeader,
}

impl Packet {
    /// Whether its payload was written with non-temporal stores: it comes from memory.
    #[inline(always)]
    pub fn is_nontemporal(&self) -> bool {
        self.slot.flags & NONTEMPORAL != 0
    }
}

impl std::ops::Deref for Packet {
    type Target = Header;
    #[inline(always)]
    fn deref(&self) -> &Header {
        &self.header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_from_its_bytes() {
        let header = Header {
            kind: 3,
            flags: 9,
            context: 0xfedc_ba98,
            tag: -7,
            source: i32::MAX,
            length: 70_000,
            process: 3_000_000_000,
        };
        let bytes = header.encode();
        assert_eq!(Header::decode(&bytes), header);
        assert_eq!(bytes[20..], 3_000_000_000u32.to_le_bytes());
        assert_eq!(Header::decode(&[0; Header::BYTES]), Header::default());
    }
}
