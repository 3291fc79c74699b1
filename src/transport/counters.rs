//! What a process counts of its messages, for those who watch it (`mpiexec -top`): they read it out of its memory, so that counting stays a
//! plain addition to memory of the engine's own.
//!
//! Invariant: the page of a process has the address of [`TABLE`], and that has addresses of what lives as long as the process.

use super::ENGINES;
use crate::os::peer_memory;
use crate::sync::{AtomicU64, Ordering};

/// What an engine counts on the way of a message.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Counted {
    /// Messages sent without waiting for an answer, and with.
    pub eager: u64,
    pub rendezvous: u64,
    pub cancelled: u64,
    pub spins: u64,
    /// Bytes of messages that were announced.
    pub announced: u64,
}

const WORDS: usize = size_of::<Counted>() / 8;

/// For each engine the addresses of its [`Counted`] and of the number of its unexpected messages.
static TABLE: [[AtomicU64; 2]; ENGINES] = [const { [const { AtomicU64::new(0) }; 2] }; ENGINES];

/// Says where an engine counts; the address of the table, for the page.
pub fn tell(engine: usize, counted: &Counted, unexpected: &u64) -> u64 {
    TABLE[engine][0].store(&raw const *counted as u64, Ordering::Relaxed);
    TABLE[engine][1].store(&raw const *unexpected as u64, Ordering::Release);
    TABLE.as_ptr() as u64
}

/// What a process has counted since it has started, all engines together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub messages: u64,
    /// Of announced ones.
    pub bytes: u64,
    pub unexpected: u64,
}

/// Reads them out of a process that has told this address. `None`: the kernel does not allow it, or it is over.
pub fn read(pid: i32, table: u64) -> Option<Sum> {
    let mut bytes = [0; 16 * ENGINES];
    peer_memory::read(pid, table, &mut bytes).ok()?;
    let mut sum = Sum::default();
    for engine in bytes.as_chunks::<16>().0 {
        let [counted, unexpected] = words(engine);
        if counted == 0 || unexpected == 0 {
            continue;
        }
        let mut bytes = [0; 8 * WORDS];
        peer_memory::read(pid, counted, &mut bytes).ok()?;
        let [eager, rendezvous, _, _, announced] = words::<WORDS>(&bytes);
        let mut bytes = [0; 8];
        peer_memory::read(pid, unexpected, &mut bytes).ok()?;
        let [met_none] = words(&bytes);
        sum.messages += eager + rendezvous;
        sum.bytes += announced;
        sum.unexpected += met_none;
    }
    Some(sum)
}

fn words<const COUNT: usize>(bytes: &[u8]) -> [u64; COUNT] {
    let mut words = [0; COUNT];
    for (word, eight) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_ne_bytes(*eight);
    }
    words
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_can_be_read() {
        let counted = Box::leak(Box::new(Counted {
            eager: 5,
            rendezvous: 2,
            announced: 1 << 40,
            ..Counted::default()
        }));
        let table = tell(ENGINES - 1, counted, Box::leak(Box::new(3)));
        let sum = read(std::process::id() as i32, table);
        TABLE[ENGINES - 1][1].store(0, Ordering::Relaxed);
        // Where the kernel forbids it there is nothing.
        if let Some(sum) = sum {
            assert!(sum.messages >= 7 && sum.bytes >= 1 << 40 && sum.unexpected >= 3);
        }
    }
}
