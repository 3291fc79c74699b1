//! Two groups that meet: they swap cards over a connection between their roots, then what each process has to offer to be reached
//! ([`super::means`]), and make an intercommunicator.
//!
//! Each group has an id for what it receives, and tells it the other (paper 004). Invariant: what fails on one process fails on all of
//! both groups, and nothing that was made is left.

use super::card::{Card, Hello};
use super::codec::{decode, encode};
use super::conversation::Conversation;
use super::exchange::{Way, gather, nonsense, tell_all};
use super::means::{self, Meet};
use super::port::Socket;
use crate::coll::{CollContext, block_on};
use crate::comm::{self, Comm, Made, Maker, Members, Parts, job};
use crate::context_id::{self, Creation};
use crate::engine::{self, losses};
use crate::error::{Class, Result};
use crate::launch::Job;
use std::sync::Arc;

/// A group that meets another one.
pub struct Side<'a> {
    pub comm: &'a Comm,
    pub own: CollContext<'a>,
    pub root: i32,
    pub made: Maker,
    pub job: &'static Job,
}

/// Error codes of processes, each with the number of those that have it: a program may ask for any number.
pub type Codes = Vec<(u32, i32)>;

/// How the root gets a connection, in the thread of the conversation. MPI_Comm_spawn has codes for all of its group, too, whatever becomes of it.
pub type Opening = Box<dyn FnOnce() -> (Codes, Result<Socket>) + Send>;

/// An [`Opening`] without codes.
pub fn opening(open: impl FnOnce() -> Result<Socket> + Send + 'static) -> Opening {
    Box::new(|| (Codes::new(), open()))
}

impl Side<'_> {
    /// Whether all of this group live, for a thread that waits for the other one. Without a member nobody can meet, nor on a communicator that
    /// was revoked.
    ///
    /// Errors: a member has died; MPIX_ERR_REVOKED.
    pub fn all_live(&self) -> impl Fn() -> Result<()> + Send + use<> {
        let members = self.comm.members().clone();
        let handle = self.comm.handle;
        move || {
            comm::find(handle).map_or(Ok(()), Comm::check_not_revoked)?;
            let mut processes = (0..members.size()).map(|rank| members.process(rank));
            match processes.find(|process| engine::has_died(*process)) {
                Some(process) => Err(losses::explain(process)),
                None => Ok(()),
            }
        }
    }

    /// Meets the other group; only the root has an opening. `codes` become those of the root's.
    ///
    /// Errors: on all of both groups, of the opening; MPI_ERR_PORT if the connection is lost, MPI_ERR_OTHER if some cannot reach some of
    /// the others.
    pub fn meet(&self, opening: Option<Opening>, codes: &mut Codes) -> Result<&'static Comm> {
        let id = block_on(context_id::allocate(&self.own, Creation::whole(self.comm)))?.context;
        let made = self.meet_as(id, opening, codes);
        made.inspect_err(|_| context_id::release(id))
    }

    fn meet_as(
        &self,
        id: u32,
        opening: Option<Opening>,
        codes: &mut Codes,
    ) -> Result<&'static Comm> {
        let mut way = Way {
            own: &self.own,
            root: self.root,
            conversation: Conversation::new(self.own.function),
            leaders: None,
        };
        let card = Card::own(self.job);
        let ours = gather(&self.own, &card, Some(&card))?;
        let opened = opening.map(|opening| {
            let hello = Hello {
                context: id,
                cards: ours.clone(),
            };
            let first = move |socket: &mut _| Ok(begin(opening, &hello, socket));
            way.conversation.step(first)
        });
        let (told, met) = tell_all(&self.own, self.root, opened)?;
        *codes = told;
        let (accepts, theirs) = met?;
        let meet = Meet {
            accepts,
            ours: &ours,
            theirs: &theirs.cards,
        };
        // Until the communicator uses the connections itself.
        let (remote, _holds) = means::join(meet, &mut way)?;
        let members = self.comm.members().clone();
        let remote = Members::of(Arc::new(remote), job());
        let parts = Parts {
            context: theirs.context,
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
}

/// Gets a connection and swaps the first words, in the thread of the conversation: whether this group accepts, and what the other one says.
fn begin(
    opening: Opening,
    mine: &Hello,
    connection: &mut Option<Socket>,
) -> (Codes, Result<(bool, Hello)>) {
    let (codes, socket) = opening();
    let met = socket.and_then(|socket| {
        let socket = connection.insert(socket);
        let theirs = decode(&socket.swap(&encode(mine))?);
        let theirs = theirs.filter(|theirs: &Hello| !theirs.cards.is_empty());
        let theirs = theirs.ok_or_else(|| nonsense(Class::Port))?;
        Ok((socket.accepts, theirs))
    });
    (codes, met)
}
