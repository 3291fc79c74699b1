//! Offers: messages no longer than an eager part that their receiver reads out of the sender's memory, and whose sends wait for no receive.
//!
//! A single copy of 64 KB takes a third of the time of two on processors that are slow to load from another core's cache, but a send that
//! must not wait for its receiver has no time for it. So it is announced with its address, and what waits for the send (or tests it)
//! gives the receiver [`PATIENCE`]: a receiver that is there has read the message by then. If it has not, the sender copies the
//! data, says in its page where the copy is ([`crate::queue::offers`]), and the send is complete; the receiver reads the copy whenever it
//! comes. A detached request keeps the copy until the answer, so all that is done for a rendezvous is done for it (losses, refusals, the end of a
//! communicator, MPI_Finalize).
//!
//! A receiver that has come too late is not waited for again at once: the next messages to it leave as eager parts, twice as many
//! each time. Only where receivers have found single copies faster ([`super::copy_trials`]). Invariants: an offer is this engine's from
//! its announcement to its answer; `requests` names the send, or the request that keeps the copy; `waiting` has those of which no copy was made.

use super::Engine;
use super::published;
use super::requests::{Answer, Index};
use crate::datatype::Buffer;
use crate::os::{monotonic_nanoseconds, peer_memory};
use crate::queue::offers::{OFFERS, Place};
use crate::transport::LONGEST_WHOLE;

/// Bit of a token in an RTS or CTS that names an offer, and no request.
const OFFER: u32 = 1 << 30;
/// No longer messages are offered by choice, whatever the eager part is: a copy may have to be kept of each.
const LONGEST_OFFERED: usize = 64 << 10;
/// How long a send waits for its receiver, nanoseconds, since it began or since that receiver last answered an offer: about what two copies of
/// 64 KB take, so that the wait at most doubles the time of a send.
pub(super) const PATIENCE: u64 = 10_000;
/// However often the receiver answers others, and where ranks share cores, nanoseconds.
const LONGEST: u64 = 1_000_000;
/// After so many receivers that came too late, no longer pauses.
const MOST_MISSED: u32 = 8;
const NONE: Index = u32::MAX;

/// What an engine has on offer.
#[derive(Default)]
pub(super) struct Offers {
    /// The requests, by offer; empty before the first.
    requests: Vec<Index>,
    /// When each was announced, nanoseconds.
    announced: Vec<u64>,
    /// Those that a send waits for, a set of bits.
    waiting: u64,
}

/// A peer as a receiver of offers.
#[derive(Clone, Copy, Default)]
pub(super) struct Receiver {
    /// When it last answered one, nanoseconds.
    answered: u64,
    /// How often in succession it came too late.
    missed: u32,
    /// Messages to it that are yet to leave as eager parts.
    pause: u32,
}

impl Receiver {
    /// Whether the next message is to be offered.
    fn is_trusted(&mut self) -> bool {
        let trusted = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        trusted
    }

    fn is_late(&mut self) {
        self.missed = (self.missed + 1).min(MOST_MISSED);
        self.pause = 1 << self.missed;
    }

    fn is_in_time(&mut self, now: u64) {
        *self = Receiver {
            answered: now,
            ..Receiver::default()
        };
    }
}

/// The offer that a token names.
pub(super) fn offer_of(token: u32) -> Option<u32> {
    (token & OFFER != 0).then_some(token & (OFFERS as u32 - 1))
}

impl Offers {
    /// Whether a send waits for the receiver of an offer.
    #[inline(always)]
    pub(super) fn are_waiting(&self) -> bool {
        self.waiting != 0
    }

    #[cfg(test)]
    pub(super) fn request(&self, offer: u32) -> Index {
        self.requests[offer as usize]
    }

    fn numbers_of_waiting(&self) -> impl Iterator<Item = u32> + use<> {
        let mut waiting = self.waiting;
        std::iter::from_fn(move || {
            let offer = (waiting != 0).then(|| waiting.trailing_zeros())?;
            waiting &= waiting - 1;
            Some(offer)
        })
    }
}

impl Engine {
    /// Offers the message of a send, which waits for nothing: its token. `is_read`: the receiver is to read it in any case; else if that is
    /// faster, and the receiver likely to come in time. `None`: it is not offered.
    pub(super) fn offer(
        &mut self,
        process: usize,
        index: Index,
        buffer: &Buffer,
        is_read: bool,
    ) -> Option<u32> {
        // Only those of this segment see this process's page, which says where the data is; other jobs have a copy of it.
        let sees_page = self.transport.table().seat_of(process as u32).is_some();
        if !sees_page || !is_read && !self.pays_to_offer(process, buffer) {
            return None;
        }
        let offer = self.transport.table().own().offers.take()?;
        let offers = &mut self.offers;
        if offers.requests.is_empty() {
            offers.requests = vec![NONE; OFFERS];
            offers.announced = vec![0; OFFERS];
        }
        offers.requests[offer as usize] = index;
        offers.announced[offer as usize] = monotonic_nanoseconds();
        offers.waiting |= 1 << offer;
        Some(OFFER | offer)
    }

    fn pays_to_offer(&mut self, process: usize, buffer: &Buffer) -> bool {
        let bytes = buffer.len();
        let is_between = bytes > LONGEST_WHOLE && bytes <= LONGEST_OFFERED;
        if !is_between || self.oversubscribed || !self.limits.single_copy.learns() {
            return false;
        }
        if !self.is_read_by(process, bytes) || buffer.contiguous().is_none() {
            return false;
        }
        let peer = self.peers.of(process);
        if peer.cannot_read_us || !self.transport.may_be_readable(peer.route) {
            return false;
        }
        self.peers.of(process).offers.is_trusted()
    }

    /// An offer's announcement found no room.
    pub(super) fn take_back_offer(&mut self, token: u32) {
        if let Some(offer) = offer_of(token) {
            self.end_offer(offer);
        }
    }

    fn end_offer(&mut self, offer: u32) -> Index {
        self.offers.waiting &= !(1 << offer);
        let named = self.offers.requests.get_mut(offer as usize);
        let index = named.map_or(NONE, |index| std::mem::replace(index, NONE));
        self.transport.table().own().offers.give(offer);
        index
    }

    /// The receiver has answered: the request that its answer is for. `None`: it was given up.
    pub(super) fn answered_offer(&mut self, process: usize, offer: u32) -> Option<Index> {
        let was_waiting = self.offers.waiting & 1 << offer != 0;
        let index = self.end_offer(offer);
        let now = monotonic_nanoseconds();
        let receiver = &mut self.peers.of(process).offers;
        match was_waiting {
            true => receiver.is_in_time(now),
            false => receiver.answered = now,
        }
        if index == NONE {
            return None;
        }
        self.requests.at(index).answer = Answer::Awaited;
        Some(index)
    }

    /// Whether a send waits for the receiver of an offer: nothing wakes this process when it is late.
    pub(super) fn has_offers(&self) -> bool {
        self.offers.are_waiting()
    }

    /// Completes sends whose receivers have not come in time.
    #[cold]
    #[inline(never)]
    pub(super) fn look_at_offers(&mut self) {
        let now = monotonic_nanoseconds();
        // A receiver that shares cores with others comes when it is its turn.
        let patience = match self.oversubscribed {
            true => self.limits.patience.max(LONGEST),
            false => self.limits.patience,
        };
        for offer in self.offers.numbers_of_waiting() {
            let (announced, index) = (
                self.offers.announced[offer as usize],
                self.offers.requests[offer as usize],
            );
            let process = self.requests.at(index).process as usize;
            let answered = self.peers.of(process).offers.answered;
            let is_over = now.saturating_sub(announced.max(answered)) > patience
                || now.saturating_sub(announced) > LONGEST.max(patience);
            if is_over {
                self.peers.of(process).offers.is_late();
                self.keep_offered(offer);
            }
        }
    }

    /// Copies the data of an offer and completes its send, if there is memory.
    fn keep_offered(&mut self, offer: u32) {
        let index = self.offers.requests[offer as usize];
        let Ok(keeper) = self.requests.at(index).with_copy() else {
            return;
        };
        let kept = keeper.extra.as_ref().and_then(|extra| extra.copy.as_ref());
        let place = Place::Copied(kept.map_or(0, |copy| copy.as_ptr() as u64));
        let keeper = self.requests.insert(keeper);
        self.sending += 1;
        published::stir();
        self.offers.requests[offer as usize] = keeper;
        self.offers.waiting &= !(1 << offer);
        self.transport.table().own().offers.set_place(offer, place);
        self.requests.at(index).answer = Answer::NotWanted;
        self.complete(index);
    }

    /// Completes a send whose message is on offer: nobody waits for its receiver any more. False: it is not on offer, or there is no memory.
    pub(super) fn keep_if_offered(&mut self, index: Index) -> bool {
        if self.requests.at(index).answer != Answer::Offered {
            return false;
        }
        let mut waiting = self.offers.numbers_of_waiting();
        if let Some(offer) = waiting.find(|offer| self.offers.requests[*offer as usize] == index) {
            self.keep_offered(offer);
        }
        self.requests.at(index).answer == Answer::NotWanted
    }

    /// A send ends without its receiver's answer: from now on its data may change. The offer stays taken, for the receiver may answer yet.
    pub(super) fn give_up_offer(&mut self, index: Index) {
        if self.requests.at(index).answer != Answer::Offered {
            return;
        }
        let mut named = self.offers.requests.iter();
        if let Some(offer) = named.position(|request| *request == index) {
            self.offers.requests[offer] = NONE;
            self.offers.waiting &= !(1 << offer);
            let own = self.transport.table().own();
            own.offers.set_place(offer as u32, Place::Gone);
        }
    }

    /// Reads a message that is on offer, whether its data is still where it was announced, moves meanwhile, or has moved. False: the kernel
    /// does not let us, or the sender has given it up.
    pub(super) fn read_offered(
        &mut self,
        index: Index,
        process: usize,
        offer: u32,
        address: u64,
        bytes: usize,
    ) -> bool {
        let page = self.peer(process as u32).page;
        let pid = page.pid.load(crate::sync::Ordering::Relaxed);
        let buffer = self.requests.at(index).buffer;
        loop {
            let place = page.offers.place(offer);
            let from = match place {
                Place::Announced => address,
                Place::Copied(address) => address,
                Place::Gone => return false,
            };
            let read = buffer.fill_from(bytes, |out| peer_memory::read(pid, from, out));
            if page.offers.is_still(offer, place) {
                return read.is_ok();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_late_again_and_again_is_offered_less_and_less() {
        let mut receiver = Receiver::default();
        let mut offered = 0;
        for _ in 0..10_000 {
            if receiver.is_trusted() {
                offered += 1;
                receiver.is_late();
            }
        }
        assert!((20..60).contains(&offered), "{offered}");
        receiver.is_in_time(1);
        assert!(receiver.is_trusted() && receiver.is_trusted());
    }

    #[test]
    fn a_token_names_an_offer_or_a_request() {
        use super::super::requests::{first_of, number};
        for offer in 0..OFFERS as u32 {
            assert_eq!(offer_of(OFFER | offer), Some(offer));
        }
        assert_eq!(offer_of(number(first_of(15), (1 << 22) - 1)), None);
    }
}
