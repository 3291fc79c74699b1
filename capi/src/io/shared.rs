//! Access with the shared file pointer.

use super::decode::{self, BUF};
use super::{READ, WRITE, give};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{self, Place, SplitForm, SplitKind};

entry! {
    CommIo fn MPI_File_read_shared[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        status.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        status.finish(decode::file(fh)?.transfer(READ, Place::Shared, &buffer)?)
    }
}

entry! {
    Collective fn MPI_File_read_ordered[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = status.not_null().and_then(|()| decode::recv_buffer(BUF, buf, count, datatype));
        let done = decode::file(fh)?.transfer_all("MPI_File_read_ordered", READ, Place::Shared, buffer);
        give(status, done)
    }
}

entry! {
    CommIo fn MPI_File_iread_shared[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(READ, Place::Shared, &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_read_ordered_begin[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        decode::file(fh)?.begin_split("MPI_File_read_ordered_begin", READ, Place::Shared, buffer)
    }
}

entry! {
    Collective fn MPI_File_read_ordered_end(
        fh: File, buf: RecvBuffer, status: Out<Status>,
    ) on fh {
        let _ = buf;
        status.not_null()?;
        let kind = SplitKind { direction: READ, place: SplitForm::Ordered };
        status.give(decode::file(fh)?.end_split(kind)?)
    }
}

entry! {
    CommIo fn MPI_File_write_shared[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        status.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        status.finish(decode::file(fh)?.transfer(WRITE, Place::Shared, &buffer)?)
    }
}

entry! {
    Collective fn MPI_File_write_ordered[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = status.not_null().and_then(|()| decode::send_buffer(BUF, buf, count, datatype));
        let done = decode::file(fh)?.transfer_all("MPI_File_write_ordered", WRITE, Place::Shared, buffer);
        give(status, done)
    }
}

entry! {
    CommIo fn MPI_File_iwrite_shared[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(WRITE, Place::Shared, &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_write_ordered_begin[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        decode::file(fh)?.begin_split("MPI_File_write_ordered_begin", WRITE, Place::Shared, buffer)
    }
}

entry! {
    Collective fn MPI_File_write_ordered_end(
        fh: File, buf: SendBuffer, status: Out<Status>,
    ) on fh {
        let _ = buf;
        status.not_null()?;
        let kind = SplitKind { direction: WRITE, place: SplitForm::Ordered };
        status.give(decode::file(fh)?.end_split(kind)?)
    }
}

entry! {
    CommIo fn MPI_File_get_position_shared(fh: File, offset: Out<Offset>) on fh {
        offset.set(Offset(decode::file(fh)?.shared_position()))
    }
}

entry! {
    Collective fn MPI_File_seek_shared(fh: File, offset: Offset, whence: Whence) on fh {
        decode::file(fh)?.seek_shared("MPI_File_seek_shared", offset.0, super::whence(whence))
    }
}
