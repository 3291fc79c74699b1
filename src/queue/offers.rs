//! Where the data of messages lies that other ranks may read out of their sender's memory, and that the sender may move meanwhile.
//!
//! A sender that cannot wait for the reader copies the data, says where the copy is, and only then lets the program change the original.
//! A reader looks where the data is, reads it, and looks again: if it was moved in between, what was read may be anything. Invariant:
//! with a full fence between both steps of either side, a reader that finds the data in its place has read it before it changed
//! (models below, for loom).

use crate::sync::{AtomicU64, Ordering, fence};

/// How many messages of a process can be on offer.
pub const OFFERS: usize = 64;

/// Where the data of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where its announcement said.
    Announced,
    /// At this address, in the library's memory.
    Copied(u64),
    /// Nowhere: the sender has given it up.
    Gone,
}

impl Place {
    fn word(self) -> u64 {
        match self {
            Place::Announced => 0,
            Place::Gone => 1,
            Place::Copied(address) => address,
        }
    }

    fn of(word: u64) -> Place {
        match word {
            0 => Place::Announced,
            1 => Place::Gone,
            address => Place::Copied(address),
        }
    }
}

/// The offers of one process; all zeros are valid, and mean none.
#[repr(C)]
pub struct Offers {
    /// Those that are taken, a set of bits. Only the process itself uses it, on any thread.
    taken: AtomicU64,
    places: [AtomicU64; OFFERS],
}

impl Default for Offers {
    fn default() -> Self {
        Offers {
            taken: AtomicU64::new(0),
            places: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl Offers {
    /// A free one, for data that is where its announcement will say. `None`: all are taken.
    pub fn take(&self) -> Option<u32> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let offer = (!taken).trailing_zeros();
            if offer as usize >= OFFERS {
                return None;
            }
            let with = taken | 1 << offer;
            // Acquire: pairs with `give`, on another thread.
            match (self.taken).compare_exchange_weak(
                taken,
                with,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    let place = &self.places[offer as usize];
                    if place.load(Ordering::Relaxed) != Place::Announced.word() {
                        // Whoever is told of this offer is told by a packet, which comes later.
                        place.store(Place::Announced.word(), Ordering::Relaxed);
                    }
                    return Some(offer);
                }
                Err(now) => taken = now,
            }
        }
    }

    /// Gives an offer back, which has been answered.
    pub fn give(&self, offer: u32) {
        self.taken.fetch_and(!(1 << offer), Ordering::Release);
    }

    /// The data is at another place, and is not changed there; from now on that of the announcement may be.
    pub fn set_place(&self, offer: u32, place: Place) {
        // Release: pairs with `place`, whose caller reads the copy.
        self.places[offer as usize].store(place.word(), Ordering::Release);
        // Pairs with `is_still`: the original changes afterwards.
        fence(Ordering::SeqCst);
    }

    /// Where a reader finds the data.
    pub fn place(&self, offer: u32) -> Place {
        Place::of(self.places[offer as usize].load(Ordering::Acquire))
    }

    /// Whether what was read at this place is what was offered.
    pub fn is_still(&self, offer: u32, place: Place) -> bool {
        // Pairs with `set_place`: the data was read before.
        fence(Ordering::SeqCst);
        self.places[offer as usize].load(Ordering::Relaxed) == place.word()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_offer_that_is_given_back_is_taken_anew_in_its_first_place() {
        let offers = Offers::default();
        let all: Vec<u32> = (0..OFFERS).map(|_| offers.take().unwrap()).collect();
        assert_eq!(offers.take(), None);
        offers.set_place(all[5], Place::Copied(4096));
        assert_eq!(offers.place(all[5]), Place::Copied(4096));
        offers.give(all[5]);
        assert_eq!(offers.take(), Some(all[5]));
        assert_eq!(offers.place(all[5]), Place::Announced);
        assert_eq!(offers.take(), None);
    }

    #[test]
    fn what_was_read_counts_while_it_is_in_its_place() {
        let offers = Offers::default();
        let offer = offers.take().unwrap();
        assert!(offers.is_still(offer, Place::Announced));
        offers.set_place(offer, Place::Copied(1 << 20));
        assert!(!offers.is_still(offer, Place::Announced));
        assert!(offers.is_still(offer, Place::Copied(1 << 20)));
        offers.set_place(offer, Place::Gone);
        assert_eq!(offers.place(offer), Place::Gone);
    }
}

/// Mutations that this model catches: no fence in `set_place`, none in `is_still`, `is_still` left out, a relaxed store in `set_place`, the copy
/// made after it.
#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    const COPY: u64 = 4096;
    const OFFERED: u64 = 7;
    const CHANGED: u64 = 9;

    struct Shared {
        offers: Offers,
        original: AtomicU64,
        copy: AtomicU64,
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            offers: Offers::default(),
            original: AtomicU64::new(OFFERED),
            copy: AtomicU64::new(0),
        })
    }

    /// The kernel reads what it finds, in no order.
    fn read(shared: &Shared) -> u64 {
        loop {
            let place = shared.offers.place(0);
            let found = match place {
                Place::Announced => shared.original.load(Ordering::Relaxed),
                Place::Copied(_) => shared.copy.load(Ordering::Relaxed),
                Place::Gone => unreachable!(),
            };
            if shared.offers.is_still(0, place) {
                return found;
            }
        }
    }

    #[test]
    fn a_reader_has_what_was_offered_whenever_it_is_moved() {
        loom::model(|| {
            let shared = shared();
            let reader = {
                let shared = shared.clone();
                thread::spawn(move || read(&shared))
            };
            shared.copy.store(OFFERED, Ordering::Relaxed);
            shared.offers.set_place(0, Place::Copied(COPY));
            shared.original.store(CHANGED, Ordering::Relaxed);
            assert_eq!(reader.join().unwrap(), OFFERED);
        });
    }
}
