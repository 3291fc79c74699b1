//! Lists of small puts and accumulates that wait at the origin; when they do, and when they are done, is in [`super::batch`].

use crate::datatype::{Buffer, Datatype};
use crate::op::Operation;
use crate::os::peer_memory::Piece;
use parking_lot::Mutex;
use smallvec::SmallVec;

/// Bytes of an operation that waits, at most: what the kernel copies in the time of a piece.
pub(super) const SMALL: usize = 2048;
/// Operations of a list, at most: what those cost that are not neighbours is what a flush takes.
const MOST: usize = 256;
/// Bytes of a list, at most.
const BYTES: usize = 16 << 10;
/// How far the pieces of accumulates lie apart, at most: locks of all that is between them may be held together.
const SPAN: usize = 512 << 10;

/// By target.
pub struct Waiting {
    /// Of those that have had puts or accumulates to private memory.
    pub(super) lists: Mutex<Box<[Option<Box<List>>]>>,
}

/// What the operations of a list are.
#[derive(Clone, Copy, Default)]
pub(super) enum Kind {
    #[default]
    Put,
    Accumulate(Operation, &'static Datatype),
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Put, Kind::Put) => true,
            (Kind::Accumulate(op, basic), Kind::Accumulate(other_op, other)) => {
                op == other_op && std::ptr::eq(*basic, *other)
            }
            _ => false,
        }
    }
}

/// Operations of one kind to one target that wait.
#[derive(Default)]
pub(super) struct List {
    /// What `Access::polls` was at the last one: another number says that a flush has come since.
    pub polls: u32,
    pub kind: Kind,
    /// Of accumulates, no two have a byte in common.
    pub pieces: SmallVec<[Piece; 4]>,
    pub data: Vec<u8>,
    /// The piece of each accumulate; all of it is changed.
    pub steps: SmallVec<[u16; 8]>,
}

impl Waiting {
    pub fn new(ranks: usize) -> Waiting {
        Waiting {
            lists: Mutex::new((0..ranks).map(|_| None).collect()),
        }
    }
}

impl List {
    /// Adds an operation of the list's kind. False: there is no room.
    pub fn add(&mut self, address: usize, origin: &Buffer) -> bool {
        match self.kind {
            Kind::Put => self.add_put(address, origin),
            Kind::Accumulate(..) => self.add_accumulate(address, origin),
        }
    }

    fn append(&mut self, origin: &Buffer) {
        let at = self.data.len();
        self.data.resize(at + origin.len(), 0);
        origin.read(0, &mut self.data[at..]);
    }

    fn add_put(&mut self, address: usize, origin: &Buffer) -> bool {
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
        self.append(origin);
        true
    }

    /// One to elements of another one goes to that one's piece, behind it; one to a part of them waits for the list's end.
    fn add_accumulate(&mut self, address: usize, origin: &Buffer) -> bool {
        let bytes = origin.len();
        let is_far = (self.pieces.first()).is_some_and(|it| it.address.abs_diff(address) > SPAN);
        if is_far || self.steps.len() == MOST || self.data.len() + bytes > BYTES {
            return false;
        }
        let piece = Piece { address, bytes };
        let meets = |it: &Piece| it.address < address + bytes && address < it.address + it.bytes;
        let at = match self.pieces.iter().rposition(meets) {
            Some(at) if self.pieces[at] == piece => at,
            Some(_) => return false,
            None => {
                self.pieces.push(piece);
                self.pieces.len() - 1
            }
        };
        self.steps.push(at as u16);
        self.append(origin);
        true
    }

    pub fn clear(&mut self) {
        self.pieces.clear();
        self.data.clear();
        self.steps.clear();
    }
}
