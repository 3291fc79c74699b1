//! What the ranks of a file share: the area of their assembly and the shared file pointer, in a range of the node's heap. A file of one rank
//! has its own in its object, ranks on several nodes have none.
//!
//! ```text
//! header      barrier, ranks that have left, shared pointer
//! per rank    line of the assembly
//! ```
//!
//! Invariant: a block of zeros is valid.

use super::pointer::{Apart, Pointer};
use crate::assembly::{self, Area, Assembly, Line, no_memory, the_heap};
use crate::comm::{Comm, Maker, Nodes};
use crate::engine::waits::Object;
use crate::error::{Class, Result, fail};
use crate::queue::barrier;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicI64, AtomicU64, Ordering};
use crate::transport::{self, SharedWith, heap};

const LINE: usize = 64;

#[repr(C)]
struct Header {
    barrier: barrier::Header,
    /// In etypes of the view.
    pointer: AtomicI64,
    /// Where the ring of frames is in the heap, if there is one.
    ring: AtomicU64,
    _pad: [u32; 12],
}

const _: () = assert!(size_of::<Header>() == 192);

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape::combine(&[
    assembly::SHAPE,
    shape!(Header {
        barrier,
        pointer,
        ring,
        _pad
    }),
]);

/// The part in the heap.
struct Block {
    base: *mut u8,
    offset: u64,
}

// SAFETY: atomics only, which stay mapped until this rank has left.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// Where the shared file pointer is.
enum Shared {
    /// Here, of one rank.
    Alone(AtomicI64),
    Memory(Block),
    /// Some ranks are on other nodes, or behave as if they were.
    Apart(Box<Apart>),
}

pub struct Board {
    pub assembly: Assembly,
    shared: Shared,
    /// Where it is in memory.
    shared_with: Option<SharedWith>,
    /// Of each rank, the lowest one on its node; empty if there is one node.
    firsts: Box<[usize]>,
}

fn bytes(ranks: usize) -> u64 {
    (size_of::<Header>() + ranks * size_of::<Line>()) as u64
}

/// Memory for a board, made by the lowest rank; what is not [`Reserved::keep`]ed is given back.
pub struct Reserved {
    offset: u64,
    shared_with: Option<SharedWith>,
}

impl Reserved {
    /// Nothing for one rank, for ranks on several nodes, and on ranks but the lowest.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    pub fn new(comm: &Comm) -> Result<Reserved> {
        if comm.size() == 1 || comm.nodes().is_some() {
            return Ok(Reserved {
                offset: 0,
                shared_with: None,
            });
        }
        let heap = the_heap()?;
        let bytes = bytes(comm.size() as usize);
        let refused = |why| no_memory("what the ranks of a file share", bytes, &why);
        heap.open_now().map_err(refused)?;
        let mut reserved = Reserved {
            offset: 0,
            shared_with: Some(comm.share_memory(heap)?),
        };
        if comm.rank() == 0 {
            heap.release_left();
            reserved.offset = heap.obtain(bytes, LINE).map_err(refused)?;
        }
        Ok(reserved)
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    pub fn keep(mut self) {
        self.offset = 0;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let (Some(heap), true) = (heap(), self.offset != 0) {
            heap.release(self.offset);
        }
    }
}

impl Board {
    /// The board at an offset of the heap, as all ranks have been told, which this one has helped to reserve; `file` is for its waits. Collective.
    ///
    /// Errors: MPI_ERR_INTERN; of ranks on several nodes those of MPI_Comm_dup.
    pub fn new(
        comm: &Comm,
        function: &'static str,
        offset: u64,
        file: (Object, assembly::NameOf),
        reserved: &mut Reserved,
    ) -> Result<Board> {
        let ranks = comm.size();
        let first_of_its_node = |nodes: &Nodes, rank| nodes.ranks(nodes.node_of(rank)).at(0);
        let firsts = comm.nodes().map_or(Box::default(), |nodes| {
            let firsts = (0..ranks as usize).map(|rank| first_of_its_node(nodes, rank));
            firsts.collect()
        });
        let shared = match ranks {
            1 => Shared::Alone(AtomicI64::new(0)),
            _ if comm.nodes().is_some() => Shared::Apart(Box::new(Apart::new(comm.rank()))),
            _ => match the_heap()?.at(offset, bytes(ranks as usize)) {
                Some(base) => Shared::Memory(Block { base, offset }),
                None => return fail!(Class::Intern, "the board of the file is not in the heap"),
            },
        };
        let area = match &shared {
            // SAFETY: as for `header`; the board has the assembly.
            Shared::Memory(block) => Some(unsafe {
                let first = block.base.add(size_of::<Header>());
                Area::new(&Self::header(block).barrier, first, size_of::<Line>(), true)
            }),
            _ => None,
        };
        Ok(Board {
            assembly: Assembly::new(comm, Maker::FileOpen, function, area, file)?,
            shared,
            shared_with: reserved.shared_with.take(),
            firsts,
        })
    }

    fn header(block: &Block) -> &Header {
        // SAFETY: the block was made by `Reserved::new` and stays until this rank has left; atomics are valid for any content.
        unsafe { &*block.base.cast() }
    }

    /// Whether the ranks may not use each other's memory.
    pub fn spans_nodes(&self) -> bool {
        matches!(self.shared, Shared::Apart(_))
    }

    /// The lowest rank of all that are on a rank's node.
    pub fn first_on_node_of(&self, rank: usize) -> usize {
        self.firsts.get(rank).copied().unwrap_or(0)
    }

    /// The lowest rank of each node.
    pub fn firsts(&self) -> Vec<usize> {
        let firsts = self.firsts.iter().enumerate();
        let is_first = |(rank, first): (usize, &usize)| (rank == *first).then_some(rank);
        firsts.filter_map(is_first).collect()
    }

    fn memory(&self) -> Option<&Block> {
        match &self.shared {
            Shared::Memory(block) => Some(block),
            _ => None,
        }
    }

    /// Gives the ring of frames back, if there is one, and notes where the new one is; by one rank while nobody uses it.
    pub fn change_ring(&self, offset: u64) {
        let (Some(block), Some(heap)) = (self.memory(), heap()) else {
            return;
        };
        let old = Self::header(block).ring.swap(offset, Ordering::Relaxed);
        if old != 0 {
            heap.release(old);
        }
    }

    /// The shared file pointer.
    pub fn pointer(&self) -> Pointer<'_> {
        match &self.shared {
            Shared::Alone(word) => Pointer::Word(word),
            Shared::Memory(block) => Pointer::Word(&Self::header(block).pointer),
            Shared::Apart(apart) => Pointer::Apart(apart),
        }
    }
}

impl Drop for Board {
    /// This rank uses the board no more. The last one gives the ring back; the board goes back to the rank that has made it.
    fn drop(&mut self) {
        let (Some(block), Some(heap)) = (self.memory(), heap()) else {
            return;
        };
        let header = Self::header(block);
        // Before the board may be another one's. It changes only where all ranks take part.
        let ring = header.ring.load(Ordering::Relaxed);
        // AcqRel: the last one gives back what all have used.
        let left = header.barrier.left.fetch_add(1, Ordering::AcqRel) + 1;
        if left as usize == self.assembly.ranks() && ring != 0 {
            heap.free(ring);
        }
        if let (0, Some(with)) = (self.assembly.rank(), &self.shared_with) {
            let block = transport::AwaitedBlock {
                offset: block.offset,
                ranks: self.assembly.ranks() as u32,
                range: ring,
            };
            heap.release_when_left(block, with);
        }
    }
}
