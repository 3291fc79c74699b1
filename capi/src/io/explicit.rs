//! Access with explicit offsets.

use super::decode::{self, BUF};
use super::{READ, WRITE, give};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{self, Place, SplitForm, SplitKind};

entry! {
    CommIo fn MPI_File_read_at[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        status.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        status.finish(decode::file(fh)?.transfer(READ, Place::At(offset.0), &buffer)?)
    }
}

entry! {
    Collective fn MPI_File_read_at_all[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = status.not_null().and_then(|()| decode::recv_buffer(BUF, buf, count, datatype));
        let done = decode::file(fh)?.transfer_all("MPI_File_read_at_all", READ, Place::At(offset.0), buffer);
        give(status, done)
    }
}

entry! {
    CommIo fn MPI_File_iread_at[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(READ, Place::At(offset.0), &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_iread_at_all[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(READ, Place::At(offset.0), &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_read_at_all_begin[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        decode::file(fh)?.begin_split("MPI_File_read_at_all_begin", READ, Place::At(offset.0), buffer)
    }
}

entry! {
    Collective fn MPI_File_read_at_all_end(
        fh: File, buf: RecvBuffer, status: Out<Status>,
    ) on fh {
        let _ = buf;
        status.not_null()?;
        let kind = SplitKind { direction: READ, place: SplitForm::At };
        status.give(decode::file(fh)?.end_split(kind)?)
    }
}

entry! {
    CommIo fn MPI_File_write_at[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        status.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        status.finish(decode::file(fh)?.transfer(WRITE, Place::At(offset.0), &buffer)?)
    }
}

entry! {
    Collective fn MPI_File_write_at_all[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = status.not_null().and_then(|()| decode::send_buffer(BUF, buf, count, datatype));
        let done = decode::file(fh)?.transfer_all("MPI_File_write_at_all", WRITE, Place::At(offset.0), buffer);
        give(status, done)
    }
}

entry! {
    CommIo fn MPI_File_iwrite_at[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(WRITE, Place::At(offset.0), &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_iwrite_at_all[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(WRITE, Place::At(offset.0), &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_write_at_all_begin[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        decode::file(fh)?.begin_split("MPI_File_write_at_all_begin", WRITE, Place::At(offset.0), buffer)
    }
}

entry! {
    Collective fn MPI_File_write_at_all_end(
        fh: File, buf: SendBuffer, status: Out<Status>,
    ) on fh {
        let _ = buf;
        status.not_null()?;
        let kind = SplitKind { direction: WRITE, place: SplitForm::At };
        status.give(decode::file(fh)?.end_split(kind)?)
    }
}
