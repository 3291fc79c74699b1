//! The thread of a process that answers ranks of other hosts, while the program computes.
//!
//! It runs as long as the process has a window over several hosts, and as it enters the first engine ([`ProgressThread`]) it makes progress for
//! all messages. Calls of one process are done in their order. Invariant: it waits for nobody: a call that is still
//! coming in, a lock that is not free, an answer that finds no room are left for a later turn.

use super::claims::{Claim, Step};
use super::wire::{self, ANSWERS, CALLS, Call, Kind};
use super::{Hosts, target};
use crate::comm;
use crate::datatype::Buffer;
use crate::engine::matching::{ANY_SOURCE, ANY_TAG, Key};
use crate::engine::progress_thread::ProgressThread;
use crate::engine::requests::{Index, Phase};
use crate::engine::send::Envelope;
use crate::engine::{self, enter_at};
use crate::error::{Class, Result, fail};
use crate::queue::posts::{Completions, Post};
use crate::rma::window::Window;
use crate::transport::rma::{Rma, opened};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};

const STACK_BYTES: usize = 512 << 10;
/// Calls that are taken in at once; the others stay with the engine, which makes their senders hold back.
const MOST: usize = 32;

/// Windows over several hosts, by key. The lock is held while a call is done, so a window is not freed meanwhile.
pub(super) type Windows = Mutex<Option<HashMap<u64, &'static Window>>>;

/// Those of this process.
static WINDOWS: Windows = Mutex::new(None);

static THREAD: Mutex<Option<ProgressThread>> = Mutex::new(None);

/// Lets ranks of other hosts reach a window.
///
/// Errors: MPI_ERR_OTHER, there is no thread to be had.
///
/// # Safety
/// Below MPI_THREAD_MULTIPLE this is the only thread of the program in the library; it has no guard.
pub unsafe fn enter(hosts: &Hosts, window: &'static Window) -> Result<()> {
    let mut thread = THREAD.lock();
    WINDOWS
        .lock()
        .get_or_insert_default()
        .insert(hosts.key, window);
    if thread.is_some() {
        return Ok(());
    }
    let mut service = Service::of(&WINDOWS);
    // SAFETY: by the caller; `THREAD` is locked, and has the only one.
    match unsafe {
        ProgressThread::start("oxmpi-hosts", STACK_BYTES, move |asks| service.look(asks))
    } {
        Ok(new) => *thread = Some(new),
        Err(why) => {
            drop(thread);
            // SAFETY: by the caller.
            unsafe { leave(hosts) };
            return fail!(
                Class::Other,
                "no thread can be started for windows over several hosts: {why}"
            );
        }
    }
    Ok(())
}

/// Ends that; to be called when no rank needs the window any more. The thread ends with the last window.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn leave(hosts: &Hosts) {
    let mut thread = THREAD.lock();
    let is_last = {
        let mut windows = WINDOWS.lock();
        let windows = windows.get_or_insert_default();
        windows.remove(&hosts.key);
        windows.is_empty()
    };
    if let Some(thread) = thread.take_if(|_| is_last) {
        // SAFETY: by the caller.
        unsafe { thread.end() };
    }
}

/// Ends the thread, also if there are windows that the program has not freed.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn stop() {
    if let Some(thread) = THREAD.lock().take() {
        // SAFETY: by the caller.
        unsafe { thread.end() };
    }
}

/// A call that is coming in.
struct Arrival {
    receive: Index,
    process: i32,
    bytes: Box<[u8]>,
    /// It is here, or will never be.
    over: Option<bool>,
}

/// What the thread knows.
pub(super) struct Service {
    windows: &'static Windows,
    arrivals: VecDeque<Arrival>,
    /// Locks that ranks of other hosts want or hold.
    claims: Vec<Claim>,
}

impl Service {
    pub(super) fn of(windows: &'static Windows) -> Service {
        Service {
            windows,
            arrivals: VecDeque::new(),
            claims: Vec::new(),
        }
    }

    /// A turn of the thread. `asks`: whether processes are lost. True if anything happened.
    pub(super) fn look(&mut self, asks: bool) -> bool {
        let mut moved = self.receive(asks);
        moved |= self.answer_calls();
        moved |= self.grant(asks);
        // For operations of others on windows of this process.
        moved | opened().is_some_and(Rma::poll)
    }

    /// The ranks whose claims it has, and how many calls it has taken in and not done.
    #[cfg(test)]
    pub(super) fn left(&self) -> (Vec<usize>, usize) {
        let claims = self.claims.iter().map(|claim| claim.rank);
        (claims.collect(), self.arrivals.len())
    }

    /// Takes in what has come. True if anything happened.
    fn receive(&mut self, asks: bool) -> bool {
        let any = Key {
            context: CALLS,
            source: ANY_SOURCE,
            tag: ANY_TAG,
        };
        let mut engine = enter_at(0);
        if asks {
            engine.give_up_unowned();
        }
        let mut moved = engine.look();
        while self.arrivals.len() < MOST
            && let Some((message, status)) = engine.probe_matched(any, comm::NULL)
        {
            let mut bytes = vec![0; status.bytes() as usize].into_boxed_slice();
            // SAFETY: the bytes are kept until the receive is over.
            let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
            let receive = engine.receive_matched(message, comm::NULL, buffer);
            self.arrivals.push_back(Arrival {
                receive,
                process: status.source,
                bytes,
                over: None,
            });
            moved = true;
        }
        for arrival in self.arrivals.iter_mut().filter(|it| it.over.is_none()) {
            let request = engine.requests().at(arrival.receive);
            if request.phase == Phase::Complete {
                arrival.over = Some(request.error.is_none());
                engine.requests().release(arrival.receive);
                moved = true;
            }
        }
        moved
    }

    /// Does the calls that are here, but those behind another one of their process that is not. True if there was one.
    fn answer_calls(&mut self) -> bool {
        let mut moved = false;
        let mut at = 0;
        while at < self.arrivals.len() {
            let process = self.arrivals[at].process;
            let mut before = self.arrivals.range(..at);
            if self.arrivals[at].over.is_none() || before.any(|it| it.process == process) {
                at += 1;
                continue;
            }
            let Some(arrival) = self.arrivals.remove(at) else {
                break;
            };
            moved = true;
            if arrival.over == Some(true) {
                self.take(arrival.process as u32, &arrival.bytes);
            }
        }
        moved
    }

    /// Does a call.
    fn take(&mut self, process: u32, bytes: &[u8]) {
        let Some(call) = Call::decode(bytes) else {
            panic!("process {process} sent a call of a window that cannot be read");
        };
        let head = call.head;
        let windows = self.windows.lock();
        let window = windows.as_ref().and_then(|all| all.get(&head.key)).copied();
        // What has no answer may come behind the end of its window: nobody waits for it any more.
        let window = match (window, head.kind) {
            (Some(window), _) if (head.rank as usize) < window.size() => window,
            (_, Kind::UnlockExclusive | Kind::UnlockShared) => return,
            (_, Kind::Post | Kind::Complete) => return,
            _ => {
                drop(windows);
                let error = fail!(Class::Win, "the target has freed the window");
                return send(process, head.token, error);
            }
        };
        let rank = head.rank as usize;
        match head.kind {
            Kind::LockExclusive | Kind::LockShared => {
                let exclusive = head.kind == Kind::LockExclusive;
                let claim = Claim::begin(window, head.key, rank, exclusive, head.token);
                self.claims.push(claim);
                drop(windows);
                self.grant(false);
            }
            Kind::UnlockExclusive | Kind::UnlockShared => {
                let exclusive = head.kind == Kind::UnlockExclusive;
                let is_it = |it: &Claim| {
                    (it.key, it.rank, it.exclusive) == (head.key, rank, exclusive) && it.is_held()
                };
                if let Some(at) = self.claims.iter().position(is_it) {
                    self.claims.swap_remove(at).end(window);
                }
            }
            Kind::Post => {
                Post::of(window.block.posts(window.rank), rank).tell();
                engine::wake_own_threads();
            }
            Kind::Complete => {
                Completions(&window.block.target(window.rank).completed).add();
                engine::wake_own_threads();
            }
            _ => {
                let done = target::apply(window, &call);
                drop(windows);
                send(process, head.token, done);
            }
        }
    }

    /// Looks at the locks that are wanted, and if `asks` whether those are lost that have them. True if there was a change.
    fn grant(&mut self, asks: bool) -> bool {
        let windows = self.windows.lock();
        let mut answers = Vec::new();
        self.claims.retain_mut(|claim| {
            let Some(window) = windows.as_ref().and_then(|all| all.get(&claim.key)) else {
                return false;
            };
            if claim.is_held() && claim.token < 0 {
                return true;
            }
            match claim.step(window, asks) {
                Step::Waits => true,
                Step::Granted => {
                    answers.push((claim.process, claim.token, Ok(wire::room(0))));
                    // Answered.
                    claim.token = -1;
                    true
                }
                Step::Failed(error) => {
                    answers.push((claim.process, claim.token, Err(error)));
                    false
                }
            }
        });
        drop(windows);
        let moved = !answers.is_empty();
        for (process, token, result) in answers {
            send(process, token, result);
        }
        moved
    }
}

/// Sends an answer.
fn send(process: u32, token: i32, result: Result<Vec<u8>>) {
    let bytes = wire::answer(result).into_boxed_slice();
    let mut engine = enter_at(0);
    let envelope = Envelope {
        process,
        context: ANSWERS,
        source: engine.me() as i32,
        tag: token,
        peer: process as i32,
        communicator: comm::NULL,
    };
    engine.send_owned(&envelope, bytes);
}
