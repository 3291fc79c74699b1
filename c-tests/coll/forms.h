/* One operation in each of its forms: blocking, nonblocking, persistent. */
#ifndef FORMS_H
#define FORMS_H
#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* FORM(form, Allreduce, allreduce, (arguments without communicator), comm) */
#define FORM(form, Name, name, arguments, comm) do { \
        MPI_Request form_request = MPI_REQUEST_NULL; \
        if ((form) == BLOCKING) \
            MPI(MPI_##Name(FORM_OPEN arguments, comm)); \
        else if ((form) == NONBLOCKING) \
            MPI(MPI_I##name(FORM_OPEN arguments, comm, &form_request)); \
        else { \
            MPI(MPI_##Name##_init(FORM_OPEN arguments, comm, MPI_INFO_NULL, &form_request)); \
            MPI(MPI_Start(&form_request)); \
        } \
        form_end(form, &form_request); \
    } while (0)
#define FORM_OPEN(...) __VA_ARGS__

static CHECK_UNUSED void form_end(int form, MPI_Request *request)
{
    if (form == BLOCKING)
        return;
    MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == PERSISTENT) {
        CHECK(*request != MPI_REQUEST_NULL);
        MPI(MPI_Request_free(request));
    }
    CHECK(*request == MPI_REQUEST_NULL);
}
#endif
