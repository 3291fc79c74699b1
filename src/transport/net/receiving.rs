//! The state of the receive buffers, each of which the provider fills with several messages (FI_MULTI_RECV).
//!
//! Invariant: a buffer is posted again when the provider has released it, nobody reads a message in it any more, and none is still
//! coming in (`docs/fabric.md`, "Receive buffers").

use super::pool::{self, Pool, RECEIVE_BYTES, RECEIVING};
use super::port::{Port, Sent};

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
    /// A connection has broken since it was posted. Of a message that had come in part no word is said, so not all of `taken` need come.
    may_lack: bool,
}

impl Buffer {
    /// Whether nobody reads or writes it any more.
    fn is_free(&self) -> bool {
        self.is_read() && self.came >= self.taken
    }

    fn is_read(&self) -> bool {
        self.released && self.messages == 0
    }

    /// Whether it is not known if a message is still coming in.
    fn is_doubtful(&self) -> bool {
        self.is_read() && self.came < self.taken && self.may_lack
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Receiving {
    buffers: [Buffer; RECEIVING],
    /// Why the provider did not take the last buffer that it was offered, if it has failed to.
    failure: Option<String>,
}

impl Receiving {
    /// Posts all buffers.
    pub fn post_all(&mut self, pool: &Pool, port: &mut dyn Port) {
        (0..RECEIVING).for_each(|index| self.post(index, pool, port));
    }

    /// Why nothing more can come in, if the provider has no buffer and fails to take any.
    pub fn is_deaf(&self) -> Option<&str> {
        let all_are_free = self.buffers.iter().all(Buffer::is_free);
        self.failure.as_deref().filter(|_| all_are_free)
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
        let buffer = &mut self.buffers[index];
        buffer.released = true;
        buffer.taken = usize::MAX;
        buffer.may_lack = true;
    }

    /// A connection has broken.
    pub fn connection_broke(&mut self) {
        let all = self.buffers.iter_mut();
        all.for_each(|buffer| buffer.may_lack = true);
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

    /// Bytes of messages that are complete.
    #[cfg(test)]
    pub fn has_come(&self, index: usize) -> usize {
        self.buffers[index].came
    }

    /// Posts a buffer again, if it is free. What finds no room is posted by a later look. One that may still be written to has other memory
    /// from then on, if there is any.
    pub fn give_back(&mut self, index: usize, pool: &mut Pool, port: &mut dyn Port) {
        let buffer = &self.buffers[index];
        if buffer.is_free() || buffer.is_doubtful() && pool.renew(index, port) {
            self.post(index, pool, port);
        }
    }

    /// Posts all that are free.
    pub fn give_back_all(&mut self, pool: &mut Pool, port: &mut dyn Port) {
        for index in 0..RECEIVING {
            self.give_back(index, pool, port);
        }
    }

    fn post(&mut self, index: usize, pool: &Pool, port: &mut dyn Port) {
        let (place, context) = pool.receiving(index);
        // SAFETY: nothing in the buffer is read any more, and it is used by nobody until it is released.
        let posted = unsafe {
            let pool::Place { begin, description } = place;
            port.post(begin, RECEIVE_BYTES, description, context)
        };
        match posted {
            Sent::Done => {
                self.buffers[index] = Buffer::default();
                self.failure = None;
            }
            refused => {
                self.buffers[index] = Buffer {
                    released: true,
                    ..Buffer::default()
                };
                if let Sent::Failed(text) = refused {
                    self.failure = Some(text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_lacks_a_message_is_free_or_doubtful_if_a_connection_has_broken() {
        let mut receiving = Receiving::default();
        receiving.came(0, 100, false, None);
        receiving.came(0, 100, true, Some(300));
        assert!(!receiving.buffers[0].is_free() && !receiving.buffers[0].is_doubtful());
        receiving.connection_broke();
        receiving.keep(0);
        assert!(!receiving.buffers[0].is_doubtful(), "it is read");
        receiving.let_go(0);
        assert!(receiving.buffers[0].is_doubtful());
        receiving.came(0, 100, false, None);
        assert!(receiving.buffers[0].is_free() && !receiving.buffers[0].is_doubtful());
        receiving.failed(1);
        assert!(receiving.buffers[1].is_doubtful());
    }

    #[test]
    fn an_end_is_deaf_if_no_buffer_is_taken() {
        let mut receiving = Receiving {
            failure: Some("out of memory".to_owned()),
            ..Receiving::default()
        };
        assert_eq!(receiving.is_deaf(), None, "the provider has them");
        (0..RECEIVING).for_each(|index| receiving.came(index, 0, true, None));
        assert_eq!(receiving.is_deaf(), Some("out of memory"));
        receiving.failure = None;
        assert_eq!(receiving.is_deaf(), None, "there was no room");
    }
}
