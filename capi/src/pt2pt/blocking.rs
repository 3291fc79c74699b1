//! Blocking send and receive.

use super::arguments::{self, incoming, outgoing, received, sent};
use crate::decode::{self, MESSAGE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::pt2pt::{self, Mode, exchange};

entry! {
    CommIo fn MPI_Send[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        pt2pt::send(Mode::Standard, buffer, dest, tag, comm)
    }
}

entry! {
    CommIo fn MPI_Bsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        pt2pt::send(Mode::Buffered, buffer, dest, tag, comm)
    }
}

entry! {
    CommIo fn MPI_Ssend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        pt2pt::send(Mode::Synchronous, buffer, dest, tag, comm)
    }
}

entry! {
    CommIo fn MPI_Rsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        pt2pt::send(Mode::Ready, buffer, dest, tag, comm)
    }
}

entry! {
    CommIo fn MPI_Recv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        status: Out<Status>,
    ) on comm {
        status.not_null()?;
        let (buffer, source, tag, comm) = incoming(buf, count, datatype, source, tag, comm)?;
        status.finish(pt2pt::recv(buffer, source, tag, comm))
    }
}

entry! {
    CommIo fn MPI_Sendrecv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, dest: Rank, sendtag: Tag,
        recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, source: Rank, recvtag: Tag,
        comm: Comm, status: Out<Status>,
    ) on comm {
        status.not_null()?;
        let comm = decode::comm(comm)?;
        let send = sent((sendbuf, sendcount, sendtype), dest, sendtag, comm)?;
        let receive = received((recvbuf, recvcount, recvtype), source, recvtag, comm)?;
        status.finish(exchange::sendrecv(send, receive, comm))
    }
}

entry! {
    CommIo fn MPI_Sendrecv_replace[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, dest: Rank, sendtag: Tag, source: Rank,
        recvtag: Tag, comm: Comm, status: Out<Status>,
    ) on comm {
        status.not_null()?;
        let comm = decode::comm(comm)?;
        let buffer = decode::recv_buffer(MESSAGE, buf, count, datatype)?;
        let buffer = arguments::signed(buffer, buf.0, count, datatype)?;
        let to = (decode::dest(dest, comm)?, decode::named_tag("sendtag", sendtag)?);
        let from = (decode::source(source, comm)?, decode::named_recv_tag("recvtag", recvtag)?);
        status.finish(exchange::sendrecv_replace(buffer, to, from, comm))
    }
}
