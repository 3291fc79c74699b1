//! Names in shared memory: of the function that a process is in, say, or of a window.

use crate::sync::{AtomicU64, Ordering};

const NAME_WORDS: usize = 6;
/// What a [`Name`] has room for.
pub const NAME_BYTES: usize = NAME_WORDS * 8;

/// A short text that can be written while others read it.
#[derive(Default)]
#[repr(C)]
pub struct Name([AtomicU64; NAME_WORDS]);

impl Name {
    pub fn store(&self, text: &str) {
        let mut bytes = [0u8; NAME_BYTES];
        let length = text.len().min(bytes.len());
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        for (word, chunk) in self.0.iter().zip(bytes.chunks_exact(8)) {
            word.store(
                u64::from_ne_bytes(chunk.try_into().unwrap_or_default()),
                Ordering::Relaxed,
            );
        }
    }

    pub fn load(&self) -> String {
        let bytes: Vec<u8> = self
            .0
            .iter()
            .flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes())
            .take_while(|byte| *byte != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_read_back() {
        let name = Name(Default::default());
        assert_eq!(name.load(), "");
        name.store("MPI_Recv");
        assert_eq!(name.load(), "MPI_Recv");
        name.store(&"x".repeat(100));
        assert_eq!(name.load().len(), NAME_WORDS * 8);
        name.store("a");
        assert_eq!(name.load(), "a");
    }
}
