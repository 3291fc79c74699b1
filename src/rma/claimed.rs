//! Puts and gets of many pieces, and accumulates, that the target does, where it happens to be in MPI: for the kernel each piece is a page to look up,
//! 130 ns, and an accumulate is two calls. The origin of an accumulate holds the locks of its elements meanwhile.
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

use super::apply;
use super::groups::{self, FEWEST, GROUPS, Group, Groups};
use super::private::PrivateMemory;
use super::provided::Provided;
use super::put_get;
use super::ways;
use super::window::Way;
use crate::datatype::{self, Buffer, Category, Datatype};
use crate::engine::{self, tasks};
use crate::node;
use crate::op::Operation;
use crate::os::backoff::Backoff;
use crate::os::monotonic_nanoseconds;
use crate::os::peer_memory::{self, Piece};
use crate::os::schedule;
use crate::os::turns::LOOKS_AT_TARGET;
use crate::queue::asked::{Asked, Outcome};
use crate::queue::ring;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicI32, AtomicU16, AtomicU32, AtomicUsize, Ordering};
use crate::transport::{self, Heap};
use parking_lot::Mutex;
use std::sync::OnceLock;

/// Bytes of one operation, at most, with those of its result.
const BYTES: usize = 16 << 10;
/// Bytes of one that the target fetches, at most.
const FETCHED: usize = 128 << 10;
/// Packed bytes whose lines are fetched ahead, at most: more lines than a core has on their way at once, fewer than its first cache holds.
const FETCHED_AHEAD: usize = 4 << 10;
/// How long an operation is offered, nanoseconds.
const PATIENCE: u64 = 2_000;
/// What a put costs by the kernel for which a target is woken that sleeps in a wait, nanoseconds: to wake it costs the origin 2 us, and the target comes 5 to
/// 10 us later.
const WAKES: usize = 16_000;
/// What accumulates have cost by the kernel when a target is woken that sleeps: as much as a wake-up costs both.
const WAKES_IN_ALL: u32 = 32_000;
/// After so many offers in vain in a row, but one, the longest pause: 2 to this power operations.
const PAUSES: u16 = 5;

/// What lies at the beginning of a process's box; the groups follow, then, at the next line, the packed data.
#[repr(C)]
struct Head {
    /// [`MARK`] plus the number of the target.
    mark: AtomicU32,
    /// The process that the box is of.
    origin: AtomicU32,
    /// Of [`Action::AccumulateFrom`]: the address of the packed elements, at the origin.
    source: AtomicUsize,
    bytes: AtomicU32,
    groups: AtomicU16,
    /// A number of [`Action`]; of accumulates, that of the operation above it.
    action: AtomicU16,
    outcome: Outcome,
    /// Of accumulates: handle of the predefined type of the elements.
    basic: AtomicI32,
}

const OPERATION: u16 = 1 << 8;

/// What the target is to do with the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Action {
    Get = 1,
    Put = 2,
    Accumulate = 3,
    /// What was there before goes behind the data.
    GetAccumulate = 4,
    /// The target fetches the data: more than a box has room for.
    AccumulateFrom = 5,
}

impl Action {
    fn of_number(number: u16) -> Option<Action> {
        use Action::{Accumulate, AccumulateFrom, Get, GetAccumulate, Put};
        let all = [Get, Put, Accumulate, GetAccumulate, AccumulateFrom];
        all.into_iter().find(|it| *it as u16 == number)
    }

    /// Packed bytes of an operation, at most.
    fn most(self) -> usize {
        match self {
            Action::Get | Action::Put | Action::Accumulate => BYTES,
            Action::GetAccumulate => BYTES / 2,
            Action::AccumulateFrom => FETCHED,
        }
    }
}

const HEAD: usize = size_of::<Head>();
const BOX: usize = data_of(GROUPS) + BYTES;
/// Says that a box is one: its place is what another process has named.
const MARK: u32 = 0x6f78_0000;

/// The layout of what lies in the heap.
pub(super) const SHAPE: u64 = shape::combine(&[
    shape!(Head {
        mark,
        origin,
        source,
        bytes,
        groups,
        action,
        outcome,
        basic
    }),
    shape!(Group {
        first,
        bytes,
        stride,
        count
    }),
    BOX as u64,
    MARK as u64,
]);

/// Where the data begins behind so many groups.
const fn data_of(groups: usize) -> usize {
    (HEAD + groups * size_of::<Group>()).next_multiple_of(64)
}

/// The box of this process, for one operation at a time: where it is in the heap, when it is first needed.
static BOX_OF_THIS: Mutex<Option<u64>> = Mutex::new(None);
/// By process.
static LEARNED: OnceLock<Box<[Learned]>> = OnceLock::new();

/// Guesses about a target. Two threads may change them at once: a lost change does no harm.
#[derive(Default)]
struct Learned {
    /// How many operations it is not offered any more, above how often it has not claimed one.
    paused: AtomicU16,
    /// What accumulates have cost by the kernel since it was last woken for them, nanoseconds.
    spent: AtomicU32,
}

const LEVELS: u16 = 8;

impl Learned {
    fn of(process: u32) -> Option<&'static Learned> {
        let make = || {
            let processes = engine::table().map_or(0, |table| table.size());
            (0..processes).map(|_| Learned::default()).collect()
        };
        LEARNED.get_or_init(make).get(process as usize)
    }

    /// Whether the target is to be offered an operation now.
    fn is_due(&self) -> bool {
        let now = self.paused.load(Ordering::Relaxed);
        if now >= LEVELS {
            self.paused.store(now - LEVELS, Ordering::Relaxed);
        }
        now < LEVELS
    }

    /// Says how an offer has ended.
    fn learn(&self, was_claimed: bool) {
        let level = self.paused.load(Ordering::Relaxed) % LEVELS;
        let level = if was_claimed {
            0
        } else {
            PAUSES.min(level + 1)
        };
        let operations = (1 << level) - 1;
        self.paused
            .store(operations * LEVELS + level, Ordering::Relaxed);
    }

    /// Counts an accumulate that goes by the kernel since the target sleeps. Whether it is to be woken for the next ones.
    fn spend(&self, cost: usize) -> bool {
        let spent = self.spent.load(Ordering::Relaxed) + cost as u32;
        let is_enough = spent >= WAKES_IN_ALL;
        self.spent
            .store(if is_enough { 0 } else { spent }, Ordering::Relaxed);
        is_enough
    }
}

impl PrivateMemory<'_> {
    /// Has the target put the origin's elements, or get them. False: it has not, and nothing is done, or less than all.
    pub(super) fn offer<const PUT: bool>(&self, origin: &Buffer, target: &Buffer) -> bool {
        if origin.len() > BYTES {
            return false;
        }
        if let Some((first, bytes, stride)) = target.stripes() {
            let group = Group {
                first: first as usize,
                bytes,
                stride,
                count: target.len() / bytes,
            };
            return group.is_dense() && self.offer_elements::<PUT>(&[group], origin);
        }
        let mut pieces = super::access::Pieces::new();
        let whole = super::private::runs(target, 0, target.len(), &mut pieces) == target.len();
        whole
            && pieces.len() >= FEWEST
            && Groups::of_pieces(&pieces)
                .is_some_and(|groups| self.offer_elements::<PUT>(&groups.0, origin))
    }

    fn offer_elements<const PUT: bool>(&self, groups: &[Group], origin: &Buffer) -> bool {
        let bytes = origin.len();
        match PUT {
            true => self.offer_put(groups, bytes, |data| origin.read(0, data)),
            false => self.offer_get(groups, bytes, |data| origin.write(0, data)),
        }
    }

    /// As [`Self::offer`], a put of packed bytes to pieces.
    pub(super) fn put_by_target(&self, pieces: &[Piece], data: &[u8]) -> bool {
        data.len() <= BYTES
            && pieces.len() >= FEWEST
            && Groups::of_pieces(pieces).is_some_and(|groups| {
                self.offer_put(&groups.0, data.len(), |place| place.copy_from_slice(data))
            })
    }

    /// As [`Self::offer`], a get of pieces to packed bytes.
    pub(super) fn get_by_target(&self, pieces: &[Piece], out: &mut [u8]) -> bool {
        out.len() <= BYTES
            && pieces.len() >= FEWEST
            && Groups::of_pieces(pieces).is_some_and(|groups| {
                self.offer_get(&groups.0, out.len(), |data| out.copy_from_slice(data))
            })
    }

    /// Has the target accumulate packed elements, whose locks are held, to pieces; `old` gets what was there before, if it is wanted. False: as in
    /// [`Self::offer`].
    pub(super) fn accumulate_by_target(
        &self,
        (operation, basic): (Operation, &'static Datatype),
        pieces: &[Piece],
        source: &[u8],
        old: Option<&mut [u8]>,
    ) -> bool {
        let bytes: usize = pieces.iter().map(|piece| piece.bytes).sum();
        let action = match &old {
            Some(_) => Action::GetAccumulate,
            None if bytes <= BYTES => Action::Accumulate,
            None => Action::AccumulateFrom,
        };
        let is_known = basic.category != Category::Pair && !basic.can_end();
        if bytes > action.most() || source.len() < bytes && bytes > BYTES || !is_known {
            return false;
        }
        let (Some(groups), Some(learned)) =
            (Groups::of_pieces(pieces), Learned::of(self.process()))
        else {
            return false;
        };
        let kernel = groups::accumulate_cost(&groups.0);
        if !groups::is_worth_while(&groups.0, kernel) || !self.may_offer(0) {
            return false;
        }
        if self.is_target_asleep() {
            if learned.spend(kernel) {
                self.wake_target();
            }
            return false;
        }
        if !learned.is_due() {
            return false;
        }
        let Some(own) = self.open(&groups.0, action, bytes) else {
            return false;
        };
        let head = own.head();
        let numbers = action as u16 + OPERATION * operation as u16;
        head.action.store(numbers, Ordering::Relaxed);
        head.basic.store(basic.handle, Ordering::Relaxed);
        match action {
            Action::AccumulateFrom => head.source.store(source.as_ptr().addr(), Ordering::Relaxed),
            // SAFETY: the box is this thread's until it is posted.
            _ => unsafe { own.data(groups.0.len(), source.len()) }.copy_from_slice(source),
        }
        let is_done = self.post(&own, learned, bytes, || PATIENCE);
        if let (true, Some(old)) = (is_done, old) {
            // SAFETY: the operation is over, so the box is this thread's again.
            old.copy_from_slice(unsafe { &own.data(groups.0.len(), 2 * bytes)[bytes..] });
        }
        is_done
    }

    /// `fill` writes the packed data.
    fn offer_put(&self, groups: &[Group], bytes: usize, fill: impl FnOnce(&mut [u8])) -> bool {
        let kernel = groups::kernel_cost(groups);
        let Some((own, learned)) = self.open_moved(groups, Action::Put, (bytes, kernel)) else {
            return false;
        };
        // SAFETY: the box is this thread's until it is posted.
        fill(unsafe { own.data(groups.len(), bytes) });
        self.post(&own, learned, bytes, || {
            let wakes = kernel >= WAKES && self.wake_target();
            PATIENCE
                + match wakes {
                    // The yields behind it may take their time.
                    _ if node::is_oversubscribed() => kernel as u64,
                    true => kernel as u64 / 2,
                    false => 0,
                }
        })
    }

    /// `take` gets the packed data. The target is not woken: the kernel gets what lies between the pieces along, and is as quick.
    fn offer_get(&self, groups: &[Group], bytes: usize, take: impl FnOnce(&[u8])) -> bool {
        let Some((own, learned)) = self.open_moved(groups, Action::Get, (bytes, 0)) else {
            return false;
        };
        let is_done = self.post(&own, learned, bytes, || PATIENCE);
        if is_done {
            // SAFETY: the operation is over, so the box is this thread's again.
            take(unsafe { own.data(groups.len(), bytes) });
        }
        is_done
    }

    /// Whether the target may run now, or waits, and a put costs so much by the kernel that the core is to be left to it. This process has nobody to offer its own
    /// memory to.
    fn may_offer(&self, kernel: usize) -> bool {
        let Some(table) = engine::table() else {
            return false;
        };
        let waits = || table.of(self.process()).page.waits.has_long();
        table.me() != self.process() && (!node::is_oversubscribed() || kernel >= WAKES && waits())
    }

    fn open_moved(
        &self,
        groups: &[Group],
        action: Action,
        (bytes, kernel): (usize, usize),
    ) -> Option<(Own, &'static Learned)> {
        if !groups::is_worth_moving(groups) || !self.may_offer(kernel) {
            return None;
        }
        let learned = Learned::of(self.process())?;
        if !learned.is_due() {
            return None;
        }
        Some((self.open(groups, action, bytes)?, learned))
    }

    /// The box of this process with all but the data. `None`: another thread uses it, or there is no memory.
    fn open(&self, groups: &[Group], action: Action, bytes: usize) -> Option<Own> {
        let own = Own::lock(transport::heap()?)?;
        // SAFETY: the box is this thread's until it is posted.
        unsafe {
            own.groups()
                .copy_from_nonoverlapping(groups.as_ptr(), groups.len());
        }
        let head = own.head();
        head.mark.store(MARK + self.process(), Ordering::Relaxed);
        head.origin.store(engine::table()?.me(), Ordering::Relaxed);
        head.bytes.store(bytes as u32, Ordering::Relaxed);
        head.groups.store(groups.len() as u16, Ordering::Relaxed);
        head.action.store(action as u16, Ordering::Relaxed);
        head.outcome.open();
        Some(own)
    }

    /// Posts the box at the target and waits. Whether the target has done all; `patience` says for how long it is offered, when that is done.
    fn post(
        &self,
        own: &Own,
        learned: &Learned,
        bytes: usize,
        patience: impl FnOnce() -> u64,
    ) -> bool {
        let process = self.process();
        let Some(table) = engine::table() else {
            return false;
        };
        let asked = &table.of(process).page.asked;
        if !asked.post(own.offset) {
            return false;
        }
        let outcome = outcome_of(own, asked, process, patience());
        learned.learn(outcome.is_some());
        let is_done = outcome == Some(true);
        if is_done {
            self.count(1, bytes);
        }
        is_done
    }
}

/// Waits until an operation is over. Returns whether the target has done all; `None`: it has not claimed it for so many nanoseconds, or has died.
fn outcome_of(own: &Own, asked: &Asked, process: u32, patience: u64) -> Option<bool> {
    let outcome = &own.head().outcome;
    let is_shared = node::is_oversubscribed();
    let begun = monotonic_nanoseconds();
    let mut looks = 0_u32;
    loop {
        if let Some(is_done) = outcome.get() {
            return Some(is_done);
        }
        std::hint::spin_loop();
        looks += 1;
        if !looks.is_multiple_of(LOOKS_AT_TARGET) {
            continue;
        }
        // The target may wait for this process likewise, or for its core.
        tasks::serve();
        if is_shared {
            schedule::yield_now();
        }
        if monotonic_nanoseconds() - begun >= patience {
            break;
        }
    }
    if asked.withdraw(own.offset) {
        return None;
    }
    let mut backoff = Backoff::default();
    while !asked.is_over(own.offset) {
        if backoff.pause() {
            tasks::serve();
            if engine::has_died(process) {
                return None;
            }
        }
    }
    Some(outcome.get() == Some(true))
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

/// Does what other processes offer this one.
#[derive(Default)]
pub(super) struct Server {
    provided: Provided,
    fetched: Vec<u8>,
}

impl Server {
    /// Does an operation that this process has claimed, if all of its memory is there.
    pub fn serve(&mut self, at: u64) {
        let place = transport::heap().and_then(|heap| heap.at(at, BOX as u64));
        let (Some(place), Some(table)) = (place, engine::table()) else {
            return;
        };
        // SAFETY: memory of the heap; atomics only.
        let head = unsafe { &*place.cast::<Head>() };
        if head.mark.load(Ordering::Relaxed) == MARK + table.me() {
            let is_done = self.serve_at(place, head).is_some();
            head.outcome.set(is_done);
        }
    }

    /// `None`: nothing is done.
    fn serve_at(&mut self, place: *mut u8, head: &Head) -> Option<()> {
        let count = usize::from(head.groups.load(Ordering::Relaxed));
        let bytes = head.bytes.load(Ordering::Relaxed) as usize;
        let numbers = head.action.load(Ordering::Relaxed);
        let action = Action::of_number(numbers % OPERATION)?;
        if count > GROUPS || bytes > action.most() {
            return None;
        }
        let work = match action {
            Action::Get => Work::Get,
            Action::Put => Work::Put,
            Action::Accumulate | Action::GetAccumulate | Action::AccumulateFrom => {
                let operation = Operation::of_number(u32::from(numbers / OPERATION))?;
                let basic = datatype::get(head.basic.load(Ordering::Relaxed))?;
                let old = (action == Action::GetAccumulate).then_some(bytes);
                Work::Accumulate(operation, basic, old)
            }
        };
        if action != Action::AccumulateFrom {
            work.fetch_ahead(place.wrapping_add(data_of(count)), bytes);
        }
        // SAFETY: the origin has posted so many, and changes nothing of them until the end.
        let groups = unsafe { std::slice::from_raw_parts(place.add(HEAD).cast::<Group>(), count) };
        let add = |sum: usize, group: &Group| match group.count {
            0 => None,
            count => sum.checked_add(group.bytes.checked_mul(count)?),
        };
        let are_whole = |group: &Group| group.bytes.is_multiple_of(work.size().max(1));
        self.provided.begin();
        let provide = |first, bytes| self.provided.provide(first, bytes, work.writes());
        if groups.iter().try_fold(0, add) != Some(bytes)
            || !groups.iter().all(are_whole)
            || !groups::each_range(groups, provide)
        {
            return None;
        }
        let mut packed = match action {
            Action::AccumulateFrom => self.fetch(head, bytes)?,
            _ => place.wrapping_add(data_of(count)),
        };
        for group in groups {
            // SAFETY: the group's pages are there, and its packed bytes are in the box, or were fetched.
            packed = unsafe { work.group(group, packed) };
        }
        Some(())
    }

    /// The origin's data, by the kernel. `None`: it is not to be had.
    fn fetch(&mut self, head: &Head, bytes: usize) -> Option<*mut u8> {
        let origin = head.origin.load(Ordering::Relaxed);
        if ways::to(origin) != Way::Kernel {
            return None;
        }
        self.fetched.resize(FETCHED, 0);
        let here = self.fetched.as_mut_ptr();
        let piece = |address, bytes| [Piece { address, bytes }];
        let local = piece(here.addr(), bytes);
        let remote = piece(head.source.load(Ordering::Relaxed), bytes);
        // SAFETY: memory of this value's alone.
        let read = unsafe { peer_memory::read_pieces(ways::pid_of(origin), &local, &remote) };
        (read.ok()? == bytes).then_some(here)
    }
}

/// What this process does for another one.
#[derive(Clone, Copy)]
enum Work {
    Get,
    Put,
    /// How far behind the data the old elements go, if they are wanted.
    Accumulate(Operation, &'static Datatype, Option<usize>),
}

impl Work {
    fn writes(self) -> bool {
        !matches!(self, Work::Get | Work::Accumulate(Operation::NoOp, ..))
    }

    /// Bytes of an element, which a piece has whole ones of.
    fn size(self) -> usize {
        match self {
            Work::Get | Work::Put => 1,
            Work::Accumulate(_, basic, _) => basic.size as usize,
        }
    }

    /// Has the packed data's lines fetched from the origin's cache, all at once: the copy of a piece takes so many instructions that few of the copies behind it
    /// are begun while it waits for a line.
    fn fetch_ahead(self, packed: *mut u8, bytes: usize) {
        for at in (0..bytes.min(FETCHED_AHEAD)).step_by(64) {
            let line = packed.wrapping_add(at);
            match self {
                Work::Get => ring::prefetch_for_writing(line),
                Work::Put | Work::Accumulate(..) => ring::prefetch(line),
            }
        }
    }

    /// Does a group, whose packed bytes begin there. Returns where the next group's begin.
    ///
    /// # Safety
    /// All of it is memory that can be written, or read if that is all.
    unsafe fn group(self, group: &Group, packed: *mut u8) -> *mut u8 {
        // SAFETY: by the caller.
        unsafe {
            match self {
                Work::Get => move_pieces::<false>(group, packed),
                Work::Put => move_pieces::<true>(group, packed),
                Work::Accumulate(operation, basic, old) => {
                    for at in 0..group.count {
                        let (own, piece) = group.piece(at, packed);
                        if let Some(behind) = old {
                            piece.copy_to_nonoverlapping(own.wrapping_add(behind), group.bytes);
                        }
                        let elements = group.bytes / self.size();
                        apply::change((operation, basic), piece, own, elements);
                    }
                }
            }
        }
        packed.wrapping_add(group.count * group.bytes)
    }
}

/// Copies packed bytes to the group's pieces if `PUT`, else from them.
///
/// # Safety
/// As for [`Work::group`].
unsafe fn move_pieces<const PUT: bool>(group: &Group, packed: *mut u8) {
    let each = |bytes: usize| {
        for at in 0..group.count {
            let (own, piece) = group.piece(at, packed);
            // SAFETY: by the caller.
            unsafe { put_get::copy::<PUT>(own, piece, bytes) };
        }
    };
    // A length that the compiler knows makes a loop of a few instructions.
    match group.bytes {
        8 => each(8),
        4 => each(4),
        bytes => each(bytes),
    }
}
