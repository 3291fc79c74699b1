//! Buffers of requests that are not completed, with `OXMPI_CHECK=buffers`: whether a send buffer changes meanwhile, and whether a receive
//! buffer has bytes of another one (docs/checking.md).
//!
//! The edge tells of each call that begins or completes requests, on its cold way. Invariant: nothing is found that is right. What has more
//! ranges of addresses than [`MOST_RANGES`] is not looked at, and a request that ends by a way that is not told of is replaced by the next
//! one with its handle.

#![allow(unsafe_code)]

use super::requests::{self, Kind, Mode, Phase, Request};
use super::{enter, enter_at, entry::of_handle};
use crate::datatype::{Buffer, Parts, Range};
use crate::error::{Class, Error, Result};
use crate::events::{CHECKED, GATE};
use crate::os::made::{self, Site};
use crate::os::own_memory;
use crate::os::peer_memory::Piece;
use crate::sync::Ordering;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A buffer in more pieces is not looked at.
const MOST_RANGES: usize = 1 << 16;
/// Bytes that are summed whole; of more, [`SAMPLES`] of equal size at equal distances.
const WHOLE: usize = 64 << 10;
const SAMPLES: usize = 16;

/// Whether the check is on: then every call of the program goes by its cold way.
#[inline(always)]
pub fn is_on() -> bool {
    GATE.load(Ordering::Relaxed) & CHECKED != 0
}

/// Switches it on.
pub fn begin() {
    GATE.fetch_or(CHECKED, Ordering::AcqRel);
}

/// What an operation does with some memory.
#[derive(Clone, Debug)]
pub struct Use {
    writes: bool,
    /// In order, without a gap of zero bytes between two.
    ranges: Vec<Range>,
    /// Between start and completion; of a partition of a send: since it is ready.
    active: bool,
    /// Of what is only read, at the beginning.
    sum: Option<u64>,
}

impl Use {
    /// `None`: no byte, or too many pieces.
    pub fn of(buffers: &[Buffer], writes: bool) -> Option<Use> {
        let mut ranges = Vec::new();
        for buffer in buffers {
            if !buffer.add_ranges(MOST_RANGES, &mut ranges) {
                return None;
            }
        }
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let follows = next.0 <= last.1;
            if follows {
                last.1 = last.1.max(next.1);
            }
            follows
        });
        (!ranges.is_empty()).then_some(Use {
            writes,
            ranges,
            active: false,
            sum: None,
        })
    }

    /// The parts of so many ranks.
    pub fn of_parts(parts: &Parts, ranks: usize, writes: bool) -> Option<Use> {
        if let Some(whole) = parts.are_equal().then(|| parts.range(0, ranks)).flatten() {
            return Use::of(&[whole], writes);
        }
        let parts: Vec<Buffer> = (0..ranks).map(|rank| parts.of(rank)).collect();
        Use::of(&parts, writes)
    }

    fn span(&self) -> Range {
        let last = self.ranges.len() - 1;
        (self.ranges[0].0, self.ranges[last].1)
    }

    fn bytes(&self) -> usize {
        self.ranges.iter().map(|range| range.1 - range.0).sum()
    }

    /// The first bytes that both have.
    fn common(&self, other: &Use) -> Option<Range> {
        let (mut own, mut others) = (self.ranges.iter(), other.ranges.iter());
        let (mut one, mut two) = (own.next()?, others.next()?);
        loop {
            let both = (one.0.max(two.0), one.1.min(two.1));
            if both.0 < both.1 {
                return Some(both);
            }
            match one.1 < two.1 {
                true => one = own.next()?,
                false => two = others.next()?,
            }
        }
    }

    /// A number for its bytes; `None` where some are not mapped.
    fn sum(&self) -> Option<u64> {
        let bytes = self.bytes();
        let mut scratch = vec![0u8; bytes.min(WHOLE)];
        let each = match bytes <= WHOLE {
            true => bytes,
            false => WHOLE / SAMPLES,
        };
        for (at, sample) in scratch.chunks_mut(each.max(1)).enumerate() {
            let from = match bytes <= WHOLE {
                true => 0,
                false => (bytes - each) * at / (SAMPLES - 1),
            };
            self.read(from, sample)?;
        }
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        let (words, rest) = scratch.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_ne_bytes(*word));
        for word in words.chain(rest.iter().map(|byte| u64::from(*byte))) {
            sum = (sum ^ word)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29);
        }
        Some(sum)
    }

    /// Copies from the bytes that follow `skip` others.
    fn read(&self, mut skip: usize, out: &mut [u8]) -> Option<()> {
        let mut pieces = Vec::new();
        let mut left = out.len();
        for range in &self.ranges {
            let length = range.1 - range.0;
            if skip >= length {
                skip -= length;
                continue;
            }
            let bytes = (length - skip).min(left);
            let address = range.0 + skip;
            pieces.push(Piece { address, bytes });
            (skip, left) = (0, left - bytes);
            if left == 0 {
                break;
            }
        }
        // SAFETY: the program's memory, which it has given to an operation.
        unsafe { own_memory::read(&pieces, out) }.then_some(())
    }
}

/// What an operation is, for the text of an error.
#[derive(Clone, Debug, Default)]
pub struct What {
    /// Handle of the communicator, whose error handler is called.
    pub comm: i32,
    pub title: String,
    /// Rank and tag, negative: any. Collective operations have none.
    pub peer: Option<(i32, i32)>,
}

/// Of which kind a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Once,
    Persistent,
    /// A use is a partition.
    Partitioned,
}

struct Held {
    /// Tells it from others that have its handle before and after.
    number: u64,
    site: Option<Site>,
    what: What,
    uses: Vec<Use>,
    life: Life,
}

#[derive(Default)]
struct Registry {
    held: BTreeMap<i32, Held>,
    next: u64,
    /// The active uses: begin, number of the request and position there; end and handle.
    spans: BTreeMap<(usize, u64, usize), (usize, i32)>,
    /// None of them is longer.
    longest: usize,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

thread_local! {
    /// What the collective operation that this thread begins does with memory. A thread that is ending has none.
    static COLLECTED: RefCell<Option<Vec<Use>>> = const { RefCell::new(None) };
}

/// The collective operation that this thread begins tells what it does.
pub fn collect() {
    let _ = COLLECTED.try_with(|collected| collected.replace(Some(Vec::new())));
}

/// What it has told; and no further one tells anything.
pub fn collected() -> Vec<Use> {
    let collected = COLLECTED.try_with(RefCell::take);
    collected.ok().flatten().unwrap_or_default()
}

/// Whether somebody wants to know.
pub fn is_collecting() -> bool {
    let is = COLLECTED.try_with(|collected| collected.borrow().is_some());
    is.unwrap_or(false)
}

/// See [`collect`].
pub fn tell(uses: impl IntoIterator<Item = Option<Use>>) {
    let _ = COLLECTED.try_with(|collected| {
        if let Some(all) = &mut *collected.borrow_mut() {
            all.extend(uses.into_iter().flatten());
        }
    });
}

/// Forgets all, at the end.
pub fn clear() {
    REGISTRY.lock().take();
}

fn registered<T>(act: impl FnOnce(&mut Registry) -> T) -> T {
    act(REGISTRY.lock().get_or_insert_default())
}

/// The error of a call that uses this memory until it returns, or from now on.
///
/// `apart`: nor must they have bytes of each other.
pub fn overlapping(uses: &[Use], apart: bool, what: &What) -> Option<Error> {
    if let [one, two] = uses
        && apart
        && (one.writes || two.writes)
        && let Some(both) = one.common(two)
    {
        let text = format!(
            "send and receive buffer overlap: {} are in both",
            in_words(both)
        );
        return Some(error(text, what));
    }
    registered(|registry| {
        let mut uses = uses.iter();
        uses.find_map(|one| registry.conflict(one, None, what))
    })
}

/// A request uses this memory now, or whenever it is started.
///
/// Its error: as [`overlapping`], of those that can be asked for only when they have begun.
pub fn hold(handle: i32, uses: Vec<Use>, what: What, life: Life) {
    let site = made::site(made::here());
    registered(|registry| {
        registry.forget(handle);
        registry.next += 1;
        let number = registry.next;
        registry.held.insert(
            handle,
            Held {
                number,
                site,
                what,
                uses,
                life,
            },
        );
        if life == Life::Once {
            registry.activate(handle, |_| true);
        }
    });
}

/// Whether this persistent request may be started: as [`overlapping`].
pub fn may_start(handle: i32) -> Option<Error> {
    registered(|registry| {
        let held = registry.held.get(&handle)?;
        let (number, what) = (held.number, held.what.clone());
        let uses = held.uses.clone();
        let is_sent = |it: &&Use| held.life == Life::Partitioned && !it.writes;
        let mut uses = uses.iter().filter(|it| !is_sent(it));
        uses.find_map(|one| registry.conflict(one, Some(number), &what))
    })
}

/// A persistent request was started. Partitions of sends are used when they are [`ready`].
pub fn started(handle: i32) {
    registered(|registry| {
        let life = registry.held.get(&handle).map(|held| held.life);
        registry.activate(handle, |it| life != Some(Life::Partitioned) || it.writes);
    });
}

/// These partitions are sent from now on.
pub fn ready(handle: i32, partitions: &[usize]) {
    registered(|registry| {
        for partition in partitions {
            registry.activate_one(handle, *partition);
        }
    });
}

/// A partition has come, and is the program's.
pub fn arrived(handle: i32, partition: usize) {
    registered(|registry| registry.end_one(handle, partition));
}

/// The number of the request that has this handle, if it is known here.
pub fn number(handle: i32) -> Option<u64> {
    registered(|registry| registry.held.get(&handle).map(|held| held.number))
}

/// Nobody waits for it any more.
pub fn forget(handle: i32) {
    registered(|registry| registry.forget(handle));
}

/// The program knows that it is complete, from a function that has no error to give.
pub fn forget_complete(handle: i32) {
    if is_on() {
        registered(|registry| registry.end(handle));
    }
}

/// A call has completed it, or found it complete. What is wrong with its send buffers.
pub fn completed(handle: i32, number: u64) -> Option<Error> {
    let here = made::site(made::here());
    registered(|registry| {
        let held = registry
            .held
            .get(&handle)
            .filter(|held| held.number == number)?;
        let changed = |it: &&Use| it.active && it.sum.is_some() && it.sum() != it.sum;
        let changed = held.uses.iter().find(changed).map(|it| {
            let how = match it.sum() {
                None => "is not mapped any more",
                Some(_) => "has changed",
            };
            let text = format!(
                "the send buffer of {} {how} before it was completed{}",
                held.in_words(),
                at(here.as_ref())
            );
            error(text, &held.what)
        });
        match held.life {
            Life::Once => registry.forget(handle),
            Life::Persistent | Life::Partitioned => registry.end(handle),
        }
        changed
    })
}

/// Whether a request of the program's is over: `told` if the call tells of all that are complete.
pub fn is_over(handle: i32, told: bool) -> bool {
    let Some(index) = requests::index_of(handle) else {
        return true;
    };
    let mut engine = enter_at(of_handle(handle));
    match engine.requests().get(index).map(|request| request.phase) {
        None | Some(Phase::Free | Phase::Inactive) => true,
        Some(Phase::Complete) => told,
        Some(Phase::Active) => false,
    }
}

/// A request for a send that was complete when it was begun: it has a handle of its own.
///
/// Errors: MPI_ERR_NO_MEM.
pub fn request_of_sent(comm: i32, context: u32, (peer, tag): (i32, i32)) -> Result<i32> {
    let mut engine = enter();
    engine.requests().check_room()?;
    let kind = Kind::Send(Mode::Standard);
    let request = Request {
        phase: Phase::Complete,
        peer,
        tag,
        ..Request::new(kind, Buffer::empty(), comm, context, 0)
    };
    Ok(requests::handle_of(engine.requests().insert(request)))
}

fn error(text: String, what: &What) -> Error {
    Error::new(Class::Buffer, text).on(what.comm)
}

/// ` at halo.c:7 in step`, or as much as is known.
fn at(site: Option<&Site>) -> String {
    match site {
        Some(site) if !site.place.is_empty() => {
            format!(", by {} at {}", site.function, site.place)
        }
        _ => String::new(),
    }
}

fn in_words(range: Range) -> String {
    let bytes = range.1 - range.0;
    let noun = if bytes == 1 { "byte" } else { "bytes" };
    format!("{bytes} {noun} from {:#x} on", range.0)
}

impl Held {
    /// `MPI_Isend at halo.c:7 in step (800 bytes, rank 1, tag 5, MPI_COMM_WORLD)`
    fn in_words(&self) -> String {
        let mut text = match &self.site {
            Some(site) if !site.function.is_empty() => {
                format!("{} at {}", site.function, site.place)
            }
            _ => "a request".to_owned(),
        };
        let bytes: usize = self.uses.iter().map(Use::bytes).sum();
        // Writing into a String cannot fail.
        let _ = write!(text, " ({bytes} bytes");
        if let Some((peer, tag)) = self.what.peer {
            let _ = match peer < 0 {
                true => write!(text, ", any rank"),
                false => write!(text, ", rank {peer}"),
            };
            let _ = match tag < 0 {
                true => write!(text, ", any tag"),
                false => write!(text, ", tag {tag}"),
            };
        }
        let _ = write!(text, ", {})", self.what.title);
        text
    }
}

impl Registry {
    /// Of all active uses one that must not have bytes of this one.
    fn conflict(&self, one: &Use, but: Option<u64>, what: &What) -> Option<Error> {
        let (begin, end) = one.span();
        let first = (begin.saturating_sub(self.longest), 0, 0);
        for ((_, number, at_use), (its_end, handle)) in self.spans.range(first..(end, 0, 0)) {
            if *its_end <= begin || but == Some(*number) {
                continue;
            }
            let Some(held) = self.held.get(handle) else {
                continue;
            };
            let other = &held.uses[*at_use];
            if !(one.writes || other.writes) {
                continue;
            }
            let Some(both) = one.common(other) else {
                continue;
            };
            let name = |it: &Use| if it.writes { "receive" } else { "send" };
            let text = format!(
                "the {} buffer overlaps the {} buffer of {}, which is not completed: {} are in both{}",
                name(one),
                name(other),
                held.in_words(),
                in_words(both),
                at(made::site(made::here()).as_ref()),
            );
            return Some(error(text, what));
        }
        None
    }

    fn activate(&mut self, handle: i32, wanted: impl Fn(&Use) -> bool) {
        let Some(held) = self.held.get(&handle) else {
            return;
        };
        let all: Vec<usize> = (0..held.uses.len())
            .filter(|at| wanted(&held.uses[*at]))
            .collect();
        for at in all {
            self.activate_one(handle, at);
        }
    }

    fn activate_one(&mut self, handle: i32, at: usize) {
        let Some(held) = self.held.get_mut(&handle) else {
            return;
        };
        let number = held.number;
        let Some(one) = held.uses.get_mut(at).filter(|it| !it.active) else {
            return;
        };
        one.active = true;
        one.sum = match one.writes {
            true => None,
            false => one.sum(),
        };
        let (begin, end) = one.span();
        self.longest = self.longest.max(end - begin);
        self.spans.insert((begin, number, at), (end, handle));
    }

    fn end_one(&mut self, handle: i32, at: usize) {
        let Some(held) = self.held.get_mut(&handle) else {
            return;
        };
        if let Some(one) = held.uses.get_mut(at) {
            one.active = false;
            self.spans.remove(&(one.span().0, held.number, at));
        }
        if self.spans.is_empty() {
            self.longest = 0;
        }
    }

    fn end(&mut self, handle: i32) {
        let uses = self.held.get(&handle).map_or(0, |held| held.uses.len());
        for at in 0..uses {
            self.end_one(handle, at);
        }
    }

    fn forget(&mut self, handle: i32) {
        self.end(handle);
        self.held.remove(&handle);
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn of(ranges: &[Range], writes: bool) -> Use {
        Use {
            writes,
            ranges: ranges.to_vec(),
            active: false,
            sum: None,
        }
    }

    #[test]
    fn bytes_in_common_are_found() {
        let own = of(&[(0, 4), (8, 12), (16, 20)], true);
        for (other, common) in [
            (vec![(4, 8), (12, 16)], None),
            (vec![(4, 9)], Some((8, 9))),
            (vec![(20, 30)], None),
            (vec![(0, 100)], Some((0, 4))),
            (vec![(13, 17)], Some((16, 17))),
        ] {
            let other = of(&other, false);
            assert_eq!(own.common(&other), common);
            assert_eq!(other.common(&own), common);
        }
    }

    #[test]
    fn each_byte_of_little_and_some_of_much_are_in_a_sum() {
        let mut memory = vec![7u8; 1 << 20];
        let begin = memory.as_ptr() as usize;
        let little = of(&[(begin + 1, begin + 30), (begin + 40, begin + 41)], false);
        let much = of(&[(begin, begin + memory.len())], false);
        let sums = (little.sum().unwrap(), much.sum().unwrap());
        assert_eq!((little.sum().unwrap(), much.sum().unwrap()), sums);
        memory[35] ^= 1;
        assert_eq!(little.sum().unwrap(), sums.0);
        memory[40] ^= 1;
        assert_ne!(little.sum().unwrap(), sums.0);
        assert_ne!(much.sum().unwrap(), sums.1);
        memory[35] ^= 1;
        memory[40] ^= 1;
        *memory.last_mut().unwrap() ^= 1;
        assert_ne!(much.sum().unwrap(), sums.1);
        assert_eq!(of(&[(8, 16)], false).sum(), None);
    }

    #[test]
    fn active_uses_are_found_among_others() {
        let mut registry = Registry::default();
        let mut hold = |handle: i32, ranges: &[Range], writes| {
            registry.next += 1;
            let held = Held {
                number: registry.next,
                site: None,
                what: What::default(),
                uses: vec![of(ranges, writes)],
                life: Life::Persistent,
            };
            registry.held.insert(handle, held);
            registry.activate(handle, |_| true);
        };
        hold(1, &[(1000, 2000)], true);
        hold(2, &[(3000, 3001), (5000, 5001)], true);
        hold(3, &[(7000, 8000)], false);
        let finds = |registry: &Registry, range, writes| {
            let found = registry.conflict(&of(&[range], writes), None, &What::default());
            found.is_some()
        };
        assert!(finds(&registry, (1999, 2001), false));
        assert!(!finds(&registry, (2000, 3000), true));
        assert!(!finds(&registry, (3001, 5000), true));
        assert!(finds(&registry, (4000, 6000), true));
        assert!(finds(&registry, (7999, 8000), true));
        assert!(!finds(&registry, (7000, 8000), false));
        registry.end(1);
        assert!(!finds(&registry, (0, 2500), true));
        registry.forget(2);
        registry.forget(3);
        assert_eq!((registry.spans.len(), registry.longest), (0, 0));
    }
}
