/* Types that were not committed, or are none any more, in everything that takes a buffer; and packing with wrong arguments. */
#include "wrong.h"

static void uses_of(MPI_Datatype wrong)
{
    int out[8] = {0}, in[8], position = 0;
    MPI_Aint place = 0;
    char packed[64];
    MPI_Status status;
    MPI_Request request;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    ERROR(MPI_Send(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Ssend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Bsend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Rsend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Recv(in, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &status), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Isend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Issend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Ibsend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Irsend(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Irecv(in, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Send_init(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Ssend_init(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Bsend_init(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Rsend_init(out, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Recv_init(in, 1, wrong, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Sendrecv(out, 1, wrong, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Sendrecv(out, 1, MPI_INT, 0, 0, in, 1, wrong, 0, 0, MPI_COMM_SELF, &status), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Sendrecv_replace(out, 1, wrong, 0, 0, 0, 0, MPI_COMM_SELF, &status), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Mrecv(in, 1, wrong, &message, &status), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Imrecv(in, 1, wrong, &message, &request), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Bcast(out, 1, wrong, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Gather(out, 1, wrong, in, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Gather(out, 1, MPI_INT, in, 1, wrong, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "recvtype", NULL);
    ERROR(MPI_Allgather(out, 1, wrong, in, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", NULL);
    ERROR(MPI_Pack(out, 1, wrong, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Unpack(packed, 64, &position, in, 1, wrong, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Pack_external("external32", out, 1, wrong, packed, 64, &place), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Unpack_external("external32", packed, 64, &place, in, 1, wrong), MPI_ERR_TYPE, "datatype", NULL);
    CHECK_INT(position, 0);
    CHECK_INT(place, 0);
}

int main(int argc, char **argv)
{
    MPI_Datatype type, freed;
    MPI_Status status;
    MPI_Request request;
    int out[8] = {0}, in[8] = {0}, position = 0, bytes;
    MPI_Aint place = 0, large;
    char packed[64];
    start(&argc, &argv);
    return_errors();
    uses_of(MPI_DATATYPE_NULL);
    uses_of((MPI_Datatype) MPI_COMM_WORLD);
    MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    uses_of(type);
    freed = type;
    MPI(MPI_Type_commit(&type));
    CHECK(type == freed);
    MPI(MPI_Type_commit(&type)); /* again: nothing happens */
    MPI(MPI_Sendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, MPI_COMM_SELF, &status));
    MPI(MPI_Isend(out, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

    ERROR(MPI_Pack(out, -1, type, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Unpack(packed, 64, &position, in, -1, type, MPI_COMM_SELF), MPI_ERR_COUNT, "outcount", "-1");
    ERROR(MPI_Pack_size(-1, type, MPI_COMM_SELF, &bytes), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_SELF, &bytes), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Pack_size(1, type, MPI_COMM_NULL, &bytes), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Pack(out, 1, type, packed, 64, &position, MPI_COMM_NULL), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Pack(out, 1, type, packed, 64, NULL, MPI_COMM_SELF), MPI_ERR_ARG, "position", NULL);
    ERROR(MPI_Pack_size(1, type, MPI_COMM_SELF, NULL), MPI_ERR_ARG, "size", NULL);
    ERROR(MPI_Pack_external("external32", out, -1, type, packed, 64, &place), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Pack_external("external32", out, 1, type, packed, 64, NULL), MPI_ERR_ARG, "position", NULL);
    ERROR(MPI_Pack_external_size("external32", -1, type, &large), MPI_ERR_COUNT, "incount", "-1");
    ERROR(MPI_Pack_external_size("external32", 1, MPI_DATATYPE_NULL, &large), MPI_ERR_TYPE, "datatype", NULL);
    if (!reference) { /* which takes any name, writes beyond ends, and crashes on NULL */
        ERROR(MPI_Pack(out, 1, type, packed, 7, &position, MPI_COMM_SELF), MPI_ERR_ARG, "outsize", "7");
        ERROR(MPI_Unpack(packed, 7, &position, in, 1, type, MPI_COMM_SELF), MPI_ERR_ARG, "insize", "7");
        ERROR(MPI_Pack_external("native", out, 1, type, packed, 64, &place), MPI_ERR_ARG, "datarep", "native");
        ERROR(MPI_Pack_external(NULL, out, 1, type, packed, 64, &place), MPI_ERR_ARG, "datarep", NULL);
        ERROR(MPI_Unpack_external("internal", packed, 64, &place, in, 1, type), MPI_ERR_ARG, "datarep", "internal");
        ERROR(MPI_Pack_external_size("x", 1, type, &large), MPI_ERR_ARG, "datarep", "x");
        ERROR(MPI_Pack_external_size("external32", 1, type, NULL), MPI_ERR_ARG, "size", NULL);
        ERROR(MPI_Pack_external("external32", out, 1, type, packed, 7, &place), MPI_ERR_ARG, "outsize", "7");
        ERROR(MPI_Unpack_external("external32", packed, 7, &place, in, 1, type), MPI_ERR_ARG, "insize", "7");
        ERROR(MPI_Unpack_external("external32", NULL, 64, &place, in, 1, type), MPI_ERR_BUFFER, "inbuf", NULL);
        position = -1;
        ERROR(MPI_Pack(out, 1, type, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_ARG, "position", "-1");
        place = 60;
        ERROR(MPI_Pack_external("external32", out, 1, type, packed, 64, &place), MPI_ERR_ARG, "position", "60");
        ERROR(MPI_Send(NULL, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_BUFFER, "buf", NULL);
    }

    /* predefined operations are not for derived types */
    ERROR(MPI_Allreduce(out, in, 1, type, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP, "MPI_SUM", NULL);
    if (!reference)
        ERROR(MPI_Reduce_local(out, in, 1, type, MPI_MAX), MPI_ERR_OP, "MPI_MAX", NULL);
    MPI(MPI_Type_free(&type));
    if (!reference)
        uses_of(freed);
    return finish();
}
