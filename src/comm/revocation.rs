//! Revoked communicators: how a process learns of one, and what it does then.
//!
//! A revocation is one store in the memory of each node (`transport/shm/desks.rs`), which its ranks are woken for, and word to members that
//! do not share that memory: each process that learns of one passes it on, once and again after each death, to those of a circle of all
//! that live that are 1, 2, 4, ... places away. So all that live learn of it, as long as one does that others hear of.
//!
//! Invariant: a call on a revoked communicator finds its handle hidden ([`comm::get`](super::get)), so other calls pay nothing. A call
//! under way asks [`Comm::is_revoked`] in its liveness checks. Who knows of a revocation never gives the context id back: nothing that is
//! still on its way, no message and no word, is ever taken for that of another communicator.

use super::agreements::news_key;
use super::{Comm, TABLE, error_range, for_each, for_each_freed, me};
use crate::connections;
use crate::engine::losses::{self, REVOKED};
use crate::engine::revoked::{self, Word};
use crate::engine::{self, failures, liveness, tasks, wait};
use crate::error::Result;
use crate::group::names;
use crate::queue::revocations;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use crate::transport::{self, DeskKey, deaths};
use parking_lot::Mutex;

/// This process knows of a revoked communicator.
static ANY: AtomicBool = AtomicBool::new(false);
/// How many revocations of this node this process has seen, see [`transport::Desks::look_for_revocations`].
static SEEN: AtomicU32 = AtomicU32::new(0);
/// How many failures were known when word was last passed on.
static PASSED_ON: AtomicUsize = AtomicUsize::new(0);
/// Words of communicators that are not made here yet.
static EARLY: Mutex<Vec<Word>> = Mutex::new(Vec::new());
static ANY_EARLY: AtomicBool = AtomicBool::new(false);
/// A collective operation has ended because another process has said in it that its communicator is revoked.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Has liveness checks look for revocations from now on.
pub(super) fn begin_to_look() {
    liveness::look_until(|| {
        look();
        false
    });
}

impl Comm {
    /// Whether this process knows that it is revoked.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Acquire)
    }

    /// MPIX_Comm_revoke.
    pub fn revoke(&'static self) {
        // First: others wait for it.
        self.set_revoked();
        look();
    }

    /// MPIX_Comm_is_revoked: as [`Comm::is_revoked`], with a look at what has come.
    pub fn is_found_revoked(&self) -> bool {
        if !self.is_revoked() {
            drop(wait::poll());
            look();
        }
        self.is_revoked()
    }

    /// Errors: MPIX_ERR_REVOKED.
    pub fn check_not_revoked(&self) -> Result<()> {
        match self.is_revoked() {
            true => Err(losses::revoked()),
            false => Ok(()),
        }
    }

    /// Revokes it in this process, and has others know. They may know already.
    fn set_revoked(&'static self) {
        // Another thread has ended it since it was found.
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        // First, so that all of this node know although this process dies.
        let key = news_key(self);
        let is_told = match (transport::desks(), &key) {
            (Some(desks), Some(key)) => desks.revoke(key),
            _ => true,
        };
        self.take_revoked(key.as_ref(), is_told);
    }

    /// Revokes it in this process, and has those elsewhere know. `key`: of its block in the directory of desks, if it can have one; `is_told`: all of
    /// this node have been told.
    fn take_revoked(&'static self, key: Option<&DeskKey>, is_told: bool) {
        if !revocations::learn(&self.revoked, &self.is_over) {
            return;
        }
        // Not one that was freed: no call finds its handle.
        TABLE.hide(self.handle);
        ANY.store(true, Ordering::Relaxed);
        self.set_lost(REVOKED);
        self.staging.tell_lost(REVOKED);
        revoked::end(self.handle, self.context(), self.receive_context());
        self.pass_on(is_told);
        // Other threads may have looked while this one was here.
        deaths::found();
        tasks::check_at_once();
        engine::wake_own_threads();
        if let (Some(desks), Some(key)) = (transport::desks(), key) {
            desks.know(key);
        }
    }

    /// Tells others, of whom those of this node know if `is_told`.
    #[cold]
    fn pass_on(&self, is_told: bool) {
        if is_told && self.can_have_desk() {
            // There is nobody elsewhere.
            return;
        }
        let own = self.members().group().members().into_iter();
        let own = own.map(|process| (process, self.receive_context()));
        let remote = self.remote().map(|remote| remote.group().members());
        let remote = remote.into_iter().flatten();
        // The other group's circle begins at another place, and has the same distances.
        let all = own.chain(remote.map(|process| (process, self.context())));
        // The connection of one that was freed may have ended.
        let is_reached =
            |process: u32| !names::is_foreign(process) || connections::is_connected(process);
        let lives =
            |process: u32| process == me() || !engine::has_died(process) && is_reached(process);
        let circle: Vec<(u32, u32)> = all.filter(|(process, _)| lives(*process)).collect();
        let Some(at) = circle.iter().position(|(process, _)| *process == me()) else {
            return;
        };
        let size = circle.len();
        let distances = (0..)
            .map(|power| 1usize << power)
            .take_while(|far| *far < size);
        for place in distances.flat_map(|far| [at + far, at + size - far]) {
            let (process, context) = circle[place % size];
            if process != me() && !(is_told && engine::shares_memory(process)) {
                revoked::tell(process, context);
            }
        }
    }

    /// Looks whether others have revoked it before this process had it.
    pub(super) fn find_early_revocation(&'static self) {
        let is_early = ANY_EARLY.load(Ordering::Relaxed) && self.take_early();
        let desks = transport::desks().filter(|desks| desks.any_revocation());
        let is_told = || {
            let key = desks.and_then(|_| news_key(self));
            desks
                .zip(key)
                .is_some_and(|(desks, key)| desks.is_revoked(&key))
        };
        if is_early || is_told() {
            self.set_revoked();
        }
    }

    fn is_meant(&self, word: &Word) -> bool {
        self.receive_context() == word.context && self.processes().any(|it| it == word.from)
    }

    #[cold]
    fn take_early(&self) -> bool {
        let mut early = EARLY.lock();
        let before = early.len();
        early.retain(|word| !self.is_meant(word));
        early.len() != before
    }
}

/// An operation was told that its communicator is revoked, which is kept there as its loss. It may be a task, which revoking ends: the next look revokes it.
#[cold]
pub fn told_in_operation() {
    TOLD.store(true, Ordering::Release);
    deaths::found();
}

/// Looks whether communicators of this process were revoked. A few instructions if there is no news.
pub fn look() {
    if TOLD.load(Ordering::Relaxed) && TOLD.swap(false, Ordering::Acquire) {
        while let Some(comm) =
            find(|comm| comm.lost() == REVOKED && !comm.is_over.load(Ordering::Relaxed))
        {
            comm.set_revoked();
        }
    }
    for word in revoked::take_heard() {
        let comm = find(|comm| comm.is_meant(&word));
        match comm {
            Some(comm) => comm.set_revoked(),
            None => {
                EARLY.lock().push(word);
                ANY_EARLY.store(true, Ordering::Relaxed);
            }
        }
    }
    if let Some(desks) = transport::desks() {
        desks.look_for_revocations(&SEEN, || {
            for key in desks.revoked() {
                let is_its = |comm: &Comm| {
                    comm.has_context(key.contexts.0) && news_key(comm).as_ref() == Some(&key)
                };
                if let Some(comm) = find(is_its) {
                    comm.take_revoked(Some(&key), true);
                }
            }
        });
    }
    revoke_after_deaths();
    if ANY.load(Ordering::Relaxed) {
        pass_on_after_deaths();
    }
}

/// A communicator that is not known to be revoked, also one that was freed while operations on it are under way.
fn find(is: impl Fn(&Comm) -> bool) -> Option<&'static Comm> {
    let mut found = None;
    let mut look_at = |comm: &'static Comm| {
        if found.is_none() && !comm.is_revoked() && is(comm) {
            found = Some(comm);
        }
    };
    for_each(|_, comm| look_at(comm));
    for_each_freed(look_at);
    found
}

/// Revokes those in whose range somebody has died.
fn revoke_after_deaths() {
    let deaths = error_range::deaths();
    if !deaths.is_empty() {
        while let Some(comm) = find(|comm| comm.has_in_range(&deaths)) {
            comm.set_revoked();
        }
    }
}

/// Those who have died may have been to pass it on.
#[cold]
fn pass_on_after_deaths() {
    let known = failures::known().len();
    if PASSED_ON.swap(known, Ordering::Relaxed) == known {
        return;
    }
    for_each(|_, comm| {
        if comm.is_revoked() {
            comm.pass_on(true);
        }
    });
}
