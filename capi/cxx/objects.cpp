/* Datatypes, operations, groups, requests, windows and the smaller objects. */
#include "bindings.h"

namespace MPI {

void Errhandler::Free() {
  check(MPI_Errhandler_free(&handle));
}

void Info::Delete(const char *key) {
  check(MPI_Info_delete(handle, key));
}

void Info::Get_nthkey(int n, char *key) const {
  check(MPI_Info_get_nthkey(handle, n, key));
}

void Info::Free() {
  check(MPI_Info_free(&handle));
}

void Info::Set(const char *key, const char *value) {
  check(MPI_Info_set(handle, key, value));
}

bool Info::Get_valuelen(const char *key, int &valuelen) const {
  int result = 0;
  check(MPI_Info_get_valuelen(handle, key, &valuelen, &result));
  return result != 0;
}

bool Info::Get(const char *key, int valuelen, char *value) const {
  int result = 0;
  check(MPI_Info_get(handle, key, valuelen, value, &result));
  return result != 0;
}

int Info::Get_nkeys() const {
  int result = 0;
  check(MPI_Info_get_nkeys(handle, &result));
  return result;
}

Group Group::Excl(int n, const int *ranks) const {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Group_excl(handle, n, ranks, &result));
  return Group(result);
}

int Group::Get_rank() const {
  int result = 0;
  check(MPI_Group_rank(handle, &result));
  return result;
}

void Group::Free() {
  check(MPI_Group_free(&handle));
}

Group Group::Range_excl(int n, const int (*ranges) [3]) const {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Group_range_excl(handle, n, const_cast<int (*)[3]>(ranges), &result));
  return Group(result);
}

Group Group::Range_incl(int n, const int (*ranges) [3]) const {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Group_range_incl(handle, n, const_cast<int (*)[3]>(ranges), &result));
  return Group(result);
}

Group Group::Incl(int n, const int *ranks) const {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Group_incl(handle, n, ranks, &result));
  return Group(result);
}

int Group::Get_size() const {
  int result = 0;
  check(MPI_Group_size(handle, &result));
  return result;
}

void Datatype::Commit() {
  check(MPI_Type_commit(&handle));
}

void Datatype::Free() {
  check(MPI_Type_free(&handle));
}

Datatype Datatype::Create_indexed(int count, const int *array_of_blocklengths, const int *array_of_displacements) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_indexed(count, array_of_blocklengths, array_of_displacements, handle, &result));
  return Datatype(result);
}

Datatype Datatype::Create_contiguous(int count) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(count, handle, &result));
  return Datatype(result);
}

Datatype Datatype::Create_vector(int count, int blocklength, int stride) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(count, blocklength, stride, handle, &result));
  return Datatype(result);
}

int Datatype::Pack_size(int incount, const Comm &comm) const {
  int result = 0;
  check(MPI_Pack_size(incount, handle, comm, &result));
  return result;
}

void Datatype::Pack(const void *inbuf, int incount, void *outbuf, int outsize, int &position, const Comm &comm) const {
  check(MPI_Pack(inbuf, incount, handle, outbuf, outsize, &position, comm));
}

void Datatype::Unpack(const void *inbuf, int insize, void *outbuf, int outcount, int &position,
                      const Comm &comm) const {
  check(MPI_Unpack(inbuf, insize, &position, outbuf, outcount, handle, comm));
}

int Datatype::Get_size() const {
  int result = 0;
  check(MPI_Type_size(handle, &result));
  return result;
}

void Datatype::Get_envelope(int &num_integers, int &num_addresses, int &num_datatypes, int &combiner) const {
  check(MPI_Type_get_envelope(handle, &num_integers, &num_addresses, &num_datatypes, &combiner));
}

Datatype Datatype::Create_hvector(int count, int blocklength, Aint stride) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hvector(count, blocklength, stride, handle, &result));
  return Datatype(result);
}

Datatype Datatype::Create_resized(Aint lb, Aint extent) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_create_resized(handle, lb, extent, &result));
  return Datatype(result);
}

Datatype Datatype::Create_indexed_block(int count, int blocklength, const int *array_of_displacements) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_create_indexed_block(count, blocklength, array_of_displacements, handle, &result));
  return Datatype(result);
}

Aint Datatype::Pack_external_size(const char *datarep, int incount) const {
  MPI_Aint result = 0;
  check(MPI_Pack_external_size(datarep, incount, handle, &result));
  return result;
}

Datatype Datatype::Create_hindexed(int count, const int *array_of_blocklengths, const Aint *array_of_displacements) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, handle, &result));
  return Datatype(result);
}

bool Datatype::Get_attr(int type_keyval, void *attribute_val) const {
  int result = 0;
  check(MPI_Type_get_attr(handle, type_keyval, attribute_val, &result));
  return result != 0;
}

void Datatype::Get_true_extent(Aint &true_lb, Aint &true_extent) const {
  check(MPI_Type_get_true_extent(handle, &true_lb, &true_extent));
}

Datatype Datatype::Create_darray(int size, int rank, int ndims, const int *array_of_gsizes, const int *array_of_distribs, const int *array_of_dargs, const int *array_of_psizes, int order) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_create_darray(size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, handle, &result));
  return Datatype(result);
}

void Datatype::Get_contents(int max_integers, int max_addresses, int max_datatypes, int *integers, Aint *addresses, Datatype *datatypes) const {
  int integer_count = 0, address_count = 0, datatype_count = 0, combiner = 0;
  MPI_Type_get_envelope(handle, &integer_count, &address_count, &datatype_count, &combiner);
  MPI_Datatype *types = new MPI_Datatype[max_datatypes > 0 ? max_datatypes : 1];
  int code = MPI_Type_get_contents(handle, max_integers, max_addresses, max_datatypes, integers, addresses,
                                   types);
  for (int at = 0; code == MPI_SUCCESS && at < datatype_count; at++)
    datatypes[at] = types[at];
  delete[] types;
  check(code);
}

void Datatype::Set_attr(int type_keyval, const void *attribute_val) {
  check(MPI_Type_set_attr(handle, type_keyval, const_cast<void *>(attribute_val)));
}

void Datatype::Set_name(const char *type_name) {
  check(MPI_Type_set_name(handle, type_name));
}

Datatype Datatype::Create_subarray(int ndims, const int *array_of_sizes, const int *array_of_subsizes, const int *array_of_starts, int order) const {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  check(MPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, handle, &result));
  return Datatype(result);
}

void Datatype::Unpack_external(const char *datarep, const void *inbuf, Aint insize, Aint &position, void *outbuf, int outcount) const {
  check(MPI_Unpack_external(datarep, inbuf, insize, &position, outbuf, outcount, handle));
}

void Datatype::Pack_external(const char *datarep, const void *inbuf, int incount, void *outbuf, Aint outsize, Aint &position) const {
  check(MPI_Pack_external(datarep, inbuf, incount, handle, outbuf, outsize, &position));
}

void Datatype::Get_extent(Aint &lb, Aint &extent) const {
  check(MPI_Type_get_extent(handle, &lb, &extent));
}

void Datatype::Delete_attr(int type_keyval) {
  check(MPI_Type_delete_attr(handle, type_keyval));
}

void Datatype::Get_name(char *type_name, int &resultlen) const {
  check(MPI_Type_get_name(handle, type_name, &resultlen));
}

bool Status::Is_cancelled() const {
  int result = 0;
  check(MPI_Test_cancelled(&handle, &result));
  return result != 0;
}

int Status::Get_elements(const Datatype &datatype) const {
  int result = 0;
  check(MPI_Get_elements(&handle, datatype, &result));
  return result;
}

int Status::Get_count(const Datatype &datatype) const {
  int result = 0;
  check(MPI_Get_count(&handle, datatype, &result));
  return result;
}

void Status::Set_cancelled(bool flag) {
  check(MPI_Status_set_cancelled(&handle, flag));
}

void Status::Set_elements(const Datatype &datatype, int count) {
  check(MPI_Status_set_elements(&handle, datatype, count));
}

void Op::Free() {
  check(MPI_Op_free(&handle));
}

bool Op::Is_commutative() const {
  int result = 0;
  check(MPI_Op_commutative(handle, &result));
  return result != 0;
}

void Op::Reduce_local(const void *inbuf, void *inoutbuf, int count, const Datatype &datatype) const {
  check(MPI_Reduce_local(inbuf, inoutbuf, count, datatype, handle));
}

Group Win::Get_group() const {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Win_get_group(handle, &result));
  return Group(result);
}

void Win::Fence(int assert) const {
  check(MPI_Win_fence(assert, handle));
}

void Win::Start(const Group &group, int assert) const {
  check(MPI_Win_start(group, assert, handle));
}

void Win::Free() {
  check(MPI_Win_free(&handle));
}

void Win::Put(const void *origin_addr, int origin_count, const Datatype &origin_datatype, int target_rank, Aint target_disp, int target_count, const Datatype &target_datatype) const {
  check(MPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, handle));
}

void Win::Wait() const {
  check(MPI_Win_wait(handle));
}

bool Win::Test() const {
  int result = 0;
  check(MPI_Win_test(handle, &result));
  return result != 0;
}

void Win::Get(void *origin_addr, int origin_count, const Datatype &origin_datatype, int target_rank, Aint target_disp, int target_count, const Datatype &target_datatype) const {
  check(MPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, handle));
}

bool Win::Get_attr(int win_keyval, void *attribute_val) const {
  int result = 0;
  check(MPI_Win_get_attr(handle, win_keyval, attribute_val, &result));
  return result != 0;
}

void Win::Set_attr(int win_keyval, const void *attribute_val) {
  check(MPI_Win_set_attr(handle, win_keyval, const_cast<void *>(attribute_val)));
}

void Win::Complete() const {
  check(MPI_Win_complete(handle));
}

void Win::Set_errhandler(const Errhandler &errhandler) {
  check(MPI_Win_set_errhandler(handle, errhandler));
}

void Win::Set_name(const char *win_name) {
  check(MPI_Win_set_name(handle, win_name));
}

void Win::Accumulate(const void *origin_addr, int origin_count, const Datatype &origin_datatype, int target_rank, Aint target_disp, int target_count, const Datatype &target_datatype, const Op &op) const {
  check(MPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, handle));
}

void Win::Post(const Group &group, int assert) const {
  check(MPI_Win_post(group, assert, handle));
}

void Win::Unlock(int rank) const {
  check(MPI_Win_unlock(rank, handle));
}

void Win::Delete_attr(int win_keyval) {
  check(MPI_Win_delete_attr(handle, win_keyval));
}

void Win::Lock(int lock_type, int rank, int assert) const {
  check(MPI_Win_lock(lock_type, rank, assert, handle));
}

Errhandler Win::Get_errhandler() const {
  MPI_Errhandler result = MPI_ERRHANDLER_NULL;
  check(MPI_Win_get_errhandler(handle, &result));
  return Errhandler(result);
}

void Win::Get_name(char *win_name, int &resultlen) const {
  check(MPI_Win_get_name(handle, win_name, &resultlen));
}

void Request::Free() {
  check(MPI_Request_free(&handle));
}

void Request::Wait(Status &status) {
  check(MPI_Wait(&handle, &status.handle));
}

void Request::Wait() {
  check(MPI_Wait(&handle, MPI_STATUS_IGNORE));
}

bool Request::Test(Status &status) {
  int result = 0;
  check(MPI_Test(&handle, &result, &status.handle));
  return result != 0;
}

bool Request::Test() {
  int result = 0;
  check(MPI_Test(&handle, &result, MPI_STATUS_IGNORE));
  return result != 0;
}

void Request::Cancel() const {
  check(MPI_Cancel(const_cast<MPI_Request *>(&handle)));
}

bool Request::Get_status(Status &status) const {
  int result = 0;
  check(MPI_Request_get_status(handle, &result, &status.handle));
  return result != 0;
}

bool Request::Get_status() const {
  int result = 0;
  check(MPI_Request_get_status(handle, &result, MPI_STATUS_IGNORE));
  return result != 0;
}

void Prequest::Start() {
  check(MPI_Start(&handle));
}

void Grequest::Complete() {
  check(MPI_Grequest_complete(handle));
}

} // namespace MPI
