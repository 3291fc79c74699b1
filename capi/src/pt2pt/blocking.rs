//! Blocking send and receive.

use crate::decode::{self, BUF, RECV, SEND};
use crate::param::*;
use crate::place::*;
use oxmpi::pt2pt::exchange::{self, Half};
use oxmpi::pt2pt::{self, Mode};

entry! {
    fn MPI_Send[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let comm = decode::comm(comm)?;
        let dest = decode::dest(dest, comm)?;
        let tag = decode::tag(tag)?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        pt2pt::send(Mode::Standard, buffer, dest, tag, comm)
    }
}

entry! {
    fn MPI_Bsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let comm = decode::comm(comm)?;
        let dest = decode::dest(dest, comm)?;
        let tag = decode::tag(tag)?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        pt2pt::send(Mode::Buffered, buffer, dest, tag, comm)
    }
}

entry! {
    fn MPI_Ssend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let comm = decode::comm(comm)?;
        let dest = decode::dest(dest, comm)?;
        let tag = decode::tag(tag)?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        pt2pt::send(Mode::Synchronous, buffer, dest, tag, comm)
    }
}

entry! {
    fn MPI_Rsend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm {
        let comm = decode::comm(comm)?;
        let dest = decode::dest(dest, comm)?;
        let tag = decode::tag(tag)?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        pt2pt::send(Mode::Ready, buffer, dest, tag, comm)
    }
}

entry! {
    fn MPI_Recv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        status: Out<Status>,
    ) on comm {
        status.not_null()?;
        let comm = decode::comm(comm)?;
        let source = decode::source(source, comm)?;
        let tag = decode::recv_tag(tag)?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        status.finish(pt2pt::recv(buffer, source, tag, comm))
    }
}

entry! {
    fn MPI_Sendrecv[_c](
        sendbuf: SendBuffer, sendcount: Count, sendtype: Datatype, dest: Rank, sendtag: Tag,
        recvbuf: RecvBuffer, recvcount: Count, recvtype: Datatype, source: Rank, recvtag: Tag,
        comm: Comm, status: Out<Status>,
    ) on comm {
        status.not_null()?;
        let comm = decode::comm(comm)?;
        let send = Half {
            buffer: decode::send_buffer(SEND, sendbuf, sendcount, sendtype)?,
            peer: decode::dest(dest, comm)?,
            tag: decode::named_tag("sendtag", sendtag)?,
        };
        let receive = Half {
            buffer: decode::recv_buffer(RECV, recvbuf, recvcount, recvtype)?,
            peer: decode::source(source, comm)?,
            tag: decode::named_recv_tag("recvtag", recvtag)?,
        };
        status.finish(exchange::sendrecv(send, receive, comm))
    }
}

entry! {
    fn MPI_Sendrecv_replace[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, dest: Rank, sendtag: Tag, source: Rank,
        recvtag: Tag, comm: Comm, status: Out<Status>,
    ) on comm {
        status.not_null()?;
        let comm = decode::comm(comm)?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        let to = (decode::dest(dest, comm)?, decode::named_tag("sendtag", sendtag)?);
        let from = (decode::source(source, comm)?, decode::named_recv_tag("recvtag", recvtag)?);
        status.finish(exchange::sendrecv_replace(buffer, to, from, comm))
    }
}
