//! Giving way while another process holds something for microseconds only: a lock, a table that it changes.

use super::schedule;
use super::turns::{HELD_YIELDS_PER_CHECK, LOOKS};
use std::time::Duration;

/// Yields of a wait by the clock before it sleeps between its looks, and those sleeps.
const YIELDS_FOR: Duration = Duration::from_millis(1);
const SLEEP: Duration = Duration::from_micros(100);

/// One such wait. Waits that may be long are the engine's (`engine/wait.rs`), which sleep.
#[derive(Clone, Copy, Default)]
pub struct Backoff {
    looks: u32,
}

impl Backoff {
    /// To be called between two looks. True: it is time to ask whether the other one has died.
    pub fn pause(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if self.looks < LOOKS {
            std::hint::spin_loop();
            return false;
        }
        schedule::yield_now();
        self.looks.is_multiple_of(HELD_YIELDS_PER_CHECK)
    }
}

/// To be called between two looks of a wait that has lasted so long and may last a second.
pub fn give_way(waited: Duration) {
    match waited < YIELDS_FOR {
        true => schedule::yield_now(),
        false => std::thread::sleep(SLEEP),
    }
}
