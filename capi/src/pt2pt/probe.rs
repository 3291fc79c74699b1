//! Probe, and matched probe and receive.

use super::arguments;
use crate::decode::{self, MESSAGE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::pt2pt::probe;

entries! {
    (source: Rank, tag: Tag, comm: Comm) on comm;
    wanted() = arguments::awaited(source, tag, comm);

    CommIo fn MPI_Probe(status: Out<Status>) {
        status.not_null()?;
        let (source, tag, comm) = wanted()?;
        status.give(probe::probe(source, tag, comm)?)
    }
    CommIo fn MPI_Iprobe(flag: Out<Logical>, status: Out<Status>) {
        flag.not_null()?;
        status.not_null()?;
        let (source, tag, comm) = wanted()?;
        let found = probe::iprobe(source, tag, comm)?;
        flag.put_bool(found.is_some())?;
        found.map_or(Ok(()), |found| status.give(found))
    }
    CommIo fn MPI_Mprobe(message: Out<Message>, status: Out<Status>) {
        message.not_null()?;
        status.not_null()?;
        let (source, tag, comm) = wanted()?;
        let (found, words) = probe::mprobe(source, tag, comm)?;
        message.set(Message(found))?;
        status.give(words)
    }
    CommIo fn MPI_Improbe(flag: Out<Logical>, message: Out<Message>, status: Out<Status>) {
        flag.not_null()?;
        message.not_null()?;
        status.not_null()?;
        let (source, tag, comm) = wanted()?;
        let found = probe::improbe(source, tag, comm)?;
        flag.put_bool(found.is_some())?;
        let Some((found, words)) = found else {
            return Ok(());
        };
        message.set(Message(found))?;
        status.give(words)
    }
}

entry! {
    CommIo fn MPI_Mrecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, message: InOut<Message>,
        status: Out<Status>,
    ) on MPI_REQUEST_NULL {
        status.not_null()?;
        let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
        let buffer = arguments::signed(buffer, buf.0, count, datatype)?;
        let mut handle = message.read()?.0;
        let result = probe::mrecv(buffer, &mut handle);
        message.set(Message(handle))?;
        status.finish(result?)
    }
}

entry! {
    CommIo fn MPI_Imrecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, message: InOut<Message>,
        request: Out<Request>,
    ) on MPI_REQUEST_NULL {
        request.not_null()?;
        let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
        let buffer = arguments::signed(buffer, buf.0, count, datatype)?;
        let mut handle = message.read()?.0;
        let result = probe::imrecv(buffer, &mut handle);
        message.set(Message(handle))?;
        request.set(Request(result?))
    }
}
