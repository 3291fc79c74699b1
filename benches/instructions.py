#!/usr/bin/env python3
"""Counts the instructions of calls with 8 bytes on two ranks, inside the library, by callgrind: MPI_Send and MPI_Recv, or collective operations.

    python3 benches/instructions.py [--collective] [PREFIX ...]      without any: target/stage

Only the rank that is counted runs under valgrind. The difference of a long and a short run leaves out the first calls, which
make rings. Of several runs the lowest is printed: in the others a message came late, and the call waited.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH, SHORT, LONG, RUNS = 16, 100, 300, 3
# Operations of instructions.c, and the functions that each calls.
COLLECTIVE = {
    "barrier": ["MPI_Barrier"],
    "bcast": ["MPI_Bcast"],
    "allreduce": ["MPI_Allreduce"],
    "reduce_scatter": ["MPI_Reduce_scatter"],
    "alltoall": ["MPI_Alltoall"],
    "gather": ["MPI_Gather"],
    "scatter": ["MPI_Scatter"],
    "scan": ["MPI_Scan"],
    "iallreduce": ["MPI_Iallreduce", "MPI_Wait"],
    "allreduce_init": ["MPI_Start", "MPI_Wait"],
}


def count(prefix, program, function, rank, batches, operation="messages"):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        valgrind = ["valgrind", "-q", "--tool=callgrind", f"--toggle-collect=*{function}", f"--callgrind-out-file={out}"]
        plain = [program, str(batches), operation]
        ranks = [valgrind + plain if number == rank else plain for number in (0, 1)]
        command = [f"{prefix}/bin/mpiexec", "-n", "1", *ranks[0], ":", "-n", "1", *ranks[1]]
        environment = dict(os.environ, LD_LIBRARY_PATH=f"{prefix}/lib")
        subprocess.run(command, check=True, env=environment, timeout=300, stdout=subprocess.DEVNULL)
        with open(out) as lines:
            return int(re.search(r"^(?:summary|totals): (\d+)", lines.read(), re.M)[1])


def main():
    collective = "--collective" in sys.argv
    prefixes = [word for word in sys.argv[1:] if word != "--collective"] or [os.path.join(HERE, "../target/stage")]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "instructions")
        subprocess.run([f"{prefixes[0]}/bin/mpicc", "-O2", f"{HERE}/instructions.c", "-o", program], check=True)
        for prefix in prefixes if collective else []:
            for operation, functions in COLLECTIVE.items():
                def least(rank, batches):
                    runs = [[count(prefix, program, function, rank, batches, operation) for function in functions] for _ in range(RUNS)]
                    return sum(map(min, zip(*runs)))
                counts = [(least(rank, LONG) - least(rank, SHORT)) / (LONG - SHORT) for rank in (0, 1)]
                print(f"{prefix}: {' and '.join(functions)} {counts[0]:.0f} on rank 0, {counts[1]:.0f} on rank 1", flush=True)
        for prefix in [] if collective else prefixes:
            for rank, function in enumerate(("MPI_Send", "MPI_Recv")):
                calls = (LONG - SHORT) * BATCH
                least = lambda batches: min(count(prefix, program, function, rank, batches) for _ in range(RUNS))
                print(f"{prefix}: {function} {(least(LONG) - least(SHORT)) / calls:.1f}", flush=True)


main()
