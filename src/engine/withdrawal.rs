//! Ends of waits for messages of the library's own that may never be complete: the operation that they belong to has lost a process.
//!
//! Invariant: a call that has ended such a wait may return. Nothing is written to its buffers any more, and no receiver takes for the data of a
//! message what its buffers hold later.

use super::Engine;
use super::protocol::Protocol;
use super::requests::{Answer, Index, Kind, Request};
use super::roots;
use crate::datatype::Buffer;
use crate::error::memory;

impl Request {
    /// A send or receive that nobody waits for: it goes on with memory of the library's own, or with what is attached for that.
    pub fn is_withdrawn(&self) -> bool {
        self.detached
            && self
                .extra
                .as_ref()
                .is_some_and(|extra| extra.copy.is_some() || extra.bsend.is_some())
    }
}

impl Engine {
    /// Nobody waits any more for a request that is not complete. A receive is withdrawn; where its data is coming in, the rest goes nowhere.
    /// A send goes on by itself, with a copy of its data.
    #[cold]
    pub fn withdraw(&mut self, index: Index) {
        if self.cancel_receive(index) {
            self.requests.release(index);
            return;
        }
        if self.transport.abandon(index) {
            // The transport goes on with what the other side has yet to get.
            self.complete(index);
            self.requests.release(index);
            return;
        }
        if self.keep_if_offered(index) {
            self.requests.release(index);
            return;
        }
        let request = self.requests.at(index);
        let is_send = matches!(request.kind, Kind::Send(_));
        if is_send && request.protocol == Protocol::Read && request.answer == Answer::Awaited {
            // Its receiver may read the data where it was, at any time.
            self.transport.revoke_addresses();
        }
        let request = self.requests.at(index);
        let copy = memory::filled(request.buffer.len(), 0u8, "the data of a request");
        let mut copy = memory::or_end(copy).into_boxed_slice();
        if is_send {
            request.buffer.read(0, &mut copy);
        }
        roots::give(request);
        request.buffer = Buffer::of_copy(&mut copy);
        request.extra.get_or_insert_default().copy = Some(copy);
        request.detached = true;
        roots::take(request.owner, &request.buffer);
    }
}
