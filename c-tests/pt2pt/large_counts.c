/* The _c functions with ordinary sizes: each gives what its plain twin gives. */
#include "check.h"

int main(int argc, char **argv)
{
    static int out[1000], in[1000];
    MPI_Status status;
    MPI_Count count = 1000, bytes;
    MPI_Request r[2];
    MPI_Message message;
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, tag = 0;
    MPI_Count room = 40 * (4000 + MPI_BSEND_OVERHEAD);
    void *space = malloc(room), *detached = NULL;
    MPI(MPI_Buffer_attach_c(space, room));
    typedef int isend(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    isend *const immediate[] = {MPI_Isend_c, MPI_Ibsend_c, MPI_Issend_c, MPI_Irsend_c};
    isend *const persistent[] = {MPI_Send_init_c, MPI_Bsend_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c};
    int (*const blocking[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send_c, MPI_Bsend_c, MPI_Ssend_c, MPI_Rsend_c};
    for (int form = 0; form < 3; form++)
        for (int mode = 0; mode < 4; mode++, tag++) {
            for (int i = 0; i < 1000; i++)
                out[i] = rank * 5000 + i + tag, in[i] = -1;
            if (form == 1) {
                MPI(MPI_Recv_init_c(in, count, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
                MPI(MPI_Start(&r[0]));
            } else {
                MPI(MPI_Irecv_c(in, count, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
            }
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (form == 0) {
                MPI(blocking[mode](out, count, MPI_INT, to, tag, MPI_COMM_WORLD));
            } else {
                MPI((form == 1 ? immediate : persistent)[mode](out, count, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]));
                if (form == 2)
                    MPI(MPI_Start(&r[1]));
                MPI(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
                if (form == 2)
                    MPI(MPI_Request_free(&r[1]));
            }
            MPI(MPI_Wait(&r[0], &status));
            if (form == 1)
                MPI(MPI_Request_free(&r[0]));
            CHECK_STATUS(status, from, tag, 4000);
            bytes = -1;
            MPI(MPI_Get_count_c(&status, MPI_INT, &bytes));
            CHECK_INT(bytes, 1000);
            bytes = -1;
            MPI(MPI_Get_elements_c(&status, MPI_INT, &bytes));
            CHECK_INT(bytes, 1000);
            for (int i = 0; i < 1000; i++)
                CHECK_INT(in[i], from * 5000 + i + tag);
        }
    MPI(MPI_Sendrecv_c(out, count, MPI_INT, to, 50, in, count, MPI_INT, from, 50, MPI_COMM_WORLD, &status));
    CHECK_STATUS(status, from, 50, 4000);
    MPI(MPI_Sendrecv_replace_c(in, count, MPI_INT, to, 51, from, 51, MPI_COMM_WORLD, &status));
    CHECK_STATUS(status, from, 51, 4000);
    CHECK_INT(in[999], ((rank + 2 * size - 2) % size) * 5000 + 999 + tag - 1);
    MPI(MPI_Isendrecv_c(out, count, MPI_INT, to, 52, in, count, MPI_INT, from, 52, MPI_COMM_WORLD, &r[0]));
    MPI(MPI_Wait(&r[0], &status));
    if (!reference) /* MPICH leaves the status of the receive out */
        CHECK_STATUS(status, from, 52, 4000);
    CHECK_INT(in[999], from * 5000 + 999 + tag - 1);
    MPI(MPI_Isendrecv_replace_c(in, count, MPI_INT, to, 53, from, 53, MPI_COMM_WORLD, &r[0]));
    MPI(MPI_Wait(&r[0], &status));
    if (!reference) /* MPICH leaves the status of the receive out */
        CHECK_STATUS(status, from, 53, 4000);

    for (int i = 0; i < 2; i++) {
        MPI(MPI_Isend_c(out, count, MPI_INT, to, 54, MPI_COMM_WORLD, &r[0]));
        MPI(MPI_Mprobe(from, 54, MPI_COMM_WORLD, &message, &status));
        if (i == 0) {
            MPI(MPI_Mrecv_c(in, count, MPI_INT, &message, &status));
        } else {
            MPI(MPI_Imrecv_c(in, count, MPI_INT, &message, &r[1]));
            MPI(MPI_Wait(&r[1], &status));
        }
        MPI(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        CHECK_STATUS(status, from, 54, 4000);
    }
    MPI(MPI_Isend_c(out, count, MPI_INT, to, 55, MPI_COMM_WORLD, &r[0]));
    MPI(MPI_Recv_c(in, count, MPI_INT, from, 55, MPI_COMM_WORLD, &status));
    MPI(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    CHECK_STATUS(status, from, 55, 4000);
    MPI(MPI_Buffer_detach_c(&detached, &bytes));
    CHECK(detached == space);
    CHECK_INT(bytes, room);
    free(space);
    return finish();
}
