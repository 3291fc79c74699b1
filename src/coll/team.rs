//! What the algorithms of collective operations are written against: the ranks 0 to n - 1 and messages between them.
//!
//! Invariant: a step that fails does not end the operation. The first error is kept and returned at the end, the steps go
//! on, so that no other rank waits for a message that never comes, and no memory goes while a message uses it. Once a process is
//! lost, nothing is received or waited for any more, and those that were to get data are told of the loss in its place.

use super::context::{CollContext, Pending};
use crate::comm::{Members, NOBODY, Nodes};
use crate::datatype::Buffer;
use crate::engine::losses;
use crate::error::{Class, Error, Result, fail};
use crate::sync::{AtomicU32, Ordering};
use crate::transport::collective::{Access, Geometry};
use parking_lot::Mutex;

/// See the module.
pub struct Team<'a> {
    coll: CollContext<'a>,
    /// Where the members are, if on several nodes.
    nodes: Option<&'a Nodes>,
    /// The most members that share a node, and its cores.
    ranks_per_node: usize,
    /// The staging area of the members on this node, if they have one.
    staging: Option<StagingOf<'a>>,
    failure: Mutex<Option<Error>>,
    /// Of this team, and of the teams that are in an operation with it.
    lost: AtomicU32,
    shares_lost: Option<&'a AtomicU32>,
}

/// Where an operation finds the staging area of those of its ranks that are on this node.
#[derive(Clone, Copy)]
pub struct StagingOf<'a> {
    pub access: &'a Mutex<Access>,
    pub geometry: Geometry,
}

impl<'a> Team<'a> {
    #[inline]
    pub fn on(coll: CollContext<'a>) -> Self {
        Self::over(coll, None)
    }

    /// Members of several nodes, if there are some.
    #[inline]
    pub fn over(coll: CollContext<'a>, nodes: Option<&'a Nodes>) -> Self {
        Self {
            coll,
            nodes,
            ranks_per_node: nodes.map_or(coll.size() as usize, Nodes::most),
            staging: None,
            failure: Mutex::new(None),
            lost: AtomicU32::new(coll.lost),
            shares_lost: None,
        }
    }

    /// With a staging area.
    #[inline]
    pub fn with_staging(self, staging: Option<StagingOf<'a>>) -> Self {
        Self { staging, ..self }
    }

    /// As part of an operation of several teams: what one of them has lost, messages of the others tell, too.
    #[inline]
    pub fn together_with(self, other: &'a Team<'_>) -> Self {
        Self {
            shares_lost: Some(other.lost()),
            ..self
        }
    }

    #[inline]
    fn lost(&self) -> &AtomicU32 {
        self.shares_lost.unwrap_or(&self.lost)
    }

    /// Whether the loss of a process has ended the operation on this rank.
    pub fn has_lost(&self) -> bool {
        self.lost().load(Ordering::Relaxed) != NOBODY
    }

    /// The staging area of all members, if they are on one node and have one.
    #[inline]
    pub fn staging(&self) -> Option<StagingOf<'a>> {
        self.staging.filter(|_| self.nodes.is_none())
    }

    /// The members on this node, as [`Self::part`].
    pub fn inside<'b>(&'b self, members: &'b Members, rank: usize) -> Team<'b>
    where
        'a: 'b,
    {
        let ranks_per_node = members.size() as usize;
        self.part(members, rank, ranks_per_node)
            .with_staging(self.staging)
    }

    /// Some of the members, among whom this one has this rank; `ranks_per_node`, how many of them share a node.
    pub fn part<'b>(&'b self, members: &'b Members, rank: usize, ranks_per_node: usize) -> Team<'b>
    where
        'a: 'b,
    {
        let coll = CollContext {
            members,
            rank: rank as i32,
            ..self.coll
        };
        Team {
            ranks_per_node,
            shares_lost: Some(self.lost()),
            ..Team::on(coll)
        }
    }

    /// The end of a part.
    pub fn end_of(&self, part: Team<'_>) {
        self.note(part.result());
    }

    pub fn nodes(&self) -> Option<&'a Nodes> {
        self.nodes
    }

    /// Whether all members are on this rank's host.
    pub fn shares_memory(&self) -> bool {
        self.nodes.is_none() && self.coll.members.share_memory()
    }

    /// The most members that share a node, and its cores.
    pub fn ranks_per_node(&self) -> usize {
        self.ranks_per_node
    }

    pub fn coll(&self) -> &CollContext<'a> {
        &self.coll
    }

    #[inline]
    pub fn rank(&self) -> usize {
        self.coll.rank() as usize
    }

    #[inline]
    pub fn size(&self) -> usize {
        self.coll.size() as usize
    }

    /// The rank `distance` behind this one in the circle of all.
    #[inline]
    pub fn after(&self, distance: usize) -> usize {
        (self.rank() + distance) % self.size()
    }

    /// The rank `distance` before this one.
    #[inline]
    pub fn before(&self, distance: usize) -> usize {
        (self.rank() + self.size() - distance % self.size()) % self.size()
    }

    /// Keeps the first error.
    #[inline]
    pub fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            if let Some(process) = error.lost() {
                self.lost().store(process, Ordering::Relaxed);
                self.coll.note_lost(process);
            }
            self.failure.lock().get_or_insert(error);
        }
    }

    /// Whether a step has failed, or nothing was received because a process was lost before.
    pub fn has_failed(&self) -> bool {
        self.has_lost() || self.failure.lock().is_some()
    }

    /// How it went.
    #[inline]
    pub fn result(self) -> Result<()> {
        match (self.failure.into_inner(), self.lost.into_inner()) {
            (None, NOBODY) => Ok(()),
            (None, process) => Err(losses::explain(process)),
            (Some(error), _) => Err(error),
        }
    }

    #[inline]
    pub fn begin_send(&self, buffer: Buffer, to: usize) -> Pending {
        match self.lost().load(Ordering::Relaxed) {
            NOBODY => self.coll.begin_send(buffer, to as i32),
            process => {
                self.coll.tell_failed(to as i32, process);
                CollContext::nothing(to as i32)
            }
        }
    }

    #[inline]
    pub fn begin_recv(&self, buffer: Buffer, from: usize) -> Pending {
        match self.lost().load(Ordering::Relaxed) {
            NOBODY => self.coll.begin_recv(buffer, from as i32),
            _ => CollContext::nothing(from as i32),
        }
    }

    #[inline]
    pub async fn finish(&self, pending: Pending) {
        match self.lost().load(Ordering::Relaxed) {
            NOBODY => self.note(self.coll.finish(pending).await),
            _ => self.coll.abandon(pending),
        }
    }

    pub async fn finish_all(&self, pending: Vec<Pending>) {
        for one in pending {
            self.finish(one).await;
        }
    }

    #[inline]
    pub async fn send(&self, buffer: Buffer, to: usize) {
        self.finish(self.begin_send(buffer, to)).await;
    }

    #[inline]
    pub async fn recv(&self, buffer: Buffer, from: usize) {
        self.finish(self.begin_recv(buffer, from)).await;
    }

    /// Receives from `from` while sending to `to`.
    #[inline]
    pub async fn exchange(&self, out: Buffer, to: usize, into: Buffer, from: usize) {
        let receive = self.begin_recv(into, from);
        self.send(out, to).await;
        self.finish(receive).await;
    }

    /// As [`Self::exchange`], without messages that have no data: their receivers know that as well.
    pub async fn exchange_data(&self, out: Buffer, to: usize, into: Buffer, from: usize) {
        let receive = (!into.is_empty()).then(|| self.begin_recv(into, from));
        if !out.is_empty() {
            self.send(out, to).await;
        }
        if let Some(receive) = receive {
            self.finish(receive).await;
        }
    }

    /// A message without data.
    pub async fn signal(&self, to: usize) {
        self.send(Buffer::empty(), to).await;
    }

    pub async fn await_signal(&self, from: usize) {
        self.recv(Buffer::empty(), from).await;
    }
}

/// Copies a rank's own part to where it belongs. Too long a part is an error, as if it had come in a message.
pub fn copy_own(team: &Team<'_>, own: &Buffer, into: &Buffer) {
    team.note(copy_fitting(own, into));
}

/// As [`copy_own`], without a team.
pub fn copy_fitting(own: &Buffer, into: &Buffer) -> Result<()> {
    let bytes = own.len().min(into.len());
    own.copy_to(into, bytes);
    match own.len() > bytes {
        true => too_long(own.len(), bytes),
        false => Ok(()),
    }
}

#[cold]
fn too_long(bytes: usize, room: usize) -> Result<()> {
    fail!(Class::Truncate, "{bytes} bytes came where {room} fit")
}
