//! What the ranks of a file share: a barrier, a few words of each rank, the shared file pointer. In a range of the node's heap; a file
//! of one rank has its own in its object, ranks on several nodes send messages ([`super::messages`]).
//!
//! ```text
//! header      barrier, ranks that have left, shared pointer
//! per rank    Line: number of the last barrier, words of two rounds
//! ```
//!
//! Invariant: a rank writes the words of a round only when all have read those of the round two before: they have come to the round
//! between. A block of zeros is valid.

use super::messages::{Messages, Parcel};
pub use super::messages::{WORDS, Words};
use super::pointer::{Apart, Pointer};
use super::wait;
use super::workers;
use crate::comm::{Comm, Members, Nodes};
use crate::engine::{enter, liveness, tasks};
use crate::error::{Class, Error, Result, fail};
use crate::queue::barrier::{self, IsLost, Member, Visit};
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
use crate::transport::{self, FirstNotifier, Heap, SharedWith, heap};
use std::task::Poll;

/// As many ranks look at each other's lines.
const FEW: usize = 3;
/// Looks of a task after which it asks who is missing.
const LOOKS: u32 = 64;
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

#[repr(C)]
struct Line {
    barriers: AtomicU32,
    _pad: [u32; 15],
    words: [[AtomicU64; WORDS]; 2],
}

const _: () = assert!(size_of::<Header>() == 192 && size_of::<Line>() == 192);

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape::combine(&[
    barrier::SHAPE,
    shape!(Header {
        barrier,
        pointer,
        ring,
        _pad
    }),
    shape!(Line {
        barriers,
        _pad,
        words
    }),
    shape::number(shape::START, WORDS),
]);

/// The part in the heap.
struct Block {
    base: *mut u8,
    offset: u64,
    notifiers: Box<[FirstNotifier]>,
}

// SAFETY: atomics only, which stay mapped until this rank has left.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// How the ranks reach each other.
enum Medium {
    /// There is one, whose shared file pointer this is.
    Alone(AtomicI64),
    /// In memory; also the number of rounds that this rank has come to.
    Memory(Block, AtomicU32),
    /// Some are on other nodes, or behave as if they were.
    Messages(Box<Messages>, Box<Apart>),
}

pub struct Board {
    members: Members,
    rank: usize,
    medium: Medium,
    /// Where its medium is memory.
    shared_with: Option<SharedWith>,
    /// Of each rank, the lowest one on its node; empty if there is one node.
    firsts: Box<[usize]>,
    /// The file's, once it has one.
    pub handle: AtomicI32,
}

fn bytes(ranks: usize) -> u64 {
    (size_of::<Header>() + ranks * size_of::<Line>()) as u64
}

pub(super) fn the_heap() -> Result<&'static Heap> {
    match heap() {
        Some(heap) => Ok(heap),
        None => fail!(Class::NoMem, "the ranks of this node share no memory"),
    }
}

fn no_memory(why: &std::io::Error) -> Error {
    Error::new(
        Class::NoMem,
        format!("there is no memory for what the ranks of a file share: {why}"),
    )
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
        heap.open_now().map_err(|why| no_memory(&why))?;
        let mut reserved = Reserved {
            offset: 0,
            shared_with: Some(comm.share_memory()?),
        };
        if comm.rank() == 0 {
            heap.release_left();
            let offset = heap.obtain(bytes(comm.size() as usize), LINE);
            reserved.offset = offset.map_err(|why| no_memory(&why))?;
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
    /// The board at an offset of the heap, as all ranks have been told, which this one has helped to reserve. Collective.
    ///
    /// Errors: MPI_ERR_INTERN; of ranks on several nodes those of MPI_Comm_dup.
    pub fn new(
        comm: &Comm,
        function: &'static str,
        offset: u64,
        reserved: &mut Reserved,
    ) -> Result<Board> {
        let ranks = comm.size();
        let first_of_its_node = |nodes: &Nodes, rank| nodes.ranks(nodes.node_of(rank)).at(0);
        let firsts = comm.nodes().map_or(Box::default(), |nodes| {
            let firsts = (0..ranks as usize).map(|rank| first_of_its_node(nodes, rank));
            firsts.collect()
        });
        let medium = match ranks {
            1 => Medium::Alone(AtomicI64::new(0)),
            _ if comm.nodes().is_some() => {
                let messages =
                    Messages::new(comm, function).map_err(|error| match error.lost() {
                        Some(_) => explained(error),
                        None => error,
                    })?;
                Medium::Messages(Box::new(messages), Box::new(Apart::new(comm.rank())))
            }
            _ => {
                let Some(base) = the_heap()?.at(offset, bytes(ranks as usize)) else {
                    return fail!(Class::Intern, "the board of the file is not in the heap");
                };
                let engine = enter();
                let notifier = |rank| engine.transport().notifier_of(comm.members().process(rank));
                let notifiers: Option<Box<[FirstNotifier]>> = (0..ranks).map(notifier).collect();
                let Some(notifiers) = notifiers else {
                    return fail!(
                        Class::Intern,
                        "a rank of {} shares no memory with this process",
                        comm.title()
                    );
                };
                let block = Block {
                    base,
                    offset,
                    notifiers,
                };
                Medium::Memory(block, AtomicU32::new(0))
            }
        };
        Ok(Board {
            members: comm.members().clone(),
            rank: comm.rank() as usize,
            medium,
            shared_with: reserved.shared_with.take(),
            firsts,
            handle: AtomicI32::new(0),
        })
    }

    pub fn members(&self) -> &Members {
        &self.members
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    /// This process's number in the job.
    pub fn process(&self) -> u32 {
        self.members.process(self.rank as i32)
    }

    pub fn ranks(&self) -> usize {
        self.members.size() as usize
    }

    fn header(block: &Block) -> &Header {
        // SAFETY: the block was made by `Reserved::new` and stays until this rank has left; atomics are valid for any content.
        unsafe { &*block.base.cast() }
    }

    fn line<'a>(&self, block: &'a Block, rank: usize) -> &'a Line {
        assert!(rank < self.ranks());
        // SAFETY: as above, inside the block.
        unsafe {
            let first = block.base.add(size_of::<Header>()).cast::<Line>();
            &*first.add(rank)
        }
    }

    /// Whether the ranks may not use each other's memory.
    pub fn spans_nodes(&self) -> bool {
        matches!(self.medium, Medium::Messages(..))
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

    /// Sends parcels to ranks of several nodes, and fills those that others send; between two ranks in the same order on both.
    ///
    /// Errors: MPI_ERR_OTHER, a rank is lost.
    pub fn exchange_parcels(
        &self,
        function: &'static str,
        out: Vec<Parcel>,
        into: Vec<Parcel>,
    ) -> Result<Vec<Parcel>> {
        match &self.medium {
            Medium::Messages(messages, _) => {
                let done = messages.exchange_parcels(function, out, into);
                done.map_err(explained)
            }
            _ => fail!(Class::Intern, "ranks of one node send each other parcels"),
        }
    }

    fn memory(&self) -> Option<&Block> {
        match &self.medium {
            Medium::Memory(block, _) => Some(block),
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

    /// Waits for what another rank stores before [`Board::tell`], between two exchanges, as [`barrier::Barrier::rest`] says.
    ///
    /// Errors: MPI_ERR_OTHER, a rank is lost.
    pub fn rest(&self, function: &'static str, holds: &mut dyn FnMut() -> bool) -> Result<()> {
        let Some(block) = self.memory() else {
            return Ok(());
        };
        let at = self.at(block, function);
        Self::header(block).barrier.barrier().rest(at, holds)
    }

    /// Wakes the ranks that [`Board::rest`].
    pub fn tell(&self, function: &'static str) {
        let Some(block) = self.memory() else { return };
        let at = self.at(block, function);
        Self::header(block).barrier.barrier().tell(at);
    }

    /// The shared file pointer.
    pub fn pointer(&self) -> Pointer<'_> {
        match &self.medium {
            Medium::Alone(word) => Pointer::Word(word),
            Medium::Memory(block, _) => Pointer::Word(&Self::header(block).pointer),
            Medium::Messages(_, apart) => Pointer::Apart(apart),
        }
    }

    /// Waits, inside a task, until it `holds`; meanwhile the rounds of the library's own threads are made, where these are messages.
    pub async fn serve_until(&self, holds: impl Fn() -> bool) {
        match &self.medium {
            Medium::Messages(messages, _) => messages.serve_until(holds).await,
            _ => tasks::condition(holds).await,
        }
    }

    /// What all ranks bring, by rank: a round to which all ranks have to come.
    ///
    /// Errors: MPI_ERR_OTHER, a rank is lost.
    pub fn exchange(&self, function: &'static str, own: Words) -> Result<Vec<Words>> {
        let (block, rounds) = match &self.medium {
            Medium::Alone(_) => return Ok(vec![own]),
            Medium::Messages(messages, _) => {
                return messages.exchange(function, own).map_err(explained);
            }
            Medium::Memory(block, rounds) => (block, rounds),
        };
        let round = self.bring(block, rounds, own);
        let at = self.at(block, function);
        Self::header(block)
            .barrier
            .barrier()
            .pass(at, self.are_few())?;
        Ok(self.brought(block, round))
    }

    /// As [`Board::exchange`], inside a task, or in looks of a worker's.
    ///
    /// Errors: as there.
    pub async fn exchange_in_task(&self, function: &'static str, own: Words) -> Result<Vec<Words>> {
        let (block, rounds) = match &self.medium {
            Medium::Alone(_) => return Ok(vec![own]),
            Medium::Messages(messages, _) => {
                let done = messages.exchange_in_task(function, own).await;
                return done.map_err(explained);
            }
            Medium::Memory(block, rounds) => (block, rounds),
        };
        let round = self.bring(block, rounds, own);
        let barrier = Self::header(block).barrier.barrier();
        let number = barrier.come(self.at(block, function), self.are_few())?;
        let mut visit = Visit::of(number, self.are_few());
        let is_lost = |process| liveness::loss(process).is_some();
        let mut looks = 0u32;
        std::future::poll_fn(|_| {
            looks = looks.wrapping_add(1);
            // A worker sleeps without saying so.
            let rests = tasks::before_sleep() || workers::is_worker();
            let asks = rests || tasks::checks_liveness() || looks.is_multiple_of(LOOKS);
            let is_lost = asks.then_some(&is_lost as IsLost<'_>);
            let at = self.at(block, function);
            match barrier.look(at, &mut visit, rests, is_lost) {
                Some(done) => Poll::Ready(done),
                None => {
                    tasks::wait_for_anything();
                    Poll::Pending
                }
            }
        })
        .await?;
        Ok(self.brought(block, round))
    }

    fn are_few(&self) -> bool {
        self.ranks() <= FEW
    }

    fn at<'a>(&'a self, block: &'a Block, function: &'static str) -> At<'a> {
        At {
            board: self,
            block,
            function,
        }
    }

    /// Puts this rank's words where all see them: which of the two rounds it is.
    fn bring(&self, block: &Block, rounds: &AtomicU32, own: Words) -> usize {
        let round = rounds.fetch_add(1, Ordering::Relaxed) as usize % 2;
        for (place, word) in self.line(block, self.rank).words[round].iter().zip(own) {
            place.store(word, Ordering::Relaxed);
        }
        round
    }

    fn brought(&self, block: &Block, round: usize) -> Vec<Words> {
        let words = |rank| {
            let words = &self.line(block, rank).words[round];
            std::array::from_fn(|at| words[at].load(Ordering::Relaxed))
        };
        (0..self.ranks()).map(words).collect()
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
        if left as usize == self.ranks() && ring != 0 {
            heap.free(ring);
        }
        if let (0, Some(with)) = (self.rank, &self.shared_with) {
            let block = transport::AwaitedBlock {
                offset: block.offset,
                ranks: self.ranks() as u32,
                range: ring,
            };
            heap.release_when_left(block, with);
        }
    }
}

/// This process at the barrier.
#[derive(Clone, Copy)]
struct At<'a> {
    board: &'a Board,
    block: &'a Block,
    function: &'static str,
}

impl Member for At<'_> {
    type Failure = Error;

    fn ranks(&self) -> usize {
        self.board.ranks()
    }

    fn rank(&self) -> usize {
        self.board.rank
    }

    fn process(&self, rank: usize) -> u32 {
        self.board.members.process(rank as i32)
    }

    fn number(&self, rank: usize) -> &AtomicU32 {
        &self.board.line(self.block, rank).barriers
    }

    fn light_fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn holds_soon(&self, holds: &mut dyn FnMut() -> bool) -> bool {
        wait::soon(holds)
    }

    fn wait(
        &self,
        holds: &mut dyn FnMut() -> bool,
        missing: &dyn Fn(IsLost<'_>) -> Option<u32>,
    ) -> Result<()> {
        let handle = self.board.handle.load(Ordering::Relaxed);
        let missing = || missing(&|process| liveness::loss(process).is_some());
        wait::until(self.function, handle, holds, &missing).map_err(explained)
    }

    fn wake(&self, rank: usize) {
        self.block.notifiers[rank].wake_ordered();
    }

    #[cold]
    fn failure(&self, lost: u32) -> Error {
        explained(liveness::explain(lost))
    }
}

#[cold]
fn explained(error: Error) -> Error {
    error.context("a file waits for all its ranks, of which one is lost")
}
