/* Wrong arguments of the functions of the environment. */
#include "wrong.h"

int main(int argc, char **argv)
{
    void *memory;
    int value;
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG, "size", "-1");
    ERROR(MPI_Alloc_mem(10, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "baseptr", NULL);
    if (!reference) {
        ERROR(MPI_Alloc_mem(10, (MPI_Info) MPI_INT, &memory), MPI_ERR_INFO, "info", NULL);
        ERROR(MPI_Alloc_mem((MPI_Aint) 1 << 62, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM, "size", "4611686018427387904");
    }
    ERROR(MPI_Get_version(NULL, &value), MPI_ERR_ARG, "version", NULL);
    ERROR(MPI_Get_version(&value, NULL), MPI_ERR_ARG, "subversion", NULL);
    ERROR(MPI_Get_library_version(NULL, &value), MPI_ERR_ARG, "version", NULL);
    ERROR(MPI_Get_library_version(name, NULL), MPI_ERR_ARG, "resultlen", NULL);
    ERROR(MPI_Get_processor_name(NULL, &value), MPI_ERR_ARG, "name", NULL);
    ERROR(MPI_Get_processor_name(name, NULL), MPI_ERR_ARG, "resultlen", NULL);
    ERROR(MPI_Initialized(NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Finalized(NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Query_thread(NULL), MPI_ERR_ARG, "provided", NULL);
    ERROR(MPI_Is_thread_main(NULL), MPI_ERR_ARG, "flag", NULL);
    return finish();
}
