//! Making windows and ending them.
//!
//! The ranks of the parent tell each other what they have in one allgather of its own; a contiguous shared window needs one more. What the
//! ranks of a host share is the window's block, in a range of the heap that the lowest of them makes.
//!
//! Invariant: either all ranks have the window, or all get an error of one class and nothing is left.

use super::block::Block;
use super::epoch::{Access, FAR};
use super::hosts::direct;
use super::hosts::registered::{Direct, TOLD};
use super::hosts::{Hosts, service};
use super::in_place;
use super::info::{self, Method};
use super::regions::Dynamic;
use super::room::{LINE, MOST_ALIGNMENT, PAGE, private_key};
use super::share::{self, Share};
use super::window::{self, Facts, Flavor, Memory, Target, Way, Window};
use super::{helper, ways};
use crate::assembly::{self, Assembly, agree_on, no_memory, the_heap};
use crate::attr::Attributes;
use crate::comm::{Comm, Maker};
use crate::engine;
use crate::engine::waits::Object;
use crate::errhandler::{Attached, ERRORS_ARE_FATAL};
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::queue::shape;
use crate::sync::{AtomicU8, Ordering};
use crate::transport::rma::Registered;
use crate::transport::{self, Heap, SharedWith, heap};
use parking_lot::Mutex;

/// What a rank asks for.
pub struct Wish {
    pub flavor: Flavor,
    /// Of MPI_Win_create.
    pub base: usize,
    pub bytes: i64,
    pub unit: i64,
    pub hints: Info,
}

/// Where a rank's memory is, as it tells the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// There is none (yet).
    Nowhere,
    /// At an offset in the heap.
    Heap(u64),
    /// At an address of the rank's.
    Private(u64),
}

/// What the ranks tell each other: words of 64 bits.
struct Offer {
    bytes: u64,
    unit: u64,
    place: Place,
    method: Method,
    apart: bool,
    /// Whether this rank can use RMA of the fabric.
    rma: bool,
    /// Where the block is; of the lowest rank of each host.
    block: u64,
    /// The window's, by which messages name it, too; of the lowest rank.
    birth: u64,
}

const WORDS: usize = 8;

/// The layout of what the ranks tell each other.
pub(super) const SHAPE: u64 = shape::number(shape::START, WORDS);

impl Offer {
    fn encode(&self) -> [u64; WORDS] {
        let (kind, at) = match self.place {
            Place::Nowhere => (0, 0),
            Place::Heap(offset) => (1, offset),
            Place::Private(address) => (2, address),
        };
        [
            0,
            self.bytes,
            self.unit,
            kind,
            at,
            self.method as u64 | u64::from(self.apart) << 8 | u64::from(self.rma) << 9,
            self.block,
            self.birth,
        ]
    }

    fn decode(words: &[u64; WORDS]) -> Offer {
        Offer {
            bytes: words[1],
            unit: words[2],
            place: match words[3] {
                1 => Place::Heap(words[4]),
                2 => Place::Private(words[4]),
                _ => Place::Nowhere,
            },
            method: Method::of_number(words[5] & 0xff),
            apart: words[5] & 0x100 != 0,
            rma: words[5] & 0x200 != 0,
            block: words[6],
            birth: words[7],
        }
    }
}

/// Memory of the heap, given back when it is dropped, unless it was taken.
struct Taken(Vec<u64>);

impl Taken {
    fn take(&mut self, offset: u64) -> u64 {
        self.0.push(offset);
        offset
    }

    /// Gives back all but the memory of a window that was made.
    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(heap) = heap() {
            for offset in &self.0 {
                heap.release(*offset);
            }
        }
    }
}

fn is_apart(comm: &Comm) -> bool {
    let members = comm.members();
    let node = |rank| engine::node_of(members.process(rank));
    (1..comm.size()).any(|rank| node(rank) != node(0))
}

/// The lowest rank on this host.
fn lowest_here(comm: &Comm) -> i32 {
    let members = comm.members();
    let mut all = 0..comm.size();
    all.find(|rank| engine::shares_memory(members.process(*rank)))
        .unwrap_or(0)
}

/// What this rank brings, checked.
fn bring(comm: &Comm, wish: &Wish, offer: &mut Offer, taken: &mut Taken) -> Result<SharedWith> {
    if wish.bytes < 0 {
        return fail!(
            Class::Size,
            "size is {}; it must not be negative",
            wish.bytes
        );
    }
    if wish.unit <= 0 {
        return fail!(
            Class::Disp,
            "disp_unit is {}; it must be positive",
            wish.unit
        );
    }
    (offer.bytes, offer.unit) = (wish.bytes as u64, wish.unit as u64);
    if wish.flavor == Flavor::Shared && is_apart(comm) {
        return fail!(
            Class::RmaShared,
            "comm is {}, whose ranks are on several nodes and share no memory",
            comm.title()
        );
    }
    let heap = the_heap()?;
    heap.open_now()
        .map_err(|why| no_memory("a window", offer.bytes, &why))?;
    let shared_with = comm.share_memory(heap)?;
    if comm.rank() == 0 {
        offer.birth = assembly::new_birth(comm);
    }
    if lowest_here(comm) == comm.rank() {
        heap.release_left();
        let bytes = Block::bytes(comm.size() as usize) as u64;
        let block = heap
            .obtain(bytes, LINE)
            .map_err(|why| no_memory("the window's block", bytes, &why))?;
        offer.block = taken.take(block);
    }
    let bytes = offer.bytes;
    let is_own = match wish.flavor {
        Flavor::Allocate => true,
        Flavor::Shared => offer.apart,
        Flavor::Create | Flavor::Dynamic => false,
    };
    if wish.flavor == Flavor::Create && bytes > 0 {
        offer.place = given(heap, wish.base, bytes)?;
    }
    if is_own && bytes > 0 {
        let alignment = info::alignment(&wish.hints).unwrap_or(LINE);
        let apart = if wish.flavor == Flavor::Shared {
            PAGE
        } else {
            LINE
        };
        let alignment = alignment.clamp(apart, MOST_ALIGNMENT);
        // An adapter that is to reach the memory by itself needs its pages.
        let part = match offer.rma {
            true => heap.obtain(bytes, alignment),
            false => heap.lend_zeros(bytes, alignment),
        };
        let part = part.map_err(|why| no_memory("a window", bytes, &why))?;
        offer.place = Place::Heap(taken.take(part));
    }
    Ok(shared_with)
}

/// Where memory is that the program has given.
fn given(heap: &Heap, base: usize, bytes: u64) -> Result<Place> {
    if base == 0 {
        return fail!(Class::Base, "base is NULL, and size is {bytes}");
    }
    let Some(last) = base.checked_add(bytes as usize - 1) else {
        return fail!(
            Class::Size,
            "size is {bytes}: memory at {base:#x} does not go so far"
        );
    };
    Ok(match (heap.offset_of(base), heap.offset_of(last)) {
        (Some(first), Some(_)) => Place::Heap(first),
        _ => Place::Private(base as u64),
    })
}

/// MPI_Win_create, MPI_Win_allocate and their like: collective over an intracommunicator.
///
/// Errors: MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_BASE, MPI_ERR_RMA_SHARED, MPI_ERR_NO_MEM, on all ranks if on one; a rank is lost.
pub fn create(comm: &Comm, function: &'static str, wish: &Wish) -> Result<&'static Window> {
    let (ranks, rank) = (comm.size() as usize, comm.rank() as usize);
    let mut taken = Taken(Vec::new());
    let mut offer = Offer {
        bytes: 0,
        unit: 1,
        place: Place::Nowhere,
        method: Method::of(&wish.hints),
        apart: info::is_on(&wish.hints, info::NONCONTIG),
        rma: wish.flavor != Flavor::Dynamic && !comm.shares_memory() && direct::is_offered(),
        block: 0,
        birth: 0,
    };
    let own = bring(comm, wish, &mut offer, &mut taken);
    let (shared_with, all) = agree_on(comm, function, own, offer.encode(), |rank, _| {
        format!("rank {rank} has no part of the window: its argument or its memory was refused")
    })?;
    let mut all: Vec<Offer> = all.iter().map(Offer::decode).collect();
    let is_contiguous = wish.flavor == Flavor::Shared && !all.iter().all(|offer| offer.apart);
    let mut shared = 0;
    if is_contiguous {
        shared = lay_out(comm, function, wish, &mut all, &mut taken)?;
    }
    // What follows fails on no rank alone, but for handles that run out, which the ranks tell each other only then.
    let heap = the_heap()?;
    let block_offset = all[lowest_here(comm) as usize].block;
    let Some(base) = heap.at(block_offset, Block::bytes(ranks) as u64) else {
        return fail!(Class::Intern, "the block of the window is not in the heap");
    };
    let is_private = |offer: &Offer| matches!(offer.place, Place::Private(_)) && ranks > 1;
    let largest = all.iter().map(|offer| offer.bytes).max().unwrap_or(0);
    let element_mode = wish.flavor != Flavor::Dynamic
        && !all.iter().any(is_private)
        && Method::agree(all.iter().map(|offer| offer.method), largest);
    let memory = Memory {
        part: match (wish.flavor, all[rank].place) {
            (Flavor::Allocate | Flavor::Shared, Place::Heap(offset)) if !is_contiguous => offset,
            _ => 0,
        },
        shared,
    };
    let own_base = match all[rank].place {
        Place::Nowhere => wish.base,
        Place::Heap(offset) => part_at(heap, shared, offset, all[rank].bytes)?,
        Place::Private(address) => address as usize,
    };
    // SAFETY: the lowest rank has made it, zeros, and it stays until the last rank has left it.
    let block = unsafe { Block::at(base, ranks) };
    let area = comm.shares_memory().then(|| block.area());
    let object = Object::Window(all[0].birth);
    let assembly = Assembly::new(
        comm,
        Maker::WinCreate,
        function,
        area,
        (object, window::name_of),
    )?;
    let targets = targets(&assembly, heap, shared, &all)?;
    let info = info::kept(wish.flavor, &wish.hints, is_contiguous)?;
    let window = window::add(|handle| Window {
        handle,
        flavor: wish.flavor,
        assembly,
        rank,
        targets,
        block,
        block_offset,
        access: Access::default(),
        element_mode,
        errhandler: Attached::predefined(ERRORS_ARE_FATAL),
        attributes: Attributes::new(),
        info: Mutex::new(info),
        facts: Facts::new(own_base, all[rank].bytes, all[rank].unit),
        memory,
        shared_with,
        hosts: over_hosts(comm, all[0].birth),
        dynamic: (wish.flavor == Flavor::Dynamic).then(|| Box::new(Dynamic::new(ranks))),
        name: Mutex::new(String::new()),
    })?;
    window.assembly.tell_name(window.handle);
    taken.keep();
    if window.hosts.is_some() {
        window.access.unsettled.store(FAR, Ordering::Relaxed);
    }
    in_place::enroll(window, Share::of(wish.hints.get(share::HINT)?));
    let has_private = all.iter().any(is_private);
    match &window.hosts {
        None => helper::ensure(window, has_private, || window.barrier(function))?,
        Some(hosts) => {
            // Nobody calls a rank that has not yet entered.
            // SAFETY: by the program's promise this is its only thread in the library below MPI_THREAD_MULTIPLE; it has no guard.
            let own = unsafe { service::enter(hosts, window) };
            let refused =
                |rank, _| format!("rank {rank} can start no thread for windows over several hosts");
            let mut entered = Ok(());
            let meet = || {
                entered = match all.iter().any(|offer| offer.rma) {
                    true => {
                        let (memory, words) = direct::tell(window);
                        let told = agree_on(comm, function, own, words, refused);
                        let there = told.as_ref().map_or(&[][..], |(_, told)| told);
                        reach_directly(window, hosts, memory, there);
                        told.map(|_| ())
                    }
                    false => agree_on(comm, function, own, [0], refused).map(|_| ()),
                };
                Ok(())
            };
            helper::ensure(window, true, meet)?;
            if let Err(error) = entered {
                // Others may use the window all the same when a rank is lost.
                if error.lost().is_none() {
                    give_back(window)?;
                }
                return Err(error);
            }
        }
    }
    Ok(window)
}

/// Notes how the fabric reaches the memory of each rank, as it has told; nothing after an error. The own memory is ended with the window.
fn reach_directly(window: &Window, hosts: &Hosts, own: Option<Registered>, told: &[[u64; TOLD]]) {
    let made = Direct::new(own, told, |rank| {
        let is_remote = window.is_remote(rank);
        is_remote.then(|| window.targets[rank].process)
    });
    hosts.direct.get_or_init(|| made);
}

/// What a window has more whose ranks are on several hosts.
fn over_hosts(comm: &Comm, key: u64) -> Option<Box<Hosts>> {
    if comm.shares_memory() {
        return None;
    }
    let members = comm.members();
    let near = (0..comm.size()).filter(|rank| engine::shares_memory(members.process(*rank)));
    Some(Box::new(Hosts::new(
        key,
        comm.size() as usize,
        near.count() as u32,
    )))
}

fn address(heap: &Heap, offset: u64, bytes: u64) -> Result<usize> {
    match heap.at(offset, bytes) {
        Some(address) => Ok(address as usize),
        None => fail!(
            Class::Intern,
            "a part of the window at {offset} is not in the heap"
        ),
    }
}

/// The address of a rank's part. An empty one is in memory of all ranks, at `shared`, and may begin behind its last byte.
fn part_at(heap: &Heap, shared: u64, offset: u64, bytes: u64) -> Result<usize> {
    match bytes {
        0 => Ok(address(heap, shared, 1)? + (offset - shared) as usize),
        _ => address(heap, offset, bytes),
    }
}

/// Gives the ranks' parts places behind each other, in a range that the lowest rank makes. Returns where it is; zero if all are empty.
fn lay_out(
    comm: &Comm,
    function: &'static str,
    wish: &Wish,
    all: &mut [Offer],
    taken: &mut Taken,
) -> Result<u64> {
    let rank = comm.rank() as usize;
    // Made before it was known that not all wish parts of their own.
    if let Place::Heap(offset) = all[rank].place {
        the_heap()?.release(offset);
        taken.0.retain(|one| *one != offset);
    }
    let total = all.iter().try_fold(0u64, |sum, offer| {
        sum.checked_add(offer.bytes)
            .filter(|sum| *sum <= i64::MAX as u64)
    });
    let Some(total) = total else {
        return fail!(
            Class::Size,
            "the sizes of all ranks are more than there can be"
        );
    };
    if total == 0 {
        all.iter_mut()
            .for_each(|offer| offer.place = Place::Nowhere);
        return Ok(0);
    }
    let heap = the_heap()?;
    let (mut own, mut start) = (Ok(()), 0);
    if rank == 0 {
        let alignment = info::alignment(&wish.hints).unwrap_or(PAGE);
        let alignment = alignment.clamp(PAGE, MOST_ALIGNMENT);
        match heap.promise(total, alignment) {
            Ok(offset) => start = taken.take(offset),
            Err(why) => own = Err(no_memory("a shared window", total, &why)),
        }
    }
    let ((), found) = agree_on(comm, function, own, [0, start], |_, _| {
        format!("there is no memory for a shared window of {total} bytes")
    })?;
    start = found[0][1];
    let mut at = start;
    // An empty part, too, has a place between its neighbors, from which programs reckon those of others.
    for offer in all.iter_mut() {
        offer.place = Place::Heap(at);
        at += offer.bytes;
    }
    Ok(start)
}

fn targets(assembly: &Assembly, heap: &Heap, shared: u64, all: &[Offer]) -> Result<Box<[Target]>> {
    let target = |(rank, offer): (usize, &Offer)| {
        let process = assembly.members().process(rank as i32);
        let (base, way, key) = match offer.place {
            _ if !assembly.is_near(rank) => (0, Way::Remote, 0),
            Place::Nowhere => (0, Way::Direct, 0),
            Place::Heap(offset) => (
                part_at(heap, shared, offset, offer.bytes)?,
                Way::Direct,
                offset,
            ),
            Place::Private(address) => (
                address as usize,
                ways::to(process),
                private_key(process, address),
            ),
        };
        Ok(Target {
            base,
            bytes: offer.bytes,
            unit: offer.unit,
            key,
            process,
            way,
            held: AtomicU8::new(0),
        })
    };
    all.iter().enumerate().map(target).collect()
}

/// MPI_Win_free: collective over the window's ranks. The attributes are the caller's business.
///
/// Errors: MPI_ERR_RMA_SYNC if an epoch is open here; a rank is lost. Then the window stays.
pub fn free(window: &'static Window) -> Result<()> {
    window.barrier("MPI_Win_free")?;
    give_back(window)
}

/// Gives back what is a window's, when no rank accesses it any more.
fn give_back(window: &'static Window) -> Result<()> {
    in_place::withdraw(window);
    if let Some(hosts) = &window.hosts {
        if let Some(direct) = hosts.direct.get() {
            direct.close();
        }
        // SAFETY: as when the window was made.
        unsafe { service::leave(hosts) };
    }
    let heap = the_heap()?;
    if let Some(dynamic) = &window.dynamic {
        dynamic.release(heap);
    }
    let Memory { part, shared } = window.memory;
    if part != 0 {
        heap.take_back_zeros(part);
    }
    let block = window.block;
    let ranks = match &window.hosts {
        Some(hosts) => hosts.near,
        None => window.size() as u32,
    };
    // AcqRel: the last one frees what all have used. The block, which it does not touch any more, goes back to the rank that has made it.
    let left = block.header().left.fetch_add(1, Ordering::AcqRel) + 1;
    if left == ranks && shared != 0 {
        heap.free(shared);
    }
    let is_lowest_here = (0..window.rank).all(|rank| window.is_remote(rank));
    if is_lowest_here {
        let (offset, range) = (window.block_offset, shared);
        let block = transport::AwaitedBlock {
            offset,
            ranks,
            range,
        };
        heap.release_when_left(block, &window.shared_with);
    }
    window::remove(window.handle);
    Ok(())
}

/// Fails if the window cannot be freed now.
///
/// Errors: MPI_ERR_RMA_SYNC.
pub fn check_free(window: &Window) -> Result<()> {
    match window.open_epoch() {
        None => Ok(()),
        Some(function) => fail!(
            Class::RmaSync,
            "an epoch that {function} has begun is open at {}, which cannot be freed before it ends",
            window.title()
        ),
    }
}
