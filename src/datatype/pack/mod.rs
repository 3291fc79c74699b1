//! The user's buffer as the engine sees it: a stream of packed bytes that can be read and written
//! from any offset.
//!
//! Invariant: nothing outside of the elements that `Buffer::new` was given, and nothing in their
//! holes, is ever touched.

#![allow(unsafe_code)]

mod between;
mod blocks;
mod copier;
#[cfg(test)]
pub mod copies;
mod endless;
pub(super) mod level;
mod nest;
mod parts;
mod permute;
mod piece;
mod plain;
mod prefix;
mod scratch;
mod shuffle;
mod wide;

pub(super) use copier::repeat_runs;
#[cfg(test)]
pub use level::use_kernels;
pub use level::{Allowed, KERNELS, VARIABLES, suits_blocks};
pub use parts::Parts;
pub use prefix::PREFIX;
pub(super) use prefix::Prefix;
pub use scratch::Scratch;
use scratch::zeroed;
pub(super) use shuffle::Shuffles;

use super::Datatype;
use crate::error::{Class, Result, fail};
use crate::references;
use std::ptr;

/// What can reach a buffer's memory. Every access to the bytes of a [`Buffer`] matches on it without a wildcard, so that a further
/// kind (memory of a device) does not compile until each access says how it copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The processor, by loads and stores.
    Host,
}

impl MemoryKind {
    /// The kind of the memory at an address of the program's. The only place that classifies pointers.
    #[inline(always)]
    pub fn of(_address: *const u8) -> MemoryKind {
        MemoryKind::Host
    }
}

// A buffer is in every request: one kind costs nothing.
const _: () = assert!(size_of::<Buffer>() == 24);

/// A choice buffer: address, count and datatype, checked and multiplied out.
#[derive(Clone, Copy)]
pub struct Buffer {
    address: *mut u8,
    kind: MemoryKind,
    /// Packed bytes.
    length: usize,
    /// None when the data has no holes: then packed and laid out bytes are the same.
    layout: Option<&'static Datatype>,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} bytes at {:p}", self.length, self.address)
    }
}

// SAFETY: whoever made the buffer promised that the memory is the operation's own until it ends,
// on whatever thread the library works on it.
unsafe impl Send for Buffer {}
// SAFETY: as for Send; `write` is only called by the one operation that the buffer was given to.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// # Safety
    /// `count` elements of the datatype at `address` stay readable (and for `write` writable, and
    /// untouched by others) as long as this buffer or a copy of it is used.
    #[inline]
    pub unsafe fn new(address: *mut u8, count: u64, datatype: &'static Datatype) -> Buffer {
        let kind = MemoryKind::of(address);
        let length = (count as usize).saturating_mul(datatype.size as usize);
        if datatype.lies_bare() {
            return Buffer {
                address,
                kind,
                length,
                layout: None,
            };
        }
        // A part of an array may well be one run of bytes, somewhere.
        let counted = references::are_counted() && references::are_counted_of(!datatype.can_end());
        match datatype.layout().run(count).filter(|_| !counted) {
            Some(at) => Buffer {
                address: address.wrapping_offset(at as isize),
                kind,
                length,
                layout: None,
            },
            None => Buffer {
                address,
                kind,
                length,
                layout: Some(datatype),
            },
        }
    }

    /// As `new`, of a buffer that has its datatype also where the data has no holes.
    ///
    /// # Safety
    /// As for `new`.
    pub unsafe fn typed(address: *mut u8, count: u64, datatype: &'static Datatype) -> Buffer {
        Buffer {
            address,
            kind: MemoryKind::of(address),
            length: (count as usize).saturating_mul(datatype.size as usize),
            layout: Some(datatype),
        }
    }

    /// A [`Buffer::typed`] one as `new` makes it.
    #[inline]
    pub fn bare(&self) -> Buffer {
        match self.layout {
            Some(datatype) if datatype.size > 0 => {
                let count = self.length as u64 / datatype.size;
                // SAFETY: the same elements.
                unsafe { Buffer::new(self.address, count, datatype) }
            }
            _ => *self,
        }
    }

    /// Where the elements count from, of a buffer that has its datatype; else where the data is.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    pub const fn empty() -> Buffer {
        Buffer {
            address: ptr::null_mut(),
            kind: MemoryKind::Host,
            length: 0,
            layout: None,
        }
    }

    /// # Safety
    /// As `new`, for `length` bytes.
    #[inline]
    pub unsafe fn bytes(address: *mut u8, length: usize) -> Buffer {
        Buffer {
            address,
            kind: MemoryKind::of(address),
            length,
            layout: None,
        }
    }

    /// Packed bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The address, if the data lies there without holes and the processor can load and store it. `None` is answered by a copy that
    /// `read` and `write` move, so another kind of memory needs nothing of the callers.
    #[inline]
    pub fn contiguous(&self) -> Option<*mut u8> {
        match (self.kind, self.layout) {
            (MemoryKind::Host, None) => Some(self.address),
            (MemoryKind::Host, Some(_)) => None,
        }
    }

    /// The address of the first element's lowest byte; an empty buffer has none.
    pub fn begin(&self) -> Option<usize> {
        let offset = self.layout.map_or(0, |datatype| datatype.true_lb);
        let lowest = self.address.wrapping_offset(offset as isize);
        (!self.is_empty()).then_some(lowest as usize)
    }

    /// The type that says where the data lies, if it has holes.
    pub fn datatype(&self) -> Option<&'static Datatype> {
        self.layout
    }

    /// A packed copy of the data.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    pub fn copied(&self) -> Result<Box<[u8]>> {
        let Some(mut copy) = zeroed(self.len()) else {
            return fail!(
                Class::NoMem,
                "there is no memory for a copy of {} bytes",
                self.len()
            );
        };
        self.read(0, &mut copy);
        Ok(copy)
    }

    /// Packs the bytes from `offset` of the packed stream into `out`. Panics if they are not all
    /// in the buffer.
    #[inline]
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        self.check(offset, out.len());
        #[cfg(test)]
        copies::count(out.len());
        match (self.kind, self.layout) {
            // SAFETY: in bounds by `check`; the memory is ours by the contract of `new`, and `out`
            // is a reference of someone else's, so they do not overlap.
            (MemoryKind::Host, None) => unsafe {
                let source = self.address.add(offset);
                if out.len() >= 512 {
                    super::nontemporal::fetch(source, out.as_mut_ptr(), out.len());
                } else {
                    copy(source, out.as_mut_ptr(), out.len());
                }
            },
            // SAFETY: in bounds by `check`, and as above; only reads from the user's memory.
            (MemoryKind::Host, Some(datatype)) => unsafe {
                self.part::<true>(datatype, offset, out.as_mut_ptr(), out.len());
            },
        }
    }

    /// As `read`, into memory that another core will read next (see [`super::nontemporal`]).
    #[inline]
    pub fn read_nontemporal(&self, offset: usize, out: &mut [u8]) {
        self.check(offset, out.len());
        match (self.kind, self.layout) {
            // SAFETY: as in `read`.
            (MemoryKind::Host, None) => unsafe {
                super::nontemporal::copy_for_reader(
                    self.address.add(offset),
                    out.as_mut_ptr(),
                    out.len(),
                );
                #[cfg(test)]
                copies::count(out.len());
            },
            (MemoryKind::Host, Some(_)) => self.stream_packed(offset, out),
        }
    }

    /// Packs through a piece that stays in this core's own cache, whence whole lines go past the caches: the stores of a
    /// packing kernel would each fetch their line from the other core first.
    #[inline(never)]
    fn stream_packed(&self, offset: usize, out: &mut [u8]) {
        let mut packed = [0u8; 2048];
        let mut at = 0;
        while at < out.len() {
            let bytes = packed.len().min(out.len() - at);
            self.read(offset + at, &mut packed[..bytes]);
            // SAFETY: both pieces are `bytes` long, and one is this function's own.
            unsafe {
                super::nontemporal::copy_for_reader(packed.as_ptr(), out[at..].as_mut_ptr(), bytes);
            }
            at += bytes;
        }
    }

    /// Unpacks `data` to where the packed bytes from `offset` on belong. Panics if they are not all
    /// in the buffer.
    #[inline]
    pub fn write(&self, offset: usize, data: &[u8]) {
        self.check(offset, data.len());
        #[cfg(test)]
        copies::count(data.len());
        match (self.kind, self.layout) {
            // SAFETY: as in `read`.
            (MemoryKind::Host, None) => unsafe {
                let target = self.address.add(offset);
                if data.len() >= 512 {
                    super::copying::receive(data.as_ptr(), target, data.len());
                } else {
                    copy(data.as_ptr(), target, data.len());
                }
            },
            // SAFETY: in bounds by `check`, and as above; only reads from `data`.
            (MemoryKind::Host, Some(datatype)) => unsafe {
                self.part::<false>(datatype, offset, data.as_ptr().cast_mut(), data.len());
            },
        }
    }

    /// As `write`, for data that no cache has: in several streams at once, where it has no holes.
    #[inline(never)]
    pub fn write_streams(&self, offset: usize, data: &[u8]) {
        self.check(offset, data.len());
        match (self.kind, self.layout) {
            // SAFETY: as in `write`.
            (MemoryKind::Host, None) => unsafe {
                super::nontemporal::fetch_streams(
                    data.as_ptr(),
                    self.address.add(offset),
                    data.len(),
                );
                #[cfg(test)]
                copies::count(data.len());
            },
            (MemoryKind::Host, Some(_)) => self.write(offset, data),
        }
    }

    /// As `write`, past the caches where the data has no holes: for more than the caches hold anyway. Before others are told
    /// of it, [`super::nontemporal::fence`].
    #[inline]
    pub fn write_past_caches(&self, offset: usize, data: &[u8]) {
        self.check(offset, data.len());
        match (self.kind, self.layout) {
            // SAFETY: as in `write`.
            (MemoryKind::Host, None) => unsafe {
                super::nontemporal::copy(data.as_ptr(), self.address.add(offset), data.len());
                #[cfg(test)]
                copies::count(data.len());
            },
            (MemoryKind::Host, Some(_)) => self.write(offset, data),
        }
    }

    /// # Safety
    /// `packed` has `length` bytes, which are read only unless `PACK`; `offset + length` is in the buffer.
    unsafe fn part<const PACK: bool>(
        &self,
        datatype: &'static Datatype,
        offset: usize,
        packed: *mut u8,
        length: usize,
    ) {
        let layout = datatype.layout();
        if let (Some(body), true) = (layout.endless(), length > 0) {
            let user = self.address.wrapping_offset(layout.at as isize);
            // SAFETY: by the caller and the contract of `new`.
            unsafe {
                copier::repeat_part::<PACK>(body, user, packed, offset as u64, length as u64)
            };
        }
    }

    /// Visits the runs of memory that hold the packed bytes from `offset` on, until `visit` (address, bytes) says false.
    pub fn runs(
        &self,
        offset: usize,
        length: usize,
        mut visit: impl FnMut(*mut u8, usize) -> bool,
    ) {
        self.check(offset, length);
        let datatype = match (self.kind, self.layout) {
            (MemoryKind::Host, None) => {
                if length > 0 {
                    visit(self.address.wrapping_add(offset), length);
                }
                return;
            }
            (MemoryKind::Host, Some(datatype)) => datatype,
        };
        let layout = datatype.layout();
        if let Some(body) = layout.endless() {
            let mut visit = |at: i64, bytes: u64| {
                visit(self.address.wrapping_offset(at as isize), bytes as usize)
            };
            copier::repeat_runs(body, layout.at, offset as u64, length as u64, &mut visit);
        }
    }

    /// A buffer over the copy that a request owns: both move together, and the copy is never reallocated.
    pub fn of_copy(copy: &mut Box<[u8]>) -> Buffer {
        Buffer {
            address: copy.as_mut_ptr(),
            kind: MemoryKind::Host,
            length: copy.len(),
            layout: None,
        }
    }

    /// Lets `fill` write the first `length` packed bytes; directly into the user's memory if it has no holes.
    pub fn fill_from<E>(
        &self,
        length: usize,
        fill: impl FnOnce(&mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.check(0, length);
        match (self.kind, self.layout) {
            (MemoryKind::Host, None) => {
                // SAFETY: in bounds by `check`; the memory is ours alone by the contract of `new`.
                fill(unsafe { std::slice::from_raw_parts_mut(self.address, length) })
            }
            (MemoryKind::Host, Some(_)) => {
                let mut packed = vec![0; length];
                fill(&mut packed)?;
                self.write(0, &packed);
                Ok(())
            }
        }
    }

    #[inline]
    fn check(&self, offset: usize, length: usize) {
        let fits = offset <= self.length && length <= self.length - offset;
        assert!(
            fits,
            "{length} bytes at {offset} of a buffer of {}",
            self.length
        );
    }
}

/// From where to where the data of `count` elements lies, in bytes from their address.
pub fn reach(count: u64, datatype: &Datatype) -> (i128, i128) {
    let last = datatype.extent as i128 * (count as i128 - 1).max(0);
    let from = datatype.true_lb as i128;
    let to = from + datatype.true_extent as i128;
    (from + last.min(0), to + last.max(0))
}

/// Elements laid out as in a program's memory, in memory of the library's own.
pub struct Laid {
    pub memory: Vec<u8>,
    /// Where in the memory the first element counts from.
    pub origin: usize,
    count: u64,
    datatype: &'static Datatype,
}

impl Laid {
    /// Zeroed room for `count` elements, with nothing behind the last one.
    pub fn new(count: u64, datatype: &'static Datatype) -> Laid {
        let (from, to) = reach(count, datatype);
        let to = to.max(datatype.extent as i128 * count.max(1) as i128);
        let origin = ((-from).max(0) as usize).next_multiple_of(16);
        Laid {
            memory: vec![0; origin + to.max(0) as usize],
            origin,
            count,
            datatype,
        }
    }

    /// The elements' buffer; good as long as nothing else uses the memory.
    pub fn buffer(&mut self) -> Buffer {
        let address = self.memory[self.origin..].as_mut_ptr();
        // SAFETY: `new` made room from the lowest to the highest byte of the elements.
        unsafe { Buffer::new(address, self.count, self.datatype) }
    }
}

/// Copies `length` bytes; what fits into a slot of a ring without a call.
///
/// # Safety
/// Both ranges are valid and do not overlap.
#[inline(always)]
unsafe fn copy(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: by the caller; each pair of pieces covers the range and lies inside it.
    unsafe {
        match length {
            0 => {}
            8..=15 => copy_ends::<u64>(source, target, length),
            16..=31 => copy_ends::<[u64; 2]>(source, target, length),
            32..=64 => copy_ends::<[u64; 4]>(source, target, length),
            4..=7 => copy_ends::<u32>(source, target, length),
            _ => ptr::copy_nonoverlapping(source, target, length),
        }
    }
}

/// Copies the first and the last `T` of a range.
///
/// # Safety
/// Both ranges are valid, do not overlap, and are at least one and at most two `T` long.
#[inline(always)]
unsafe fn copy_ends<T: Copy>(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: by the caller.
    unsafe {
        let last = length - size_of::<T>();
        let first = source.cast::<T>().read_unaligned();
        let second = source.add(last).cast::<T>().read_unaligned();
        target.cast::<T>().write_unaligned(first);
        target.add(last).cast::<T>().write_unaligned(second);
    }
}

/// For tests: the caller's memory holds the elements, and outlives the buffer.
#[cfg(test)]
pub fn in_memory(
    memory: &mut [u8],
    origin: isize,
    count: u64,
    datatype: &'static Datatype,
) -> Buffer {
    let address = memory.as_mut_ptr().wrapping_offset(origin);
    // SAFETY: by the test.
    unsafe { Buffer::new(address, count, datatype) }
}

#[cfg(test)]
mod tests;
