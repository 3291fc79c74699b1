//! A rank dies in the middle of what the ranks do.
//!
//! Invariant: what it has sent is received, but for messages whose data was still its own: a receive of those, and of what it never sent, ends
//! with an error that names it, now or some time later. Sends to it that wait end in this way, too. A rank that has given up receives
//! nothing more: so do sends to such a rank, but only when no rank can go on otherwise.

use super::super::context::{CollContext, WaitMode};
use super::{Index, Message, Sent, State, World, contents, lost};
use crate::comm::Members;
use crate::sync::keep::keep;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Lets a send that waits go on by itself. False: it is not in this queue.
fn leave(queue: &mut VecDeque<Message>, request: usize) -> bool {
    let waits = |sent: &Sent| matches!(sent, Sent::Waits(send, _) if *send == request);
    let Some((sent, _)) = queue.iter_mut().find(|(sent, _)| waits(sent)) else {
        return false;
    };
    if let Sent::Waits(_, buffer) = sent {
        *sent = Sent::Copy(contents(buffer));
    }
    true
}

impl State {
    /// Ends a request with an error if it needs the dead; not always at once.
    pub(super) fn look_for_the_dead(&mut self, request: usize) {
        let Some(dead) = self.dead else {
            return;
        };
        if self.done[request].is_some() || self.random(3) == 0 {
            return;
        }
        let receives = self.posted.iter_mut().filter(|(pair, _)| pair.0 == dead);
        let receive = receives.map(|(_, queue)| queue).find_map(|queue| {
            let at = queue.iter().position(|(posted, _)| *posted == request)?;
            queue.remove(at)
        });
        let patient = !self.patience_is_over;
        let mut sends = self.sent.iter_mut();
        let is_send =
            sends.any(|(pair, queue)| (pair.1 == dead || !patient) && leave(queue, request));
        if receive.is_some() || is_send {
            self.done[request] = Some(Err(lost(dead as u32)));
            self.moves += 1;
        }
    }

    fn lose(&mut self, dead: i32) {
        self.dead = Some(dead);
        let sent = self.sent.iter_mut().filter(|(pair, _)| pair.0 == dead);
        for (message, _) in sent.flat_map(|(_, queue)| queue) {
            if let Sent::Waits(..) = message {
                *message = Sent::Failed(dead as u32);
            }
        }
        let posted = self.posted.iter_mut().filter(|(pair, _)| pair.1 == dead);
        posted.for_each(|(_, queue)| queue.clear());
        self.moves += 1;
    }
}

impl World {
    pub fn send_failed(&self, from: i32, to: i32, process: u32) {
        let mut state = self.state.lock();
        let queue = state.sent.entry((from, to)).or_default();
        queue.push_back((Sent::Failed(process), None));
        state.meet((from, to));
    }

    /// Nobody waits for a request any more.
    pub fn withdraw(&self, index: Index) {
        let (mut state, request) = (self.state.lock(), index as usize);
        state.done[request] = Some(Ok(()));
        for queue in state.posted.values_mut() {
            queue.retain(|(posted, _)| *posted != request);
        }
        let mut sends = state.sent.values_mut();
        sends.any(|queue| leave(queue, request));
    }
}

/// Runs `body` on so many ranks, of which `victim` dies when it has been polled so often, or at its end. What the bodies return, by rank. Panics
/// if none can go on. Messages may be left over.
pub fn run_losing<T, F>(
    seed: u64,
    ranks: usize,
    (victim, polls): (usize, u64),
    body: impl Fn(CollContext<'static>) -> F,
) -> Vec<Option<T>>
where
    F: Future<Output = T>,
{
    let world = keep(World {
        state: Mutex::new(State {
            random: seed,
            ..State::default()
        }),
    });
    let members = keep(Members::All(ranks as u32));
    let mut running: Vec<(usize, Pin<Box<F>>)> = (0..ranks)
        .map(|rank| {
            let coll = CollContext::between(members, rank as i32, 0, "a test");
            let wait = WaitMode::Simulated(world);
            (rank, Box::pin(body(CollContext { wait, ..coll })))
        })
        .collect();
    let mut results: Vec<Option<T>> = (0..ranks).map(|_| None).collect();
    let mut context = Context::from_waker(Waker::noop());
    let (mut polled, mut idle, limit) = (0, 0, 80 * ranks + 400);
    while !running.is_empty() {
        let before = world.state.lock().moves;
        let turn = world.state.lock().random(running.len() as u64) as usize;
        let rank = running[turn].0;
        let step = running[turn].1.as_mut().poll(&mut context);
        polled += u64::from(rank == victim);
        let dies = rank == victim && polled == polls;
        if dies || step.is_ready() {
            // First of all: the data of its messages goes with it.
            if rank == victim {
                world.state.lock().lose(victim as i32);
            }
            running.swap_remove(turn);
        }
        if let Poll::Ready(result) = step {
            results[rank] = Some(result);
        }
        if dies || results[rank].is_some() || world.state.lock().moves > before {
            idle = 0;
        }
        idle += 1;
        world.state.lock().patience_is_over = idle > limit / 2;
        let waiting: Vec<usize> = running.iter().map(|(rank, _)| *rank).collect();
        assert!(
            idle < limit,
            "ranks {waiting:?} of {ranks} wait for ever, seed {seed}; rank {victim} is dead"
        );
    }
    results
}
