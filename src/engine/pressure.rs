//! Back-pressure: the memory for unexpected messages is bounded for each sender, and their number for all senders together.
//!
//! A receiver with more than [`UNEXPECTED_BYTES`] of a sender sets a word beside the position that the sender looks at when its
//! ring or bulk ring seems full. The ring then gives no room to the short ways of sending, and messages of the program are
//! announced without data, until half of it is left. So a send that blocks waits for its receive, and of others only the RTS is
//! kept. Before it sees the word a sender sends a lap of the ring or bulk ring at most. With more than [`MOST_MESSAGES`] of all senders
//! that of each one whose message comes is set, until half are left: so ranks that send by blocking calls, however many they are, never
//! come near the number of messages that an engine can tell apart. Invariants: `unexpected_bytes` of a peer is the size of its messages in
//! [`super::unexpected`]; a peer is held back while it has too many bytes, or there are too many messages.
//!
//! RTS packets come in the order of the sends, so matching does not notice. The library's own messages are never held back:
//! collective operations rely on it that a small message leaves.

use super::Engine;
use super::refusal::is_of_program;
use super::unexpected::Message;
use crate::os::memory;
use crate::variables::Variable;

pub(super) static UNEXPECTED_BYTES: Variable<u64> = Variable::new(
    "UNEXPECTED_BYTES",
    32 << 20,
    "While a process keeps more than so many bytes of messages of one sender that it has not asked for, about 200 for each \
     message included, further ones wait at the sender until they are received.",
);
pub(super) fn limit() -> usize {
    UNEXPECTED_BYTES.get() as usize
}

/// Unexpected messages of all senders; an engine can tell four times as many apart.
pub(super) const MOST_MESSAGES: usize = 1 << 20;

/// What an unexpected message needs beside its data: the message, its node in the lists, the allocation.
const OVERHEAD: usize = size_of::<Message>() + 64;
/// If one sender had more unexpected bytes than this, memory is given back when the last message has gone.
const MUCH: usize = 8 << 20;

impl Engine {
    /// Counts an unexpected message of another process, from the packet that is being handled.
    pub(super) fn count_unexpected(&mut self, process: usize, eager: usize) {
        let peer = self.peers.of(process);
        peer.unexpected_bytes += eager + OVERHEAD;
        self.most_unexpected = self.most_unexpected.max(peer.unexpected_bytes);
        let are_many = self.messages.count() > self.limits.messages;
        if peer.unexpected_bytes > self.limits.unexpected || are_many {
            self.crowded |= are_many;
            if !peer.holds {
                peer.holds = true;
                self.holding += 1;
            }
            self.transport.hold(peer.route);
        }
    }

    /// The end of [`Engine::count_unexpected`], when the message is taken; also of one of this process to itself, which was not counted there
    /// but is one of those that others are held back for.
    pub(super) fn count_taken(&mut self, process: usize, eager: usize) {
        let is_own = process == self.me();
        let peer = self.peers.of(process);
        if !is_own {
            peer.unexpected_bytes -= eager + OVERHEAD;
        }
        if self.crowded {
            self.leave_crowd();
        } else if peer.holds && peer.unexpected_bytes <= self.limits.unexpected / 2 {
            peer.holds = false;
            self.holding -= 1;
            self.transport.end_hold(peer.route, self.holding == 0);
        }
    }

    /// Lets those go on who were held back because of others' messages, once these are few enough.
    #[cold]
    fn leave_crowd(&mut self) {
        if self.messages.count() > self.limits.messages / 2 {
            return;
        }
        self.crowded = false;
        for (_, peer) in self.peers.met_mut() {
            if peer.holds && peer.unexpected_bytes <= self.limits.unexpected / 2 {
                peer.holds = false;
                self.holding -= 1;
                self.transport.end_hold(peer.route, self.holding == 0);
            }
        }
    }

    /// Gives memory back once no message is unexpected.
    #[inline]
    pub(super) fn give_back_memory(&mut self) {
        if self.most_unexpected > MUCH && self.messages.is_empty() && self.unexpected.is_empty() {
            self.most_unexpected = 0;
            self.messages.shrink();
            self.unexpected.shrink();
            memory::trim();
        }
    }

    /// Sends what is not held back.
    #[inline]
    pub(super) fn passing<T>(&mut self, process: usize, send: impl FnOnce(&mut Self) -> T) -> T {
        let route = self.peers.route(process);
        let is_held = self.transport.is_held(route);
        if is_held {
            self.transport.pass(route, true);
        }
        let result = send(self);
        if is_held {
            self.transport.pass(route, false);
        }
        result
    }

    /// Whether a message of this context waits at home until its receiver asks for it.
    #[inline]
    pub(super) fn is_held_back(&mut self, process: usize, context: u32) -> bool {
        self.transport.is_held(self.peers.route(process)) && is_of_program(context)
    }
}
