//! What the timeline is told of a call (docs/timeline.md): what its arguments say of peer, tag, communicator, bytes and request.
//!
//! Only in calls that are recorded. Invariant: an argument that makes no sense is left out; that it is wrong says the call itself.

use crate::param::*;
use crate::pointers::*;
use oxmpi::comm;
use oxmpi::datatype;
use oxmpi::events::timeline::layout::{Kind, NONE, Record, about};
use oxmpi::events::timeline::{self, Function};
use oxmpi::pt2pt::{PROC_NULL, persistent, probe};

/// A call that is recorded.
pub struct Call {
    record: Record,
    what: What,
    count: Option<u64>,
    sized: bool,
    /// Where its message goes: the rank in the communicator.
    dest: i32,
    /// Requests to start, or what was found.
    started: Vec<i32>,
    /// A probe has found nothing.
    nothing: bool,
}

/// What a function does, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    Is(Kind),
    /// Posts a receive beside a send.
    BothLater,
    /// Takes a message from the queue.
    Probe,
    /// Starts persistent requests.
    Start,
}

const fn is(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    if name.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if name[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

const KINDS: &[(&str, What)] = &[
    ("MPI_Send", What::Is(Kind::Send)),
    ("MPI_Bsend", What::Is(Kind::Send)),
    ("MPI_Ssend", What::Is(Kind::Send)),
    ("MPI_Rsend", What::Is(Kind::Send)),
    ("MPI_Isend", What::Is(Kind::Send)),
    ("MPI_Ibsend", What::Is(Kind::Send)),
    ("MPI_Issend", What::Is(Kind::Send)),
    ("MPI_Irsend", What::Is(Kind::Send)),
    ("MPI_Recv", What::Is(Kind::Receive)),
    ("MPI_Irecv", What::Is(Kind::Post)),
    ("MPI_Mrecv", What::Is(Kind::Matched)),
    ("MPI_Imrecv", What::Is(Kind::Matched)),
    ("MPI_Mprobe", What::Probe),
    ("MPI_Improbe", What::Probe),
    ("MPI_Sendrecv", What::Is(Kind::Both)),
    ("MPI_Sendrecv_replace", What::Is(Kind::Both)),
    ("MPI_Isendrecv", What::BothLater),
    ("MPI_Isendrecv_replace", What::BothLater),
    ("MPI_Start", What::Start),
    ("MPI_Startall", What::Start),
    ("MPI_Wait", What::Is(Kind::Complete)),
    ("MPI_Waitall", What::Is(Kind::Complete)),
    ("MPI_Waitany", What::Is(Kind::Complete)),
    ("MPI_Waitsome", What::Is(Kind::Complete)),
    ("MPI_Test", What::Is(Kind::Complete)),
    ("MPI_Testall", What::Is(Kind::Complete)),
    ("MPI_Testany", What::Is(Kind::Complete)),
    ("MPI_Testsome", What::Is(Kind::Complete)),
    // Not all members of the communicator call it.
    ("MPI_Comm_create_group", What::Is(Kind::Other)),
];

pub const fn kind_of(name: &str, collective: bool) -> What {
    let mut at = 0;
    while at < KINDS.len() {
        if is(name, KINDS[at].0) {
            return KINDS[at].1;
        }
        at += 1;
    }
    What::Is(if collective {
        Kind::Collective
    } else {
        Kind::Other
    })
}

impl Call {
    #[inline(always)]
    pub fn begin(what: What) -> Call {
        if what == What::Is(Kind::Receive) {
            timeline::await_one();
        }
        Call {
            record: Record {
                begin: timeline::now(),
                kind: match what {
                    What::Is(kind) => kind,
                    What::BothLater => Kind::Send,
                    What::Probe | What::Start => Kind::Other,
                },
                peer: NONE,
                tag: NONE,
                extra: NONE,
                ..Record::default()
            },
            what,
            count: None,
            sized: false,
            dest: NONE,
            started: Vec::new(),
            nothing: false,
        }
    }

    /// Whether it waits for a message, or asks for one, whose sender is known when it has come.
    fn receives(&self) -> bool {
        matches!(self.what, What::Is(Kind::Receive))
    }

    #[inline(always)]
    fn communicator(&mut self, handle: i32) {
        let Some(comm) = comm::get(handle) else {
            return;
        };
        if self.record.context != 0 {
            return;
        }
        let sends = self.record.kind.sends();
        let context = match sends {
            true => comm.context(),
            false => comm.receive_context(),
        };
        self.record.context = context;
        if sends && (0..comm.peers()).contains(&self.dest) {
            self.record.peer = comm.process(self.dest) as i32;
            self.record.extra = comm.rank();
        }
        if self.record.kind == Kind::Collective && !comm.is_inter() {
            self.record.extra = comm.process(0) as i32;
        }
        if !timeline::is_told(context) {
            timeline::tell_communicator(context, &comm.title());
        }
    }

    /// What the call itself has not said, which ends now.
    #[inline(always)]
    pub fn end(mut self, function: &Function, good: bool) {
        self.record.failed = !good;
        if self.record.kind.sends() && (self.dest == PROC_NULL || !good) {
            // No message is sent, none is counted.
            self.record.kind = match self.record.kind {
                Kind::Both => Kind::Receive,
                _ => Kind::Other,
            };
        }
        match self.what {
            What::Is(Kind::Receive) => timeline::add_received(&mut self.record),
            What::Is(_) => {}
            What::BothLater | What::Probe | What::Start => self.tell_more(good),
        }
        timeline::called(function, self.record);
    }

    #[cold]
    fn tell_more(&mut self, good: bool) {
        if !good || self.nothing {
            return;
        }
        let begin = self.record.begin;
        match self.what {
            What::Is(_) => {}
            What::BothLater => timeline::write(&Record {
                begin,
                function: about::POSTED,
                extra: self.started.first().copied().unwrap_or_default(),
                ..Record::default()
            }),
            What::Probe => {
                let found = self.started.first().and_then(|found| probe::taken(*found));
                if let Some(found) = found {
                    let begin = timeline::now();
                    timeline::write(&Record { begin, ..found });
                }
            }
            What::Start => {
                for record in self
                    .started
                    .iter()
                    .filter_map(|it| persistent::started(*it))
                {
                    timeline::write(&Record { begin, ..record });
                }
            }
        }
    }
}

/// An argument.
pub struct Noted<T>(pub T);

/// Of any type: nothing is noted.
pub trait NotedAnyhow {
    #[inline(always)]
    fn before(&self, _name: &'static str, _call: &mut Call) {}
    #[inline(always)]
    fn after(&self, _call: &mut Call) {}
}

impl<T> NotedAnyhow for &Noted<T> {}

/// Of a type that says something.
pub trait NotedWell {
    #[inline(always)]
    fn before(&self, _name: &'static str, _call: &mut Call) {}
    #[inline(always)]
    fn after(&self, _call: &mut Call) {}
}

impl NotedWell for Noted<Rank> {
    #[inline(always)]
    fn before(&self, name: &'static str, call: &mut Call) {
        match name {
            "dest" => call.dest = self.0.0,
            // Of a receive it is told when it is known.
            "source" if call.record.kind.sends() => {}
            _ => call.record.peer = self.0.0,
        }
    }
}

impl NotedWell for Noted<Root> {
    #[inline(always)]
    fn before(&self, _name: &'static str, call: &mut Call) {
        call.record.peer = self.0.0;
    }
}

impl NotedWell for Noted<Tag> {
    #[inline(always)]
    fn before(&self, name: &'static str, call: &mut Call) {
        if name != "recvtag" {
            call.record.tag = self.0.0;
        }
    }
}

impl NotedWell for Noted<Comm> {
    #[inline(always)]
    fn before(&self, _name: &'static str, call: &mut Call) {
        call.communicator(self.0.0);
    }
}

impl NotedWell for Noted<Count> {
    #[inline(always)]
    fn before(&self, _name: &'static str, call: &mut Call) {
        if !call.sized {
            call.count = u64::try_from(self.0.0).ok();
        }
    }
}

impl NotedWell for Noted<Int> {
    #[inline(always)]
    fn before(&self, _name: &'static str, call: &mut Call) {
        if call.what == What::Start {
            call.count = u64::try_from(self.0.0).ok();
        }
    }
}

impl NotedWell for Noted<Datatype> {
    #[inline(always)]
    fn before(&self, _name: &'static str, call: &mut Call) {
        if !call.sized
            && !call.receives()
            && let (Some(count), Some(datatype)) = (call.count, datatype::get(self.0.0))
        {
            call.record.bytes = count.saturating_mul(datatype.size);
            call.sized = true;
        }
    }
}

impl NotedWell for Noted<InOut<Request>> {
    fn before(&self, _name: &'static str, call: &mut Call) {
        if call.what == What::Start
            && let Ok(request) = self.0.read()
        {
            call.started.push(request.0);
        }
    }
}

impl NotedWell for Noted<InOutArray<Request>> {
    fn before(&self, _name: &'static str, call: &mut Call) {
        if call.what == What::Start
            && let Some(count) = call.count
            && let Ok(requests) = self.0.elements(count as usize)
        {
            call.started
                .extend(requests.into_iter().map(|request| request.0));
        }
    }
}

impl NotedWell for Noted<Out<Request>> {
    #[inline(always)]
    fn after(&self, call: &mut Call) {
        match call.what {
            What::Is(Kind::Post) => {
                call.record.extra = self.0.written().map_or(NONE, |request| request.0);
            }
            What::BothLater => call.started.extend(self.0.written().map(|it| it.0)),
            _ => {}
        }
    }
}

impl NotedWell for Noted<Out<Logical>> {
    #[inline(always)]
    fn after(&self, call: &mut Call) {
        if call.what == What::Probe {
            call.nothing = self.0.written().is_none_or(|flag| flag.0 == 0);
        }
    }
}

impl NotedWell for Noted<Out<Message>> {
    fn after(&self, call: &mut Call) {
        call.started.extend(self.0.written().map(|it| it.0));
    }
}
