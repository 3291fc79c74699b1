//! Persistent requests: made once, started many times.

use super::{PROC_NULL, engine_from, enter_to};
use crate::comm::Comm;
use crate::datatype::{Buffer, Status};
use crate::engine::entry::of_handle;
use crate::engine::matching::Key;
use crate::engine::requests::{self, Kind, Mode, Phase, Request, Restart};
use crate::engine::{Engine, EngineCursor, EngineGuard, enter_at, losses};
use crate::error::{Class, Result, fail};
use crate::events::timeline::layout::{self as timeline, Record, about};

fn keep(
    kind: Kind,
    buffer: Buffer,
    peer: i32,
    tag: i32,
    comm: &Comm,
    mut engine: EngineGuard,
) -> Result<i32> {
    let context = match kind {
        Kind::Receive | Kind::Task | Kind::General => comm.receive_context(),
        Kind::Send(_) => comm.context(),
    };
    let request = Request {
        phase: Phase::Inactive,
        persistent: true,
        peer,
        process: if peer >= 0 { comm.process(peer) } else { 0 },
        tag,
        ..Request::new(kind, buffer, comm.handle, context, comm.rank())
    };
    engine.requests().check_room()?;
    Ok(requests::handle_of(engine.requests().insert(request)))
}

/// MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init.
pub fn send_init(mode: Mode, buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<i32> {
    let engine = enter_to(comm, tag);
    keep(Kind::Send(mode), buffer, dest, tag, comm, engine)
}

/// MPI_Recv_init.
///
/// Errors: MPI_ERR_TAG or MPI_ERR_RANK for a wildcard that the program has promised not to use.
pub fn recv_init(buffer: Buffer, source: i32, tag: i32, comm: &Comm) -> Result<i32> {
    let engine = match source {
        PROC_NULL => 0,
        _ => engine_from(comm, source, tag)?,
    };
    let engine = enter_at(engine);
    keep(Kind::Receive, buffer, source, tag, comm, engine)
}

/// Checks that a handle can be started.
fn startable(engine: &mut Engine, handle: i32) -> Result<u32> {
    if let Some(index) = requests::index_of(handle)
        && let Some(request) = engine.requests().get(index)
        && !request.detached
    {
        if request.persistent && request.phase == Phase::Inactive {
            return Ok(index);
        }
        let why = if request.persistent {
            "a persistent request that is active already"
        } else {
            "a request that is not persistent"
        };
        return fail!(Class::Request, "request is {:#010x}, {why}", handle);
    }
    fail!(
        Class::Request,
        "request is {:#010x}, which is not a persistent request",
        handle
    )
}

/// MPI_Start.
pub fn start(handle: i32) -> Result<()> {
    let mut engine = enter_at(of_handle(handle));
    let index = startable(&mut engine, handle)?;
    begin(engine, index)
}

/// MPI_Startall. If one handle is wrong, none is started.
pub fn start_all(handles: &[i32]) -> Result<()> {
    let mut cursor = EngineCursor::at_handle(handles);
    for handle in handles {
        startable(cursor.of(*handle), *handle)?;
    }
    drop(cursor);
    for handle in handles {
        start(*handle)?;
    }
    Ok(())
}

/// What a request that was just started does, for the timeline; `None` where that is no message.
pub fn started(handle: i32) -> Option<Record> {
    let index = requests::index_of(handle)?;
    let mut engine = enter_at(of_handle(handle));
    let request = engine.requests().get(index)?;
    let (function, peer, extra) = match request.kind {
        Kind::Send(_) => (about::SENT, request.process as i32, request.source),
        Kind::Receive => (about::POSTED, request.peer, handle),
        Kind::Task | Kind::General => return None,
    };
    (request.persistent && request.peer != PROC_NULL).then(|| Record {
        function,
        kind: match function {
            about::SENT => timeline::Kind::Send,
            _ => timeline::Kind::Post,
        },
        peer,
        tag: request.tag,
        context: request.context,
        extra,
        bytes: request.buffer.len() as u64,
        ..Record::default()
    })
}

fn begin(mut engine: EngineGuard, index: u32) -> Result<()> {
    let request = engine.requests().at(index);
    let (kind, peer, buffer) = (request.kind, request.peer, request.buffer);
    let wanted = Key {
        context: request.context,
        source: peer,
        tag: request.tag,
    };
    request.status = Status::empty();
    request.error = None;
    request.moved = 0;
    request.total = buffer.len();
    request.phase = Phase::Active;
    if peer == PROC_NULL {
        if request.is_of_revoked() {
            request.error = Some(losses::revoked());
        }
        request.phase = Phase::Complete;
        request.status = Status::proc_null();
        return Ok(());
    }
    match kind {
        Kind::Receive => engine.post(index, wanted),
        Kind::Task => {
            let extra = engine.requests().at(index).extra.as_ref();
            let restart = extra.and_then(|extra| extra.restart.clone());
            drop(engine);
            if let Some(Restart(restart)) = restart {
                restart(index);
            }
        }
        Kind::Send(Mode::Buffered) => {
            let done = super::buffered::start(&mut engine, index);
            let request = engine.requests().at(index);
            request.phase = if done.is_ok() {
                Phase::Complete
            } else {
                Phase::Inactive
            };
            return done;
        }
        Kind::Send(_) => engine.start_send(index),
        // Never persistent.
        Kind::General => {}
    }
    Ok(())
}
