//! Memory of the programs that tests play, and the dice that decide what they do.

use crate::datatype::pack::Buffer;
use crate::datatype::{self, Datatype, create};
use std::sync::OnceLock;

/// Bytes of a block of data with holes, and of a hole.
pub const BLOCK: usize = 64;

/// Numbers below others, by a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((value ^ value >> 29) >> 32) as usize % below
    }

    pub fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Memory of the program's, with or without holes.
pub struct Data {
    pub memory: Box<[u8]>,
    pub buffer: Buffer,
}

fn with_holes() -> &'static Datatype {
    static TYPE: OnceLock<&'static Datatype> = OnceLock::new();
    TYPE.get_or_init(|| {
        let byte = datatype::get(datatype::BYTE).unwrap();
        let block = create::contiguous(false, BLOCK as i64, byte).unwrap();
        let apart = create::resized(false, 0, 2 * BLOCK as i64, block).unwrap();
        apart.commit();
        apart
    })
}

impl Data {
    pub fn new(bytes: usize, holes: bool) -> Data {
        if holes && bytes.is_multiple_of(BLOCK) && bytes > 0 {
            let mut memory = vec![0; 2 * bytes].into_boxed_slice();
            let count = (bytes / BLOCK) as u64;
            // SAFETY: the elements lie in `memory`, which lives and stays where it is as long as the buffer.
            #[allow(unsafe_code)]
            let buffer = unsafe { Buffer::new(memory.as_mut_ptr(), count, with_holes()) };
            return Data { memory, buffer };
        }
        let mut memory = vec![0; bytes].into_boxed_slice();
        let buffer = Buffer::of_copy(&mut memory);
        Data { memory, buffer }
    }
}
