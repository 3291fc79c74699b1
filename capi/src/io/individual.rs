//! Access with the individual file pointer, and where it is.

use super::decode::{self, BUF};
use super::{READ, WRITE, give};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{self, Place, SplitForm, SplitKind};

entry! {
    CommIo fn MPI_File_read[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        status.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        status.finish(decode::file(fh)?.transfer(READ, Place::Individual, &buffer)?)
    }
}

entry! {
    Collective fn MPI_File_read_all[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = status.not_null().and_then(|()| decode::recv_buffer(BUF, buf, count, datatype));
        let done = decode::file(fh)?.transfer_all("MPI_File_read_all", READ, Place::Individual, buffer);
        give(status, done)
    }
}

entry! {
    CommIo fn MPI_File_iread[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(READ, Place::Individual, &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_iread_all[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::recv_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(READ, Place::Individual, &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_read_all_begin[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        decode::file(fh)?.begin_split("MPI_File_read_all_begin", READ, Place::Individual, buffer)
    }
}

entry! {
    Collective fn MPI_File_read_all_end(
        fh: File, buf: RecvBuffer, status: Out<Status>,
    ) on fh {
        let _ = buf;
        status.not_null()?;
        let kind = SplitKind { direction: READ, place: SplitForm::All };
        status.give(decode::file(fh)?.end_split(kind)?)
    }
}

entry! {
    CommIo fn MPI_File_write[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        status.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        status.finish(decode::file(fh)?.transfer(WRITE, Place::Individual, &buffer)?)
    }
}

entry! {
    Collective fn MPI_File_write_all[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = status.not_null().and_then(|()| decode::send_buffer(BUF, buf, count, datatype));
        let done = decode::file(fh)?.transfer_all("MPI_File_write_all", WRITE, Place::Individual, buffer);
        give(status, done)
    }
}

entry! {
    CommIo fn MPI_File_iwrite[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(WRITE, Place::Individual, &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_iwrite_all[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        request.not_null()?;
        let buffer = decode::send_buffer(BUF, buf, count, datatype)?;
        let done = decode::file(fh)?.transfer(WRITE, Place::Individual, &buffer)?;
        request.set(Request(io::completed(done)?))
    }
}

entry! {
    Collective fn MPI_File_write_all_begin[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        decode::file(fh)?.begin_split("MPI_File_write_all_begin", WRITE, Place::Individual, buffer)
    }
}

entry! {
    Collective fn MPI_File_write_all_end(
        fh: File, buf: SendBuffer, status: Out<Status>,
    ) on fh {
        let _ = buf;
        status.not_null()?;
        let kind = SplitKind { direction: WRITE, place: SplitForm::All };
        status.give(decode::file(fh)?.end_split(kind)?)
    }
}

entry! {
    AccessOnly fn MPI_File_get_byte_offset(fh: File, offset: Offset, disp: Out<Offset>) on fh {
        disp.set(Offset(decode::file(fh)?.byte_offset(offset.0)?))
    }
}

entry! {
    CommIo fn MPI_File_get_position(fh: File, offset: Out<Offset>) on fh {
        offset.set(Offset(decode::file(fh)?.position()?))
    }
}

entry! {
    CommIo fn MPI_File_seek(fh: File, offset: Offset, whence: Whence) on fh {
        decode::file(fh)?.seek(offset.0, super::whence(whence)?)
    }
}
