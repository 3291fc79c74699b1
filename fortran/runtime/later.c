/* Copies of sections that nonblocking calls work on. The program gets a generalized request that MPI polls
   (MPICH's MPIX_Grequest_start): when the call is complete, what it received is copied to the
   section, and only then is the program's request complete. Invariant: a copy lives until its call is complete. */

#include "section.h"

#ifndef PROFILING

#define MOST_PARTS 2

struct later {
  MPI_Request inner, outer;
  MPI_Status status;
  int code;
  _Atomic int busy;
  int count;
  struct {
    struct descriptor array;
    void *copy;
    MPI_Count bytes;
    int writes;
  } kept[MOST_PARTS];
};

static int look(void *extra, MPI_Status *unused)
{
  struct later *later = extra;
  int complete = 0;
  (void)unused;
  /* Another thread may ask for the status at the same time. */
  if (__atomic_exchange_n(&later->busy, 1, __ATOMIC_ACQUIRE)) return MPI_SUCCESS;
  if (later->inner != MPI_REQUEST_NULL) {
    later->code = PMPI_Test(&later->inner, &complete, &later->status);
    if (later->code != MPI_SUCCESS) complete = 1;
  }
  if (complete) {
    later->inner = MPI_REQUEST_NULL;
    for (int i = 0; i < later->count; i++)
      if (later->kept[i].writes) copy_back(&later->kept[i].array, later->kept[i].copy, later->kept[i].bytes);
    PMPI_Grequest_complete(later->outer);
  }
  __atomic_store_n(&later->busy, 0, __ATOMIC_RELEASE);
  return MPI_SUCCESS;
}

static int query(void *extra, MPI_Status *status)
{
  struct later *later = extra;
  *status = later->status;
  return later->code;
}

static int release(void *extra)
{
  struct later *later = extra;
  for (int i = 0; i < later->count; i++) free(later->kept[i].copy);
  free(later);
  return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
  struct later *later = extra;
  return complete ? MPI_SUCCESS : PMPI_Cancel(&later->inner);
}

int parts_keep(struct part *const parts[], int count, MPI_Request *request)
{
  struct later *later = NULL;
  for (int i = 0; i < count; i++) {
    struct part *part = parts[i];
    if (!part->copy) continue;
    /* The call is at work already: whatever fails now, its copies have to stay. */
    if (!later && !(later = calloc(1, sizeof *later))) {
      for (; i < count; i++) parts[i]->copy = NULL, parts[i]->copy_back_to = NULL;
      return part_refuse(part, "no memory for the request");
    }
    later->kept[later->count].array = *part->array;
    later->kept[later->count].copy = part->copy;
    later->kept[later->count].bytes = part->bytes;
    later->kept[later->count++].writes = part->copy_back_to != NULL;
    part->copy = NULL;
    part->copy_back_to = NULL;
  }
  if (!later) return MPI_SUCCESS;
  later->inner = *request;
  int code = PMPIX_Grequest_start(query, release, cancel, look, NULL, later, request);
  later->outer = *request;
  return code;
}

#endif
