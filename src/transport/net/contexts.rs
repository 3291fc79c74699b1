//! Contexts of tagged operations: what leads from a completion back to the piece of a transfer.
//!
//! Invariant: a context is used again only after its completion was read.

use super::port::Context;

/// Contexts that are made at a time.
const CHUNK: usize = 64;

/// The contexts of pieces. A provider may have one until its completion, so they are never given back.
#[derive(Default)]
pub struct Contexts {
    chunks: Vec<*mut Context>,
    free: Vec<usize>,
    /// The transfer whose piece each one is of, and the number of that.
    used: Vec<Option<(u32, usize)>>,
}

impl Contexts {
    pub fn take(&mut self, transfer: u32, piece: usize) -> (usize, *mut Context) {
        if self.free.is_empty() {
            let chunk: Vec<Context> = (0..CHUNK).map(|_| Context::default()).collect();
            self.chunks
                .push(Box::leak(chunk.into_boxed_slice()).as_mut_ptr());
            let first = self.used.len();
            self.used.resize(first + CHUNK, None);
            self.free.extend((first..first + CHUNK).rev());
        }
        let index = self.free.pop().unwrap_or_default();
        self.used[index] = Some((transfer, piece));
        (index, self.at(index))
    }

    fn at(&self, index: usize) -> *mut Context {
        self.chunks[index / CHUNK].wrapping_add(index % CHUNK)
    }

    /// Gives a context back that the provider has done with: the transfer whose piece it was of, and the number of that.
    pub fn give(&mut self, context: *mut Context) -> Option<(u32, usize)> {
        let index = self.chunks.iter().enumerate().find_map(|(number, chunk)| {
            let bytes = (context as usize).checked_sub(*chunk as usize)?;
            let at = bytes / size_of::<Context>();
            (at < CHUNK).then_some(number * CHUNK + at)
        })?;
        let found = self.used[index].take()?;
        self.free.push(index);
        Some(found)
    }

    /// A transfer has another number from now on.
    pub fn rename(&mut self, transfer: u32, other: u32) {
        let used = self.used.iter_mut().flatten();
        used.filter(|(number, _)| *number == transfer)
            .for_each(|(number, _)| *number = other);
    }

    /// Those that the provider has for pieces of a transfer.
    pub fn of(&self, transfer: u32) -> impl Iterator<Item = *mut Context> {
        let used = self.used.iter().enumerate();
        used.filter(move |(_, used)| used.is_some_and(|(number, _)| number == transfer))
            .map(|(index, _)| self.at(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_lead_back_and_are_used_again() {
        let mut contexts = Contexts::default();
        let taken: Vec<_> = (0..200).map(|number| contexts.take(number, 10).1).collect();
        assert_eq!(contexts.of(7).collect::<Vec<_>>(), [taken[7]]);
        for (number, context) in taken.iter().enumerate() {
            assert_eq!(contexts.give(*context), Some((number as u32, 10)));
            assert_eq!(contexts.give(*context), None);
        }
        assert_eq!(contexts.give(std::ptr::null_mut()), None);
        let made = contexts.used.len();
        for number in 0..200 {
            contexts.take(number, 1);
        }
        assert_eq!(contexts.used.len(), made);
    }
}
