//! What `OXMPI_CHECK=buffers` and `buffering` do to a call (docs/checking.md): its arguments say what memory it uses, and sends of the standard
//! mode are done as synchronous ones.
//!
//! Only on the cold way of an entry. Invariant: an argument that makes no sense is left out; that it is wrong says the call itself.

mod seen;

use crate::param::*;
use crate::pt2pt::arguments::{exchanged, outgoing, replaced};
use oxmpi::comm;
use oxmpi::datatype::{self, Buffer};
use oxmpi::engine::buffers_in_use::{self, Life, Use, What};
use oxmpi::error::{Error, Result};
use oxmpi::os::cancellation::Uncancelled;
use oxmpi::pt2pt::complete::Completion;
use oxmpi::pt2pt::{self, Mode, PROC_NULL, REQUEST_NULL, SENT, exchange, persistent};
use oxmpi::variables::check::CHECK;
pub use seen::{Seen, SeenAnyhow, SeenWell};
use std::ffi::c_void;

/// What a function does with requests and memory, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Nothing,
    /// Sends or receives, and waits.
    Block,
    /// Begins a request.
    Begin,
    /// Makes a persistent request.
    Keep,
    KeepPartitioned,
    Start,
    Ready,
    Arrived,
    Complete,
    /// Asks whether requests are complete.
    Ask,
    Free,
    /// A collective operation in its three forms.
    Collective,
    BeginCollective,
    KeepCollective,
}

const fn has(name: &str, from: usize, part: &str) -> bool {
    let (name, part) = (name.as_bytes(), part.as_bytes());
    if name.len() < from + part.len() {
        return false;
    }
    let mut at = 0;
    while at < part.len() {
        if name[from + at] != part[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn ends(name: &str, end: &str) -> bool {
    name.len() >= end.len() && has(name, name.len() - end.len(), end)
}

/// By the name behind `MPI_`.
const ROLES: &[(&str, Role)] = &[
    ("Send", Role::Block),
    ("Bsend", Role::Block),
    ("Ssend", Role::Block),
    ("Rsend", Role::Block),
    ("Recv", Role::Block),
    ("Mrecv", Role::Block),
    ("Sendrecv", Role::Block),
    ("Sendrecv_replace", Role::Block),
    ("Isend", Role::Begin),
    ("Ibsend", Role::Begin),
    ("Issend", Role::Begin),
    ("Irsend", Role::Begin),
    ("Irecv", Role::Begin),
    ("Imrecv", Role::Begin),
    ("Isendrecv", Role::Begin),
    ("Isendrecv_replace", Role::Begin),
    ("Send_init", Role::Keep),
    ("Bsend_init", Role::Keep),
    ("Ssend_init", Role::Keep),
    ("Rsend_init", Role::Keep),
    ("Recv_init", Role::Keep),
    ("Psend_init", Role::KeepPartitioned),
    ("Precv_init", Role::KeepPartitioned),
    ("Start", Role::Start),
    ("Startall", Role::Start),
    ("Pready", Role::Ready),
    ("Pready_range", Role::Ready),
    ("Pready_list", Role::Ready),
    ("Parrived", Role::Arrived),
    ("Wait", Role::Complete),
    ("Waitall", Role::Complete),
    ("Waitany", Role::Complete),
    ("Waitsome", Role::Complete),
    ("Test", Role::Complete),
    ("Testall", Role::Complete),
    ("Testany", Role::Complete),
    ("Testsome", Role::Complete),
    ("Request_get_status", Role::Ask),
    ("Request_get_status_all", Role::Ask),
    ("Request_get_status_any", Role::Ask),
    ("Request_get_status_some", Role::Ask),
    ("Request_free", Role::Free),
    ("Bcast", Role::Collective),
    ("Gather", Role::Collective),
    ("Gatherv", Role::Collective),
    ("Scatter", Role::Collective),
    ("Scatterv", Role::Collective),
    ("Allgather", Role::Collective),
    ("Allgatherv", Role::Collective),
    ("Alltoall", Role::Collective),
    ("Alltoallv", Role::Collective),
    ("Alltoallw", Role::Collective),
    ("Reduce", Role::Collective),
    ("Allreduce", Role::Collective),
    ("Reduce_scatter", Role::Collective),
    ("Reduce_scatter_block", Role::Collective),
    ("Scan", Role::Collective),
    ("Exscan", Role::Collective),
];

pub const fn role_of(name: &str, collective: bool) -> Role {
    if !has(name, 0, "MPI_") {
        return Role::Nothing;
    }
    let mut at = 0;
    while at < ROLES.len() {
        if name.len() == ROLES[at].0.len() + 4 && has(name, 4, ROLES[at].0) {
            return ROLES[at].1;
        }
        at += 1;
    }
    if !collective {
        return Role::Nothing;
    }
    if has(name, 4, "Neighbor_") && !ends(name, "_init") {
        return Role::Collective;
    }
    if ends(name, "_init") {
        return Role::KeepCollective;
    }
    match has(name, 4, "I") && !has(name, 4, "Intercomm") {
        true => Role::BeginCollective,
        false => Role::Nothing,
    }
}

/// Whether any check looks at calls.
#[inline(always)]
pub fn is_on() -> bool {
    buffers_in_use::is_on()
}

/// A choice buffer as it was given.
#[derive(Clone, Copy)]
struct Given {
    writes: bool,
    address: *mut c_void,
    count: Option<i64>,
    kind: Option<Datatype>,
}

/// A call that is checked.
pub struct Check {
    role: Role,
    name: &'static str,
    /// `buffers` is asked for.
    looks: bool,
    buffers: Vec<Given>,
    dest: Option<Rank>,
    source: Option<Rank>,
    tags: Vec<Tag>,
    comm: Option<Comm>,
    /// Of integers: partitions, a partition, a range or how many there are, requests.
    numbers: Vec<i32>,
    partitions: Vec<i32>,
    requests: Vec<i32>,
    /// Position in the argument, handle and number of those that are known.
    known: Vec<(usize, i32, u64)>,
    uses: Vec<Use>,
    /// What a call that was done in place of this one has given.
    request: Option<i32>,
    done: Option<Completion>,
    /// What the call has given.
    begun: Option<i32>,
    flag: bool,
    after: Vec<i32>,
    failed: Option<Error>,
    good: bool,
}

impl Check {
    #[cold]
    #[inline(never)]
    pub fn begin(role: Role, name: &'static str) -> Check {
        Check {
            role,
            name,
            looks: CHECK.get().buffers,
            buffers: Vec::new(),
            dest: None,
            source: None,
            tags: Vec::new(),
            comm: None,
            numbers: Vec::new(),
            partitions: Vec::new(),
            requests: Vec::new(),
            known: Vec::new(),
            uses: Vec::new(),
            request: None,
            done: None,
            begun: None,
            flag: true,
            after: Vec::new(),
            failed: None,
            good: false,
        }
    }

    /// The elements of a buffer, from one on.
    fn elements(&self, at: usize, from: i64, count: i64) -> Option<Buffer> {
        let given = self.buffers.get(at)?;
        let kind = datatype::get(given.kind?.0)?;
        let elements = u64::try_from(count).ok().filter(|count| *count > 0)?;
        let skip = from.wrapping_mul(kind.extent) as isize;
        let address = given.address.cast::<u8>().wrapping_offset(skip);
        // SAFETY: where the elements lie is asked for, and they are read by the kernel's leave only.
        Some(unsafe { Buffer::new(address, elements, kind) })
    }

    /// What the call does with the memory of a message.
    fn memory(&self) -> Vec<Use> {
        let is_used = |given: &Given| {
            let peer = match given.writes {
                true => self.source,
                false => self.dest,
            };
            peer.is_none_or(|peer| peer.0 != PROC_NULL)
        };
        let all = self.buffers.iter().enumerate();
        let used = all.filter(|(_, given)| is_used(given));
        let uses = used.filter_map(|(at, given)| {
            let buffer = self.elements(at, 0, given.count?)?;
            Use::of(&[buffer], given.writes)
        });
        uses.collect()
    }

    /// Each partition.
    fn parts(&self) -> Vec<Use> {
        let parts = self.numbers.first().copied().unwrap_or(0);
        let Some(given) = self.buffers.first() else {
            return Vec::new();
        };
        let (count, writes) = (given.count.unwrap_or(0), given.writes);
        let uses: Option<Vec<Use>> = (0..i64::from(parts))
            .map(|part| {
                let buffer = self.elements(0, part * count, count)?;
                Use::of(&[buffer], writes)
            })
            .collect();
        uses.unwrap_or_default()
    }

    fn what(&self) -> What {
        let handle = self.comm.map_or(0, |comm| comm.0);
        let title = comm::find(handle).map(comm::Comm::title);
        let peer = match self.role {
            Role::Collective | Role::BeginCollective | Role::KeepCollective => None,
            _ => self.dest.or(self.source).zip(self.tags.first()),
        };
        What {
            comm: handle,
            title: title.unwrap_or_else(|| "a matched message".to_owned()),
            peer: peer.map(|(peer, tag)| (peer.0, tag.0)),
        }
    }

    /// Before the call, with its arguments.
    ///
    /// Errors: MPI_ERR_BUFFER.
    #[cold]
    #[inline(never)]
    pub fn look(&mut self) -> Result<()> {
        if !self.looks {
            return Ok(());
        }
        let _uncancelled = Uncancelled::begin();
        let wrong = match self.role {
            Role::Block | Role::Begin => {
                self.uses = self.memory();
                buffers_in_use::overlapping(&self.uses, true, &self.what())
            }
            Role::Start => {
                let mut requests = self.requests.iter();
                requests.find_map(|request| buffers_in_use::may_start(*request))
            }
            Role::Complete | Role::Ask => {
                let requests = self.requests.iter().enumerate();
                let known = requests.filter_map(|(at, request)| {
                    Some((at, *request, buffers_in_use::number(*request)?))
                });
                self.known = known.collect();
                None
            }
            Role::Collective | Role::BeginCollective | Role::KeepCollective => {
                buffers_in_use::collect();
                None
            }
            Role::Nothing
            | Role::Keep
            | Role::KeepPartitioned
            | Role::Ready
            | Role::Arrived
            | Role::Free => None,
        };
        wrong.map_or(Ok(()), Err)
    }

    /// Does a send of the standard mode as a synchronous one, if that is wanted. `None`: the call is done as ever.
    #[cold]
    #[inline(never)]
    pub fn instead(&mut self) -> Option<Result<()>> {
        let sends = ["MPI_Send", "MPI_Isend", "MPI_Send_init"];
        let pairs = [
            "MPI_Sendrecv",
            "MPI_Isendrecv",
            "MPI_Sendrecv_replace",
            "MPI_Isendrecv_replace",
        ];
        let is_one = sends.contains(&self.name) || pairs.contains(&self.name);
        if !is_one || !CHECK.get().buffering {
            return None;
        }
        let (comm, dest) = (self.comm?, self.dest?);
        let given = |at: usize| {
            let given = self.buffers.get(at)?;
            Some((given.address, Count(given.count?), given.kind?))
        };
        let (address, count, kind) = given(0)?;
        let (tag, other) = (*self.tags.first()?, self.tags.get(1).copied());
        if sends.contains(&self.name) {
            let address = SendBuffer(address.cast_const());
            let message = outgoing(address, count, kind, dest, tag, comm);
            return Some(message.and_then(|(buffer, dest, tag, comm)| {
                let mode = Mode::Synchronous;
                match self.name {
                    "MPI_Send" => pt2pt::send_unbuffered(buffer, dest, tag, comm)?,
                    "MPI_Isend" => {
                        self.request = Some(pt2pt::isend(mode, buffer, dest, tag, comm)?);
                    }
                    _ => {
                        let made = persistent::send_init(mode, buffer, dest, tag, comm)?;
                        self.request = Some(made);
                    }
                }
                Ok(())
            }));
        }
        let (source, other) = (self.source?, other?);
        if self.name.ends_with("_replace") {
            let buffer = (RecvBuffer(address), count, kind);
            let decoded = replaced(buffer, (dest, tag), (source, other), comm);
            return Some(decoded.and_then(|(buffer, to, from, comm)| {
                if self.name == "MPI_Sendrecv_replace" {
                    self.done = Some(exchange::sendrecv_replace::<true>(buffer, to, from, comm));
                } else {
                    let begun = exchange::isendrecv_replace::<true>(buffer, to, from, comm)?;
                    self.request = Some(begun);
                }
                Ok(())
            }));
        }
        let into = given(1)?;
        let halves = exchanged(
            ((SendBuffer(address.cast_const()), count, kind), dest, tag),
            ((RecvBuffer(into.0), into.1, into.2), source, other),
            comm,
        );
        Some(halves.and_then(|(send, receive, comm)| {
            if self.name == "MPI_Sendrecv" {
                self.done = Some(exchange::sendrecv::<true>(send, receive, comm));
            } else {
                self.request = Some(exchange::isendrecv::<true>(send, receive, comm)?);
            }
            Ok(())
        }))
    }

    /// The call, or what was done in its place, has returned.
    pub fn returned(&mut self, good: bool) {
        self.good = good;
    }

    /// A request was written, which may need a handle of its own.
    fn begun(&mut self, handle: i32) -> Option<i32> {
        self.begun = Some(handle);
        let is_new = handle == SENT && self.role == Role::Begin && !self.uses.is_empty();
        let comm = comm::find(self.comm?.0).filter(|_| is_new && self.looks)?;
        let (peer, tag) = self.what().peer?;
        let made =
            buffers_in_use::request_of_sent(comm.handle, comm.context(), (peer, tag)).ok()?;
        self.begun = Some(made);
        Some(made)
    }

    /// After the call, which has returned this.
    #[cold]
    #[inline(never)]
    pub fn end(mut self, result: Result<()>) -> Result<()> {
        let _uncancelled = Uncancelled::begin();
        let collected = match self.role {
            Role::Collective | Role::BeginCollective | Role::KeepCollective => {
                buffers_in_use::collected()
            }
            _ => Vec::new(),
        };
        let result = result.and(self.failed.take().map_or(Ok(()), Err));
        if !self.looks {
            return result;
        }
        if matches!(self.role, Role::Complete | Role::Ask) {
            // Also where one of them has failed.
            let wrong = self.complete();
            return result.and(wrong.map_or(Ok(()), Err));
        }
        result?;
        let begun = self
            .begun
            .filter(|begun| oxmpi::pt2pt::complete::is_valid(*begun) && *begun != SENT);
        let mut wrong = None;
        match self.role {
            Role::Begin | Role::Keep => {
                if self.role == Role::Keep {
                    self.uses = self.memory();
                }
                let life = match self.role {
                    Role::Keep => Life::Persistent,
                    _ => Life::Once,
                };
                if let Some(begun) = begun {
                    let uses = std::mem::take(&mut self.uses);
                    buffers_in_use::hold(begun, uses, self.what(), life);
                }
            }
            Role::KeepPartitioned => {
                if let Some(begun) = begun {
                    buffers_in_use::hold(begun, self.parts(), self.what(), Life::Partitioned);
                }
            }
            Role::Start => self
                .requests
                .iter()
                .for_each(|it| buffers_in_use::started(*it)),
            Role::Ready => {
                let partitions: Vec<usize> = match (self.name, self.numbers.as_slice()) {
                    ("MPI_Pready", [one]) => vec![*one as usize],
                    ("MPI_Pready_range", [low, high]) => {
                        (*low..=*high).map(|it| it as usize).collect()
                    }
                    _ => self.partitions.iter().map(|it| *it as usize).collect(),
                };
                for request in &self.requests {
                    buffers_in_use::ready(*request, &partitions);
                }
            }
            Role::Arrived => {
                if let (true, Some(partition)) = (self.flag, self.numbers.first()) {
                    for request in &self.requests {
                        buffers_in_use::arrived(*request, *partition as usize);
                    }
                }
            }
            Role::Free => {
                for request in &self.requests {
                    buffers_in_use::forget(*request);
                }
            }
            Role::Collective => {
                wrong = buffers_in_use::overlapping(&collected, false, &self.what());
            }
            Role::BeginCollective | Role::KeepCollective => {
                let what = self.what();
                let life = match self.role {
                    Role::BeginCollective => Life::Once,
                    _ => Life::Persistent,
                };
                if life == Life::Once {
                    wrong = buffers_in_use::overlapping(&collected, false, &what);
                }
                if let Some(begun) = begun {
                    buffers_in_use::hold(begun, collected, what, life);
                }
            }
            Role::Nothing | Role::Block | Role::Complete | Role::Ask => {}
        }
        wrong.map_or(Ok(()), Err)
    }

    fn complete(&self) -> Option<Error> {
        let mut wrong = None;
        for (at, handle, number) in &self.known {
            let is_null = self.after.get(*at) == Some(&REQUEST_NULL);
            let told = self.role == Role::Ask && self.flag;
            if is_null || buffers_in_use::is_over(*handle, told) {
                let found = buffers_in_use::completed(*handle, *number);
                wrong = wrong.or(found);
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_functions_do() {
        for (name, collective, role) in [
            ("MPI_Isend", false, Role::Begin),
            ("MPI_Iallreduce", true, Role::BeginCollective),
            ("MPI_Ineighbor_alltoallw", true, Role::BeginCollective),
            ("MPI_Neighbor_alltoallw_init", true, Role::KeepCollective),
            ("MPI_Neighbor_alltoall", true, Role::Collective),
            ("MPI_Intercomm_create", true, Role::Nothing),
            ("MPI_Comm_idup", true, Role::Nothing),
            ("MPIX_Comm_iagree", true, Role::Nothing),
            ("MPI_Start", false, Role::Start),
            ("MPI_Probe", false, Role::Nothing),
        ] {
            assert_eq!(role_of(name, collective), role, "{name}");
        }
    }
}
