//! Puts and gets of runs of bytes by the fabric itself, where origin and target have an endpoint for that: no message, and no thread of the
//! target's where an adapter does it.
//!
//! Each rank registers its memory when the window is made, and tells the others how to reach it. An operation is one of the [`Queue`] of its target
//! until the fabric says that it has ended, which for a write means that the target sees it. Invariant: memory is registered as long
//! as others may access it, and no longer.

use super::flights::{Queue, Track, Until};
use super::origin::Origin;
use super::registered::TOLD;
use crate::datatype::Buffer;
use crate::engine;
use crate::error::Result;
use crate::rma::window::Window;
use crate::transport::rma::{Begun, End, Move, Registered, There, rma};
use std::sync::Arc;

/// Whether this process offers it to others.
pub fn is_offered() -> bool {
    let Some(rma) = rma() else {
        return false;
    };
    rma.watch_by(engine::watch);
    true
}

/// Registers this rank's memory. Returns it, and what the others are told: how to reach it, behind a word for an error.
pub fn tell(window: &Window) -> (Option<Registered>, [u64; TOLD]) {
    let mut words = [0; TOLD];
    let (base, bytes) = (window.facts.base, window.facts.bytes);
    let Some(rma) = rma().filter(|_| bytes > 0) else {
        return (None, words);
    };
    // SAFETY: the window's memory, which stays until MPI_Win_free has ended the registration.
    let Ok(own) = (unsafe { rma.register(base as *mut u8, bytes) }) else {
        return (None, words);
    };
    let address = rma.address();
    words[1] = address.len() as u64;
    (words[2], words[3]) = (own.key, own.base);
    for (word, bytes) in words[4..].iter_mut().zip(address.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(whole);
    }
    (Some(own), words)
}

impl Origin<'_> {
    /// Moves bytes by the fabric. False: it does not do that here, and nothing was done.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, the target is lost, or the fabric fails; of most failures the call that synchronises tells.
    pub fn move_by_fabric(
        &self,
        which: Move,
        origin: &Buffer,
        target: &Buffer,
        track: Option<&Track>,
    ) -> Result<bool> {
        let there = self
            .hosts()
            .and_then(|hosts| hosts.direct.get()?.there(self.rank));
        let (Some(there), Some(queue), Some(rma)) = (there, self.queue(), rma()) else {
            return Ok(false);
        };
        let (Some(here), Some(offset)) = (origin.contiguous(), target.contiguous()) else {
            return Ok(false);
        };
        let (mut at, bytes) = (0, origin.len());
        while at < bytes {
            let length = rma.longest().min(bytes - at);
            let there = There {
                address: there.address.wrapping_add((offset.addr() + at) as u64),
                ..there
            };
            self.begin_by_fabric(which, &there, (here.wrapping_add(at), length), queue, track)?;
            at += length;
        }
        Ok(true)
    }

    fn begin_by_fabric(
        &self,
        which: Move,
        there: &There,
        (here, bytes): (*mut u8, usize),
        queue: &Arc<Queue>,
        track: Option<&Track>,
    ) -> Result<()> {
        let Some(rma) = rma() else {
            return Ok(());
        };
        self.until(Until::AtMost(super::origin::MOST_PENDING))?;
        let number = queue.begin_direct(track.map(|track| track.another(queue)));
        let ended = queue.clone();
        let mut end: Option<End> = Some(Box::new(move |error| ended.end_direct(number, error)));
        self.wait(|engine| {
            let Some(next) = end.take() else {
                return Some(());
            };
            // SAFETY: the program leaves its buffer alone until the operation is complete.
            match unsafe { rma.begin(which, there, here, bytes, next) } {
                Begun::Yes => Some(()),
                Begun::Failed(text) => {
                    queue.end_direct(number, Some(text));
                    Some(())
                }
                Begun::Later(back) => {
                    end = Some(back);
                    let asks = engine.checks_liveness();
                    // If the target is lost this ends the operation, too.
                    let _ = queue.reap(engine, asks, Until::AtMost(usize::MAX));
                    rma.poll();
                    (!queue.is_direct(number)).then_some(())
                }
            }
        });
        Ok(())
    }
}
