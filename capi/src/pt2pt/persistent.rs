//! Persistent requests.

use super::arguments::{incoming, outgoing};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::pt2pt::Mode;
use oxmpi::pt2pt::persistent;

entry! {
    Allocate fn MPI_Send_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(persistent::send_init(Mode::Standard, buffer, dest, tag, comm)?))
    }
}

entry! {
    Allocate fn MPI_Bsend_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(persistent::send_init(Mode::Buffered, buffer, dest, tag, comm)?))
    }
}

entry! {
    Allocate fn MPI_Ssend_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(persistent::send_init(Mode::Synchronous, buffer, dest, tag, comm)?))
    }
}

entry! {
    Allocate fn MPI_Rsend_init[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, dest, tag, comm) = outgoing(buf, count, datatype, dest, tag, comm)?;
        request.set(Request(persistent::send_init(Mode::Ready, buffer, dest, tag, comm)?))
    }
}

entry! {
    Allocate fn MPI_Recv_init[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm {
        request.not_null()?;
        let (buffer, source, tag, comm) = incoming(buf, count, datatype, source, tag, comm)?;
        request.set(Request(persistent::recv_init(buffer, source, tag, comm)?))
    }
}

entry! {
    CommIo fn MPI_Start(request: InOut<Request>) {
        decode::running()?;
        persistent::start(request.read()?.0)
    }
}

entry! {
    CommIo fn MPI_Startall(count: Int, array_of_requests: InOutArray<Request>) {
        decode::running()?;
        let mut requests = array_of_requests;
        let requests = requests.slice(decode::requests("count", count)?)?;
        persistent::start_all(&requests)
    }
}
