//! The half of the origin: its box, and what it has learned of the targets.

use super::{Action, BOX, BYTES, HEAD, Head, MARK, OPERATION, data_of};
use crate::datatype::{Buffer, Category, Datatype};
use crate::engine::{self, tasks};
use crate::node;
use crate::op::Operation;
use crate::os::backoff::Backoff;
use crate::os::monotonic_nanoseconds;
use crate::os::peer_memory::Piece;
use crate::os::schedule;
use crate::os::turns::LOOKS_AT_TARGET;
use crate::queue::asked::Asked;
use crate::rma::access::Pieces;
use crate::rma::groups::{self, FEWEST, Group, Groups};
use crate::rma::private::{self, PrivateMemory};
use crate::sync::{AtomicU16, AtomicU32, Ordering};
use crate::transport::{self, Heap};
use parking_lot::Mutex;
use std::sync::OnceLock;

/// How long an operation is offered, nanoseconds.
const PATIENCE: u64 = 2_000;
/// What a put costs by the kernel for which a target is woken that sleeps in a wait, nanoseconds: to wake it costs the origin 2 us, and the target comes 5 to
/// 10 us later.
const WAKES: usize = 16_000;
/// What accumulates have cost by the kernel when a target is woken that sleeps: as much as a wake-up costs both.
const WAKES_IN_ALL: u32 = 32_000;
/// After so many offers in vain in a row, but one, the longest pause: 2 to this power operations.
const PAUSES: u16 = 5;

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
    pub(in crate::rma) fn offer<const PUT: bool>(&self, origin: &Buffer, target: &Buffer) -> bool {
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
        let mut pieces = Pieces::new();
        let whole = private::runs(target, 0, target.len(), &mut pieces) == target.len();
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
    pub(in crate::rma) fn put_by_target(&self, pieces: &[Piece], data: &[u8]) -> bool {
        data.len() <= BYTES
            && pieces.len() >= FEWEST
            && Groups::of_pieces(pieces).is_some_and(|groups| {
                self.offer_put(&groups.0, data.len(), |place| place.copy_from_slice(data))
            })
    }

    /// As [`Self::offer`], a get of pieces to packed bytes.
    pub(in crate::rma) fn get_by_target(&self, pieces: &[Piece], out: &mut [u8]) -> bool {
        out.len() <= BYTES
            && pieces.len() >= FEWEST
            && Groups::of_pieces(pieces).is_some_and(|groups| {
                self.offer_get(&groups.0, out.len(), |data| out.copy_from_slice(data))
            })
    }

    /// Has the target accumulate packed elements, whose locks are held, to pieces; `old` gets what was there before, if it is wanted. False: as in
    /// [`Self::offer`].
    pub(in crate::rma) fn accumulate_by_target(
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
            let more = if node::is_oversubscribed() {
                // The yields behind it may take their time.
                kernel
            } else if wakes {
                kernel / 2
            } else {
                0
            };
            PATIENCE + more as u64
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
