//! Guests: peers of other jobs, to whom records go as to those of the own job.
//!
//! Both sides number processes by themselves, so a record says by a *sign* who has sent it: the receiver has given it out at the meeting.
//! It is the *entry* of the meeting at the receiver plus the sender's place in its group. Each meeting has a word of its own too, so what a
//! connection that has ended leaves under way is dropped. Invariant: an entry is given out again only when all that have come by it
//! are forgotten.

use super::card::Card;
use super::record::Record;
use super::{NO_BUFFER, Net};
use crate::transport::wire::Header;

/// Signs from here on are those of guests; below are the numbers of the job.
const FIRST: u32 = 1 << 31;
/// Bits of the place in a group.
const PLACE_BITS: u32 = 20;
const ENTRIES: usize = (FIRST >> PLACE_BITS) as usize;
const NOBODY: u32 = u32::MAX;

/// What a process tells those of the group that it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub entry: u32,
    pub word: u32,
}

/// One of them, as it is let in.
pub struct Guest<'a> {
    /// Its number here.
    pub process: u32,
    /// Its place in its group.
    pub place: u32,
    /// What [`Net::card_for`] has said there, and the entry that it has given out.
    pub card: &'a str,
    pub entry: u32,
    /// This process's place in its own group.
    pub own_place: u32,
}

/// Facts of a guest besides those of every peer.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// What its records begin to count from, and what this process is at the guest's.
    own_word: u32,
    sign: u32,
    entry: u32,
}

impl Terms {
    /// By what the guest knows this process.
    #[inline]
    pub(super) fn sign(self) -> u32 {
        self.sign
    }
}

/// The numbers here of those who come by an entry, by place.
#[derive(Default)]
pub(super) struct Guests {
    entries: Vec<Option<Vec<u32>>>,
}

impl Guests {
    fn invite(&mut self) -> Option<u32> {
        let free = self.entries.iter().position(Option::is_none);
        let index = free.unwrap_or(self.entries.len());
        if index >= ENTRIES {
            return None;
        }
        if index == self.entries.len() {
            self.entries.push(None);
        }
        self.entries[index] = Some(Vec::new());
        Some(FIRST | (index as u32) << PLACE_BITS)
    }

    fn of(&mut self, entry: u32) -> Option<&mut Vec<u32>> {
        let index = (entry & !FIRST) >> PLACE_BITS;
        self.entries.get_mut(index as usize)?.as_mut()
    }

    /// Whose sign that is, in a job of so many processes.
    pub(super) fn resolve(&self, sign: u32, processes: usize) -> Option<u32> {
        if sign < FIRST {
            return ((sign as usize) < processes).then_some(sign);
        }
        let index = ((sign & !FIRST) >> PLACE_BITS) as usize;
        let places = self.entries.get(index)?.as_ref()?;
        let process = *places.get((sign & ((1 << PLACE_BITS) - 1)) as usize)?;
        (process != NOBODY).then_some(process)
    }

    fn admit(&mut self, entry: u32, place: u32, process: u32) -> bool {
        let Some(places) = self.of(entry).filter(|_| place >> PLACE_BITS == 0) else {
            return false;
        };
        let place = place as usize;
        if places.len() <= place {
            places.resize(place + 1, NOBODY);
        }
        places[place] = process;
        true
    }

    /// The entry is free when nobody is left.
    fn forget(&mut self, entry: u32, process: u32) {
        let Some(places) = self.of(entry) else { return };
        for place in places.iter_mut().filter(|place| **place == process) {
            *place = NOBODY;
        }
        if places.iter().all(|place| *place == NOBODY) {
            self.close(entry);
        }
    }

    fn close(&mut self, entry: u32) {
        let index = (entry & !FIRST) >> PLACE_BITS;
        if let Some(place) = self.entries.get_mut(index as usize) {
            *place = None;
        }
    }
}

impl Net {
    /// Begins a meeting with processes of other jobs. `None`: there are too many already.
    pub fn invite(&mut self, word: u32) -> Option<Invitation> {
        let entry = self.guests.invite()?;
        Some(Invitation { entry, word })
    }

    /// Takes an invitation back that nobody has used.
    pub fn take_back(&mut self, invitation: Invitation) {
        let unused = self.guests.of(invitation.entry);
        if unused.is_some_and(|places| places.iter().all(|place| *place == NOBODY)) {
            self.guests.close(invitation.entry);
        }
    }

    /// As [`Net::card`], for those that are invited.
    ///
    /// Errors: the provider does not know its address.
    pub fn card_for(&self, invitation: Invitation) -> Result<String, String> {
        Ok(Card {
            word: invitation.word,
            ..self.own_card()?
        }
        .text())
    }

    /// Lets a process of another job in, which the table of processes has a route over the fabric to.
    ///
    /// Errors: its card is none, its provider is another, or the provider does not take its address.
    pub fn admit(&mut self, invitation: Invitation, guest: &Guest<'_>) -> Result<(), String> {
        let Some(card) = Card::of(guest.card) else {
            return Err(format!("it has told \"{}\"", guest.card));
        };
        if card.provider != self.port.provider() {
            return Err(format!(
                "its provider is {}, and this one's is {}",
                card.provider,
                self.port.provider()
            ));
        }
        let address = self.port.insert(&card.address)?;
        let (entry, place) = (invitation.entry, guest.place);
        if !self.guests.admit(entry, place, guest.process) {
            self.port.remove(address);
            return Err("its group is too large".to_owned());
        }
        self.peers.take(guest.process);
        let peer = self.peer(guest.process);
        peer.contact = Some((address, card.word));
        peer.terms = Some(Terms {
            own_word: invitation.word,
            sign: guest.entry.wrapping_add(guest.own_place),
            entry,
        });
        Ok(())
    }

    /// Begins to part from a guest: all that was sent leaves, then GOODBYE.
    pub fn begin_to_part(&mut self, process: u32) {
        let Some(peer) = self.peers.get_mut(process) else {
            return;
        };
        if peer.met && !peer.said_goodbye && !peer.goodbye_due {
            peer.goodbye_due = true;
            self.list(process);
            self.hurry();
        }
    }

    /// Whether both have said so, or the guest is gone.
    pub fn has_parted(&mut self, process: u32) -> bool {
        let both = self.peers.get(process).is_none_or(|peer| {
            !peer.met || peer.said_goodbye && peer.heard_goodbye && !peer.answer_due
        });
        let under_way =
            self.pool.under_way().any(|to| to == process) || self.straight.is_with(process);
        both && !under_way || self.is_gone(process)
    }

    /// Forgets a guest: its connection, address and sign are given back, and what it has sent and nobody has taken is dropped.
    pub fn forget(&mut self, process: u32) {
        self.due.retain(|due| *due != process);
        let is_from_it = |header: &Header| header.process == process;
        let dropped = self.arrived.iter().filter(|it| is_from_it(&it.header));
        let dropped: Vec<usize> = dropped.map(|it| it.buffer).collect();
        self.arrived.retain(|it| !is_from_it(&it.header));
        let early = self
            .peers
            .get_mut(process)
            .map(|peer| peer.early.take_all());
        let early = early.unwrap_or_default().into_iter();
        let dropped = dropped.into_iter().chain(early.map(|kept| kept.buffer));
        let dropped: Vec<usize> = dropped.filter(|buffer| *buffer != NO_BUFFER).collect();
        for buffer in dropped {
            self.done_with(buffer);
        }
        let Some(peer) = self.peers.take(process) else {
            return;
        };
        if let Some(terms) = peer.terms {
            self.guests.forget(terms.entry, process);
        }
        if let Some((address, _)) = peer.contact {
            self.port.remove(address);
        }
    }

    /// How many records have gone to a guest, and have come from it.
    pub fn exchanged(&self, process: u32) -> (u32, u32) {
        let peer = self.peers.get(process);
        peer.map_or((0, 0), |peer| peer.order.counts())
    }

    /// Whose record that is, by the sender's sign, and what its numbers begin from. Its header becomes that of a peer of the own job.
    pub(super) fn sender_of(&self, record: &mut Record) -> Option<u32> {
        let process = self
            .guests
            .resolve(record.header.process, self.table.size())?;
        record.header.process = process;
        let Some(peer) = self.peers.get(process) else {
            return Some(self.word);
        };
        let Some(terms) = peer.terms else {
            return Some(self.word);
        };
        if record.header.names_process() {
            record.header.source = process as i32;
        }
        Some(terms.own_word)
    }

    /// What the numbers of a peer's records begin from.
    pub(super) fn own_word_for(&self, process: u32) -> u32 {
        let terms = self.peers.get(process).and_then(|peer| peer.terms);
        terms.map_or(self.word, |terms| terms.own_word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_lead_to_those_who_were_let_in() {
        let mut guests = Guests::default();
        assert_eq!(guests.resolve(3, 4), Some(3));
        assert_eq!(guests.resolve(4, 4), None);
        let (first, second) = (guests.invite().unwrap(), guests.invite().unwrap());
        assert_ne!(first, second);
        assert_eq!(guests.resolve(first, 4), None);
        assert!(guests.admit(first, 2, 9) && guests.admit(first, 0, 7));
        assert!(guests.admit(second, 0, 8));
        assert!(!guests.admit(second, 1 << PLACE_BITS, 8));
        let found = |guests: &Guests, entry: u32| -> Vec<Option<u32>> {
            (0..4)
                .map(|place| guests.resolve(entry + place, 4))
                .collect()
        };
        assert_eq!(found(&guests, first), [Some(7), None, Some(9), None]);
        assert_eq!(found(&guests, second), [Some(8), None, None, None]);
        guests.forget(first, 7);
        assert_eq!(found(&guests, first), [None, None, Some(9), None]);
        guests.forget(first, 9);
        // The entry is free, and is the next one given out.
        assert!(!guests.admit(first, 0, 7));
        assert_eq!(guests.invite(), Some(first));
        assert_eq!(found(&guests, second)[0], Some(8));
    }

    #[test]
    fn there_are_only_so_many_entries() {
        let mut guests = Guests::default();
        assert!((0..ENTRIES).all(|_| guests.invite().is_some()));
        assert_eq!(guests.invite(), None);
        guests.close(FIRST | 5 << PLACE_BITS);
        assert_eq!(guests.invite(), Some(FIRST | 5 << PLACE_BITS));
    }
}
