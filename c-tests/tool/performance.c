/* Performance variables: each has a name, a class and a text; what is counted about communicators and messages; sessions do not
 * see each other; what cannot be started, stopped or written says so. */
#include "check.h"

static MPI_T_pvar_session session;

static MPI_T_pvar_handle open_variable(MPI_T_pvar_session in, const char *name, int class_, int elements)
{
    int index = -1, count = -1;
    MPI_T_pvar_handle handle;
    MPI(MPI_T_pvar_get_index(name, class_, &index));
    MPI(MPI_T_pvar_handle_alloc(in, index, NULL, &handle, &count));
    CHECK_INT(count, elements);
    return handle;
}

static unsigned long value(MPI_T_pvar_handle handle)
{
    unsigned long number = 99999999;
    MPI(MPI_T_pvar_read(session, handle, &number));
    return number;
}

static void all(void)
{
    int num, found;
    MPI(MPI_T_pvar_get_num(&num));
    CHECK(num > 0);
    for (int i = 0; i < num; i++) {
        char name[200], text[500];
        int name_length = sizeof name, text_length = sizeof text, verbosity, class_, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum words;
        MPI_T_pvar_handle handle;
        MPI(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class_, &type, &words, text, &text_length, &bind, &readonly,
                                &continuous, &atomic));
        CHECK(name_length == (int) strlen(name) + 1 && text_length == (int) strlen(text) + 1);
        MPI(MPI_T_pvar_get_index(name, class_, &found));
        CHECK_INT(found, i);
        CHECK(MPI_T_pvar_get_index(name, class_ == MPI_T_PVAR_CLASS_STATE ? class_ + 1 : MPI_T_PVAR_CLASS_STATE, &found)
              == MPI_T_ERR_INVALID_NAME);
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count));
        CHECK(count >= 1);
        if (continuous) {
            CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
            CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
        }
        if (readonly)
            CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
        MPI(MPI_T_pvar_handle_free(session, &handle));
        CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    }
    CHECK(MPI_T_pvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
}

static int free_in_mask(MPI_T_pvar_handle mask)
{
    unsigned words[512];
    int count = 0;
    MPI(MPI_T_pvar_read(session, mask, words));
    for (int i = 0; i < 512; i++)
        count += __builtin_popcount(words[i]);
    return count;
}

/* Each handle has a mark of its own, that begins with what is when it is started or reset. */
static void watermarks(MPI_T_pvar_handle first)
{
    MPI_T_pvar_session other;
    MPI_Comm comm[4];
    unsigned long before = value(first), number;
    MPI(MPI_T_pvar_session_create(&other));
    MPI_T_pvar_handle second = open_variable(other, "communicators_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, 1);
    for (int i = 0; i < 3; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[i]));
    MPI(MPI_Comm_free(&comm[2]));
    MPI(MPI_T_pvar_start(other, second));
    MPI(MPI_T_pvar_read(other, second, &number));
    CHECK_INT(number, 2);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[2]));
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[3]));
    MPI(MPI_Comm_free(&comm[3]));
    MPI(MPI_T_pvar_read(other, second, &number));
    CHECK_INT(number, 4);
    MPI(MPI_T_pvar_readreset(other, second, &number));
    CHECK_INT(number, 4);
    MPI(MPI_T_pvar_stop(other, second));
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[3]));
    MPI(MPI_T_pvar_read(other, second, &number));
    CHECK_INT(number, 3);
    MPI(MPI_T_pvar_start(other, second));
    MPI(MPI_T_pvar_read(other, second, &number));
    CHECK_INT(number, 4);
    for (int i = 0; i < 4; i++)
        MPI(MPI_Comm_free(&comm[i]));
    MPI(MPI_T_pvar_reset(other, second));
    MPI(MPI_T_pvar_read(other, second, &number));
    CHECK_INT(number, 0);
    CHECK_INT(value(first), before);
    MPI(MPI_T_pvar_session_free(&other));
}

static void communicators(void)
{
    enum { MANY = 100 };
    MPI_Comm comm[MANY];
    MPI_T_pvar_session other;
    MPI_T_pvar_handle free_ids = open_variable(session, "context_ids_free", MPI_T_PVAR_CLASS_LEVEL, 1),
                      used = open_variable(session, "context_ids_used", MPI_T_PVAR_CLASS_LEVEL, 1),
                      mask = open_variable(session, "context_id_mask", MPI_T_PVAR_CLASS_GENERIC, 512),
                      live = open_variable(session, "communicators", MPI_T_PVAR_CLASS_LEVEL, 1),
                      most = open_variable(session, "communicators_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, 1),
                      made = open_variable(session, "communicators_made", MPI_T_PVAR_CLASS_COUNTER, 1),
                      talks = open_variable(session, "context_id_reductions", MPI_T_PVAR_CLASS_COUNTER, 1);
    MPI(MPI_T_pvar_session_create(&other));
    MPI_T_pvar_handle elsewhere = open_variable(other, "communicators_made", MPI_T_PVAR_CLASS_COUNTER, 1);
    unsigned long number;
    CHECK_INT(value(live), 0);
    CHECK_INT(value(used), 3);
    CHECK_INT(value(free_ids), 16384 - 3);
    CHECK_INT(free_in_mask(mask), 16384 - 3);
    MPI(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    CHECK_INT(value(live), MANY);
    CHECK_INT(value(most), MANY);
    CHECK_INT(value(made), MANY);
    CHECK(value(used) >= 3 + MANY);
    CHECK_INT(value(used) + value(free_ids), 16384);
    CHECK_INT(free_in_mask(mask), value(free_ids));
    CHECK(value(talks) >= 1 && value(talks) <= MANY);
    MPI(MPI_T_pvar_read(other, elsewhere, &number));
    CHECK_INT(number, 0);
    CHECK(MPI_T_pvar_read(other, made, &number) == MPI_T_ERR_INVALID_HANDLE);
    MPI(MPI_T_pvar_start(other, elsewhere));
    MPI(MPI_T_pvar_readreset(session, made, &number));
    CHECK_INT(number, MANY);
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Comm_free(&comm[i]));
    CHECK_INT(value(live), 0);
    CHECK_INT(value(most), MANY);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[0]));
    CHECK_INT(value(made), 1);
    MPI(MPI_T_pvar_stop(session, made));
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[1]));
    CHECK_INT(value(made), 1);
    MPI(MPI_T_pvar_read(other, elsewhere, &number));
    CHECK_INT(number, 2);
    MPI(MPI_T_pvar_write(session, made, &(unsigned long) {1000}));
    MPI(MPI_T_pvar_start(session, made));
    MPI(MPI_Comm_free(&comm[0]));
    MPI(MPI_Comm_free(&comm[1]));
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm[0]));
    MPI(MPI_Comm_free(&comm[0]));
    CHECK_INT(value(made), 1001);
    MPI(MPI_T_pvar_reset(session, made));
    CHECK_INT(value(made), 0);
    MPI(MPI_T_pvar_session_free(&other));
    CHECK(other == MPI_T_PVAR_SESSION_NULL);
    watermarks(most);
}

static void messages(void)
{
    MPI_T_pvar_handle posted = open_variable(session, "posted_recvq_length", MPI_T_PVAR_CLASS_LEVEL, 1),
                      unexpected = open_variable(session, "unexpected_recvq_length", MPI_T_PVAR_CLASS_LEVEL, 1);
    MPI_Request requests[3];
    int in[3], out[3] = {1, 2, 3};
    unsigned long before = value(posted);
    for (int i = 0; i < 3; i++)
        MPI(MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
    CHECK_INT(value(posted), before + 3);
    for (int i = 0; i < 3; i++)
        MPI(MPI_Send(&out[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD));
    MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(value(posted), before);
    before = value(unexpected);
    MPI(MPI_Send(&out[0], 1, MPI_INT, rank, 7, MPI_COMM_WORLD));
    CHECK_INT(value(unexpected), before + 1);
    MPI(MPI_Recv(&in[0], 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(value(unexpected), before);
}

/* A call that has to wait looks in vain before, and one that finds its message at once does not. */
static void spins(void)
{
    MPI_T_pvar_handle handle = open_variable(session, "spins", MPI_T_PVAR_CLASS_COUNTER, 1);
    int other = 1 - rank, byte = 0;
    unsigned long looks = 0;
    MPI(MPI_T_pvar_start(session, handle));
    MPI(MPI_Send(&byte, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    MPI(MPI_Recv(&byte, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(value(handle), 0);
    if (size != 2)
        return;
    /* The answer is not there yet for one of them, sooner or later. */
    for (int waited = 0; !waited;) {
        MPI(MPI_Sendrecv(&byte, 1, MPI_INT, other, 2, &byte, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        looks = value(handle);
        waited = looks > 0;
        MPI(MPI_Allreduce(MPI_IN_PLACE, &waited, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    }
    MPI(MPI_T_pvar_reset(session, handle));
    CHECK_INT(value(handle), 0);
}

/* What is counted about protocols and queues. */
static void counters(void)
{
    MPI_T_pvar_handle eager = open_variable(session, "eager_messages", MPI_T_PVAR_CLASS_COUNTER, 1),
                      answered = open_variable(session, "rendezvous_messages", MPI_T_PVAR_CLASS_COUNTER, 1),
                      early = open_variable(session, "unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, 1),
                      matches = open_variable(session, "matches", MPI_T_PVAR_CLASS_COUNTER, 1),
                      waits = open_variable(session, "long_waits", MPI_T_PVAR_CLASS_COUNTER, 1),
                      sleeps = open_variable(session, "sleeps", MPI_T_PVAR_CLASS_COUNTER, 1),
                      wakes = open_variable(session, "wake_ups", MPI_T_PVAR_CLASS_COUNTER, 1),
                      kept = open_variable(session, "unexpected_recvq_buffer_size", MPI_T_PVAR_CLASS_LEVEL, 1),
                      memory = open_variable(session, "segment_bytes", MPI_T_PVAR_CLASS_SIZE, 1);
    enum { LARGE = 1 << 20 };
    char *large = malloc(LARGE), *there = malloc(LARGE), small[100] = "";
    MPI_Request requests[3];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    memset(large, 1, LARGE);
    /* Behind it no message of another rank is kept: that with which the first collective operation finds its memory may come early. */
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    unsigned long bytes = value(kept);
    MPI(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_INT(value(eager), 0);
    /* to oneself: nothing but this is counted meanwhile */
    MPI(MPI_Send(small, sizeof small, MPI_CHAR, rank, 1, MPI_COMM_WORLD));
    CHECK_INT(value(eager), 1);
    CHECK_INT(value(early), 1);
    CHECK_INT(value(matches), 0);
    CHECK_INT(value(kept), bytes + sizeof small);
    MPI(MPI_Recv(small, sizeof small, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(value(matches), 1);
    CHECK_INT(value(kept), bytes);
    MPI(MPI_Irecv(small, sizeof small, MPI_CHAR, rank, 2, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Irecv(small, sizeof small, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Cancel(&requests[1]));
    MPI(MPI_Issend(there, 10, MPI_CHAR, rank, 2, MPI_COMM_WORLD, &requests[2]));
    MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(value(answered), 1);
    CHECK_INT(value(eager), 1);
    CHECK_INT(value(early), 1);
    CHECK_INT(value(matches), 2);
    MPI(MPI_Barrier(MPI_COMM_WORLD)); /* a message of another rank would be counted above */
    MPI(MPI_T_pvar_reset(session, answered));
    MPI(MPI_Sendrecv(large, LARGE, MPI_CHAR, next, 4, there, LARGE, MPI_CHAR, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (size > 1)
        CHECK_INT(value(answered), 1);
    CHECK(value(memory) > 0);
    /* of these only the time decides */
    CHECK(value(waits) < 1000000 && value(sleeps) < 1000000 && value(wakes) < 1000000);
    free(large);
    free(there);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_pvar_handle handle;
    start(&argc, &argv);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_INT(provided, MPI_THREAD_SINGLE);
    MPI(MPI_T_pvar_session_create(&session));
    if (!reference) {
        all();
        communicators();
        messages();
        counters();
        spins();
    }
    CHECK(MPI_T_pvar_session_create(NULL) == MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_session_free(&session));
    if (!reference) {
        CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &provided) == MPI_T_ERR_INVALID_SESSION);
        MPI(MPI_T_pvar_session_create(&session)); /* ends with the interface */
    }
    MPI(MPI_T_finalize());
    if (!reference) {
        MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        CHECK(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
        MPI(MPI_T_finalize());
    }
    return finish();
}
