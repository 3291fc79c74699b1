//! Matching: posted receives and unexpected messages, each found in constant time.
//!
//! Both are hash tables of FIFO lists keyed by (context, source, tag). A receive with wildcards is kept under the key
//! with the wildcards in it, so an arriving message looks under at most four keys and takes the oldest; a receive
//! with wildcards walks the unexpected messages in order of arrival. Invariant: nodes of one key are in posting
//! (arrival) order, and `sequence` orders nodes of different keys.

use crate::error::memory;

/// MPI_ANY_SOURCE, as MPICH's ABI has it.
pub const ANY_SOURCE: i32 = -2;
/// MPI_ANY_TAG.
pub const ANY_TAG: i32 = -1;

const NONE: u32 = u32::MAX;

/// What a message is matched by; `source` is the rank in the communicator that `context` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub context: u32,
    pub source: i32,
    pub tag: i32,
}

impl Key {
    #[inline]
    fn hash(self) -> u64 {
        let mixed = (u64::from(self.context) << 32 | u64::from(self.tag as u32))
            ^ (u64::from(self.source as u32)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Whether a message with the key `message` fits a receive with this one.
    #[inline(always)]
    pub fn takes(self, message: Key) -> bool {
        self.context == message.context
            && (self.source == ANY_SOURCE || self.source == message.source)
            && (self.tag == ANY_TAG || self.tag == message.tag)
    }

    fn class(self) -> usize {
        usize::from(self.source == ANY_SOURCE) | usize::from(self.tag == ANY_TAG) << 1
    }
}

#[derive(Clone, Copy)]
struct Node {
    key: Key,
    value: u32,
    sequence: u64,
    /// Neighbours in the bucket.
    next: u32,
    previous: u32,
    /// Neighbours in the order of arrival.
    newer: u32,
    older: u32,
}

#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

const EMPTY: Ends = Ends {
    first: NONE,
    last: NONE,
};

/// A hash table of FIFO lists; `ARRIVAL` says whether the order of all nodes is kept too.
struct Lists<const ARRIVAL: bool> {
    buckets: Vec<Ends>,
    shift: u32,
    nodes: Vec<Node>,
    free: u32,
    count: usize,
    sequence: u64,
    oldest: u32,
    newest: u32,
}

const FIRST_BUCKETS: usize = 64;

impl<const ARRIVAL: bool> Default for Lists<ARRIVAL> {
    fn default() -> Self {
        Self {
            buckets: vec![EMPTY; FIRST_BUCKETS],
            shift: 64 - FIRST_BUCKETS.trailing_zeros(),
            nodes: Vec::new(),
            free: NONE,
            count: 0,
            sequence: 0,
            oldest: NONE,
            newest: NONE,
        }
    }
}

impl<const ARRIVAL: bool> Lists<ARRIVAL> {
    #[inline]
    fn bucket(&self, key: Key) -> usize {
        (key.hash() >> self.shift) as usize
    }

    fn push(&mut self, key: Key, value: u32) -> u32 {
        if self.count > self.buckets.len() {
            self.grow();
        }
        let node = Node {
            key,
            value,
            sequence: self.sequence,
            next: NONE,
            previous: NONE,
            newer: NONE,
            older: self.newest,
        };
        self.sequence += 1;
        self.count += 1;
        let index = if self.free == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            let index = self.free;
            self.free = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            index
        };
        if ARRIVAL {
            if self.newest == NONE {
                self.oldest = index;
            } else {
                self.nodes[self.newest as usize].newer = index;
            }
            self.newest = index;
        }
        self.append(index);
        index
    }

    #[inline]
    fn append(&mut self, index: u32) {
        let bucket = self.bucket(self.nodes[index as usize].key);
        let last = self.buckets[bucket].last;
        self.nodes[index as usize].previous = last;
        self.nodes[index as usize].next = NONE;
        if last == NONE {
            self.buckets[bucket].first = index;
        } else {
            self.nodes[last as usize].next = index;
        }
        self.buckets[bucket].last = index;
    }

    #[cold]
    fn grow(&mut self) {
        let buckets = self.buckets.len() * 4;
        // Without memory for more, the lists become longer.
        let Ok(empty) = memory::filled(buckets, EMPTY, "the lists of messages") else {
            return;
        };
        let before = std::mem::replace(&mut self.buckets, empty);
        self.shift = 64 - buckets.trailing_zeros();
        // Nodes of one key stand in one bucket, in order, and keep that order.
        for ends in before {
            let mut index = ends.first;
            while index != NONE {
                let next = self.nodes[index as usize].next;
                self.append(index);
                index = next;
            }
        }
    }

    #[inline]
    fn first(&self, key: Key) -> Option<u32> {
        let mut index = self.buckets[self.bucket(key)].first;
        while index != NONE {
            let node = &self.nodes[index as usize];
            if node.key == key {
                return Some(index);
            }
            index = node.next;
        }
        None
    }

    #[inline]
    fn remove(&mut self, index: u32) -> u32 {
        let node = self.nodes[index as usize];
        self.unlink(&node);
        self.nodes[index as usize].next = self.free;
        self.free = index;
        self.count -= 1;
        node.value
    }

    #[inline(always)]
    fn unlink(&mut self, node: &Node) {
        if node.previous == NONE || node.next == NONE {
            let bucket = self.bucket(node.key);
            if node.previous == NONE {
                self.buckets[bucket].first = node.next;
            }
            if node.next == NONE {
                self.buckets[bucket].last = node.previous;
            }
        }
        if node.previous != NONE {
            self.nodes[node.previous as usize].next = node.next;
        }
        if node.next != NONE {
            self.nodes[node.next as usize].previous = node.previous;
        }
        if ARRIVAL {
            if node.older == NONE {
                self.oldest = node.newer;
            } else {
                self.nodes[node.older as usize].newer = node.newer;
            }
            if node.newer == NONE {
                self.newest = node.older;
            } else {
                self.nodes[node.newer as usize].older = node.older;
            }
        }
    }
}

/// Receives that wait for their message; values are the caller's request numbers.
#[derive(Default)]
pub struct Posted {
    lists: Lists<false>,
    classes: [u32; 4],
}

impl Posted {
    pub fn len(&self) -> usize {
        self.lists.count
    }

    /// How many were ever posted.
    pub fn ever(&self) -> u64 {
        self.lists.sequence
    }

    pub fn is_empty(&self) -> bool {
        self.lists.count == 0
    }

    /// Posts a receive (`key` may have wildcards); returns a name to withdraw it by.
    #[inline]
    pub fn post(&mut self, key: Key, value: u32) -> u32 {
        self.classes[key.class()] += 1;
        self.lists.push(key, value)
    }

    /// Takes the oldest receive that fits a message.
    #[inline]
    pub fn take(&mut self, message: Key) -> Option<u32> {
        if self.lists.count == self.classes[0] as usize {
            let index = self.lists.first(message)?;
            return Some(self.withdraw(index));
        }
        self.take_oldest(message)
    }

    #[inline(never)]
    fn take_oldest(&mut self, message: Key) -> Option<u32> {
        let mut best = None;
        let mut best_sequence = u64::MAX;
        for class in 0..4 {
            if self.classes[class] == 0 {
                continue;
            }
            let mut key = message;
            if class & 1 != 0 {
                key.source = ANY_SOURCE;
            }
            if class & 2 != 0 {
                key.tag = ANY_TAG;
            }
            if let Some(index) = self.lists.first(key) {
                let sequence = self.lists.nodes[index as usize].sequence;
                if sequence < best_sequence {
                    best_sequence = sequence;
                    best = Some(index);
                }
            }
        }
        best.map(|index| self.withdraw(index))
    }

    /// Takes a posted receive back by the name that `post` returned.
    #[inline]
    pub fn withdraw(&mut self, index: u32) -> u32 {
        self.classes[self.lists.nodes[index as usize].key.class()] -= 1;
        self.lists.remove(index)
    }
}

/// Messages that nobody has asked for; values are the caller's message numbers.
#[derive(Default)]
pub struct Unexpected {
    lists: Lists<true>,
}

impl Unexpected {
    pub fn len(&self) -> usize {
        self.lists.count
    }

    /// Gives the memory of the tables back, once there is no message.
    pub fn shrink(&mut self) {
        if self.is_empty() {
            self.lists = Lists {
                sequence: self.lists.sequence,
                ..Lists::default()
            };
        }
    }

    /// How many there ever were.
    pub fn ever(&self) -> u64 {
        self.lists.sequence
    }

    /// Where that is counted.
    pub fn ever_at(&self) -> &u64 {
        &self.lists.sequence
    }

    pub fn is_empty(&self) -> bool {
        self.lists.count == 0
    }

    pub fn push(&mut self, key: Key, value: u32) {
        self.lists.push(key, value);
    }

    /// The oldest message that fits a receive (`wanted` may have wildcards), left where it is.
    #[inline]
    pub fn find(&self, wanted: Key) -> Option<u32> {
        self.node(wanted)
            .map(|index| self.lists.nodes[index as usize].value)
    }

    /// Takes the oldest message that fits a receive.
    #[inline]
    pub fn take(&mut self, wanted: Key) -> Option<u32> {
        if self.lists.count == 0 {
            return None;
        }
        self.node(wanted).map(|index| self.lists.remove(index))
    }

    /// Takes the oldest message with this key, without wildcards, that `is` returns true for.
    pub fn take_one(&mut self, key: Key, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut index = self.lists.first(key)?;
        while index != NONE {
            let node = &self.lists.nodes[index as usize];
            if node.key == key && is(node.value) {
                return Some(self.lists.remove(index));
            }
            index = node.next;
        }
        None
    }

    #[inline]
    fn node(&self, wanted: Key) -> Option<u32> {
        if wanted.class() == 0 {
            return self.lists.first(wanted);
        }
        let mut index = self.lists.oldest;
        while index != NONE {
            let node = &self.lists.nodes[index as usize];
            if wanted.takes(node.key) {
                return Some(index);
            }
            index = node.newer;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator: the tests compare with plain vectors over many seeds.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }

        fn key(&mut self, wildcards: bool) -> Key {
            let mut key = Key {
                context: self.below(2) as u32 * 4,
                source: self.below(3) as i32,
                tag: self.below(4) as i32,
            };
            if wildcards && self.below(3) == 0 {
                key.source = ANY_SOURCE;
            }
            if wildcards && self.below(3) == 0 {
                key.tag = ANY_TAG;
            }
            key
        }
    }

    const SEEDS: u64 = if cfg!(miri) { 3 } else { 200 };

    #[test]
    fn posted_receives_match_like_a_plain_list() {
        for seed in 0..SEEDS {
            let mut random = Random(seed);
            let (mut posted, mut plain) = (Posted::default(), Vec::<(Key, u32, u32)>::new());
            for value in 0..500 {
                match random.below(5) {
                    0..=2 => {
                        let key = random.key(true);
                        plain.push((key, value, posted.post(key, value)));
                    }
                    3 => {
                        let message = random.key(false);
                        let at = plain.iter().position(|cursor| cursor.0.takes(message));
                        let expected = at.map(|at| plain.remove(at).1);
                        assert_eq!(posted.take(message), expected);
                    }
                    _ if !plain.is_empty() => {
                        let at = random.below(plain.len() as u64) as usize;
                        let (_, value, name) = plain.remove(at);
                        assert_eq!(posted.withdraw(name), value);
                    }
                    _ => {}
                }
                assert_eq!(posted.len(), plain.len());
            }
        }
    }

    #[test]
    fn unexpected_messages_match_like_a_plain_list() {
        for seed in 0..SEEDS {
            let mut random = Random(seed);
            let (mut unexpected, mut plain) = (Unexpected::default(), Vec::<(Key, u32)>::new());
            for value in 0..500 {
                if random.below(3) < 2 {
                    let key = random.key(false);
                    unexpected.push(key, value);
                    plain.push((key, value));
                } else if random.below(4) == 0 {
                    let key = random.key(false);
                    let third = random.below(3) as u32;
                    let is = |value: u32| value % 3 == third;
                    let at = plain.iter().position(|one| one.0 == key && is(one.1));
                    let expected = at.map(|at| plain.remove(at).1);
                    assert_eq!(unexpected.take_one(key, is), expected);
                } else {
                    let wanted = random.key(true);
                    let at = plain.iter().position(|cursor| wanted.takes(cursor.0));
                    assert_eq!(unexpected.find(wanted), at.map(|at| plain[at].1));
                    let expected = at.map(|at| plain.remove(at).1);
                    assert_eq!(unexpected.take(wanted), expected);
                }
                assert_eq!(unexpected.len(), plain.len());
            }
        }
    }
}
