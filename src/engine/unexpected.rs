//! Unexpected messages, by number. `matching.rs` decides which of them a receive takes.
//!
//! Invariant: a message is here from its arrival until a receive matches it. Its eager part may still be coming.

use super::matching::Key;
use super::packets::{Failed, RTS_ADDRESS, SYNCHRONOUS};
use super::requests::{self, Index};
use crate::datatype::Status;

/// What these are, should there be too many.
const MESSAGES: &str = "messages in this process that were sent to it and not received";

/// An unexpected message: it came before its receive.
#[derive(Debug)]
pub struct Message {
    pub key: Key,
    pub process: usize,
    /// Size of the whole message.
    pub total: usize,
    /// The eager part, as far as it has come in.
    pub(super) data: Vec<u8>,
    pub(super) eager: usize,
    pub(super) flags: u8,
    pub(super) token: u32,
    pub(super) address: u64,
    /// A synchronous send of this process itself, complete when the message is matched.
    pub(super) own: Option<Index>,
    /// The sender was told that nobody will receive it.
    pub(super) refused: bool,
    /// The sender could not send it.
    pub(super) failed: Option<Failed>,
    /// The communicator of the matched probe that took it; of no meaning before.
    pub communicator: i32,
}

impl Message {
    /// What a probe says of it.
    pub fn status(&self) -> Status {
        status(self.key, self.total)
    }

    /// Whether the sender waits for a CTS.
    pub(super) fn awaits_cts(&self) -> bool {
        self.flags & (SYNCHRONOUS | RTS_ADDRESS) != 0 || self.total > self.eager
    }
}

/// Unexpected messages, by number.
#[derive(Debug, Default)]
pub struct Messages {
    /// The number of the first.
    first: u32,
    slots: Vec<Option<Message>>,
    free: Vec<u32>,
}

impl Messages {
    /// None, for the engine of this number.
    pub fn new(engine: u32) -> Self {
        Self {
            first: requests::first_of(engine),
            ..Self::default()
        }
    }

    pub(super) fn insert(&mut self, message: Message) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[requests::slot(self.first, index)] = Some(message);
            return index;
        }
        self.slots.push(Some(message));
        requests::new_number(self.first, self.slots.len(), MESSAGES)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Bytes of their data.
    pub fn bytes(&self) -> usize {
        let live = self.slots.iter().flatten();
        live.map(|message| message.data.len()).sum()
    }

    /// The numbers of all.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let slots = self.slots.iter().enumerate();
        let live = slots.filter(|(_, message)| message.is_some());
        live.map(|(slot, _)| requests::number(self.first, slot))
            .collect()
    }

    /// An unexpected message.
    pub fn get(&mut self, index: u32) -> Option<&mut Message> {
        let slot = requests::slot(self.first, index);
        self.slots.get_mut(slot)?.as_mut()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Gives the memory of the tables back, once there is no message.
    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            (self.slots, self.free) = (Vec::new(), Vec::new());
        }
    }

    pub(super) fn take(&mut self, index: u32) -> Option<Message> {
        let slot = requests::slot(self.first, index);
        let message = self.slots.get_mut(slot)?.take()?;
        self.free.push(index);
        Some(message)
    }
}

/// What a receive or a probe says of a message of so many bytes.
#[inline(always)]
pub(super) fn status(key: Key, bytes: usize) -> Status {
    let mut status = Status::empty();
    status.source = key.source;
    status.tag = key.tag;
    status.set_bytes(bytes as u64);
    status
}
