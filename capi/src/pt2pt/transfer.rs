//! Send, receive, and exchange of both: blocking, nonblocking, persistent.

use super::arguments::{Message, exchanged, incoming, outgoing, replaced};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Result;
use oxmpi::pt2pt::{self, Mode, exchange, persistent};

// Not FnOnce: calling that is a call of a function that the compiler does not inline into the entries.

#[inline(always)]
fn send(mode: Mode, message: impl Fn() -> Result<Message>) -> Result<()> {
    let (buffer, dest, tag, comm) = message()?;
    pt2pt::send(mode, buffer, dest, tag, comm)
}

#[inline(always)]
fn isend(mode: Mode, message: impl Fn() -> Result<Message>, request: Out<Request>) -> Result<()> {
    request.not_null()?;
    let (buffer, dest, tag, comm) = message()?;
    request.set(Request(pt2pt::isend(mode, buffer, dest, tag, comm)?))
}

#[inline(always)]
fn send_init(
    mode: Mode,
    message: impl Fn() -> Result<Message>,
    request: Out<Request>,
) -> Result<()> {
    request.not_null()?;
    let (buffer, dest, tag, comm) = message()?;
    request.set(Request(persistent::send_init(
        mode, buffer, dest, tag, comm,
    )?))
}

entries! {
    (buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm) on comm;
    message() = outgoing(buf, count, datatype, dest, tag, comm);

    CommIo fn MPI_Send[_c]() { send(Mode::Standard, message) }
    CommIo fn MPI_Bsend[_c]() { send(Mode::Buffered, message) }
    CommIo fn MPI_Ssend[_c]() { send(Mode::Synchronous, message) }
    CommIo fn MPI_Rsend[_c]() { send(Mode::Ready, message) }

    CommIo fn MPI_Isend[_c](request: Out<Request>) { isend(Mode::Standard, message, request) }
    CommIo fn MPI_Ibsend[_c](request: Out<Request>) { isend(Mode::Buffered, message, request) }
    CommIo fn MPI_Issend[_c](request: Out<Request>) { isend(Mode::Synchronous, message, request) }
    CommIo fn MPI_Irsend[_c](request: Out<Request>) { isend(Mode::Ready, message, request) }

    Allocate fn MPI_Send_init[_c](request: Out<Request>) { send_init(Mode::Standard, message, request) }
    Allocate fn MPI_Bsend_init[_c](request: Out<Request>) { send_init(Mode::Buffered, message, request) }
    Allocate fn MPI_Ssend_init[_c](request: Out<Request>) { send_init(Mode::Synchronous, message, request) }
    Allocate fn MPI_Rsend_init[_c](request: Out<Request>) { send_init(Mode::Ready, message, request) }
}

entries! {
    (buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm) on comm;
    message() = incoming(buf, count, datatype, source, tag, comm);

    CommIo fn MPI_Recv[_c](status: Out<Status>) {
        status.not_null()?;
        let (buffer, source, tag, comm) = message()?;
        status.finish(pt2pt::recv(buffer, source, tag, comm))
    }
    CommIo fn MPI_Irecv[_c](request: Out<Request>) {
        request.not_null()?;
        let (buffer, source, tag, comm) = message()?;
        request.set(Request(pt2pt::irecv(buffer, source, tag, comm)?))
    }
    Allocate fn MPI_Recv_init[_c](request: Out<Request>) {
        request.not_null()?;
        let (buffer, source, tag, comm) = message()?;
        request.set(Request(persistent::recv_init(buffer, source, tag, comm)?))
    }
}

entries! {
    (
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, dest: Rank, sendtag: Tag,
        recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, source: Rank, recvtag: Tag,
        comm: Comm,
    ) on comm;
    halves() = exchanged(
        ((sendbuf, sendcount, sendtype), dest, sendtag),
        ((recvbuf, recvcount, recvtype), source, recvtag),
        comm,
    );

    CommIo fn MPI_Sendrecv[_c](status: Out<Status>) {
        status.not_null()?;
        let (send, receive, comm) = halves()?;
        status.finish(exchange::sendrecv::<false>(send, receive, comm))
    }
    CommIo fn MPI_Isendrecv[_c](request: Out<Request>) {
        request.not_null()?;
        let (send, receive, comm) = halves()?;
        request.set(Request(exchange::isendrecv::<false>(send, receive, comm)?))
    }
}

entries! {
    (
        buf: RecvBuffer, count: Count, datatype: Datatype, dest: Rank, sendtag: Tag, source: Rank,
        recvtag: Tag, comm: Comm,
    ) on comm;
    decoded() = replaced((buf, count, datatype), (dest, sendtag), (source, recvtag), comm);

    CommIo fn MPI_Sendrecv_replace[_c](status: Out<Status>) {
        status.not_null()?;
        let (buffer, to, from, comm) = decoded()?;
        status.finish(exchange::sendrecv_replace::<false>(buffer, to, from, comm))
    }
    CommIo fn MPI_Isendrecv_replace[_c](request: Out<Request>) {
        request.not_null()?;
        let (buffer, to, from, comm) = decoded()?;
        request.set(Request(exchange::isendrecv_replace::<false>(buffer, to, from, comm)?))
    }
}

entry! {
    CommIo fn MPI_Start(request: InOut<Request>) on MPI_REQUEST_NULL {
        persistent::start(request.read()?.0)
    }
}

entry! {
    CommIo fn MPI_Startall(count: Int, array_of_requests: InOutArray<Request>) on MPI_REQUEST_NULL {
        let mut requests = array_of_requests;
        let requests = requests.slice(decode::requests("count", count)?)?;
        persistent::start_all(&requests)
    }
}
