//! Point-to-point communication: chapter 3 of the standard over the engine.
//!
//! Arguments have been checked at the edge: ranks are of the communicator or MPI_PROC_NULL (receives also
//! MPI_ANY_SOURCE), tags in range. Requests and messages are handles (MPICH's integers) already here.
//! Errors of a completion carry the communicator's handle ([`crate::error::Error::on`]).

mod awaited;
pub mod buffered;
pub mod complete;
pub mod exchange;
pub mod generalized;
pub mod get_status;
pub mod origin;
mod outcome;
pub mod partitioned;
mod pending;
pub mod persistent;
pub mod probe;
pub mod several;
pub mod signatures;

pub use crate::engine::matching::{ANY_SOURCE, ANY_TAG};
pub use crate::engine::requests::{
    Mode, NO_PROC, NULL as REQUEST_NULL, RECEIVED_FROM_NOBODY, SENT,
};

use crate::comm::Comm;
use crate::datatype::{Buffer, Status};
use crate::engine::liveness::GivesUp;
use crate::engine::mapping::broken_promise;
use crate::engine::matching::Key;
use crate::engine::receive::Direct;
use crate::engine::requests::{self, Index, Phase, engine_of};
use crate::engine::send::Envelope;
use crate::engine::wait::{Reason, until_at};
use crate::engine::{
    Engine, EngineGuard, enter_shared, enter_unlocked, has_threads, single_threaded,
};
use crate::error::Result;
use crate::os::turns::{DIRECT_POLLS, DIRECT_POLLS_OF_SEVERAL};
use complete::Completion;
use signatures::Met;

/// MPI_PROC_NULL.
pub const PROC_NULL: i32 = -1;
/// MPI_TAG_UB.
pub const TAG_UB: i32 = i32::MAX;

#[inline(always)]
fn envelope(comm: &Comm, dest: i32, tag: i32) -> Envelope {
    Envelope {
        process: comm.process(dest),
        context: comm.context(),
        source: comm.rank(),
        tag,
        peer: dest,
        communicator: comm.handle,
    }
}

#[inline(always)]
fn key(comm: &Comm, source: i32, tag: i32) -> Key {
    Key {
        context: comm.receive_context(),
        source,
        tag,
    }
}

/// Enters the engine by which a message leaves.
#[inline]
fn enter_to(comm: &Comm, tag: i32) -> EngineGuard {
    if let Some(single_threaded) = single_threaded() {
        return enter_unlocked(single_threaded);
    }
    enter_shared_to(comm, tag)
}

/// As [`enter_to`], for callers that have asked [`has_threads`].
#[inline(always)]
fn enter_shared_to(comm: &Comm, tag: i32) -> EngineGuard {
    enter_shared(comm.engine_mapping().of_send(comm.rank(), tag))
}

/// The engine by which a message comes in.
///
/// Errors: MPI_ERR_TAG or MPI_ERR_RANK for a wildcard that the program has promised not to use.
#[inline]
fn engine_from(comm: &Comm, source: i32, tag: i32) -> Result<u32> {
    if !has_threads() {
        return Ok(0);
    }
    engine_of_several_from(comm, source, tag)
}

/// As [`engine_from`], for callers that have asked [`has_threads`].
#[inline(always)]
fn engine_of_several_from(comm: &Comm, source: i32, tag: i32) -> Result<u32> {
    let mapping = comm.engine_mapping();
    match mapping.of_receive(source, tag) {
        Some(engine) => Ok(engine),
        None => Err(broken_promise(mapping, tag)),
    }
}

const fn name_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Standard => "MPI_Send",
        Mode::Buffered => "MPI_Bsend",
        Mode::Synchronous => "MPI_Ssend",
        Mode::Ready => "MPI_Rsend",
    }
}

/// MPI_Send, MPI_Ssend, MPI_Rsend and MPI_Bsend.
///
/// Errors: MPI_ERR_BUFFER for a buffered send that finds no room.
#[inline]
pub fn send(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    if dest == PROC_NULL {
        return Ok(());
    }
    if matches!(mode, Mode::Standard | Mode::Ready) {
        let sent = match single_threaded() {
            None => send_short_of_several(&buffer, dest, tag, comm),
            Some(single_threaded) => {
                enter_unlocked(single_threaded).send_short(&envelope(comm, dest, tag), &buffer)
            }
        };
        if sent {
            return Ok(());
        }
    }
    send_long(mode, buffer, dest, tag, comm)
}

/// Each of the frequent calls is made for one engine and for several: the first must not know of the second.
#[inline(never)]
fn send_short_of_several(buffer: &Buffer, dest: i32, tag: i32, comm: &Comm) -> bool {
    enter_shared_to(comm, tag).send_short(&envelope(comm, dest, tag), buffer)
}

/// MPI_Send that waits for its receive, with `OXMPI_CHECK=buffering`.
///
/// Errors: as [`send`].
pub fn send_unbuffered(buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    if dest == PROC_NULL {
        return Ok(());
    }
    let mode = Mode::Synchronous;
    let index = enter_to(comm, tag).send(mode, &envelope(comm, dest, tag), buffer);
    finish(name_of(Mode::Standard), index).into_result()
}

#[inline(never)]
fn send_long(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    if mode == Mode::Buffered {
        return buffered::send(buffer, dest, tag, comm);
    }
    let index = enter_to(comm, tag).send(mode, &envelope(comm, dest, tag), buffer);
    finish(name_of(mode), index).into_result()
}

/// MPI_Isend, MPI_Issend, MPI_Irsend and MPI_Ibsend. Returns the request's handle.
#[inline(always)]
pub fn isend(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<i32> {
    if dest == PROC_NULL {
        return Ok(requests::SENT);
    }
    if mode == Mode::Buffered {
        return buffered::send(buffer, dest, tag, comm).map(|()| requests::SENT);
    }
    match single_threaded() {
        None => isend_of_several(mode, buffer, dest, tag, comm),
        Some(single_threaded) => {
            let engine = enter_unlocked(single_threaded);
            isend_by(engine, mode, buffer, dest, tag, comm)
        }
    }
}

#[inline(never)]
fn isend_of_several(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<i32> {
    isend_by(enter_shared_to(comm, tag), mode, buffer, dest, tag, comm)
}

#[inline(always)]
fn isend_by(
    mut guard: EngineGuard,
    mode: Mode,
    buffer: Buffer,
    dest: i32,
    tag: i32,
    comm: &Comm,
) -> Result<i32> {
    let envelope = envelope(comm, dest, tag);
    if mode != Mode::Synchronous && guard.send_short(&envelope, &buffer) {
        return Ok(requests::SENT);
    }
    isend_long(&mut guard, mode, &envelope, buffer)
}

#[inline(never)]
fn isend_long(engine: &mut Engine, mode: Mode, envelope: &Envelope, buffer: Buffer) -> Result<i32> {
    engine.requests().check_room()?;
    let index = engine.send(mode, envelope, buffer);
    let request = engine.requests().at(index);
    // An error is told by the call that completes it.
    if request.phase == Phase::Complete && request.error.is_none() {
        engine.requests().release(index);
        return Ok(requests::SENT);
    }
    Ok(requests::handle_of(index))
}

/// MPI_Recv. Its error can be MPI_ERR_TRUNCATE.
#[inline]
pub fn recv(buffer: Buffer, source: i32, tag: i32, comm: &Comm) -> Completion {
    if source == PROC_NULL {
        return Completion::of(Status::proc_null());
    }
    let Some(single_threaded) = single_threaded() else {
        return recv_of_several(buffer, source, tag, comm);
    };
    let again = |_: &mut EngineGuard| true;
    recv_by(
        enter_unlocked(single_threaded),
        DIRECT_POLLS,
        again,
        buffer,
        source,
        tag,
        comm,
    )
}

#[inline(never)]
fn recv_of_several(buffer: Buffer, source: i32, tag: i32, comm: &Comm) -> Completion {
    match engine_of_several_from(comm, source, tag) {
        Ok(engine) => {
            let engine = enter_shared(engine);
            let again = |engine: &mut EngineGuard| {
                engine.yield_lock();
                engine.may_receive_directly()
            };
            let polls = DIRECT_POLLS_OF_SEVERAL;
            recv_by(engine, polls, again, buffer, source, tag, comm)
        }
        Err(error) => Completion::failed(error),
    }
}

/// `again` returns after an idle poll whether there may be another one.
#[inline(always)]
fn recv_by(
    mut engine: EngineGuard,
    polls: u32,
    again: impl Fn(&mut EngineGuard) -> bool,
    buffer: Buffer,
    source: i32,
    tag: i32,
    comm: &Comm,
) -> Completion {
    let wanted = key(comm, source, tag);
    if engine.may_receive_directly() {
        for _ in 0..polls {
            match engine.receive_directly(wanted, &buffer) {
                Direct::Nothing => {}
                Direct::Received(status) => {
                    let met = || Met {
                        handle: 0,
                        context: Some(wanted.context),
                    };
                    return signatures::judged(&buffer, met, Completion::of(status));
                }
                Direct::Other => break,
            }
            if !again(&mut engine) {
                break;
            }
        }
    }
    let begun = engine.receive(wanted, source, comm.handle, buffer);
    drop(engine);
    let index = match begun {
        Ok(index) => index,
        Err(error) => return Completion::failed(error),
    };
    finish("MPI_Recv", index)
}

/// MPI_Irecv. Returns the request's handle.
#[inline]
pub fn irecv(buffer: Buffer, source: i32, tag: i32, comm: &Comm) -> Result<i32> {
    if source == PROC_NULL {
        return Ok(requests::RECEIVED_FROM_NOBODY);
    }
    let Some(single_threaded) = single_threaded() else {
        return irecv_of_several(buffer, source, tag, comm);
    };
    let wanted = key(comm, source, tag);
    let index = enter_unlocked(single_threaded).receive(wanted, source, comm.handle, buffer)?;
    Ok(requests::handle_of(index))
}

#[inline(never)]
fn irecv_of_several(buffer: Buffer, source: i32, tag: i32, comm: &Comm) -> Result<i32> {
    let mut engine = enter_shared(engine_of_several_from(comm, source, tag)?);
    let index = engine.receive(key(comm, source, tag), source, comm.handle, buffer)?;
    Ok(requests::handle_of(index))
}

/// Waits for a request that no handle was given out for, and recycles it.
#[inline]
fn finish(function: &'static str, index: Index) -> Completion {
    let what = &|named: bool| awaited::request(index, named);
    until_at(engine_of(index), &Reason { function, what }, |engine| {
        let request = engine.requests().at(index);
        if request.phase != Phase::Complete {
            if engine.checks_liveness() {
                give_up(engine, index);
            }
            return None;
        }
        let status = request.status;
        let error = request.error.take();
        let done = Completion { status, error };
        let done = signatures::judged(&request.buffer, || Met::of(request, 0), done);
        engine.requests().release(index);
        Some(done)
    })
}

/// In a liveness check: ends a request that cannot complete, or that may wait for a message of a failed process.
#[cold]
#[inline(never)]
fn give_up(engine: &mut Engine, index: Index) {
    match pending::failed_sender(engine, index) {
        Some(process) => engine.end_lost(index, process),
        None => engine.give_up(index, GivesUp::Waiting),
    }
}

/// Frees a request of the engine's own use, at once or when it is done.
fn detach(engine: &mut Engine, index: Index) {
    let request = engine.requests().at(index);
    if matches!(request.phase, Phase::Active) {
        request.detached = true;
        request.persistent = false;
    } else {
        engine.requests().release(index);
    }
}
