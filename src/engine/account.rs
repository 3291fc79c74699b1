//! Buffered sends: the space that is attached, and the messages that have been copied.
//!
//! They belong to the process: messages of one buffer may leave by several engines. Invariant: what an account has in use is
//! the sum of its messages that have not left.

use super::Engine;
use super::requests::{Extra, Kind, Mode, Request};
use super::send::Envelope;
use crate::datatype::pack::Buffer;
use parking_lot::Mutex;

static ACCOUNTS: Mutex<Vec<Account>> = Mutex::new(Vec::new());

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
    /// Space to be attached.
    pub fn of(capacity: usize, automatic: bool) -> Self {
        Self {
            capacity,
            used: 0,
            messages: 0,
            automatic,
            open: true,
        }
    }

    pub fn fits(&self, bytes: usize) -> bool {
        self.automatic || self.used + bytes + BSEND_OVERHEAD <= self.capacity
    }

    fn take(&mut self, bytes: usize) {
        self.used += bytes + BSEND_OVERHEAD;
        self.messages += 1;
    }

    fn give_back(&mut self, bytes: usize) {
        self.used -= bytes + BSEND_OVERHEAD;
        self.messages -= 1;
    }
}

/// Opens an account; its number.
pub fn open(account: Account) -> u32 {
    let mut accounts = ACCOUNTS.lock();
    let number = match accounts.iter().position(|account| !account.open) {
        Some(number) => number,
        None => {
            accounts.push(account);
            accounts.len() - 1
        }
    };
    accounts[number] = account;
    number as u32
}

/// The end of what [`open`] began, once it is empty.
pub fn close(account: u32) {
    ACCOUNTS.lock()[account as usize].open = false;
}

/// How an account stands.
pub fn state(account: u32) -> Account {
    ACCOUNTS.lock()[account as usize]
}

/// Charges a message. False, and nothing charged: there is no room for it.
pub fn take(account: u32, bytes: usize) -> bool {
    let account = &mut ACCOUNTS.lock()[account as usize];
    let fits = account.fits(bytes);
    if fits {
        account.take(bytes);
    }
    fits
}

/// A message has left.
pub fn give_back(account: u32, bytes: usize) {
    ACCOUNTS.lock()[account as usize].give_back(bytes);
}

impl Engine {
    /// Begins a send of a copy of the data, so that the request lives by itself; `account` says what it was charged to.
    pub fn send_copy(&mut self, account: Option<u32>, envelope: &Envelope, buffer: Buffer) {
        let mut copy = vec![0u8; buffer.len()].into_boxed_slice();
        buffer.read(0, &mut copy);
        self.send_owned(account, envelope, copy);
    }

    /// As [`Self::send_copy`], for data that is a copy already.
    pub fn send_owned(&mut self, account: Option<u32>, envelope: &Envelope, mut copy: Box<[u8]>) {
        let request = Request {
            world: envelope.world,
            peer: envelope.peer,
            tag: envelope.tag,
            total: copy.len(),
            detached: true,
            buffer: Buffer::of_copy(&mut copy),
            extra: Some(Box::new(Extra {
                copy: Some(copy),
                account,
                ..Extra::default()
            })),
            ..Request::new(
                Kind::Send(Mode::Buffered),
                Buffer::empty(),
                envelope.communicator,
                envelope.context,
                envelope.source,
            )
        };
        let index = self.requests.insert(request);
        self.launch(index);
    }
}
