//! Partitioned communication (MPI 5.0, section 4.2): one message whose parts are sent as they become ready.
//!
//! MPI_Psend_init tells the receiver its *plan*, in a message that is matched by rank and the program's tag in the order of such
//! calls: so many parts of so many bytes, and the *channel*, the first of as many tags. Each partition of the sender is then a
//! message of its own, received where it belongs whatever the partitions of the receiver are. Plans and parts have the context of
//! collective operations and sources that no such operation has: nothing else matches them. Invariant: the lock of an operation
//! is taken before the guard, never within it.

use super::PROC_NULL;
use crate::comm::{COLLECTIVE, Comm};
use crate::datatype::{Buffer, Status};
use crate::engine::matching::Key;
use crate::engine::requests::{self, Extra, Index, Kind, Mode, Phase, Request, Restart};
use crate::engine::send::Envelope;
use crate::engine::wait::poll;
use crate::engine::{Engine, enter, tasks};
use crate::error::{Class, Error, Result, fail};
use crate::sync::{AtomicU32, Ordering};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// The sources of plans and of parts, above which ranks are counted.
const PLANS: i32 = i32::MIN;
const PARTS: i32 = i32::MIN / 2;

/// The next channel, modulo 2^31: one that is still in use has been passed only after so many partitions.
static CHANNELS: AtomicU32 = AtomicU32::new(0);

/// What the sender tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    channel: u32,
    parts: u32,
    /// Bytes of each part.
    bytes: u64,
}

const PLAN_BYTES: usize = 16;

impl Plan {
    fn encode(self) -> [u8; PLAN_BYTES] {
        let mut words = [0; PLAN_BYTES];
        words[..4].copy_from_slice(&self.channel.to_ne_bytes());
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
            channel: number(0),
            parts: number(4),
            bytes: u64::from_ne_bytes(bytes.unwrap_or_default()),
        }
    }

    fn tag(&self, part: usize) -> i32 {
        (self.channel.wrapping_add(part as u32) & i32::MAX as u32) as i32
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
    /// With the memory for data that cannot go where it belongs at once, and its place there.
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
    side: Side,
}

/// See the module.
pub struct Partitioned {
    comm: i32,
    context: u32,
    rank: i32,
    peer: i32,
    world: u32,
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
pub fn send_init(whole: Buffer, partitions: usize, dest: i32, tag: i32, comm: &Comm) -> i32 {
    let channel = CHANNELS.fetch_add(partitions as u32, Ordering::Relaxed);
    let plan = Plan {
        channel,
        parts: partitions as u32,
        bytes: whole.len().checked_div(partitions).unwrap_or(0) as u64,
    };
    let side = Side::Sender {
        plan,
        ready: vec![false; partitions],
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
pub fn recv_init(whole: Buffer, partitions: usize, source: i32, tag: i32, comm: &Comm) -> i32 {
    let mut plan = vec![0; PLAN_BYTES].into_boxed_slice();
    let room = Buffer::of_copy(&mut plan);
    let context = comm.receive_context();
    let expected = (source != PROC_NULL).then(|| {
        let key = Key {
            context: context + COLLECTIVE,
            source: PLANS + source,
            tag,
        };
        (enter().receive(key, source, comm.handle, room), plan)
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

fn keep(operation: Partitioned) -> i32 {
    let operation = Arc::new(operation);
    let started = operation.clone();
    let request = Request {
        phase: Phase::Inactive,
        persistent: true,
        peer: operation.peer,
        tag: operation.tag,
        extra: Some(Box::new(Extra {
            restart: Some(Restart(Arc::new(move |index| started.clone().start(index)))),
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
    requests::handle_of(enter().requests().insert(request))
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
            world: if peer >= 0 { comm.world(peer) } else { 0 },
            tag,
            partitions,
            whole,
            state: Mutex::new(State {
                active: false,
                side,
            }),
        }
    }

    fn envelope(&self, from: i32, tag: i32) -> Envelope {
        Envelope {
            world: self.world,
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
        enter().send_owned(None, &envelope, plan.encode().into());
    }

    /// MPI_Start.
    fn start(self: Arc<Self>, index: Index) {
        let mut state = self.state.lock();
        state.active = true;
        match &mut state.side {
            Side::Sender { ready, left, .. } => {
                ready.fill(false);
                *left = self.partitions;
                drop(state);
                self.end_if_sent(index);
            }
            Side::Receiver { parts, arrived, .. } => {
                parts.clear();
                *arrived = 0;
                drop(state);
                tasks::spawn(async move {
                    tasks::condition(|| self.has_plan()).await;
                    self.post();
                    tasks::condition(|| self.is_received()).await;
                    self.state.lock().active = false;
                    let (status, error) = self.outcome();
                    let mut engine = enter();
                    engine.requests().at(index).status = status;
                    engine.end_task(index, error);
                });
            }
        }
    }

    /// Request_free of the inactive request: a plan that has not come is not expected any more.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        if let Side::Receiver { expected, .. } = &mut state.side
            && let Some((index, _room)) = expected.take()
        {
            let mut engine = enter();
            engine.cancel_receive(index);
            engine.requests().release(index);
        }
    }
}

/// The sender's side.
impl Partitioned {
    fn ready(
        self: Arc<Self>,
        index: Index,
        name: &str,
        partitions: impl Iterator<Item = i32> + Clone,
    ) -> Result<()> {
        for partition in partitions.clone() {
            self.check(name, partition)?;
        }
        let mut state = self.state.lock();
        let active = state.active;
        let Side::Sender {
            plan,
            ready,
            left,
            pending,
        } = &mut state.side
        else {
            return fail!(
                Class::Request,
                "request is of a partitioned receive; partitions of a send are marked as ready"
            );
        };
        if self.peer == PROC_NULL {
            return Ok(());
        }
        if !active {
            return fail!(
                Class::Request,
                "request is of a partitioned send that is not active (MPI_Start)"
            );
        }
        for (marked, at) in partitions.clone().enumerate() {
            if std::mem::replace(&mut ready[at as usize], true) {
                for at in partitions.take(marked) {
                    ready[at as usize] = false;
                }
                return fail!(
                    Class::Arg,
                    "{name} is {at}, which was marked as ready before"
                );
            }
        }
        let bytes = plan.bytes as usize;
        for partition in partitions.map(|partition| partition as usize) {
            *left -= 1;
            let Some(buffer) = self.whole.cut(partition * bytes, bytes) else {
                return fail!(Class::Intern, "a partition has a part of an element");
            };
            let envelope = self.envelope(PARTS, plan.tag(partition));
            let mut engine = enter();
            if engine.send_short(&envelope, &buffer) {
                continue;
            }
            let part = engine.send(Mode::Standard, &envelope, buffer);
            if is_complete(&mut engine, part) {
                engine.requests().release(part);
            } else {
                pending.push(part);
            }
        }
        let all = *left == 0;
        drop(state);
        if all {
            self.end_if_sent(index);
        }
        Ok(())
    }

    fn check(&self, name: &str, partition: i32) -> Result<()> {
        if (partition as u32 as usize) < self.partitions {
            return Ok(());
        }
        match self.partitions {
            0 => fail!(
                Class::Arg,
                "{name} is {partition}; the request has no partitions"
            ),
            partitions => fail!(
                Class::Arg,
                "{name} is {partition}; allowed is 0 to {}",
                partitions - 1
            ),
        }
    }

    /// Ends the operation when all parts are ready and sent, now or later.
    fn end_if_sent(self: Arc<Self>, index: Index) {
        if !self.is_ready() {
            return;
        }
        tasks::spawn(async move {
            tasks::condition(|| self.is_sent()).await;
            self.state.lock().active = false;
            enter().end_task(index, None);
        });
    }

    fn is_ready(&self) -> bool {
        matches!(self.state.lock().side, Side::Sender { left: 0, .. })
    }

    fn is_sent(&self) -> bool {
        let mut state = self.state.lock();
        let Side::Sender { pending, .. } = &mut state.side else {
            return true;
        };
        let mut engine = enter();
        while let Some(part) = pending.last() {
            if !is_complete(&mut engine, *part) {
                return false;
            }
            engine.requests().release(*part);
            pending.pop();
        }
        true
    }
}

/// The receiver's side.
impl Partitioned {
    fn has_plan(&self) -> bool {
        let mut state = self.state.lock();
        let Side::Receiver { expected, plan, .. } = &mut state.side else {
            return true;
        };
        let Some((index, words)) = expected else {
            return true;
        };
        let mut engine = enter();
        if !is_complete(&mut engine, *index) {
            return false;
        }
        engine.requests().release(*index);
        *plan = Some(Plan::decode(words));
        *expected = None;
        true
    }

    /// Posts a receive for each of the sender's parts.
    fn post(&self) {
        let mut state = self.state.lock();
        let Side::Receiver {
            plan: Some(plan),
            parts,
            ..
        } = &mut state.side
        else {
            return;
        };
        let (bytes, room) = (plan.bytes as usize, self.whole.len());
        let mut engine = enter();
        parts.extend((0..plan.parts as usize).map(|part| {
            let from = part.saturating_mul(bytes).min(room);
            let here = bytes.min(room - from);
            let key = Key {
                context: self.context,
                source: PARTS + self.peer,
                tag: plan.tag(part),
            };
            let mut receive = |buffer| engine.receive(key, self.peer, self.comm, buffer);
            match self.whole.cut(from, here) {
                Some(buffer) => Incoming::Pending(receive(buffer), None),
                None => {
                    let mut copy = vec![0; here].into_boxed_slice();
                    let index = receive(Buffer::of_copy(&mut copy));
                    Incoming::Pending(index, Some((copy, from)))
                }
            }
        }));
    }

    fn is_received(&self) -> bool {
        let mut state = self.state.lock();
        let Side::Receiver { parts, arrived, .. } = &mut state.side else {
            return true;
        };
        let mut engine = enter();
        while let Some(part) = parts.get_mut(*arrived) {
            if let Incoming::Pending(index, copy) = part {
                if !is_complete(&mut engine, *index) {
                    return false;
                }
                if let Some((copy, at)) = copy {
                    self.whole.write(*at, copy);
                }
                engine.requests().release(*index);
                *part = Incoming::Arrived;
            }
            *arrived += 1;
        }
        true
    }

    /// What there is to say at the end.
    fn outcome(&self) -> (Status, Option<Error>) {
        let state = self.state.lock();
        let Side::Receiver {
            plan: Some(plan), ..
        } = &state.side
        else {
            return (Status::empty(), None);
        };
        let (sent, room) = (
            u64::from(plan.parts).saturating_mul(plan.bytes),
            self.whole.len() as u64,
        );
        let status = Status::new(self.peer, self.tag, sent.min(room));
        let error = (sent > room).then(|| {
            Error::new(
                Class::Truncate,
                format!(
                    "{} partitions of {} bytes were sent by rank {} with tag {}; the {} of the receiver have {room} together",
                    plan.parts, plan.bytes, self.peer, self.tag, self.partitions
                ),
            )
        });
        (status, error)
    }

    fn has_arrived(&self, partition: i32, active: bool) -> Result<bool> {
        self.check("partition", partition)?;
        let mut state = self.state.lock();
        let Side::Receiver { plan, parts, .. } = &mut state.side else {
            return fail!(
                Class::Request,
                "request is of a partitioned send; partitions of a receive arrive"
            );
        };
        if !active || self.peer == PROC_NULL {
            return Ok(true);
        }
        let Some(plan) = plan else {
            return Ok(false);
        };
        let each = self.whole.len() / self.partitions;
        let mut engine = enter();
        for at in plan.parts_of(partition as usize, self.partitions, each) {
            match parts.get_mut(at) {
                Some(Incoming::Arrived) => {}
                Some(Incoming::Pending(index, copy)) if is_complete(&mut engine, *index) => {
                    // Now, not at the end of all: the program may look at it.
                    if let Some((copy, at)) = copy {
                        self.whole.write(*at, copy);
                    }
                    engine.requests().release(*index);
                    parts[at] = Incoming::Arrived;
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let plan = Plan {
            channel: 0xffff_fffe,
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
            channel: 0,
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
