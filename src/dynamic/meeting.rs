//! Two groups that meet: they swap cards over a connection between their roots, share memory where they are on one host, and make an
//! intercommunicator.
//!
//! Each group has an id for what it receives, and tells it the other (paper 004). Invariant: what fails on one process fails on all of
//! both groups, and nothing that was made is left.

use super::background;
use super::card::{Card, Remote};
use super::port::Socket;
use crate::coll::{CollContext, allgather_on, block_on};
use crate::comm::{self, Comm, Made, Maker, Members, Parts, job};
use crate::constructors::{everywhere, is_met, share};
use crate::context_id::{self, Creation};
use crate::engine::links::{self, Hold, Met};
use crate::error::{Class, Error, Result, fail};
use crate::group::{Group, names};
use crate::launch::{self, Job, SegmentPlan};
use crate::os::process::open_of;
use crate::transport::layout;
use crate::transport::link::{Place, Plan};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Which side of the connection a group is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Accepts,
    Connects,
}

/// A group that meets another one.
pub struct Side<'a> {
    pub comm: &'a Comm,
    pub own: CollContext<'a>,
    pub root: i32,
    pub role: Role,
    pub made: Maker,
    pub job: &'static Job,
}

/// Gives all members what the root has, or its error.
pub fn tell_all(own: &CollContext<'_>, root: i32, at_root: Result<Vec<u8>>) -> Result<Box<[u8]>> {
    let mut bytes: Box<[u8]> = match &at_root {
        Ok(bytes) => {
            let mut all = vec![0; 4];
            all.extend(bytes);
            all.into()
        }
        Err(error) => {
            let mut all = error.class().value().to_le_bytes().to_vec();
            all.extend(error.text().as_bytes());
            all.into()
        }
    };
    block_on(share(own, &mut bytes, root))?;
    if own.rank() == root {
        at_root?;
    }
    let (class, rest) = bytes.split_at(4.min(bytes.len()));
    match i32::from_le_bytes(class.try_into().unwrap_or_default()) {
        0 => Ok(rest.into()),
        class => Err(Error::new(
            Class::from_value(class),
            String::from_utf8_lossy(rest).into_owned(),
        )),
    }
}

impl Side<'_> {
    fn is_root(&self) -> bool {
        self.own.rank() == self.root
    }

    /// Meets the other group over a connection that the root has.
    ///
    /// Errors: on all of both groups, MPI_ERR_PORT if the connection is lost, MPI_ERR_OTHER if some cannot reach some of the others.
    pub fn meet(&self, socket: Option<Socket>) -> Result<&'static Comm> {
        let function = self.own.function;
        let id = block_on(context_id::allocate(&self.own, Creation::whole(self.comm)))?;
        let made = self.meet_as(id, socket, function);
        made.inspect_err(|_| context_id::release(id))
    }

    fn meet_as(
        &self,
        id: u32,
        mut socket: Option<Socket>,
        function: &'static str,
    ) -> Result<&'static Comm> {
        let mut card = Card::own(self.job);
        let mut link = None;
        let (theirs, ours);
        match self.role {
            Role::Connects => {
                ours = self.gather(&card)?;
                let frame = self.frame(id, &ours);
                let answer = self.with_socket(&mut socket, move |socket| {
                    socket.send(&frame)?;
                    socket.receive()
                });
                theirs = tell_all(&self.own, self.root, answer)?;
            }
            Role::Accepts => {
                let question = self.with_socket(&mut socket, Socket::receive);
                theirs = tell_all(&self.own, self.root, question)?;
                link = self.make_link(&decode(&theirs)?.1, &mut card);
                ours = self.gather(&card)?;
                let frame = self.frame(id, &ours);
                let told = self.with_socket(&mut socket, move |socket| {
                    socket.send(&frame).map(|()| vec![])
                });
                tell_all(&self.own, self.root, told)?;
            }
        }
        let (their_id, theirs) = decode(&theirs)?;
        let ours = Card::decode_all(&ours);
        let (accepting, connecting) = match self.role {
            Role::Accepts => (&ours, &theirs),
            Role::Connects => (&theirs, &ours),
        };
        let joined = Side::join(&card, accepting, connecting, &theirs);
        let [all] = block_on(everywhere(&self.own, [joined.is_ok()]))?;
        let answer = self.with_socket(&mut socket, move |socket| {
            socket.send(&[u8::from(all)])?;
            socket.receive()
        });
        let answer = tell_all(&self.own, self.root, answer)?;
        drop(link);
        // Until the communicator uses the link itself.
        let (remote, _hold) = joined?;
        if !all || answer.first() != Some(&1) {
            return fail!(
                Class::Other,
                "{function}: another process of the two groups cannot reach all of the others"
            );
        }
        let members = self.comm.members().clone();
        let remote = Members::of(Arc::new(remote), job());
        let parts = Parts {
            context: their_id,
            receive_context: id,
            rank: self.comm.rank(),
            members,
            remote: Some(remote),
            made: Made::of(self.made, self.comm),
        };
        comm::add(parts, self.comm.errhandler.copy())
    }

    /// The root works with its socket in the background; the others have nothing to say.
    fn with_socket(
        &self,
        socket: &mut Option<Socket>,
        work: impl FnOnce(&mut Socket) -> Result<Vec<u8>> + Send + 'static,
    ) -> Result<Vec<u8>> {
        let Some(mut taken) = socket.take() else {
            return Ok(Vec::new());
        };
        let (back, result) = background::run(self.own.function, move || {
            let result = work(&mut taken);
            Ok((taken, result))
        })?;
        *socket = Some(back);
        result
    }

    /// The cards of all members, by rank.
    fn gather(&self, card: &Card) -> Result<Box<[u8]>> {
        let (rank, size) = (self.own.rank() as usize, self.own.size() as usize);
        let mut all = vec![0; size * Card::BYTES].into_boxed_slice();
        all[rank * Card::BYTES..][..Card::BYTES].copy_from_slice(&card.encode());
        block_on(allgather_on(&self.own, &mut all, Card::BYTES))?;
        Ok(all)
    }

    fn frame(&self, id: u32, cards: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        if self.is_root() {
            frame.extend(id.to_le_bytes());
            frame.extend(cards);
        }
        frame
    }

    /// The first of the accepting processes of a host makes the segment for all of both groups there. What it is kept open by.
    fn make_link(&self, theirs: &[Card], card: &mut Card) -> Option<OwnedFd> {
        let others = theirs.iter().filter(|other| other.host == card.host);
        let members = self.comm.members();
        // Members of other jobs may not have met those that this process has.
        let is_mixed = || (0..members.size()).any(|rank| names::is_foreign(members.process(rank)));
        let is_new = others.clone().any(|other| !is_known(other));
        if others.clone().next().is_none() || !(is_new || is_mixed()) || !self.is_first_of_host() {
            return None;
        }
        let here = (0..members.size())
            .filter(|rank| is_here(members.process(*rank)))
            .count();
        new_link(card, here + others.count())
    }

    fn is_first_of_host(&self) -> bool {
        let members = self.comm.members();
        let mut ranks = (0..members.size()).filter(|rank| is_here(members.process(*rank)));
        ranks.next() == Some(self.comm.rank())
    }

    /// Finds the numbers of the others, and shares memory with those of this host that were not met before.
    pub(super) fn join(
        own: &Card,
        accepting: &[Card],
        connecting: &[Card],
        theirs: &[Card],
    ) -> Result<(Group, Option<Hold>)> {
        let numbers: Vec<u32> = theirs
            .iter()
            .map(|card| names::number_or_new(card.name))
            .collect();
        if let Some(far) = theirs
            .iter()
            .find(|card| card.host != own.host && !is_known(card))
        {
            return fail!(
                Class::Other,
                "rank {} of the other job is on another host, which connections to other jobs do not reach yet",
                far.name.rank
            );
        }
        let mut hold = None;
        if theirs.iter().any(|card| !is_known(card)) {
            let both = accepting.iter().chain(connecting);
            let here: Vec<&Card> = both.filter(|card| card.host == own.host).collect();
            hold = Some(Side::join_link(own, &here, theirs)?);
        }
        Ok((Group::new(numbers), hold))
    }

    fn join_link(own: &Card, here: &[&Card], theirs: &[Card]) -> Result<Hold> {
        let unreachable = |what: &str, card: &Card| {
            Error::new(
                Class::Other,
                format!(
                    "the {what} of process {} (rank {} of its job) cannot be opened",
                    card.birth.pid, card.name.rank
                ),
            )
        };
        let Some(maker) = here.iter().find(|card| card.link.is_some()) else {
            return fail!(
                Class::NoMem,
                "there is no memory for a segment that the processes of both groups share"
            );
        };
        let open = |card: &Card, what: &str, it: Remote| {
            open_of(card.birth.pid, it.fd, it.inode).ok_or_else(|| unreachable(what, card))
        };
        let link = maker.link.unwrap_or(own.home);
        let segment = open(maker, "new segment", link)?;
        let mut homes: Vec<(u64, (OwnedFd, usize))> = Vec::new();
        let mut places = Vec::new();
        let mut met = Vec::new();
        let mut own_seat = None;
        for (seat, card) in here.iter().enumerate() {
            let known = homes
                .iter()
                .position(|(inode, _)| *inode == card.home.inode);
            let home = match known {
                Some(home) => home,
                None => {
                    let fd = open(card, "segment", card.home)?;
                    homes.push((card.home.inode, (fd, card.ranks as usize)));
                    homes.len() - 1
                }
            };
            let process = names::number_or_new(card.name);
            if card.name == own.name {
                own_seat = Some(seat);
            } else if theirs.iter().any(|other| other.name == card.name) && !is_known(card) {
                met.push(Met {
                    process,
                    seat,
                    node: card.node,
                });
            }
            places.push(Place {
                process,
                home,
                rank: card.seat as usize,
                birth: card.birth,
            });
        }
        let plan = Plan {
            segment,
            homes: homes.into_iter().map(|(_, home)| home).collect(),
            places,
            own: own_seat.unwrap_or_default(),
        };
        links::connect(plan, &met)
    }
}

/// Makes a segment for a link of so many processes, and puts it on this process's card; `None`: there is no memory.
pub(super) fn new_link(card: &mut Card, processes: usize) -> Option<OwnedFd> {
    let plan = SegmentPlan {
        bytes: &layout::segment_bytes,
        initialise: &layout::initialise,
    };
    let made = launch::create_segment(&plan, processes).ok()?;
    card.link = Some(Remote::of(&made));
    Some(made)
}

/// Whether a process is reached already.
fn is_known(card: &Card) -> bool {
    is_met(card.name)
}

/// Whether a process of this group is on this host.
fn is_here(process: u32) -> bool {
    match names::is_foreign(process) {
        true => links::is_connected(process),
        false => crate::engine::shares_memory(process),
    }
}

/// Id and cards.
fn decode(frame: &[u8]) -> Result<(u32, Vec<Card>)> {
    let (id, cards) = frame.split_at(4.min(frame.len()));
    let cards = Card::decode_all(cards);
    if cards.is_empty() {
        return fail!(Class::Port, "the other group sends nonsense");
    }
    Ok((u32::from_le_bytes(id.try_into().unwrap_or_default()), cards))
}
