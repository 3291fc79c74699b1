//! Buffered sends: the space that is attached, and the messages that have been copied.
//!
//! They belong to the process: messages of one buffer may leave by several engines. Invariant: what is in use of a buffer is
//! the sum of its messages that have not left.

use super::Engine;
use super::requests::{Extra, Kind, Mode, Request};
use super::send::Envelope;
use crate::datatype::pack::Buffer;
use crate::error::Result;
use parking_lot::Mutex;

static BUFFERS: Mutex<Vec<BsendBuffer>> = Mutex::new(Vec::new());

/// Buffer for buffered sends: what is attached and what is in use, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BsendBuffer {
    pub capacity: usize,
    pub used: usize,
    pub messages: usize,
    /// MPI_BUFFER_AUTOMATIC: as much as memory allows.
    pub automatic: bool,
    pub open: bool,
}

/// MPI_BSEND_OVERHEAD.
pub const BSEND_OVERHEAD: usize = 96;

impl BsendBuffer {
    /// A buffer to be attached.
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

/// Adds a buffer; returns its number.
pub fn open(bsend: BsendBuffer) -> u32 {
    let mut buffers = BUFFERS.lock();
    let number = match buffers.iter().position(|bsend| !bsend.open) {
        Some(number) => number,
        None => {
            buffers.push(bsend);
            buffers.len() - 1
        }
    };
    buffers[number] = bsend;
    number as u32
}

/// The end of what [`open`] began, once it is empty.
pub fn close(bsend: u32) {
    BUFFERS.lock()[bsend as usize].open = false;
}

/// State of a buffer.
pub fn state(bsend: u32) -> BsendBuffer {
    BUFFERS.lock()[bsend as usize]
}

/// Charges a message. False, and nothing charged: there is no room for it.
pub fn take(bsend: u32, bytes: usize) -> bool {
    let bsend = &mut BUFFERS.lock()[bsend as usize];
    let fits = bsend.fits(bytes);
    if fits {
        bsend.take(bytes);
    }
    fits
}

/// A message has left.
pub fn give_back(bsend: u32, bytes: usize) {
    BUFFERS.lock()[bsend as usize].give_back(bytes);
}

impl Engine {
    /// Begins a send of a copy of the data, so that the request lives by itself; `bsend` is the buffer that it was charged to.
    ///
    /// Errors: MPI_ERR_NO_MEM; it is not charged then.
    pub fn send_copy(
        &mut self,
        bsend: Option<u32>,
        envelope: &Envelope,
        buffer: Buffer,
    ) -> Result<()> {
        match buffer.copied() {
            Ok(copy) => self.send_owned(bsend, envelope, copy),
            Err(error) => {
                if let Some(bsend) = bsend {
                    give_back(bsend, buffer.len());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// As [`Self::send_copy`], for data that is a copy already.
    pub fn send_owned(&mut self, bsend: Option<u32>, envelope: &Envelope, mut copy: Box<[u8]>) {
        let request = Request {
            process: envelope.process,
            peer: envelope.peer,
            tag: envelope.tag,
            total: copy.len(),
            detached: true,
            buffer: Buffer::of_copy(&mut copy),
            extra: Some(Box::new(Extra {
                copy: Some(copy),
                bsend,
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
