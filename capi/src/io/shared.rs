//! Access with the shared file pointer.

use super::decode::{self, BUF};
use super::{READ, WRITE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{Place, SplitForm};

entry! {
    CommIo fn MPI_File_read_shared[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::blocking("MPI_File_read_shared", fh, READ, Place::Shared, buffer, status)
    }
}

entry! {
    Collective fn MPI_File_read_ordered[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::blocking_all("MPI_File_read_ordered", fh, READ, Place::Shared, buffer, status)
    }
}

entry! {
    CommIo fn MPI_File_iread_shared[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::nonblocking("MPI_File_iread_shared", fh, READ, Place::Shared, buffer, request)
    }
}

entry! {
    Collective fn MPI_File_read_ordered_begin[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::begin("MPI_File_read_ordered_begin", fh, READ, Place::Shared, buf.0 as usize, buffer)
    }
}

entry! {
    Collective fn MPI_File_read_ordered_end(
        fh: File, buf: RecvBuffer, status: Out<Status>,
    ) on fh {
        super::end("MPI_File_read_ordered_end", fh, READ, SplitForm::Ordered, buf.0 as usize, status)
    }
}

entry! {
    CommIo fn MPI_File_write_shared[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::blocking("MPI_File_write_shared", fh, WRITE, Place::Shared, buffer, status)
    }
}

entry! {
    Collective fn MPI_File_write_ordered[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::blocking_all("MPI_File_write_ordered", fh, WRITE, Place::Shared, buffer, status)
    }
}

entry! {
    CommIo fn MPI_File_iwrite_shared[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::nonblocking("MPI_File_iwrite_shared", fh, WRITE, Place::Shared, buffer, request)
    }
}

entry! {
    Collective fn MPI_File_write_ordered_begin[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::begin("MPI_File_write_ordered_begin", fh, WRITE, Place::Shared, buf.0 as usize, buffer)
    }
}

entry! {
    Collective fn MPI_File_write_ordered_end(
        fh: File, buf: SendBuffer, status: Out<Status>,
    ) on fh {
        super::end("MPI_File_write_ordered_end", fh, WRITE, SplitForm::Ordered, buf.0 as usize, status)
    }
}

entry! {
    CommIo fn MPI_File_get_position_shared(fh: File, offset: Out<Offset>) on fh {
        offset.set(Offset(decode::file(fh)?.shared_position()?))
    }
}

entry! {
    Collective fn MPI_File_seek_shared(fh: File, offset: Offset, whence: Whence) on fh {
        decode::file(fh)?.seek_shared("MPI_File_seek_shared", offset.0, super::whence(whence))
    }
}
