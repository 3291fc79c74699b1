//! Partitioned communication (MPI 5.0, section 4.2): one message whose parts are sent as they become ready.
//!
//! MPI_Psend_init tells the receiver its *plan*, in a message that is matched by rank and the program's tag in the order of such
//! calls: so many parts of so many bytes, and the *tag base*, the first of as many tags. Each partition of the sender is then a
//! message of its own, received where it belongs whatever the partitions of the receiver are. Plans and parts have the context of
//! collective operations and sources that no such operation has: nothing else matches them. Invariant: the lock of an operation
//! is taken before the guard, never within it.

mod receiver;
mod sender;

use super::PROC_NULL;
use crate::comm::{COLLECTIVE, Comm};
use crate::datatype::{Buffer, Status};
use crate::engine::losses::{self, REVOKED};
use crate::engine::matching::Key;
use crate::engine::requests::{self, Extra, Index, Kind, Mode, Phase, Request, Restart};
use crate::engine::send::Envelope;
use crate::engine::wait::poll;
use crate::engine::{Engine, enter, tasks};
use crate::error::{Class, Error, Result, fail, memory};
use crate::sync::{AtomicU32, Ordering};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// The sources of plans and of parts, above which ranks are counted.
const PLANS: i32 = i32::MIN;
const PARTS: i32 = i32::MIN / 2;

/// The next tag base, modulo 2^31: one that is still in use has been passed only after so many partitions.
static TAG_BASES: AtomicU32 = AtomicU32::new(0);

/// What the sender tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    tag_base: u32,
    parts: u32,
    /// Bytes of each part.
    bytes: u64,
}

const PLAN_BYTES: usize = 16;

impl Plan {
    fn encode(self) -> [u8; PLAN_BYTES] {
        let mut words = [0; PLAN_BYTES];
        words[..4].copy_from_slice(&self.tag_base.to_ne_bytes());
        words[4..8].copy_from_slice(&self.parts.to_ne_bytes());
        words[8..].copy_from_slice(&self.bytes.to_ne_bytes());
        words
    }

    fn decode(words: &[u8]) -> Plan {
        let number = |at: usize| {
            let word = words.get(at..at + 4).and_then(|word| word.try_into().ok());
            u32::from_ne_bytes(word.unwrap_or_default())
        };
        let bytes = words.get(8..16).and_then(|word| word.try_into().ok());
        Plan {
            tag_base: number(0),
            parts: number(4),
            bytes: u64::from_ne_bytes(bytes.unwrap_or_default()),
        }
    }

    fn tag(&self, part: usize) -> i32 {
        (self.tag_base.wrapping_add(part as u32) & i32::MAX as u32) as i32
    }

    /// The parts in which one of so many partitions of `each` bytes lies.
    fn parts_of(&self, partition: usize, partitions: usize, each: usize) -> Range<usize> {
        let (parts, bytes) = (self.parts as usize, self.bytes as usize);
        let (from, to) = (partition * each, (partition + 1) * each);
        if from == to || bytes == 0 {
            // Nothing comes; it does not before what was before it.
            return partition * parts / partitions..((partition + 1) * parts).div_ceil(partitions);
        }
        (from / bytes).min(parts)..to.div_ceil(bytes).min(parts)
    }
}

/// One part on its way to the receiver.
enum Incoming {
    /// Its request; and, if the data cannot be received in place, temporary memory and where it belongs in the buffer.
    Pending(Index, Option<(Box<[u8]>, usize)>),
    Arrived,
}

enum Side {
    Sender {
        plan: Plan,
        ready: Vec<bool>,
        /// Parts that are not ready yet.
        left: usize,
        /// Sends that are not known to be done.
        pending: Vec<Index>,
    },
    Receiver {
        /// The receive of the plan.
        expected: Option<(Index, Box<[u8]>)>,
        plan: Option<Plan>,
        parts: Vec<Incoming>,
        /// All before this one have arrived.
        arrived: usize,
    },
}

struct State {
    /// Between MPI_Start and the end.
    active: bool,
    /// The process of the peer, which has ended before all was transferred; or [`REVOKED`].
    lost: Option<u32>,
    side: Side,
}

impl State {
    /// Nothing more is transferred: withdraws what is under way.
    fn lose(&mut self, engine: &mut Engine, process: u32) {
        self.lost = Some(process);
        let messages: Vec<Index> = match &mut self.side {
            Side::Sender { pending, .. } => std::mem::take(pending),
            Side::Receiver {
                expected, parts, ..
            } => {
                let plan = expected.take().map(|(index, _)| index);
                let parts = parts.drain(..).filter_map(|part| match part {
                    Incoming::Pending(index, _) => Some(index),
                    Incoming::Arrived => None,
                });
                plan.into_iter().chain(parts).collect()
            }
        };
        for index in messages {
            if is_complete(engine, index) {
                engine.requests().release(index);
            } else {
                engine.withdraw(index);
            }
        }
    }
}

/// See the module.
pub struct Partitioned {
    comm: i32,
    context: u32,
    rank: i32,
    peer: i32,
    process: u32,
    tag: i32,
    partitions: usize,
    /// All partitions.
    whole: Buffer,
    state: Mutex<State>,
}

/// The partitioned operation of a request.
pub(super) fn of(request: &Request) -> Option<Arc<Partitioned>> {
    let owner = request.extra.as_ref()?.owner.clone()?;
    owner.downcast().ok()
}

/// MPI_Psend_init: the request's handle.
pub fn send_init(
    whole: Buffer,
    partitions: usize,
    dest: i32,
    tag: i32,
    comm: &Comm,
) -> Result<i32> {
    enter().requests().check_room()?;
    let tag_base = TAG_BASES.fetch_add(partitions as u32, Ordering::Relaxed);
    let plan = Plan {
        tag_base,
        parts: partitions as u32,
        bytes: whole.len().checked_div(partitions).unwrap_or(0) as u64,
    };
    let side = Side::Sender {
        plan,
        ready: memory::filled(partitions, false, "partitions")?,
        left: partitions,
        pending: Vec::new(),
    };
    let operation = Partitioned::new(whole, partitions, (dest, tag), comm, comm.context(), side);
    if dest != PROC_NULL {
        operation.tell(plan);
    }
    keep(operation)
}

/// MPI_Precv_init: the request's handle.
pub fn recv_init(
    whole: Buffer,
    partitions: usize,
    source: i32,
    tag: i32,
    comm: &Comm,
) -> Result<i32> {
    enter().requests().check_room()?;
    let mut plan = vec![0; PLAN_BYTES].into_boxed_slice();
    let room = Buffer::of_copy(&mut plan);
    let context = comm.receive_context();
    let expected = (source != PROC_NULL).then(|| {
        let key = Key {
            context: context + COLLECTIVE,
            source: PLANS + source,
            tag,
        };
        let receive = enter().receive_for_library(key, source, comm.handle, room);
        (receive, plan)
    });
    let side = Side::Receiver {
        expected,
        plan: None,
        parts: Vec::new(),
        arrived: 0,
    };
    let operation = Partitioned::new(whole, partitions, (source, tag), comm, context, side);
    keep(operation)
}

fn keep(operation: Partitioned) -> Result<i32> {
    let operation = Arc::new(operation);
    let (started, ended) = (operation.clone(), operation.clone());
    let request = Request {
        phase: Phase::Inactive,
        persistent: true,
        peer: operation.peer,
        tag: operation.tag,
        extra: Some(Box::new(Extra {
            restart: Some(Restart(Arc::new(move |index| started.clone().start(index)))),
            at_revocation: Some(Restart(Arc::new(move |index| ended.revoke(index)))),
            owner: Some(operation.clone()),
            ..Extra::default()
        })),
        ..Request::new(
            Kind::Task,
            operation.whole,
            operation.comm,
            operation.context,
            operation.rank,
        )
    };
    Ok(requests::handle_of(enter().requests().insert(request)))
}

/// The operation of a handle.
///
/// Errors: MPI_ERR_REQUEST.
fn find(handle: i32) -> Result<(Index, Arc<Partitioned>, Phase)> {
    let mut engine = enter();
    if let Some(index) = requests::index_of(handle)
        && let Some(request) = engine.requests().get(index)
        && let Some(operation) = of(request)
    {
        return Ok((index, operation, request.phase));
    }
    fail!(
        Class::Request,
        "request is {handle:#010x}, which is not a partitioned request"
    )
}

/// MPI_Pready, MPI_Pready_range and MPI_Pready_list: if one number is wrong, none of the partitions is marked.
pub fn ready(handle: i32, name: &str, partitions: impl Iterator<Item = i32> + Clone) -> Result<()> {
    let (index, operation, _) = find(handle)?;
    let comm = operation.comm;
    let done = operation.ready(index, name, partitions);
    done.map_err(|error| error.on(comm))
}

/// An error of a call on a partitioned request, for the handler of its communicator.
pub fn refuse<T>(handle: i32, error: Error) -> Result<T> {
    let (_, operation, _) = find(handle)?;
    Err(error.on(operation.comm))
}

/// Whether a partition's number is one of the request's.
pub fn check(handle: i32, name: &str, partition: i32) -> Result<()> {
    let (_, operation, _) = find(handle)?;
    let comm = operation.comm;
    let right = operation.check(name, partition);
    right.map_err(|error| error.on(comm))
}

/// MPI_Parrived.
pub fn arrived(handle: i32, partition: i32) -> Result<bool> {
    let (_, operation, phase) = find(handle)?;
    let comm = operation.comm;
    let look = || operation.has_arrived(partition, phase == Phase::Active);
    let done = look().and_then(|arrived| {
        if arrived {
            return Ok(true);
        }
        drop(poll());
        look()
    });
    done.map_err(|error| error.on(comm))
}

fn is_complete(engine: &mut Engine, index: Index) -> bool {
    engine.requests().at(index).phase == Phase::Complete
}

impl Partitioned {
    fn new(
        whole: Buffer,
        partitions: usize,
        (peer, tag): (i32, i32),
        comm: &Comm,
        context: u32,
        side: Side,
    ) -> Partitioned {
        Partitioned {
            comm: comm.handle,
            context: context + COLLECTIVE,
            rank: comm.rank(),
            peer,
            process: if peer >= 0 { comm.process(peer) } else { 0 },
            tag,
            partitions,
            whole,
            state: Mutex::new(State {
                active: false,
                lost: None,
                side,
            }),
        }
    }

    fn envelope(&self, from: i32, tag: i32) -> Envelope {
        Envelope {
            process: self.process,
            context: self.context,
            source: from + self.rank,
            tag,
            peer: self.peer,
            communicator: self.comm,
        }
    }

    /// Sends the plan.
    fn tell(&self, plan: Plan) {
        let envelope = self.envelope(PLANS, self.tag);
        enter().send_owned(&envelope, plan.encode().into());
    }

    /// MPI_Start.
    fn start(self: Arc<Self>, index: Index) {
        let mut state = self.state.lock();
        if state.lost == Some(REVOKED) && matches!(state.side, Side::Sender { .. }) {
            // The communicator was revoked behind the call's look at that.
            drop(state);
            enter().end_task(index, Some(losses::revoked()));
            return;
        }
        state.active = true;
        match &mut state.side {
            Side::Sender { ready, left, .. } => {
                ready.fill(false);
                *left = self.partitions;
                state.lost = None;
                drop(state);
                self.end_if_sent(index);
            }
            Side::Receiver { parts, arrived, .. } => {
                parts.clear();
                *arrived = 0;
                drop(state);
                tasks::spawn(async move {
                    tasks::condition(|| self.has_plan() || self.has_lost_sender()).await;
                    self.post();
                    tasks::condition(|| self.is_received() || self.has_lost_sender()).await;
                    self.state.lock().active = false;
                    let (status, error) = self.outcome();
                    let mut engine = enter();
                    engine.requests().at(index).status = status;
                    engine.end_task(index, error);
                });
            }
        }
    }

    /// The communicator was revoked: what is active ends, and nothing is transferred any more.
    fn revoke(&self, index: Index) {
        let mut state = self.state.lock();
        let was_lost = state.lost.is_some();
        state.lose(&mut enter(), REVOKED);
        // Else there is a task, which ends it.
        let has_task = match state.side {
            Side::Sender { left, .. } => left == 0,
            Side::Receiver { .. } => true,
        };
        if state.active && !has_task && !was_lost {
            state.active = false;
            drop(state);
            enter().end_task(index, Some(losses::revoked()));
        }
    }

    /// Request_free of the inactive request. A plan that has not come is the first that will, so it is received all the same: plans match in
    /// the order of the calls.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        if let Side::Receiver { expected, .. } = &mut state.side
            && let Some((index, room)) = expected.take()
        {
            let mut engine = enter();
            let request = engine.requests().at(index);
            request.extra.get_or_insert_default().copy = Some(room);
            super::detach(&mut engine, index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let plan = Plan {
            tag_base: 0xffff_fffe,
            parts: 5,
            bytes: 1 << 40,
        };
        assert_eq!(Plan::decode(&plan.encode()), plan);
        let tags: Vec<i32> = (0..4).map(|part| plan.tag(part)).collect();
        assert_eq!(tags, [i32::MAX - 1, i32::MAX, 0, 1]);
    }

    #[test]
    fn bytes_are_in_the_parts_that_they_lie_in() {
        let plan = |parts, bytes| Plan {
            tag_base: 0,
            parts,
            bytes,
        };
        assert_eq!(plan(4, 10).parts_of(0, 4, 10), 0..1);
        assert_eq!(plan(4, 10).parts_of(1, 3, 15), 1..3);
        assert_eq!(plan(4, 10).parts_of(1, 2, 30), 3..4);
        assert_eq!(plan(4, 10).parts_of(3, 4, 20), 4..4);
        assert_eq!(plan(4, 0).parts_of(2, 4, 0), 2..3);
        assert_eq!(plan(4, 0).parts_of(1, 3, 0), 1..3);
        assert_eq!(plan(0, 0).parts_of(1, 2, 8), 0..0);
    }
}
