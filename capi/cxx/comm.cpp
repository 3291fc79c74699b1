/* Communicators of all kinds. */
#include "bindings.h"

namespace MPI {

/* The handles of an array of objects. */
static MPI_Datatype *handles(const Datatype *objects, MPI_Comm comm, bool remote) {
  int size = 0;
  if (remote)
    MPI_Comm_remote_size(comm, &size);
  else
    MPI_Comm_size(comm, &size);
  MPI_Datatype *handles = new MPI_Datatype[size + 1];
  for (int at = 0; at < size; at++)
    handles[at] = objects[at];
  return handles;
}

Group Comm::Get_group() const {
  MPI_Group result = MPI_GROUP_NULL;
  check(handle, MPI_Comm_group(handle, &result));
  return Group(result);
}

int Comm::Get_rank() const {
  int result = 0;
  check(handle, MPI_Comm_rank(handle, &result));
  return result;
}

Prequest Comm::Bsend_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Bsend_init(buf, count, datatype, dest, tag, handle, &result));
  return Prequest(result);
}

Prequest Comm::Ssend_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Ssend_init(buf, count, datatype, dest, tag, handle, &result));
  return Prequest(result);
}

bool Comm::Is_inter() const {
  int result = 0;
  check(handle, MPI_Comm_test_inter(handle, &result));
  return result != 0;
}

Prequest Comm::Rsend_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Rsend_init(buf, count, datatype, dest, tag, handle, &result));
  return Prequest(result);
}

Request Comm::Ibsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Ibsend(buf, count, datatype, dest, tag, handle, &result));
  return Request(result);
}

void Comm::Abort(int errorcode) const {
  check(handle, MPI_Abort(handle, errorcode));
}

void Comm::Free() {
  check(MPI_Comm_free(&handle));
}

Prequest Comm::Send_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Send_init(buf, count, datatype, dest, tag, handle, &result));
  return Prequest(result);
}

void Comm::Recv(void *buf, int count, const Datatype &datatype, int source, int tag, Status &status) const {
  check(handle, MPI_Recv(buf, count, datatype, source, tag, handle, &status.handle));
}

void Comm::Recv(void *buf, int count, const Datatype &datatype, int source, int tag) const {
  check(handle, MPI_Recv(buf, count, datatype, source, tag, handle, MPI_STATUS_IGNORE));
}

void Comm::Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest, int sendtag, void *recvbuf, int recvcount, const Datatype &recvtype, int source, int recvtag, Status &status) const {
  check(handle, MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, handle, &status.handle));
}

void Comm::Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest, int sendtag, void *recvbuf, int recvcount, const Datatype &recvtype, int source, int recvtag) const {
  check(handle, MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, handle, MPI_STATUS_IGNORE));
}

void Comm::Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest, int sendtag, int source, int recvtag, Status &status) const {
  check(handle, MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, handle, &status.handle));
}

void Comm::Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest, int sendtag, int source, int recvtag) const {
  check(handle, MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, handle, MPI_STATUS_IGNORE));
}

int Comm::Get_topology() const {
  int result = 0;
  check(handle, MPI_Topo_test(handle, &result));
  return result;
}

Request Comm::Isend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Isend(buf, count, datatype, dest, tag, handle, &result));
  return Request(result);
}

void Comm::Probe(int source, int tag, Status &status) const {
  check(handle, MPI_Probe(source, tag, handle, &status.handle));
}

void Comm::Probe(int source, int tag) const {
  check(handle, MPI_Probe(source, tag, handle, MPI_STATUS_IGNORE));
}

int Comm::Get_size() const {
  int result = 0;
  check(handle, MPI_Comm_size(handle, &result));
  return result;
}

Request Comm::Issend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Issend(buf, count, datatype, dest, tag, handle, &result));
  return Request(result);
}

void Comm::Set_errhandler(const Errhandler &errhandler) {
  check(handle, MPI_Comm_set_errhandler(handle, errhandler));
}

void Comm::Send(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  check(handle, MPI_Send(buf, count, datatype, dest, tag, handle));
}

Request Comm::Irsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Irsend(buf, count, datatype, dest, tag, handle, &result));
  return Request(result);
}

void Comm::Ssend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  check(handle, MPI_Ssend(buf, count, datatype, dest, tag, handle));
}

Prequest Comm::Recv_init(void *buf, int count, const Datatype &datatype, int source, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Recv_init(buf, count, datatype, source, tag, handle, &result));
  return Prequest(result);
}

bool Comm::Iprobe(int source, int tag, Status &status) const {
  int result = 0;
  check(handle, MPI_Iprobe(source, tag, handle, &result, &status.handle));
  return result != 0;
}

bool Comm::Iprobe(int source, int tag) const {
  int result = 0;
  check(handle, MPI_Iprobe(source, tag, handle, &result, MPI_STATUS_IGNORE));
  return result != 0;
}

void Comm::Bsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  check(handle, MPI_Bsend(buf, count, datatype, dest, tag, handle));
}

Request Comm::Irecv(void *buf, int count, const Datatype &datatype, int source, int tag) const {
  MPI_Request result = MPI_REQUEST_NULL;
  check(handle, MPI_Irecv(buf, count, datatype, source, tag, handle, &result));
  return Request(result);
}

Errhandler Comm::Get_errhandler() const {
  MPI_Errhandler result = MPI_ERRHANDLER_NULL;
  check(handle, MPI_Comm_get_errhandler(handle, &result));
  return Errhandler(result);
}

void Comm::Rsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const {
  check(handle, MPI_Rsend(buf, count, datatype, dest, tag, handle));
}

void Comm::Gatherv(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, const int *recvcounts, const int *displs, const Datatype &recvtype, int root) const {
  check(handle, MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, handle));
}

void Comm::Disconnect() {
  check(MPI_Comm_disconnect(&handle));
}

void Comm::Allreduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op) const {
  check(handle, MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, handle));
}

void Comm::Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const Datatype *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const Datatype *recvtypes) const {
  int inter = 0;
  MPI_Comm_test_inter(handle, &inter);
  MPI_Datatype *from = handles(sendtypes, handle, inter), *to = handles(recvtypes, handle, inter);
  int code = MPI_Alltoallw(sendbuf, sendcounts, sdispls, from, recvbuf, recvcounts, rdispls, to, handle);
  delete[] from;
  delete[] to;
  check(handle, code);
}

void Comm::Alltoall(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount, const Datatype &recvtype) const {
  check(handle, MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, handle));
}

bool Comm::Get_attr(int comm_keyval, void *attribute_val) const {
  int result = 0;
  check(handle, MPI_Comm_get_attr(handle, comm_keyval, attribute_val, &result));
  return result != 0;
}

void Comm::Barrier() const {
  check(handle, MPI_Barrier(handle));
}

void Comm::Bcast(void *buffer, int count, const Datatype &datatype, int root) const {
  check(handle, MPI_Bcast(buffer, count, datatype, root, handle));
}

void Comm::Set_attr(int comm_keyval, const void *attribute_val) {
  check(handle, MPI_Comm_set_attr(handle, comm_keyval, const_cast<void *>(attribute_val)));
}

void Comm::Set_name(const char *comm_name) {
  check(handle, MPI_Comm_set_name(handle, comm_name));
}

void Comm::Alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, const Datatype &sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, const Datatype &recvtype) const {
  check(handle, MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, handle));
}

void Comm::Reduce_scatter(const void *sendbuf, void *recvbuf, const int *recvcounts, const Datatype &datatype, const Op &op) const {
  check(handle, MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, handle));
}

void Comm::Scatter(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount, const Datatype &recvtype, int root) const {
  check(handle, MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, handle));
}

void Comm::Gather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount, const Datatype &recvtype, int root) const {
  check(handle, MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, handle));
}

void Comm::Reduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op, int root) const {
  check(handle, MPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, handle));
}

void Comm::Allgather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount, const Datatype &recvtype) const {
  check(handle, MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, handle));
}

void Comm::Delete_attr(int comm_keyval) {
  check(handle, MPI_Comm_delete_attr(handle, comm_keyval));
}

void Comm::Scatterv(const void *sendbuf, const int *sendcounts, const int *displs, const Datatype &sendtype, void *recvbuf, int recvcount, const Datatype &recvtype, int root) const {
  check(handle, MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, handle));
}

void Comm::Get_name(char *comm_name, int &resultlen) const {
  check(handle, MPI_Comm_get_name(handle, comm_name, &resultlen));
}

void Comm::Allgatherv(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, const int *recvcounts, const int *displs, const Datatype &recvtype) const {
  check(handle, MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, handle));
}

void Comm::Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, const Datatype &datatype, const Op &op) const {
  check(handle, MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, handle));
}

Nullcomm &Nullcomm::Clone() const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_dup(handle, &result));
  return *new Nullcomm(result);
}

Intercomm &Intercomm::Clone() const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_dup(handle, &result));
  return *new Intercomm(result);
}

Intracomm Intercomm::Merge(bool high) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Intercomm_merge(handle, high, &result));
  return Intracomm(result);
}

Group Intercomm::Get_remote_group() const {
  MPI_Group result = MPI_GROUP_NULL;
  check(handle, MPI_Comm_remote_group(handle, &result));
  return Group(result);
}

int Intercomm::Get_remote_size() const {
  int result = 0;
  check(handle, MPI_Comm_remote_size(handle, &result));
  return result;
}

Intercomm Intercomm::Split(int color, int key) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_split(handle, color, key, &result));
  return Intercomm(result);
}

Intracomm &Intracomm::Clone() const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_dup(handle, &result));
  return *new Intracomm(result);
}

Intercomm Intracomm::Create_intercomm(int local_leader, const Comm &peer_comm, int remote_leader, int tag) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Intercomm_create(handle, local_leader, peer_comm, remote_leader, tag, &result));
  return Intercomm(result);
}

Intracomm Intracomm::Split(int color, int key) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_split(handle, color, key, &result));
  return Intracomm(result);
}

Graphcomm Intracomm::Create_graph(int nnodes, const int *indx, const int *edges, bool reorder) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Graph_create(handle, nnodes, indx, edges, reorder, &result));
  return Graphcomm(result);
}

Cartcomm Intracomm::Create_cart(int ndims, const int *dims, const bool *periods, bool reorder) const {
  Ints periodic(periods, ndims);
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Cart_create(handle, ndims, dims, periodic, reorder, &result));
  return Cartcomm(result);
}

Intracomm Intracomm::Create(const Group &group) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_create(handle, group, &result));
  return Intracomm(result);
}

void Intracomm::Scan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op) const {
  check(handle, MPI_Scan(sendbuf, recvbuf, count, datatype, op, handle));
}

void Intracomm::Exscan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op) const {
  check(handle, MPI_Exscan(sendbuf, recvbuf, count, datatype, op, handle));
}

Intercomm Intracomm::Accept(const char *port_name, const Info &info, int root) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_accept(port_name, info, root, handle, &result));
  return Intercomm(result);
}

Intercomm Intracomm::Connect(const char *port_name, const Info &info, int root) const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_connect(port_name, info, root, handle, &result));
  return Intercomm(result);
}

Cartcomm &Cartcomm::Clone() const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_dup(handle, &result));
  return *new Cartcomm(result);
}

void Cartcomm::Get_coords(int rank, int maxdims, int *coords) const {
  check(handle, MPI_Cart_coords(handle, rank, maxdims, coords));
}

int Cartcomm::Get_cart_rank(const int *coords) const {
  int result = 0;
  check(handle, MPI_Cart_rank(handle, coords, &result));
  return result;
}

int Cartcomm::Get_dim() const {
  int result = 0;
  check(handle, MPI_Cartdim_get(handle, &result));
  return result;
}

void Cartcomm::Get_topo(int maxdims, int *dims, bool *periods, int *coords) const {
  Ints periodic(maxdims);
  check(handle, MPI_Cart_get(handle, maxdims, dims, periodic, coords));
  periodic.give(periods);
}

int Cartcomm::Map(int ndims, const int *dims, const bool *periods) const {
  Ints periodic(periods, ndims);
  int result = MPI_UNDEFINED;
  check(handle, MPI_Cart_map(handle, ndims, dims, periodic, &result));
  return result;
}

Cartcomm Cartcomm::Sub(const bool *remain_dims) const {
  int dimensions = 0;
  check(handle, MPI_Cartdim_get(handle, &dimensions));
  Ints remain(remain_dims, dimensions);
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Cart_sub(handle, remain, &result));
  return Cartcomm(result);
}

void Cartcomm::Shift(int direction, int disp, int &rank_source, int &rank_dest) const {
  check(handle, MPI_Cart_shift(handle, direction, disp, &rank_source, &rank_dest));
}

Graphcomm &Graphcomm::Clone() const {
  MPI_Comm result = MPI_COMM_NULL;
  check(handle, MPI_Comm_dup(handle, &result));
  return *new Graphcomm(result);
}

void Graphcomm::Get_dims(int *nnodes, int *nedges) const {
  check(handle, MPI_Graphdims_get(handle, nnodes, nedges));
}

void Graphcomm::Get_topo(int maxindex, int maxedges, int *indx, int *edges) const {
  check(handle, MPI_Graph_get(handle, maxindex, maxedges, indx, edges));
}

int Graphcomm::Map(int nnodes, const int *indx, const int *edges) const {
  int result = 0;
  check(handle, MPI_Graph_map(handle, nnodes, indx, edges, &result));
  return result;
}

void Graphcomm::Get_neighbors(int rank, int maxneighbors, int *neighbors) const {
  check(handle, MPI_Graph_neighbors(handle, rank, maxneighbors, neighbors));
}

int Graphcomm::Get_neighbors_count(int rank) const {
  int result = 0;
  check(handle, MPI_Graph_neighbors_count(handle, rank, &result));
  return result;
}

} // namespace MPI
