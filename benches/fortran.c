/* What a Fortran call costs over a C call: the twin of fortran.F90. Not part of `make bench`:
 *
 *     mpicc -O2 fortran.c -o c; mpifort -O2 -DMPIF fortran.F90 -o mpif; mpifort -O2 fortran.F90 -o mpi
 *     mpifort -O2 -DF08 fortran.F90 -o f08
 *     for i in 1 2 3 4 5; do for program in c mpif mpi f08; do chrt -f 5 mpiexec -n 2 ./$program 200000; done; done
 *
 * The medians are in RESULTS-fortran.md.
 */
#include <float.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LESS(best, start, n) \
    do { \
        double ns = (MPI_Wtime() - start) / n * 1e9; \
        if (ns < best) best = ns; \
    } while (0)

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, rank;
    double rank_ns = DBL_MAX, round_trip_ns = DBL_MAX, x = 0;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 5; round++) {
        double start = MPI_Wtime();
        for (int i = 0; i < n; i++)
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        LESS(rank_ns, start, n);
        start = MPI_Wtime();
        for (int i = 0; i < n; i++) {
            if (rank == 0) {
                MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &status);
            } else {
                MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
                MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
            }
        }
        LESS(round_trip_ns, start, n);
    }
    if (rank == 0)
        printf("MPI_Comm_rank ns%8.2f   half round trip of 8 bytes ns%10.2f\n", rank_ns, round_trip_ns / 2);
    MPI_Finalize();
    return 0;
}
