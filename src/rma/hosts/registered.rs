//! Memory that the ranks of a window have registered with the fabric, and how each is reached.

use crate::transport::rma::{LONGEST_ADDRESS, Registered, There, rma};
use parking_lot::Mutex;

/// Words that a rank tells the others: whether there is anything, the length of its address, key, base, address.
const WORDS: usize = 3 + LONGEST_ADDRESS / 8;
/// With another word in front.
pub const TOLD: usize = 1 + WORDS;

/// What a window has for that.
pub struct Direct {
    own: Mutex<Option<Registered>>,
    /// By rank: the first byte of its memory.
    there: Box<[Option<There>]>,
}

impl Direct {
    /// Of what all ranks have told; `process` says which one a rank of another host is.
    pub fn new(
        own: Option<Registered>,
        told: &[[u64; TOLD]],
        process: impl Fn(usize) -> Option<u32>,
    ) -> Direct {
        let there = |(rank, words): (usize, &[u64; TOLD])| {
            let length = words[1] as usize;
            if length == 0 || length > LONGEST_ADDRESS {
                return None;
            }
            let address: Vec<u8> = words[4..]
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .take(length)
                .collect();
            // What cannot be reached so is reached by messages.
            let process = rma()?.peer(process(rank)?, &address).ok()?;
            Some(There {
                process,
                address: words[3],
                key: words[2],
            })
        };
        Direct {
            own: Mutex::new(own),
            there: told.iter().enumerate().map(there).collect(),
        }
    }

    /// Ends the registration of the own memory, when no rank accesses it any more.
    pub fn close(&self) {
        if let (Some(own), Some(rma)) = (self.own.lock().take(), rma()) {
            rma.forget(own);
        }
    }

    /// Where the memory of a rank begins, if the fabric reaches it.
    pub fn there(&self, rank: usize) -> Option<There> {
        self.there[rank]
    }
}
