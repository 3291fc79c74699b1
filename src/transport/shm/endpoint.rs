//! A rank's end of all rings: where its records go out and come in.
//!
//! Invariant: records to one peer leave by one ring at a time. The switch from the peer's inbox to a private ring is
//! itself the last record in the inbox, and the peer looks into the private ring only after it has read that record.

use super::cells::{self, CellName, Filled, Pool};
use super::doorbell;
use super::layout::{RankPage, Segment};
use super::pace::Stores;
use crate::os::memory::Mapping;
use crate::os::schedule;
use crate::queue::doorbell::Doorbell;
use crate::queue::ring::{Consumer, Header, Producer};
use crate::sync::Ordering;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, OwnedFd};

/// The record that announces a private ring; other kinds are the engine's.
pub const KIND_SWITCH: u8 = 255;
/// Records in the inbox before a sender asks for a ring of its own.
const PATIENCE: u32 = 4;
/// Private rings a receiver accepts: memory grows with the ranks, not with their square.
const MOST_PRIVATE: u32 = 32;

struct Outbound {
    producer: Producer<'static>,
    /// Records sent to the inbox; `u32::MAX` once no switch is to be tried any more.
    sent: u32,
    bell: &'static Doorbell,
}

struct Inbound {
    consumer: Consumer<'static>,
    /// Index of the only producer; `None`: the inbox.
    origin: Option<usize>,
}

/// This rank's transport within the node.
pub struct Endpoint {
    segment: Segment<'static>,
    fd: OwnedFd,
    me: usize,
    out: Vec<Outbound>,
    inbound: Vec<Inbound>,
    turn: usize,
    pool: Pool,
    fences: bool,
    /// Cores' worth of time that the container may use.
    quota: f64,
}

/// A rank is one process. A program that a rank starts as its child inherits all that is needed to join: it must not.
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
    /// Joins the segment as rank `me`.
    ///
    /// Errors: the memory is not a segment of `ranks` ranks.
    pub fn join(fd: OwnedFd, me: usize, ranks: usize) -> Result<Self> {
        let map: &'static Mapping = Mapping::of(fd.as_fd())?.leak();
        let segment = Segment::open(map, ranks)?;
        claim(segment, me)?;
        let fences = !doorbell::join(segment);
        let header = segment.header();
        for (word, mine) in header.cores.iter().zip(schedule::affinity()) {
            word.fetch_or(mine, Ordering::Relaxed);
        }
        header.joined.fetch_add(1, Ordering::Release);
        let out = (0..ranks)
            .map(|peer| Outbound {
                producer: segment.inbox(peer).producer(false),
                sent: 0,
                bell: &segment.rank(peer).doorbell,
            })
            .collect();
        let inbox = Inbound {
            consumer: segment.inbox(me).consumer(),
            origin: None,
        };
        Ok(Self {
            segment,
            fd,
            me,
            out,
            inbound: vec![inbox],
            turn: 0,
            pool: Pool::new(ranks),
            fences,
            quota: schedule::cpu_quota().unwrap_or(f64::INFINITY),
        })
    }

    pub fn me(&self) -> usize {
        self.me
    }

    pub fn ranks(&self) -> usize {
        self.out.len()
    }

    /// The page of a rank on this node.
    pub fn page(&self, rank: usize) -> &'static RankPage {
        self.segment.rank(rank)
    }

    /// Whether more ranks run than there are cores for them. Before all have joined and told where they may run, every
    /// core of the machine counts.
    pub fn oversubscribed(&self) -> bool {
        let cores = if self.all_joined() {
            let header = self.segment.header();
            header
                .cores
                .iter()
                .map(|word| word.load(Ordering::Relaxed).count_ones() as usize)
                .sum()
        } else {
            schedule::online_cores()
        };
        self.ranks() as f64 > (cores as f64).min(self.quota)
    }

    /// Whether all ranks of the node have joined.
    pub fn all_joined(&self) -> bool {
        self.segment.header().joined.load(Ordering::Acquire) as usize >= self.ranks()
    }

    /// Sends one record to `peer`: `fill(offset, piece)` is called for the pieces of the payload. False: no room now.
    #[inline(always)]
    pub fn push(
        &mut self,
        peer: usize,
        header: &Header,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        let out = &mut self.out[peer];
        if out.sent < PATIENCE {
            self.count_or_switch(peer);
        }
        let out = &mut self.out[peer];
        if !out.producer.push(header, fill) {
            return false;
        }
        doorbell::wake(out.bell, self.fences);
        out.producer.prefetch();
        true
    }

    #[cold]
    #[inline(never)]
    fn count_or_switch(&mut self, peer: usize) {
        let few = self.out.len() <= 2;
        let sent = &mut self.out[peer].sent;
        *sent += 1;
        if *sent < PATIENCE && !few {
            return;
        }
        *sent = u32::MAX;
        let accepted = &self.segment.rank(peer).private_rings;
        if accepted.fetch_add(1, Ordering::Relaxed) >= MOST_PRIVATE {
            return;
        }
        // Without memory for a private ring the inbox goes on serving.
        let Ok(offset) = self.segment.allocate_private(self.fd.as_fd()) else {
            return;
        };
        let Some(ring) = self.segment.private(offset) else {
            return;
        };
        let header = Header {
            kind: KIND_SWITCH,
            length: 8,
            origin: self.me as u16,
            ..Header::default()
        };
        let bytes = (offset as u64).to_ne_bytes();
        let out = &mut self.out[peer];
        if out
            .producer
            .push(&header, |_, piece| piece.copy_from_slice(&bytes))
        {
            out.producer = ring.producer(true);
        } else {
            // The inbox is full: ask again with the next record. The ring is lost, 36 KB at most once a try.
            out.sent = PATIENCE - 1;
        }
    }

    /// The next record that has come in, from rings in turn. The engine reads its payload and then says [`Self::done`].
    #[inline(always)]
    pub fn peek(&mut self) -> Option<Header> {
        let mut turn = self.turn;
        for _ in 0..self.inbound.len() {
            if let Some(header) = self.inbound[turn].consumer.peek() {
                self.turn = turn;
                if header.kind == KIND_SWITCH {
                    self.accept_private(header);
                    return self.peek_again();
                }
                return Some(header);
            }
            turn += 1;
            if turn == self.inbound.len() {
                turn = 0;
            }
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn peek_again(&mut self) -> Option<Header> {
        self.peek()
    }

    #[cold]
    #[inline(never)]
    fn accept_private(&mut self, header: Header) {
        let mut bytes = [0u8; 8];
        let consumer = &mut self.inbound[self.turn].consumer;
        consumer.payload(8, |_, piece| bytes.copy_from_slice(piece));
        consumer.advance(header.length as usize);
        let offset = u64::from_ne_bytes(bytes) as usize;
        let ring = self
            .segment
            .private(offset)
            .unwrap_or_else(|| panic!("rank {} announced a ring at {offset}", header.origin));
        self.inbound.push(Inbound {
            consumer: ring.consumer(),
            origin: Some(header.origin as usize),
        });
    }

    /// The payload of the record that [`Self::peek`] showed.
    #[inline(always)]
    pub fn payload(&self, length: usize, take: impl FnMut(usize, &[u8])) {
        self.inbound[self.turn].consumer.payload(length, take);
    }

    /// Gives the record that [`Self::peek`] showed back to its ring.
    #[inline(always)]
    pub fn done(&mut self, length: usize) {
        let inbound = &mut self.inbound[self.turn];
        if inbound.consumer.advance(length) {
            let origin = inbound.origin;
            self.wake_starving(origin);
        }
    }

    #[cold]
    fn wake_starving(&self, origin: Option<usize>) {
        match origin {
            Some(peer) => doorbell::wake(self.out[peer].bell, true),
            None => self
                .out
                .iter()
                .for_each(|out| doorbell::wake(out.bell, true)),
        }
    }

    /// Says that a push to `peer` found no room, before sleeping.
    pub fn starve(&self, peer: usize) {
        self.out[peer].producer.starve();
    }

    /// Fills a cell for `peer`; its name goes into a record. `None`: no cell is free now.
    #[inline]
    pub fn fill_cell(
        &mut self,
        peer: usize,
        bytes: usize,
        write: impl FnOnce(&mut [u8], Stores),
    ) -> Option<Filled> {
        self.pool
            .fill(self.segment, self.fd.as_fd(), peer as u32, bytes, write)
    }

    /// Whether ranks share cores, see [`Pool::use_few`].
    pub fn use_few_cells(&mut self, few: bool) {
        self.pool.use_few(few);
    }

    /// Takes back a cell whose record could not be sent.
    pub fn take_back(&mut self, name: CellName) {
        self.pool.take_back(name);
    }

    /// Reads a cell that a record of `origin` named.
    #[inline]
    pub fn read_cell(&self, origin: usize, cell: Filled, bytes: usize, take: impl FnOnce(&[u8])) {
        cells::read(self.segment, cell, bytes, take)
            .unwrap_or_else(|| panic!("rank {origin} named a cell at {}", cell.name.0));
        if let Some(out) = self.out.get(origin) {
            doorbell::wake(out.bell, self.fences);
        }
    }

    /// This rank's doorbell.
    pub fn bell(&self) -> &'static Doorbell {
        &self.segment.rank(self.me).doorbell
    }

    /// Whether every rank of the node is reached by a sleeper's fence; if not, sleep for short times only.
    pub fn fences_reach_all(&self) -> bool {
        self.segment.header().fences.load(Ordering::SeqCst) == 0
    }

    /// Rings a rank's bell whatever it does.
    pub fn ring(&self, rank: usize) {
        doorbell::ring(self.out[rank].bell);
    }
}
