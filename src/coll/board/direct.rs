//! Large alltoall operations of ranks that share cores: each reads what it needs out of the others' memory (process_vm_readv), one copy
//! and few turns. The ranks tell each other at the board where their data lies.
//!
//! Invariant: no rank leaves an operation, or changes what it has exposed, before all who read it have done so.

#[cfg(test)]
use super::around::Around;
use super::{Step, Work};
use crate::coll::call::CollArgs;
use crate::coll::choose;
use crate::coll::packed::{Packed, scratch};
use crate::datatype::{Buffer, Parts};
use crate::engine::dispatch::may_read_peers;
use crate::engine::enter;
use crate::error::{Class, fail};
use crate::os::peer_memory;
use crate::transport::collective::Reach;

/// Bytes of what a rank tells the others.
const TOLD: usize = 16;

/// Where something lies in a rank's memory, and how long it is.
#[derive(Clone, Copy)]
struct There {
    address: u64,
    bytes: u64,
}

impl There {
    /// Of a buffer without holes.
    fn of(buffer: &Buffer) -> There {
        There {
            address: buffer.contiguous().map_or(0, |address| address as u64),
            bytes: buffer.len() as u64,
        }
    }

    fn store(self, told: &mut [u8]) {
        told[..8].copy_from_slice(&self.address.to_ne_bytes());
        told[8..TOLD].copy_from_slice(&self.bytes.to_ne_bytes());
    }

    fn load(told: &[u8]) -> There {
        let word = |at: usize| u64::from_ne_bytes(told[at..at + 8].try_into().unwrap_or_default());
        There {
            address: word(0),
            bytes: word(8),
        }
    }
}

impl Work<'_> {
    /// False: not an operation for this.
    pub(super) fn directly(&mut self, call: &CollArgs) -> Step<bool> {
        let CollArgs::Alltoall { out, into } = call else {
            return Ok(false);
        };
        let equal = into.are_equal() && out.as_ref().is_none_or(Parts::are_equal);
        if !equal || !self.crowded || into.len(0) < choose::LEAST_DIRECT || !self.may_reach()? {
            return Ok(false);
        }
        self.alltoall_directly(out.as_ref(), into)?;
        Ok(true)
    }

    /// Whether all ranks may read each other's memory, which they find out together.
    fn may_reach(&mut self) -> Step<bool> {
        if let Reach::Unknown = self.seat.reach {
            let pids: Option<Box<[i32]>> =
                (0..self.ranks).map(|rank| self.reachable(rank)).collect();
            let bytes = u64::from(pids.is_some());
            let told = self.tell(There { address: 0, bytes })?;
            let all = told.iter().all(|there| there.bytes == 1);
            self.seat.reach = match pids {
                Some(pids) if all => Reach::Granted(pids),
                _ => Reach::Refused,
            };
        }
        Ok(matches!(self.seat.reach, Reach::Granted(_)))
    }

    /// The process id of a rank whose memory this one may read. Only the right word proves that it is the right process.
    fn reachable(&self, rank: usize) -> Option<i32> {
        #[cfg(test)]
        if let Around::Stage(stage) = self.around {
            return stage.pid(rank);
        }
        if !may_read_peers() {
            return None;
        }
        let world = self.around.comm().process(rank as i32);
        enter().transport().readable(world)
    }

    /// Tells all ranks something and waits for what they tell.
    fn tell(&mut self, there: There) -> Step<Vec<There>> {
        let rounds = self.rounds(1, 1);
        let mut all = Vec::with_capacity(self.ranks);
        let show = |work: &mut Self, _, round| work.show(round, TOLD, 0, |told| there.store(told));
        self.everybody(rounds, None, show, |work, _, round| {
            let told = (0..work.ranks).map(|rank| {
                // SAFETY: `everybody` has waited for all, and this rank passes the round afterwards.
                There::load(unsafe { work.board.read(rank, round, TOLD) })
            });
            all.extend(told);
            Ok(())
        })?;
        Ok(all)
    }

    /// Reads a rank's memory.
    fn reach(&mut self, rank: usize, address: u64, out: &mut [u8]) {
        let Reach::Granted(pids) = &self.seat.reach else {
            return;
        };
        if let Err(error) = peer_memory::read(pids[rank], address, out) {
            self.note(fail!(
                Class::Other,
                "the memory of rank {rank} cannot be read: {error}"
            ));
        }
    }

    /// Reads what begins at `address` of a rank to a place of a buffer.
    fn fetch(&mut self, (rank, address): (usize, u64), into: &Buffer, (at, bytes): (usize, usize)) {
        if into.contiguous().is_some() {
            let part = into.slice(at, bytes);
            let done: Result<(), ()> = part.fill_from(bytes, |out| {
                self.reach(rank, address, out);
                Ok(())
            });
            debug_assert!(done.is_ok());
        } else {
            let mut copy = scratch(bytes);
            self.reach(rank, address, &mut copy);
            into.write(at, &copy);
        }
    }

    fn alltoall_directly(&mut self, out: Option<&Parts>, into: &Parts) -> Step {
        let (ranks, me) = (self.ranks, self.me);
        let source = out.unwrap_or(into);
        let whole = source.range(0, ranks).unwrap_or(Buffer::empty());
        let each = source.len(0);
        let packed = Packed::of(whole, true);
        // In place the data is overwritten while others read it.
        let mut copy = out
            .is_none()
            .then(|| crate::coll::packed::packed_copy(&whole));
        let exposed = match &mut copy {
            Some(copy) => Buffer::of_copy(copy),
            None => packed.bytes(),
        };
        let all = self.tell(There::of(&exposed))?;
        if let Some(out) = out {
            self.copy(&out.of(me), &into.of(me));
        }
        for distance in 1..ranks {
            let rank = (me + distance) % ranks;
            let part = into.of(rank);
            let theirs = all[rank].bytes as usize / ranks;
            let address = all[rank].address + (me * theirs) as u64;
            self.fetch((rank, address), &part, (0, part.len().min(theirs)));
        }
        debug_assert!(each == source.len(ranks - 1));
        self.barrier()
    }
}
