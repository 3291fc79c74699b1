//! Access with the shared file pointer.

use crate::param::*;
use crate::pointers::*;

stub! {
    CommIo fn MPI_File_iread_shared[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh;

    CommIo fn MPI_File_iwrite_shared[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, request: Out<Request>,
    ) on fh;

    Collective fn MPI_File_read_ordered[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_read_ordered_begin[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype,
    ) on fh;

    Collective fn MPI_File_read_ordered_end(fh: File, buf: RecvBuffer, status: Out<Status>) on fh;

    CommIo fn MPI_File_read_shared[_c](
        fh: File, buf: RecvBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_write_ordered[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    Collective fn MPI_File_write_ordered_begin[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype,
    ) on fh;

    Collective fn MPI_File_write_ordered_end(fh: File, buf: SendBuffer, status: Out<Status>) on fh;

    CommIo fn MPI_File_write_shared[_c](
        fh: File, buf: SendBuffer, count: Count, datatype: Datatype, status: Out<Status>,
    ) on fh;

    CommIo fn MPI_File_get_position_shared(fh: File, offset: Out<Offset>) on fh;

    Collective fn MPI_File_seek_shared(fh: File, offset: Offset, whence: Whence) on fh;
}
