//! Access with explicit offsets.

use super::access::{self, Access};
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{Direction, Place, SplitForm};

entries! {
    (fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype) on fh;
    access() = Access::read(fh, Place::At(offset.0), buf, count, datatype);

    CommIo fn MPI_File_read_at[_c](status: Out<Status>) { access().blocking("MPI_File_read_at", status) }
    Collective fn MPI_File_read_at_all[_c](status: Out<Status>) { access().blocking_all("MPI_File_read_at_all", status) }
    CommIo fn MPI_File_iread_at[_c](request: Out<Request>) { access().nonblocking("MPI_File_iread_at", request) }
    Collective fn MPI_File_iread_at_all[_c](request: Out<Request>) { access().nonblocking_all("MPI_File_iread_at_all", request) }
    Collective fn MPI_File_read_at_all_begin[_c]() { access().begin("MPI_File_read_at_all_begin") }
}

entry! {
    Collective fn MPI_File_read_at_all_end(fh: File, buf: RecvBuffer, status: Out<Status>) on fh {
        access::end("MPI_File_read_at_all_end", fh, (Direction::Read, SplitForm::At), buf.0, status)
    }
}

entries! {
    (fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype) on fh;
    access() = Access::write(fh, Place::At(offset.0), buf, count, datatype);

    CommIo fn MPI_File_write_at[_c](status: Out<Status>) { access().blocking("MPI_File_write_at", status) }
    Collective fn MPI_File_write_at_all[_c](status: Out<Status>) { access().blocking_all("MPI_File_write_at_all", status) }
    CommIo fn MPI_File_iwrite_at[_c](request: Out<Request>) { access().nonblocking("MPI_File_iwrite_at", request) }
    Collective fn MPI_File_iwrite_at_all[_c](request: Out<Request>) { access().nonblocking_all("MPI_File_iwrite_at_all", request) }
    Collective fn MPI_File_write_at_all_begin[_c]() { access().begin("MPI_File_write_at_all_begin") }
}

entry! {
    Collective fn MPI_File_write_at_all_end(fh: File, buf: SendBuffer, status: Out<Status>) on fh {
        access::end("MPI_File_write_at_all_end", fh, (Direction::Write, SplitForm::At), buf.0, status)
    }
}
