//! Access with the individual file pointer, and where it is.

use super::access::{self, Access};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::io::{Direction, Place, SplitForm};

entries! {
    (fh: File, buf: RecvBuffer, count: Count, datatype: Datatype) on fh;
    access() = Access::read(fh, Place::Individual, buf, count, datatype);

    CommIo fn MPI_File_read[_c](status: Out<Status>) { access().blocking("MPI_File_read", status) }
    Collective fn MPI_File_read_all[_c](status: Out<Status>) { access().blocking_all("MPI_File_read_all", status) }
    CommIo fn MPI_File_iread[_c](request: Out<Request>) { access().nonblocking("MPI_File_iread", request) }
    Collective fn MPI_File_iread_all[_c](request: Out<Request>) { access().nonblocking_all("MPI_File_iread_all", request) }
    Collective fn MPI_File_read_all_begin[_c]() { access().begin("MPI_File_read_all_begin") }
}

entry! {
    Collective fn MPI_File_read_all_end(fh: File, buf: RecvBuffer, status: Out<Status>) on fh {
        access::end("MPI_File_read_all_end", fh, (Direction::Read, SplitForm::All), buf.0, status)
    }
}

entries! {
    (fh: File, buf: SendBuffer, count: Count, datatype: Datatype) on fh;
    access() = Access::write(fh, Place::Individual, buf, count, datatype);

    CommIo fn MPI_File_write[_c](status: Out<Status>) { access().blocking("MPI_File_write", status) }
    Collective fn MPI_File_write_all[_c](status: Out<Status>) { access().blocking_all("MPI_File_write_all", status) }
    CommIo fn MPI_File_iwrite[_c](request: Out<Request>) { access().nonblocking("MPI_File_iwrite", request) }
    Collective fn MPI_File_iwrite_all[_c](request: Out<Request>) { access().nonblocking_all("MPI_File_iwrite_all", request) }
    Collective fn MPI_File_write_all_begin[_c]() { access().begin("MPI_File_write_all_begin") }
}

entry! {
    Collective fn MPI_File_write_all_end(fh: File, buf: SendBuffer, status: Out<Status>) on fh {
        access::end("MPI_File_write_all_end", fh, (Direction::Write, SplitForm::All), buf.0, status)
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
