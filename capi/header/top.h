/* mpi.h of oxmpi: MPI 5.0 with MPICH's ABI, for C99 and C++.
 * Made from the entry points in capi/src by capi/build.rs; changes made here are lost. */
