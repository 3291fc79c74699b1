//! Where the members of a communicator agree, and how many calls and agreements there were.

use super::{Comm, Members};
use crate::engine;
use crate::group::{Group, names};
use crate::queue::desk::Desk;
use crate::sync::{AtomicU32, Ordering};
use crate::transport::{self, DeskKey, OpenedDesk};
use once_cell::race::OnceBox;
use parking_lot::Mutex;
use std::sync::Arc;

/// Of one communicator.
#[derive(Default)]
pub struct Agreements {
    called: AtomicU32,
    over: AtomicU32,
    rounds: AtomicU32,
    seat: OnceBox<Seat>,
    absent: Mutex<Vec<usize>>,
}

/// The desk, and whether the local group has the first places at it.
struct Seat {
    desk: OpenedDesk,
    own_first: bool,
}

impl Agreements {
    /// The number of the next call that agrees, from 1 on: alike on all members.
    pub fn call(&self) -> u32 {
        self.called.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Whether the one before is over here.
    pub fn is_turn(&self, number: u32) -> bool {
        // Acquire: pairs with `end`.
        self.over.load(Ordering::Acquire) == number.wrapping_sub(1)
    }

    /// The number of the next agreement, from 1 on, for the call whose turn it is: alike on all members.
    pub fn next_round(&self) -> u32 {
        self.rounds.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// The places of those who took no part in the last agreement, which all members know.
    pub fn absent(&self) -> Vec<usize> {
        self.absent.lock().clone()
    }

    /// Keeps who took no part.
    pub fn set_absent(&self, places: &[usize]) {
        places.clone_into(&mut self.absent.lock());
    }

    /// Says that a call is over here. Returns whether there are further ones, which may wait for that.
    pub fn end(&self, number: u32) -> bool {
        self.over.store(number, Ordering::Release);
        self.called.load(Ordering::Relaxed) != number
    }
}

/// A communicator's desk: the members of both groups of an intercommunicator have a place each, first those of one group.
#[derive(Clone, Copy)]
pub struct AtDesk<'a> {
    desk: &'a OpenedDesk,
    comm: &'a Comm,
    own_first: bool,
}

impl AtDesk<'_> {
    pub fn desk(&self) -> Desk<'static> {
        self.desk.desk()
    }

    pub fn places(&self) -> usize {
        self.desk.members()
    }

    /// The groups in the order of their places.
    fn groups(&self) -> (&Members, Option<&Members>) {
        groups(self.comm, self.own_first)
    }

    /// How many places the first group has.
    pub fn first(&self) -> usize {
        self.groups().0.size() as usize
    }

    /// This process's place.
    pub fn own(&self) -> usize {
        own_place(self.comm, self.own_first)
    }

    /// The process at a place.
    pub fn process(&self, place: usize) -> u32 {
        let (first, second) = self.groups();
        match (place.checked_sub(first.size() as usize), second) {
            (Some(rank), Some(second)) => second.process(rank as i32),
            _ => first.process(place as i32),
        }
    }

    /// Wakes the process at a place if it sleeps.
    pub fn wake(&self, place: usize) {
        self.desk.wake(place);
    }
}

/// Both groups know which one has the lowest process: by names, for each job has numbers of its own for those of others.
fn is_own_first(comm: &Comm) -> bool {
    let lowest = |members: &Members| {
        let processes = (0..members.size()).map(|rank| members.process(rank));
        processes.map(names::of).min()
    };
    comm.remote()
        .is_none_or(|remote| lowest(comm.members()) < lowest(remote))
}

fn groups(comm: &Comm, own_first: bool) -> (&Members, Option<&Members>) {
    match (comm.remote(), own_first) {
        (Some(remote), false) => (remote, Some(comm.members())),
        (remote, _) => (comm.members(), remote),
    }
}

fn own_place(comm: &Comm, own_first: bool) -> usize {
    let before = match (comm.remote(), own_first) {
        (Some(remote), false) => remote.size(),
        _ => 0,
    };
    (before + comm.rank()) as usize
}

/// `None`: the members do not all share this process's segment.
fn key_of(comm: &Comm, own_first: bool) -> Option<DeskKey> {
    let (one, other) = (comm.context(), comm.receive_context());
    let (first, second) = groups(comm, own_first);
    let seats = |members: &Members| {
        let seat = |rank| engine::seat_of(members.process(rank));
        (0..members.size()).map(seat).collect::<Option<Vec<_>>>()
    };
    let mut all = seats(first)?;
    if let Some(second) = second {
        all.extend(seats(second)?);
    }
    Some(DeskKey {
        contexts: (one.min(other), one.max(other)),
        seats: all.into_iter().map(|seat| seat as u32).collect(),
    })
}

/// Where all members that share this process's segment look for news of the communicator: at the desk, if it can have one. `None`: there is no
/// other such member.
pub(super) fn news_key(comm: &Comm) -> Option<DeskKey> {
    if comm.can_have_desk() {
        return match comm.size() > 1 || comm.is_inter() {
            true => key_of(comm, comm.is_first_group()),
            false => None,
        };
    }
    let (one, other) = (comm.context(), comm.receive_context());
    let seats = comm.processes().filter_map(engine::seat_of);
    let mut seats: Vec<u32> = seats.map(|seat| seat as u32).collect();
    seats.sort_unstable();
    (seats.len() > 1).then(|| DeskKey {
        contexts: (one.min(other), one.max(other)),
        seats,
    })
}

impl Comm {
    /// Whether the memory of this host's segment is that of all its processes, of both groups: else there is no desk.
    pub fn can_have_desk(&self) -> bool {
        !self.has_foreign() && self.processes().all(engine::shares_memory)
    }

    /// Whether the local group comes first where both groups agree; alike on all members.
    pub fn is_first_group(&self) -> bool {
        (self.agreements.seat.get()).map_or_else(|| is_own_first(self), |seat| seat.own_first)
    }

    /// This process's place among the members of both groups.
    pub fn place_in_groups(&self) -> usize {
        own_place(self, self.is_first_group())
    }

    /// The members of both groups in the order of their places, and how many are of the first one.
    pub fn in_order_of_groups(&self) -> (Members, usize) {
        let (first, second) = groups(self, is_own_first(self));
        let count = first.size() as usize;
        let Some(second) = second else {
            return (first.clone(), count);
        };
        let mut all = first.group().members();
        all.extend(second.group().members());
        (Members::Of(Arc::new(Group::new(all))), count)
    }

    /// Where the members agree. `None`: there is no memory, alike on all members.
    pub fn desk(&self) -> Option<AtDesk<'_>> {
        let seat = match self.agreements.seat.get() {
            Some(seat) => seat,
            None => {
                let own_first = is_own_first(self);
                let desk = transport::desks()?.open(&key_of(self, own_first)?)?;
                let seat = || Box::new(Seat { desk, own_first });
                self.agreements.seat.get_or_init(seat)
            }
        };
        Some(AtDesk {
            desk: &seat.desk,
            comm: self,
            own_first: seat.own_first,
        })
    }

    /// No agreement will come any more.
    pub(super) fn leave_desk(&self) {
        if let Some(seat) = self.agreements.seat.get() {
            seat.desk.leave(own_place(self, seat.own_first));
        } else if let Some(desks) = transport::desks()
            && desks.any()
        {
            desks.leave(|| news_key(self));
        }
    }
}
