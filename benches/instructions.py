#!/usr/bin/env python3
"""Counts the instructions of MPI_Send and MPI_Recv of 8 bytes between two ranks, inside the library, by callgrind.

    python3 benches/instructions.py [PREFIX ...]      without any: target/stage

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


def count(prefix, program, function, rank, batches):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        valgrind = ["valgrind", "-q", "--tool=callgrind", f"--toggle-collect=*{function}", f"--callgrind-out-file={out}"]
        plain = [program, str(batches)]
        ranks = [valgrind + plain if number == rank else plain for number in (0, 1)]
        command = [f"{prefix}/bin/mpiexec", "-n", "1", *ranks[0], ":", "-n", "1", *ranks[1]]
        environment = dict(os.environ, LD_LIBRARY_PATH=f"{prefix}/lib")
        subprocess.run(command, check=True, env=environment, timeout=300, stdout=subprocess.DEVNULL)
        with open(out) as lines:
            return int(re.search(r"^(?:summary|totals): (\d+)", lines.read(), re.M)[1])


def main():
    prefixes = sys.argv[1:] or [os.path.join(HERE, "../target/stage")]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "instructions")
        subprocess.run([f"{prefixes[0]}/bin/mpicc", "-O2", f"{HERE}/instructions.c", "-o", program], check=True)
        for prefix in prefixes:
            for rank, function in enumerate(("MPI_Send", "MPI_Recv")):
                calls = (LONG - SHORT) * BATCH
                least = lambda batches: min(count(prefix, program, function, rank, batches) for _ in range(RUNS))
                print(f"{prefix}: {function} {(least(LONG) - least(SHORT)) / calls:.1f}", flush=True)


main()
