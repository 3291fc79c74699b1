//! Requests: the slab of an engine that they live in.
//!
//! Invariant: a slot is `Free` or belongs to one handle the program holds or to the engine itself (a *detached*
//! request, freed by the program or made for a buffered send, which is recycled when it completes).
//! Slots are reused oldest first, so that a stale handle stays recognisable.

mod number;
pub(super) mod request;
mod walk;

use super::roots;
use crate::datatype::Status;
use crate::datatype::pack::Buffer;
use crate::error::{Class, Error, Exhausted, Result, fail, memory};
use crate::os::made;
pub use number::{
    Index, NO_PROC, NULL, RECEIVED_FROM_NOBODY, SENT, engine_of, engine_of_handle, handle_of,
    index_of, is_of_another, message_handle_of, message_index_of,
};
use number::{SLOT, own_slot};
pub(super) use number::{first_of, new_number, number, slot};
pub use request::{Answer, Extra, Kind, Mode, NOT_POSTED, Phase, Request, Restart};
use std::collections::VecDeque;

/// What a slab is full of, for those who read that.
const REQUESTS: &str =
    "requests in this process that were neither completed (MPI_Wait, MPI_Test) nor freed";
/// Requests that are kept for the library, which would otherwise have to end the job: it cannot give up in the middle of an operation.
const OWN: usize = 1 << 16;
/// The program gets no further request when there are so many slots, and hardly one is free.
const PROGRAMS: usize = SLOT + 1 - OWN;
/// Slots are reused only while more than so many are free.
const RESERVE: usize = 16;
/// The slab grows by so many slots at least.
const LEAST_MORE: usize = 64;
/// What other tables need for each request, bytes, about: they grow with the slab, and cannot fail.
const BESIDE: usize = 192;

#[cold]
fn no_more(error: Error) -> Index {
    std::panic::panic_any(Exhausted(error.text()))
}

/// The answer of [`Slab::reap`].
#[derive(Clone, Copy, Debug)]
pub enum Reaped {
    Done(Status),
    Active,
    /// Something that takes more steps, or no request at all.
    Other,
}

/// All requests of an engine.
pub struct Slab {
    /// The number of the first request.
    first: u32,
    slots: Vec<Request>,
    free: VecDeque<Index>,
    /// Slots are taken at once while more than so many are free: [`RESERVE`], or too many where it is noted what makes requests.
    reserve: usize,
    blocks: walk::Blocks,
}

/// [`Slab::reserve`] of a slab in which no slot is taken at once.
const NOTES: usize = usize::MAX;

impl Default for Slab {
    fn default() -> Self {
        Self {
            first: 0,
            slots: Vec::new(),
            free: VecDeque::new(),
            reserve: RESERVE,
            blocks: walk::Blocks::default(),
        }
    }
}

impl Slab {
    /// An empty one, for the engine of this number.
    pub fn new(engine: u32) -> Self {
        Self {
            first: first_of(engine),
            reserve: if made::is_noted() { NOTES } else { RESERVE },
            ..Self::default()
        }
    }

    /// A request without which the library cannot go on, or for which [`Slab::check_room`] has found room: without any, the job ends.
    #[inline(always)]
    pub fn insert(&mut self, request: Request) -> Index {
        roots::take(request.owner, &request.buffer);
        self.put(request, SLOT + 1).unwrap_or_else(no_more)
    }

    /// Whether the program may have one more request.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[inline]
    pub fn check_room(&mut self) -> Result<()> {
        match self.free.len() > RESERVE {
            true => Ok(()),
            false => self.have_room(PROGRAMS),
        }
    }

    #[inline(always)]
    fn put(&mut self, request: Request, most: usize) -> Result<Index> {
        if self.free.len() > self.reserve
            && let Some(index) = self.free.pop_front()
        {
            self.slots[own_slot(index)] = request;
            return Ok(index);
        }
        self.put_into_another(request, most)
    }

    #[cold]
    #[inline(never)]
    fn put_into_another(&mut self, request: Request, most: usize) -> Result<Index> {
        if self.reserve == NOTES {
            return self.put_and_note(request, most);
        }
        self.put_into_new(request, most)
    }

    /// As without notes, and says where the program is.
    fn put_and_note(&mut self, request: Request, most: usize) -> Result<Index> {
        let free = (self.free.len() > RESERVE).then(|| self.free.pop_front());
        let index = match free.flatten() {
            Some(index) => {
                self.slots[own_slot(index)] = request;
                index
            }
            None => self.put_into_new(request, most)?,
        };
        made::note(handle_of(index));
        Ok(index)
    }

    fn put_into_new(&mut self, request: Request, most: usize) -> Result<Index> {
        if let Err(error) = self.have_room(most) {
            roots::give(&request);
            return Err(error);
        }
        if let Some(index) = self.more() {
            self.slots[own_slot(index)] = request;
            return Ok(index);
        }
        self.slots.push(request);
        Ok(new_number(self.first, self.slots.len(), REQUESTS))
    }

    /// Makes sure of a slot for one more request, where there may be so many.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[cold]
    #[inline(never)]
    fn have_room(&mut self, most: usize) -> Result<()> {
        if self.has_parked() || self.slots.len() < self.slots.capacity().min(most) {
            return Ok(());
        }
        if self.slots.len() >= most {
            return fail!(
                Class::NoMem,
                "there are {} {REQUESTS}, and can be no more",
                self.count()
            );
        }
        let more = self.slots.len().max(LEAST_MORE);
        if self.slots.try_reserve_exact(more).is_ok() {
            if memory::check(more * BESIDE, REQUESTS).is_ok() {
                return Ok(());
            }
            self.slots.shrink_to_fit();
        }
        fail!(
            Class::NoMem,
            "there is no memory for more than the {} {REQUESTS}",
            self.count()
        )
    }

    /// A new receive of the program's: as [`Slab::insert`], writing only what such a request needs.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    #[inline(always)]
    pub fn insert_receive(
        &mut self,
        buffer: Buffer,
        owner: i32,
        context: u32,
        peer: i32,
        tag: i32,
    ) -> Result<Index> {
        roots::take(owner, &buffer);
        if self.free.len() > self.reserve
            && let Some(index) = self.free.pop_front()
        {
            let request = &mut self.slots[own_slot(index)];
            request.phase = Phase::Active;
            request.kind = Kind::Receive;
            request.persistent = false;
            request.detached = false;
            request.others = 0;
            request.buffer = buffer;
            request.owner = owner;
            request.context = context;
            request.peer = peer;
            request.tag = tag;
            request.moved = 0;
            request.total = 0;
            request.status = Status::empty();
            request.posted = NOT_POSTED;
            return Ok(index);
        }
        let mut request = Request::new(Kind::Receive, buffer, owner, context, 0);
        request.peer = peer;
        request.tag = tag;
        self.put_into_another(request, PROGRAMS)
    }

    /// The request in a slot that is in use.
    #[inline]
    pub fn get(&mut self, index: Index) -> Option<&mut Request> {
        self.slots
            .get_mut(slot(self.first, index))
            .filter(|request| request.phase != Phase::Free)
    }

    /// The request of an index the engine itself keeps.
    #[inline]
    pub fn at(&mut self, index: Index) -> &mut Request {
        &mut self.slots[own_slot(index)]
    }

    #[inline]
    pub fn release(&mut self, index: Index) {
        let request = &mut self.slots[own_slot(index)];
        if request.extra.is_some() {
            if request.keeps_number() {
                return;
            }
            request.extra = None;
        }
        roots::give(request);
        request.phase = Phase::Free;
        if request.error.is_some() {
            request.error = None;
        }
        self.free.push_back(index);
    }

    /// The receiver of an ended send will not answer its number any more: the slot is free if the program has given it back.
    #[cold]
    pub(super) fn give_number_back(&mut self, index: Index) {
        let request = &mut self.slots[own_slot(index)];
        let Some(extra) = request.extra.as_mut().filter(|extra| extra.keeps_number) else {
            return;
        };
        extra.keeps_number = false;
        if request.detached {
            self.release(index);
        }
    }

    /// The common end of a request, in one step: a receive that is not persistent, complete without an error, is
    /// recycled and its status returned.
    #[inline(always)]
    pub fn reap(&mut self, handle: i32) -> Reaped {
        let Some(index) = index_of(handle) else {
            return Reaped::Other;
        };
        let Some(request) = self.slots.get_mut(slot(self.first, index)) else {
            return Reaped::Other;
        };
        match request.phase {
            Phase::Active if !request.detached => Reaped::Active,
            Phase::Complete
                if request.kind == Kind::Receive
                    && !request.persistent
                    && request.error.is_none() =>
            {
                roots::give(request);
                request.phase = Phase::Free;
                let status = request.status;
                self.free.push_back(index);
                Reaped::Done(status)
            }
            _ => Reaped::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::new(Kind::Receive, Buffer::empty(), 0, 0, 0)
    }

    /// The program's limit leaves some to the library, and one that is free is used whatever the limit is.
    #[test]
    fn the_program_gets_no_more_than_its_requests() {
        let mut slab = Slab::new(2);
        let most = 100;
        let all: Vec<_> = (0..most)
            .map(|_| slab.put(request(), most).unwrap())
            .collect();
        let error = slab.put(request(), most).unwrap_err();
        assert_eq!(error.class(), Class::NoMem);
        assert!(error.text().contains("100 requests"), "{error:?}");
        assert_eq!(slab.count(), most);
        let own = slab.insert(request());
        assert!(slab.check_room().is_ok());
        slab.release(own);
        all.iter().for_each(|index| slab.release(*index));
        assert!(slab.put(request(), most).is_ok());
    }

    #[test]
    fn a_stale_handle_stays_recognisable_for_a_while() {
        let mut slab = Slab::default();
        let first = slab.insert(request());
        slab.release(first);
        for _ in 0..RESERVE {
            let index = slab.insert(request());
            slab.release(index);
            assert!(slab.get(first).is_none());
        }
        let many: Vec<_> = (0..500).map(|_| slab.insert(request())).collect();
        assert!(many.iter().all(|index| slab.get(*index).is_some()));
    }
}
