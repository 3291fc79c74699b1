//! Data in cells of this process's pool, for peers without a bulk ring.
//!
//! Invariant: a cell whose name was not sent is free again. Where there is no memory for cells the data goes through the ring, a little
//! at a time, so that no message waits for memory that never comes.

use super::Engine;
use super::packets;
use crate::datatype::pack::Buffer;
use crate::transport::{Header, Lack};

/// What became of data for a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Done,
    NoRoom,
    /// There will be no cell: it has to go another way.
    NoMemory,
}

impl Engine {
    /// Fills a cell and lets `announce` send the packet that names it.
    pub(super) fn push_cell(
        &mut self,
        process: usize,
        buffer: &Buffer,
        offset: usize,
        bytes: usize,
        announce: impl FnOnce(&mut Self, u32) -> bool,
    ) -> Sent {
        let fill = |data: &mut [u8]| buffer.read(offset, data);
        let name = match self
            .transport
            .fill_cell(self.peers.route(process), bytes, fill)
        {
            Ok(name) => name,
            Err(Lack::OfFree) => return Sent::NoRoom,
            Err(Lack::OfMemory) => return Sent::NoMemory,
        };
        let done = announce(self, name.0);
        if done {
            return Sent::Done;
        }
        self.transport.take_back(name);
        Sent::NoRoom
    }

    /// Sends a few bytes of a message where there is memory for nothing but the ring. False: no room.
    #[cold]
    #[inline(never)]
    pub(super) fn push_small_data(
        &mut self,
        process: usize,
        buffer: &Buffer,
        offset: usize,
        token: u32,
        bytes: usize,
    ) -> bool {
        let header = Header {
            context: token,
            ..self.header(packets::DATA, 0, bytes)
        };
        self.transport
            .push(self.peers.route(process), &header, |at, piece| {
                buffer.read(offset + at, piece);
            })
    }
}
