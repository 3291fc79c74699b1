//! When the receiver of a message reads it out of the sender's memory: one copy, by one core, instead of two, by two at the same time.
//!
//! - Ranks that share cores: always. A second copy is a second turn.
//! - A core for each rank: where the receiver has found it faster ([`super::copy_trials`]). Otherwise two copies, as long as memory keeps up.
//!   Through a ring that stays in a cache, three lines pass the memory bus for each one of the message: the source's, and the target's
//!   twice. A single copy leaves out the detour, and the kernel's `rep movsb` or stores past the caches the reading of the target: two
//!   lines. So it is better where memory is the limit: where so many ranks send so much at once that the cores which copy ask
//!   for more than the memory gives. On servers a quarter of a socket's cores does; on small machines, where each core has a larger part
//!   of the memory's bandwidth, all of them hardly do, and two copies stay.
//!
//! How many send at once is estimated: each rank notes in its page when it last announced such a message, and a sender looks at a few
//! pages. Nothing has to be undone when a send ends or a rank dies.

use super::Engine;
use crate::choice;
use crate::datatype::copying;
use crate::os::monotonic_nanoseconds;
use crate::sync::Ordering;
use crate::variables::Variable;

choice! {
    pub(super) enum Allowed {
        Yes = "yes" | "1" | "true" | "on",
        No = "no" | "0" | "false" | "off",
        Always = "always",
    }
}

pub(super) static SINGLE_COPY: Variable<Allowed> = Variable::new(
    "SINGLE_COPY",
    Allowed::Yes,
    "Whether a receiver reads a large message out of the sender's memory, if the kernel allows it: yes where ranks share cores, or \
     where so many send at once that memory is the limit, and where the receiver has found it faster; always wherever the message lies in one piece; no nowhere.",
)
.with_aliases(&["MPIR_CVAR_CH4_CMA_ENABLE"]);
pub(super) static SINGLE_COPY_BYTES: Variable<u64> = Variable::new(
    "SINGLE_COPY_BYTES",
    32 << 10,
    "Messages from so many bytes on are read like that; up to 64 KB they may all the same go through the segment, where \
     that is found to be cheaper.",
)
.with_aliases(&["MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD"]);

/// Whether this process may read the memory of others.
pub fn may_read_peers() -> bool {
    SINGLE_COPY.get() != Allowed::No
}

/// The settings, read once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Messages of so many bytes.
    bytes: usize,
    always: bool,
    learns: bool,
}

impl Limit {
    pub(super) fn new() -> Limit {
        Limit {
            learns: SINGLE_COPY.get() == Allowed::Yes,
            bytes: match SINGLE_COPY.get() {
                Allowed::No => usize::MAX,
                _ => SINGLE_COPY_BYTES.get() as usize,
            },
            always: SINGLE_COPY.get() == Allowed::Always,
        }
    }

    #[cfg(test)]
    pub(super) fn of(bytes: usize, always: bool) -> Limit {
        Limit {
            bytes,
            always,
            learns: false,
        }
    }

    #[cfg(test)]
    pub(super) fn learning(self) -> Limit {
        Limit {
            learns: true,
            ..self
        }
    }

    /// Whether receivers find out what is faster.
    pub(super) fn learns(&self) -> bool {
        self.learns
    }
}

/// A node with fewer cores has no more of them than saturate its memory.
const MANY_CORES: usize = 16;
/// The part of the cores that saturates it.
const SATURATING: usize = 4;
/// The cores that copy a message: the sender's and the receiver's.
const COPYING: usize = 2;

/// Whether memory is the limit, on a node with a core for each rank, when so many ranks send messages at once that are not in a cache.
fn memory_is_the_limit(cores: usize, senders: usize) -> bool {
    cores >= MANY_CORES && senders * COPYING * SATURATING >= cores
}

/// Pages that a sender looks at.
const PAGES: usize = 8;
/// A message that was announced so long ago is over, nanoseconds: some megabytes at the speed of a core that shares the memory.
const UNDER_WAY: u64 = 2_000_000;

/// How many of `ranks` send, when `sending` of `looked` others do, and this one.
fn senders(ranks: usize, looked: usize, sending: usize) -> usize {
    1 + (ranks - 1) * sending / looked.max(1)
}

impl Engine {
    /// Whether the receiver is to read a message of so many bytes where it lies, if it can; `leaves_later`: the sender may call MPI too late
    /// to send the rest.
    pub(super) fn wants_single_copy(
        &self,
        process: usize,
        bytes: usize,
        leaves_later: bool,
    ) -> bool {
        let limit = self.limits.single_copy;
        let is_better = || self.oversubscribed || limit.always || leaves_later;
        // What does not wait for its receiver shall not begin to.
        let is_found_faster = || self.limits.waits(bytes) && self.is_read_by(process, bytes);
        bytes >= limit.bytes && (is_better() || self.fills_memory(bytes) || is_found_faster())
    }

    /// Whether memory is the limit for a message of so many bytes, which is noted.
    fn fills_memory(&self, bytes: usize) -> bool {
        if !copying::is_beyond_share(bytes) {
            return false;
        }
        let (table, now) = (self.transport.table(), monotonic_nanoseconds());
        table.own().sent_much.store(now, Ordering::Relaxed);
        let cores = self.transport.node().usable_cores() as usize;
        let ranks = 1 + table.others_here().count();
        if !memory_is_the_limit(cores, ranks) {
            return false;
        }
        let (mut looked, mut sending) = (0, 0);
        for page in table.others_here().step_by((ranks / PAGES).max(1)) {
            looked += 1;
            let sent = page.sent_much.load(Ordering::Relaxed);
            sending += usize::from(sent != 0 && now.saturating_sub(sent) < UNDER_WAY);
        }
        memory_is_the_limit(cores, senders(ranks, looked, sending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_the_limit_where_many_send() {
        for (cores, ranks, limit) in [
            // However few cores, and however many send.
            (2, 2, false),
            (8, 8, false),
            // One pair on a large node, and all of its ranks.
            (64, 1, false),
            (64, 7, false),
            (64, 8, true),
            (64, 64, true),
            (256, 31, false),
            (256, 32, true),
            (16, 2, true),
            (16, 1, false),
        ] {
            assert_eq!(memory_is_the_limit(cores, ranks), limit, "{cores} {ranks}");
        }
    }

    #[test]
    fn those_looked_at_stand_for_all() {
        assert_eq!(senders(64, 8, 0), 1);
        assert_eq!(senders(64, 8, 8), 64);
        assert_eq!(senders(64, 8, 4), 32);
        assert_eq!(senders(2, 1, 1), 2);
        assert_eq!(senders(1, 0, 0), 1);
    }
}
