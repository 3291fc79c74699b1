#include <stddef.h>
#include <stdint.h>

#define OXMPI 1
#define MPICH_VERSION "5.0.0"

/* Handles are integers, but for files. */
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Message;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Session;
typedef int MPI_Win;
typedef struct ADIOI_FileD *MPI_File;

typedef long MPI_Aint;
typedef int MPI_Fint;
/* C89 and C++98 have no long long: -pedantic would warn of it. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#endif
typedef long long MPI_Count;
typedef long long MPI_Offset;
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#define MPI_AINT_FMT_DEC_SPEC "%ld"
#define MPI_AINT_FMT_HEX_SPEC "%lx"

typedef struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} MPI_Status;

typedef struct MPI_F08_status {
  MPI_Fint count_lo;
  MPI_Fint count_hi_and_cancelled;
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
} MPI_F08_status;

/* The tool information interface. */
typedef struct MPIR_T_enum_s *MPI_T_enum;
typedef struct MPIR_T_cvar_handle_s *MPI_T_cvar_handle;
typedef struct MPIR_T_pvar_handle_s *MPI_T_pvar_handle;
typedef struct MPIR_T_pvar_session_s *MPI_T_pvar_session;
typedef struct MPIR_T_event_registration_s *MPI_T_event_registration;
typedef struct MPIR_T_event_instance_s *MPI_T_event_instance;

/* Extensions. */
typedef int MPIX_Grequest_class;
typedef int MPIX_Stream;
typedef struct MPIR_Async_thing *MPIX_Async_thing;
typedef struct MPIX_Iov {
  void *iov_base;
  MPI_Aint iov_len;
} MPIX_Iov;
typedef struct QMPI_Context {
  void **storage_stack;
} QMPI_Context;
#define MPIO_Request MPI_Request
#define MPIO_REQUEST_NULL 0
#define MPIO_Test MPI_Test
#define MPIO_Wait MPI_Wait
#define PMPIO_Test PMPI_Test
#define PMPIO_Wait PMPI_Wait
#define HAVE_MPI_GREQUEST 1
