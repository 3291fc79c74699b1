//! Access with the individual file pointer.

use crate::param::*;
use crate::pointers::*;

stub! {
    CommIo fn MPI_File_iread[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh;

    Collective fn MPI_File_iread_all[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh;

    CommIo fn MPI_File_iwrite[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh;

    Collective fn MPI_File_iwrite_all[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh;

    CommIo fn MPI_File_read[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_read_all[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_read_all_begin[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh;

    Collective fn MPI_File_read_all_end(fh: File, buf: RecvBuffer, status: Out<Status>) on fh;

    CommIo fn MPI_File_write[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_write_all[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_write_all_begin[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh;

    Collective fn MPI_File_write_all_end(fh: File, buf: SendBuffer, status: Out<Status>) on fh;

    AccessOnly fn MPI_File_get_byte_offset(fh: File, offset: Offset, disp: Out<Offset>) on fh;

    CommIo fn MPI_File_get_position(fh: File, offset: Out<Offset>) on fh;

    CommIo fn MPI_File_seek(fh: File, offset: Offset, whence: Whence) on fh;
}
