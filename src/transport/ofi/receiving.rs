//! The state of the receive buffers, each of which the provider fills with several messages (FI_MULTI_RECV).
//!
//! Invariant: a buffer is posted again when the provider has released it, nobody reads a message in it any more, and none is still
//! coming in (`docs/fabric.md`, "Receive buffers").

use super::library::Sent;
use super::pool::{self, Pool, RECEIVE_BYTES, RECEIVING};
use super::port::Port;

#[derive(Clone, Copy, Default)]
struct Buffer {
    /// Messages in it that are kept.
    messages: u32,
    released: bool,
    /// Bytes of messages that are complete.
    came: usize,
    /// Bytes that messages take up, once it is released. A message of another peer may still be coming in then: `net` and `tcp` release a buffer with
    /// the message that fills it.
    taken: usize,
}

impl Buffer {
    /// Whether nobody reads or writes it any more.
    fn is_free(&self) -> bool {
        self.released && self.messages == 0 && self.came >= self.taken
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Receiving {
    buffers: [Buffer; RECEIVING],
}

impl Receiving {
    /// Posts all buffers. False: the provider does not take one.
    pub fn post_all(&mut self, pool: &Pool, port: &mut Port) -> bool {
        (0..RECEIVING).all(|index| self.post(index, pool, port))
    }

    /// A message is complete. `released`: the provider is done with the buffer; `end`: so many bytes are taken up in it then, if that is known.
    pub fn came(&mut self, index: usize, length: usize, released: bool, end: Option<usize>) {
        let buffer = &mut self.buffers[index];
        buffer.came += length;
        if released {
            buffer.released = true;
            buffer.taken = end.unwrap_or(buffer.taken);
        }
    }

    /// A receive has failed: the provider is done with the buffer, and how far it is filled is not known.
    pub fn failed(&mut self, index: usize) {
        self.buffers[index].released = true;
        self.buffers[index].taken = 0;
    }

    /// A message in it is kept.
    pub fn keep(&mut self, index: usize) {
        self.buffers[index].messages += 1;
    }

    /// A message in it is kept no more.
    pub fn let_go(&mut self, index: usize) {
        self.buffers[index].messages -= 1;
    }

    /// Whether the provider is done with it, and it is not posted again.
    #[cfg(test)]
    pub fn is_released(&self, index: usize) -> bool {
        self.buffers[index].released
    }

    /// Posts a buffer again, if it is free. What finds no room is posted by a later look.
    pub fn give_back(&mut self, index: usize, pool: &Pool, port: &mut Port) {
        if self.buffers[index].is_free() {
            self.post(index, pool, port);
        }
    }

    /// Posts all that are free.
    pub fn give_back_all(&mut self, pool: &Pool, port: &mut Port) {
        for index in 0..RECEIVING {
            self.give_back(index, pool, port);
        }
    }

    fn post(&mut self, index: usize, pool: &Pool, port: &mut Port) -> bool {
        let (place, context) = pool.receiving(index);
        // SAFETY: nothing in the buffer is read any more, and it is used by nobody until it is released.
        let posted = unsafe {
            let pool::Place { begin, description } = place;
            port.post(begin, RECEIVE_BYTES, description, context)
        };
        match posted {
            Sent::Done => {
                self.buffers[index] = Buffer::default();
                true
            }
            Sent::Later => {
                self.buffers[index].released = true;
                false
            }
            Sent::Failed(text) => panic!("{}: {text}", port.description()),
        }
    }
}
