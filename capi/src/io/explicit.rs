//! Access with explicit offsets.

use crate::param::*;
use crate::pointers::*;

stub! {
    CommIo fn MPI_File_iread_at[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
        request: Out<Request>,
    ) on fh;

    Collective fn MPI_File_iread_at_all[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
        request: Out<Request>,
    ) on fh;

    CommIo fn MPI_File_iwrite_at[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
        request: Out<Request>,
    ) on fh;

    Collective fn MPI_File_iwrite_at_all[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
        request: Out<Request>,
    ) on fh;

    CommIo fn MPI_File_read_at[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
        status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_read_at_all[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
        status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_read_at_all_begin[_c](
        fh: File, offset: Offset, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh;

    Collective fn MPI_File_read_at_all_end(fh: File, buf: RecvBuffer, status: Out<Status>) on fh;

    CommIo fn MPI_File_write_at[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
        status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_write_at_all[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
        status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_write_at_all_begin[_c](
        fh: File, offset: Offset, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh;

    Collective fn MPI_File_write_at_all_end(fh: File, buf: SendBuffer, status: Out<Status>) on fh;
}
