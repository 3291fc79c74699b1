//! Packets of the protocols, and how their payloads are laid out.
//!
//! `SHORT` carries a whole message. `RTS` announces one: its payload begins with an [`Rts`], the first bytes of the message
//! follow it, or are in the copy buffer that it names where ranks have no bulk ring. Further bytes are the whole payload of a
//! `CELL` packet in the bulk ring, or in the copy buffer that a `CELL` packet names. `CTS` is the receiver's answer at the
//! match. `CANCEL`, with the key of an RTS, asks for a message that no receive has matched ([`super::cancel`]). `FAILED` stands for a whole
//! message of a collective operation that its sender cannot send, because a process is lost: the receive that it matches ends with an error.
//! `PLACE` is a CTS of a receiver that takes the data straight into its buffer ([`super::straight`]). `REVOKED` says that the communicator with its
//! context was revoked. `ASK_LAST` asks a process in MPI_Finalize for `LAST`, which comes behind all that it has sent ([`super::leaving`]).

use crate::transport::{Loss, Place};

/// Kinds of a packet ([`crate::queue::ring::SlotHeader::kind`]).
pub const SHORT: u8 = 1;
pub const RTS: u8 = 2;
pub const CELL: u8 = 3;
pub const CTS: u8 = 4;
/// Its `context` is the token that a `CELL` packet has in [`Cell::token`].
pub const DATA: u8 = 5;
pub const CANCEL: u8 = 6;
pub const FAILED: u8 = 7;
pub const PLACE: u8 = 8;
pub const REVOKED: u8 = 9;
pub const ASK_LAST: u8 = 10;
pub const LAST: u8 = 11;

// Flags of headers. The upper four bits are the transport's.

/// Flag of `RTS`: the sender wants a CTS even if all the data came with it.
pub const SYNCHRONOUS: u8 = 1;
/// Flag of `RTS`: it has the address, and the receiver is to read the data there.
pub const RTS_ADDRESS: u8 = 2;
/// Flag of `RTS`: its data can go straight, in pieces of [`Rts::address`] bytes at most.
pub const STRAIGHT: u8 = 4;
/// Flag of `CTS`: no further data is wanted, the send is complete.
pub const FIN: u8 = 4;
/// Flag of `CTS`: the receiver cannot read the sender's memory, now and later.
pub const UNREADABLE: u8 = 8;
/// Flag of `CTS`: there will be no receive for the message. The receiver is in MPI_Finalize, or has got a `CANCEL`.
pub const REFUSED: u8 = 1;
// The four upper bits belong to the transport.

/// No copy buffer: the data is in the packet.
pub const NO_CELL: u32 = 0;
/// Token of a message's eager part, which needs none: packets of one origin come in order.
pub const EAGER_PART: u32 = u32::MAX;

/// Payload of `RTS`. All sizes in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rts {
    pub total: u64,
    /// Where the data is in the sender, for `RTS_ADDRESS`; for `STRAIGHT` the longest piece.
    pub address: u64,
    /// Size of the eager part, which comes without a CTS.
    pub eager: u32,
    /// The sender's request.
    pub token: u32,
    pub cell: u32,
    /// Bytes in that cell.
    pub cell_bytes: u32,
}

/// Payload of `CELL`: further bytes of a message are in a copy buffer.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The receiver's request, or [`EAGER_PART`].
    pub token: u32,
    pub cell: u32,
    /// Bytes in that cell.
    pub bytes: u32,
}

/// Payload of `CTS`.
#[derive(Clone, Copy, Debug)]
pub struct Cts {
    /// The sender's request.
    pub sender: u32,
    /// The receiver's request, for the packets with the data.
    pub receiver: u32,
    /// How many bytes of the message the receiver wants, counted from the start.
    pub wanted: u64,
}

/// Payload of `PLACE`.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The sender's request.
    pub sender: u32,
    /// As [`Cts::wanted`].
    pub wanted: u64,
    pub place: Place,
}

/// Payload of `CANCEL`.
#[derive(Clone, Copy, Debug)]
pub struct Cancel {
    /// The sender's request.
    pub token: u32,
}

/// Payload of `FAILED`: the process that the sender has lost, and how; `None`: it was told so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    pub process: u32,
    pub loss: Option<Loss>,
}

/// The longest of the payloads here.
pub const LONGEST_PAYLOAD: usize = 32;

/// What a packet's payload begins with, of fixed size.
pub trait Payload: Sized {
    const BYTES: usize;
    fn encode(&self, out: &mut [u8]);
    fn decode(bytes: &[u8]) -> Self;
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

impl Payload for Rts {
    const BYTES: usize = 32;

    fn encode(&self, out: &mut [u8]) {
        out[0..8].copy_from_slice(&self.total.to_ne_bytes());
        out[8..16].copy_from_slice(&self.address.to_ne_bytes());
        out[16..20].copy_from_slice(&self.eager.to_ne_bytes());
        out[20..24].copy_from_slice(&self.token.to_ne_bytes());
        out[24..28].copy_from_slice(&self.cell.to_ne_bytes());
        out[28..32].copy_from_slice(&self.cell_bytes.to_ne_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            total: long(bytes, 0),
            address: long(bytes, 8),
            eager: word(bytes, 16),
            token: word(bytes, 20),
            cell: word(bytes, 24),
            cell_bytes: word(bytes, 28),
        }
    }
}

impl Payload for Cell {
    const BYTES: usize = 12;

    fn encode(&self, out: &mut [u8]) {
        out[0..4].copy_from_slice(&self.token.to_ne_bytes());
        out[4..8].copy_from_slice(&self.cell.to_ne_bytes());
        out[8..12].copy_from_slice(&self.bytes.to_ne_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            token: word(bytes, 0),
            cell: word(bytes, 4),
            bytes: word(bytes, 8),
        }
    }
}

impl Payload for Cts {
    const BYTES: usize = 16;

    fn encode(&self, out: &mut [u8]) {
        out[0..4].copy_from_slice(&self.sender.to_ne_bytes());
        out[4..8].copy_from_slice(&self.receiver.to_ne_bytes());
        out[8..16].copy_from_slice(&self.wanted.to_ne_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            sender: word(bytes, 0),
            receiver: word(bytes, 4),
            wanted: long(bytes, 8),
        }
    }
}

impl Payload for Failed {
    const BYTES: usize = 8;

    fn encode(&self, out: &mut [u8]) {
        let loss: u32 = match self.loss {
            Some(Loss::Finalizing) => 0,
            Some(Loss::NeverStarted) => 1,
            Some(Loss::Exited) => 2,
            Some(Loss::Unreachable) => 3,
            None => 4,
        };
        out[..4].copy_from_slice(&self.process.to_ne_bytes());
        out[4..].copy_from_slice(&loss.to_ne_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            process: word(bytes, 0),
            loss: match word(bytes, 4) {
                0 => Some(Loss::Finalizing),
                1 => Some(Loss::NeverStarted),
                2 => Some(Loss::Exited),
                3 => Some(Loss::Unreachable),
                _ => None,
            },
        }
    }
}

impl Payload for Placed {
    const BYTES: usize = 32;

    fn encode(&self, out: &mut [u8]) {
        out[0..8].copy_from_slice(&u64::from(self.sender).to_ne_bytes());
        out[8..16].copy_from_slice(&self.wanted.to_ne_bytes());
        out[16..24].copy_from_slice(&self.place.tag.to_ne_bytes());
        out[24..32].copy_from_slice(&self.place.piece.to_ne_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            sender: long(bytes, 0) as u32,
            wanted: long(bytes, 8),
            place: Place {
                tag: long(bytes, 16),
                piece: long(bytes, 24),
            },
        }
    }
}

impl Payload for Cancel {
    const BYTES: usize = 4;

    fn encode(&self, out: &mut [u8]) {
        out.copy_from_slice(&self.token.to_ne_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            token: word(bytes, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_process_was_lost_comes_back() {
        let losses = [
            Loss::Finalizing,
            Loss::NeverStarted,
            Loss::Exited,
            Loss::Unreachable,
        ];
        for loss in losses.into_iter().map(Some).chain([None]) {
            let failed = Failed { process: 7, loss };
            let mut bytes = [0; Failed::BYTES];
            failed.encode(&mut bytes);
            assert_eq!(Failed::decode(&bytes), failed);
        }
    }
}
