/* Events: each has a name, elements and a category; callbacks are called once for each, with the right data, in order and with
 * what is required of them; dropped ones are counted; a freed registration is silent. */
#include "check.h"

#include <stddef.h>
#include <unistd.h>

/* What the events of messages have. */
struct message {
    int context_id, context_type, rank, tag;
    unsigned long bytes;
};

struct communicator {
    int context_id, rank, size, remote_size;
};

static int index_of(const char *name)
{
    int index = -1;
    MPI(MPI_T_event_get_index(name, &index));
    return index;
}

static void all(void)
{
    int num, found, sources, categories, in_categories = 0;
    MPI(MPI_T_event_get_num(&num));
    MPI(MPI_T_category_get_num(&categories));
    for (int i = 0; i < categories; i++) {
        int events, indices[100];
        MPI(MPI_T_category_get_num_events(i, &events));
        MPI(MPI_T_category_get_events(i, 100, indices));
        for (int k = 0; k < events; k++)
            CHECK(indices[k] >= 0 && indices[k] < num);
        in_categories += events;
    }
    if (!reference)
        CHECK(num >= 8 && in_categories == num);
    for (int i = 0; i < num; i++) {
        char name[200], text[1000];
        int name_length = sizeof name, text_length = sizeof text, verbosity, bind, elements = 20, none = 0;
        MPI_Datatype types[20];
        MPI_Aint places[20];
        MPI_T_enum words;
        MPI_Info info;
        MPI(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, places, &elements, &words, &info, text, &text_length, &bind));
        CHECK(name_length == (int) strlen(name) + 1 && text_length == (int) strlen(text) + 1);
        CHECK(elements > 0 && elements <= 20);
        CHECK_INT(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(words == MPI_T_ENUM_NULL);
        for (int k = 0; k < elements; k++) {
            CHECK(types[k] == MPI_INT || types[k] == MPI_UNSIGNED_LONG);
            CHECK(k == 0 ? places[k] == 0 : places[k] > places[k - 1]);
        }
        MPI(MPI_Info_free(&info));
        MPI(MPI_T_event_get_index(name, &found));
        CHECK_INT(found, i);
        /* Only how many there are, and a shorter array. */
        MPI(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &none, NULL, NULL, NULL, NULL, NULL));
        CHECK_INT(none, elements);
        types[0] = types[1] = MPI_DATATYPE_NULL;
        none = 1;
        MPI(MPI_T_event_get_info(i, NULL, NULL, NULL, types, NULL, &none, NULL, NULL, NULL, NULL, NULL));
        CHECK(types[0] != MPI_DATATYPE_NULL && types[1] == MPI_DATATYPE_NULL && none == elements);
    }
    MPI(MPI_T_source_get_num(&sources));
    for (int i = 0; i < sources; i++) {
        char name[200], text[1000];
        int name_length = sizeof name, text_length = sizeof text;
        MPI_T_source_order order;
        MPI_Count ticks, most, before, after;
        MPI_Info info;
        MPI(MPI_T_source_get_info(i, name, &name_length, text, &text_length, &order, &ticks, &most, &info));
        CHECK(name_length > 1 && order == MPI_T_SOURCE_ORDERED && ticks > 0 && most > 0);
        MPI(MPI_Info_free(&info));
        MPI(MPI_T_source_get_timestamp(i, &before));
        MPI(MPI_T_source_get_timestamp(i, &after));
        CHECK(before > 0 && after >= before);
    }
}

/* What a callback has seen. */
struct seen {
    MPI_T_event_registration registration;
    int number, freed, nested;
    long long dropped;
    MPI_T_cb_safety safety;
    MPI_Count last;
    struct message message[64];
    struct communicator communicator;
    unsigned long words[3];
    MPI_T_event_instance instance;
};

static void look(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, struct seen *seen)
{
    MPI_Count when;
    int source = -1;
    CHECK(registration == seen->registration);
    MPI(MPI_T_event_get_timestamp(instance, &when));
    MPI(MPI_T_event_get_source(instance, &source));
    CHECK_INT(source, 0);
    CHECK(when >= seen->last);
    seen->last = when;
    seen->safety = safety;
    seen->instance = instance;
    seen->number++;
}

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data;
    struct message here;
    memset(&here, -1, sizeof here);
    look(instance, registration, safety, seen);
    MPI(MPI_T_event_copy(instance, &here));
    if (here.context_type != 0) { /* one of the library's own */
        seen->number--;
        return;
    }
    int tag = -1;
    unsigned long bytes = 0;
    MPI(MPI_T_event_read(instance, 3, &tag));
    MPI(MPI_T_event_read(instance, 4, &bytes));
    CHECK(tag == here.tag && bytes == here.bytes);
    CHECK_INT(MPI_T_event_read(instance, 5, &bytes), MPI_T_ERR_INVALID_INDEX);
    if (seen->number <= 64)
        seen->message[seen->number - 1] = here;
}

static void on_communicator(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data;
    look(instance, registration, safety, seen);
    MPI(MPI_T_event_copy(instance, &seen->communicator));
    /* Nothing forbids a call of MPI here, and one that raises the same event does not call this again at once. */
    if (safety == MPI_T_CB_REQUIRE_NONE && seen->nested == 0) {
        MPI_Comm own;
        seen->nested = 1;
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &own));
        MPI(MPI_Comm_free(&own));
        CHECK_INT(seen->number, 1);
    }
}

static void on_words(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data;
    look(instance, registration, safety, seen);
    MPI(MPI_T_event_copy(instance, seen->words));
}

static void on_sleep(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data;
    look(instance, registration, safety, seen);
    MPI(MPI_T_event_copy(instance, &seen->message[0]));
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data;
    (void) safety;
    CHECK(registration == seen->registration);
    CHECK_INT(source, 0);
    seen->dropped += count;
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data;
    (void) safety;
    CHECK(registration == seen->registration);
    seen->freed++;
}

static void listen(struct seen *seen, const char *name, MPI_T_event_cb_function *function, MPI_T_cb_safety safety, const char *queue)
{
    MPI_Info info = MPI_INFO_NULL, used;
    char text[40] = "";
    int length = sizeof text, flag;
    memset(seen, 0, sizeof *seen);
    if (queue) {
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "oxmpi_event_queue", queue));
        MPI(MPI_Info_set(info, "nobody knows this", "1"));
    }
    MPI(MPI_T_event_handle_alloc(index_of(name), NULL, info, &seen->registration));
    MPI(MPI_T_event_handle_get_info(seen->registration, &used));
    MPI(MPI_Info_get_string(used, "oxmpi_event_queue", &length, text, &flag));
    CHECK_STRING(text, queue ? queue : "1024");
    MPI(MPI_Info_free(&used));
    if (queue)
        MPI(MPI_Info_free(&info));
    MPI(MPI_T_event_register_callback(seen->registration, safety, MPI_INFO_NULL, seen, function));
    MPI(MPI_T_event_set_dropped_handler(seen->registration, on_dropped));
    MPI(MPI_T_event_callback_get_info(seen->registration, safety, &used));
    MPI(MPI_Info_free(&used));
}

static void end(struct seen *seen)
{
    MPI_T_event_registration old = seen->registration;
    MPI(MPI_T_event_handle_free(seen->registration, seen, on_free));
    CHECK_INT(seen->freed, 1);
    CHECK_INT(MPI_T_event_handle_free(old, seen, on_free), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(seen->freed, 1);
}

/* A call that tells of what has happened. */
static void tell(void)
{
    int ranks;
    MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
}

static void to_oneself(void)
{
    struct seen few, begun, completed;
    char byte[4] = "abc";
    MPI_Request request[4];
    listen(&few, "unexpected_message", on_message, MPI_T_CB_REQUIRE_NONE, "2");
    listen(&begun, "rendezvous_begun", on_message, MPI_T_CB_REQUIRE_NONE, NULL);
    listen(&completed, "rendezvous_completed", on_message, MPI_T_CB_REQUIRE_NONE, NULL);
    for (int i = 0; i < 3; i++)
        MPI(MPI_Isend(byte, i + 1, MPI_CHAR, 0, 10 + i, MPI_COMM_SELF, &request[i]));
    MPI(MPI_Issend(byte, 4, MPI_CHAR, 0, 13, MPI_COMM_SELF, &request[3]));
    tell();
    /* Each call has told of the one before. */
    CHECK_INT(few.number + few.dropped, 4);
    CHECK(few.number >= 2);
    CHECK(few.message[1].tag == 11 && few.message[1].bytes == 2 && few.message[1].rank == 0);
    CHECK_INT(few.safety, MPI_T_CB_REQUIRE_NONE);
    CHECK_INT(begun.number, 1);
    CHECK(begun.message[0].tag == 13 && begun.message[0].bytes == 4);
    CHECK_INT(completed.number, 0);
    for (int i = 0; i < 4; i++)
        MPI(MPI_Recv(byte, 4, MPI_CHAR, 0, 10 + i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    MPI(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
    tell();
    CHECK_INT(completed.number, 1);
    CHECK_INT(completed.message[0].tag, 13);
    CHECK_INT(begun.dropped + completed.dropped, 0);
    CHECK(completed.last >= begun.last);
    /* Its callback has returned. */
    CHECK_INT(MPI_T_event_copy(begun.instance, byte), MPI_T_ERR_INVALID_HANDLE);
    /* No function, no call; another level, and it is heard again. */
    int before = few.number;
    MPI(MPI_T_event_register_callback(few.registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    MPI(MPI_Send(byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF));
    MPI(MPI_Recv(byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    tell();
    CHECK_INT(few.number, before);
    MPI(MPI_T_event_register_callback(few.registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &few, on_message));
    MPI(MPI_Send(byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF));
    MPI(MPI_Recv(byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    /* What waits is told before the end. */
    end(&few);
    CHECK_INT(few.number, before + 1);
    end(&begun);
    end(&completed);
    MPI(MPI_Send(byte, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF));
    MPI(MPI_Recv(byte, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    tell();
    CHECK_INT(few.number, before + 1);
}

static struct seen two[2];

/* Ends both registrations, whichever is told first: its own function runs on until it returns, the other one's is never called. */
static void on_dropped_once(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    struct seen *seen = data, *other = &two[seen == &two[0]];
    on_dropped(count, registration, source, safety, data);
    CHECK_INT(seen->freed + other->freed, 0);
    MPI(MPI_T_event_handle_free(seen->registration, seen, on_free));
    CHECK_INT(seen->freed, 0);
    MPI(MPI_T_event_handle_free(other->registration, other, on_free));
    CHECK_INT(other->freed, 1);
}

static void freed_while_told(void)
{
    enum { MESSAGES = 3 };
    MPI_Request request[MESSAGES];
    char byte = 0;
    for (int i = 0; i < 2; i++) {
        listen(&two[i], "unexpected_message", on_message, MPI_T_CB_REQUIRE_NONE, "1");
        MPI(MPI_T_event_set_dropped_handler(two[i].registration, on_dropped_once));
    }
    for (int i = 0; i < MESSAGES; i++)
        MPI(MPI_Send_init(&byte, 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &request[i]));
    MPI(MPI_Startall(MESSAGES, request));
    tell();
    CHECK(two[0].number == 1 && two[1].number == 1);
    CHECK_INT(two[0].dropped + two[1].dropped, MESSAGES - 1);
    CHECK(two[0].freed == 1 && two[1].freed == 1);
    MPI(MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MESSAGES; i++) {
        MPI(MPI_Recv(&byte, 1, MPI_CHAR, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(&request[i]));
    }
}

/* More than wait: the count is right, whenever they are told. */
static void dropped(void)
{
    struct seen few;
    enum { MESSAGES = 9 };
    MPI_Request request[MESSAGES];
    char byte = 0;
    listen(&few, "unexpected_message", on_message, MPI_T_CB_REQUIRE_NONE, "3");
    for (int i = 0; i < MESSAGES; i++)
        MPI(MPI_Send_init(&byte, 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &request[i]));
    /* One call raises all. */
    MPI(MPI_Startall(MESSAGES, request));
    MPI(MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE));
    tell();
    CHECK_INT(few.number, 3);
    CHECK_INT(few.dropped, MESSAGES - 3);
    for (int i = 0; i < MESSAGES; i++) {
        MPI(MPI_Recv(&byte, 1, MPI_CHAR, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(&request[i]));
    }
    CHECK_INT(few.message[2].tag, 2);
    end(&few);
    freed_while_told();
}

static void communicators(void)
{
    struct seen created, freed, cycles;
    MPI_Comm halves;
    listen(&created, "communicator_created", on_communicator, MPI_T_CB_REQUIRE_NONE, NULL);
    listen(&freed, "communicator_freed", on_words, MPI_T_CB_REQUIRE_THREAD_SAFE, NULL);
    listen(&cycles, "collector_cycle", on_words, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL);
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves));
    tell();
    CHECK_INT(created.number, 1);
    CHECK_INT(created.communicator.size, (size + 1 - rank % 2) / 2);
    CHECK_INT(created.communicator.rank, rank / 2);
    CHECK_INT(created.communicator.remote_size, 0);
    /* The one that the callback has made. */
    tell();
    CHECK_INT(created.number, 2);
    CHECK_INT(created.communicator.size, 1);
    CHECK_INT(freed.number, 1);
    MPI(MPI_Comm_free(&halves));
    tell();
    CHECK_INT(freed.number, 2);
    /* Nothing was pending that could have used them. */
    CHECK(cycles.number >= 1 && cycles.words[1] >= 1);
    CHECK_INT(cycles.words[0], cycles.words[1] + cycles.words[2]);
    end(&created);
    end(&freed);
    end(&cycles);
}

/* From another rank: large and small, and what sleeping looks like. */
static void between(void)
{
    struct seen unexpected, begun, completed, sleeps, wakes;
    enum { BYTES = 3000000 };
    char *data = calloc(BYTES, 1);
    if (size < 2 || rank > 1) {
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        free(data);
        return;
    }
    int other = 1 - rank;
    /* Rank 1 listens before anything comes: the library may look for messages in any call. */
    if (rank == 0)
        MPI(MPI_Recv(NULL, 0, MPI_CHAR, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    listen(&unexpected, "unexpected_message", on_message, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    listen(&begun, "rendezvous_begun", on_message, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    listen(&completed, "rendezvous_completed", on_message, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    listen(&sleeps, "sleep_begun", on_sleep, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    listen(&wakes, "sleep_ended", on_words, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    if (rank == 1)
        MPI(MPI_Send(NULL, 0, MPI_CHAR, other, 6, MPI_COMM_WORLD));
    if (rank == 0) {
        MPI(MPI_Send(data, 100, MPI_CHAR, other, 1, MPI_COMM_WORLD));
        MPI(MPI_Ssend(data, 7, MPI_CHAR, other, 2, MPI_COMM_WORLD));
        MPI(MPI_Send(data, BYTES, MPI_CHAR, other, 3, MPI_COMM_WORLD));
        /* Until the other one has slept. */
        for (int slept = 0, pause = 2000; !slept; pause *= 2) {
            usleep(pause);
            MPI(MPI_Send(data, 1, MPI_CHAR, other, 4, MPI_COMM_WORLD));
            MPI(MPI_Recv(&slept, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        tell();
        CHECK_INT(begun.number, 2);
        CHECK_INT(completed.number, 2);
        CHECK(begun.message[0].tag == 2 && begun.message[0].rank == other);
        CHECK(completed.message[1].tag == 3 && completed.message[1].bytes == BYTES);
    } else {
        /* The second has passed the first, which lies there. */
        MPI(MPI_Recv(data, 7, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        tell();
        CHECK(unexpected.number >= 1 && unexpected.message[0].tag == 1);
        CHECK(unexpected.message[0].rank == other && unexpected.message[0].bytes == 100);
        MPI(MPI_Recv(data, 100, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Recv(data, BYTES, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int slept = 0; !slept;) {
            MPI(MPI_Recv(data, 1, MPI_CHAR, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            tell();
            slept = sleeps.number > 0;
            MPI(MPI_Send(&slept, 1, MPI_INT, other, 5, MPI_COMM_WORLD));
        }
        CHECK_INT(wakes.number, sleeps.number);
        CHECK(sleeps.message[0].rank == other);
        CHECK(wakes.words[0] > 0);
    }
    end(&unexpected);
    end(&begun);
    end(&completed);
    end(&sleeps);
    end(&wakes);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    free(data);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_event_registration left;
    watchdog(argv[0]);
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    all();
    start(&argc, &argv);
    if (!reference) { /* MPICH has no events */
        to_oneself();
        dropped();
        communicators();
        between();
        /* Nobody frees this one. */
        MPI(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &left));
        MPI(MPI_T_event_register_callback(left, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_words));
        MPI(MPI_T_event_register_callback(left, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    }
    MPI(MPI_T_finalize());
    return finish();
}
