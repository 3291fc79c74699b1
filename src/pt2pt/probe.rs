//! Probing, and receiving what a probe has matched.

use super::outcome::Completion;
use super::{ANY_SOURCE, NO_PROC, PROC_NULL, engine_from, finish, key, signatures};
use crate::comm::{self, Comm};
use crate::datatype::{Buffer, Status};
use crate::engine::entry::of_handle;
use crate::engine::requests::{self};
use crate::engine::wait::{Reason, poll_at, until_at};
use crate::engine::waits::Kind;
use crate::engine::{Engine, enter_at, liveness, losses};
use crate::error::{Class, Error, Result, fail};
use crate::events::timeline::layout::{Record, about};

/// Waits in an engine until a message is `found`.
#[inline]
fn until<T>(
    (function, engine): (&'static str, u32),
    source: i32,
    tag: i32,
    comm: &Comm,
    mut found: impl FnMut(&mut Engine) -> Option<T>,
) -> Result<T> {
    let what = &|named: bool| comm.wait(Kind::Probe, source, tag, named);
    until_at(engine, &Reason { function, what }, |engine| {
        if let Some(found) = found(engine) {
            return Some(Ok(found));
        }
        if !engine.checks_liveness() {
            return None;
        }
        failed(engine, source, comm, Engine::lost_sender).map(Err)
    })
}

/// In a liveness check: the error of a probe that waits for a message that a failed process would have sent, maybe; `lost` says whether there is
/// anybody else to wait for.
#[cold]
fn failed(
    engine: &mut Engine,
    source: i32,
    comm: &Comm,
    lost: impl Fn(&mut Engine, i32, i32) -> Option<u32>,
) -> Option<Error> {
    if comm.is_revoked() {
        return Some(losses::revoked());
    }
    let unacknowledged = (source == ANY_SOURCE).then(|| comm.unacknowledged());
    let process = match unacknowledged.flatten() {
        Some(process) => (!engine.progresses()).then_some(process),
        None => lost(engine, comm.handle, source),
    };
    process.map(|process| losses::error(engine, process))
}

/// The error of a probe that has found nothing after a death, if that was the last of many.
#[cold]
#[inline(never)]
fn failed_in_test(engine: u32, source: i32, comm: &Comm) -> Result<()> {
    let error = liveness::ask_in_test(1 << engine, &mut |cursor| {
        failed(cursor.at(engine), source, comm, Engine::ended_sender)
    });
    error.map_or(Ok(()), Err)
}

/// MPI_Probe.
pub fn probe(source: i32, tag: i32, comm: &Comm) -> Result<Status> {
    if source == PROC_NULL {
        return Ok(Status::proc_null());
    }
    let wanted = key(comm, source, tag);
    let engine = engine_from(comm, source, tag)?;
    let status = until(("MPI_Probe", engine), source, tag, comm, |engine| {
        engine.probe(wanted)
    })?;
    Ok(signatures::without(status))
}

/// MPI_Iprobe.
pub fn iprobe(source: i32, tag: i32, comm: &Comm) -> Result<Option<Status>> {
    if source == PROC_NULL {
        return Ok(Some(Status::proc_null()));
    }
    let wanted = key(comm, source, tag);
    let engine = engine_from(comm, source, tag)?;
    {
        let mut here = enter_at(engine);
        if here.probe(wanted).is_some() {
            // A loop may find the same message each time; what takes it away (a CANCEL) has to come in all the same.
            here.progress();
            if let Some(status) = here.probe(wanted) {
                return Ok(Some(signatures::without(status)));
            }
        }
    }
    let found = poll_at(engine).probe(wanted).map(signatures::without);
    if found.is_none() && liveness::any_death() {
        failed_in_test(engine, source, comm)?;
    }
    Ok(found)
}

/// MPI_Mprobe: the message's handle and status.
pub fn mprobe(source: i32, tag: i32, comm: &Comm) -> Result<(i32, Status)> {
    if source == PROC_NULL {
        return Ok((NO_PROC, Status::proc_null()));
    }
    let wanted = key(comm, source, tag);
    let engine = engine_from(comm, source, tag)?;
    let (index, status) = until(("MPI_Mprobe", engine), source, tag, comm, |engine| {
        engine.probe_matched(wanted, comm.handle)
    })?;
    let status = signatures::without(status);
    Ok((requests::message_handle_of(index), status))
}

/// MPI_Improbe.
pub fn improbe(source: i32, tag: i32, comm: &Comm) -> Result<Option<(i32, Status)>> {
    if source == PROC_NULL {
        return Ok(Some((NO_PROC, Status::proc_null())));
    }
    let wanted = key(comm, source, tag);
    let engine = engine_from(comm, source, tag)?;
    let mut found = enter_at(engine).probe_matched(wanted, comm.handle);
    if found.is_none() {
        found = poll_at(engine).probe_matched(wanted, comm.handle);
    }
    if found.is_none() && liveness::any_death() {
        failed_in_test(engine, source, comm)?;
    }
    Ok(found.map(|(index, status)| {
        let status = signatures::without(status);
        (requests::message_handle_of(index), status)
    }))
}

/// The message that a matched probe has just found, for the timeline: it was received then.
pub fn taken(message: i32) -> Option<Record> {
    let index = requests::message_index_of(message)?;
    let mut engine = enter_at(of_handle(message));
    let found = engine.matched(index)?;
    Some(Record {
        function: about::RECEIVED,
        peer: found.key.source,
        tag: found.key.tag,
        context: found.key.context,
        extra: 0,
        bytes: signatures::without(found.status()).bytes(),
        ..Record::default()
    })
}

/// Begins the receive of a matched message; `message` becomes MPI_MESSAGE_NULL. The request, and the communicator for errors.
fn begin(buffer: Buffer, message: &mut i32) -> Result<Option<(u32, i32)>> {
    if *message == NO_PROC {
        *message = requests::NULL;
        return Ok(None);
    }
    let mut engine = enter_at(of_handle(*message));
    let found = requests::message_index_of(*message).and_then(|index| {
        let message = engine.matched(index)?;
        Some((index, message.communicator, message.key.context))
    });
    let Some((index, communicator, context)) = found else {
        return fail!(
            Class::Request,
            "message is {:#010x}, which is not a matched message (or was received before)",
            *message
        );
    };
    // It may have been freed since, and another one have its handle.
    let still_there = |comm: &&Comm| comm.receive_context() == context;
    let communicator = comm::find(communicator).filter(still_there);
    let communicator = communicator.map_or(comm::SELF, |comm| comm.handle);
    engine.requests().check_room()?;
    let request = engine.receive_matched(index, communicator, buffer);
    *message = requests::NULL;
    Ok(Some((request, communicator)))
}

/// MPI_Mrecv.
///
/// Errors: MPI_ERR_REQUEST for what is no message.
pub fn mrecv(buffer: Buffer, message: &mut i32) -> Result<Completion> {
    Ok(match begin(buffer, message)? {
        None => Completion::of(Status::proc_null()),
        Some((index, communicator)) => {
            let done = finish("MPI_Mrecv", index);
            Completion {
                error: done.error.map(|error| error.on(communicator)),
                ..done
            }
        }
    })
}

/// MPI_Imrecv: the request's handle.
pub fn imrecv(buffer: Buffer, message: &mut i32) -> Result<i32> {
    Ok(match begin(buffer, message)? {
        None => requests::RECEIVED_FROM_NOBODY,
        Some((index, _)) => requests::handle_of(index),
    })
}
