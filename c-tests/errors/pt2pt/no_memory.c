/* More data than there is memory for a copy of: an error, and the process lives on. Nothing is there at these addresses. */
#include "wrong.h"

int main(int argc, char **argv)
{
    static const MPI_Count most = 1ll << 46;
    char *far = (char *) 4096;
    MPI_Request request;
    MPI_Comm self;
    int value = 7, in = 0;
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &self));
    MPI(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    ERROR(MPI_Send_c(far, most, MPI_BYTE, 0, 1, self), MPI_ERR_NO_MEM, "copy of 70368744177664 bytes", NULL);
    ERROR(MPI_Sendrecv_replace_c(far, most, MPI_BYTE, 0, 1, 0, 1, self, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM, "copy of", NULL);
    ERROR(MPI_Send_c(far, INT64_MAX / 8, MPI_DOUBLE, 0, 1, self), MPI_ERR_NO_MEM, "copy of", NULL);
    MPI(MPI_Issend_c(far, most, MPI_BYTE, 0, 1, self, &request));
    ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM, "copy of", NULL);
    MPI(MPI_Comm_attach_buffer(self, MPI_BUFFER_AUTOMATIC, 0));
    ERROR(MPI_Bsend_c(far, most, MPI_BYTE, 0, 1, self), MPI_ERR_NO_MEM, "copy of", NULL);
    MPI(MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE));
    CHECK_INT(in, value);
    MPI(MPI_Comm_free(&self));
    return finish();
}
