//! The tables of attached memory of a dynamic window: each rank writes one, and the others read it.
//!
//! A rank's table is in the heap, sorted by address, under a sequence lock ([`crate::queue::sequence`]). An origin keeps a
//! copy and compares the version at each operation. A table that is too small is replaced by one of twice the size; those before stay
//! until the window ends, so that whoever still reads one reads memory, and then finds another version.

use super::block::TargetLine;
use super::room::LINE;
use crate::assembly::{no_memory, the_heap};
use crate::error::{Class, Result, fail};
use crate::queue::relocation::Pages;
use crate::queue::{sequence, shape};
use crate::sync::{AtomicU64, Ordering};
use crate::transport::Heap;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::ops::Range;

/// Words of an entry: address at the owner, bytes, the offset in the heap, and 1, or zero for memory that is not there; and where its
/// pages are in the heap if it is shared in place ([`Pages::word`]), or zero.
const WORDS: usize = 4;
/// Entries of the first table: a piece of 2 KB or less.
const FIRST: u64 = 64;

/// The layout of a table.
pub(super) const SHAPE: u64 = shape::number(shape::START, WORDS);

/// Attached memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// At the owner.
    pub address: u64,
    pub bytes: u64,
    /// In the heap.
    pub offset: Option<u64>,
    /// Where its pages are in the heap, if it is shared in place.
    pub shared: Option<Pages>,
}

/// A dynamic window's part in this process.
pub struct Dynamic {
    own: Mutex<Own>,
    /// Copies of all ranks' tables, by rank.
    seen: Box<[Mutex<Seen>]>,
}

#[derive(Default)]
struct Own {
    /// Attached memory by address. What has no bytes is in no table.
    regions: BTreeMap<usize, u64>,
    /// Where the pages of those are that are shared in place.
    shared: BTreeMap<usize, Pages>,
    /// The tables so far, the last one in use; and how many entries that has room for.
    tables: Vec<u64>,
    room: u64,
}

/// A copy of a rank's table.
#[derive(Default)]
pub struct Seen {
    pub version: u64,
    entries: Vec<Entry>,
    /// Whether edges of some of it are shared in place.
    pub has_edges: bool,
}

/// Why memory cannot be attached: this is there, which begins here and has so many bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Meets(pub usize, pub u64);

impl Own {
    /// Attached memory that has a byte in common with a range, or begins where it begins.
    fn meets(&self, base: usize, bytes: u64) -> Option<Meets> {
        let end = base + bytes as usize;
        let below = self.regions.range(..=base).next_back();
        let above = self.regions.range(base..).next();
        let mut near = below.into_iter().chain(above);
        let met =
            near.find(|(at, size)| **at == base || (**at < end && base < **at + **size as usize));
        met.map(|(at, size)| Meets(*at, *size))
    }

    /// Writes the table for others to read.
    fn publish(&mut self, line: &TargetLine) -> Result<()> {
        let heap = the_heap()?;
        let count = self.regions.values().filter(|bytes| **bytes > 0).count() as u64;
        if count > self.room {
            let room = count.max(FIRST).next_power_of_two();
            let bytes = room * (WORDS * size_of::<AtomicU64>()) as u64;
            let table = heap
                .obtain(bytes, LINE)
                .map_err(|why| no_memory("a table of attached memory", bytes, &why))?;
            self.tables.push(table);
            self.room = room;
        }
        let Some(table) = self.tables.last().copied() else {
            return Ok(());
        };
        let Some(words) = words(heap, table, self.room) else {
            return fail!(
                Class::Intern,
                "a table of attached memory is not in the heap"
            );
        };
        let regions = self.regions.iter().filter(|(_, bytes)| **bytes > 0);
        let entries = regions.map(|(address, bytes)| {
            let last = address + (*bytes as usize - 1);
            Entry {
                address: *address as u64,
                bytes: *bytes,
                offset: heap
                    .offset_of(*address)
                    .filter(|_| heap.offset_of(last).is_some()),
                shared: self.shared.get(address).copied(),
            }
        });
        write(line, table, words, entries);
        Ok(())
    }
}

/// Writes entries under a new version.
fn write(line: &TargetLine, table: u64, words: &[AtomicU64], entries: impl Iterator<Item = Entry>) {
    sequence::write(&line.version, || {
        let mut count = 0;
        for (place, entry) in words.chunks_exact(WORDS).zip(entries) {
            let offset = entry.offset.map_or(0, |offset| offset + 1);
            let shared = entry.shared.map_or(0, Pages::word);
            for (word, value) in (place.iter()).zip([entry.address, entry.bytes, offset, shared]) {
                word.store(value, Ordering::Relaxed);
            }
            count += 1;
        }
        line.regions.store(table, Ordering::Relaxed);
        line.region_count.store(count, Ordering::Relaxed);
    });
}

/// The words of a table.
fn words(heap: &Heap, table: u64, entries: u64) -> Option<&'static [AtomicU64]> {
    let count = usize::try_from(entries).ok()?.checked_mul(WORDS)?;
    let bytes = count.checked_mul(size_of::<AtomicU64>())?;
    if !table.is_multiple_of(size_of::<AtomicU64>() as u64) {
        return None;
    }
    let at = heap.at(table, bytes as u64)?;
    // SAFETY: inside the heap and aligned; atomics are valid for any content. The heap stays mapped.
    Some(unsafe { std::slice::from_raw_parts(at.cast(), count) })
}

impl Seen {
    /// Copies a rank's table. False: it was being changed; look again. `find` gives the words of a table with so many entries.
    pub fn look<'a>(
        &mut self,
        line: &TargetLine,
        find: impl Fn(u64, u64) -> Option<&'a [AtomicU64]>,
    ) -> bool {
        let version = sequence::read(&line.version, || {
            let table = line.regions.load(Ordering::Relaxed);
            let count = line.region_count.load(Ordering::Relaxed);
            self.entries.clear();
            let words = find(table, count).unwrap_or_default();
            self.entries.extend(words.chunks_exact(WORDS).map(|entry| {
                let value = |at: usize| entry[at].load(Ordering::Relaxed);
                Entry {
                    address: value(0),
                    bytes: value(1),
                    offset: value(2).checked_sub(1),
                    shared: Pages::of_word(value(3)),
                }
            }));
        });
        let mut places = self.entries.iter().filter_map(|entry| entry.shared);
        self.has_edges = places.any(|pages| pages.edges);
        // A copy that was mixed has no version that there is.
        self.version = version.unwrap_or(u64::MAX);
        version.is_some()
    }

    /// As [`Seen::look`], at a table in the node's heap.
    pub fn look_at(&mut self, line: &TargetLine) -> Result<bool> {
        let heap = the_heap()?;
        Ok(self.look(line, |table, count| words(heap, table, count)))
    }

    /// The attached memory in which a range begins, if all of the range is attached: there, or in memory behind it that is reached
    /// alike.
    #[inline]
    pub fn find(&self, address: u64, bytes: u64) -> Option<Entry> {
        let after = self
            .entries
            .partition_point(|entry| entry.address <= address);
        let at = after.checked_sub(1)?;
        let entry = self.entries[at];
        let inside = address - entry.address;
        if inside >= entry.bytes {
            return None;
        }
        match bytes <= entry.bytes - inside || self.goes_on(at, bytes - (entry.bytes - inside)) {
            true => Some(entry),
            false => None,
        }
    }

    /// Whether so many bytes behind an entry are attached without a gap, and reached as the entry's.
    #[cold]
    fn goes_on(&self, mut at: usize, mut bytes: u64) -> bool {
        while let [entry, next, ..] = self.entries[at..] {
            let end = entry.address + entry.bytes;
            let offset = entry.offset.map(|offset| offset + entry.bytes);
            if next.address != end || next.offset != offset {
                return false;
            }
            if bytes <= next.bytes {
                return true;
            }
            bytes -= next.bytes;
            at += 1;
        }
        false
    }
}

impl Dynamic {
    pub fn new(ranks: usize) -> Dynamic {
        Dynamic {
            own: Mutex::default(),
            seen: (0..ranks).map(|_| Mutex::default()).collect(),
        }
    }

    /// What was seen of a rank's table.
    #[inline]
    pub fn seen(&self, rank: usize) -> MutexGuard<'_, Seen> {
        self.seen[rank].lock()
    }

    /// Adds a range that does not wrap. `line` is the own rank's.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    pub fn add(&self, line: &TargetLine, base: usize, bytes: u64) -> Result<Option<Meets>> {
        let mut own = self.own.lock();
        if let Some(meets) = own.meets(base, bytes) {
            return Ok(Some(meets));
        }
        own.regions.insert(base, bytes);
        if bytes > 0
            && let Err(error) = own.publish(line)
        {
            own.regions.remove(&base);
            return Err(error);
        }
        Ok(None)
    }

    /// Takes out the range that begins at `base`. False: there is none.
    pub fn remove(&self, line: &TargetLine, base: usize) -> Result<bool> {
        let mut own = self.own.lock();
        own.shared.remove(&base);
        match own.regions.remove(&base) {
            None => return Ok(false),
            Some(0) => {}
            Some(_) => own.publish(line)?,
        }
        Ok(true)
    }

    /// Bytes of the range that begins at `base`; none if there is none.
    pub fn bytes_at(&self, base: usize) -> u64 {
        self.own.lock().regions.get(&base).copied().unwrap_or(0)
    }

    /// Attached memory that is not the heap's.
    pub fn private_regions(&self) -> Vec<Range<usize>> {
        let own = self.own.lock();
        let is_private =
            |base: &usize| the_heap().is_ok_and(|heap| heap.offset_of(*base).is_none());
        let all = own.regions.iter().filter(|(_, bytes)| **bytes > 0);
        all.filter(|(base, _)| is_private(base))
            .map(|(base, bytes)| *base..*base + *bytes as usize)
            .collect()
    }

    /// Tells the others what is shared in place; `find` knows where memory is in the heap.
    pub fn tell_shared(
        &self,
        line: &TargetLine,
        find: impl Fn(&Range<usize>) -> Option<Pages>,
    ) -> Result<()> {
        let mut own = self.own.lock();
        let found = own.regions.iter().filter_map(|(base, bytes)| {
            let memory = *base..*base + *bytes as usize;
            Some((*base, find(&memory)?))
        });
        own.shared = found.collect();
        own.publish(line)
    }

    /// Gives the tables back, when no rank reads them any more.
    pub fn release(&self, heap: &Heap) {
        for table in self.own.lock().tables.drain(..) {
            heap.release(table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::scheduler;

    fn line() -> TargetLine {
        // SAFETY: a line of zeros is valid, as the block's.
        unsafe { std::mem::zeroed() }
    }

    #[test]
    fn ranges_that_meet_are_found() {
        let own = Own {
            regions: [(100, 10), (200, 0), (300, 50)].into(),
            ..Own::default()
        };
        for (base, bytes) in [(110, 90), (99, 1), (109, 0), (201, 99), (350, 9), (0, 100)] {
            let meets = (base == 109).then_some(Meets(100, 10));
            assert_eq!(own.meets(base, bytes), meets, "{base} {bytes}");
        }
        assert_eq!(own.meets(109, 1), Some(Meets(100, 10)));
        assert_eq!(own.meets(50, 51), Some(Meets(100, 10)));
        assert_eq!(own.meets(200, 8), Some(Meets(200, 0)));
        assert_eq!(own.meets(201, 100), Some(Meets(300, 50)));
        assert_eq!(own.meets(310, 1), Some(Meets(300, 50)));
    }

    #[test]
    fn only_attached_ranges_are_found() {
        let entry = |address, bytes| Entry {
            address,
            bytes,
            offset: None,
            shared: None,
        };
        let seen = Seen {
            has_edges: false,
            version: 2,
            entries: vec![entry(100, 10), entry(110, 5), entry(u64::MAX - 9, 10)],
        };
        assert_eq!(seen.find(100, 10), Some(entry(100, 10)));
        assert_eq!(seen.find(109, 1), Some(entry(100, 10)));
        assert_eq!(seen.find(114, 1), Some(entry(110, 5)));
        assert_eq!(seen.find(u64::MAX, 1).map(|entry| entry.bytes), Some(10));
        for (address, bytes) in [(109, 7), (99, 1), (115, 1), (0, 1), (100, u64::MAX)] {
            assert_eq!(seen.find(address, bytes), None);
        }
    }

    #[test]
    fn ranges_over_neighbours_are_found_if_these_are_reached_alike() {
        let entry = |address, bytes, offset| Entry {
            address,
            bytes,
            offset,
            shared: None,
        };
        let entries = vec![
            entry(100, 10, None),
            entry(110, 5, None),
            entry(115, 5, Some(1000)),
            entry(120, 5, Some(1005)),
            entry(125, 5, Some(2000)),
            entry(131, 5, Some(2006)),
        ];
        let seen = Seen {
            has_edges: false,
            version: 2,
            entries: entries.clone(),
        };
        for (at, address, bytes) in [(0, 109, 2), (0, 100, 15), (2, 115, 10), (2, 119, 6)] {
            assert_eq!(seen.find(address, bytes), Some(entries[at]), "{address}");
        }
        for (address, bytes) in [(100, 16), (119, 7), (125, 6), (129, 3), (134, 3)] {
            assert_eq!(seen.find(address, bytes), None, "{address} {bytes}");
        }
    }

    /// A rank changes its table, which moves as it grows, while others read it: whatever they see is one of the tables.
    #[test]
    fn readers_see_whole_tables_only() {
        const TABLES: u64 = 6;
        let mut whole = 0;
        for seed in 0..300 {
            let line = line();
            let tables = [const { [const { AtomicU64::new(0) }; 3 * WORDS] }; 2];
            // Table number n has n % 3 + 1 entries, all of n.
            let content = |number: u64| Entry {
                address: number,
                bytes: number * 10,
                offset: Some(number * 100),
                shared: Pages::of_word(number * 4096 + 1),
            };
            let read_some = || {
                let (mut seen, mut last, mut found) = (Seen::default(), 0, 0);
                let find = |table: u64, count: u64| {
                    Some(&tables[table as usize][..count as usize * WORDS])
                };
                for _ in 0..12 {
                    if !seen.look(&line, find) {
                        continue;
                    }
                    let number = seen.version / 2;
                    assert!(number >= last && number <= TABLES);
                    last = number;
                    let length = if number == 0 {
                        0
                    } else {
                        number as usize % 3 + 1
                    };
                    assert_eq!(seen.entries, vec![content(number); length]);
                    found += u64::from(number > 0 && number < TABLES);
                }
                found
            };
            let done = scheduler::run(seed, 3, |me| {
                if me > 0 {
                    return read_some();
                }
                for number in 1..=TABLES {
                    let table = usize::from(number > 3);
                    let entries = (0..=number % 3).map(|_| content(number));
                    write(&line, table as u64, &tables[table], entries);
                }
                0
            });
            whole += done.unwrap().iter().sum::<u64>();
        }
        assert!(whole > 0, "no reader ever met the writer");
    }
}
