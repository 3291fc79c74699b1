//! Access with explicit offsets.

use super::decode::{self, BUF};
use super::{READ, WRITE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{Place, SplitForm};

entry! {
    CommIo fn MPI_File_read_at[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::blocking("MPI_File_read_at", fh, READ, Place::At(offset.0), buffer, status)
    }
}

entry! {
    Collective fn MPI_File_read_at_all[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::blocking_all("MPI_File_read_at_all", fh, READ, Place::At(offset.0), buffer, status)
    }
}

entry! {
    CommIo fn MPI_File_iread_at[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::nonblocking("MPI_File_iread_at", fh, READ, Place::At(offset.0), buffer, request)
    }
}

entry! {
    Collective fn MPI_File_iread_at_all[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::nonblocking_all("MPI_File_iread_at_all", fh, READ, Place::At(offset.0), buffer, request)
    }
}

entry! {
    Collective fn MPI_File_read_at_all_begin[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::begin("MPI_File_read_at_all_begin", fh, READ, Place::At(offset.0), buf.0 as usize, buffer)
    }
}

entry! {
    Collective fn MPI_File_read_at_all_end(
        fh: File, buf: RecvBuffer, status: Out<Status>,
    ) on fh {
        super::end("MPI_File_read_at_all_end", fh, READ, SplitForm::At, buf.0 as usize, status)
    }
}

entry! {
    CommIo fn MPI_File_write_at[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::blocking("MPI_File_write_at", fh, WRITE, Place::At(offset.0), buffer, status)
    }
}

entry! {
    Collective fn MPI_File_write_at_all[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::blocking_all("MPI_File_write_at_all", fh, WRITE, Place::At(offset.0), buffer, status)
    }
}

entry! {
    CommIo fn MPI_File_iwrite_at[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::nonblocking("MPI_File_iwrite_at", fh, WRITE, Place::At(offset.0), buffer, request)
    }
}

entry! {
    Collective fn MPI_File_iwrite_at_all[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::nonblocking_all("MPI_File_iwrite_at_all", fh, WRITE, Place::At(offset.0), buffer, request)
    }
}

entry! {
    Collective fn MPI_File_write_at_all_begin[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::begin("MPI_File_write_at_all_begin", fh, WRITE, Place::At(offset.0), buf.0 as usize, buffer)
    }
}

entry! {
    Collective fn MPI_File_write_at_all_end(
        fh: File, buf: SendBuffer, status: Out<Status>,
    ) on fh {
        super::end("MPI_File_write_at_all_end", fh, WRITE, SplitForm::At, buf.0 as usize, status)
    }
}
