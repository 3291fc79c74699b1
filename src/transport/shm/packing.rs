//! What the job's terms are in the segment: process numbers are indices here, and headers are packed into slots.

use super::endpoint::Endpoint;
use crate::queue::ring;
use crate::transport::deaths;
use crate::transport::life;
use crate::transport::peer::{NodeOf, Peer, Route, Table};
use crate::transport::wanted;
use crate::transport::wire::{self, Header, Packet};

impl Endpoint {
    /// Takes the deaths that mpiexec counts in this segment for those of this process's job, and the looks that it wants. The segment has to stay, so
    /// tests, whose segments go, leave that out.
    pub fn hear_of_deaths(&self) {
        deaths::told_by(&self.common.segment.header().deaths);
        wanted::wanted_by(&self.common.segment.header().wanted);
    }

    /// The process table of a job of so many processes; `node_of` says which nodes they are on. Those that are not in this segment
    /// are reached over the fabric.
    pub fn table(&self, size: u32, node_of: NodeOf) -> Table {
        if let Some(ends) = self.common.segment.ends() {
            life::told_ends(ends);
        }
        let own = self.processes[self.common.me];
        // Indices ascend as process numbers do.
        let entry = |seat: u32, node| {
            let route = match seat as usize == self.common.me {
                true => Route::Own,
                false => Route::Shm(seat),
            };
            Peer::new(node, route, Some(seat), &self.page(seat as usize).status)
        };
        Table::new(own, size, self.processes.clone(), node_of, entry)
    }

    /// The header that a packet has in the segment.
    #[inline(always)]
    pub(super) fn packed(&self, header: &Header) -> ring::SlotHeader {
        debug_assert!(header.flags & !wire::FLAGS == 0 && header.length <= u32::from(u16::MAX));
        ring::SlotHeader {
            kind: header.kind,
            flags: header.flags,
            context: header.context,
            tag: header.tag,
            source: header.source,
            length: header.length as u16,
            origin: self.common.me as u16,
            ..ring::SlotHeader::default()
        }
    }

    /// What came in with this header.
    #[inline(always)]
    pub fn unpacked(&self, slot: ring::SlotHeader) -> Packet {
        let process = self.processes.get(slot.origin as usize);
        Packet {
            header: Header {
                kind: slot.kind,
                flags: slot.flags & wire::FLAGS,
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
