#!/usr/bin/env python3
"""Windows on oxmpi and on the peers: rma.c (synchronisation) and rma_ops.c (operations), the libraries in turn.

usage: benches/rma.py [--rounds N] [--seconds S] [--ranks N ...] [--library NAME ...] [--write]

Each cell is the median over the rounds whose cache-line probe is near that of oxmpi's run of the round: the host moves virtual cores,
and only runs on the same pair of cores compare. --write: into benches/RESULTS-rma.md. A library that fails or takes too long for a
program has no cells from there on.
"""

import argparse
import os
import statistics
from collections import defaultdict

import libraries
import pages
from run import execute

LIMIT = 90  # s for a program
SLEEP_LIMIT = 20  # the same where the target sleeps: with the peers nothing moves then
CASES = [("synchronisation", "rma", []), ("operations, MPI_Win_allocate", "rma_ops", ["-w", "allocate"]),
         ("operations, MPI_Win_create over malloc", "rma_ops", ["-w", "create"]),
         ("operations, MPI_Win_create over 400 bytes of malloc", "rma_ops", ["-w", "create", "-b", "400"]),
         ("operations, MPI_Win_create over 400 bytes of malloc, oxmpi_share=edges", "rma_ops", ["-w", "create", "-b", "400", "-i", "edges"]),
         ("operations, MPI_Win_create over static memory", "rma_ops", ["-w", "static"]),
         ("operations, MPI_Win_create over the stack", "rma_ops", ["-w", "stack"]),
         ("operations, MPI_Win_create, the target sleeps", "rma_ops", ["-w", "create", "-s", "sleep"]),
         ("operations, MPI_Win_create, the target computes", "rma_ops", ["-w", "create", "-s", "compute"]),
         ("operations, MPI_Win_create, the target is stopped", "rma_ops", ["-w", "create", "-s", "stop"])]


def measured(library, program, arguments, ranks):
    """The values of a run by row, with the probe of the cache line; those printed so far if it takes too long."""
    command = library.command(program, arguments, ranks, oversubscribed=ranks > len(os.sched_getaffinity(0)))
    limit = SLEEP_LIMIT if "-s" in arguments else LIMIT
    _status, output, _errors, _wall, _foreign = execute(command, library.variables(), limit)
    rows = {}
    for line in output.splitlines():
        if line.startswith("RESULT"):
            fields = dict(word.split("=", 1) for word in line.split()[1:])
            rows[f"{fields['series']} {fields['size']} ({fields['unit']})"] = (float(fields["value"]), fields.get("line", ""))
    return rows


def near(one, two):
    probes = [float(probe) for probe in f"{one}/{two}".split("/") if probe not in ("", "-", "nan")]
    return not probes or min(probes) <= 0 or max(probes) / min(probes) < 1.4


# What is drawn: rows of the synchronisation and of the operations in memory of MPI_Win_allocate.
DRAWN = ["lock_exclusive 2 (ns)", "lock_all 2 (ns)", "fence 2 (ns)", "pscw 2 (ns)", "put_flush 8 (ns)", "get_flush 8 (ns)", "accumulate 8 (ns)",
         "fetch_and_op 8 (ns)", "compare_and_swap 8 (ns)", "get_accumulate 8 (ns)"]


def table(title, program, arguments, ranks, chosen, rounds):
    """The table as text, and its medians: row -> library -> value."""
    cells = defaultdict(lambda: defaultdict(list))
    for _ in range(rounds):
        first = None
        for library in chosen:
            found = measured(library, program, arguments, ranks)
            first = first or found
            for row, (value, probe) in found.items():
                if row in first and near(probe, first[row][1]):
                    cells[row][library.name].append(value)
    lines = [f"### {title}, {ranks} ranks", "", "| row | " + " | ".join(library.title for library in chosen) + " |",
             "|---|" + "---:|" * len(chosen)]
    medians = {row: {library.title: statistics.median(values[library.name]) for library in chosen if values[library.name]}
               for row, values in cells.items()}
    for row, values in medians.items():
        found = [f"{values[library.title]:.4g}" if library.title in values else "-" for library in chosen]
        lines.append(f"| {row} | " + " | ".join(found) + " |")
    return "\n".join([*lines, ""]), medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", default="0.05")
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--library", nargs="*", default=["oxmpi", "mpich", "openmpi", "impi"])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    libraries.PROGRAMS.extend(["rma", "rma_ops"])
    chosen = []
    for name in options.library:
        try:
            libraries.LIBRARIES[name].provide()
            chosen.append(libraries.LIBRARIES[name])
        except libraries.Unavailable as why:
            print(f"left out: {name}: {why}")
    libraries.build(chosen)
    texts, drawn = [], {}
    for ranks in options.ranks:
        for title, program, arguments in CASES:
            if program == "rma_ops" and ranks != options.ranks[0]:
                continue
            text, medians = table(title, program, [*arguments, options.seconds], ranks, chosen, options.rounds)
            texts.append(text)
            print(text, flush=True)
            if ranks == options.ranks[0] and "-w" in arguments and "allocate" in arguments:
                drawn.update((row, medians[row]) for row in DRAWN if row in medians)
    if options.write:
        pages.replace(libraries.HERE / "RESULTS-rma.md", "Windows", "ns a call or MB/s. The libraries take turns.\n\n" + "\n".join(texts))
        pages.draw("windows", f"Windows of MPI_Win_allocate (less is better), {options.ranks[0]} ranks", "ns a call", drawn)


if __name__ == "__main__":
    main()
