//! Files: opening, sizes, hints, views.

use crate::param::*;
use crate::pointers::*;

stub! {
    Collective fn MPI_File_close(fh: InOut<File>) on fh;

    Own fn MPI_File_delete(filename: Text, info: Info) on MPI_FILE_NULL;

    AccessOnly fn MPI_File_get_amode(fh: File, amode: Out<AccessMode>) on fh;

    AccessOnly fn MPI_File_get_atomicity(fh: File, flag: Out<Logical>) on fh;

    UpdateRef fn MPI_File_get_group(fh: File, group: Out<Group>) on fh;

    Allocate fn MPI_File_get_info(fh: File, info_used: Out<Info>) on fh;

    CommIo fn MPI_File_get_size(fh: File, size: Out<Offset>) on fh;

    AccessOnly fn MPI_File_get_type_extent[_c](
        fh: File, datatype: Datatype, extent: Out<ByteDisplacement>,
    ) on fh;

    UpdateRef fn MPI_File_get_view(
        fh: File, disp: Out<Offset>, etype: Out<Datatype>, filetype: Out<Datatype>,
        datarep: TextOut,
    ) on fh;

    Collective fn MPI_File_open(
        comm: Comm, filename: Text, amode: AccessMode, info: Info, fh: Out<File>,
    ) on MPI_FILE_NULL;

    Collective fn MPI_File_preallocate(fh: File, size: Offset) on fh;

    Collective fn MPI_File_set_atomicity(fh: File, flag: Logical) on fh;

    UpdateList fn MPI_File_set_info(fh: File, info: Info) on fh;

    Collective fn MPI_File_set_size(fh: File, size: Offset) on fh;

    Collective fn MPI_File_set_view(
        fh: File, disp: Offset, etype: Datatype, filetype: Datatype, datarep: Text, info: Info,
    ) on fh;

    Collective fn MPI_File_sync(fh: File) on fh;

    Own fn MPI_Register_datarep[_c](
        datarep: Text, read_conversion_fn: DatarepConversionFunction,
        write_conversion_fn: DatarepConversionFunction, dtype_file_extent_fn: DatarepExtentFunction,
        extra_state: ExtraState,
    ) on MPI_FILE_NULL;
}
