//! Mapping of messages to engines (VCI mapping).
//!
//! All members of a communicator come to the same answer: it follows from the context id, from how many engines each of them
//! offers, and from what the program has promised about wildcards. Within a node they read what others offer; over several nodes they
//! agree on it together with the context id. Invariant: all messages that one receive could match go
//! by one engine, so the order of messages is kept as it is by a single one.

use super::{ENGINES as MOST, is_multiple, table};
use crate::error::{Class, Error};
use crate::group::names;
use crate::sync::{AtomicU32, Ordering};
use crate::transport::Transport;
use crate::transport::peer::Route;
use crate::variables::{Listed, Variable};

static ENGINES: Variable<u64> = Variable::new(
    "ENGINES",
    8,
    "With MPI_THREAD_MULTIPLE, over how many engines (queues, requests and rings of their own, 1 to 16) the communicators of \
     a process are spread: threads in different ones do not wait for each other. The least number of its members counts.",
);
/// What users can set about engines.
pub static VARIABLES: &[&dyn Listed] = &[&ENGINES];

/// What all processes of the job offer, if that is the same number; zero: not known yet, or not the same.
static BY_ALL: AtomicU32 = AtomicU32::new(0);

/// How many engines this process offers to those of other nodes.
static FAR_OFFER: AtomicU32 = AtomicU32::new(1);

const ENGINE: u32 = MOST as u32 - 1;
const RECEIVE: u32 = 4;
const COUNT: u32 = 8;
const BY_TAG: u32 = 1 << 16;
const BY_SOURCE: u32 = 1 << 17;

/// The engines of the messages of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineMapping(u32);

/// How many engines the user wants.
pub fn wanted(threads: bool) -> usize {
    match threads {
        true => ENGINES.get().clamp(1, MOST as u64) as usize,
        false => 1,
    }
}

/// Tells the other ranks how many engines this one offers, before it has joined: those that it has memory for now, because
/// nobody can go back to fewer once a communicator is spread over them.
pub fn offer(transport: &Transport, threads: bool) {
    let count = match wanted(threads) {
        1 => 1,
        wanted => transport.reserve_engines(wanted),
    };
    let own = transport.table().own();
    own.engines.store(count as u32, Ordering::Release); // pairs with `offered` and `common_engines`
    let far = transport.far_engines().min(count);
    FAR_OFFER.store(far as u32, Ordering::Relaxed);
}

/// How many engines this process offers to those of other nodes; it never changes.
pub fn own_offer() -> u32 {
    FAR_OFFER.load(Ordering::Relaxed)
}

/// Whether messages to this process go over the fabric. All members of a communicator find such a member, or none does.
pub fn is_far(process: u32) -> bool {
    table().is_some_and(|table| matches!(table.of(process).route, Route::Net(_)))
}

/// The least number of engines that these processes, which have joined, offer. `agreed`: what they agreed on when they last did.
fn offered(processes: impl Iterator<Item = u32> + Clone, agreed: u32) -> u32 {
    // Only the first engine has links to other jobs.
    if names::has_foreign() && processes.clone().any(names::is_foreign) {
        return 1;
    }
    let known = BY_ALL.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let Some(table) = table() else { return 1 };
    // Pages of other hosts cannot be read.
    if processes.clone().any(is_far) {
        return agreed;
    }
    if !table.pretends_hosts()
        && let Some(common) = table.common_engines()
    {
        BY_ALL.store(common, Ordering::Relaxed);
        return common;
    }
    processes
        .map(|process| table.of(process).page.engines.load(Ordering::Acquire))
        .min()
        .unwrap_or(1)
}

impl EngineMapping {
    /// Everything in the first engine.
    pub const FIRST: EngineMapping = EngineMapping(0);

    /// For messages with these contexts, sent and received, among these processes, which have all joined and have agreed on so many engines.
    pub fn of(
        (send, receive): (u32, u32),
        agreed: u32,
        processes: impl Iterator<Item = u32> + Clone,
    ) -> EngineMapping {
        if !is_multiple() || table().is_none() {
            return EngineMapping::FIRST;
        }
        EngineMapping::over(offered(processes, agreed), send, receive)
    }

    fn over(count: u32, send: u32, receive: u32) -> EngineMapping {
        if count <= 1 {
            return EngineMapping::FIRST;
        }
        // The low bits of a context are its type.
        let engine = |context: u32| (context >> 2) % count;
        EngineMapping(engine(send) | engine(receive) << RECEIVE | count << COUNT)
    }

    /// How many engines its messages could go by.
    pub fn count(self) -> u32 {
        (self.0 >> COUNT & 0xff).max(1)
    }

    /// The mapping of a communicator on which nobody receives with these wildcards.
    pub fn without(self, any_tag: bool, any_source: bool) -> EngineMapping {
        let by_tag = if any_tag { BY_TAG } else { 0 };
        let by_source = if any_source { BY_SOURCE } else { 0 };
        match self.count() {
            1 => self,
            _ => EngineMapping(self.0 | by_tag | by_source),
        }
    }

    /// Whether it relies on nobody receiving with any tag, and with any source.
    pub fn relies_on_none_of(self) -> (bool, bool) {
        (self.0 & BY_TAG != 0, self.0 & BY_SOURCE != 0)
    }

    /// The engine of messages from rank `source` with this tag to others.
    #[inline]
    pub fn of_send(self, source: i32, tag: i32) -> u32 {
        self.engine(self.0 & ENGINE, source, tag)
    }

    /// The engine of receives from this rank with this tag, which may be wildcards unless the program has promised not to
    /// use them: then `None`.
    #[inline(always)]
    pub fn of_receive(self, source: i32, tag: i32) -> Option<u32> {
        if self.0 & (BY_TAG | BY_SOURCE) == 0 {
            return Some(self.0 >> RECEIVE & ENGINE);
        }
        let wrong = source < 0 && self.0 & BY_SOURCE != 0 || tag < 0 && self.0 & BY_TAG != 0;
        (!wrong).then(|| self.engine(self.0 >> RECEIVE & ENGINE, source, tag))
    }

    /// The engines of the library's own messages with the communicator's contexts: sent, received.
    #[inline]
    pub fn of_library(self) -> (u32, u32) {
        (self.0 & ENGINE, self.0 >> RECEIVE & ENGINE)
    }

    /// All engines that messages may go by, a set of bits.
    pub fn engines(self) -> u32 {
        if self.0 & (BY_TAG | BY_SOURCE) != 0 {
            return (1 << self.count()) - 1;
        }
        let (send, receive) = self.of_library();
        1 << send | 1 << receive
    }

    #[inline(always)]
    fn engine(self, base: u32, source: i32, tag: i32) -> u32 {
        if self.0 & (BY_TAG | BY_SOURCE) == 0 {
            return base;
        }
        let mut mixed = 0;
        if self.0 & BY_TAG != 0 {
            mixed += tag as u32;
        }
        if self.0 & BY_SOURCE != 0 {
            mixed += (source as u32).wrapping_mul(5);
        }
        mixed ^= mixed >> 4;
        mixed ^= mixed >> 8;
        (base + mixed % self.count()) % self.count()
    }

    /// As a number that can be kept in an atomic.
    #[inline]
    pub fn to_bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub fn from_bits(bits: u32) -> EngineMapping {
        EngineMapping(bits)
    }
}

/// The error of a receive with a wildcard that the program has promised not to use.
#[cold]
pub fn broken_promise(mapping: EngineMapping, tag: i32) -> Error {
    if mapping.relies_on_none_of().0 && tag < 0 {
        return Error::new(
            Class::Tag,
            "tag is MPI_ANY_TAG on a communicator made with the hint mpi_assert_no_any_tag",
        );
    }
    Error::new(
        Class::Rank,
        "source is MPI_ANY_SOURCE on a communicator made with the hint mpi_assert_no_any_source",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_an_intercommunicator_meet() {
        for (here, there) in [(12, 16), (400, 12), (40, 40)] {
            let (one, other) = (
                EngineMapping::over(8, here, there),
                EngineMapping::over(8, there, here),
            );
            assert_eq!(Some(one.of_send(3, 7)), other.of_receive(3, 7));
            assert_eq!(Some(other.of_send(3, 7)), one.of_receive(-2, -1));
        }
        assert_eq!(EngineMapping::over(1, 400, 400), EngineMapping::FIRST);
    }

    #[test]
    fn promised_wildcards_spread_what_they_cannot_meet() {
        let mapping = EngineMapping::over(8, 12, 12).without(true, false);
        assert_eq!(mapping.engines(), 0xff);
        assert_eq!(mapping.of_receive(0, -1), None);
        let used: std::collections::BTreeSet<u32> =
            (0..8).map(|tag| mapping.of_send(0, tag)).collect();
        assert_eq!(used.len(), 8);
        for tag in 0..1000 {
            assert_eq!(mapping.of_receive(-2, tag), Some(mapping.of_send(5, tag)));
        }
        let mapping = EngineMapping::over(8, 12, 12).without(false, true);
        assert_eq!(mapping.of_receive(-2, 1), None);
        assert_eq!(mapping.of_receive(5, -1), Some(mapping.of_send(5, 77)));
        let mapping = EngineMapping::over(3, 12, 12).without(true, true);
        assert_eq!(mapping.of_receive(5, 9), Some(mapping.of_send(5, 9)));
        assert_eq!(mapping.engines(), 0b111);
    }
}
