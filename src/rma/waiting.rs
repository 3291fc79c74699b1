//! Lists of small puts that wait at the origin; when they do, and when they are done, is in [`super::batch`].

use crate::datatype::Buffer;
use crate::os::peer_memory::Piece;
use parking_lot::Mutex;
use smallvec::SmallVec;

/// Bytes of a put that waits, at most: what the kernel copies in the time of a piece.
pub(super) const SMALL: usize = 2048;
/// Puts of a list, at most: what those cost that are not neighbours is what a flush takes.
const MOST: usize = 256;
/// Bytes of a list, at most.
const BYTES: usize = 16 << 10;

/// By target.
pub struct Waiting {
    /// Of those that have had puts to private memory.
    pub(super) lists: Mutex<Box<[Option<Box<List>>]>>,
}

/// Puts to one target that wait.
#[derive(Default)]
pub(super) struct List {
    /// What `Access::polls` was at the last put: another number says that a flush has come since.
    pub polls: u32,
    pub pieces: SmallVec<[Piece; 4]>,
    pub data: Vec<u8>,
}

impl Waiting {
    pub fn new(ranks: usize) -> Waiting {
        Waiting {
            lists: Mutex::new((0..ranks).map(|_| None).collect()),
        }
    }
}

impl List {
    /// Adds a put. False: there is no room.
    pub fn add(&mut self, address: usize, origin: &Buffer) -> bool {
        let bytes = origin.len();
        if self.pieces.len() == MOST || self.data.len() + bytes > BYTES {
            return false;
        }
        let at = self.data.len();
        match self.pieces.last_mut() {
            Some(last) if last.address == address && last.bytes == bytes => {
                origin.read(0, &mut self.data[at - bytes..]);
                return true;
            }
            Some(last) if last.address + last.bytes == address => last.bytes += bytes,
            _ => self.pieces.push(Piece { address, bytes }),
        }
        self.data.resize(at + bytes, 0);
        origin.read(0, &mut self.data[at..]);
        true
    }
}
