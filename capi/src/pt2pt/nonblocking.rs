//! Nonblocking send and receive.

use super::arguments::{self, incoming, outgoing, received, sent};
use crate::decode::{self, MESSAGE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::pt2pt::{self, Mode, exchange};

entry! {
    CommIo fn MPI_Isend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(pt2pt::isend(Mode::Standard, buffer, dest, tag, comm)?))
    }
}

entry! {
    CommIo fn MPI_Ibsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(pt2pt::isend(Mode::Buffered, buffer, dest, tag, comm)?))
    }
}

entry! {
    CommIo fn MPI_Issend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(pt2pt::isend(Mode::Synchronous, buffer, dest, tag, comm)?))
    }
}

entry! {
    CommIo fn MPI_Irsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(pt2pt::isend(Mode::Ready, buffer, dest, tag, comm)?))
    }
}

entry! {
    CommIo fn MPI_Irecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, source, tag, comm) = incoming(buf, count, datatype, source, tag, comm)?;
        request.set(Request(pt2pt::irecv(buffer, source, tag, comm)?))
    }
}

entry! {
    CommIo fn MPI_Isendrecv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, dest: Rank, sendtag: Tag,
        recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, source: Rank, recvtag: Tag,
        comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let comm = decode::comm(comm)?;
        let send = sent((sendbuf, sendcount, sendtype), dest, sendtag, comm)?;
        let receive = received((recvbuf, recvcount, recvtype), source, recvtag, comm)?;
        request.set(Request(exchange::isendrecv(send, receive, comm)?))
    }
}

entry! {
    CommIo fn MPI_Isendrecv_replace[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, dest: Rank, sendtag: Tag, source: Rank,
        recvtag: Tag, comm: Comm, request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let comm = decode::comm(comm)?;
        let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
        let buffer = arguments::signed(buffer, buf.0, count, datatype)?;
        let to = (decode::dest(dest, comm)?, decode::named_tag("sendtag", sendtag)?);
        let from = (decode::source(source, comm)?, decode::named_recv_tag("recvtag", recvtag)?);
        request.set(Request(exchange::isendrecv_replace(buffer, to, from, comm)?))
    }
}
