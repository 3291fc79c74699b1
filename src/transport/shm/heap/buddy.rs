//! A buddy allocator of pages whose state lies in shared memory; its caller holds a lock.
//!
//! Invariant: each page of the range belongs to exactly one free block, which is in the list of its order, or to one used range.
//! Only the first page of either has an entry with a tag; the tags of all others are zero. What was allocated trims its block to the
//! pages wanted and has the entries that freeing it needs, so freeing never fails.
//!
//! A range is used from the store of its tag on, and until that is taken away: whichever process dies holding the lock, after whichever
//! store, the used ranges are true, and [`Buddy::rebuild`] makes all else of them.

use super::state::{Entry, Lists, ORDERS};
use crate::sync::{AtomicU32, Ordering, compiler_fence};
use std::io::{Error, Result};

const FREE: u32 = 1 << 8;
const USED: u32 = 1 << 9;

/// Where the entries are. Those of some pages may not be there yet, so that a large range costs little.
pub trait Entries {
    /// The entry of a page, if it is there.
    fn find(&self, page: u32) -> Option<&Entry>;
    /// Makes it be there.
    fn make(&self, page: u32) -> Result<()>;
    /// The first page behind one without an entry that may have one.
    fn behind_missing(&self, page: u32) -> u32;
}

/// The allocator, for those who hold its lock.
pub struct Buddy<'a, E> {
    pub lists: &'a Lists,
    pub entries: &'a E,
    /// The pages that are given out: from `first`, which is not zero, to before `end`.
    pub first: u32,
    pub end: u32,
    /// Owner of the ranges that are allocated; not zero.
    pub owner: u32,
}

fn get(word: &AtomicU32) -> u32 {
    word.load(Ordering::Relaxed) // ordered by the lock
}

/// One step of a change. After the death of the process that makes it others see all steps before it: the compiler keeps their order,
/// and a processor gives up none of a process that ends.
fn set(word: &AtomicU32, value: u32) {
    #[cfg(test)]
    tests::step();
    compiler_fence(Ordering::SeqCst);
    word.store(value, Ordering::Relaxed); // ordered by the lock
}

/// Aligned blocks that a range consists of: first page and order.
fn blocks(start: u32, pages: u32) -> impl Iterator<Item = (u32, u32)> {
    let (mut at, mut left) = (start, pages);
    std::iter::from_fn(move || {
        let order = at.trailing_zeros().min(left.checked_ilog2()?);
        let block = (at, order);
        at += 1 << order;
        left -= 1 << order;
        Some(block)
    })
}

impl<E: Entries> Buddy<'_, E> {
    /// Puts all pages into the lists, of which none is used.
    ///
    /// Errors: no memory for entries.
    pub fn fill(&self) -> Result<()> {
        for (start, _) in blocks(self.first, self.end - self.first) {
            self.entries.make(start)?;
        }
        self.rebuild();
        Ok(())
    }

    /// Makes the lists anew from the used ranges, whatever they were. Pages between those stay out of use where there is no memory for
    /// their entries. Returns how many pages are used.
    pub fn rebuild(&self) -> u64 {
        self.lists.0.iter().for_each(|head| set(head, 0));
        let mut used: Vec<(u32, u32)> = Vec::new();
        self.each_entry(|page, entry| {
            let behind_last = used.last().map_or(0, |(start, pages)| start + pages);
            match get(&entry.tag) {
                USED if page >= behind_last => used.push((page, get(&entry.pages))),
                _ => set(&entry.tag, 0),
            }
        });
        let mut at = self.first;
        for (start, pages) in used.iter().copied().chain([(self.end, 0)]) {
            for (block, order) in blocks(at, start - at) {
                if self.entries.make(block).is_ok() {
                    self.push(block, order);
                }
            }
            at = start + pages;
        }
        used.iter().map(|(_, pages)| u64::from(*pages)).sum()
    }

    /// Makes this owner that of all used ranges of another one. Returns where they begin.
    pub fn take_from(&self, owner: u32) -> Vec<u32> {
        let mut taken = Vec::new();
        self.each_entry(|page, entry| {
            if (get(&entry.tag), get(&entry.next)) == (USED, owner) {
                set(&entry.next, self.owner);
                taken.push(page);
            }
        });
        taken
    }

    fn each_entry(&self, mut visit: impl FnMut(u32, &Entry)) {
        let mut page = self.first;
        while page < self.end {
            page = match self.entries.find(page) {
                Some(entry) => {
                    visit(page, entry);
                    page + 1
                }
                None => self.entries.behind_missing(page),
            };
        }
    }

    fn entry(&self, page: u32) -> &Entry {
        self.entries
            .find(page)
            .expect("an entry of a block of the heap")
    }

    fn push(&self, start: u32, order: u32) {
        let (head, entry) = (&self.lists.0[order as usize], self.entry(start));
        let next = get(head);
        if next != 0 {
            set(&self.entry(next).previous, start);
        }
        set(&entry.next, next);
        set(&entry.previous, 0);
        set(&entry.tag, FREE | order);
        set(head, start);
    }

    fn remove(&self, start: u32, order: u32) {
        let entry = self.entry(start);
        let (previous, next) = (get(&entry.previous), get(&entry.next));
        let before = match previous {
            0 => &self.lists.0[order as usize],
            previous => &self.entry(previous).next,
        };
        set(before, next);
        if next != 0 {
            set(&self.entry(next).previous, previous);
        }
        set(&entry.tag, 0);
    }

    /// Allocates `pages` pages, at least one, the first a multiple of 2^`align`.
    ///
    /// Errors: there are none in a row; no memory for entries.
    pub fn allocate(&self, pages: u32, align: u32) -> Result<u32> {
        let none = || Error::from_raw_os_error(libc::ENOMEM);
        let order = pages
            .checked_next_power_of_two()
            .ok_or_else(none)?
            .ilog2()
            .max(align);
        let found = (order..ORDERS as u32).find(|order| get(&self.lists.0[*order as usize]) != 0);
        let found = found.ok_or_else(none)?;
        let start = get(&self.lists.0[found as usize]);
        let halves = || (order..found).map(|order| (start + (1 << order), order));
        let rest = || blocks(start + pages, (1 << order) - pages);
        // All entries before the first change: nothing is to be undone.
        for (page, _) in halves().chain(rest()).chain(blocks(start, pages)) {
            self.entries.make(page)?;
        }
        self.remove(start, found);
        for (half, order) in halves().chain(rest()) {
            self.push(half, order);
        }
        let entry = self.entry(start);
        set(&entry.pages, pages);
        set(&entry.next, self.owner);
        set(&entry.tag, USED);
        Ok(start)
    }

    /// The pages of the used range that begins at a page, if there is one.
    pub fn used(&self, start: u32) -> Option<u32> {
        let inside = (self.first..self.end).contains(&start);
        let entry = self.entries.find(start).filter(|_| inside)?;
        (get(&entry.tag) == USED).then(|| get(&entry.pages))
    }

    /// Takes a used range back.
    pub fn free(&self, start: u32) {
        let pages = self.used(start).expect("a used range of the heap");
        set(&self.entry(start).tag, 0);
        for (start, order) in blocks(start, pages) {
            self.merge(start, order);
        }
    }

    fn merge(&self, mut start: u32, mut order: u32) {
        while order + 1 < ORDERS as u32 {
            let other = start ^ (1 << order);
            let inside = (self.first..self.end).contains(&other);
            let entry = self.entries.find(other).filter(|_| inside);
            if entry.is_none_or(|entry| get(&entry.tag) != FREE | order) {
                break;
            }
            self.remove(other, order);
            start = start.min(other);
            order += 1;
        }
        self.push(start, order);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Steps that this thread still makes before it dies.
        static STEPS: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    pub fn step() {
        let left = STEPS.get();
        assert_ne!(left, 0, "dies here");
        STEPS.set(left - 1);
    }

    /// Does something, and dies before the step after so many. Whether it died.
    pub fn dies_after(steps: usize, work: impl FnOnce()) -> bool {
        STEPS.set(steps);
        let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        STEPS.set(usize::MAX);
        died
    }

    /// Entries in plain memory, of which as many can be made as are left.
    struct Plain {
        all: Vec<Entry>,
        made: Vec<Cell<bool>>,
        left: Cell<usize>,
    }

    impl Plain {
        fn new(pages: usize) -> Plain {
            let entry = || Entry {
                tag: AtomicU32::new(0),
                next: AtomicU32::new(0),
                previous: AtomicU32::new(0),
                pages: AtomicU32::new(0),
            };
            Plain {
                all: (0..pages).map(|_| entry()).collect(),
                made: vec![Cell::new(false); pages],
                left: Cell::new(usize::MAX),
            }
        }
    }

    impl Entries for Plain {
        fn find(&self, page: u32) -> Option<&Entry> {
            self.made[page as usize]
                .get()
                .then(|| &self.all[page as usize])
        }

        fn behind_missing(&self, page: u32) -> u32 {
            page + 1
        }

        fn make(&self, page: u32) -> Result<()> {
            if !self.made[page as usize].get() {
                let left = self.left.get().checked_sub(1);
                self.left
                    .set(left.ok_or(Error::from_raw_os_error(libc::ENOMEM))?);
                self.made[page as usize].set(true);
            }
            Ok(())
        }
    }

    fn lists() -> Lists {
        Lists(std::array::from_fn(|_| AtomicU32::new(0)))
    }

    /// The free blocks by order and number, each list checked.
    fn free_blocks(buddy: &Buddy<'_, Plain>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for order in 0..ORDERS as u32 {
            let (mut at, mut previous) = (get(&buddy.lists.0[order as usize]), 0);
            while at != 0 {
                let entry = buddy.entry(at);
                assert_eq!(
                    (get(&entry.tag), get(&entry.previous)),
                    (FREE | order, previous)
                );
                assert_eq!(at % (1 << order), 0);
                found.push((at, order));
                previous = at;
                at = get(&entry.next);
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn ranges_never_overlap_and_all_come_back() {
        for seed in 0..40u64 {
            let mut state = seed * 2 + 1;
            let mut random = |below: u32| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u32 % below
            };
            let (first, end) = (1 + random(40), 300 + random(700));
            let (lists, plain) = (lists(), Plain::new(1024));
            let buddy = Buddy {
                lists: &lists,
                entries: &plain,
                first,
                end,
                owner: 1,
            };
            buddy.fill().unwrap();
            let whole = free_blocks(&buddy);
            // Which pages are used, counted here.
            let mut owner = vec![0u32; end as usize];
            let mut ranges: Vec<(u32, u32)> = Vec::new();
            let mut number = 0;
            for _ in 0..600 {
                let starved = random(8) == 0;
                plain.left.set(if starved {
                    random(3) as usize
                } else {
                    usize::MAX
                });
                if random(5) < 3 {
                    let longest = [4, 40, 400][random(3) as usize];
                    let (pages, align) = (1 + random(longest), random(5));
                    let before = free_blocks(&buddy);
                    match buddy.allocate(pages, align) {
                        Ok(start) => {
                            assert_eq!(start % (1 << align), 0);
                            number += 1;
                            for page in start..start + pages {
                                assert!(page >= first);
                                assert_eq!(owner[page as usize], 0);
                                owner[page as usize] = number;
                            }
                            ranges.push((start, pages));
                        }
                        Err(_) => assert_eq!(before, free_blocks(&buddy)),
                    }
                } else if !ranges.is_empty() {
                    let (start, pages) = ranges.swap_remove(random(ranges.len() as u32) as usize);
                    assert_eq!(buddy.used(start), Some(pages));
                    if pages > 1 {
                        assert_eq!(buddy.used(start + 1), None);
                    }
                    buddy.free(start);
                    owner[start as usize..(start + pages) as usize].fill(0);
                }
                let free: u32 = free_blocks(&buddy)
                    .iter()
                    .map(|(_, order)| 1 << order)
                    .sum();
                let used = owner.iter().filter(|owner| **owner != 0).count() as u32;
                assert_eq!(free + used, end - first);
            }
            for (start, _) in ranges {
                buddy.free(start);
            }
            assert_eq!(free_blocks(&buddy), whole);
        }
    }

    /// At every step of an allocation and of a free, with neighbours of all kinds: what others use stays theirs, nothing is given out
    /// twice, and all that is not used is free again.
    #[test]
    fn the_lists_are_made_anew_after_a_death_at_any_step() {
        type Work = fn(&Buddy<'_, Plain>, u32);
        let work: [(&str, Work); 3] = [
            ("allocates", |buddy, _| drop(buddy.allocate(5, 0))),
            ("allocates aligned", |buddy, _| drop(buddy.allocate(3, 4))),
            ("frees", |buddy, range| buddy.free(range)),
        ];
        for (what, work) in work {
            let mut steps = 0;
            loop {
                let (lists, plain) = (lists(), Plain::new(256));
                let buddy = Buddy {
                    lists: &lists,
                    entries: &plain,
                    first: 3,
                    end: 250,
                    owner: 1,
                };
                buddy.fill().unwrap();
                let ranges: Vec<u32> = [3, 1, 7, 16, 2, 30, 5]
                    .iter()
                    .map(|pages| buddy.allocate(*pages, 0).unwrap())
                    .collect();
                // Holes on both sides of the range that is given back.
                buddy.free(ranges[1]);
                buddy.free(ranges[3]);
                let (range, others) = (ranges[2], [ranges[0], ranges[4], ranges[5], ranges[6]]);
                let died = dies_after(steps, || work(&buddy, range));
                let used = buddy.rebuild();
                let free: u32 = free_blocks(&buddy)
                    .iter()
                    .map(|(_, order)| 1 << order)
                    .sum();
                assert_eq!(u64::from(free) + used, 247, "{what}, {steps} steps");
                for (start, pages) in others.iter().zip([3, 2, 30, 5]) {
                    assert_eq!(buddy.used(*start), Some(pages), "{what}, {steps} steps");
                }
                // All that is used, whoever died with it, can be given back, and then all is as at the beginning.
                (3..250)
                    .filter(|page| buddy.used(*page).is_some())
                    .for_each(|page| buddy.free(page));
                assert_eq!(
                    free_blocks(&buddy)
                        .iter()
                        .map(|(_, order)| 1u32 << order)
                        .sum::<u32>(),
                    247
                );
                if !died {
                    assert!(steps > 5, "{what}");
                    break;
                }
                steps += 1;
            }
        }
    }
}
