//! Access with the shared file pointer.

use super::access::{self, Access};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{Direction, Place, SplitForm};

entries! {
    (fh: File, buf: RecvBuffer, count: Count, datatype: Datatype) on fh;
    access() = Access::read(fh, Place::Shared, buf, count, datatype);

    CommIo fn MPI_File_read_shared[_c](status: Out<Status>) { access().blocking("MPI_File_read_shared", status) }
    Collective fn MPI_File_read_ordered[_c](status: Out<Status>) { access().blocking_all("MPI_File_read_ordered", status) }
    CommIo fn MPI_File_iread_shared[_c](request: Out<Request>) { access().nonblocking("MPI_File_iread_shared", request) }
    Collective fn MPI_File_read_ordered_begin[_c]() { access().begin("MPI_File_read_ordered_begin") }
}

entry! {
    Collective fn MPI_File_read_ordered_end(fh: File, buf: RecvBuffer, status: Out<Status>) on fh {
        access::end("MPI_File_read_ordered_end", fh, (Direction::Read, SplitForm::Ordered), buf.0, status)
    }
}

entries! {
    (fh: File, buf: SendBuffer, count: Count, datatype: Datatype) on fh;
    access() = Access::write(fh, Place::Shared, buf, count, datatype);

    CommIo fn MPI_File_write_shared[_c](status: Out<Status>) { access().blocking("MPI_File_write_shared", status) }
    Collective fn MPI_File_write_ordered[_c](status: Out<Status>) { access().blocking_all("MPI_File_write_ordered", status) }
    CommIo fn MPI_File_iwrite_shared[_c](request: Out<Request>) { access().nonblocking("MPI_File_iwrite_shared", request) }
    Collective fn MPI_File_write_ordered_begin[_c]() { access().begin("MPI_File_write_ordered_begin") }
}

entry! {
    Collective fn MPI_File_write_ordered_end(fh: File, buf: SendBuffer, status: Out<Status>) on fh {
        access::end("MPI_File_write_ordered_end", fh, (Direction::Write, SplitForm::Ordered), buf.0, status)
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
