/* Entering an engine takes a lock at MPI_THREAD_MULTIPLE, and as long as there is a window over several hosts: not before it, and not afterwards.
 * Messages and operations of windows go on through each change. */
#include "near.h"

static MPI_T_pvar_session tool;
static MPI_T_pvar_handle locks;
static int multiple, far;

static void are_on(int windows)
{
    unsigned long on = 99;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got = -1;
    MPI(MPI_T_pvar_read(tool, locks, &on));
    CHECK_INT((int) on, multiple || (far && windows > 0));
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(got, left);
}

static MPI_Win make(int windows)
{
    int *base, right = (rank + 1) % size;
    MPI_Win win;
    MPI(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    are_on(windows);
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    MPI(MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    MPI(MPI_Win_unlock(right, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_INT(*base, (rank + size - 1) % size);
    MPI(MPI_Win_unlock(rank, win));
    return win;
}

static void end(MPI_Win win, int windows)
{
    MPI(MPI_Win_free(&win));
    are_on(windows);
}

int main(int argc, char **argv)
{
    int level, index, count;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Session session;
    MPI_Datatype type;
    MPI_Request request;
    start(&argc, &argv);
    MPI(MPI_Query_thread(&level));
    multiple = level == MPI_THREAD_MULTIPLE;
    far = !share_memory(MPI_COMM_WORLD);
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    MPI(MPI_T_pvar_session_create(&tool));
    MPI(MPI_T_pvar_get_index("engine_locks", MPI_T_PVAR_CLASS_LEVEL, &index));
    MPI(MPI_T_pvar_handle_alloc(tool, index, NULL, &locks, &count));
    CHECK_INT(count, 1);
    are_on(0);
    for (int round = 0; round < 20; round++) {
        MPI_Win first = make(1), second = make(2);
        /* What is made with the locks on is used and freed with the locks off. */
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
        MPI(MPI_Type_commit(&type));
        int got[3] = {-1, -1, -1}, given[3] = {rank, 0, round};
        MPI(MPI_Irecv(got, 1, type, (rank + size - 1) % size, 5, comm, &request));
        end(first, 1);
        end(second, 0);
        MPI(MPI_Send(given, 1, type, (rank + 1) % size, 5, comm));
        MPI(MPI_Type_free(&type));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(got[0], (rank + size - 1) % size);
        CHECK_INT(got[2], round);
        MPI(MPI_Comm_free(&comm));
    }
    /* A session of several threads begins while there is a window. */
    MPI_Win win = make(1);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    MPI(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
    MPI(MPI_Info_free(&info));
    multiple = 1;
    end(win, 0);
    MPI(MPI_Session_finalize(&session));
    MPI(MPI_T_pvar_handle_free(tool, &locks));
    MPI(MPI_T_pvar_session_free(&tool));
    MPI(MPI_T_finalize());
    return finish();
}
