/* Files. */
#include "bindings.h"

namespace MPI {

Aint File::Get_type_extent(const Datatype &datatype) const {
  MPI_Aint result = 0;
  check(MPI_File_get_type_extent(handle, datatype, &result));
  return result;
}

void File::Read_ordered_end(void *buf, Status &status) {
  check(MPI_File_read_ordered_end(handle, buf, &status.handle));
}

void File::Read_ordered_end(void *buf) {
  check(MPI_File_read_ordered_end(handle, buf, MPI_STATUS_IGNORE));
}

void File::Seek_shared(Offset offset, int whence) {
  check(MPI_File_seek_shared(handle, offset, whence));
}

void File::Read_ordered(void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_read_ordered(handle, buf, count, datatype, &status.handle));
}

void File::Read_ordered(void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_ordered(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

Request File::Iread_shared(void *buf, int count, const Datatype &datatype) {
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_File_iread_shared(handle, buf, count, datatype, &result));
  return Request(result);
}

Info File::Get_info() const {
  MPI_Info result = MPI_INFO_NULL;
  check(MPI_File_get_info(handle, &result));
  return Info(result);
}

void File::Write_ordered_begin(const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_ordered_begin(handle, buf, count, datatype));
}

void File::Set_info(const Info &info) {
  check(MPI_File_set_info(handle, info));
}

void File::Write_ordered(const void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_write_ordered(handle, buf, count, datatype, &status.handle));
}

void File::Write_ordered(const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_ordered(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Sync() {
  check(MPI_File_sync(handle));
}

void File::Read(void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_read(handle, buf, count, datatype, &status.handle));
}

void File::Read(void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Write_all(const void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_write_all(handle, buf, count, datatype, &status.handle));
}

void File::Write_all(const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_all(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

Offset File::Get_size() const {
  MPI_Offset result = 0;
  check(MPI_File_get_size(handle, &result));
  return result;
}

void File::Write_all_end(const void *buf, Status &status) {
  check(MPI_File_write_all_end(handle, buf, &status.handle));
}

void File::Write_all_end(const void *buf) {
  check(MPI_File_write_all_end(handle, buf, MPI_STATUS_IGNORE));
}

void File::Read_ordered_begin(void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_ordered_begin(handle, buf, count, datatype));
}

Request File::Iread_at(Offset offset, void *buf, int count, const Datatype &datatype) {
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_File_iread_at(handle, offset, buf, count, datatype, &result));
  return Request(result);
}

void File::Write_at_all_end(const void *buf, Status &status) {
  check(MPI_File_write_at_all_end(handle, buf, &status.handle));
}

void File::Write_at_all_end(const void *buf) {
  check(MPI_File_write_at_all_end(handle, buf, MPI_STATUS_IGNORE));
}

Offset File::Get_position_shared() const {
  MPI_Offset result = 0;
  check(MPI_File_get_position_shared(handle, &result));
  return result;
}

void File::Write_shared(const void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_write_shared(handle, buf, count, datatype, &status.handle));
}

void File::Write_shared(const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_shared(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

Request File::Iwrite_at(Offset offset, const void *buf, int count, const Datatype &datatype) {
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_File_iwrite_at(handle, offset, buf, count, datatype, &result));
  return Request(result);
}

void File::Get_view(Offset &disp, Datatype &etype, Datatype &filetype, char *datarep) const {
  MPI_Offset offset = 0;
  MPI_Datatype elementary = MPI_DATATYPE_NULL, tiles = MPI_DATATYPE_NULL;
  check(MPI_File_get_view(handle, &offset, &elementary, &tiles, datarep));
  disp = offset;
  etype = elementary;
  filetype = tiles;
}

void File::Write_all_begin(const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_all_begin(handle, buf, count, datatype));
}

void File::Read_all_end(void *buf, Status &status) {
  check(MPI_File_read_all_end(handle, buf, &status.handle));
}

void File::Read_all_end(void *buf) {
  check(MPI_File_read_all_end(handle, buf, MPI_STATUS_IGNORE));
}

Offset File::Get_byte_offset(Offset offset) const {
  MPI_Offset result = 0;
  check(MPI_File_get_byte_offset(handle, offset, &result));
  return result;
}

Request File::Iread(void *buf, int count, const Datatype &datatype) {
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_File_iread(handle, buf, count, datatype, &result));
  return Request(result);
}

void File::Read_at_all_end(void *buf, Status &status) {
  check(MPI_File_read_at_all_end(handle, buf, &status.handle));
}

void File::Read_at_all_end(void *buf) {
  check(MPI_File_read_at_all_end(handle, buf, MPI_STATUS_IGNORE));
}

void File::Write_at(Offset offset, const void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_write_at(handle, offset, buf, count, datatype, &status.handle));
}

void File::Write_at(Offset offset, const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_at(handle, offset, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Write_at_all_begin(Offset offset, const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_at_all_begin(handle, offset, buf, count, datatype));
}

Errhandler File::Get_errhandler() const {
  MPI_Errhandler result = MPI_ERRHANDLER_NULL;
  check(MPI_File_get_errhandler(handle, &result));
  return Errhandler(result);
}

int File::Get_amode() const {
  int result = 0;
  check(MPI_File_get_amode(handle, &result));
  return result;
}

void File::Set_atomicity(bool flag) {
  check(MPI_File_set_atomicity(handle, flag));
}

Group File::Get_group() const {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_File_get_group(handle, &result));
  return Group(result);
}

Offset File::Get_position() const {
  MPI_Offset result = 0;
  check(MPI_File_get_position(handle, &result));
  return result;
}

void File::Seek(Offset offset, int whence) {
  check(MPI_File_seek(handle, offset, whence));
}

void File::Read_all_begin(void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_all_begin(handle, buf, count, datatype));
}

void File::Read_at_all_begin(Offset offset, void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_at_all_begin(handle, offset, buf, count, datatype));
}

void File::Read_all(void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_read_all(handle, buf, count, datatype, &status.handle));
}

void File::Read_all(void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_all(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Preallocate(Offset size) {
  check(MPI_File_preallocate(handle, size));
}

void File::Read_at_all(Offset offset, void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_read_at_all(handle, offset, buf, count, datatype, &status.handle));
}

void File::Read_at_all(Offset offset, void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_at_all(handle, offset, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Read_shared(void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_read_shared(handle, buf, count, datatype, &status.handle));
}

void File::Read_shared(void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_shared(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

Request File::Iwrite(const void *buf, int count, const Datatype &datatype) {
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_File_iwrite(handle, buf, count, datatype, &result));
  return Request(result);
}

Request File::Iwrite_shared(const void *buf, int count, const Datatype &datatype) {
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_File_iwrite_shared(handle, buf, count, datatype, &result));
  return Request(result);
}

void File::Set_errhandler(const Errhandler &errhandler) {
  check(MPI_File_set_errhandler(handle, errhandler));
}

void File::Write_at_all(Offset offset, const void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_write_at_all(handle, offset, buf, count, datatype, &status.handle));
}

void File::Write_at_all(Offset offset, const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write_at_all(handle, offset, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Set_size(Offset size) {
  check(MPI_File_set_size(handle, size));
}

void File::Set_view(Offset disp, const Datatype &etype, Datatype filetype, const char *datarep, const Info &info) {
  check(MPI_File_set_view(handle, disp, etype, filetype, datarep, info));
}

void File::Read_at(Offset offset, void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_read_at(handle, offset, buf, count, datatype, &status.handle));
}

void File::Read_at(Offset offset, void *buf, int count, const Datatype &datatype) {
  check(MPI_File_read_at(handle, offset, buf, count, datatype, MPI_STATUS_IGNORE));
}

void File::Close() {
  check(MPI_File_close(&handle));
}

void File::Write_ordered_end(const void *buf, Status &status) {
  check(MPI_File_write_ordered_end(handle, buf, &status.handle));
}

void File::Write_ordered_end(const void *buf) {
  check(MPI_File_write_ordered_end(handle, buf, MPI_STATUS_IGNORE));
}

void File::Write(const void *buf, int count, const Datatype &datatype, Status &status) {
  check(MPI_File_write(handle, buf, count, datatype, &status.handle));
}

void File::Write(const void *buf, int count, const Datatype &datatype) {
  check(MPI_File_write(handle, buf, count, datatype, MPI_STATUS_IGNORE));
}

bool File::Get_atomicity() const {
  int result = 0;
  check(MPI_File_get_atomicity(handle, &result));
  return result != 0;
}

} // namespace MPI
