//! Messages that begin with some bytes of the library's own, for checks that are switched on to find mistakes.
//!
//! Invariant: the bytes and the type that puts them before the program's elements are never given back, so that a message may
//! use them however long it takes.

#![allow(unsafe_code)]

use super::super::{BYTE, Datatype, Layout, Member, get};
use super::Buffer;
use crate::error::{Class, Result, fail};
use std::ptr;

/// Bytes before the program's.
pub const PREFIX: usize = 256;

impl Buffer {
    /// `count` elements with `prefix` before them. The caller has made a buffer of the same elements.
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
        let place = ptr::from_mut(Box::leak(Box::new(prefix)));
        let member = |displacement: usize, layout| Member {
            displacement: displacement as i128,
            blocklength: 1,
            layout,
        };
        let members = [
            member(place as usize, &head),
            member(address as usize, &data),
        ];
        let mut both = Datatype::unlisted(Layout::structure(&members)?);
        both.contents.addresses = vec![place as i64];
        both.commit();
        Ok(Buffer {
            address: ptr::null_mut(),
            length: both.size as usize,
            layout: Some(Box::leak(Box::new(both))),
        })
    }

    /// What is in the bytes before the elements now, and the type of both; `None` without such bytes.
    pub fn prefix(&self) -> Option<([u8; PREFIX], &'static Datatype)> {
        let datatype = self.layout.filter(|_| self.address.is_null())?;
        let named = datatype.contents.combiner == super::super::Combiner::Named;
        let place = *datatype.contents.addresses.first().filter(|_| named)?;
        // SAFETY: a type that is called predefined and has an address was made by `prefixed`, which leaked the bytes; the
        // caller asks when the message is complete, so nobody writes them.
        let bytes = unsafe { (place as *const [u8; PREFIX]).read() };
        Some((bytes, datatype))
    }
}
