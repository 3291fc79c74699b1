//! Two groups that meet: they swap cards over a connection between their roots, then what each process has to offer to be reached
//! ([`super::means`]), and make an intercommunicator.
//!
//! Each group has an id for what it receives, and tells it the other (paper 004). Invariant: what fails on one process fails on all of
//! both groups, and nothing that was made is left.

use super::background;
use super::card::Card;
use super::means::{Means, Setting};
use super::port::Socket;
use crate::coll::{CollContext, allgather_on, block_on};
use crate::comm::{self, Comm, Made, Maker, Members, Parts, job};
use crate::constructors::{everywhere, share};
use crate::context_id::{self, Creation};
use crate::engine::{self, losses};
use crate::error::{Class, Error, Result, fail};
use crate::launch::Job;
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

    /// Whether all of this group live, for a thread that waits for the other one. Without a member nobody can meet.
    ///
    /// Errors: a member has died.
    pub fn all_live(&self) -> impl Fn() -> Result<()> + Send + use<> {
        let members = self.comm.members().clone();
        move || {
            let mut processes = (0..members.size()).map(|rank| members.process(rank));
            match processes.find(|process| engine::has_died(*process)) {
                Some(process) => Err(losses::explain(process)),
                None => Ok(()),
            }
        }
    }

    /// Meets the other group over a connection that the root has.
    ///
    /// Errors: on all of both groups, MPI_ERR_PORT if the connection is lost, MPI_ERR_OTHER if some cannot reach some of the others.
    pub fn meet(&self, socket: Option<Socket>) -> Result<&'static Comm> {
        let function = self.own.function;
        let id = block_on(context_id::allocate(&self.own, Creation::whole(self.comm)))?.context;
        let made = self.meet_as(id, socket, function);
        made.inspect_err(|_| context_id::release(id))
    }

    fn meet_as(
        &self,
        id: u32,
        mut socket: Option<Socket>,
        function: &'static str,
    ) -> Result<&'static Comm> {
        let card = Card::own(self.job);
        let ours = gather(&self.own, &card.encode())?;
        let theirs = self.swap(&mut socket, self.frame(id, &ours.concat()))?;
        let (their_id, theirs) = decode(&theirs)?;
        let ours = Card::decode_all(&ours.concat());
        let setting = Setting {
            function,
            accepts: self.role == Role::Accepts,
            place: self.comm.rank() as u32,
        };
        let mut means = Means::prepare(setting, &card, &ours, &theirs);
        let our_means = gather(&self.own, means.told().as_bytes())?;
        let their_means = self.swap(&mut socket, self.frame(id, &listed(&our_means)))?;
        let their_means = unlisted(their_means.get(4..).unwrap_or_default());
        let joined = means.join(&card, (&ours, &our_means), (&theirs, &their_means));
        let [all] = block_on(everywhere(&self.own, [joined.is_ok()]))?;
        let answer = self.with_socket(&mut socket, move |socket| {
            socket.send(&[u8::from(all)])?;
            socket.receive()
        });
        let answer = tell_all(&self.own, self.root, answer)?;
        drop(means);
        // Until the communicator uses the connections itself.
        let (remote, _holds) = joined?;
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
            // Processes of other jobs are reached by the first only.
            engines: 1,
            rank: self.comm.rank(),
            members,
            remote: Some(remote),
            made: Made::of(self.made, self.comm),
        };
        comm::add(parts, self.comm.errhandler.copy())
    }

    /// Gives the other group a frame of the root's and all members that of the other's root.
    fn swap(&self, socket: &mut Option<Socket>, frame: Vec<u8>) -> Result<Box<[u8]>> {
        let connects = self.role == Role::Connects;
        let theirs = self.with_socket(socket, move |socket| {
            if connects {
                socket.send(&frame)?;
                return socket.receive();
            }
            let theirs = socket.receive()?;
            socket.send(&frame)?;
            Ok(theirs)
        });
        tell_all(&self.own, self.root, theirs)
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

    fn frame(&self, id: u32, rest: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        if self.is_root() {
            frame.extend(id.to_le_bytes());
            frame.extend(rest);
        }
        frame
    }
}

/// What all members have to say, by rank.
pub(super) fn gather(coll: &CollContext<'_>, own: &[u8]) -> Result<Vec<Vec<u8>>> {
    let (rank, size) = (coll.rank() as usize, coll.size() as usize);
    let own_length = own.len() as u32;
    let mut lengths = vec![0; size * 4].into_boxed_slice();
    lengths[rank * 4..][..4].copy_from_slice(&own_length.to_le_bytes());
    block_on(allgather_on(coll, &mut lengths, 4))?;
    let lengths: Vec<usize> = lengths
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap_or_default()) as usize)
        .collect();
    let most = lengths.iter().copied().max().unwrap_or_default();
    if most == 0 {
        return Ok(vec![Vec::new(); size]);
    }
    let mut all = vec![0; size * most].into_boxed_slice();
    all[rank * most..][..own.len()].copy_from_slice(own);
    block_on(allgather_on(coll, &mut all, most))?;
    let each = all.chunks_exact(most).zip(lengths);
    Ok(each
        .map(|(bytes, length)| bytes[..length].to_vec())
        .collect())
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

/// Texts, each with its length in front.
pub(super) fn listed(all: &[Vec<u8>]) -> Vec<u8> {
    let with_length = |one: &Vec<u8>| {
        let length = (one.len() as u32).to_le_bytes();
        length
            .into_iter()
            .chain(one.iter().copied())
            .collect::<Vec<u8>>()
    };
    all.iter().flat_map(with_length).collect()
}

/// What [`listed`] made one of.
pub(super) fn unlisted(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = (u32::from_le_bytes(*length) as usize).min(rest.len());
        let (one, rest) = rest.split_at(length);
        all.push(one.to_vec());
        bytes = rest;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back() {
        for all in [vec![], vec![vec![]], vec![vec![1, 2], vec![], vec![3]]] {
            assert_eq!(unlisted(&listed(&all)), all);
        }
        assert_eq!(unlisted(&[9, 0, 0, 0, 1]), [[1]], "cut off");
    }
}
