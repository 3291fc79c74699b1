//! Files: opening, sizes, hints, views.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_File_close(fh: InOut<File>) on fh;

    fn MPI_File_delete(filename: Text, info: Info);

    fn MPI_File_get_amode(fh: File, amode: Out<AccessMode>) on fh;

    fn MPI_File_get_atomicity(fh: File, flag: Out<Logical>) on fh;

    fn MPI_File_get_group(fh: File, group: Out<Group>) on fh;

    fn MPI_File_get_info(fh: File, info_used: Out<Info>) on fh;

    fn MPI_File_get_size(fh: File, size: Out<Offset>) on fh;

    fn MPI_File_get_type_extent[_c](
        fh: File, datatype: Datatype, extent: Out<ByteDisplacement>,
    ) on fh;

    fn MPI_File_get_view(
        fh: File, disp: Out<Offset>, etype: Out<Datatype>, filetype: Out<Datatype>,
        datarep: TextOut,
    ) on fh;

    fn MPI_File_open(
        comm: Comm, filename: Text, amode: AccessMode, info: Info, fh: Out<File>,
    ) on comm;

    fn MPI_File_preallocate(fh: File, size: Offset) on fh;

    fn MPI_File_set_atomicity(fh: File, flag: Logical) on fh;

    fn MPI_File_set_info(fh: File, info: Info) on fh;

    fn MPI_File_set_size(fh: File, size: Offset) on fh;

    fn MPI_File_set_view(
        fh: File, disp: Offset, etype: Datatype, filetype: Datatype, datarep: Text, info: Info,
    ) on fh;

    fn MPI_File_sync(fh: File) on fh;

    fn MPI_Register_datarep[_c](
        datarep: Text, read_conversion_fn: DatarepConversionFunction,
        write_conversion_fn: DatarepConversionFunction, dtype_file_extent_fn: DatarepExtentFunction,
        extra_state: ExtraState,
    );
}
