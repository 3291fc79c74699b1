//! How a process joins a node's segment, and gets an end of its rings for each of its engines.
//!
//! Invariant: a rank is one process, and each of its engines has one end.

use super::{Common, Endpoint};
use crate::os::memory::Mapping;
use crate::queue::ring::Ring;
use crate::sync::Ordering;
use crate::transport::shm::cells::Pool;
use crate::transport::shm::inbound::Inbound;
use crate::transport::shm::layout::{self, RankPage, Segment};
use crate::transport::shm::notifier;
use crate::transport::shm::outbound::Outbound;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// A program that a rank starts as its child inherits all that is needed to join: it must not.
fn claim(segment: Segment<'_>, me: usize) -> Result<()> {
    let mine = std::process::id() as i32;
    let page = &segment.rank(me).status;
    match page
        .pid
        .compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire)
    {
        Ok(_) => Ok(()),
        Err(other) => Err(Error::new(
            ErrorKind::AlreadyExists,
            format!(
                "process {other} is or was this rank, and this is process {mine}: an MPI program that another one starts \
                 needs an mpiexec of its own"
            ),
        )),
    }
}

impl Endpoint {
    /// Joins the segment of these processes of the job as the one at `me`.
    ///
    /// Errors: the memory is not a segment of so many.
    pub fn join(fd: OwnedFd, me: usize, processes: &[u32]) -> Result<Self> {
        let map: &'static Mapping = layout::map(fd.as_fd())?.leak();
        Self::join_mapped(fd, map, me, processes)
    }

    /// As [`Self::join`], with the segment mapped.
    pub fn join_mapped(
        fd: OwnedFd,
        map: &'static Mapping,
        me: usize,
        processes: &[u32],
    ) -> Result<Self> {
        let end = Self::first(fd, map, me, processes, None)?;
        end.common.segment.header().node.join();
        Ok(end)
    }

    /// Joins a segment of processes of several jobs, which are woken by what is in other pages than those in the segment.
    ///
    /// Errors: as [`Self::join`].
    pub fn join_linked(
        fd: OwnedFd,
        map: &'static Mapping,
        me: usize,
        processes: &[u32],
        bells: &[&'static RankPage],
    ) -> Result<Self> {
        Self::first(fd, map, me, processes, Some(bells))
    }

    /// The end of the first engine.
    fn first(
        fd: OwnedFd,
        map: &'static Mapping,
        me: usize,
        processes: &[u32],
        bells: Option<&[&'static RankPage]>,
    ) -> Result<Self> {
        let segment = Segment::open(map, processes.len())?;
        claim(segment, me)?;
        let fences = !notifier::join(segment);
        let common = Common {
            segment,
            me,
            engine: 0,
            ranks: processes.len(),
            oversubscribed: false,
        };
        let (fd, inbox) = (Arc::new(fd), segment.inbox(me));
        Ok(Self::of(common, fd, processes.into(), inbox, fences, bells))
    }

    /// Makes room for the ends of so many engines of this rank. Returns how many there is memory for, at least one.
    pub fn reserve_engines(&self, engines: usize) -> usize {
        let Common { segment, me, .. } = self.common;
        segment.reserve_inboxes(self.fd.as_fd(), me, engines)
    }

    /// The end of another engine of this rank, which room was made for.
    pub fn for_engine(&self, engine: usize) -> Self {
        let Common { segment, me, .. } = self.common;
        let inbox = segment.open_inbox(me, engine);
        let common = Common {
            engine,
            ..self.common
        };
        let fd = self.fd.clone();
        Self::of(common, fd, self.processes.clone(), inbox, self.fences, None)
    }

    fn of(
        common: Common,
        fd: Arc<OwnedFd>,
        processes: Arc<[u32]>,
        inbox: Ring<'static>,
        fences: bool,
        bells: Option<&[&'static RankPage]>,
    ) -> Self {
        let out = |peer| {
            let bell = bells.map_or_else(|| common.segment.rank(peer), |bells| bells[peer]);
            Outbound::new(&common, peer, bell)
        };
        // SAFETY: `claim` let this process alone be the rank, and each of its engines has one end.
        let inbox = unsafe { inbox.consumer() };
        Self {
            out: (0..common.ranks).map(out).collect(),
            inbound: Inbound::new(inbox),
            pool: Pool::new(common.ranks),
            common,
            fd,
            processes,
            fences,
            #[cfg(test)]
            pretended: None,
        }
    }
}
