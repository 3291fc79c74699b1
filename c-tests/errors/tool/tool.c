/* Wrong arguments of every function of the tool interface: before MPI_T_init_thread and after MPI_T_finalize, indices out of
 * range, NULL for what has to be there, handles that were freed, of another kind or of another session. No error handler is
 * called, and nothing is written where a call fails. */
#include "check.h"

#define T(call, code) CHECK_INT(call, code)

static MPI_T_cvar_handle cvar_wrong = (MPI_T_cvar_handle) 0x77;
static MPI_T_pvar_handle pvar_wrong = (MPI_T_pvar_handle) 0x77;
static MPI_T_pvar_session session_wrong = (MPI_T_pvar_session) 0x77;
static MPI_T_event_registration registration_wrong = (MPI_T_event_registration) 0x77;
static MPI_T_event_instance instance_wrong = (MPI_T_event_instance) 0x77;
static MPI_T_enum enum_wrong = (MPI_T_enum) 0x77777;

static void callback(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void) instance;
    (void) registration;
    (void) safety;
    (void) data;
}

/* Everything gives the same, whatever else is wrong. */
static void uninitialized(int bad)
{
    const int none = MPI_T_ERR_NOT_INITIALIZED;
    int number = 5, length = 10, *place = bad ? NULL : &number;
    char text[100];
    MPI_Datatype type;
    MPI_Aint where;
    MPI_Count ticks;
    MPI_Info info;
    MPI_T_enum words;
    MPI_T_source_order order;
    MPI_T_cvar_handle cvar = cvar_wrong;
    MPI_T_pvar_handle pvar = pvar_wrong;
    MPI_T_pvar_session session = session_wrong;
    MPI_T_event_registration registration;
    const char *name = bad ? NULL : "matches";
    T(MPI_T_finalize(), none);
    T(MPI_T_cvar_get_num(place), none);
    T(MPI_T_cvar_get_info(0, text, &length, &number, &type, &words, text, &length, &number, &number), none);
    T(MPI_T_cvar_get_index(name, place), none);
    T(MPI_T_cvar_handle_alloc(0, NULL, bad ? NULL : &cvar, place), none);
    T(MPI_T_cvar_handle_free(bad ? NULL : &cvar), none);
    T(MPI_T_cvar_read(cvar, place), none);
    T(MPI_T_cvar_write(cvar, place), none);
    T(MPI_T_enum_get_info(enum_wrong, place, text, &length), none);
    T(MPI_T_enum_get_item(enum_wrong, 0, place, text, &length), none);
    T(MPI_T_pvar_get_num(place), none);
    T(MPI_T_pvar_get_info(0, text, &length, &number, &number, &type, &words, text, &length, &number, &number, &number, &number), none);
    T(MPI_T_pvar_get_index(name, 0, place), none);
    T(MPI_T_pvar_session_create(bad ? NULL : &session), none);
    T(MPI_T_pvar_session_free(bad ? NULL : &session), none);
    T(MPI_T_pvar_handle_alloc(session, 0, NULL, bad ? NULL : &pvar, place), none);
    T(MPI_T_pvar_handle_free(session, bad ? NULL : &pvar), none);
    T(MPI_T_pvar_start(session, pvar), none);
    T(MPI_T_pvar_stop(session, pvar), none);
    T(MPI_T_pvar_read(session, pvar, place), none);
    T(MPI_T_pvar_write(session, pvar, place), none);
    T(MPI_T_pvar_reset(session, pvar), none);
    T(MPI_T_pvar_readreset(session, pvar, place), none);
    T(MPI_T_category_get_num(place), none);
    T(MPI_T_category_get_info(0, text, &length, text, &length, &number, &number, &number), none);
    T(MPI_T_category_get_index(name, place), none);
    T(MPI_T_category_get_cvars(0, 1, place), none);
    T(MPI_T_category_get_pvars(0, 1, place), none);
    T(MPI_T_category_get_categories(0, 1, place), none);
    T(MPI_T_category_get_events(0, 1, place), none);
    T(MPI_T_category_get_num_events(0, place), none);
    T(MPI_T_category_changed(place), none);
    T(MPI_T_event_get_num(place), none);
    T(MPI_T_event_get_index(name, place), none);
    T(MPI_T_event_get_info(0, text, &length, &number, &type, &where, &number, &words, &info, text, &length, &number), none);
    T(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, bad ? NULL : &registration), none);
    T(MPI_T_event_handle_free(registration_wrong, NULL, NULL), none);
    T(MPI_T_event_handle_set_info(registration_wrong, MPI_INFO_NULL), none);
    T(MPI_T_event_handle_get_info(registration_wrong, bad ? NULL : &info), none);
    T(MPI_T_event_register_callback(registration_wrong, bad ? 9 : 0, MPI_INFO_NULL, NULL, callback), none);
    T(MPI_T_event_callback_set_info(registration_wrong, bad ? 9 : 0, MPI_INFO_NULL), none);
    T(MPI_T_event_callback_get_info(registration_wrong, bad ? 9 : 0, bad ? NULL : &info), none);
    T(MPI_T_event_set_dropped_handler(registration_wrong, NULL), none);
    T(MPI_T_event_read(instance_wrong, 0, place), none);
    T(MPI_T_event_copy(instance_wrong, place), none);
    T(MPI_T_event_get_timestamp(instance_wrong, bad ? NULL : &ticks), none);
    T(MPI_T_event_get_source(instance_wrong, place), none);
    T(MPI_T_source_get_num(place), none);
    T(MPI_T_source_get_info(0, text, &length, text, &length, &order, &ticks, &ticks, &info), none);
    T(MPI_T_source_get_timestamp(0, bad ? NULL : &ticks), none);
    CHECK(number == 5 && length == 10 && cvar == cvar_wrong && pvar == pvar_wrong && session == session_wrong);
}

static void control(void)
{
    int num, number = 5, index, length = 10;
    unsigned long value = 1;
    char text[100];
    MPI_T_cvar_handle handle, stale, null = MPI_T_CVAR_HANDLE_NULL;
    MPI(MPI_T_cvar_get_num(&num));
    T(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_cvar_get_index("OXMPI_EAGER_BYTES", &index));
    T(MPI_T_cvar_get_index("OXMPI_EAGER_BYTES", NULL), MPI_T_ERR_INVALID);
    T(MPI_T_cvar_get_index(NULL, &number), MPI_T_ERR_INVALID);
    T(MPI_T_cvar_get_index("", &number), MPI_T_ERR_INVALID_NAME);
    T(MPI_T_cvar_get_index("oxmpi_eager_bytes", &number), MPI_T_ERR_INVALID_NAME);
    int bad[] = {-1, num, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        T(MPI_T_cvar_get_info(bad[i], text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        T(MPI_T_cvar_handle_alloc(bad[i], NULL, &handle, &number), MPI_T_ERR_INVALID_INDEX);
    }
    CHECK(length == 10 && number == 5);
    /* All results may be left out; a length without a text is an answer. */
    MPI(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    MPI(MPI_T_cvar_get_info(index, text, NULL, NULL, NULL, NULL, text, NULL, NULL, NULL));
    length = -3;
    MPI(MPI_T_cvar_get_info(index, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_INT(length, sizeof "OXMPI_EAGER_BYTES");
    T(MPI_T_cvar_handle_alloc(index, NULL, NULL, &number), MPI_T_ERR_INVALID);
    T(MPI_T_cvar_handle_alloc(index, NULL, &handle, NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_cvar_handle_alloc(index, NULL, &handle, &number));
    T(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_cvar_write(handle, NULL), MPI_T_ERR_INVALID);
    stale = handle;
    T(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_cvar_handle_free(&handle));
    MPI_T_cvar_handle wrong[] = {null, cvar_wrong, stale};
    for (int i = 0; i < 3; i++) {
        T(MPI_T_cvar_read(wrong[i], &value), MPI_T_ERR_INVALID_HANDLE);
        T(MPI_T_cvar_write(wrong[i], &value), MPI_T_ERR_INVALID_HANDLE);
        T(MPI_T_cvar_handle_free(&wrong[i]), MPI_T_ERR_INVALID_HANDLE);
    }
    CHECK(value == 1 && wrong[1] == cvar_wrong);
    T(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, text, &length), MPI_T_ERR_INVALID_HANDLE);
    T(MPI_T_enum_get_info(enum_wrong, &number, text, &length), MPI_T_ERR_INVALID_HANDLE);
    T(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &number, text, &length), MPI_T_ERR_INVALID_HANDLE);
    T(MPI_T_enum_get_item(enum_wrong, 0, &number, text, &length), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_enum words;
    MPI(MPI_T_cvar_get_index("OXMPI_BCAST", &index));
    MPI(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL));
    MPI(MPI_T_enum_get_info(words, NULL, NULL, NULL));
    MPI(MPI_T_enum_get_item(words, 0, NULL, NULL, NULL));
    T(MPI_T_enum_get_item(words, -1, &number, text, &length), MPI_T_ERR_INVALID_ITEM);
    T(MPI_T_enum_get_item(words, 1000, &number, text, &length), MPI_T_ERR_INVALID_ITEM);
}

static void performance(void)
{
    int num, number = 5, counter, level;
    unsigned long value = 1;
    MPI_T_pvar_session one, two, stale, null = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle, always, gone;
    MPI(MPI_T_pvar_get_num(&num));
    T(MPI_T_pvar_get_num(NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_get_index("matches", MPI_T_PVAR_CLASS_COUNTER, &counter));
    MPI(MPI_T_pvar_get_index("requests", MPI_T_PVAR_CLASS_LEVEL, &level));
    T(MPI_T_pvar_get_index("matches", MPI_T_PVAR_CLASS_LEVEL, &number), MPI_T_ERR_INVALID_NAME);
    T(MPI_T_pvar_get_index("matches", -1, &number), MPI_T_ERR_INVALID_NAME);
    T(MPI_T_pvar_get_index("", MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID_NAME);
    T(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID);
    T(MPI_T_pvar_get_index("matches", MPI_T_PVAR_CLASS_COUNTER, NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_get_info(counter, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    T(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
    T(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_session_create(&one));
    MPI(MPI_T_pvar_session_create(&two));
    MPI(MPI_T_pvar_session_create(&stale));
    MPI_T_pvar_session copy = stale;
    MPI(MPI_T_pvar_session_free(&copy));
    CHECK(copy == MPI_T_PVAR_SESSION_NULL);
    int bad[] = {-1, num, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        T(MPI_T_pvar_get_info(bad[i], NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        T(MPI_T_pvar_handle_alloc(one, bad[i], NULL, &handle, &number), MPI_T_ERR_INVALID_INDEX);
    }
    T(MPI_T_pvar_handle_alloc(one, counter, NULL, NULL, &number), MPI_T_ERR_INVALID);
    T(MPI_T_pvar_handle_alloc(one, counter, NULL, &handle, NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_handle_alloc(one, counter, NULL, &handle, &number));
    MPI(MPI_T_pvar_handle_alloc(one, level, NULL, &always, &number));
    MPI(MPI_T_pvar_handle_alloc(one, counter, NULL, &gone, &number));
    MPI_T_pvar_handle freed = gone;
    T(MPI_T_pvar_handle_free(one, NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_handle_free(one, &freed));
    CHECK(freed == MPI_T_PVAR_HANDLE_NULL);
    /* Sessions: none, one that was freed, no session at all. */
    MPI_T_pvar_session wrong[] = {null, stale, session_wrong, (MPI_T_pvar_session) handle};
    for (int i = 0; i < 4; i++) {
        const int class_ = MPI_T_ERR_INVALID_SESSION;
        MPI_T_pvar_handle here = handle;
        T(MPI_T_pvar_handle_alloc(wrong[i], counter, NULL, &here, &number), class_);
        T(MPI_T_pvar_handle_free(wrong[i], &here), class_);
        T(MPI_T_pvar_start(wrong[i], handle), class_);
        T(MPI_T_pvar_start(wrong[i], MPI_T_PVAR_ALL_HANDLES), class_);
        T(MPI_T_pvar_stop(wrong[i], handle), class_);
        T(MPI_T_pvar_read(wrong[i], handle, &value), class_);
        T(MPI_T_pvar_readreset(wrong[i], handle, &value), class_);
        T(MPI_T_pvar_reset(wrong[i], handle), class_);
        T(MPI_T_pvar_write(wrong[i], handle, &value), class_);
        T(MPI_T_pvar_session_free(&wrong[i]), class_);
        CHECK(here == handle);
    }
    /* Handles: of another session, freed, none. */
    for (int i = 0; i < 4; i++) {
        MPI_T_pvar_handle stranger = i == 0 ? handle : i == 1 ? gone : i == 2 ? MPI_T_PVAR_HANDLE_NULL : pvar_wrong;
        MPI_T_pvar_session session = i == 0 ? two : one;
        const int class_ = MPI_T_ERR_INVALID_HANDLE;
        T(MPI_T_pvar_start(session, stranger), class_);
        T(MPI_T_pvar_stop(session, stranger), class_);
        T(MPI_T_pvar_read(session, stranger, &value), class_);
        T(MPI_T_pvar_readreset(session, stranger, &value), class_);
        T(MPI_T_pvar_reset(session, stranger), class_);
        T(MPI_T_pvar_write(session, stranger, &value), class_);
        T(MPI_T_pvar_handle_free(session, &stranger), class_);
    }
    /* All handles are for starting, stopping and resetting. */
    T(MPI_T_pvar_read(one, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    T(MPI_T_pvar_readreset(one, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    T(MPI_T_pvar_write(one, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    freed = MPI_T_PVAR_ALL_HANDLES;
    T(MPI_T_pvar_handle_free(one, &freed), MPI_T_ERR_INVALID_HANDLE);
    MPI(MPI_T_pvar_start(one, MPI_T_PVAR_ALL_HANDLES));
    MPI(MPI_T_pvar_stop(one, MPI_T_PVAR_ALL_HANDLES));
    MPI(MPI_T_pvar_reset(one, MPI_T_PVAR_ALL_HANDLES));
    /* What is always on, and can only be read. */
    T(MPI_T_pvar_start(one, always), MPI_T_ERR_PVAR_NO_STARTSTOP);
    T(MPI_T_pvar_stop(one, always), MPI_T_ERR_PVAR_NO_STARTSTOP);
    T(MPI_T_pvar_reset(one, always), MPI_T_ERR_PVAR_NO_WRITE);
    T(MPI_T_pvar_write(one, always, &value), MPI_T_ERR_PVAR_NO_WRITE);
    T(MPI_T_pvar_readreset(one, always, &value), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_INT(value, 1);
    T(MPI_T_pvar_read(one, handle, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_pvar_readreset(one, handle, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_pvar_write(one, handle, NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_pvar_session_free(&one));
    MPI(MPI_T_pvar_session_free(&two));
    T(MPI_T_pvar_read(one, handle, &value), MPI_T_ERR_INVALID_SESSION);
}

static void categories(void)
{
    int num, number = 5, indices[2] = {-7, -7};
    MPI(MPI_T_category_get_num(&num));
    T(MPI_T_category_get_num(NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_index(NULL, &number), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_index("waiting", NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_index("Waiting", &number), MPI_T_ERR_INVALID_NAME);
    MPI(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    int bad[] = {-1, num, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        const int class_ = MPI_T_ERR_INVALID_INDEX;
        T(MPI_T_category_get_info(bad[i], NULL, NULL, NULL, NULL, &number, NULL, NULL), class_);
        T(MPI_T_category_get_cvars(bad[i], 2, indices), class_);
        T(MPI_T_category_get_pvars(bad[i], 2, indices), class_);
        T(MPI_T_category_get_events(bad[i], 2, indices), class_);
        T(MPI_T_category_get_categories(bad[i], 2, indices), class_);
        T(MPI_T_category_get_num_events(bad[i], &number), class_);
    }
    MPI(MPI_T_category_get_index("waiting", &num));
    T(MPI_T_category_get_num_events(num, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_cvars(num, 1, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_pvars(num, 1, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_events(num, 1, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_categories(num, 1, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_category_get_cvars(num, -1, indices), MPI_T_ERR_INVALID);
    MPI(MPI_T_category_get_cvars(num, 0, NULL));
    CHECK(number == 5 && indices[0] == -7);
    MPI(MPI_T_category_get_cvars(num, 1, indices));
    CHECK(indices[0] >= 0 && indices[1] == -7);
}

static void events(void)
{
    int num, number = 5, sources, event;
    MPI_Count ticks = 5;
    MPI_Info info, none = MPI_INFO_NULL, wrong_info = (MPI_Info) MPI_INT;
    MPI_T_event_registration registration, stale;
    MPI(MPI_T_event_get_num(&num));
    T(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
    T(MPI_T_event_get_index(NULL, &number), MPI_T_ERR_INVALID);
    T(MPI_T_event_get_index("peer_lost", NULL), MPI_T_ERR_INVALID);
    T(MPI_T_event_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
    MPI(MPI_T_event_get_index("peer_lost", &event));
    MPI(MPI_T_source_get_num(&sources));
    T(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID);
    T(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
    MPI(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    int bad[] = {-1, num, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        const int class_ = MPI_T_ERR_INVALID_INDEX;
        int source = i == 1 ? sources : bad[i];
        T(MPI_T_event_get_info(bad[i], NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), class_);
        T(MPI_T_event_handle_alloc(bad[i], NULL, none, &registration), class_);
        T(MPI_T_source_get_info(source, NULL, NULL, NULL, NULL, NULL, &ticks, NULL, NULL), class_);
        T(MPI_T_source_get_timestamp(source, &ticks), class_);
    }
    CHECK(number == 5 && ticks == 5);
    number = -1;
    MPI(MPI_T_event_get_info(event, NULL, NULL, NULL, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL));
    CHECK_INT(number, 1);
    T(MPI_T_event_handle_alloc(event, NULL, none, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_event_handle_alloc(event, NULL, wrong_info, &registration), MPI_T_ERR_INVALID);
    MPI(MPI_Info_create(&info));
    const char *values[] = {"0", "-1", "many", "99999999999"};
    for (int i = 0; i < 4; i++) {
        MPI(MPI_Info_set(info, "oxmpi_event_queue", values[i]));
        T(MPI_T_event_handle_alloc(event, NULL, info, &registration), MPI_T_ERR_INVALID);
    }
    MPI(MPI_T_event_handle_alloc(event, NULL, none, &registration));
    MPI(MPI_T_event_handle_alloc(event, NULL, none, &stale));
    MPI_T_event_registration freed = stale;
    MPI(MPI_T_event_handle_free(freed, NULL, NULL));
    T(MPI_T_event_handle_set_info(registration, info), MPI_T_ERR_INVALID);
    T(MPI_T_event_handle_set_info(registration, wrong_info), MPI_T_ERR_INVALID);
    MPI(MPI_T_event_handle_set_info(registration, none));
    T(MPI_T_event_handle_get_info(registration, NULL), MPI_T_ERR_INVALID);
    /* Levels of safety: unknown ones, and one without a function. */
    for (int level = -1; level <= 4; level += 5) {
        T(MPI_T_event_register_callback(registration, (MPI_T_cb_safety) level, none, NULL, callback), MPI_T_ERR_INVALID);
        T(MPI_T_event_callback_set_info(registration, (MPI_T_cb_safety) level, none), MPI_T_ERR_INVALID);
        T(MPI_T_event_callback_get_info(registration, (MPI_T_cb_safety) level, &info), MPI_T_ERR_INVALID);
    }
    T(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, none), MPI_T_ERR_INVALID);
    T(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
    T(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, wrong_info, NULL, callback), MPI_T_ERR_INVALID);
    MPI(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, none, NULL, callback));
    T(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, wrong_info), MPI_T_ERR_INVALID);
    MPI_T_event_registration wrong[] = {NULL, registration_wrong, stale};
    for (int i = 0; i < 3; i++) {
        const int class_ = MPI_T_ERR_INVALID_HANDLE;
        MPI_Info used;
        T(MPI_T_event_handle_set_info(wrong[i], none), class_);
        T(MPI_T_event_handle_get_info(wrong[i], &used), class_);
        T(MPI_T_event_register_callback(wrong[i], MPI_T_CB_REQUIRE_NONE, none, NULL, callback), class_);
        T(MPI_T_event_callback_set_info(wrong[i], MPI_T_CB_REQUIRE_NONE, none), class_);
        T(MPI_T_event_callback_get_info(wrong[i], MPI_T_CB_REQUIRE_NONE, &used), class_);
        T(MPI_T_event_set_dropped_handler(wrong[i], NULL), class_);
        T(MPI_T_event_handle_free(wrong[i], NULL, NULL), class_);
    }
    /* Instances: a registration is none. */
    MPI_T_event_instance instances[] = {NULL, instance_wrong, (MPI_T_event_instance) registration};
    for (int i = 0; i < 3; i++) {
        const int class_ = MPI_T_ERR_INVALID_HANDLE;
        T(MPI_T_event_read(instances[i], 0, &number), class_);
        T(MPI_T_event_copy(instances[i], &number), class_);
        T(MPI_T_event_get_timestamp(instances[i], &ticks), class_);
        T(MPI_T_event_get_source(instances[i], &number), class_);
    }
    CHECK(number == 1 && ticks == 5);
    MPI(MPI_T_event_handle_free(registration, NULL, NULL));
    MPI(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    int provided = 7;
    watchdog(argv[0]);
    uninitialized(0);
    uninitialized(1);
    T(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    T(MPI_T_init_thread(17, &provided), MPI_T_ERR_INVALID);
    CHECK_INT(provided, 7);
    uninitialized(0);
    MPI(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    /* Without MPI, and with it, whose error handlers would end the job. */
    for (int with = 0; with < 2; with++) {
        if (with)
            start(&argc, &argv);
        control();
        performance();
        categories();
        events();
    }
    MPI(MPI_T_finalize());
    uninitialized(0);
    uninitialized(1);
    MPI(MPI_Finalize());
    uninitialized(0);
    return conclude();
}
