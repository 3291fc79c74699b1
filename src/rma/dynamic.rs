//! Memory of dynamic windows: what each rank has attached, in a table that the others read.
//!
//! A rank's table is in the heap, sorted by address, under a version that is odd while it changes (a sequence lock). An origin keeps a
//! copy and compares the version at each operation. A table that is too small is replaced by one of twice the size; those before stay
//! until the window ends, so that whoever still reads one reads memory, and then finds another version.

use super::create::{no_memory, private_key, the_heap};
use super::unmerged::Region;
use super::ways;
use super::window::{Flavor, Way, Window};
use crate::engine;
use crate::error::{Class, Result, fail};
use crate::os::schedule;
use crate::sync::{AtomicU64, Ordering, fence};
use crate::transport::Heap;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Words of an entry: address at the owner, bytes, and the offset in the heap, and 1, or zero for memory that is not there.
const WORDS: usize = 3;
/// Entries of the first table: a piece of 2 KB or less.
const FIRST: u64 = 64;
/// Looks at an odd version before it is asked whether the owner lives.
const LOOKS: u32 = 1000;

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    address: u64,
    bytes: u64,
    /// In the heap.
    offset: Option<u64>,
}

/// A dynamic window's part in this process.
pub struct Dynamic {
    own: Mutex<Own>,
    /// What is known of the others' tables, by rank.
    seen: Box<[Mutex<Seen>]>,
}

#[derive(Default)]
struct Own {
    /// Attached memory by address. What has no bytes is in no table.
    regions: BTreeMap<usize, u64>,
    /// The tables so far, the last one in use; and how many entries that has room for.
    tables: Vec<u64>,
    room: u64,
}

#[derive(Default)]
struct Seen {
    version: u64,
    entries: Vec<Entry>,
}

impl Dynamic {
    pub fn new(ranks: usize) -> Dynamic {
        Dynamic {
            own: Mutex::default(),
            seen: (0..ranks).map(|_| Mutex::default()).collect(),
        }
    }

    /// Gives the tables back, when no rank reads them any more.
    pub fn release(&self, heap: &Heap) {
        for table in self.own.lock().tables.drain(..) {
            heap.release(table);
        }
    }
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

impl Window {
    fn as_dynamic(&self) -> Result<&Dynamic> {
        match &self.dynamic {
            Some(dynamic) => Ok(dynamic),
            None => fail!(
                Class::RmaFlavor,
                "{} was not made by MPI_Win_create_dynamic; memory is attached to such windows only",
                self.title()
            ),
        }
    }

    /// MPI_Win_attach.
    ///
    /// Errors: MPI_ERR_RMA_FLAVOR, MPI_ERR_SIZE, MPI_ERR_BASE, MPI_ERR_RMA_ATTACH if some of it is attached, MPI_ERR_NO_MEM.
    pub fn attach(&self, base: usize, size: i64) -> Result<()> {
        let dynamic = self.as_dynamic()?;
        let Ok(bytes) = u64::try_from(size) else {
            return fail!(Class::Size, "size is {size}; it must not be negative");
        };
        if base == 0 && bytes > 0 {
            return fail!(Class::Base, "base is NULL, and size is {bytes}");
        }
        let Some(end) = base.checked_add(bytes as usize) else {
            return fail!(
                Class::Size,
                "size is {bytes}: memory at {base:#x} does not go so far"
            );
        };
        let mut own = dynamic.own.lock();
        // The nearest ones below and above; the first may have no bytes.
        let below = own.regions.range(..=base).next_back();
        let above = own.regions.range(base..).next();
        let meets = |(at, size): &(&usize, &u64)| {
            **at == base || (**at < end && base < **at + **size as usize)
        };
        if let Some((at, size)) = below.filter(meets).or(above.filter(meets)) {
            return fail!(
                Class::RmaAttach,
                "memory at {base:#x} of {bytes} bytes meets {at:#x} of {size} bytes, which is attached to {}",
                self.title()
            );
        }
        own.regions.insert(base, bytes);
        if bytes > 0
            && let Err(error) = self.publish(&mut own)
        {
            own.regions.remove(&base);
            return Err(error);
        }
        Ok(())
    }

    /// MPI_Win_detach.
    ///
    /// Errors: MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_ATTACH if no attached memory begins there.
    pub fn detach(&self, base: usize) -> Result<()> {
        let dynamic = self.as_dynamic()?;
        let mut own = dynamic.own.lock();
        match own.regions.remove(&base) {
            None => fail!(
                Class::RmaAttach,
                "base is {base:#x}, where no memory begins that is attached to {}",
                self.title()
            ),
            Some(0) => Ok(()),
            Some(_) => self.publish(&mut own),
        }
    }

    /// Writes the own table.
    fn publish(&self, own: &mut Own) -> Result<()> {
        let heap = the_heap()?;
        let count = own.regions.values().filter(|bytes| **bytes > 0).count() as u64;
        if count > own.room {
            let room = count.max(FIRST).next_power_of_two();
            let bytes = room * (WORDS * size_of::<AtomicU64>()) as u64;
            let table = heap
                .obtain(bytes)
                .map_err(|why| no_memory("a table of attached memory", bytes, &why))?;
            own.tables.push(table);
            own.room = room;
        }
        let Some(table) = own.tables.last().copied() else {
            return Ok(());
        };
        let Some(words) = words(heap, table, own.room) else {
            return fail!(
                Class::Intern,
                "a table of attached memory is not in the heap"
            );
        };
        let line = self.block.target(self.rank);
        let version = line.version.load(Ordering::Relaxed);
        line.version.store(version + 1, Ordering::Relaxed);
        // The odd version is seen before any change.
        fence(Ordering::Release);
        let regions = own.regions.iter().filter(|(_, bytes)| **bytes > 0);
        for (entry, (address, bytes)) in words.chunks_exact(WORDS).zip(regions) {
            let last = address + (*bytes as usize - 1);
            let offset = heap
                .offset_of(*address)
                .filter(|_| heap.offset_of(last).is_some());
            let values = [
                *address as u64,
                *bytes,
                offset.map_or(0, |offset| offset + 1),
            ];
            for (word, value) in entry.iter().zip(values) {
                word.store(value, Ordering::Relaxed);
            }
        }
        line.regions.store(table, Ordering::Relaxed);
        line.region_count.store(count, Ordering::Relaxed);
        line.version.store(version + 2, Ordering::Release); // pairs with `read_table`
        Ok(())
    }

    /// Reads a rank's table.
    ///
    /// Errors: the rank has ended while it changed it.
    #[cold]
    fn read_table(&self, target: usize, seen: &mut Seen) -> Result<()> {
        let heap = the_heap()?;
        let line = self.block.target(target);
        let mut looks = 0u32;
        loop {
            // Acquire: pairs with `publish`.
            let version = line.version.load(Ordering::Acquire);
            if version % 2 == 0 {
                let (table, count) = (
                    line.regions.load(Ordering::Relaxed),
                    line.region_count.load(Ordering::Relaxed),
                );
                seen.entries.clear();
                let words = words(heap, table, count).unwrap_or_default();
                seen.entries.extend(words.chunks_exact(WORDS).map(|entry| {
                    let value = |at: usize| entry[at].load(Ordering::Relaxed);
                    Entry {
                        address: value(0),
                        bytes: value(1),
                        offset: value(2).checked_sub(1),
                    }
                }));
                // What was read was read before the version is compared.
                fence(Ordering::Acquire);
                if line.version.load(Ordering::Relaxed) == version {
                    seen.version = version;
                    return Ok(());
                }
            }
            looks += 1;
            schedule::yield_now();
            if looks.is_multiple_of(LOOKS) {
                let process = self.targets[target].process;
                let died = engine::table().is_some_and(|table| table.of(process).has_died());
                if died {
                    return fail!(
                        Class::ProcFailed,
                        "target rank {target} of {} has ended while it attached memory",
                        self.title()
                    );
                }
            }
        }
    }

    /// Where memory of a dynamic window is: `bytes` from `address` of the target's on, all of it attached in one piece.
    ///
    /// Errors: MPI_ERR_RMA_RANGE if it is not; the target has died while it changed its table.
    pub fn find_region(&self, target: usize, address: usize, bytes: u64) -> Result<Region> {
        let dynamic = self.as_dynamic()?;
        let mut seen = dynamic.seen[target].lock();
        // Acquire: what the target has attached is seen.
        let version = self.block.target(target).version.load(Ordering::Acquire);
        if version != seen.version {
            self.read_table(target, &mut seen)?;
        }
        let first = address as u64;
        let after = seen.entries.partition_point(|entry| entry.address <= first);
        let found = after
            .checked_sub(1)
            .map(|at| seen.entries[at])
            .filter(|entry| {
                let inside = first - entry.address;
                inside < entry.bytes && bytes <= entry.bytes - inside
            });
        let Some(entry) = found else {
            return fail!(
                Class::RmaRange,
                "{bytes} bytes at address {address:#x} are not attached to {} in one piece at target rank {target}",
                self.title()
            );
        };
        let process = self.targets[target].process;
        let inside = first - entry.address;
        let region = match entry.offset {
            Some(offset) => {
                let offset = offset + inside;
                let Some(here) = the_heap()?.at(offset, bytes) else {
                    return fail!(
                        Class::RmaRange,
                        "attached memory at {offset} is not in the heap"
                    );
                };
                Region {
                    way: Way::Direct,
                    address: here as usize,
                    key: offset,
                }
            }
            None => Region {
                way: ways::to(process),
                address,
                key: private_key(process, first),
            },
        };
        Ok(region)
    }

    /// Whether it was made by MPI_Win_create_dynamic.
    pub fn is_dynamic(&self) -> bool {
        self.flavor == Flavor::Dynamic
    }
}
