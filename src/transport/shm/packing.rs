//! What the job's terms are in the segment: process numbers are indices here, and headers are packed into slots.

use super::endpoint::Endpoint;
use crate::queue::ring;
use crate::transport::peer::{Peer, Route, Table};
use crate::transport::wire::{self, Header, Packet};

impl Endpoint {
    /// The process table of a job whose processes are all on this node; `node_of` says which they behave as if they were on.
    pub fn table(&self, node_of: impl Fn(u32) -> u32) -> Table {
        let peer = |index: usize| Peer {
            node: node_of(self.processes[index]),
            route: match index == self.common.me {
                true => Route::Own,
                false => Route::Shm(index as u32),
            },
            seat: Some(index as u32),
            page: &self.page(index).status,
        };
        // Indices ascend as process numbers do.
        let all = (0..self.ranks()).map(peer);
        Table::new(self.processes[self.common.me], all)
    }

    /// The header that a packet has in the segment.
    #[inline(always)]
    pub(super) fn packed(&self, header: &Header) -> ring::Header {
        debug_assert!(header.flags & !wire::FLAGS == 0 && header.length <= u32::from(u16::MAX));
        ring::Header {
            kind: header.kind,
            flags: header.flags,
            context: header.context,
            tag: header.tag,
            source: header.source,
            length: header.length as u16,
            origin: self.common.me as u16,
            ..ring::Header::default()
        }
    }

    /// What came in with this header.
    #[inline(always)]
    pub fn unpacked(&self, slot: ring::Header) -> Packet {
        let process = self.processes.get(slot.origin as usize);
        Packet {
            header: Header {
                kind: slot.kind,
                flags: slot.flags & wire::FLAGS,
                engine: self.common.engine as u8,
                context: slot.context,
                tag: slot.tag,
                source: slot.source,
                length: slot.length.into(),
                process: process.copied().unwrap_or(u32::MAX),
            },
            slot,
        }
    }
}
