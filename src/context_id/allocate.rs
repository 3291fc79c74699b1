//! The allocation of a context id over a collective context, driven from offer to offer by the job's strategy.
//!
//! With each offer goes a signature of what the members are about to make, which shows whether all make the same and whether
//! one of them cannot, and how many engines each member offers, for nobody can read the pages of other hosts. Invariant: an allocation ends in an id, or gives back all it holds; what it ends in is the same on all
//! members that have talked.

use super::agreement::{Allocation, Step};
use super::creation::Creation;
use super::offer::{bytes, combine, words};
use super::registry::{self, IDS, Ids, live_report, statistics};
use super::report;
use crate::coll::CollContext;
use crate::comm::NOBODY;
use crate::datatype::Buffer;
use crate::engine::{self, losses, mapping};
use crate::error::{Class, Error, Result};
use crate::events::{self, Event};
use crate::os::cancellation::uncancelled;
use crate::sync::{AtomicUsize, Ordering};
use crate::variables::show::SHOW;
use std::sync::OnceLock;

/// Allocations that wait for another of this process.
static WAITING: AtomicUsize = AtomicUsize::new(0);

static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Sets what is called before an id is looked for, so that ids of freed communicators can return.
pub fn before_creations(give_back: fn()) {
    let _ = GIVE_BACK.set(give_back);
}

/// What members have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The context id.
    pub context: u32,
    /// How many engines every member offers.
    pub engines: u32,
}

/// A proposal: an allocation that has its number in the order of creations.
#[must_use = "it holds what others wait for"]
pub struct Proposal {
    creation: Creation,
    function: &'static str,
    site: u32,
    allocation: Allocation,
    step: Step,
    /// In use, and registered.
    id: Option<Agreed>,
    /// Has talked before.
    again: bool,
}

/// A context id that is the same on all members of the collective context and in use by nothing else on any of them.
///
/// Errors: MPI_ERR_OTHER on all members when ids or memory for them are used up, or one of them makes something else or
/// nothing; what the collective context reports.
pub async fn allocate(coll: &CollContext<'_>, creation: Creation) -> Result<Agreed> {
    let proposal = Proposal::new(coll.function, creation);
    match proposal.id {
        Some(id) => Ok(id),
        None => proposal.finish(coll).await,
    }
}

impl Proposal {
    /// Takes the next number in the order of creations on the parent, and the id that is ready for it, if there is one.
    pub fn new(function: &'static str, creation: Creation) -> Proposal {
        let site = report::site();
        if let Some(give_back) = GIVE_BACK.get() {
            give_back();
        }
        let mut ids = IDS.lock();
        let settings = ids.settings();
        let (lease, space) = ids.lease(&creation);
        let number = lease.begin();
        let mut allocation = Allocation::new(&settings, creation.key(number), number);
        let step = allocation.step(space, lease);
        let engines = lease.engines;
        let id = agreed(&mut ids, &step, engines, site);
        Proposal {
            creation,
            function,
            site,
            allocation,
            step,
            id,
            again: false,
        }
    }

    /// The id, if it is there.
    pub fn id(&self) -> Option<Agreed> {
        self.id
    }

    /// Waits until this process has an offer to make, or needs none any more.
    pub async fn ready(&mut self, coll: &CollContext<'_>) {
        if self.step == Step::Wait {
            WAITING.fetch_add(1, Ordering::Relaxed);
            coll.until(|| {
                self.next();
                self.step != Step::Wait
            })
            .await;
            WAITING.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn next(&mut self) {
        let mut ids = IDS.lock();
        let (lease, space) = ids.lease(&self.creation);
        self.step = self.allocation.step(space, lease);
        let engines = lease.engines;
        if let Some(id) = agreed(&mut ids, &self.step, engines, self.site) {
            self.id = Some(id);
        }
    }

    /// What is to be combined with the offers of the other members, if this is the time for it. After that comes
    /// [`Proposal::settle`].
    pub fn offer(&mut self) -> Option<Vec<u32>> {
        let Step::Offer(words) = &mut self.step else {
            return None;
        };
        let mut words = std::mem::take(words);
        // Of these bits, too, the common ones stay.
        words.push((1 << mapping::own_offer()) - 1);
        words.extend(self.signature());
        Some(words)
    }

    /// Two words of which common bits stay: a number and its complement, or nothing.
    fn signature(&self) -> [u32; 2] {
        if self.creation.refused {
            return [0, 0];
        }
        let name = self.function.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        let number = name ^ self.creation.fingerprint();
        [number, !number]
    }

    /// Takes the combined offers.
    ///
    /// Errors: MPI_ERR_OTHER, on all members, when they do not all make the same.
    pub fn settle(&mut self, mut combined: Vec<u32>) -> Result<()> {
        let signature = combined.split_off(combined.len().saturating_sub(2));
        let engines = combined.pop().unwrap_or_default().count_ones();
        if self.creation.refused || signature != self.signature() {
            self.abandon();
            return Err(Error::new(
                Class::Other,
                "nothing was made: another rank has a wrong argument or another group, or has called another function",
            ));
        }
        {
            let mut ids = IDS.lock();
            ids.statistics.reductions += 1;
            ids.statistics.retries += u64::from(self.again);
            if self.again {
                let parent = u64::from(self.creation.parent);
                events::raise(Event::ContextIdRetry, || [parent, 0, 0, 0, 0]);
            }
            self.again = true;
            let (lease, space) = ids.lease(&self.creation);
            lease.engines = engines;
            self.allocation.settle(space, lease, &combined);
        }
        self.next();
        wake_others();
        Ok(())
    }

    /// Goes on until there is an id.
    pub async fn finish(mut self, coll: &CollContext<'_>) -> Result<Agreed> {
        loop {
            if let Some(id) = self.id {
                return Ok(id);
            }
            self.ready(coll).await;
            if self.id.is_some() {
                continue;
            }
            // What follows is known once the offers are combined.
            let Some(offer) = self.offer() else {
                return Err(exhausted(coll));
            };
            if coll.size() == 1 && self.again {
                // Nothing is waited for in what follows, but an allocation that goes first may be in a task of this process.
                coll.let_tasks_go_on().await;
            }
            match combine_on(coll, offer).await {
                Ok(combined) => self.settle(combined)?,
                Err(error) => {
                    self.abandon();
                    return Err(error);
                }
            }
        }
    }

    /// Ends it: all members do, at the same step.
    pub fn give_up(mut self) {
        self.withdraw();
    }

    /// Gives back the id or what is offered for one: nothing follows.
    pub fn withdraw(&mut self) {
        match self.id.take() {
            Some(id) => registry::release(id.context),
            None => self.abandon(),
        }
    }

    fn abandon(&mut self) {
        {
            let mut ids = IDS.lock();
            let (lease, space) = ids.lease(&self.creation);
            self.allocation.abandon(space, lease);
        }
        wake_others();
    }
}

/// What a step has come to, if it is the last one; the id is in use from now on.
fn agreed(ids: &mut Ids, step: &Step, engines: u32, site: u32) -> Option<Agreed> {
    let Step::Done(taken) = step else {
        return None;
    };
    Some(Agreed {
        context: ids.register(*taken, engines, site),
        engines,
    })
}

fn wake_others() {
    if WAITING.load(Ordering::Relaxed) > 0 {
        engine::wake_own_threads();
    }
}

/// Combines the offers of all members: up a tree and down again, straight on the collective context, because nothing is called
/// more often with several threads. A member that misses an offer hands on zeros, which are no signature, and in a word before them
/// which process it has lost: all members give up.
///
/// Errors: a process is lost, to this member or to another one; what the collective context reports.
async fn combine_on(coll: &CollContext<'_>, offer: Vec<u32>) -> Result<Vec<u32>> {
    if coll.lost != NOBODY {
        return Err(tell_all(coll, coll.lost));
    }
    let combined = combine_with_all(coll, offer).await;
    if let Err(error) = &combined
        && let Some(process) = error.lost()
    {
        // What was not waited for may still come.
        coll.note_lost(process);
    }
    combined
}

/// An earlier operation has lost a process, so messages to this member may be left of it: it receives none, and says so in place of its own.
#[cold]
fn tell_all(coll: &CollContext<'_>, process: u32) -> Error {
    let (rank, size) = (coll.rank(), coll.size());
    let mut distance = 1;
    while distance < size && rank & distance == 0 {
        if rank + distance < size {
            coll.tell_failed(rank + distance, process);
        }
        distance *= 2;
    }
    if rank > 0 {
        coll.tell_failed(rank - distance, process);
    }
    losses::explain(process)
}

/// See [`combine_on`].
async fn combine_with_all(coll: &CollContext<'_>, mut offer: Vec<u32>) -> Result<Vec<u32>> {
    let (rank, size) = (coll.rank(), coll.size());
    let strangers = coll.members.has_foreign();
    let mut lost = 0;
    let mut data = bytes(std::iter::repeat_n(0, 1 + offer.len()));
    let mut failure = None;
    // This rank has combined those of so many ranks from itself on.
    let mut distance = 1;
    while distance < size && rank & distance == 0 {
        if rank + distance < size {
            // Of a message that is too short, from who calls something else, nothing must be left but zeros.
            data.fill(0);
            let heard = coll.recv(Buffer::of_copy(&mut data), rank + distance).await;
            match heard {
                Ok(()) => {
                    let theirs = words(&data);
                    lost = lost.max(theirs[0]);
                    combine(&mut offer, &theirs[1..]);
                }
                Err(error) => {
                    lost = lost.max(losses::in_a_word(&error, strangers));
                    offer.fill(0);
                    failure.get_or_insert(error);
                }
            }
        }
        distance *= 2;
    }
    let mut data = bytes(std::iter::once(lost).chain(offer));
    if rank > 0 {
        let parent = rank - distance;
        let sent = coll.send(Buffer::of_copy(&mut data), parent).await;
        data.fill(0);
        let told = coll.recv(Buffer::of_copy(&mut data), parent).await;
        if let Err(error) = sent.and(told) {
            data.fill(0);
            let word = losses::in_a_word(&error, strangers);
            data[..4].copy_from_slice(&word.to_le_bytes());
            failure.get_or_insert(error);
        }
    }
    while distance > 1 {
        distance /= 2;
        if rank + distance < size {
            let sent = coll.send(Buffer::of_copy(&mut data), rank + distance).await;
            failure = failure.or(sent.err());
        }
    }
    let mut combined = words(&data);
    match failure.or(losses::of_a_word(combined.remove(0))) {
        Some(error) => Err(error),
        None => Ok(combined),
    }
}

fn exhausted(coll: &CollContext<'_>) -> Error {
    if SHOW.get().communicators {
        uncancelled(|| eprint!("{}", live_report("context ids have run out")));
    }
    Error::new(
        Class::Other,
        format!(
            "no context id is free on all {} ranks, {} communicators live here",
            coll.size(),
            statistics().live
        ),
    )
}
