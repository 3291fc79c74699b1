//! Buffered sends: the attached buffers and what is in use of them.
//!
//! What the program attached is the capacity that messages are charged to, so that a send fails exactly when the standard's model says
//! there is no room. Where the data is kept is the engine's matter ([`attached`]).

use super::{enter_to, envelope, origin};
use crate::comm::{Comm, SELF};
use crate::datatype::Buffer;
use crate::engine::attached::{self, BSEND_OVERHEAD, BsendBuffer, Charge, Kept, LONG};
use crate::engine::wait::{Reason, until_in};
use crate::engine::waits::{Kind, Wait, Whom};
use crate::engine::{Engine, enter, in_use, requests, tasks};
use crate::error::{Class, Result, fail};
use crate::os::made;
use parking_lot::Mutex;

/// MPI_BUFFER_AUTOMATIC.
pub const AUTOMATIC: usize = usize::MAX - 1;

/// What it is called in a list of what is left.
const ATTACHED_BUFFER: &str = "attached buffer";

fn named(scope: Scope, memory: &Buffer) -> String {
    let of = match scope {
        Scope::Process => "of the process",
        Scope::Comm(_) => "of a communicator",
        Scope::Session(_) => "of a session",
    };
    format!("{of}, {} bytes", memory.len())
}

/// What a buffer is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Process,
    /// A communicator, by its handle.
    Comm(i32),
    /// A session, by its handle.
    Session(i32),
}

#[derive(Clone, Copy, Debug)]
struct Attached {
    scope: Scope,
    memory: Buffer,
    automatic: bool,
    bsend: u32,
}

static ATTACHED: Mutex<Vec<Attached>> = Mutex::new(Vec::new());

fn find(scope: Scope) -> Option<Attached> {
    ATTACHED
        .lock()
        .iter()
        .find(|attached| attached.scope == scope)
        .copied()
}

/// MPI_Buffer_attach and its kin: memory without holes, or none for [`AUTOMATIC`].
///
/// Errors: MPI_ERR_BUFFER if one is attached there already.
pub fn attach(scope: Scope, memory: Option<Buffer>) -> Result<()> {
    if find(scope).is_some() {
        return fail!(Class::Buffer, "a buffer is attached already");
    }
    let automatic = memory.is_none();
    let memory = memory.unwrap_or_else(Buffer::empty);
    made::note_named(ATTACHED_BUFFER, named(scope, &memory));
    let bsend = attached::open(BsendBuffer::of(memory, automatic));
    ATTACHED.lock().push(Attached {
        scope,
        memory,
        automatic,
        bsend,
    });
    Ok(())
}

/// MPI_Buffer_detach and its kin: waits until its messages have left; address and size as they were attached, or
/// `None` if there is no buffer.
pub fn detach(scope: Scope) -> Result<Option<(usize, usize)>> {
    if let Some(attached) = find(scope) {
        made::forget_named(ATTACHED_BUFFER, &named(scope, &attached.memory));
    }
    detach_silently(scope)
}

/// As [`detach`], of what the program has left.
fn detach_silently(scope: Scope) -> Result<Option<(usize, usize)>> {
    let Some(attached) = find(scope) else {
        return Ok(None);
    };
    drain(attached, "MPI_Buffer_detach");
    attached::close(attached.bsend);
    ATTACHED
        .lock()
        .retain(|other| other.scope != attached.scope);
    let address = match attached.automatic {
        true => AUTOMATIC,
        false => attached.memory.address() as usize,
    };
    Ok(Some((address, attached.memory.len())))
}

/// MPI_Buffer_flush and its kin: waits until all messages in the buffer have left.
pub fn flush(scope: Scope) -> Result<()> {
    if let Some(attached) = find(scope) {
        drain(attached, "MPI_Buffer_flush");
    }
    Ok(())
}

/// MPI_Buffer_iflush and its kin: a request that is complete when all messages in the buffer have left.
pub fn iflush(scope: Scope) -> Result<i32> {
    Ok(match find(scope) {
        Some(attached) if is_gone(attached) => requests::SENT,
        Some(attached) => {
            enter().requests().check_room()?;
            let request = enter().begin_task(SELF, u32::MAX);
            tasks::spawn(async move {
                tasks::condition(|| is_gone(attached)).await;
                tasks::end(request, None);
            });
            requests::handle_of(request)
        }
        None => requests::SENT,
    })
}

impl Scope {
    /// Whether MPI_Finalize ends it: a session's lives on.
    pub fn is_of_world(self) -> bool {
        !matches!(self, Scope::Session(_))
    }
}

/// Detaches what is attached to those, at finalize.
pub fn detach_all(those: impl Fn(Scope) -> bool) -> Result<()> {
    loop {
        let next = ATTACHED
            .lock()
            .iter()
            .map(|attached| attached.scope)
            .find(|scope| those(*scope));
        match next {
            Some(scope) => detach_silently(scope)?,
            None => return Ok(()),
        };
    }
}

fn drain(attached: Attached, function: &'static str) {
    let what = &|_: bool| Wait::of(Kind::Buffer, Whom::Any);
    until_in(in_use(), &Reason { function, what }, |_| {
        is_gone(attached).then_some(())
    });
}

/// Whether all messages in a buffer have left.
fn is_gone(attached: Attached) -> bool {
    attached::state(attached.bsend).messages == 0
}

/// The buffer for sends on a communicator: the most specific one (MPI 5.0, 3.6), that of the communicator, of the session that
/// it comes from, or of the process.
fn nearest(communicator: i32) -> Option<Attached> {
    let of_session = || find(Scope::Session(origin::of(communicator)?));
    find(Scope::Comm(communicator))
        .or_else(of_session)
        .or_else(|| find(Scope::Process))
}

/// Charges a send on a communicator to its buffer.
fn charge(engine: &mut Engine, communicator: i32, bytes: usize) -> Result<Charge> {
    let Some(attached) = nearest(communicator) else {
        return fail!(
            Class::Buffer,
            "no buffer is attached for buffered sends; this message needs {} bytes",
            bytes + BSEND_OVERHEAD
        );
    };
    let number = attached.bsend;
    if let Some(charge) = attached::take(number, bytes) {
        return Ok(charge);
    }
    // Some of what is in the buffer may have left since.
    engine.progress();
    if let Some(charge) = attached::take(number, bytes) {
        return Ok(charge);
    }
    let bsend = attached::state(number);
    fail!(
        Class::Buffer,
        "the attached buffer of {} bytes has {} in use; this message needs {}",
        bsend.capacity,
        bsend.used,
        bytes + BSEND_OVERHEAD
    )
}

/// MPI_Bsend and MPI_Ibsend.
///
/// Errors: MPI_ERR_BUFFER if there is no room.
pub fn send(buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    if buffer.len() >= LONG {
        return send_long(buffer, dest, tag, comm);
    }
    let mut engine = enter_to(comm, tag);
    let bsend = charge(&mut engine, comm.handle, buffer.len())?;
    let envelope = envelope(comm, dest, tag);
    if engine.send_short(&envelope, &buffer) {
        attached::give_back(bsend, buffer.len());
    } else {
        engine.send_copy(Some(bsend), &envelope, buffer)?;
    }
    Ok(())
}

/// The data is copied before the engine is entered, which other threads can use meanwhile.
fn send_long(buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    let at_once = nearest(comm.handle).and_then(|near| attached::take(near.bsend, buffer.len()));
    let charge = match at_once {
        Some(charge) => charge,
        None => charge(&mut enter_to(comm, tag), comm.handle, buffer.len())?,
    };
    let kept = Kept::of(Some(charge), &buffer)?;
    let envelope = envelope(comm, dest, tag);
    enter_to(comm, tag).send_kept(Some(charge), &envelope, kept);
    Ok(())
}

/// Starts a persistent buffered send.
pub fn start(engine: &mut Engine, index: u32) -> Result<()> {
    let request = engine.requests().at(index);
    let buffer = request.buffer;
    let envelope = crate::engine::send::Envelope {
        process: request.process,
        context: request.context,
        source: request.source,
        tag: request.tag,
        peer: request.peer,
        communicator: request.owner,
    };
    let bsend = charge(engine, envelope.communicator, buffer.len())?;
    engine.send_copy(Some(bsend), &envelope, buffer)
}
