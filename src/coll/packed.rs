//! A user's buffer as consecutive bytes: itself if it has no holes, else a copy. Copies of parts that are overwritten, and parts of
//! such a buffer.

use crate::datatype::{Buffer, Parts, Scratch};
use crate::error::memory;

/// See the module.
pub struct Packed {
    user: Buffer,
    /// Empty if the buffer has no holes.
    copy: Scratch,
}

impl Packed {
    /// `filled` says that the buffer holds data.
    pub fn of(user: Buffer, filled: bool) -> Packed {
        let bytes = match user.contiguous() {
            Some(_) => 0,
            None => user.len(),
        };
        let copy = Scratch::new(bytes);
        if filled {
            user.copy_to(&copy.buffer(), bytes);
        }
        Packed { user, copy }
    }

    pub fn bytes(&self) -> Buffer {
        match self.user.contiguous() {
            Some(_) => self.user,
            None => self.copy.buffer(),
        }
    }

    /// At the end: the user's buffer gets what came in, if anything did.
    pub fn unpack(self, came: bool) {
        if came && self.user.contiguous().is_none() {
            self.copy.buffer().copy_to(&self.user, self.user.len());
        }
    }
}

/// A packed copy of all parts, of an operation in place.
pub struct Copied {
    pub parts: Parts,
    _memory: Scratch,
}

impl Copied {
    pub fn of(parts: &Parts, ranks: usize) -> Copied {
        let memory = Scratch::new((0..ranks).map(|rank| parts.len(rank)).sum());
        let whole = memory.buffer();
        let mut begin = 0;
        let copies = (0..ranks).map(|rank| {
            let part = parts.of(rank);
            let copy = whole.slice(begin, part.len());
            part.copy_to(&copy, part.len());
            begin += part.len();
            copy
        });
        Copied {
            parts: Parts::Each(copies.collect()),
            _memory: memory,
        }
    }
}

/// A packed copy of a buffer's data.
pub fn packed_copy(buffer: &Buffer) -> Box<[u8]> {
    let mut copy = scratch(buffer.len());
    buffer.read(0, &mut copy);
    copy
}

/// Zeroed memory for packed data that other code takes as a slice; else there is [`Scratch`].
pub fn scratch(bytes: usize) -> Box<[u8]> {
    memory::or_end(memory::filled(bytes, 0, "an operation's data")).into_boxed_slice()
}

/// Consecutive parts of a buffer without holes.
pub fn cut(whole: &Buffer, begins: &[usize]) -> Parts {
    let pairs = begins.windows(2);
    let parts = pairs.map(|pair| whole.slice(pair[0], pair[1] - pair[0]));
    Parts::Each(parts.collect())
}

/// As [`cut`], in parts of so many bytes.
pub fn cut_equally(whole: &Buffer, each: usize) -> Parts {
    let begins = (0..whole.len()).step_by(each.max(1));
    Parts::Each(begins.map(|begin| whole.slice(begin, each)).collect())
}
