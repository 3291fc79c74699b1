//! Messages that begin with some bytes of the library's own, for checks that are switched on to find mistakes.
//!
//! Invariant: the bytes belong to the type that puts them before the program's elements, and live as long as that.

#![allow(unsafe_code)]

use super::super::{BYTE, Category, Contents, Datatype, Layout, Member, TYPES, get};
use super::{Buffer, MemoryKind};
use crate::error::{Class, Result, fail};
use std::ptr::{self, NonNull};

/// Bytes before the program's.
pub const PREFIX: usize = 256;

/// The bytes of one message, which is received into them or sent from them.
pub(in super::super) struct Prefix(NonNull<[u8; PREFIX]>);

// SAFETY: the bytes are used by the one operation that has the buffer, and read when it is complete.
unsafe impl Send for Prefix {}
// SAFETY: as above.
unsafe impl Sync for Prefix {}

impl Prefix {
    fn new(bytes: [u8; PREFIX]) -> Prefix {
        Prefix(NonNull::from(Box::leak(Box::new(bytes))))
    }
}

impl Drop for Prefix {
    fn drop(&mut self) {
        // SAFETY: made by `new` from a box, and nobody uses a type that is dropped.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Buffer {
    /// `count` elements with `prefix` before them. The caller has made a buffer of the same elements, and ends the type of
    /// the new one.
    pub fn prefixed(
        prefix: [u8; PREFIX],
        address: *mut u8,
        count: u64,
        datatype: &Datatype,
    ) -> Result<Buffer> {
        let Some(byte) = get(BYTE) else {
            return fail!(Class::Intern, "MPI_BYTE is not there");
        };
        let head = Layout::contiguous(PREFIX as u64, byte.layout())?;
        let data = Layout::contiguous(count, datatype.layout())?;
        let prefix = Prefix::new(prefix);
        let member = |displacement: usize, layout| Member {
            displacement: displacement as i64,
            blocklength: 1,
            layout,
        };
        let members = [
            member(prefix.0.addr().get(), &head),
            member(address.addr(), &data),
        ];
        let layout = Layout::structure(&members)?;
        let both = TYPES.insert_with(|handle| Datatype {
            category: Category::Derived,
            prefix: Some(prefix),
            ..Datatype::derived(handle, layout, Contents::named())
        })?;
        both.commit();
        Ok(Buffer {
            address: ptr::null_mut(),
            kind: MemoryKind::of(address),
            length: both.size as usize,
            layout: Some(both),
        })
    }

    /// What is in the bytes before the elements now, and the type of both; `None` without such bytes.
    pub fn prefix(&self) -> Option<([u8; PREFIX], &'static Datatype)> {
        let datatype = self.layout?;
        let prefix = datatype.prefix.as_ref()?;
        // SAFETY: the caller asks when the message is complete, so nobody writes the bytes, which live as long as the type.
        let bytes = unsafe { prefix.0.read() };
        Some((bytes, datatype))
    }
}
