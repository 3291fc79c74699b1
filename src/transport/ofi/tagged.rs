//! The calls of a [`Port`] for data that goes straight from one buffer of the program into another: tagged transfers.

use super::bindings::*;
use super::library::{Sent, call};
use super::port::Port;
use crate::os::cancellation::Uncancelled;
use std::ffi::c_void;

/// A run of bytes that the provider reads or writes, and what tells its operation.
#[derive(Clone, Copy)]
pub struct Run {
    pub place: *mut u8,
    pub bytes: usize,
    pub tag: u64,
    /// Of the memory, if it is registered.
    pub description: *mut c_void,
    pub context: *mut fi_context2,
}

impl Port {
    /// The longest message that the provider takes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The bits that a tag may have.
    pub fn tag_bits(&self) -> u64 {
        self.tag_bits
    }

    /// Sends bytes to whoever has posted a buffer under their tag.
    ///
    /// # Safety
    /// Bytes and context stay, and the bytes unchanged, until the completion with this context was read.
    pub unsafe fn send_tagged(&mut self, to: u64, run: &Run) -> Sent {
        let result = tagged(run, to, |message| {
            // SAFETY: the endpoint is open; what the message leads to stays, by the caller's word.
            unsafe {
                let send = (*(*self.endpoint.ep).tagged).sendmsg;
                call(send)(self.endpoint.ep, message, FI_COMPLETION.into())
            }
        });
        self.outcome("fi_tsendmsg", result)
    }

    /// Posts a buffer for the bytes that come under a tag.
    ///
    /// # Safety
    /// Buffer and context stay, and nobody else uses the buffer, until the completion with this context was read.
    pub unsafe fn receive_tagged(&mut self, run: &Run) -> Sent {
        let result = tagged(run, u64::MAX, |message| {
            // SAFETY: as in `send_tagged`.
            unsafe {
                let receive = (*(*self.endpoint.ep).tagged).recvmsg;
                call(receive)(self.endpoint.ep, message, FI_COMPLETION.into())
            }
        });
        self.outcome("fi_trecvmsg", result)
    }

    /// Wants an operation to end early. Its completion comes all the same, or the provider cannot end it.
    pub fn cancel(&mut self, context: *mut fi_context2) {
        let _uncancelled = Uncancelled::begin();
        // SAFETY: the endpoint is open; a context that no operation has is none of the provider's.
        unsafe {
            let cancel = (*(*self.endpoint.ep).ops).cancel;
            call(cancel)(&raw mut (*self.endpoint.ep).fid, context.cast());
        }
    }
}

/// Calls with the description of a tagged message that is one run of bytes, valid during the call.
fn tagged<T>(run: &Run, peer: u64, call: impl FnOnce(*const fi_msg_tagged) -> T) -> T {
    let _uncancelled = Uncancelled::begin();
    let part = iovec {
        iov_base: run.place.cast(),
        iov_len: run.bytes as size_t,
    };
    let mut description = run.description;
    call(&fi_msg_tagged {
        msg_iov: &raw const part,
        desc: &raw mut description,
        iov_count: 1,
        addr: peer,
        tag: run.tag,
        ignore: 0,
        context: run.context.cast(),
        data: 0,
    })
}
