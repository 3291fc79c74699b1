/* MPI_THREAD_SERIALIZED: threads call one after the other under a lock of the program. */
#include "check.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *number)
{
    int me = (int) (intptr_t) number, in;
    for (int i = 0; i < 100; i++) {
        MPI_Request request;
        int flag = 0;
        pthread_mutex_lock(&lock);
        MPI(MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, me, MPI_COMM_WORLD, &request));
        MPI(MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, me, MPI_COMM_WORLD));
        pthread_mutex_unlock(&lock);
        while (!flag) {
            pthread_mutex_lock(&lock);
            MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            pthread_mutex_unlock(&lock);
        }
        CHECK_INT(in, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    int provided;
    watchdog(argv[0]);
    MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    check_ranks();
    for (intptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, (void *) i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return finish();
}
