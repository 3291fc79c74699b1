//! A port of the tests: those of one [`Medium`] reach each other in memory. As over TCP, what one port sends to another is a stream, in which a
//! message that no buffer awaits holds up all that follow.

use super::port::{Completion, Completions, Context, LARGEST, Port, Registered, Run, Sent};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Bytes that a connection holds before it takes no more.
const HELD: usize = 1 << 20;
/// Longer messages are completed behind the next ones, where they need not come in order.
const LATE: usize = 16 << 10;

struct Message {
    bytes: Vec<u8>,
    tag: Option<u64>,
    /// Of its sender's operation; null of one that is not told.
    context: *mut Context,
    is_late: bool,
}

#[derive(Default)]
struct State {
    ports: usize,
    /// By sender and receiver.
    connections: BTreeMap<(usize, usize), VecDeque<Message>>,
    /// What senders have not been told yet, of transmissions that are complete, and that have failed.
    complete: BTreeMap<usize, Vec<*mut Context>>,
    failed: BTreeMap<usize, VecDeque<(*mut Context, String)>>,
}

// SAFETY: contexts are handed back to their ports, and not read here.
unsafe impl Send for State {}

impl State {
    fn fail(&mut self, port: usize, context: *mut Context, text: &str) {
        let failed = self.failed.entry(port).or_default();
        failed.push_back((context, text.to_owned()));
    }

    /// Loses what is under way on the connections that `which` names.
    fn cut(&mut self, which: impl Fn(usize, usize) -> bool) {
        let lost = self.connections.iter_mut();
        let lost = lost.filter(|((from, to), _)| which(*from, *to));
        let lost = lost.flat_map(|((from, _), queue)| queue.drain(..).map(|it| (*from, it)));
        let lost: Vec<(usize, Message)> = lost.collect();
        for (from, message) in lost.into_iter().filter(|(_, it)| !it.context.is_null()) {
            self.fail(from, message.context, "the connection was reset");
        }
    }
}

/// See the module.
#[derive(Clone)]
pub struct Medium {
    state: Arc<Mutex<State>>,
    in_order: bool,
    registers: bool,
}

impl Medium {
    /// Messages complete in the order in which they were sent, or not; memory is registered, or not.
    pub fn new(in_order: bool, registers: bool) -> Medium {
        Medium {
            state: Arc::default(),
            in_order,
            registers,
        }
    }

    /// A port that can register so many bytes, for good.
    pub fn port(&self, room: usize) -> Box<dyn Port> {
        let mut state = self.state.lock();
        state.ports += 1;
        Box::new(Simulated {
            medium: self.clone(),
            number: state.ports - 1,
            posted: VecDeque::new(),
            awaited: Vec::new(),
            room,
            open_registrations: 0,
        })
    }
}

struct Posted {
    begin: *mut u8,
    bytes: usize,
    used: usize,
    context: *mut Context,
}

struct Simulated {
    medium: Medium,
    number: usize,
    posted: VecDeque<Posted>,
    awaited: Vec<Run>,
    room: usize,
    open_registrations: u64,
}

// SAFETY: what the pointers lead to is the port's, by the callers of `Port`.
unsafe impl Send for Simulated {}

impl Simulated {
    fn push(&mut self, to: u64, message: Message) -> Sent {
        let mut state = self.medium.state.lock();
        let queue = state
            .connections
            .entry((self.number, to as usize))
            .or_default();
        let held: usize = queue.iter().map(|it| it.bytes.len()).sum();
        if held > HELD {
            return Sent::Later;
        }
        queue.push_back(message);
        Sent::Done
    }

    /// Puts a message where it belongs, if there is a buffer.
    fn take(&mut self, message: &Message) -> Option<Completion> {
        let length = message.bytes.len();
        let (context, data, length, released) = match message.tag {
            None => {
                let posted = self.posted.front_mut()?;
                let data = posted.begin.wrapping_add(posted.used);
                posted.used += length;
                let released = posted.bytes - posted.used < LARGEST;
                let context = posted.context;
                if released {
                    self.posted.pop_front();
                }
                (context, data, length, released)
            }
            Some(tag) => {
                let at = self.awaited.iter().position(|run| run.tag == tag)?;
                let run = self.awaited.swap_remove(at);
                (run.context, run.place, length.min(run.bytes), false)
            }
        };
        // SAFETY: the buffer was posted, and has room for the longest message until it is released; a run has so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(message.bytes.as_ptr(), data, length) };
        Some(Completion::Received {
            context,
            data,
            length,
            released,
        })
    }
}

// SAFETY: each operation is completed once, from the queue that it is taken out of.
unsafe impl Port for Simulated {
    fn another(&self) -> Result<Box<dyn Port>, String> {
        Ok(self.medium.port(self.room))
    }

    fn description(&self) -> &str {
        "a simulated port"
    }

    fn provider(&self) -> &str {
        "simulated"
    }

    fn is_on_loopback(&self) -> bool {
        true
    }

    fn has_adapter(&self) -> bool {
        false
    }

    fn completes_in_order(&self) -> bool {
        self.medium.in_order
    }

    fn wants_registration(&self) -> bool {
        self.medium.registers
    }

    fn inject_bytes(&self) -> usize {
        128
    }

    fn longest(&self) -> usize {
        usize::MAX
    }

    fn tag_bits(&self) -> u64 {
        u64::MAX
    }

    fn address(&self) -> Result<Vec<u8>, String> {
        Ok((self.number as u64).to_le_bytes().to_vec())
    }

    fn insert(&mut self, address: &[u8]) -> Result<u64, String> {
        let number = address.try_into().map(u64::from_le_bytes);
        number.map_err(|error| error.to_string())
    }

    fn remove(&mut self, address: u64) {
        let this = self.number;
        let is_its = |from, to| from == this && to as u64 == address;
        self.medium.state.lock().cut(is_its);
    }

    fn register(&mut self, begin: *mut u8, bytes: usize) -> Result<Registered, String> {
        if !self.medium.registers {
            return Ok(Registered::none());
        }
        self.room = self.room.checked_sub(bytes).ok_or("there is no room")?;
        self.open_registrations += 1;
        Ok(Registered {
            region: begin.cast(),
            description: begin.cast(),
        })
    }

    fn unregister(&mut self, registered: Registered) {
        self.open_registrations -= u64::from(!registered.region.is_null());
    }

    fn inject(&mut self, to: u64, message: &[u8]) -> Sent {
        let message = Message {
            bytes: message.to_vec(),
            tag: None,
            context: std::ptr::null_mut(),
            is_late: false,
        };
        self.push(to, message)
    }

    unsafe fn send(
        &mut self,
        to: u64,
        message: *const u8,
        bytes: usize,
        _description: *mut c_void,
        context: *mut Context,
    ) -> Sent {
        // SAFETY: the message is there, by the caller's word.
        let bytes = unsafe { std::slice::from_raw_parts(message, bytes) }.to_vec();
        let is_late = !self.medium.in_order && bytes.len() > LATE;
        let message = Message {
            bytes,
            tag: None,
            context,
            is_late,
        };
        self.push(to, message)
    }

    unsafe fn post(
        &mut self,
        buffer: *mut u8,
        bytes: usize,
        _description: *mut c_void,
        context: *mut Context,
    ) -> Sent {
        self.posted.push_back(Posted {
            begin: buffer,
            bytes,
            used: 0,
            context,
        });
        Sent::Done
    }

    unsafe fn send_tagged(&mut self, to: u64, run: &Run) -> Sent {
        // SAFETY: the bytes are there, by the caller's word.
        let bytes = unsafe { std::slice::from_raw_parts(run.place, run.bytes) }.to_vec();
        let message = Message {
            bytes,
            tag: Some(run.tag),
            context: run.context,
            is_late: false,
        };
        self.push(to, message)
    }

    unsafe fn receive_tagged(&mut self, run: &Run) -> Sent {
        self.awaited.push(*run);
        Sent::Done
    }

    fn cancel(&mut self, context: *mut Context) {
        let mut state = self.medium.state.lock();
        let before = self.awaited.len();
        self.awaited.retain(|run| run.context != context);
        let mut found = self.awaited.len() < before;
        for ((from, _), queue) in &mut state.connections {
            if *from == self.number {
                let before = queue.len();
                queue.retain(|message| message.context != context);
                found |= queue.len() < before;
            }
        }
        if found {
            state.fail(self.number, context, "canceled");
        }
    }

    fn poll(&mut self, complete: &mut Completions) {
        let medium = self.medium.clone();
        let mut state = medium.state.lock();
        let sent = state.complete.remove(&self.number).unwrap_or_default();
        complete.extend(sent.into_iter().map(Completion::Sent));
        for from in 0..state.ports {
            let way = (from, self.number);
            let mut queue = state.connections.remove(&way).unwrap_or_default();
            let mut left = VecDeque::new();
            while let Some(mut message) = queue.pop_front() {
                if std::mem::take(&mut message.is_late) {
                    left.push_back(message);
                    continue;
                }
                let Some(received) = self.take(&message) else {
                    left.push_back(message);
                    break;
                };
                complete.push(received);
                if !message.context.is_null() {
                    state
                        .complete
                        .entry(from)
                        .or_default()
                        .push(message.context);
                }
            }
            left.append(&mut queue);
            state.connections.insert(way, left);
        }
    }

    fn failure(&mut self) -> Option<Completion> {
        let mut state = self.medium.state.lock();
        let (context, text) = state.failed.get_mut(&self.number)?.pop_front()?;
        Some(Completion::Failed { context, text })
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn may_sleep(&mut self) -> bool {
        true
    }

    fn open_registrations(&self) -> u64 {
        self.open_registrations
    }

    fn refuse_registration(&mut self) {
        self.room = 0;
    }

    fn cut(&mut self) -> bool {
        self.medium.state.lock().cut(|_, _| true);
        true
    }
}
