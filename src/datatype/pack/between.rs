//! Copies between two users' memories: messages to oneself, parts of collective operations.
#![allow(unsafe_code)]

use super::Buffer;
use crate::datatype::copying;
use crate::datatype::form::Form;
use std::ops::Range;

/// Runs of so many bytes are worth a call each; shorter ones go in pieces that stay in the first cache.
const LONG: usize = 256;
const PIECE: usize = 8192;

impl Buffer {
    /// As `read` of the whole buffer, into memory of the program's own: what has no holes as [`copying`] says, because nothing was
    /// just written by another core.
    #[inline]
    pub fn pack(&self, out: &mut [u8]) {
        let Some(source) = self.contiguous().filter(|_| out.len() == self.len()) else {
            return self.read(0, out);
        };
        // SAFETY: in bounds, as was seen; the memory is ours by the contract of `new`, and not that of a reference of someone else's.
        unsafe { copying::copy(source, out.as_mut_ptr(), out.len()) };
    }

    /// As `write` of the whole buffer, out of memory of the program's own; see [`Self::pack`].
    #[inline]
    pub fn unpack(&self, data: &[u8]) {
        let Some(target) = self.contiguous().filter(|_| data.len() == self.len()) else {
            return self.write(0, data);
        };
        // SAFETY: as in `pack`.
        unsafe { copying::copy(data.as_ptr(), target, data.len()) };
    }

    /// Copies the first `length` packed bytes to the same places of another buffer; the two may be the same memory.
    pub fn copy_to(&self, other: &Buffer, length: usize) {
        self.check(0, length);
        other.check(0, length);
        if length == 0 {
            return;
        }
        let (from, to) = (self.range(), other.range());
        let apart = from.end <= to.start || to.end <= from.start;
        match (self.contiguous(), other.contiguous()) {
            // SAFETY: both in bounds by `check`; they may overlap.
            (Some(source), Some(target)) => unsafe {
                copying::copy(source, target, length);
                #[cfg(test)]
                super::copies::count(length);
            },
            // SAFETY: in bounds by `check`; nothing of it is written, because the two are apart.
            (Some(source), None) if apart => unsafe {
                other.write(0, std::slice::from_raw_parts(source, length));
            },
            // SAFETY: as above; nothing of it is read.
            (None, Some(target)) if apart => unsafe {
                self.read(0, std::slice::from_raw_parts_mut(target, length));
            },
            _ if apart && self.first_run(length) >= LONG => {
                let mut offset = 0;
                self.runs(0, length, |address, bytes| {
                    // SAFETY: a run of the buffer, and nothing of it is written.
                    other.write(offset, unsafe {
                        std::slice::from_raw_parts(address, bytes)
                    });
                    offset += bytes;
                    true
                });
            }
            _ if apart && other.first_run(length) >= LONG => {
                let mut offset = 0;
                other.runs(0, length, |address, bytes| {
                    // SAFETY: a run of the buffer, and nothing of it is read.
                    self.read(offset, unsafe {
                        std::slice::from_raw_parts_mut(address, bytes)
                    });
                    offset += bytes;
                    true
                });
            }
            _ => self.copy_in_pieces(other, 0..length),
        }
    }

    /// These elements, `by` bytes further on.
    ///
    /// # Safety
    /// As for [`Buffer::new`], of all bytes of [`Buffer::range`] there.
    pub unsafe fn displaced(&self, by: isize) -> Buffer {
        Buffer {
            address: self.address.wrapping_offset(by),
            ..*self
        }
    }

    /// Copies part of the packed bytes to their places in another buffer, which does not overlap this one.
    pub fn copy_part_to(&self, other: &Buffer, part: Range<usize>) {
        other.check(part.start, part.len());
        match other.contiguous() {
            // SAFETY: in bounds by `check`; the caller says that the two are apart.
            Some(target) => self.read(part.start, unsafe {
                std::slice::from_raw_parts_mut(target.add(part.start), part.len())
            }),
            None => self.copy_in_pieces(other, part),
        }
    }

    fn copy_in_pieces(&self, other: &Buffer, part: Range<usize>) {
        let mut piece = [0; PIECE];
        for offset in part.clone().step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(part.end - offset)];
            self.read(offset, piece);
            other.write(offset, piece);
        }
    }

    /// Bytes of the first run: a guess at how long they are.
    fn first_run(&self, length: usize) -> usize {
        let mut first = 0;
        self.runs(0, length, |_, bytes| {
            first = bytes;
            false
        });
        first
    }

    /// The data as equally long pieces at equal distances, where that can be said without a look at each of them: the first one's address, the
    /// bytes of one, and the distance.
    pub fn stripes(&self) -> Option<(*mut u8, usize, isize)> {
        let layout = self.layout?.layout();
        let body = match &layout.form {
            Some(Form::Loop(all)) if self.length as u64 == layout.size => &all.body,
            _ => layout.endless()?,
        };
        let Form::Block(bytes) = body.body else {
            return None;
        };
        let first = self.address.wrapping_offset(layout.at as isize);
        Some((first, bytes as usize, body.stride as isize))
    }

    /// The addresses between which all data lies.
    pub fn range(&self) -> Range<i128> {
        let address = self.address as usize as i128;
        let Some(datatype) = self.layout.filter(|datatype| datatype.size > 0) else {
            return address..address + self.length as i128;
        };
        let elements = (self.length as u64).div_ceil(datatype.size) as i128;
        let last = datatype.extent as i128 * (elements - 1).max(0);
        let first = address + datatype.true_lb as i128;
        first + last.min(0)..first + datatype.true_extent as i128 + last.max(0)
    }
}
