//! Large operations of ranks that share cores: each reads what it needs out of the others' memory (process_vm_readv), one copy
//! and few turns. The ranks tell each other at the board where their data lies.
//!
//! Invariant: no rank leaves an operation, or changes what it has exposed, before all who read it have done so.

use super::Work;
use crate::coll::call::{Call, Operands, blocks};
use crate::coll::choose;
use crate::coll::packed::{Packed, room};
use crate::datatype::{Buffer, Parts};
use crate::engine::dispatch::may_read_peers;
use crate::engine::enter;
use crate::error::{Class, fail};
use crate::os::peer_memory;
use crate::sync::Ordering;
use crate::transport::shm::seat::Reach;

/// What is read for a reduction at a time: it stays in a core's own cache.
const PIECE: usize = 64 << 10;
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
    pub(super) fn directly(&mut self, call: &Call) -> bool {
        // The least that one rank reads of another.
        let least = match call {
            Call::Allgather { parts, .. } => {
                let longest = (0..self.ranks).map(|rank| parts.len(rank)).max();
                longest.unwrap_or(0)
            }
            Call::Alltoall { out, into }
                if into.are_equal() && out.as_ref().is_none_or(Parts::are_equal) =>
            {
                into.len(0)
            }
            Call::ReduceScatter { own, with, .. }
                if !choose::reproducible() && with.datatype.size as usize <= PIECE =>
            {
                own.len() / self.ranks
            }
            _ => return false,
        };
        if !self.crowded
            || least < choose::least_direct(matches!(call, Call::Alltoall { .. }))
            || !self.may_reach()
        {
            return false;
        }
        match call {
            Call::Allgather { own, parts } => self.allgather_directly(own.as_ref(), parts),
            Call::Alltoall { out, into } => self.alltoall_directly(out.as_ref(), into),
            Call::ReduceScatter {
                own,
                into,
                counts,
                with,
            } => self.reduce_scatter_directly(own, into, &blocks(counts, with.datatype), with),
            _ => unreachable!("not for reading directly"),
        }
        true
    }

    /// Whether all ranks may read each other's memory, which they find out together.
    fn may_reach(&mut self) -> bool {
        if let Reach::Unknown = self.seat.reach {
            let pids: Option<Box<[i32]>> =
                (0..self.ranks).map(|rank| self.reachable(rank)).collect();
            let bytes = u64::from(pids.is_some());
            let told = self.tell(There { address: 0, bytes });
            let all = told.iter().all(|there| there.bytes == 1);
            self.seat.reach = match pids {
                Some(pids) if all => Reach::Granted(pids),
                _ => Reach::Refused,
            };
        }
        matches!(self.seat.reach, Reach::Granted(_))
    }

    /// The process id of a rank whose memory this one may read. Only the right word proves that it is the right process.
    fn reachable(&self, rank: usize) -> Option<i32> {
        if !may_read_peers() {
            return None;
        }
        let engine = enter();
        let world = self.comm.world(rank as i32) as usize;
        let status = &engine.endpoint().page(world).status;
        let pid = status.pid.load(Ordering::Relaxed);
        let mut word = [0u8; 8];
        let from = status.probe_address.load(Ordering::Relaxed);
        let read = peer_memory::read(pid, from, &mut word).is_ok();
        (read && u64::from_ne_bytes(word) == status.probe_value.load(Ordering::Relaxed))
            .then_some(pid)
    }

    /// Tells all ranks something and waits for what they tell.
    fn tell(&mut self, there: There) -> Vec<There> {
        let rounds = self.rounds(1, 1);
        let mut all = Vec::with_capacity(self.ranks);
        let show = |work: &mut Self, _, round| work.show(round, TOLD, 0, |told| there.store(told));
        self.everybody(rounds, None, show, |work, _, round| {
            let told = (0..work.ranks).map(|rank| There::load(work.board.read(rank, round, TOLD)));
            all.extend(told);
        });
        all
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
            let mut copy = room(bytes);
            self.reach(rank, address, &mut copy);
            into.write(at, &copy);
        }
    }

    fn allgather_directly(&mut self, own: Option<&Buffer>, parts: &Parts) {
        let (ranks, me) = (self.ranks, self.me);
        let mine = parts.of(me);
        let mut packed = Packed::of(*own.unwrap_or(&mine), true);
        let all = self.tell(There::of(&packed.bytes()));
        if let Some(own) = own {
            self.copy(own, &mine);
        }
        for distance in 1..ranks {
            let rank = (me + distance) % ranks;
            let into = parts.of(rank);
            let bytes = into.len().min(all[rank].bytes as usize);
            self.fetch((rank, all[rank].address), &into, (0, bytes));
        }
        self.barrier();
    }

    fn alltoall_directly(&mut self, out: Option<&Parts>, into: &Parts) {
        let (ranks, me) = (self.ranks, self.me);
        let source = out.unwrap_or(into);
        let whole = source.range(0, ranks).unwrap_or(Buffer::empty());
        let each = source.len(0);
        let mut packed = Packed::of(whole, true);
        // In place the data is overwritten while others read it.
        let mut copy = out.is_none().then(|| crate::coll::packed::contents(&whole));
        let exposed = match &mut copy {
            Some(copy) => Buffer::of_copy(copy),
            None => packed.bytes(),
        };
        let all = self.tell(There::of(&exposed));
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
        self.barrier();
    }

    /// Makes the block of the result from `begin` to `end`, in the order of the ranks, whose data lies there; `give` gets the
    /// pieces.
    fn reduce_block_directly(
        &mut self,
        (begin, end): (usize, usize),
        all: &[There],
        own: &Buffer,
        with: &Operands,
        mut give: impl FnMut(usize, &[u8]),
    ) {
        let piece = Self::elements(with, PIECE).min(end - begin);
        let (mut left, mut right) = (room(piece), room(piece));
        let mut at = begin;
        while at < end {
            let bytes = piece.min(end - at);
            for rank in (0..self.ranks).rev() {
                let is_last = rank == self.ranks - 1;
                let operand = if is_last { &mut right } else { &mut left };
                let operand = &mut operand[..bytes];
                if rank == self.me {
                    own.read(at, operand);
                } else {
                    self.reach(rank, all[rank].address + at as u64, operand);
                }
                if !is_last {
                    let count = bytes as u64 / with.datatype.size.max(1);
                    let (left, right) = (&left[..bytes], &mut right[..bytes]);
                    self.note(with.op.apply(left, right, count, with.datatype));
                }
            }
            give(at - begin, &right[..bytes]);
            at += bytes;
        }
    }

    fn reduce_scatter_directly(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        begins: &[usize],
        with: &Operands,
    ) {
        let mine = (begins[self.me], begins[self.me + 1]);
        let mut packed = Packed::of(*own, true);
        let exposed = packed.bytes();
        let all = self.tell(There::of(&exposed));
        // In place the result lies where data that others read may be.
        let mut aside = (!into.is_apart_from(&exposed)).then(|| room(into.len()));
        let target = aside.as_mut().map_or(*into, Buffer::of_copy);
        self.reduce_block_directly(mine, &all, &exposed, with, |at, piece| {
            target.write(at, piece);
        });
        self.barrier();
        if let Some(aside) = aside {
            into.write(0, &aside);
        }
    }
}
