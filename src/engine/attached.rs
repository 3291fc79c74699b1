//! Memory attached for buffered sends, and the copies of messages that are kept there.
//!
//! They belong to the process: messages of one buffer may leave by several engines. A long message is copied into the attached memory,
//! where that has room in one piece: new memory would cost a fault a page, for each message again. Invariant: what is in use of a buffer is
//! the sum of its messages that have not left, and no two of them have a byte of the memory in common.

use crate::datatype::pack::Buffer;
use crate::error::Result;
use parking_lot::Mutex;
use std::ops::Range;

static BUFFERS: Mutex<Vec<BsendBuffer>> = Mutex::new(Vec::new());

/// Buffer for buffered sends: what is attached and what is in use, bytes.
#[derive(Debug)]
pub struct BsendBuffer {
    memory: Buffer,
    capacity: usize,
    used: usize,
    messages: usize,
    /// Offsets in the memory of messages that are kept there, ascending.
    places: Vec<Range<usize>>,
    /// MPI_BUFFER_AUTOMATIC: as much as memory allows.
    automatic: bool,
    open: bool,
}

/// The parts of a buffer that are in use.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Bytes.
    pub capacity: usize,
    /// Bytes.
    pub used: usize,
    pub messages: usize,
}

/// What a message is charged to.
#[derive(Clone, Copy, Debug)]
pub struct Charge {
    buffer: u32,
    /// Where in the attached memory its copy belongs.
    place: Option<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    offset: usize,
    memory: Buffer,
}

/// MPI_BSEND_OVERHEAD.
pub const BSEND_OVERHEAD: usize = 96;
/// Messages from this size on are kept in the attached memory: the allocator gives memory of such sizes back to the system, and takes it anew.
pub const LONG: usize = 64 << 10;
/// Begins of copies.
const ALIGNMENT: usize = 64;

impl BsendBuffer {
    /// A buffer to be attached; of an automatic one the memory is empty.
    pub fn of(memory: Buffer, automatic: bool) -> Self {
        Self {
            memory,
            capacity: memory.len(),
            used: 0,
            messages: 0,
            places: Vec::new(),
            automatic,
            open: true,
        }
    }

    fn fits(&self, bytes: usize) -> bool {
        self.automatic || self.used + bytes + BSEND_OVERHEAD <= self.capacity
    }

    fn take(&mut self, number: u32, bytes: usize) -> Charge {
        self.used += bytes + BSEND_OVERHEAD;
        self.messages += 1;
        Charge {
            buffer: number,
            place: self.place(bytes),
        }
    }

    /// The first gap that is large enough.
    fn place(&mut self, bytes: usize) -> Option<Place> {
        if bytes < LONG {
            return None;
        }
        let (mut offset, mut index) = (0, 0);
        for place in &self.places {
            if offset + bytes <= place.start {
                break;
            }
            offset = place.end.next_multiple_of(ALIGNMENT);
            index += 1;
        }
        if offset + bytes > self.memory.len() {
            return None;
        }
        self.places.insert(index, offset..offset + bytes);
        Some(Place {
            offset,
            memory: self.memory.slice(offset, bytes),
        })
    }

    fn give_back(&mut self, charge: Charge, bytes: usize) {
        self.used -= bytes + BSEND_OVERHEAD;
        self.messages -= 1;
        if let Some(place) = charge.place {
            self.places.retain(|kept| kept.start != place.offset);
        }
    }
}

/// Adds a buffer; returns its number.
pub fn open(bsend: BsendBuffer) -> u32 {
    let mut buffers = BUFFERS.lock();
    match buffers.iter().position(|bsend| !bsend.open) {
        Some(number) => {
            buffers[number] = bsend;
            number as u32
        }
        None => {
            buffers.push(bsend);
            (buffers.len() - 1) as u32
        }
    }
}

/// The end of what [`open`] began, once it is empty.
pub fn close(bsend: u32) {
    BUFFERS.lock()[bsend as usize].open = false;
}

/// State of a buffer.
pub fn state(bsend: u32) -> Use {
    let bsend = &BUFFERS.lock()[bsend as usize];
    Use {
        capacity: bsend.capacity,
        used: bsend.used,
        messages: bsend.messages,
    }
}

/// Charges a message. `None`, and nothing charged: there is no room for it.
pub fn take(bsend: u32, bytes: usize) -> Option<Charge> {
    let buffer = &mut BUFFERS.lock()[bsend as usize];
    buffer.fits(bytes).then(|| buffer.take(bsend, bytes))
}

/// A message has left.
pub fn give_back(charge: Charge, bytes: usize) {
    BUFFERS.lock()[charge.buffer as usize].give_back(charge, bytes);
}

/// A copy of a message's data.
pub enum Kept {
    Own(Box<[u8]>),
    /// In attached memory.
    Attached(Buffer),
}

impl Kept {
    /// Copies the data of a message to where its charge says.
    ///
    /// Errors: MPI_ERR_NO_MEM; it is not charged then.
    pub fn of(charge: Option<Charge>, buffer: &Buffer) -> Result<Kept> {
        if let Some(place) = charge.and_then(|charge| charge.place) {
            buffer.copy_to(&place.memory, buffer.len());
            return Ok(Kept::Attached(place.memory));
        }
        match buffer.copied() {
            Ok(copy) => Ok(Kept::Own(copy)),
            Err(error) => {
                if let Some(charge) = charge {
                    give_back(charge, buffer.len());
                }
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Scratch;

    #[test]
    fn messages_lie_apart_in_the_attached_memory_while_there_is_room() {
        let memory = Scratch::new(4 * LONG);
        let number = open(BsendBuffer::of(memory.buffer(), false));
        let offset = |charge: Charge| charge.place.map(|place| place.offset);
        let long = |bytes| take(number, bytes).unwrap();
        let first = long(LONG + 1);
        let second = long(LONG);
        let short = long(LONG - 1);
        assert_eq!(offset(first), Some(0));
        assert_eq!(offset(second), Some(LONG + ALIGNMENT));
        assert_eq!(offset(short), None, "the allocator keeps such memory");
        give_back(first, LONG + 1);
        assert_eq!(offset(long(LONG)), Some(0), "the first gap");
        let last = long(LONG / 2);
        assert!(offset(last).is_none());
        give_back(last, LONG / 2);
        give_back(short, LONG - 1);
        // There is room for it, but not in one piece.
        let apart = take(number, LONG + LONG / 2).unwrap();
        assert_eq!(offset(apart), Some(2 * LONG + ALIGNMENT));
        give_back(second, LONG);
        let scattered = take(number, LONG + 2 * ALIGNMENT).unwrap();
        assert_eq!(offset(scattered), None);
        assert_eq!(state(number).messages, 3);
        assert!(take(number, LONG).is_none(), "it is full");
        close(number);
    }
}
