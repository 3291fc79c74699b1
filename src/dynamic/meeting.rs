//! Two groups that meet: they swap cards over a connection between their roots, then what each process has to offer to be reached
//! ([`super::means`]), and make an intercommunicator.
//!
//! Each group has an id for what it receives, and tells it the other (paper 004). Invariant: what fails on one process fails on all of
//! both groups, and nothing that was made is left.

use super::background;
use super::card::{Card, Hello, Offered};
use super::codec::{Coded, decode, encode};
use super::means::{Means, Setting};
use super::port::Socket;
use crate::coll::{CollContext, allgather_on, allreduce_on, block_on};
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

/// Gives all members what the root has, or its error. Only the root brings something.
pub fn tell_all<T: Coded>(
    own: &CollContext<'_>,
    root: i32,
    at_root: Option<Result<T>>,
) -> Result<T> {
    let mut bytes = at_root.as_ref().map(encode).unwrap_or_default().into();
    block_on(share(own, &mut bytes, root))?;
    at_root.unwrap_or_else(|| decode(&bytes).unwrap_or_else(|| Err(nonsense())))
}

fn nonsense() -> Error {
    Error::new(Class::Port, "the other group sends nonsense")
}

impl Side<'_> {
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
        let ours = gather(&self.own, &card)?;
        let hello = Hello {
            context: id,
            cards: ours.clone(),
        };
        let hello: Hello = self.swap(&mut socket, &hello)?;
        let (their_id, theirs) = (hello.context, hello.cards);
        if theirs.is_empty() {
            return Err(nonsense());
        }
        let setting = Setting {
            function,
            accepts: self.role == Role::Accepts,
            place: self.comm.rank() as u32,
        };
        let mut means = Means::prepare(setting, &card, &ours, &theirs);
        let our_means = gather(&self.own, &means.offered())?;
        let their_means: Vec<Offered> = self.swap(&mut socket, &our_means)?;
        let joined = means.join(&card, (&ours, &our_means), (&theirs, &their_means));
        let [all] = block_on(everywhere(&self.own, [joined.is_ok()]))?;
        let they_have = self.swap(&mut socket, &all)?;
        drop(means);
        // Until the communicator uses the connections itself.
        let (remote, _holds) = joined?;
        if !(all && they_have) {
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

    /// Gives the other group what this one's root has, and all members what the other's root has.
    fn swap<T: Coded + Send + 'static>(&self, socket: &mut Option<Socket>, mine: &T) -> Result<T> {
        let at_root = socket.take().map(|mut taken| {
            let (frame, connects) = (encode(mine), self.role == Role::Connects);
            let (back, theirs) = background::run(self.own.function, move || {
                let theirs = taken.swap(&frame, connects);
                Ok((taken, theirs))
            })?;
            *socket = Some(back);
            decode(&theirs?).ok_or_else(nonsense)
        });
        tell_all(&self.own, self.root, at_root)
    }
}

/// What all members have to say, by rank.
pub(super) fn gather<T: Coded>(coll: &CollContext<'_>, own: &T) -> Result<Vec<T>> {
    let own = encode(own);
    let mut longest = Box::from((own.len() as u32).to_le_bytes());
    block_on(allreduce_on(coll, &mut longest, &|left, right| {
        let larger = word(left).max(word(right));
        right.copy_from_slice(&larger.to_le_bytes());
        Ok(())
    }))?;
    let longest = word(&longest) as usize;
    let (rank, size) = (coll.rank() as usize, coll.size() as usize);
    let mut all = vec![0; size * longest].into_boxed_slice();
    all[rank * longest..][..own.len()].copy_from_slice(&own);
    block_on(allgather_on(coll, &mut all, longest))?;
    let each = all.chunks_exact(longest);
    // Behind a shorter one there are zeros.
    let each = each.map(|mut bytes| T::read(&mut bytes));
    each.collect::<Option<_>>().ok_or_else(nonsense)
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}
