//! The space of context ids of one process: pages of 16-bit ids, a bit for each that is free; plain data.
//!
//! A context is 16 bits page, 9 bits word, 5 bits bit, 2 bits type; without the type it is a *prefix*. Taken lowest page,
//! lowest word, highest bit first, so the first id made is 124 (MPICH's design notes, paper 004).
//! Invariant: a set bit is a prefix that nothing in this process uses or has claimed; every change takes or frees exactly
//! the bits it names, under the caller's lock.

use std::collections::BTreeSet;

/// Words of a page, 32 prefixes each.
pub const WORDS: usize = 512;
/// Pages there can be; the last number is never a page.
pub const PAGES: u32 = 0xffff;
/// Says in an offer that there is no further page.
pub const NO_PAGE: u32 = u32::MAX;

/// The identity of an allocation, one on all members and different from every other allocation of any of them at the time.
///
/// Ordered: the lower one goes first (paper 000, with the sequence for several operations on one parent).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The parent's context.
    pub context: u32,
    /// The tag of a group's operation.
    pub tag: i32,
    /// Number of the creation on that parent.
    pub sequence: u32,
}

/// The ids of a process, and who has the turn with them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    words: usize,
    limit: u32,
    /// A page beyond the end is wholly free.
    pages: Vec<Box<[u32]>>,
    /// No page before this one has a free prefix.
    first: u32,
    /// Somebody has offered the eager part of page 0.
    pub eager_taken: bool,
    /// Somebody has offered a mask.
    pub mask_taken: bool,
    /// The lowest of those that want the mask.
    pub lowest: Option<Key>,
    /// Those that wait for their turn, or have it.
    pub queue: BTreeSet<Key>,
    /// Slices of page 0 that are offered, a bit each.
    pub slices: u32,
}

/// The index of a prefix in the order of taking, and back.
pub const fn in_order(prefix: u32) -> u32 {
    prefix ^ 31
}

/// The prefixes of set bits of the mask of a page, in the order of taking.
pub fn prefixes(mask: &[u32], first: u32) -> impl Iterator<Item = u32> {
    mask.iter().enumerate().flat_map(move |(word, bits)| {
        let mut bits = *bits;
        std::iter::from_fn(move || {
            let bit = bits.checked_ilog2()?;
            bits &= !(1 << bit);
            Some(first + word as u32 * 32 + bit)
        })
    })
}

impl Space {
    /// A space of pages of so many words, at most so many pages, with the first prefixes reserved.
    pub const fn new(words: usize, limit: u32) -> Space {
        Space {
            words,
            limit,
            pages: Vec::new(),
            first: 0,
            eager_taken: false,
            mask_taken: false,
            lowest: None,
            queue: BTreeSet::new(),
            slices: 0,
        }
    }

    /// The library's: MPI_COMM_WORLD, MPI_COMM_SELF and the library's own id are taken.
    pub const fn of_process() -> Space {
        Space::new(WORDS, PAGES)
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// No more than so many pages may be used, for tests of what happens when ids run out.
    pub fn set_limit(&mut self, pages: u32) {
        self.limit = pages.clamp(1, PAGES);
    }

    fn per_page(&self) -> u32 {
        self.words as u32 * 32
    }

    /// What is free on a page from word `from` on, into `mask`.
    pub fn read(&self, page: u32, from: usize, mask: &mut [u32]) {
        match self.pages.get(page as usize) {
            Some(words) => mask.copy_from_slice(&words[from..from + mask.len()]),
            None if page < self.limit => {
                mask.fill(u32::MAX);
                if page == 0 && from == 0 {
                    mask[0] &= RESERVED;
                }
            }
            None => mask.fill(0),
        }
    }

    /// The prefix of a bit in the mask of a page is this plus its position.
    pub fn base(&self, page: u32) -> u32 {
        page * self.per_page()
    }

    pub fn is_free(&self, prefix: u32) -> bool {
        let page = prefix / self.per_page();
        let within = (prefix % self.per_page()) as usize;
        match self.pages.get(page as usize) {
            Some(words) => words[within / 32] >> (within % 32) & 1 == 1,
            None => page < self.limit && (prefix >= 32 || RESERVED >> prefix & 1 == 1),
        }
    }

    /// Takes a prefix. False: it is not free, or there is no memory for its page.
    pub fn take(&mut self, prefix: u32) -> bool {
        let page = prefix / self.per_page();
        if page >= self.limit || !self.make(page) {
            return false;
        }
        let within = (prefix % self.per_page()) as usize;
        let word = &mut self.pages[page as usize][within / 32];
        let bit = 1 << (within % 32);
        let free = *word & bit != 0;
        *word &= !bit;
        free
    }

    /// Makes sure that there is memory for a page's mask.
    pub fn make(&mut self, page: u32) -> bool {
        while self.pages.len() <= page as usize {
            let mut words = Vec::new();
            if self.pages.try_reserve(1).is_err() || words.try_reserve_exact(self.words).is_err() {
                return false;
            }
            words.resize(self.words, u32::MAX);
            if self.pages.is_empty() {
                words[0] = RESERVED;
            }
            self.pages.push(words.into_boxed_slice());
        }
        true
    }

    /// Gives a prefix back; it must be taken.
    pub fn free(&mut self, prefix: u32) {
        let page = prefix / self.per_page();
        let within = (prefix % self.per_page()) as usize;
        if let Some(words) = self.pages.get_mut(page as usize) {
            debug_assert!(words[within / 32] >> (within % 32) & 1 == 0, "{prefix}");
            words[within / 32] |= 1 << (within % 32);
            self.first = self.first.min(page);
        }
    }

    /// The first page from `from` on that has a free prefix.
    pub fn page_with_room(&mut self, from: u32) -> Option<u32> {
        while (self.first as usize) < self.pages.len()
            && self.pages[self.first as usize]
                .iter()
                .all(|word| *word == 0)
        {
            self.first += 1;
        }
        let start = from.max(self.first);
        let found = (start..self.pages.len() as u32)
            .find(|page| self.pages[*page as usize].iter().any(|word| *word != 0));
        let page = found.unwrap_or(start.max(self.pages.len() as u32));
        (page < self.limit).then_some(page)
    }

    /// The first free prefix at or after this index in the order, as an index.
    pub fn free_from(&mut self, index: u32) -> Option<u32> {
        let page = index / self.per_page();
        let room = self.page_with_room(page)?;
        let mut index = if room > page { self.base(room) } else { index };
        while index / self.per_page() < self.limit {
            if self.is_free(in_order(index)) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// The index after the last one in use.
    pub fn after_highest(&self) -> u32 {
        for (page, words) in self.pages.iter().enumerate().rev() {
            if let Some(word) = words.iter().rposition(|word| *word != u32::MAX) {
                let lowest = (!words[word]).trailing_zeros();
                return self.base(page as u32) + in_order(word as u32 * 32 + lowest) + 1;
            }
        }
        in_order(0) + 1
    }

    /// How many prefixes are taken, the reserved ones included.
    pub fn taken(&self) -> usize {
        let words = self.pages.iter().flatten();
        let taken: u32 = words.map(|word| word.count_zeros()).sum();
        taken.max(RESERVED.count_zeros()) as usize
    }

    /// The words that are in use, as hexadecimal, lowest word first as in MPICH.
    pub fn hexadecimal(&self) -> String {
        let last = self
            .pages
            .iter()
            .rposition(|page| page.iter().any(|word| *word != u32::MAX));
        let mut text = String::new();
        for page in self.pages.iter().take(last.map_or(0, |last| last + 1)) {
            let used = page.iter().rposition(|word| *word != u32::MAX);
            let words = page.iter().take(used.map_or(0, |used| used + 1));
            let words: Vec<String> = words.map(|word| format!("{word:08x}")).collect();
            text.push_str(&format!(
                "{}{}",
                if text.is_empty() { "" } else { " | " },
                words.join("")
            ));
        }
        text
    }
}

/// Word 0 of page 0 at the start.
const RESERVED: u32 = u32::MAX << 3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn take_first(space: &mut Space) -> u32 {
        let index = space.free_from(0).unwrap();
        assert!(space.take(in_order(index)));
        in_order(index) << 2
    }

    #[test]
    fn ids_come_in_the_order_of_the_design_notes() {
        let mut space = Space::of_process();
        let first: Vec<u32> = (0..31).map(|_| take_first(&mut space)).collect();
        assert_eq!(first[..3], [124, 120, 116]);
        assert_eq!(first[27..], [16, 12, 252, 248], "0, 4 and 8 are reserved");
        space.free(124 >> 2);
        assert_eq!(take_first(&mut space), 124);
    }

    #[test]
    fn there_are_16384_prefixes_and_then_the_next_page() {
        let mut space = Space::of_process();
        for _ in 3..16384 {
            assert!(take_first(&mut space) < 1 << 16);
        }
        assert_eq!(space.taken(), 16384);
        assert_eq!(take_first(&mut space), 1 << 16 | 124);
        space.set_limit(1);
        assert_eq!(space.free_from(0), None);
        assert_eq!(space.page_with_room(0), None);
        space.free(77);
        assert_eq!(space.free_from(0), Some(in_order(77)));
    }

    #[test]
    fn the_place_after_the_highest() {
        let mut space = Space::of_process();
        assert_eq!(
            space.after_highest(),
            32,
            "prefix 0 is the last of its word"
        );
        assert!(space.take(in_order(40)));
        assert_eq!(space.after_highest(), 41);
        assert!(space.take(in_order(20_000)));
        assert_eq!(space.after_highest(), 20_001);
        space.free(in_order(20_000));
        assert_eq!(space.after_highest(), 41);
    }

    proptest! {
        /// Against a set of numbers.
        #[test]
        fn like_a_plain_set(steps in proptest::collection::vec((3u32..200, any::<bool>()), 1..300)) {
            let mut space = Space::new(2, 3);
            let mut free: BTreeSet<u32> = (3..192).collect();
            for (prefix, take) in steps {
                if take {
                    prop_assert_eq!(space.take(prefix), free.remove(&prefix));
                } else if prefix < 192 && !free.contains(&prefix) {
                    space.free(prefix);
                    free.insert(prefix);
                }
                let lowest = free.iter().map(|prefix| in_order(*prefix)).min();
                prop_assert_eq!(space.free_from(0), lowest);
                prop_assert_eq!(space.taken(), 192 - free.len());
                let mut mask = [0; 2];
                space.read(1, 0, &mut mask);
                let listed: Vec<u32> = prefixes(&mask, space.base(1)).collect();
                let mut plain: Vec<u32> = free.iter().copied().filter(|p| p / 64 == 1).collect();
                plain.sort_by_key(|prefix| in_order(*prefix));
                prop_assert_eq!(listed, plain);
            }
        }
    }
}
