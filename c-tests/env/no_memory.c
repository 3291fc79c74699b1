/* Calls that need memory in proportion to an argument, of a process that gets no more: MPI_ERR_NO_MEM, and the same call goes well when there
 * is some again. */
#include "../common/little_memory.h"

enum { COUNT = 1 << 18, BYTES = 1 << 20 };

#define TWICE(call) do { NO_MEMORY(call); MPI(call); } while (0)

int main(int argc, char **argv)
{
    int *lengths, *places, flag = 0;
    unsigned char *memory, *packed, *attached;
    MPI_Aint *addresses;
    MPI_Datatype type, holes, *types;
    MPI_Comm comm;
    MPI_Request *requests;
    MPI_Status *statuses;
    start(&argc, &argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    lengths = malloc(COUNT * sizeof *lengths);
    places = malloc(COUNT * sizeof *places);
    addresses = malloc(COUNT * sizeof *addresses);
    types = malloc(COUNT * sizeof *types);
    requests = malloc(COUNT * sizeof *requests);
    statuses = malloc(COUNT * sizeof *statuses);
    memory = calloc(4, BYTES);
    packed = calloc(2, BYTES);
    attached = malloc(3 * BYTES);
    for (int i = 0; i < COUNT; i++) {
        lengths[i] = 1 + i % 3;
        places[i] = 4 * i + i % 2;
        addresses[i] = 40 * i + 8 * (i % 2);
        types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
        requests[i] = MPI_REQUEST_NULL;
    }
    /* Datatypes of many blocks. */
    TWICE(MPI_Type_indexed(COUNT, lengths, places, MPI_INT, &type));
    MPI(MPI_Type_free(&type));
    TWICE(MPI_Type_create_hindexed(COUNT, lengths, addresses, MPI_INT, &type));
    MPI(MPI_Type_free(&type));
    TWICE(MPI_Type_create_indexed_block(COUNT, 2, places, MPI_INT, &type));
    MPI(MPI_Type_free(&type));
    TWICE(MPI_Type_create_struct(COUNT, lengths, addresses, types, &type));
    MPI(MPI_Type_free(&type));
    /* Many neighbors. */
    for (int i = 0; i < COUNT; i++)
        places[i] = 0;
    TWICE(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, COUNT, places, MPI_UNWEIGHTED, 0, places, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    MPI(MPI_Comm_free(&comm));
    /* Many requests in one call. */
    TWICE(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
    CHECK(flag);
    /* Copies of data. */
    MPI(MPI_Type_vector(BYTES / 16, 16, 32, MPI_BYTE, &holes));
    MPI(MPI_Type_commit(&holes));
    MPI(MPI_Buffer_attach(attached, 3 * BYTES));
    MPI(MPI_Bsend(memory, 1, holes, rank, 2, MPI_COMM_WORLD));
    MPI(MPI_Recv(packed, BYTES, MPI_BYTE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Buffer_detach(&attached, &flag));
    NO_MEMORY(MPI_Send(memory, BYTES, MPI_BYTE, rank, 3, MPI_COMM_WORLD));
    MPI(MPI_Type_free(&holes));
    free(lengths);
    free(places);
    free(addresses);
    free(types);
    free(requests);
    free(statuses);
    free(memory);
    free(packed);
    free(attached);
    return finish();
}
