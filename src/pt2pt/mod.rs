//! Point-to-point communication: chapter 3 of the standard over the engine.
//!
//! Arguments have been checked at the edge: ranks are of the communicator or MPI_PROC_NULL (receives also
//! MPI_ANY_SOURCE), tags in range. Requests and messages are handles (MPICH's integers) already here.
//! Errors of a completion carry the communicator's handle ([`crate::error::Error::communicator`]).

pub mod buffered;
pub mod complete;
pub mod exchange;
pub mod generalized;
pub mod origin;
pub mod partitioned;
pub mod persistent;
pub mod probe;
pub mod signatures;

pub use crate::engine::matching::{ANY_SOURCE, ANY_TAG};
pub use crate::engine::requests::{Mode, NO_PROC, NULL as REQUEST_NULL};

use crate::comm::Comm;
use crate::datatype::{Buffer, Status};
use crate::engine::matching::Key;
use crate::engine::receive::Direct;
use crate::engine::requests::{self, Index, Phase};
use crate::engine::send::Envelope;
use crate::engine::wait::{Reason, until};
use crate::engine::{Engine, enter};
use crate::error::Result;
use complete::Completion;

/// Looks of a blocking receive before it makes a request and waits like the others.
const DIRECT_LOOKS: u32 = 500;

/// MPI_PROC_NULL.
pub const PROC_NULL: i32 = -1;
/// MPI_TAG_UB.
pub const TAG_UB: i32 = i32::MAX;

#[inline(always)]
fn envelope(comm: &Comm, dest: i32, tag: i32) -> Envelope {
    Envelope {
        world: comm.world(dest),
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
    if matches!(mode, Mode::Standard | Mode::Ready)
        && enter().send_short(&envelope(comm, dest, tag), &buffer)
    {
        return Ok(());
    }
    send_long(mode, buffer, dest, tag, comm)
}

#[inline(never)]
fn send_long(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    if mode == Mode::Buffered {
        return buffered::send(buffer, dest, tag, comm);
    }
    let index = enter().send(mode, &envelope(comm, dest, tag), buffer);
    let reason = Reason {
        function: name_of(mode),
        peer: dest,
        tag,
        context: comm.context(),
    };
    finish(&reason, index).into_result()
}

/// MPI_Isend, MPI_Issend, MPI_Irsend and MPI_Ibsend. Returns the request's handle.
#[inline]
pub fn isend(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<i32> {
    if dest == PROC_NULL {
        return Ok(requests::SENT);
    }
    if mode == Mode::Buffered {
        return buffered::send(buffer, dest, tag, comm).map(|()| requests::SENT);
    }
    let envelope = envelope(comm, dest, tag);
    let mut engine = enter();
    if mode != Mode::Synchronous && engine.send_short(&envelope, &buffer) {
        return Ok(requests::SENT);
    }
    let index = engine.send(mode, &envelope, buffer);
    let done = engine.requests().at(index).phase == Phase::Complete;
    if done {
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
    let wanted = key(comm, source, tag);
    let mut engine = enter();
    if engine.may_receive_directly() {
        for _ in 0..DIRECT_LOOKS {
            match engine.receive_directly(wanted, &buffer) {
                Direct::Nothing => {}
                Direct::Received(status) => {
                    return signatures::judged(&buffer, Completion::of(status));
                }
                Direct::Other => break,
            }
        }
    }
    let index = engine.receive(wanted, source, comm.handle, buffer);
    drop(engine);
    let reason = Reason {
        function: "MPI_Recv",
        peer: source,
        tag,
        context: comm.context(),
    };
    finish(&reason, index)
}

/// MPI_Irecv. Returns the request's handle.
#[inline]
pub fn irecv(buffer: Buffer, source: i32, tag: i32, comm: &Comm) -> Result<i32> {
    if source == PROC_NULL {
        return Ok(requests::RECEIVED_FROM_NOBODY);
    }
    let index = enter().receive(key(comm, source, tag), source, comm.handle, buffer);
    Ok(requests::handle_of(index))
}

/// Waits for a request that no handle was given out for, and recycles it.
#[inline]
fn finish(reason: &Reason, index: Index) -> Completion {
    until(reason, |engine| {
        let request = engine.requests().at(index);
        if request.phase != Phase::Complete {
            return None;
        }
        let status = request.status;
        let error = request.error.take();
        let buffer = request.buffer;
        engine.requests().release(index);
        Some(signatures::judged(&buffer, Completion { status, error }))
    })
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
