//! Messages between nodes: the engine's packets go as records over a [`port::Port`], a reliable, ordered endpoint.
//!
//! Matching, announcing, synchronous sends and cancelling are the engine's, as over shared memory; what is here carries packets in
//! order and bounds how many are under way (`docs/fabric.md`). Invariants: packets of one process to another come in the order in
//! which they were sent; a receive buffer that the port has released is given back to it when the engine has taken what is
//! in it, whatever else the engine waits for.
#![allow(unsafe_code)]

mod arriving;
mod card;
mod contexts;
mod credit;
mod early;
mod first;
mod guests;
mod losses;
mod order;
mod pace;
mod passed;
mod pool;
pub mod port;
mod receiving;
mod record;
mod sending;
#[cfg(test)]
mod simulated;
mod straight;
mod telling;
#[cfg(test)]
mod tests;
mod turns;

pub use guests::{Guest, Invitation};
pub use straight::Place;

use super::paged::Paged;
use super::peer::{Page, Table};
use super::shm::pace::{LONGEST_WHOLE, Plan, Stores};
use super::wire::{Header, Packet};
use crate::os::monotonic_nanoseconds;
use crate::queue::ring;
use crate::variables::Variable;
use card::Card;
use credit::Credit;
use early::Early;
use first::First;
use guests::{Guests, Terms};
use order::Order;
use pace::Pace;
use passed::Passed;
use pool::Pool;
use port::{Completions, Port};
use receiving::Receiving;
use record::Record;
use rustix::process::{Resource, getrlimit};
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use straight::Straight;
use turns::{Series, Turns};

/// Which messages go straight.
pub static STRAIGHT_BYTES: Variable<u64> = Variable::new(
    "STRAIGHT_BYTES",
    64 << 10,
    "Messages between nodes of more than so many bytes, and more than OXMPI_EAGER_BYTES, go straight from the sender's buffer into the \
     receiver's, if both lie in one piece.",
);
/// Nanoseconds between two questions for a card that was not there.
const ASK_AGAIN: u64 = 200_000;
/// How long a connection may be broken before it is clear that its peer lives, nanoseconds.
const PATIENCE: u64 = 5_000_000_000;

/// Nanoseconds between two looks for peers that should be asked whether they have everything.
const TICK: u64 = 500_000_000;

/// Looks in vain between two looks at the clock, which costs an eighth of one.
const VAIN: u32 = 8;

/// Descriptors that a process may have for each port: its own, and one for each connection.
const DESCRIPTORS: u64 = 128;

/// Characters of all addresses of a card: PMI-1 and PMI-2 take values of 1,023.
const LONGEST_CARD: usize = 900;

/// What the launcher knows of the processes.
pub trait Directory: Send + Sync {
    /// The card of a process, if it is there already.
    ///
    /// Errors: it cannot be asked for any more.
    fn card(&self, process: u32) -> Result<Option<String>, String>;
    /// Difference between the settings of a process and this one's, whose hashes differ; `None`: those of the process are not there yet.
    fn difference(&self, process: u32) -> Option<String>;
    /// The name of a process's host.
    fn host(&self, process: u32) -> String;
}

/// What this process knows of another.
#[derive(Default)]
struct Peer {
    /// Where it is reached, and its word.
    contact: Option<(u64, u32)>,
    /// Of a process of another job: what was agreed with it.
    terms: Option<Terms>,
    /// When its card was asked for last.
    asked: u64,
    credit: Credit,
    order: Order,
    /// What came before what was sent before it.
    early: Early,
    first: First,
    passed: Passed,
    /// It wants data to be held back; packets go all the same if `passes`.
    held: bool,
    passes: bool,
    /// Whether it was told so by us, and what has to be told.
    holds: bool,
    hold_due: bool,
    /// Whether anything went either way.
    met: bool,
    /// Whether this process has said that nothing follows, and whether the peer has.
    said_goodbye: bool,
    heard_goodbye: bool,
    goodbye_due: bool,
    /// Nothing could be sent to it for a while.
    refused: Series,
    /// How often it was asked in its turn and nothing came since.
    unanswered: u32,
    /// It is to be asked whether it has everything; it has asked.
    ask_due: bool,
    answer_due: bool,
    /// Is in `Net::due`.
    listed: bool,
    /// What was wrong with the connection, and when.
    broken: Option<(String, u64)>,
    /// It is lost: see [`losses`]. It is to be told so, and was when it had sent something all the same.
    lost: bool,
    lost_due: bool,
    reminded: u64,
    /// Since when buffers are waited for that the provider has for it, which has gone.
    gone_since: Option<u64>,
}

/// [`Arrived::buffer`] of the end of a transfer, which is in none.
const NO_BUFFER: usize = usize::MAX;

/// A message that has come in, in a receive buffer.
struct Arrived {
    buffer: usize,
    data: *const u8,
    header: Header,
}

/// What went over an end of the fabric, since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Records sent.
    pub records: u64,
    /// Bytes of messages that were copied into send buffers or out of receive buffers.
    pub copied: u64,
    /// Bytes of messages that went straight from or into buffers of the program.
    pub straight: u64,
}

/// One engine's end of the fabric.
pub struct Net {
    port: Box<dyn Port>,
    /// The ports of the second engine and those that follow, until these engines are in use.
    further: Vec<Option<Further>>,
    /// The number of the engine.
    engine: usize,
    pool: Pool,
    directory: Arc<dyn Directory>,
    table: Arc<Table>,
    /// This process's own.
    page: &'static Page,
    settings: u64,
    /// What others send to prove that they mean this process.
    word: u32,
    peers: Paged<Peer>,
    guests: Guests,
    /// Peers that have to be told something.
    due: Vec<u32>,
    receiving: Receiving,
    arrived: VecDeque<Arrived>,
    straight: Straight,
    /// Whether messages of a peer complete in the order of their sends.
    completes_in_order: bool,
    /// Whether records may have come early: some are kept.
    keeps_early: bool,
    /// Messages of more bytes than that go straight.
    border: usize,
    traffic: Traffic,
    /// Whether the first of those was shown.
    shown: bool,
    pace: Pace,
    /// Whether a descriptor of this end is watched.
    watched: bool,
    /// Why a message to some peer was lost. It will be found by questions whose it was.
    failed: Option<String>,
    /// What [`super::deaths::count`] was when this end last looked for lost hosts.
    fenced_at: u32,
    /// When to look next for peers to ask.
    next_tick: u64,
    /// Looks that have found nothing.
    vain: u32,
    /// The turns in which a peer is asked whether it is there.
    turns: Turns,
}

/// The port of an engine that is not in use yet, and its memory if that has to be registered: there may be no room for it later.
struct Further {
    port: Box<dyn Port>,
    pool: Option<Pool>,
}

// SAFETY: what `arrived` leads to is this end's own memory, see `Pool`.
unsafe impl Send for Net {}

/// How the next part of a message of so many bytes is sent.
pub fn plan(total: usize) -> Plan {
    Plan {
        stores: Stores::Ordinary,
        asks: false,
        chunk: match total <= LONGEST_WHOLE {
            true => total,
            false => 64 << 10,
        },
        align: 1,
    }
}

impl Net {
    /// The end of the first engine of a process of this job, at this port. `settings`: a hash of what must be equal on all processes.
    ///
    /// Errors: the port has no room for its buffers, or does not take them.
    pub fn new(
        port: Box<dyn Port>,
        table: Arc<Table>,
        directory: Arc<dyn Directory>,
        settings: u64,
    ) -> Result<Net, String> {
        let word = monotonic_nanoseconds() as u32 ^ std::process::id().rotate_left(16);
        let mut port = port;
        let failed = |port: &dyn Port, text| format!("{}: {text}", port.description());
        let pool = Pool::new(&mut *port).map_err(|text| failed(&*port, text))?;
        let net = Self::with_word(word, port, pool, table, directory, settings);
        match net.receiving.is_deaf() {
            Some(text) => Err(failed(&*net.port, text.to_owned())),
            None => Ok(net),
        }
    }

    fn with_word(
        word: u32,
        port: Box<dyn Port>,
        pool: Pool,
        table: Arc<Table>,
        directory: Arc<dyn Directory>,
        settings: u64,
    ) -> Net {
        let completes_in_order = port.completes_in_order();
        let mut net = Net {
            straight: Straight::new(word, port.longest(), port.tag_bits(), port.has_adapter()),
            completes_in_order,
            keeps_early: !completes_in_order,
            border: STRAIGHT_BYTES.get() as usize,
            traffic: Traffic::default(),
            port,
            further: Vec::new(),
            engine: 0,
            pool,
            directory,
            settings,
            word,
            peers: Paged::default(),
            guests: Guests::default(),
            page: table.own(),
            table,
            due: Vec::new(),
            receiving: Receiving::default(),
            arrived: VecDeque::new(),
            shown: false,
            pace: Pace::default(),
            watched: false,
            failed: None,
            fenced_at: 0,
            next_tick: 0,
            vain: 0,
            turns: Turns::default(),
        };
        net.receiving.post_all(&net.pool, &mut *net.port);
        net
    }

    /// Opens ports for further engines, up to this number with the first, as far as the provider, the limit of descriptors and the length of
    /// a card let it. To be called before [`Self::card`].
    pub fn open_further(&mut self, engines: usize) {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let address = self.port.address().map_or(LONGEST_CARD, |it| it.len());
        let most = engines
            .min((descriptors / DESCRIPTORS) as usize)
            .min(LONGEST_CARD / card::characters(address));
        while 1 + self.further.len() < most {
            let Ok(mut port) = self.port.another() else {
                break;
            };
            let pool = match port.wants_registration() {
                true => match Pool::new(&mut *port) {
                    Ok(pool) => Some(pool),
                    Err(_) => break,
                },
                false => None,
            };
            self.further.push(Some(Further { port, pool }));
        }
    }

    /// For how many engines there are ports.
    pub fn ports(&self) -> usize {
        1 + self.further.len()
    }

    /// The end of another engine. `None`: it has no port, for others were not told of one.
    pub fn for_engine(&mut self, engine: usize) -> Option<Net> {
        let Further { mut port, pool } = self.further.get_mut(engine.checked_sub(1)?)?.take()?;
        let pool = pool.or_else(|| Pool::new(&mut *port).ok())?;
        let (table, directory) = (self.table.clone(), self.directory.clone());
        // One card has the word for all.
        let net = Net::with_word(self.word, port, pool, table, directory, self.settings);
        Some(Net { engine, ..net })
    }

    /// What others need to reach this end: a text without blanks.
    ///
    /// Errors: the provider does not know its address.
    pub fn card(&self) -> Result<String, String> {
        let further = self.further.iter().flatten();
        let addresses = further.map(|it| it.port.address());
        let card = Card {
            further: addresses.collect::<Result<_, _>>()?,
            ..self.own_card()?
        };
        Ok(card.text())
    }

    fn own_card(&self) -> Result<Card, String> {
        Ok(Card {
            provider: self.port.provider().to_owned(),
            word: self.word,
            settings: self.settings,
            address: self.port.address()?,
            further: Vec::new(),
        })
    }

    pub fn provider(&self) -> &str {
        self.port.provider()
    }

    /// Whether only processes of this machine reach it.
    pub fn is_on_loopback(&self) -> bool {
        self.port.is_on_loopback()
    }

    /// Library, version, provider, interface, and why.
    pub fn description(&self) -> &str {
        self.port.description()
    }

    /// The descriptor that wakes sleepers, if there is one.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.port.descriptor()
    }

    /// Somebody watches the descriptor now.
    pub fn set_watched(&mut self) {
        self.watched = true;
    }

    /// Whether sleepers are woken for what comes in here.
    pub fn is_watched(&self) -> bool {
        self.watched
    }

    /// Whether a thread may sleep until the descriptor says that there is something.
    pub fn may_sleep(&mut self) -> bool {
        self.tick();
        let mut due = self.due.iter();
        // A broken connection is looked at again when the sleep is over.
        let is_broken = |process: &u32| {
            let peer = self.peers.get(*process);
            peer.is_some_and(|peer| peer.broken.is_some() || peer.lost)
        };
        self.arrived.is_empty()
            && due.all(is_broken)
            && !self.straight.waits()
            && self.port.may_sleep()
    }

    /// Messages of more bytes than that go straight.
    pub fn border(&self) -> usize {
        self.border
    }

    /// What the sender of such a message can send in one piece.
    pub fn longest_piece(&self) -> usize {
        self.straight.longest()
    }

    /// What went over this end.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            straight: self.straight.bytes,
            ..self.traffic
        }
    }

    fn peer(&mut self, process: u32) -> &mut Peer {
        self.peers.of(process, Peer::default)
    }

    /// Whether packets came in that the engine has not taken.
    #[inline]
    pub fn has_packet(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// The first of those.
    #[inline]
    pub fn peek(&mut self) -> Option<Packet> {
        let first = self.arrived.front()?;
        self.shown = true;
        Some(Packet {
            header: first.header,
            slot: ring::SlotHeader::default(),
        })
    }

    /// Whether the packet that was shown last is from here.
    #[inline]
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// Whether it is time to look for more.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.pace.is_due(monotonic_nanoseconds)
    }

    /// A packet of the node has come: the next look is put off, where nothing is awaited here.
    #[inline]
    pub fn node_is_busy(&mut self) {
        self.pace.node_is_busy();
    }

    /// The next look is not put off.
    pub fn hurry(&mut self) {
        self.pace.hurry();
    }

    /// The payload of the packet that was shown.
    #[inline]
    pub fn payload(&self, mut take: impl FnMut(usize, &[u8])) {
        if let Some(first) = self.arrived.front() {
            let from = first.data.wrapping_add(Record::BYTES);
            // SAFETY: the message has so many bytes behind its record, and its buffer is not given back before `done`.
            take(0, unsafe {
                std::slice::from_raw_parts(from, first.header.length as usize)
            });
        }
    }

    /// The packet that was shown has been taken.
    #[inline]
    pub fn done(&mut self) {
        self.shown = false;
        let Some(first) = self.arrived.pop_front() else {
            return;
        };
        if first.buffer == NO_BUFFER {
            return;
        }
        self.done_with(first.buffer);
        let (process, bytes) = (first.header.process, first.header.length as usize);
        self.traffic.copied += bytes as u64;
        let peer = self.peer(process);
        peer.credit.taken(Record::BYTES + bytes);
        if peer.credit.wants_telling() {
            self.list(process);
            self.tell();
        }
    }

    /// A message in a receive buffer is not needed any more.
    #[inline]
    fn done_with(&mut self, buffer: usize) {
        self.receiving.let_go(buffer);
        self.give_back(buffer);
    }

    #[inline]
    fn give_back(&mut self, buffer: usize) {
        let Self {
            receiving,
            pool,
            port,
            ..
        } = self;
        receiving.give_back(buffer, pool, &mut **port);
    }

    /// Makes progress: takes in what has come, and tells peers what they must know. True if anything happened.
    pub fn look(&mut self) -> bool {
        let mut complete = Completions::new();
        self.port.poll(&mut complete);
        let found = match complete.is_empty() {
            true => self.look_in_vain(),
            false => true,
        };
        for completion in complete {
            self.handle(completion);
        }
        if !self.due.is_empty() {
            self.tell();
        }
        if self.straight.waits() {
            self.go_on_with_all();
        }
        self.pace.looked(found, monotonic_nanoseconds);
        if !self.straight.is_empty() {
            // Data moves while somebody looks.
            self.pace.expect();
        }
        found
    }

    /// Nothing is complete: time for what has been put off. True if an operation has failed.
    fn look_in_vain(&mut self) -> bool {
        let failure = self.port.failure();
        let has_failed = failure.is_some();
        if let Some(failure) = failure {
            self.handle(failure);
        }
        self.receiving
            .give_back_all(&mut self.pool, &mut *self.port);
        if let Some(text) = self.receiving.is_deaf() {
            let text = text.to_owned();
            self.lose_all(&text);
        }
        self.vain = self.vain.wrapping_add(1);
        if self.vain.is_multiple_of(VAIN) {
            self.tick();
        }
        has_failed
    }

    /// Whether nothing goes on here by the clock or at the provider: no connection is broken or made again, no transfer or send is under way but
    /// for injected records, and all that peers have to be told is how much was taken. What may still come is counted records.
    pub fn is_settled(&self) -> bool {
        let is_settled = |(_, peer): (u32, &Peer)| {
            let is_sound = peer.broken.is_none() && !peer.lost && peer.gone_since.is_none();
            let is_whole = peer.early.is_empty() && peer.first.is_idle();
            is_sound && is_whole && !peer.hold_due && !peer.goodbye_due
        };
        self.arrived.is_empty()
            && self.failed.is_none()
            && self.straight.is_settled()
            && self.pool.is_idle()
            && self.peers.met().all(is_settled)
    }

    /// Whether a packet for a process waits until that wants data again, and for nothing else.
    pub fn waits_for_peer(&self, to: u32) -> bool {
        let is_held = |peer: &Peer| peer.held && !peer.passes && peer.credit.is_settled();
        let peer = self.peers.get(to);
        peer.is_some_and(|peer| peer.contact.is_some() && is_held(peer))
    }

    /// Whether a peer wants data to be held back.
    #[inline]
    pub fn is_held(&self, to: u32) -> bool {
        matches!(self.peers.get(to), Some(peer) if peer.held)
    }

    /// Lets packets pass all the same, or not any more.
    pub fn pass(&mut self, to: u32, passes: bool) {
        self.peer(to).passes = passes;
    }

    /// Whether a process has left the job, or died: nobody waits for an answer of it.
    fn is_gone(&self, process: u32) -> bool {
        self.table.of(process).has_gone()
    }
}
