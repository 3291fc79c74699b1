//! A user's buffer as consecutive bytes: itself if it has no holes, else a copy.

use crate::datatype::Buffer;

/// See the module.
pub struct Packed {
    user: Buffer,
    /// Empty if the buffer has no holes.
    copy: Box<[u8]>,
}

impl Packed {
    /// `filled` says that the buffer holds data.
    pub fn of(user: Buffer, filled: bool) -> Packed {
        let copy = match user.contiguous() {
            Some(_) => Box::default(),
            None if filled => packed_copy(&user),
            None => vec![0; user.len()].into_boxed_slice(),
        };
        Packed { user, copy }
    }

    pub fn bytes(&mut self) -> Buffer {
        match self.user.contiguous() {
            Some(_) => self.user,
            None => Buffer::of_copy(&mut self.copy),
        }
    }

    /// At the end: the user's buffer gets what came in, if anything did.
    pub fn unpack(self, came: bool) {
        if came && self.user.contiguous().is_none() {
            self.user.write(0, &self.copy);
        }
    }
}

/// A packed copy of a buffer's data.
pub fn packed_copy(buffer: &Buffer) -> Box<[u8]> {
    let mut copy = vec![0; buffer.len()].into_boxed_slice();
    buffer.read(0, &mut copy);
    copy
}

/// Scratch memory for packed data.
pub fn scratch(bytes: usize) -> Box<[u8]> {
    vec![0; bytes].into_boxed_slice()
}
