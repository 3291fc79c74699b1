//! Sends of copies, whose requests live by themselves: buffered ones, and messages of the library's own.

use super::Engine;
use super::attached::{Charge, Kept};
use super::requests::{Extra, Kind, Mode, Request};
use super::send::Envelope;
use crate::datatype::pack::Buffer;
use crate::error::Result;

impl Engine {
    /// Begins a send of a copy of the data, so that the request lives by itself; `charge` is what it was charged to.
    ///
    /// Errors: MPI_ERR_NO_MEM; it is not charged then.
    pub fn send_copy(
        &mut self,
        charge: Option<Charge>,
        envelope: &Envelope,
        buffer: Buffer,
    ) -> Result<()> {
        let kept = Kept::of(charge, &buffer)?;
        self.send_kept(charge, envelope, kept);
        Ok(())
    }

    /// As [`Self::send_copy`], for data that is a copy of its own already.
    pub fn send_owned(&mut self, envelope: &Envelope, copy: Box<[u8]>) {
        self.send_kept(None, envelope, Kept::Own(copy));
    }

    /// As [`Self::send_copy`], for data that is a copy already.
    pub fn send_kept(&mut self, charge: Option<Charge>, envelope: &Envelope, kept: Kept) {
        let (buffer, copy) = match kept {
            Kept::Own(mut copy) => (Buffer::of_copy(&mut copy), Some(copy)),
            Kept::Attached(buffer) => (buffer, None),
        };
        let request = Request {
            process: envelope.process,
            peer: envelope.peer,
            tag: envelope.tag,
            total: buffer.len(),
            detached: true,
            buffer,
            extra: Some(Box::new(Extra {
                copy,
                bsend: charge,
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
        self.start_send(index);
    }
}
