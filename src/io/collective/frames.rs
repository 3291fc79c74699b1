//! The ring of frames of a file in the node's heap: made when it is first needed, given back when the last rank leaves the file.
//!
//! ```text
//! page      which rank writes; the frames' words
//! frames    each as many bytes of the file, from a multiple of that on
//! ```

use crate::queue::frames::{self, Frame};
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, Ordering};

pub const PAGE: usize = 4096;

/// A ring's size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Size {
    /// Of each frame.
    bytes: u64,
    frames: u64,
}

/// For parts of a file of up to [`FEW`] bytes.
const SMALL: Size = Size {
    bytes: 64 << 10,
    frames: 4,
};
const LARGE: Size = Size {
    bytes: 1 << 20,
    frames: 8,
};
const FEW: u64 = 192 << 10;

impl Size {
    fn all(self) -> u64 {
        PAGE as u64 + self.bytes * self.frames
    }
}

/// The page in front.
#[repr(C)]
struct Head {
    /// Whether a rank writes: the kernel lets one write to a file at a time anyway.
    writes: AtomicU32,
    _pad: [u32; 15],
    frames: [Frame; LARGE.frames as usize],
}

const _: () = assert!(size_of::<Head>() <= PAGE && SMALL.frames <= LARGE.frames);

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape::combine(&[
    frames::SHAPE,
    shape!(Head {
        writes,
        _pad,
        frames
    }),
    shape::number(shape::START, SMALL.bytes as usize),
    shape::number(shape::START, LARGE.bytes as usize),
]);

/// A ring that is mapped here.
#[derive(Clone, Copy)]
pub struct Ring {
    base: *mut u8,
    size: Size,
    /// Pieces that it has served; the same on all ranks.
    served: u64,
}

// SAFETY: atomics, and frames that are accessed by turns as `queue/frames.rs` says; they stay mapped until this rank has left the file.
unsafe impl Send for Ring {}

/// What a file knows of its ring, the same on all ranks.
pub enum Frames {
    Untried,
    Made(Ring),
    /// There was no memory.
    Refused,
}

/// The size of a ring for an access to so many bytes of the file.
fn size_for(bytes: u64) -> Size {
    if bytes <= FEW { SMALL } else { LARGE }
}

/// Bytes of the heap that a ring for such an access takes.
pub fn room_for(bytes: u64) -> u64 {
    size_for(bytes).all()
}

/// Whether the filetypes of all ranks, repeated without end in both directions, name each byte of the file once: then no piece of an access
/// has to be looked at. The same on all ranks, until the view changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tiling {
    Unknown,
    Complete,
    Other,
}

impl Ring {
    /// A new ring for an access to so many bytes of the file.
    ///
    /// # Safety
    /// [`room_for`] them there are zeros at `base`, aligned to a page, which stay mapped as long as the ring is used.
    pub unsafe fn new(base: *mut u8, bytes: u64) -> Ring {
        Ring {
            base,
            size: size_for(bytes),
            served: 0,
        }
    }

    /// Whether it serves such an access.
    pub fn suits(&self, bytes: u64) -> bool {
        self.size.bytes >= size_for(bytes).bytes
    }

    /// An access has used so many frames.
    pub fn have_served(&mut self, pieces: u64) {
        self.served += pieces;
    }

    fn head(&self) -> &Head {
        // SAFETY: the first page of the ring, which zeros are valid for.
        unsafe { &*self.base.cast() }
    }

    /// Bytes of the file in each frame.
    pub fn bytes(&self) -> u64 {
        self.size.bytes
    }

    pub fn frames(&self) -> u64 {
        self.size.frames
    }

    /// The frame of a piece of this access, its lap, and its memory.
    pub fn frame(&self, piece: u64) -> (&Frame, u64, *mut u8) {
        let number = self.served + piece;
        let at = number % self.size.frames;
        let memory = self
            .base
            .wrapping_add(PAGE + (at * self.size.bytes) as usize);
        (
            &self.head().frames[at as usize],
            number / self.size.frames,
            memory,
        )
    }

    /// Becomes the rank that writes, if there is none.
    pub fn claim_writing(&self) -> bool {
        let claimed =
            self.head()
                .writes
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        claimed.is_ok()
    }

    pub fn end_writing(&self) {
        self.head().writes.store(0, Ordering::Release);
    }

    pub fn is_being_written(&self) -> bool {
        self.head().writes.load(Ordering::Relaxed) != 0
    }
}
