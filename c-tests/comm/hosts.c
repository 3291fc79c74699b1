/* A job of two hosts: how many ranks each has (MPI_Comm_split_type), messages and collective operations across, and what needs common
 * memory: shared windows are errors on all ranks across, other windows and files work within a host. Arguments: the hosts' ranks.
 */
#include "../common/check.h"

static int open_file(MPI_Comm comm, MPI_File *file)
{
    const char *folder = getenv("TMPDIR");
    char path[4000];
    int first = (int) getpid();
    MPI(MPI_Bcast(&first, 1, MPI_INT, 0, comm));
    snprintf(path, sizeof path, "%s/oxmpi-hosts-%d", folder ? folder : "/tmp", first);
    return MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int counts[2] = { atoi(argv[1]), atoi(argv[2]) };

    MPI_Comm host;
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    int host_size, host_rank;
    MPI(MPI_Comm_size(host, &host_size));
    MPI(MPI_Comm_rank(host, &host_rank));
    CHECK_INT(counts[0] + counts[1], size);
    CHECK(host_size == counts[0] || host_size == counts[1]);
    int leads = host_rank == 0, hosts = 0;
    MPI(MPI_Allreduce(&leads, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(hosts, 2);

    /* Around all ranks, more than one packet. */
    enum { BYTES = 100000 };
    static char out[BYTES], in[BYTES];
    memset(out, rank + 1, BYTES);
    int after = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI(MPI_Sendrecv(out, BYTES, MPI_CHAR, after, 3, in, BYTES, MPI_CHAR, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(in[0], before + 1);
    CHECK_INT(in[BYTES - 1], before + 1);

    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI_Win window;
    void *memory;
    int value = 0;
    CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window), MPI_ERR_RMA_SHARED);
    MPI_File file;

    MPI(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, host, &window));
    MPI(MPI_Win_fence(0, window));
    int told = 10 + host_rank;
    MPI(MPI_Put(&told, 1, MPI_INT, (host_rank + 1) % host_size, 0, 1, MPI_INT, window));
    MPI(MPI_Win_fence(0, window));
    CHECK_INT(value, 10 + (host_rank + host_size - 1) % host_size);
    MPI(MPI_Win_free(&window));

    MPI(open_file(host, &file));
    MPI(MPI_File_write_at_all(file, host_rank * (MPI_Offset) sizeof told, &told, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Offset bytes;
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT((int) bytes, host_size * (int) sizeof told);
    MPI(MPI_File_close(&file));
    MPI(MPI_Comm_free(&host));
    return finish();
}
