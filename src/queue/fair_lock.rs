//! A lock with shared and exclusive holders, in memory that processes share; fair to both kinds.
//!
//! ```text
//! exclusive   ticket := next++; wait for serving == ticket; if shared: wait until no rank's bit is set   end: serving := ticket + 1
//! shared      shared := 1; set the own bit; free if serving == next                                 end: clear the bit
//!             else clear the bit; ticket := next++; wait for serving == ticket; set the bit; serving := ticket + 1
//! ```
//!
//! Tickets are served in order. A shared locker sets its bit and then looks at the tickets, an exclusive one takes a ticket and then
//! looks at the bits, each with a full fence in between: one of them sees the other. A lock that nobody has ever shared has no bits to look
//! at, of however many ranks: `shared` is never taken back. Invariant: what a waiter waits for is changed
//! before a full fence, after which the waiter is looked for; a waiter that goes to sleep has named itself in the queue, and looks
//! once more after a full fence of its own (models below, for loom). A waiter that gives up says so in the queue, and its ticket is
//! passed over by whoever finds it served, or by itself: it lives, so nobody would be told an error instead.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence_after_update};

/// The words of a lock. Zeros are a free one.
#[derive(Clone, Copy)]
pub struct Lock<'a> {
    /// The next ticket. Tickets count modulo 2^32.
    pub next: &'a AtomicU32,
    /// The ticket whose owner may proceed.
    pub serving: &'a AtomicU32,
    /// Not zero when some rank has shared the lock, or is about to.
    pub shared: &'a AtomicU32,
    /// For each ticket modulo the length, a power of two: the name of its owner, see [`Lock::name`].
    pub queue: &'a [AtomicU32],
}

/// Bits of a name that say which process it is, and one more. The others are of the number of the ticket's lap: a slow owner may name
/// itself where one of a later lap already has.
const PROCESS_BITS: u32 = 20;
const PROCESSES: u32 = 1 << PROCESS_BITS;
/// In place of the process: the owner has given up.
const ABANDONED: u32 = PROCESSES - 1;

/// A process to be woken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whom {
    Nobody,
    Process(u32),
    /// It cannot be told which: more wait than the queue has room for.
    Anybody,
}

/// What a locker waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// That this ticket is served.
    Turn(u32),
    /// That this rank gives up its shared lock.
    Sharer(usize),
}

/// Bits of a word that say which locks a rank shares.
#[derive(Clone, Copy)]
pub struct Bits<'a> {
    word: &'a AtomicU64,
    mask: u64,
}

impl<'a> Bits<'a> {
    #[inline(always)]
    pub fn new(word: &'a AtomicU64, mask: u64) -> Self {
        Self { word, mask }
    }

    /// Sets them, before a full fence.
    #[inline(always)]
    pub fn set(&self) {
        self.word.fetch_or(self.mask, Ordering::SeqCst);
        fence_after_update();
    }

    /// Clears them, before a full fence. What was accessed under the locks comes before.
    #[inline(always)]
    pub fn clear(&self) {
        self.word.fetch_and(!self.mask, Ordering::SeqCst);
        fence_after_update();
    }

    /// Whether any is set.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.word.load(Ordering::Acquire) & self.mask != 0 // pairs with `clear`
    }
}

/// A locker, and what is around it.
pub trait Locker {
    type Failure;
    /// The process to be woken when this locker's ticket is served.
    fn process(&self) -> u32;
    fn ranks(&self) -> usize;
    /// The bit of this lock of a rank.
    fn bit(&self, rank: usize) -> Bits<'_>;
    /// The locker's own.
    fn own_bit(&self) -> Bits<'_>;
    /// Returns when `holds`, which may be asked at any time.
    ///
    /// Errors: it never will.
    fn wait(&self, awaited: Awaited, holds: &mut dyn FnMut() -> bool) -> Result<(), Self::Failure>;
    /// Wakes a waiter, after a full fence.
    fn wake(&self, whom: Whom);
}

impl Lock<'_> {
    /// Takes the next ticket, before a full fence.
    #[inline(always)]
    pub fn take_ticket(&self, process: u32) -> u32 {
        let ticket = self.next.fetch_add(1, Ordering::SeqCst);
        fence_after_update();
        // One that has no room has no name.
        let own = if process < ABANDONED - 1 {
            process + 1
        } else {
            0
        };
        let name = self.name(ticket) | own;
        self.place(ticket).store(name, Ordering::Relaxed);
        ticket
    }

    /// What the names of a ticket's owners have in common. With 65,536 lockers at once a lap's number comes again, and a wake-up may
    /// go to another one.
    #[inline(always)]
    fn name(&self, ticket: u32) -> u32 {
        (ticket / self.queue.len() as u32).wrapping_mul(PROCESSES)
    }

    #[inline(always)]
    fn place(&self, ticket: u32) -> &AtomicU32 {
        &self.queue[ticket as usize & (self.queue.len() - 1)]
    }

    /// Whether it is the turn of this ticket.
    #[inline(always)]
    pub fn is_served(&self, ticket: u32) -> bool {
        self.serving.load(Ordering::Acquire) == ticket // pairs with `pass`
    }

    /// To be called before the own bit is set.
    #[inline(always)]
    pub fn will_be_shared(&self) {
        // Acquire and the fence of `Bits::set`: whoever takes a ticket after this one has looked sees it, too.
        if self.shared.load(Ordering::Acquire) == 0 {
            self.shared.swap(1, Ordering::SeqCst);
        }
    }

    /// Whether there is no owner of a ticket; to be asked when the own bit is set.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        self.is_served(next)
    }

    /// Ends the turn of the ticket that is served. Returns whose turn it is now.
    #[inline(always)]
    pub fn pass(&self, ticket: u32) -> Whom {
        self.serving.swap(ticket.wrapping_add(1), Ordering::SeqCst);
        fence_after_update();
        match self.turn() {
            None => Whom::Nobody,
            Some(_) => self.pass_over_the_abandoned(),
        }
    }

    /// Gives up a ticket that may not be served yet. Returns whose turn it is now. Where more wait than the queue has room for, the next owner of
    /// the place may hide it.
    #[cold]
    pub fn abandon(&self, ticket: u32) -> Whom {
        let name = self.name(ticket) | ABANDONED;
        self.place(ticket).swap(name, Ordering::SeqCst);
        // Whoever passes the turn to this ticket sees that, or this one sees the turn.
        fence_after_update();
        let (after, order) = (ticket.wrapping_add(1), Ordering::SeqCst);
        let _ = self.serving.compare_exchange(ticket, after, order, order);
        fence_after_update();
        self.pass_over_the_abandoned()
    }

    /// Ends the turns of tickets whose owners have given up. Returns whose turn it is then.
    #[cold]
    fn pass_over_the_abandoned(&self) -> Whom {
        loop {
            let Some(serving) = self.turn() else {
                return Whom::Nobody;
            };
            let name = self.place(serving).load(Ordering::Acquire);
            if name != self.name(serving) | ABANDONED {
                return self.owner(serving);
            }
            let (after, order) = (serving.wrapping_add(1), Ordering::SeqCst);
            // Another one may do so at the same time.
            let _ = self.serving.compare_exchange(serving, after, order, order);
            fence_after_update();
        }
    }

    /// Whose turn it is.
    #[inline(always)]
    pub fn served(&self) -> Whom {
        self.turn()
            .map_or(Whom::Nobody, |ticket| self.owner(ticket))
    }

    /// The ticket that is served, if it was taken.
    #[inline(always)]
    fn turn(&self) -> Option<u32> {
        let serving = self.serving.load(Ordering::SeqCst);
        (self.next.load(Ordering::Relaxed) != serving).then_some(serving)
    }

    /// The process with a ticket that was taken.
    ///
    /// Where the queue says nothing of it, the owner of a ticket of another lap is there; or the owner has yet to name itself, and looks at
    /// the lock after that; or its number is too large for a name.
    #[cold]
    fn owner(&self, ticket: u32) -> Whom {
        let name = self.place(ticket).load(Ordering::Relaxed);
        match name.wrapping_sub(self.name(ticket)).checked_sub(1) {
            Some(process) if process < ABANDONED - 1 => Whom::Process(process),
            _ => Whom::Anybody,
        }
    }

    /// A rank that shares the lock, if any; for the owner of the ticket that is served.
    pub fn sharer<L: Locker>(&self, me: &L) -> Option<usize> {
        let ranks = match self.shared.load(Ordering::Acquire) {
            0 => 0,
            _ => me.ranks(),
        };
        (0..ranks).find(|rank| me.bit(*rank).any())
    }

    /// Takes the lock for this locker alone.
    ///
    /// Errors: a wait has failed.
    #[inline(always)]
    pub fn lock<L: Locker>(&self, me: &L) -> Result<(), L::Failure> {
        let ticket = self.take_ticket(me.process());
        if !self.is_served(ticket) {
            self.wait_for_turn(me, ticket)?;
        }
        let ranks = match self.shared.load(Ordering::Acquire) {
            0 => 0,
            _ => me.ranks(),
        };
        for rank in 0..ranks {
            let bit = me.bit(rank);
            if bit.any()
                && let Err(failure) = me.wait(Awaited::Sharer(rank), &mut || !bit.any())
            {
                me.wake(self.pass(ticket));
                return Err(failure);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn wait_for_turn<L: Locker>(&self, me: &L, ticket: u32) -> Result<(), L::Failure> {
        let waited = me.wait(Awaited::Turn(ticket), &mut || self.is_served(ticket));
        if waited.is_err() {
            me.wake(self.abandon(ticket));
        }
        waited
    }

    /// Gives up what [`Self::lock`] took.
    #[inline(always)]
    pub fn unlock<L: Locker>(&self, me: &L) {
        // The ticket that is served is the holder's.
        me.wake(self.pass(self.serving.load(Ordering::Relaxed)));
    }

    /// Takes the lock with others that share it.
    ///
    /// Errors: a wait has failed.
    #[inline(always)]
    pub fn share<L: Locker>(&self, me: &L) -> Result<(), L::Failure> {
        self.will_be_shared();
        me.own_bit().set();
        match self.is_free() {
            true => Ok(()),
            false => self.share_in_turn(me),
        }
    }

    /// The rest of [`Self::share`], where the bit was set in vain.
    #[cold]
    pub fn share_in_turn<L: Locker>(&self, me: &L) -> Result<(), L::Failure> {
        self.unshare(me);
        let ticket = self.take_ticket(me.process());
        self.wait_for_turn(me, ticket)?;
        me.own_bit().set();
        me.wake(self.pass(ticket));
        Ok(())
    }

    /// Gives up what [`Self::share`] took.
    #[inline(always)]
    pub fn unshare<L: Locker>(&self, me: &L) {
        me.own_bit().clear();
        me.wake(self.served());
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::queue::models::Sleepers;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 2;

    struct Shared {
        next: AtomicU32,
        serving: AtomicU32,
        shared: AtomicU32,
        queue: Vec<AtomicU32>,
        bits: Vec<AtomicU64>,
        sleepers: Sleepers,
        data: UnsafeCell<u32>,
    }

    // SAFETY: that `data` is accessed as the lock allows is what the models check.
    #[allow(unsafe_code)]
    unsafe impl Sync for Shared {}

    /// A rank of the model.
    struct Rank<'a>(&'a Shared, usize);

    impl Locker for Rank<'_> {
        type Failure = ();

        fn process(&self) -> u32 {
            self.1 as u32
        }

        fn ranks(&self) -> usize {
            self.0.bits.len()
        }

        fn bit(&self, rank: usize) -> Bits<'_> {
            Bits::new(&self.0.bits[rank], 1)
        }

        fn own_bit(&self) -> Bits<'_> {
            self.bit(self.1)
        }

        fn wait(&self, _: Awaited, holds: &mut dyn FnMut() -> bool) -> Result<(), ()> {
            self.0.sleepers.wait(self.1, || holds().then_some(()));
            Ok(())
        }

        fn wake(&self, whom: Whom) {
            match whom {
                Whom::Nobody => {}
                Whom::Process(process) => self.0.sleepers.wake(process as usize),
                Whom::Anybody => self.0.sleepers.wake_all(),
            }
        }
    }

    impl Rank<'_> {
        fn lock(&self) -> Lock<'_> {
            Lock {
                next: &self.0.next,
                serving: &self.0.serving,
                shared: &self.0.shared,
                queue: &self.0.queue,
            }
        }

        fn adds(&self) {
            self.lock().lock(self).unwrap();
            #[allow(unsafe_code)]
            // SAFETY: as above; loom reports accesses at the same time.
            self.0.data.with_mut(|data| unsafe { *data += 1 });
            self.lock().unlock(self);
        }

        fn reads(&self) -> u32 {
            self.lock().share(self).unwrap();
            #[allow(unsafe_code)]
            // SAFETY: as above.
            let seen = self.0.data.with(|data| unsafe { *data });
            self.lock().unshare(self);
            seen
        }
    }

    /// Runs what each rank does; `places` is the length of the queue.
    fn explore(ranks: &'static [fn(&Rank<'_>)], places: usize, sleeps: bool) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(CHANGES);
        builder.check(move || {
            let shared = Arc::new(Shared {
                next: AtomicU32::new(u32::MAX),
                serving: AtomicU32::new(u32::MAX),
                shared: AtomicU32::new(0),
                queue: (0..places).map(|_| AtomicU32::new(0)).collect(),
                bits: ranks.iter().map(|_| AtomicU64::new(0)).collect(),
                sleepers: Sleepers::new(ranks.len(), sleeps),
                data: UnsafeCell::new(0),
            });
            let threads: Vec<_> = (1..ranks.len())
                .map(|rank| {
                    let shared = shared.clone();
                    thread::spawn(move || ranks[rank](&Rank(&shared, rank)))
                })
                .collect();
            ranks[0](&Rank(&shared, 0));
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(Rank(&shared, 0).lock().is_free());
        });
    }

    fn adds(rank: &Rank<'_>) {
        rank.adds();
    }

    /// Takes a ticket and gives it up, whether it is served by then or not.
    fn gives_up(rank: &Rank<'_>) {
        let ticket = rank.lock().take_ticket(rank.process());
        rank.wake(rank.lock().abandon(ticket));
    }

    fn reads(rank: &Rank<'_>) {
        assert!(rank.reads() < 4);
    }

    fn adds_and_reads(rank: &Rank<'_>) {
        rank.adds();
        assert!(rank.reads() >= 1);
    }

    fn reads_and_adds(rank: &Rank<'_>) {
        let seen = rank.reads();
        rank.adds();
        assert!(seen < 4);
    }

    #[test]
    fn an_exclusive_holder_is_alone() {
        explore(&[adds_and_reads, reads_and_adds], 2, false);
    }

    #[test]
    fn three_ranks_of_both_kinds() {
        explore(&[adds, reads, adds], 2, true);
        explore(&[reads, adds, reads], 2, true);
    }

    #[test]
    fn a_sleeping_locker_is_woken() {
        explore(&[adds, adds], 2, true);
        explore(&[adds, reads], 2, true);
        explore(&[adds_and_reads, reads], 2, true);
    }

    #[test]
    fn a_ticket_that_is_given_up_holds_nobody_up() {
        explore(&[adds, gives_up], 4, true);
        explore(&[gives_up, gives_up, adds], 4, true);
        explore(&[adds, gives_up, reads], 4, true);
        explore(&[adds, gives_up, adds], 4, true);
    }

    /// The queue has one place, so that one names itself where another one stood.
    #[test]
    fn sleepers_without_a_place_are_woken() {
        explore(&[adds, adds, adds], 1, true);
        explore(&[adds, reads, adds], 1, true);
    }
}
