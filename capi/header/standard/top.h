/* mpi.h of oxmpi for the standard ABI of MPI 5.0, for C89 and later and for C++. Programs compiled with it run on every library
 * with this ABI.
 * Made from the entry points in capi/src by capi/build.rs; changes made here are lost. */
