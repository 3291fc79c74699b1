//! Both sides of an operation: memory and types.

use super::world::WORD;
use crate::datatype::{self, Buffer, Datatype, create};
use crate::rma::access::Operand;
use std::sync::OnceLock;

/// Words of a block in a type with holes.
pub const BLOCK: usize = 8;

pub fn int64() -> &'static Datatype {
    let mpi_int64_t = 0x4c00_083a;
    datatype::get(mpi_int64_t).unwrap()
}

/// A block, and a hole of the same length.
pub fn with_holes() -> &'static Datatype {
    static TYPE: OnceLock<&'static Datatype> = OnceLock::new();
    TYPE.get_or_init(|| {
        let block = create::contiguous(false, BLOCK as i64, int64()).unwrap();
        let apart = create::resized(false, 0, (2 * BLOCK * WORD) as i64, block).unwrap();
        apart.commit();
        apart
    })
}

/// Words of the own area, with holes between them or without.
#[derive(Clone, Copy)]
pub struct Place {
    pub at: usize,
    pub words: usize,
    pub holes: bool,
}

impl Place {
    pub fn index(self, word: usize) -> usize {
        self.at
            + match self.holes {
                true => word / BLOCK * 2 * BLOCK + word % BLOCK,
                false => word,
            }
    }
}

/// Memory of the program's as it is given to an operation.
pub fn buffer(words: &mut [u64]) -> Buffer {
    // SAFETY: results live until their operation is complete, other memory until the call returns.
    unsafe { Buffer::new(words.as_mut_ptr().cast(), words.len() as u64, int64()) }
}

pub fn operand(words: &mut [u64]) -> Operand {
    Operand {
        buffer: buffer(words),
        datatype: int64(),
    }
}
