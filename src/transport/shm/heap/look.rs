//! How much memory is left, so that a lack of memory that can be known is an error.
//!
//! Reading that takes the kernel a tenth of a millisecond and more. So one look is good for a while and for a share of what it has found.

use super::{Heap, MARGIN};
use crate::os::{coarse_nanoseconds, memory};
use crate::sync::Ordering;
use std::io::{Error, Result};
use std::os::fd::AsFd;

/// How long a look is good, nanoseconds.
const LASTS: u64 = 50_000_000;
/// All ranks of a node together allocate the fourth part of what was left, at most, without another look.
const SHARE: u64 = 4;
/// All ranks of a node together keep the eighth part of what is left, at most, of what the program has given back.
const KEPT_SHARE: u64 = 8;

/// The last look.
pub struct Look {
    /// Bytes that may still be allocated without another one.
    bytes: u64,
    /// When it is too old, [`coarse_nanoseconds`].
    until: u64,
    /// Bytes that this process may keep.
    keep: u64,
}

impl Look {
    pub fn new() -> Look {
        Look {
            bytes: 0,
            until: 0,
            keep: 0,
        }
    }
}

/// What memory is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// To be allocated at once.
    Now,
    /// To be allocated when it is touched, as other ranges of the heap may still be.
    Later,
}

impl Heap {
    /// Whether so much memory is left.
    ///
    /// Errors: ENOMEM.
    pub fn ask_for(&self, bytes: u64, when: For) -> Result<()> {
        let mut look = self.look.lock();
        let now = coarse_nanoseconds();
        if now >= look.until || bytes > look.bytes {
            let spare = memory::left().map_or(u64::MAX, |left| left.saturating_sub(MARGIN));
            let spare = match when {
                For::Now => spare,
                For::Later => spare.saturating_sub(self.untouched()),
            };
            // The other ranks look, too.
            let own = spare / self.segment.ranks() as u64;
            *look = Look {
                bytes: own / SHARE,
                until: now + LASTS,
                keep: own / KEPT_SHARE,
            };
            if bytes > spare {
                return Err(Error::from_raw_os_error(libc::ENOMEM));
            }
        }
        look.bytes = look.bytes.saturating_sub(bytes);
        Ok(())
    }

    /// How many bytes this process may keep of what the program has given back.
    pub fn most_kept(&self) -> u64 {
        if coarse_nanoseconds() >= self.look.lock().until {
            let _ = self.ask_for(0, For::Later);
        }
        self.look.lock().keep
    }

    /// Bytes of the heap that are given out and were not touched, about.
    fn untouched(&self) -> u64 {
        let reserved = self.shared().reserved.load(Ordering::Relaxed);
        match memory::allocated(self.fd.as_fd()) {
            Ok(touched) if self.has_file() => reserved.saturating_sub(touched),
            _ => 0,
        }
    }
}
