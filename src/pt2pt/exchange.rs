//! Sending and receiving in one call. `WAITS`: the send is done as a synchronous one, with `OXMPI_CHECK=buffering`.

use super::outcome::Completion;
use super::{Mode, PROC_NULL, engine_from, enter_to, envelope, finish, irecv, isend, key};
use crate::comm::Comm;
use crate::datatype::{Buffer, Status};
use crate::engine::requests::{self, Extra, Kind, Phase, Request};
use crate::engine::{Engine, enter_at, has_threads};
use crate::error::Result;

/// One half of an exchange: buffer, peer and tag.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    pub buffer: Buffer,
    pub peer: i32,
    pub tag: i32,
}

const fn mode<const WAITS: bool>() -> Mode {
    match WAITS {
        true => Mode::Synchronous,
        false => Mode::Standard,
    }
}

/// MPI_Sendrecv. Its error can be MPI_ERR_TRUNCATE.
pub fn sendrecv<const WAITS: bool>(send: Half, receive: Half, comm: &Comm) -> Completion {
    match begin::<WAITS>(send, receive, None, comm) {
        Ok(index) => finish("MPI_Sendrecv", index),
        Err(error) => Completion::failed(error),
    }
}

/// MPI_Sendrecv_replace.
pub fn sendrecv_replace<const WAITS: bool>(
    buffer: Buffer,
    dest: (i32, i32),
    source: (i32, i32),
    comm: &Comm,
) -> Completion {
    match begin_replace::<WAITS>(buffer, dest, source, comm) {
        Ok(index) => finish("MPI_Sendrecv_replace", index),
        Err(error) => Completion::failed(error),
    }
}

/// MPI_Isendrecv: one request for both.
pub fn isendrecv<const WAITS: bool>(send: Half, receive: Half, comm: &Comm) -> Result<i32> {
    if send.peer == PROC_NULL {
        return irecv(receive.buffer, receive.peer, receive.tag, comm);
    }
    if receive.peer == PROC_NULL {
        let mut request = isend(mode::<WAITS>(), send.buffer, send.peer, send.tag, comm)?;
        if request == requests::SENT {
            request = requests::RECEIVED_FROM_NOBODY;
        }
        return Ok(request);
    }
    begin::<WAITS>(send, receive, None, comm).map(requests::handle_of)
}

/// MPI_Isendrecv_replace; destination and source are (rank, tag).
pub fn isendrecv_replace<const WAITS: bool>(
    buffer: Buffer,
    dest: (i32, i32),
    source: (i32, i32),
    comm: &Comm,
) -> Result<i32> {
    begin_replace::<WAITS>(buffer, dest, source, comm).map(requests::handle_of)
}

fn begin_replace<const WAITS: bool>(
    buffer: Buffer,
    dest: (i32, i32),
    source: (i32, i32),
    comm: &Comm,
) -> Result<u32> {
    let mut copy = buffer.copied()?;
    let send = Half {
        buffer: Buffer::of_copy(&mut copy),
        peer: dest.0,
        tag: dest.1,
    };
    let receive = Half {
        buffer,
        peer: source.0,
        tag: source.1,
    };
    begin::<WAITS>(send, receive, Some(copy), comm)
}

/// Begins both; the receive's request completes when both are done.
fn begin<const WAITS: bool>(
    send: Half,
    receive: Half,
    copy: Option<Box<[u8]>>,
    comm: &Comm,
) -> Result<u32> {
    let from = match receive.peer {
        PROC_NULL => 0,
        source => engine_from(comm, source, receive.tag)?,
    };
    let mut engine = enter_at(from);
    // Both, before one of them begins.
    engine.requests().check_room()?;
    let index = begin_receive(&mut engine, receive, comm);
    if send.peer == PROC_NULL {
        return Ok(index);
    }
    let envelope = envelope(comm, send.peer, send.tag);
    if has_threads() && comm.engine_mapping().of_send(comm.rank(), send.tag) != from {
        drop(engine);
        let mut engine = enter_to(comm, send.tag);
        if !engine.send_short(&envelope, &send.buffer) {
            // A request of another engine's cannot wait for it.
            engine.send_copy(None, &envelope, send.buffer)?;
        }
        return Ok(index);
    }
    if !WAITS && engine.send_short(&envelope, &send.buffer) {
        return Ok(index);
    }
    let received = engine.requests().at(index);
    if received.phase == Phase::Complete {
        received.phase = Phase::Active;
    } else {
        received.others = 1;
    }
    let request = Request {
        process: envelope.process,
        peer: send.peer,
        tag: send.tag,
        total: send.buffer.len(),
        detached: true,
        extra: Some(Box::new(Extra {
            copy,
            partner: Some(index),
            ..Extra::default()
        })),
        ..Request::new(
            Kind::Send(mode::<WAITS>()),
            send.buffer,
            comm.handle,
            comm.context(),
            comm.rank(),
        )
    };
    let sent = engine.requests().insert(request);
    engine.start_send(sent);
    Ok(index)
}

fn begin_receive(engine: &mut Engine, receive: Half, comm: &Comm) -> u32 {
    if receive.peer != PROC_NULL {
        let wanted = key(comm, receive.peer, receive.tag);
        return engine.receive_for_library(wanted, receive.peer, comm.handle, receive.buffer);
    }
    let request = Request {
        phase: Phase::Complete,
        status: Status::proc_null(),
        ..Request::new(
            Kind::Receive,
            Buffer::empty(),
            comm.handle,
            comm.context(),
            0,
        )
    };
    engine.requests().insert(request)
}
