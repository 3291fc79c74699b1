//! Passive target epochs: MPI_Win_lock, MPI_Win_lock_all and their ends. The algorithm is in [`crate::queue::fair_lock`].

use super::{all, assert, check_assertion, held};
use crate::engine::waits;
use crate::engine::{Engine, is_multiple, liveness};
use crate::error::{Class, Error, Result, fail};
use crate::queue::fair_lock::{Awaited, Bits, Lock, Locker, Whom};
use crate::rma::block::TargetLine;
use crate::rma::hosts::Kind;
use crate::rma::wait::Wait;
use crate::rma::window::{Target, Window};
use crate::sync::{Ordering, full_fence};

/// MPI_LOCK_EXCLUSIVE and MPI_LOCK_SHARED, with the numbers of the ABI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum LockType {
    Exclusive = 234,
    Shared = 235,
}

/// The bits of [`held`] that a lock sets.
const LOCKED: u8 = held::SHARED | held::EXCLUSIVE | held::NOCHECK;

/// This process at the lock of one target.
struct At<'a> {
    window: &'a Window,
    target: usize,
    function: &'static str,
}

impl TargetLine {
    #[inline(always)]
    pub(in crate::rma) fn lock(&self) -> Lock<'_> {
        Lock {
            next: &self.next,
            serving: &self.serving,
            shared: &self.shared,
            queue: &self.queue,
        }
    }
}

impl<'a> At<'a> {
    #[inline(always)]
    fn lock(&self) -> Lock<'a> {
        self.window.block.target(self.target).lock()
    }

    /// Takes the lock of a rank of another host.
    #[cold]
    fn ask(&self, kind: LockType) -> Result<()> {
        let far = self.window.far(self.target, self.function);
        far.ask(match kind {
            LockType::Exclusive => Kind::LockExclusive,
            LockType::Shared => Kind::LockShared,
        })
    }

    /// Gives it up; `bits` are those of [`held`].
    #[cold]
    fn tell(&self, bits: u8) {
        let far = self.window.far(self.target, self.function);
        let kind = match bits {
            held::EXCLUSIVE => Kind::UnlockExclusive,
            _ => Kind::UnlockShared,
        };
        far.tell(kind, 0);
    }

    fn share(&self) -> Result<()> {
        match self.window.is_remote(self.target) {
            true => self.ask(LockType::Shared),
            false => self.lock().share(self),
        }
    }

    fn unshare(&self) {
        match self.window.is_remote(self.target) {
            true => self.tell(held::SHARED),
            false => self.lock().unshare(self),
        }
    }

    /// A lost process that keeps this one from being served or alone, if any.
    #[cold]
    fn missing(&self, engine: &Engine, awaited: Awaited) -> Option<u32> {
        match self.needed(awaited) {
            Some(mut needed) => needed.find(|process| liveness::of(engine, *process).is_some()),
            // One of them may be served.
            None => {
                let mut all = self.window.targets.iter().map(|it| it.process);
                all.find(|process| engine.peer(*process).has_died())
            }
        }
    }

    /// The processes that have the lock, or keep this one from being alone, if they are known.
    fn needed(&self, awaited: Awaited) -> Option<impl Iterator<Item = u32> + use<'a>> {
        let window = self.window;
        let holder = self.holder(awaited)?;
        // What a rank of another host has here is the target's to give up.
        let target = window.is_remote(holder).then_some(self.target);
        let ranks = [Some(holder), target].into_iter().flatten();
        Some(ranks.map(move |rank| window.targets[rank].process))
    }

    /// The rank that has the lock, if it is known.
    fn holder(&self, awaited: Awaited) -> Option<usize> {
        match (awaited, self.lock().served()) {
            (Awaited::Sharer(rank), _) => Some(rank),
            (Awaited::Turn(_), Whom::Process(process)) => Some(self.window.rank_of(process)),
            (Awaited::Turn(_), _) => None,
        }
    }

    #[cold]
    fn explained(&self, error: Error, awaited: Awaited) -> Error {
        let (window, target) = (self.window, self.target);
        let whose = match self.holder(awaited) {
            Some(rank) if window.is_remote(rank) => {
                format!(
                    "rank {rank} of the window, on another host, has it by the target's process"
                )
            }
            Some(rank) => format!("rank {rank} of the window has it"),
            None => "a rank of the window has it".to_owned(),
        };
        let title = window.title();
        error.context(format_args!(
            "the lock of target rank {target} of {title} will not become free: {whose}"
        ))
    }
}

impl Locker for At<'_> {
    type Failure = Error;

    #[inline(always)]
    fn process(&self) -> u32 {
        self.window.targets[self.window.rank].process
    }

    #[inline(always)]
    fn ranks(&self) -> usize {
        self.window.size()
    }

    #[inline(always)]
    fn bit(&self, rank: usize) -> Bits<'_> {
        let words = self.window.block.shared_locks(rank);
        Bits::new(&words[self.target / 64], 1 << (self.target % 64))
    }

    #[inline(always)]
    fn own_bit(&self) -> Bits<'_> {
        self.bit(self.window.rank)
    }

    #[cold]
    fn wait(&self, awaited: Awaited, holds: &mut dyn FnMut() -> bool) -> Result<()> {
        let wait = Wait {
            window: self.window,
            function: self.function,
            kind: waits::Kind::Lock,
            target: Some(self.target),
            whom: &|| {
                self.needed(awaited)
                    .map_or(waits::Whom::Any, waits::Whom::of)
            },
        };
        let done = wait.until(holds, &|engine| self.missing(engine, awaited));
        done.map_err(|error| self.explained(error, awaited))
    }

    #[inline(always)]
    fn wake(&self, whom: Whom) {
        self.window.wake_whom(whom, self.target);
    }
}

impl Window {
    /// Wakes whoever waits for the lock of a target.
    #[inline(always)]
    pub(in crate::rma) fn wake_whom(&self, whom: Whom, target: usize) {
        match whom {
            Whom::Nobody => {}
            Whom::Process(process) => self.wake_process(process, target),
            Whom::Anybody => self.wake_all(),
        }
    }

    /// For a rank of another host the target's process waits.
    #[cold]
    fn wake_process(&self, process: u32, target: usize) {
        let rank = self.rank_of(process);
        let rank = if self.is_remote(rank) { target } else { rank };
        self.assembly.wake(rank);
    }

    #[cold]
    fn wake_all(&self) {
        for rank in 0..self.size() {
            self.assembly.wake(rank);
        }
    }

    /// Marks a target as locked, if no other epoch is open there. Another thread may try the same.
    ///
    /// Errors: MPI_ERR_RMA_SYNC.
    #[inline(always)]
    fn claim(&self, target: usize, bits: u8) -> Result<()> {
        let (access, order) = (&self.access, Ordering::Relaxed);
        let all = access.all.load(order);
        if all & all::LOCK_ALL != 0 || access.started.load(order) != 0 {
            return self.epoch_is_open(self.open_access().unwrap_or_default());
        }
        let held = &self.targets[target].held;
        let is_claimed = match is_multiple() {
            true => held.compare_exchange(0, bits, order, order).is_ok(),
            false => {
                let is_free = held.load(order) == 0;
                if is_free {
                    held.store(bits, order);
                }
                is_free
            }
        };
        if !is_claimed {
            return self.is_locked_already(target);
        }
        if all != 0 {
            access.all.store(0, order);
        }
        Ok(())
    }

    #[cold]
    fn is_locked_already(&self, target: usize) -> Result<()> {
        fail!(
            Class::RmaSync,
            "target rank {target} of {} is locked by this process already",
            self.title()
        )
    }

    /// Takes back what [`Self::claim`] marked. Returns the bits.
    ///
    /// Errors: MPI_ERR_RMA_SYNC.
    #[inline(always)]
    fn unclaim(&self, target: usize) -> Result<u8> {
        let held = &self.targets[target].held;
        let bits = held.load(Ordering::Relaxed);
        if bits & LOCKED == 0 {
            return self.is_not_locked(target);
        }
        match is_multiple() {
            true => match held.swap(0, Ordering::Relaxed) {
                0 => self.is_not_locked(target),
                bits => Ok(bits),
            },
            false => {
                held.store(0, Ordering::Relaxed);
                Ok(bits)
            }
        }
    }

    #[cold]
    pub(super) fn is_not_locked<T>(&self, target: usize) -> Result<T> {
        fail!(
            Class::RmaSync,
            "target rank {target} of {} is not locked by this process: call MPI_Win_lock or MPI_Win_lock_all first",
            self.title()
        )
    }

    /// Whether a passive target epoch covers a target.
    #[inline(always)]
    pub(super) fn is_locked(&self, target: usize) -> bool {
        let access = &self.access;
        access.all.load(Ordering::Relaxed) & all::LOCK_ALL != 0
            || self.targets[target].held.load(Ordering::Relaxed) & LOCKED != 0
    }

    /// Whether any passive target epoch is open.
    #[inline]
    pub(super) fn is_any_locked(&self) -> bool {
        let access = &self.access;
        let locked = |it: &Target| it.held.load(Ordering::Relaxed) & LOCKED != 0;
        access.all.load(Ordering::Relaxed) & all::LOCK_ALL != 0 || self.targets.iter().any(locked)
    }

    /// The own locks as words of bits, those of all targets.
    #[inline(always)]
    fn all_bits(&self) -> impl Iterator<Item = Bits<'_>> {
        let ranks = self.size();
        let words = self.block.shared_locks(self.rank).iter();
        words
            .take(ranks.div_ceil(64))
            .enumerate()
            .map(move |(at, word)| {
                let left = ranks - at * 64;
                Bits::new(word, if left < 64 { (1 << left) - 1 } else { u64::MAX })
            })
    }
}

/// MPI_Win_lock; no `target`: MPI_PROC_NULL.
///
/// Errors: MPI_ERR_ASSERT, MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, the lock's holder is lost.
#[inline]
pub fn lock(window: &Window, kind: LockType, target: Option<usize>, assertion: i32) -> Result<()> {
    check_assertion(assertion, assert::NOCHECK)?;
    let Some(target) = target else {
        return Ok(());
    };
    if assertion != 0 {
        return window.claim(target, held::NOCHECK);
    }
    let bits = match kind {
        LockType::Exclusive => held::EXCLUSIVE,
        LockType::Shared => held::SHARED,
    };
    window.claim(target, bits)?;
    let at = At {
        window,
        target,
        function: "MPI_Win_lock",
    };
    let done = match kind {
        _ if window.is_remote(target) => at.ask(kind),
        LockType::Exclusive => at.lock().lock(&at),
        LockType::Shared => at.lock().share(&at),
    };
    if done.is_err() {
        window.targets[target].held.store(0, Ordering::Relaxed);
    }
    done
}

/// MPI_Win_unlock; no `target`: MPI_PROC_NULL.
///
/// Errors: MPI_ERR_RMA_SYNC.
#[inline]
pub fn unlock(window: &Window, target: Option<usize>) -> Result<()> {
    let Some(target) = target else {
        return Ok(());
    };
    let bits = window.unclaim(target)?;
    let at = At {
        window,
        target,
        function: "MPI_Win_unlock",
    };
    let settled = window.settle(target, "MPI_Win_unlock");
    match bits {
        held::EXCLUSIVE | held::SHARED if window.is_remote(target) => at.tell(bits),
        held::EXCLUSIVE => at.lock().unlock(&at),
        held::SHARED => at.lock().unshare(&at),
        _ => full_fence(),
    }
    window.count_poll();
    settled
}

/// MPI_Win_lock_all.
///
/// Locks are taken in the order of the ranks: one that has to be waited for leaves those behind it free meanwhile.
///
/// Errors: MPI_ERR_ASSERT, MPI_ERR_RMA_SYNC; MPIX_ERR_PROC_FAILED, a lock's holder is lost.
pub fn lock_all(window: &Window, assertion: i32) -> Result<()> {
    check_assertion(assertion, assert::NOCHECK)?;
    window.begin_access()?;
    let access = &window.access;
    if assertion != 0 {
        access
            .all
            .store(all::LOCK_ALL | all::NOCHECK, Ordering::Relaxed);
        return Ok(());
    }
    access.all.store(all::LOCK_ALL, Ordering::Relaxed);
    if window.hosts.is_some() {
        return lock_all_in_order(window, 0);
    }
    if !access.has_shared_all.load(Ordering::Relaxed) {
        for target in 0..window.size() {
            window.block.target(target).lock().will_be_shared();
        }
        access.has_shared_all.store(true, Ordering::Relaxed);
    }
    window.all_bits().for_each(|bits| bits.set());
    let first = (0..window.size()).find(|target| !window.block.target(*target).lock().is_free());
    match first {
        None => Ok(()),
        Some(first) => lock_all_in_order(window, first),
    }
}

/// The rest of [`lock_all`], where the lock of a target is not free.
#[cold]
fn lock_all_in_order(window: &Window, first: usize) -> Result<()> {
    let at = |target| At {
        window,
        target,
        function: "MPI_Win_lock_all",
    };
    if window.hosts.is_none() {
        for target in first..window.size() {
            at(target).unshare();
        }
    }
    for target in first..window.size() {
        if let Err(error) = at(target).share() {
            window.access.all.store(0, Ordering::Relaxed);
            for target in 0..target {
                at(target).unshare();
            }
            return Err(error);
        }
    }
    Ok(())
}

/// MPI_Win_unlock_all.
///
/// Errors: MPI_ERR_RMA_SYNC.
pub fn unlock_all(window: &Window) -> Result<()> {
    let all = window.access.all.load(Ordering::Relaxed);
    if all & all::LOCK_ALL == 0 {
        return Err(window.nothing_to_end("MPI_Win_lock_all"));
    }
    window.access.all.store(0, Ordering::Relaxed);
    let settled = window.settle_all("MPI_Win_unlock_all");
    if all & all::NOCHECK != 0 {
        full_fence();
    } else {
        window.all_bits().for_each(|bits| bits.clear());
        for target in 0..window.size() {
            let at = At {
                window,
                target,
                function: "MPI_Win_unlock_all",
            };
            match window.is_remote(target) {
                true => at.tell(held::SHARED),
                false => at.wake(at.lock().served()),
            }
        }
    }
    window.count_poll();
    settled
}
