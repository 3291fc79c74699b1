! What every Fortran test begins with. One text serves three styles: mpif.h, the module mpi, and
! (STYLE_F08) the module mpi_f08; the runner compiles it three times.
#ifdef STYLE_F08
#define USE_MPI use mpi_f08
#define ASYNC , asynchronous
#define INCLUDE_MPI
#define T_COMM type(MPI_Comm)
#define T_DATATYPE type(MPI_Datatype)
#define T_ERRHANDLER type(MPI_Errhandler)
#define T_FILE type(MPI_File)
#define T_GROUP type(MPI_Group)
#define T_INFO type(MPI_Info)
#define T_MESSAGE type(MPI_Message)
#define T_OP type(MPI_Op)
#define T_REQUEST type(MPI_Request)
#define T_SESSION type(MPI_Session)
#define T_WIN type(MPI_Win)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s,n) type(MPI_Status) :: s(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define ERROR_OF(s) s%MPI_ERROR
#define ITS_SOURCE(s,i) s(i)%MPI_SOURCE
#else
! Flang forbids it where the interface is implicit.
#define ASYNC
#ifdef STYLE_MPIF
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#else
#define USE_MPI use mpi
#define INCLUDE_MPI
#endif
#define T_COMM integer
#define T_DATATYPE integer
#define T_ERRHANDLER integer
#define T_FILE integer
#define T_GROUP integer
#define T_INFO integer
#define T_MESSAGE integer
#define T_OP integer
#define T_REQUEST integer
#define T_SESSION integer
#define T_WIN integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s,n) integer :: s(MPI_STATUS_SIZE,n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define ERROR_OF(s) s(MPI_ERROR)
#define ITS_SOURCE(s,i) s(MPI_SOURCE,i)
#endif
#define CHECK_VARIABLES integer :: rank = -1, size_ = -1, failures = 0, ierr = -1
#define CHECK(condition) call check(condition,__LINE__)
#define OK call check(ierr==MPI_SUCCESS,__LINE__)
#define FAILS(expected) call fails(ierr,expected,__LINE__)
