//! A handful of ids that a member of a communicator offers along with something else that all agree on, in the bits of one word.
//!
//! All offer from one word of the mask, which follows from the parent, so the common bits are ids that are free on all. Invariant: what is offered is
//! taken here until the handful is settled or dropped. Nothing is offered while another allocation of this process offers: its common bits might be
//! these.

use super::Agreed;
use super::agreement::lease::Taken;
use super::registry::IDS;
use super::report;
use super::space::WORDS;
use crate::comm::Comm;

/// How many there are in a handful: the rest of the word that travels is the caller's.
pub const BITS: u32 = 30;
/// The words that handfuls are from. Not the first ones, which other allocations take first, nor far behind: what is kept of each id is in one
/// array, which grows up to the last one.
const FIRST_WORD: u32 = 8;
const WORDS_OF_HANDFULS: u32 = 8;
const _: () = assert!(FIRST_WORD + WORDS_OF_HANDFULS <= WORDS as u32);

/// What a member offers.
#[must_use = "its ids are taken"]
pub struct Handful {
    /// The prefix of the lowest bit.
    first: u32,
    bits: u32,
    engines: u32,
}

impl Handful {
    /// For a communicator whose members are among those of this one, all of whose members offer.
    pub fn of(parent: &Comm) -> Handful {
        let word = FIRST_WORD + (parent.receive_context() >> 2) % WORDS_OF_HANDFULS;
        let mut handful = Handful {
            first: word * 32,
            bits: 0,
            engines: match parent.has_agreed_on_engines() {
                true => parent.engines_offered(),
                false => 1,
            },
        };
        let mut ids = IDS.lock();
        // It is made with the first id, and says how many there may be.
        let _ = ids.settings();
        let space = &mut ids.space;
        let others_offer = space.mask_taken || space.eager_taken || space.slices != 0;
        if !others_offer {
            for bit in 0..BITS {
                let prefix = handful.first + bit;
                if space.take(prefix) {
                    handful.bits |= 1 << bit;
                }
            }
        }
        handful
    }

    /// The offer, of [`BITS`] bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The id, if all have offered the same one; `common`: the bits of all offers, which are the same on all members.
    pub fn settle(mut self, common: u32) -> Option<Agreed> {
        let bit = common.checked_ilog2()?;
        self.bits &= !(1 << bit);
        let taken = Taken::only(self.first + bit);
        let (engines, site) = (self.engines, report::site());
        let context = IDS.lock().register(taken, engines, site);
        Some(Agreed { context, engines })
    }
}

impl Drop for Handful {
    fn drop(&mut self) {
        let mut ids = IDS.lock();
        for bit in (0..BITS).filter(|bit| self.bits >> bit & 1 != 0) {
            ids.space.free(self.first + bit);
        }
    }
}
