//! Large alltoall operations: each rank reads what it needs out of the others' memory (process_vm_readv), one copy and few turns. The ranks
//! tell each other through the staging area where their data lies.
//!
//! Invariant: no rank leaves an operation, or changes what it has exposed, before all who read it have done so, or it has said at the area that
//! a rank is lost.

#[cfg(test)]
use super::env::Env;
use super::{Lost, Step, Work, after};
use crate::coll::choose::plan::Staged;
use crate::coll::packed::{Packed, scratch};
use crate::coll::team::copy_fitting;
use crate::datatype::{Buffer, Parts};
use crate::engine::enter;
use crate::engine::single_copy::may_read_peers;
use crate::error::{Class, fail};
use crate::os::peer_memory;
use crate::transport::collective::Reach;
use oxmpi_macros::both;

/// Bytes of what a rank tells the others.
const TOLD: usize = 16;

/// Where something lies in a rank's memory, and how long it is.
#[derive(Clone, Copy)]
struct Exposed {
    address: u64,
    bytes: u64,
}

impl Exposed {
    /// A buffer without holes.
    fn new(buffer: &Buffer) -> Exposed {
        Exposed {
            address: buffer.contiguous().map_or(0, |address| address as u64),
            bytes: buffer.len() as u64,
        }
    }

    fn store(self, told: &mut [u8]) {
        told[..8].copy_from_slice(&self.address.to_ne_bytes());
        told[8..TOLD].copy_from_slice(&self.bytes.to_ne_bytes());
    }

    fn load(told: &[u8]) -> Exposed {
        let word = |at: usize| u64::from_ne_bytes(told[at..at + 8].try_into().unwrap_or_default());
        Exposed {
            address: word(0),
            bytes: word(8),
        }
    }
}

#[both]
impl Work<'_, BLOCK> {
    /// Whether all ranks may read each other's memory, which they find out together.
    async fn may_reach(&mut self) -> Step<bool> {
        if let Reach::Unknown = self.staging.reach {
            let pids: Option<Box<[i32]>> =
                (0..self.ranks).map(|rank| self.reachable(rank)).collect();
            let bytes = u64::from(pids.is_some());
            let told = self.tell(Exposed { address: 0, bytes }).await?;
            let all = told.iter().all(|there| there.bytes == 1);
            self.staging.reach = match pids {
                Some(pids) if all => Reach::Granted(pids),
                _ => Reach::Refused,
            };
        }
        Ok(matches!(self.staging.reach, Reach::Granted(_)))
    }

    /// The process id of a rank whose memory this one may read. Only the right word proves that it is the right process.
    fn reachable(&self, rank: usize) -> Option<i32> {
        #[cfg(test)]
        if let Env::Fixture(fixture, ..) = self.env {
            return fixture.pid(rank);
        }
        if !may_read_peers() {
            return None;
        }
        let world = self.env.coll().process(rank as i32);
        enter().transport().readable(world)
    }

    /// Tells all ranks something and waits for what they tell.
    async fn tell(&mut self, there: Exposed) -> Step<Vec<Exposed>> {
        let counted = self.plan.counted;
        let pieces = self.pieces(1, 1, counted);
        let (area, ranks) = (self.staging.area, self.ranks);
        let mut all = Vec::with_capacity(ranks);
        self.everybody(
            (pieces, 0, counted),
            |_| TOLD,
            |_, _, told| there.store(told),
            |_, _| {
                let round = pieces.first;
                let told = (0..ranks).map(|rank| {
                    // SAFETY: `everybody` has waited for all, and this rank acknowledges the round afterwards.
                    Exposed::load(unsafe { area.read(rank, round, TOLD, (0, TOLD)) })
                });
                all.extend(told);
            },
        )
        .await?;
        Ok(all)
    }

    /// Reads a rank's memory.
    fn reach(&mut self, rank: usize, address: u64, out: &mut [u8]) {
        let Reach::Granted(pids) = &self.staging.reach else {
            return;
        };
        #[cfg(test)]
        crate::datatype::copies::count(out.len());
        if let Err(error) = peer_memory::read(pids[rank], address, out) {
            self.note(fail!(
                Class::Other,
                "the memory of rank {rank} cannot be read: {error}"
            ));
        }
    }

    /// Reads what begins at `address` of a rank to the first bytes of a buffer.
    fn fetch(&mut self, rank: usize, address: u64, into: &Buffer, bytes: usize) {
        if into.contiguous().is_some() {
            let part = into.slice(0, bytes);
            let done: Result<(), ()> = part.fill_from(bytes, |out| {
                self.reach(rank, address, out);
                Ok(())
            });
            debug_assert!(done.is_ok());
        } else {
            let mut copy = scratch(bytes);
            self.reach(rank, address, &mut copy);
            into.write(0, &copy);
        }
    }

    /// False: the ranks may not read each other's memory.
    pub(super) async fn alltoall_directly(
        &mut self,
        out: Option<&Parts>,
        into: &Parts,
    ) -> Step<bool> {
        if !self.may_reach().await? {
            return Ok(false);
        }
        let (ranks, me) = (self.ranks, self.me);
        let source = out.unwrap_or(into);
        let whole = source.range(0, ranks).unwrap_or(Buffer::empty());
        let packed = Packed::of(whole, true);
        // In place the data is overwritten while others read it.
        let mut copy = out
            .is_none()
            .then(|| crate::coll::packed::packed_copy(&whole));
        let exposed = match &mut copy {
            Some(copy) => Buffer::of_copy(copy),
            None => packed.bytes(),
        };
        // The round in which it is told, which is the next one.
        let operation = self.staging.round + 1;
        self.staging.exposed = Some(operation);
        let all = self.tell(Exposed::new(&exposed)).await?;
        if let Some(out) = out {
            self.note(copy_fitting(&out.of(me), &into.of(me)));
        }
        for distance in 1..ranks {
            let rank = after(me, distance, ranks);
            let part = into.of(rank);
            let theirs = all[rank].bytes as usize / ranks;
            let address = all[rank].address + (me * theirs) as u64;
            self.fetch(rank, address, &part, part.len().min(theirs));
        }
        self.plan.how = match self.plan.oversubscribed {
            true => Staged::Counter,
            false => Staged::Direct,
        };
        self.barrier().await?;
        self.staging.exposed = None;
        // All have come to the barrier, but one may have given it up since, and changed what this rank was still reading.
        match self.area().lost_meanwhile(operation) {
            Some(world) => Err(Lost(world)),
            None => Ok(true),
        }
    }
}
