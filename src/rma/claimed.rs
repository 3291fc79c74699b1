//! Puts and gets of many pieces that the target does, where it happens to be in MPI: for the kernel each piece is a page to look up, 130 ns.
//!
//! ```text
//! origin   write pieces and data to its box in the heap, post that at the target (queue/asked.rs), look for 2 us, longer where a wake-up pays   done: take a get's data
//! target   at its next poll: claim it, have the pages provided, copy, end                                            not claimed: withdraw, the kernel
//! ```
//!
//! Invariants: an operation is done by the target or by the origin, never by both; a target that is elsewhere delays nobody for longer than
//! that time, and not often; memory that is not mapped, or may not be written, is left to the kernel, so that it is the error that it always
//! is. An origin waits for the end of what is claimed: a target that is stopped within that microsecond holds it up.
//!
//! # An origin that dies
//!
//! What it has offered stays in the target's word, and the target may claim it at any later time. The box is still one then, and stays it until the target
//! has ended the operation: memory of the dead becomes another one's only when nobody who lives shares any with them (`transport/shm/heap/dead.rs`), and
//! the target shares memory with the origin as long as it has the window that the operation is for ([`Window::shared_with`]). MPI_Win_free gives that up
//! behind a barrier only. The origin has come to that barrier, and so has no operation left that it has offered; or it has not, and the window stays. A window
//! that could not be made stays, too, where a rank is lost. So there is no time between the look at a box and the copy in which it could be used again. The
//! operation itself is done late, and once: it is one of an epoch that the dead has never ended, in memory that is still the window's.
//!
//! [`Window::shared_with`]: super::window::Window

use super::private::PrivateMemory;
use super::provided::Provided;
use super::put_get;
use crate::datatype::Buffer;
use crate::engine::{self, tasks};
use crate::node;
use crate::os::backoff::Backoff;
use crate::os::monotonic_nanoseconds;
use crate::os::peer_memory::Piece;
use crate::os::turns::LOOKS_AT_TARGET;
use crate::queue::asked::Asked;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU16, AtomicU32, AtomicU64, Ordering};
use crate::transport::{self, Heap};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::OnceLock;

/// Pieces from which on it is worth while.
const FEWEST: usize = 16;
/// Bytes of one operation, at most.
const BYTES: usize = 16 << 10;
/// Groups of pieces of one operation, at most.
const GROUPS: usize = 255;
/// Pieces of a group lie no farther apart, so that its pages have elements.
const STRIDE: usize = 4096;
/// What a piece costs by the kernel at least, nanoseconds; what the target pays for a range of pages that the kernel provides, and for each of
/// them. It has no less to do besides.
const PIECE_COST: usize = 130;
const RANGE_COST: usize = 300;
const PAGE_COST: usize = 120;
const PAGE: usize = 4096;
/// How long an operation is offered, nanoseconds.
const PATIENCE: u64 = 2_000;
/// What a put costs by the kernel for which a target is woken that sleeps in a wait, nanoseconds: to wake it costs the origin 2 us, and the target comes 5 to
/// 10 us later.
const WAKES: usize = 16_000;
/// After so many offers in vain in a row, but one, the longest pause: 2 to this power operations.
const PAUSES: u16 = 5;

/// Equally long pieces of the target's memory at equal distances.
#[repr(C)]
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    bytes: usize,
    stride: isize,
    count: usize,
}

impl Group {
    fn address(&self, at: usize) -> usize {
        self.first
            .wrapping_add_signed(self.stride.wrapping_mul(at as isize))
    }

    /// All of its pieces with what is between them.
    fn range(&self) -> (usize, usize) {
        let (one, other) = (self.first, self.address(self.count - 1));
        (one.min(other), one.abs_diff(other) + self.bytes)
    }

    fn is_dense(&self) -> bool {
        self.stride.unsigned_abs() <= STRIDE
    }
}

/// What lies at the beginning of a process's box; the groups follow, then, at the next line, the packed data.
#[repr(C)]
struct Head {
    /// [`MARK`], with the number of the target.
    mark: AtomicU64,
    bytes: AtomicU32,
    groups: AtomicU32,
    writes: AtomicU32,
    /// Not zero when the target has done it.
    done: AtomicU32,
    _pad: u64,
}

const HEAD: usize = size_of::<Head>();
const BOX: usize = data_of(GROUPS) + BYTES;
/// Says that a box is one: its place is what another process has named.
const MARK: u64 = 0x6f78_6d70_0000_0000;

/// The layout of what lies in the heap.
pub(super) const SHAPE: u64 = shape::combine(&[
    shape!(Head {
        mark,
        bytes,
        groups,
        writes,
        done,
        _pad
    }),
    shape!(Group {
        first,
        bytes,
        stride,
        count
    }),
    BOX as u64,
    MARK,
]);

/// Where the data begins behind so many groups.
const fn data_of(groups: usize) -> usize {
    (HEAD + groups * size_of::<Group>()).next_multiple_of(64)
}

/// The box of this process, for one operation at a time: where it is in the heap, when it is first needed.
static BOX_OF_THIS: Mutex<Option<u64>> = Mutex::new(None);
/// By process: how many operations it is not offered any more, above how often it has not claimed one.
static PAUSED: OnceLock<Box<[AtomicU16]>> = OnceLock::new();
const LEVELS: u16 = 8;

/// Whether a target is to be offered an operation now.
fn is_due(process: u32) -> Option<&'static AtomicU16> {
    let make = || {
        let processes = engine::table().map_or(0, |table| table.size());
        (0..processes).map(|_| AtomicU16::new(0)).collect()
    };
    let paused = PAUSED.get_or_init(make).get(process as usize)?;
    // Only a guess, so that it does not matter when two threads change it.
    let now = paused.load(Ordering::Relaxed);
    if now < LEVELS {
        return Some(paused);
    }
    paused.store(now - LEVELS, Ordering::Relaxed);
    None
}

/// Says how an offer has ended.
fn learn(paused: &AtomicU16, was_claimed: bool) {
    let level = paused.load(Ordering::Relaxed) % LEVELS;
    let level = if was_claimed {
        0
    } else {
        PAUSES.min(level + 1)
    };
    let operations = (1 << level) - 1;
    paused.store(operations * LEVELS + level, Ordering::Relaxed);
}

/// Visits ranges of addresses in which all pieces lie, with what is between them, until `visit` is false for one. Returns whether it was true for all.
fn each_range(groups: &[Group], mut visit: impl FnMut(usize, usize) -> bool) -> bool {
    let mut range: Option<(usize, usize)> = None;
    for group in groups {
        let (first, bytes) = group.range();
        let end = first.saturating_add(bytes);
        range = match range {
            Some((from, to)) if from <= first && first <= to.saturating_add(STRIDE) => {
                Some((from, to.max(end)))
            }
            Some((from, to)) if !visit(from, to - from) => return false,
            _ => Some((first, end)),
        };
    }
    range.is_none_or(|(from, to)| visit(from, to - from))
}

/// What a put to all of them costs by the kernel, nanoseconds.
fn kernel_cost(groups: &[Group]) -> usize {
    let pieces: usize = groups.iter().map(|group| group.count).sum();
    pieces * PIECE_COST
}

/// Whether the target does it in less time than the kernel.
fn is_worth_while(groups: &[Group]) -> bool {
    let kernel = kernel_cost(groups);
    if kernel < FEWEST * PIECE_COST {
        return false;
    }
    let mut cost = 0_usize;
    each_range(groups, |_, bytes| {
        cost = cost.saturating_add(RANGE_COST + PAGE_COST * (bytes / PAGE + 2));
        true
    });
    cost <= kernel / 2
}

/// Groups of pieces.
#[derive(Default)]
struct Groups(SmallVec<[Group; 4]>);

impl Groups {
    /// Adds a piece. False: there are too many groups.
    fn add(&mut self, address: usize, bytes: usize) -> bool {
        if let Some(last) = self.0.last_mut()
            && last.bytes == bytes
        {
            if last.count == 1 {
                last.stride = address.wrapping_sub(last.first) as isize;
            }
            if last.is_dense() && last.address(last.count) == address {
                last.count += 1;
                return true;
            }
        }
        self.0.push(Group {
            first: address,
            bytes,
            stride: 0,
            count: 1,
        });
        self.0.len() <= GROUPS
    }

    fn of_pieces(pieces: &[Piece]) -> Option<Groups> {
        let mut groups = Groups::default();
        let all = pieces.iter().all(|it| groups.add(it.address, it.bytes));
        all.then_some(groups)
    }
}

impl PrivateMemory<'_> {
    /// Has the target put the origin's elements, or get them. False: it has not, and nothing is done, or less than all.
    pub(super) fn offer<const PUT: bool>(&self, origin: &Buffer, target: &Buffer) -> bool {
        if origin.len() > BYTES {
            return false;
        }
        let fill = |data: &mut [u8]| match PUT {
            true => origin.read(0, data),
            false => origin.write(0, data),
        };
        if let Some((first, bytes, stride)) = target.stripes() {
            let group = Group {
                first: first as usize,
                bytes,
                stride,
                count: target.len() / bytes,
            };
            return group.is_dense() && self.offer_groups(&[group], PUT, origin.len(), fill);
        }
        let mut pieces = super::access::Pieces::new();
        let whole = super::private::runs(target, 0, target.len(), &mut pieces) == target.len();
        whole
            && pieces.len() >= FEWEST
            && Groups::of_pieces(&pieces)
                .is_some_and(|groups| self.offer_groups(&groups.0, PUT, origin.len(), fill))
    }

    /// As [`Self::offer`], a put of packed bytes to pieces.
    pub(super) fn offer_pieces(&self, pieces: &[Piece], data: &[u8]) -> bool {
        data.len() <= BYTES
            && pieces.len() >= FEWEST
            && Groups::of_pieces(pieces).is_some_and(|groups| {
                let fill = |place: &mut [u8]| place.copy_from_slice(data);
                self.offer_groups(&groups.0, true, data.len(), fill)
            })
    }

    /// `fill` writes the packed data of a put, and takes that of a get.
    fn offer_groups(
        &self,
        groups: &[Group],
        writes: bool,
        bytes: usize,
        fill: impl Fn(&mut [u8]),
    ) -> bool {
        let process = self.process();
        if !is_worth_while(groups) || node::is_oversubscribed() {
            return false; // Where ranks share cores it does not run now.
        }
        let (Some(paused), Some(table), Some(heap)) =
            (is_due(process), engine::table(), transport::heap())
        else {
            return false;
        };
        let Some(own) = Own::lock(heap) else {
            return false;
        };
        // SAFETY: the box is this thread's until it is posted.
        unsafe {
            own.groups()
                .copy_from_nonoverlapping(groups.as_ptr(), groups.len());
        }
        let head = own.head();
        head.mark
            .store(MARK | u64::from(process), Ordering::Relaxed);
        head.bytes.store(bytes as u32, Ordering::Relaxed);
        head.groups.store(groups.len() as u32, Ordering::Relaxed);
        head.writes.store(writes.into(), Ordering::Relaxed);
        head.done.store(0, Ordering::Relaxed);
        if writes {
            // SAFETY: as above.
            fill(unsafe { own.data(groups.len(), bytes) });
        }
        let asked = &table.of(process).page.asked;
        if !asked.post(own.offset) {
            return false;
        }
        let kernel = kernel_cost(groups);
        // The kernel gets what lies between the pieces along, and is as quick.
        let wakes = writes && kernel >= WAKES && self.wake_target();
        let patience = PATIENCE + if wakes { kernel as u64 / 2 } else { 0 };
        let was_claimed = is_done(asked, own.offset, process, patience);
        learn(paused, was_claimed);
        let is_done = was_claimed && own.head().done.load(Ordering::Relaxed) != 0;
        if is_done && !writes {
            // SAFETY: the operation is over, so the box is this thread's again.
            fill(unsafe { own.data(groups.len(), bytes) });
        }
        if is_done {
            self.count(1, bytes);
        }
        is_done
    }
}

/// Waits until the target has ended an operation. False: it has not claimed it for so many nanoseconds, or has died.
fn is_done(asked: &Asked, at: u64, process: u32, patience: u64) -> bool {
    let begun = monotonic_nanoseconds();
    let mut looks = 0_u32;
    while !asked.is_over(at) {
        std::hint::spin_loop();
        looks += 1;
        if !looks.is_multiple_of(LOOKS_AT_TARGET) {
            continue;
        }
        // The target may wait for this process likewise.
        tasks::serve();
        if monotonic_nanoseconds() - begun < patience {
            continue;
        }
        if asked.withdraw(at) {
            return false;
        }
        let mut backoff = Backoff::default();
        while !asked.is_over(at) {
            if backoff.pause() {
                tasks::serve();
                if engine::has_died(process) {
                    return false;
                }
            }
        }
    }
    true
}

/// The box of this process, locked.
struct Own {
    _locked: parking_lot::MutexGuard<'static, Option<u64>>,
    offset: u64,
    place: *mut u8,
}

impl Own {
    /// `None`: another thread uses it, or there is no memory.
    fn lock(heap: &Heap) -> Option<Own> {
        let mut locked = BOX_OF_THIS.try_lock()?;
        let offset = match *locked {
            Some(offset) => offset,
            // A range: it begins with a page.
            None => heap.obtain(BOX as u64, 4096).ok()?,
        };
        *locked = Some(offset);
        Some(Own {
            _locked: locked,
            offset,
            place: heap.at(offset, BOX as u64)?,
        })
    }

    fn head(&self) -> &Head {
        // SAFETY: in the box, which stays as long as the process; atomics only.
        unsafe { &*self.place.cast() }
    }

    fn groups(&self) -> *mut Group {
        self.place.wrapping_add(HEAD).cast()
    }

    /// # Safety
    /// No other process uses the box.
    #[allow(clippy::mut_from_ref)]
    unsafe fn data(&self, groups: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: in the box, by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.place.add(data_of(groups)), bytes) }
    }
}

/// Does an operation that this process has claimed, if all of its memory is there.
pub(super) fn serve(at: u64, provided: &mut Provided) {
    let place = transport::heap().and_then(|heap| heap.at(at, BOX as u64));
    let (Some(place), Some(table)) = (place, engine::table()) else {
        return;
    };
    // SAFETY: memory of the heap; atomics only.
    let head = unsafe { &*place.cast::<Head>() };
    let count = head.groups.load(Ordering::Relaxed) as usize;
    let bytes = head.bytes.load(Ordering::Relaxed) as usize;
    let writes = head.writes.load(Ordering::Relaxed) != 0;
    let is_mine = head.mark.load(Ordering::Relaxed) == MARK | u64::from(table.me());
    if !is_mine || count > GROUPS || bytes > BYTES {
        return;
    }
    // SAFETY: the origin has posted so many, and changes nothing of them until the end.
    let groups = unsafe { std::slice::from_raw_parts(place.add(HEAD).cast::<Group>(), count) };
    let add = |sum: usize, group: &Group| match group.count {
        0 => None,
        count => sum.checked_add(group.bytes.checked_mul(count)?),
    };
    provided.begin();
    let provide = |first, bytes| provided.provide(first, bytes, writes);
    if groups.iter().try_fold(0, add) != Some(bytes) || !each_range(groups, provide) {
        return;
    }
    let mut packed = place.wrapping_add(data_of(count));
    for group in groups {
        // SAFETY: the group's pages are there, and its packed bytes are in the box.
        packed = unsafe {
            match writes {
                true => move_group::<true>(group, packed),
                false => move_group::<false>(group, packed),
            }
        };
    }
    head.done.store(1, Ordering::Relaxed);
}

/// Copies packed bytes to a group's pieces, or the pieces to there. Returns where the next group's begin.
///
/// # Safety
/// All of it is memory that can be written, and read.
unsafe fn move_group<const WRITES: bool>(group: &Group, packed: *mut u8) -> *mut u8 {
    for at in 0..group.count {
        let (own, piece) = (packed.wrapping_add(at * group.bytes), group.address(at));
        // SAFETY: by the caller.
        unsafe { put_get::copy::<WRITES>(own, piece as *mut u8, group.bytes) };
    }
    packed.wrapping_add(group.count * group.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(addresses: &[usize]) -> Groups {
        let mut groups = Groups::default();
        assert!(addresses.iter().all(|address| groups.add(*address, 8)));
        groups
    }

    fn addresses(groups: &Groups) -> Vec<usize> {
        let all = |group: &Group| {
            (0..group.count)
                .map(|at| group.address(at))
                .collect::<Vec<_>>()
        };
        groups.0.iter().flat_map(all).collect()
    }

    fn ranges(groups: &Groups) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        each_range(&groups.0, |first, bytes| {
            found.push((first, bytes));
            true
        });
        found
    }

    #[test]
    fn groups_have_all_pieces_in_order() {
        for (list, number) in [
            (vec![4096], 1),
            (vec![4096, 4160, 4224, 4288], 1),
            (vec![4288, 4224, 4160], 1),
            (vec![4096, 4160, 4225, 4290], 2),
            (vec![4096, 4096, 4096], 1),
            (vec![4096, 1 << 40, 1 << 41], 3),
        ] {
            let found = groups(&list);
            assert_eq!((addresses(&found), found.0.len()), (list, number));
        }
        let mut full = Groups::default();
        let added = (0..GROUPS + 1).all(|at| full.add(at * at * 8192, 8));
        assert!(!added);
    }

    #[test]
    fn ranges_cover_what_lies_near_together() {
        assert_eq!(ranges(&groups(&[8000, 8064, 8128])), [(8000, 136)]);
        assert_eq!(ranges(&groups(&[8128, 8064, 8000])), [(8000, 136)]);
        assert_eq!(
            ranges(&groups(&[8000, 8064, 8128, 9000, 9001])),
            [(8000, 1009)]
        );
        assert_eq!(ranges(&groups(&[8000, 1 << 30])), [(8000, 8), (1 << 30, 8)]);
    }

    #[test]
    fn pieces_that_lie_far_apart_are_left_to_the_kernel() {
        let apart = |bytes: usize| {
            (0..256)
                .map(|at| (1 << 20) + at * bytes)
                .collect::<Vec<_>>()
        };
        assert!(is_worth_while(&groups(&apart(64)).0));
        assert!(!is_worth_while(&groups(&apart(4096)).0));
        assert!(!is_worth_while(&groups(&apart(64)[..8]).0));
    }
}
