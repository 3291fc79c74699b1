/* mpi.h of oxmpi: MPI 5.0 with MPICH's ABI, for C89 and later and for C++.
 * Made from the entry points in capi/src by capi/build.rs; changes made here are lost. */
