//! Lists of small operations that wait at the origin; when they do, and when they are done, is in [`super::batch`].

use crate::datatype::{Buffer, Datatype};
use crate::op::Operation;
use crate::os::peer_memory::Piece;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of an operation that waits, at most: what the kernel copies in the time of a piece.
pub(super) const SMALL: usize = 2048;
/// Operations of a list, at most: what those cost that are not neighbours is what a flush takes.
const MOST: usize = 256;
/// Bytes of a list, at most.
const BYTES: usize = 16 << 10;
/// How far the pieces of what needs locks lie apart, at most: locks of all that is between them may be held together.
const SPAN: usize = 512 << 10;

/// By target.
pub struct Waiting {
    /// Of those whose private memory has had small operations.
    pub(super) lists: Mutex<Box<[Option<Box<List>>]>>,
}

/// What the operations of a list are.
#[derive(Clone, Copy, Default)]
pub(super) enum Kind {
    #[default]
    Put,
    Get,
    /// MPI_Accumulate, MPI_Get_accumulate and MPI_Fetch_and_op.
    Accumulate(Operation, &'static Datatype),
    CompareAndSwap,
}

impl Kind {
    /// Whether elements that follow each other are one piece: those that are locked are known by theirs.
    fn has_neighbours(self) -> bool {
        matches!(self, Kind::Put | Kind::Get)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Put, Kind::Put)
            | (Kind::Get, Kind::Get)
            | (Kind::CompareAndSwap, Kind::CompareAndSwap) => true,
            (Kind::Accumulate(op, basic), Kind::Accumulate(other_op, other)) => {
                op == other_op && std::ptr::eq(*basic, *other)
            }
            _ => false,
        }
    }
}

/// One operation on elements without holes.
#[derive(Clone, Copy)]
pub(super) struct Small<'a> {
    pub kind: Kind,
    /// Of the target's elements.
    pub address: usize,
    pub bytes: usize,
    /// Operands, `bytes` each, copied when the operation is added; a compare-and-swap has two: the value to compare with, then the new one.
    pub data: &'a [Buffer],
    /// Where the target's elements go; null: nowhere.
    pub result: *mut u8,
}

/// What an operation other than a put does to the elements of the list's pieces.
pub(super) struct Step {
    /// Its elements, of the bytes of all pieces.
    pub elements: Range<usize>,
    /// Its part of the list's data.
    pub data: Range<usize>,
    /// As in [`Small`]; an address, since any thread may end the list.
    pub result: usize,
}

/// Operations of one kind to one target that wait.
#[derive(Default)]
pub(super) struct List {
    /// What `Access::polls` was at the last one: another number says that a flush has come since.
    pub polls: u32,
    pub kind: Kind,
    /// Those of accumulates and compare-and-swaps have no byte in common.
    pub pieces: SmallVec<[Piece; 4]>,
    /// Bytes of all pieces.
    pub bytes: usize,
    pub data: Vec<u8>,
    /// Of all kinds but puts.
    pub steps: SmallVec<[Step; 8]>,
    pub has_results: bool,
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
    pub fn add(&mut self, it: &Small) -> bool {
        let added = match self.kind {
            Kind::Put => self.add_put(it),
            Kind::Get => self.add_get(it),
            Kind::Accumulate(..) | Kind::CompareAndSwap => self.add_locked(it),
        };
        self.has_results |= added && !it.result.is_null();
        added
    }

    fn append(&mut self, data: &[Buffer]) {
        for buffer in data {
            let at = self.data.len();
            self.data.resize(at + buffer.len(), 0);
            buffer.read(0, &mut self.data[at..]);
        }
    }

    /// Adds a piece. Returns its first byte, of those of all pieces.
    fn push(&mut self, address: usize, bytes: usize) -> usize {
        let at = self.bytes;
        match self.pieces.last_mut() {
            Some(last) if self.kind.has_neighbours() && last.address + last.bytes == address => {
                last.bytes += bytes;
            }
            _ => self.pieces.push(Piece { address, bytes }),
        }
        self.bytes += bytes;
        at
    }

    fn add_put(&mut self, it: &Small) -> bool {
        if self.pieces.len() == MOST || self.bytes + it.bytes > BYTES {
            return false;
        }
        match (self.pieces.last(), it.data) {
            (Some(last), [data]) if last.address == it.address && last.bytes == it.bytes => {
                data.read(0, &mut self.data[self.bytes - it.bytes..]);
                return true;
            }
            _ => {}
        }
        self.push(it.address, it.bytes);
        self.append(it.data);
        true
    }

    /// One of bytes of the last piece shares them.
    fn add_get(&mut self, it: &Small) -> bool {
        if self.steps.len() == MOST || self.bytes + it.bytes > BYTES {
            return false;
        }
        let end = it.address + it.bytes;
        let at = match self.pieces.last() {
            Some(last) if last.address <= it.address && end <= last.address + last.bytes => {
                self.bytes - last.bytes + (it.address - last.address)
            }
            _ => self.push(it.address, it.bytes),
        };
        self.add_step(at, it);
        true
    }

    /// One to elements of another one goes to that one's piece, behind it; one to a part of them waits for the list's end.
    fn add_locked(&mut self, it: &Small) -> bool {
        let (address, bytes) = (it.address, it.bytes);
        let is_far = (self.pieces.first()).is_some_and(|it| it.address.abs_diff(address) > SPAN);
        let most = self.data.len().max(self.bytes) + it.data.len().max(1) * bytes;
        if is_far || self.steps.len() == MOST || most > BYTES {
            return false;
        }
        let mut end = self.bytes;
        let mut found = None;
        for other in self.pieces.iter().rev() {
            end -= other.bytes;
            if other.address < address + bytes && address < other.address + other.bytes {
                if (other.address, other.bytes) != (address, bytes) {
                    return false;
                }
                found = Some(end);
                break;
            }
        }
        let at = found.unwrap_or_else(|| self.push(address, bytes));
        self.add_step(at, it);
        true
    }

    fn add_step(&mut self, at: usize, it: &Small) {
        let data = self.data.len();
        self.append(it.data);
        self.steps.push(Step {
            elements: at..at + it.bytes,
            data: data..self.data.len(),
            result: it.result.expose_provenance(),
        });
    }

    pub fn clear(&mut self) {
        self.pieces.clear();
        self.data.clear();
        self.steps.clear();
        self.bytes = 0;
        self.has_results = false;
    }
}
