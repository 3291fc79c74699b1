//! Access with the individual file pointer, and where it is.

use super::decode::{self, BUF};
use super::{READ, WRITE};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{Place, SplitForm};

entry! {
    CommIo fn MPI_File_read[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::blocking("MPI_File_read", fh, READ, Place::Individual, buffer, status)
    }
}

entry! {
    Collective fn MPI_File_read_all[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::blocking_all("MPI_File_read_all", fh, READ, Place::Individual, buffer, status)
    }
}

entry! {
    CommIo fn MPI_File_iread[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::nonblocking("MPI_File_iread", fh, READ, Place::Individual, buffer, request)
    }
}

entry! {
    Collective fn MPI_File_iread_all[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::nonblocking_all("MPI_File_iread_all", fh, READ, Place::Individual, buffer, request)
    }
}

entry! {
    Collective fn MPI_File_read_all_begin[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::recv_buffer(BUF, buf, count, datatype);
        super::begin("MPI_File_read_all_begin", fh, READ, Place::Individual, buf.0 as usize, buffer)
    }
}

entry! {
    Collective fn MPI_File_read_all_end(
        fh: File, buf: RecvBuffer, status: Out<Status>,
    ) on fh {
        super::end("MPI_File_read_all_end", fh, READ, SplitForm::All, buf.0 as usize, status)
    }
}

entry! {
    CommIo fn MPI_File_write[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::blocking("MPI_File_write", fh, WRITE, Place::Individual, buffer, status)
    }
}

entry! {
    Collective fn MPI_File_write_all[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::blocking_all("MPI_File_write_all", fh, WRITE, Place::Individual, buffer, status)
    }
}

entry! {
    CommIo fn MPI_File_iwrite[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::nonblocking("MPI_File_iwrite", fh, WRITE, Place::Individual, buffer, request)
    }
}

entry! {
    Collective fn MPI_File_iwrite_all[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::nonblocking_all("MPI_File_iwrite_all", fh, WRITE, Place::Individual, buffer, request)
    }
}

entry! {
    Collective fn MPI_File_write_all_begin[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh {
        let buffer = decode::send_buffer(BUF, buf, count, datatype);
        super::begin("MPI_File_write_all_begin", fh, WRITE, Place::Individual, buf.0 as usize, buffer)
    }
}

entry! {
    Collective fn MPI_File_write_all_end(
        fh: File, buf: SendBuffer, status: Out<Status>,
    ) on fh {
        super::end("MPI_File_write_all_end", fh, WRITE, SplitForm::All, buf.0 as usize, status)
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
