//! Elements without end, as a file's view has them: where they lie in memory that shows a part of the file.

use super::copier::repeat_part;
use crate::datatype::Layout;

impl Layout {
    /// Copies `length` packed bytes from `skip` on of elements without end, whose displacements count from `memory`: into `packed` if `PACK`,
    /// else out of it. Bytes that they do not have are not touched.
    ///
    /// # Safety
    /// What the part names is valid there; `packed` has `length` bytes, which are only read unless `PACK`; the two do not overlap.
    pub unsafe fn copy<const PACK: bool>(
        &self,
        memory: *mut u8,
        packed: *mut u8,
        skip: u64,
        length: u64,
    ) {
        if let (Some(body), true) = (self.endless(), length > 0) {
            let memory = memory.wrapping_offset(self.at as isize);
            // SAFETY: by the caller.
            unsafe { repeat_part::<PACK>(body, memory, packed, skip, length) };
        }
    }
}
