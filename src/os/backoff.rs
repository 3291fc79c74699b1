//! Giving way while another process holds something for microseconds only: a lock, a table that it changes.

use super::schedule;

/// Looks before the core is given away.
const LOOKS: u32 = 100;
/// Yields before it is asked whether whoever is waited for lives: about a millisecond.
const YIELDS: u32 = 2000;

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
        self.looks.is_multiple_of(YIELDS)
    }
}
