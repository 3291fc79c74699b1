//! The addresses of a buffer's bytes, for checks that are switched on to find mistakes.

use super::Buffer;
use super::form::Repeat;
use super::pack::repeat_runs;

/// Addresses from the first on and before the second.
pub type Range = (usize, usize);

impl Buffer {
    /// Adds the ranges of addresses that the data lies in, in its packed order. False if there would be more than `most`: then some are
    /// missing.
    pub fn add_ranges(&self, most: usize, ranges: &mut Vec<Range>) -> bool {
        if self.is_empty() {
            return true;
        }
        let begin = self.address() as usize;
        let Some(datatype) = self.datatype() else {
            ranges.push((begin, begin.wrapping_add(self.len())));
            return ranges.len() <= most;
        };
        let layout = datatype.layout();
        let Some(form) = layout.form.clone() else {
            return true;
        };
        let body = Repeat::new(form, layout.extent());
        let (at, bytes) = (layout.at, self.len() as u64);
        repeat_runs(&body, at, 0, bytes, &mut |at, bytes| {
            let from = begin.wrapping_add_signed(at as isize);
            let to = from.wrapping_add(bytes as usize);
            match ranges.last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => ranges.push((from, to)),
            }
            ranges.len() <= most
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{INT, create, get};
    use super::*;

    fn ranges(buffer: &Buffer, most: usize) -> Option<Vec<Range>> {
        let mut ranges = Vec::new();
        buffer.add_ranges(most, &mut ranges).then_some(ranges)
    }

    #[test]
    #[allow(unsafe_code)]
    fn each_run_is_a_range() {
        let mut memory = [0u8; 64];
        let begin = memory.as_mut_ptr();
        let at = |from: usize, to: usize| (begin as usize + from, begin as usize + to);
        let int = get(INT).unwrap();
        let vector = create::vector(false, 2, 1, 3, int).unwrap();
        let buffer = |count, datatype| {
            // SAFETY: nobody reads or writes the bytes.
            unsafe { Buffer::new(begin, count, datatype) }
        };
        assert_eq!(ranges(&buffer(3, int), 8), Some(vec![at(0, 12)]));
        assert_eq!(ranges(&buffer(0, int), 8), Some(vec![]));
        assert_eq!(
            ranges(&buffer(1, vector), 8),
            Some(vec![at(0, 4), at(12, 16)])
        );
        // The last of an element and the first of the next are neighbours.
        let two = vec![at(0, 4), at(12, 20), at(28, 32)];
        assert_eq!(ranges(&buffer(2, vector), 8), Some(two));
        assert_eq!(ranges(&buffer(2, vector), 2), None);
    }
}
