//! Locks of the own memory that ranks of other hosts want or hold.
//!
//! The thread takes them for those ranks, with tickets and bits of the window's block, so that they queue fairly with the ranks of this host. It
//! never waits: a claim that is not granted is looked at again when the thread is woken. Invariant: a lock is given up by
//! its owner only; where that is lost, it stays taken and others get an error, as on one host.

use crate::engine::{self, losses};
use crate::queue::fair_lock::{Awaited, Bits, Locker, Whom};
use crate::rma::window::Window;

/// How far a claim has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Waits for its turn.
    Ticket(u32),
    /// It is its turn, and some still share the lock.
    Sharers(u32),
    Held,
}

/// A lock that a rank of another host wants or holds.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub key: u64,
    /// The rank, and its process.
    pub rank: usize,
    pub process: u32,
    pub exclusive: bool,
    /// The tag of the answer.
    pub token: i32,
    state: State,
}

/// What has become of a claim.
pub enum Step {
    Waits,
    Granted,
    Failed(crate::error::Error),
}

/// A rank of another host at the own lock.
struct Proxy<'a> {
    window: &'a Window,
    rank: usize,
}

impl Locker for Proxy<'_> {
    type Failure = std::convert::Infallible;

    /// That of the rank, which is asked for where somebody waits for it. This one is woken in its place.
    fn process(&self) -> u32 {
        self.window.targets[self.rank].process
    }

    fn ranks(&self) -> usize {
        self.window.size()
    }

    fn bit(&self, rank: usize) -> Bits<'_> {
        let own = self.window.rank;
        let words = self.window.block.shared_locks(rank);
        Bits::new(&words[own / 64], 1 << (own % 64))
    }

    fn own_bit(&self) -> Bits<'_> {
        self.bit(self.rank)
    }

    fn wait(&self, _: Awaited, _: &mut dyn FnMut() -> bool) -> Result<(), Self::Failure> {
        unreachable!("the thread of a window over several hosts does not wait for locks")
    }

    fn wake(&self, whom: Whom) {
        self.window.wake_whom(whom, self.window.rank);
    }
}

impl Claim {
    /// Asks for a lock; [`Claim::step`] says whether it is held.
    pub fn begin(window: &Window, key: u64, rank: usize, exclusive: bool, token: i32) -> Claim {
        let lock = window.block.target(window.rank).lock();
        let proxy = Proxy { window, rank };
        let mut state = State::Held;
        if !exclusive {
            lock.will_be_shared();
            proxy.own_bit().set();
        }
        if exclusive || !lock.is_free() {
            if !exclusive {
                lock.unshare(&proxy);
            }
            state = State::Ticket(lock.take_ticket(proxy.process()));
        }
        Claim {
            key,
            rank,
            process: window.targets[rank].process,
            exclusive,
            token,
            state,
        }
    }

    /// Goes on as far as it can. `asks`: asks whether those are lost that it waits for.
    pub fn step(&mut self, window: &Window, asks: bool) -> Step {
        let lock = window.block.target(window.rank).lock();
        let rank = self.rank;
        let proxy = Proxy { window, rank };
        if let State::Ticket(ticket) = self.state {
            if !lock.is_served(ticket) {
                return match asks.then(|| missing(window, lock.served())).flatten() {
                    Some(holder) => {
                        proxy.wake(lock.abandon(ticket));
                        failed(window, holder)
                    }
                    None => Step::Waits,
                };
            }
            self.state = State::Sharers(ticket);
        }
        if let State::Sharers(ticket) = self.state {
            if !self.exclusive {
                proxy.own_bit().set();
                proxy.wake(lock.pass(ticket));
            } else if let Some(sharer) = lock.sharer(&proxy) {
                let process = window.targets[sharer].process;
                if asks && losses::loss(process).is_some() {
                    proxy.wake(lock.pass(ticket));
                    return failed(window, process);
                }
                return Step::Waits;
            }
            self.state = State::Held;
        }
        Step::Granted
    }

    /// Gives up a lock that is held.
    pub fn end(&self, window: &Window) {
        let lock = window.block.target(window.rank).lock();
        let rank = self.rank;
        let proxy = Proxy { window, rank };
        match self.exclusive {
            true => lock.unlock(&proxy),
            false => lock.unshare(&proxy),
        }
    }

    pub fn is_held(&self) -> bool {
        self.state == State::Held
    }
}

/// A lost process that keeps a claim from being served, if any.
#[cold]
fn missing(window: &Window, served: Whom) -> Option<u32> {
    match served {
        Whom::Process(process) => losses::loss(process).map(|_| process),
        // One of them may be served.
        _ => {
            let mut all = window.targets.iter().map(|it| it.process);
            all.find(|process| engine::has_died(*process))
        }
    }
}

#[cold]
fn failed(window: &Window, holder: u32) -> Step {
    let error = losses::explain(holder).context(format_args!(
        "the lock of target rank {} of {} will not become free: rank {} of the window has it",
        window.rank,
        window.title(),
        window.rank_of(holder)
    ));
    Step::Failed(error)
}
