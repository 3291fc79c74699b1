//! The records that travel in rings, and how they are laid out.
//!
//! `Short` carries a whole message. `Long` announces one: its payload begins with an [`Announcement`], the first bytes of
//! the message follow it, or are in the cell it names where ranks have no lane. Further bytes come as the whole payload of a
//! `Part` in the lane, or in the cell that a `Data` names; `Reply` is what the receiver says when it has matched.

/// Kinds of a record ([`crate::queue::ring::Header::kind`]).
pub const SHORT: u8 = 1;
pub const LONG: u8 = 2;
pub const DATA: u8 = 3;
pub const REPLY: u8 = 4;
/// Its `context` is what [`Data::token`] is in a cell's record.
pub const PART: u8 = 5;

/// The bits from 16 on belong to the transport.
///
/// Flag of `LONG`: the sender wants a reply even if all the data came with it.
pub const SYNCHRONOUS: u8 = 1;
/// Flag of `LONG`: the receiver is to read `address` of the sender itself.
pub const READ_ME: u8 = 2;
/// Flag of `REPLY`: all is done, the send is complete.
pub const DONE: u8 = 4;
/// Flag of `REPLY`: the receiver cannot read the sender's memory, now and later.
pub const UNREADABLE: u8 = 8;
/// Flag of `REPLY`: the receiver is in MPI_Finalize and has no receive for the message.
pub const REFUSED: u8 = 1;
// The four upper bits belong to the transport.

/// No cell: the data is in the record.
pub const NO_CELL: u32 = 0;
/// The token of a message's first part, which needs no token: parts of one origin come in order.
pub const FIRST_PART: u32 = u32::MAX;

/// Payload of `LONG`. All sizes in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Announcement {
    pub total: u64,
    /// Where the data is in the sender, for `READ_ME`.
    pub address: u64,
    /// How much comes without asking.
    pub eager: u32,
    /// The sender's request.
    pub token: u32,
    pub cell: u32,
    /// Bytes in that cell.
    pub cell_bytes: u32,
}

/// Payload of `DATA`: further bytes of a message are in a cell.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// The receiver's request, or [`FIRST_PART`].
    pub token: u32,
    pub cell: u32,
    /// Bytes in that cell.
    pub bytes: u32,
}

/// Payload of `REPLY`.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// The sender's request.
    pub sender: u32,
    /// The receiver's request, to be put into `DATA`.
    pub receiver: u32,
    /// How many bytes of the message the receiver wants, counted from the start.
    pub wanted: u64,
}

/// The longest of the payloads here.
pub const LONGEST_PAYLOAD: usize = 32;

/// What a record's payload begins with, of fixed size.
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

impl Payload for Announcement {
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

impl Payload for Data {
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

impl Payload for Reply {
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
