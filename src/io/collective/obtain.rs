//! The ring of frames of a file: made with the first access that needs it.

use super::frames::{Frames, PAGE, Ring, room_for};
use crate::assembly::the_heap;
use crate::error::{Class, Result, fail};
use crate::io::agree::NOTHING;
use crate::io::file::File;
use crate::transport::heap;

impl File {
    /// The ring for an access to so many bytes of the file, with all ranks, who tell the same number; `None`: there is no memory.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) fn ring(&self, function: &'static str, bytes: u64) -> Result<Option<Ring>> {
        let mut frames = self.frames.lock();
        match &*frames {
            Frames::Refused => return Ok(None),
            Frames::Made(ring) if ring.suits(bytes) => return Ok(Some(*ring)),
            _ => {}
        }
        let mut values = NOTHING;
        if self.rank() == 0 {
            let obtained = heap().and_then(|heap| heap.obtain(room_for(bytes), PAGE).ok());
            let offset = obtained.unwrap_or(0);
            self.board.change_ring(offset);
            values[0] = offset;
        }
        let all = self.agree_on(function, Ok(()), values)?;
        let offset = all[0][0];
        if offset == 0 {
            *frames = Frames::Refused;
            return Ok(None);
        }
        let Some(base) = the_heap()?.at(offset, room_for(bytes)) else {
            return fail!(Class::Intern, "the frames of the file are not in the heap");
        };
        // SAFETY: just obtained, of zeros; the last rank that leaves the file gives it back.
        let ring = unsafe { Ring::new(base, bytes) };
        *frames = Frames::Made(ring);
        Ok(Some(ring))
    }

    /// An access has used so many frames.
    pub(super) fn have_served(&self, pieces: u64) {
        if let Frames::Made(ring) = &mut *self.frames.lock() {
            ring.have_served(pieces);
        }
    }
}
