//! Buffered sends: the space that is attached, and the messages that have been copied.
//!
//! Invariant: what an account has in use is the sum of its messages that have not left.

use super::Engine;
use super::requests::{Extra, Kind, Mode, Request};
use super::send::Envelope;
use crate::datatype::pack::Buffer;

/// Space for buffered sends: how much is attached and how much is in use, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    pub capacity: usize,
    pub used: usize,
    pub messages: usize,
    /// MPI_BUFFER_AUTOMATIC: as much as memory allows.
    pub automatic: bool,
    pub open: bool,
}

/// MPI_BSEND_OVERHEAD.
pub const BSEND_OVERHEAD: usize = 96;

impl Account {
    pub fn fits(&self, bytes: usize) -> bool {
        self.automatic || self.used + bytes + BSEND_OVERHEAD <= self.capacity
    }

    fn take(&mut self, bytes: usize) {
        self.used += bytes + BSEND_OVERHEAD;
        self.messages += 1;
    }

    pub(super) fn give_back(&mut self, bytes: usize) {
        self.used -= bytes + BSEND_OVERHEAD;
        self.messages -= 1;
    }
}

impl Engine {
    /// Begins a buffered send on an account that has room for it: the data is copied, and the request lives by itself.
    pub fn send_buffered(&mut self, account: u32, envelope: &Envelope, buffer: Buffer) {
        let mut copy = vec![0u8; buffer.len()].into_boxed_slice();
        buffer.read(0, &mut copy);
        let request = Request {
            world: envelope.world,
            peer: envelope.peer,
            tag: envelope.tag,
            total: copy.len(),
            detached: true,
            buffer: Buffer::of_copy(&mut copy),
            extra: Some(Box::new(Extra {
                copy: Some(copy),
                account: Some(account),
                partner: None,
                restart: None,
                owner: None,
            })),
            ..Request::new(
                Kind::Send(Mode::Buffered),
                Buffer::empty(),
                envelope.communicator,
                envelope.context,
                envelope.source,
            )
        };
        self.accounts[account as usize].take(request.total);
        let index = self.requests.insert(request);
        self.launch(index);
    }

    /// The accounts of attached buffers.
    pub fn accounts(&mut self) -> &mut Vec<Account> {
        &mut self.accounts
    }
}
