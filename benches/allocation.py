#!/usr/bin/env python3
"""MPI_Alloc_mem and MPI_Win_allocate on oxmpi and on the peers: allocation.c, the libraries in turn.

usage: benches/allocation.py [--rounds N] [--ranks N ...] [--most BYTES] [--library NAME ...] [--before PREFIX] [--of KIND ...]

Each cell is alloc + touch + free in us a call, the median over the rounds. --before: an installed oxmpi to compare with. Prints the tables
for benches/RESULTS-rma.md.
"""

import argparse
import os
import statistics
from collections import defaultdict

import libraries
from rma import measured

PARTS = ("alloc", "touch", "free")
WHAT = {"first": "memory that was not allocated before", "again": "allocated, touched and freed repeatedly", "untouched": "not touched"}


def size_name(size):
    for unit, power in (("GB", 30), ("MB", 20), ("KB", 10)):
        if size >> power:
            return f"{size >> power} {unit}"
    return f"{size} B"


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else "0"


def tables(kind, ranks, most, chosen, rounds):
    cells = defaultdict(lambda: defaultdict(list))
    for _ in range(rounds):
        for library in chosen:
            for row, (value, _probe) in measured(library, "allocation", ["-w", kind, most], ranks).items():
                cells[row][library.name].append(value)
    sizes = sorted({int(row.split()[1]) for row in cells})
    lines = []
    for series, text in WHAT.items():
        parts = [part for part in PARTS if series != "untouched" or part != "touch"]
        lines += [f"### {kind}, {ranks} ranks, {text}: {' + '.join(parts)}, us", "",
                  "| bytes | " + " | ".join(library.title for library in chosen) + " |", "|---|" + "---:|" * len(chosen)]
        for size in sizes:
            line = f"| {size_name(size)} |"
            for library in chosen:
                values = [cells[f"{series}_{part} {size} (us)"][library.name] for part in parts]
                line += f" {' + '.join(short(statistics.median(one)) for one in values) if all(values) else '-'} |"
            lines.append(line)
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2])
    parser.add_argument("--most", type=int, default=1 << 30)
    parser.add_argument("--library", nargs="*", default=["oxmpi", "mpich", "openmpi", "impi"])
    parser.add_argument("--before")
    parser.add_argument("--of", nargs="*", default=["alloc_mem", "win_allocate"])
    options = parser.parse_args()
    libraries.PROGRAMS[:] = ["allocation"]
    chosen = []
    if options.before:
        chosen.append(libraries.Library("before", "oxmpi before", "mpich", directory=os.path.abspath(options.before)))
    for name in options.library:
        try:
            libraries.LIBRARIES[name].provide()
            chosen.append(libraries.LIBRARIES[name])
        except libraries.Unavailable as why:
            print(f"left out: {name}: {why}")
    libraries.build(chosen)
    for ranks in options.ranks:
        for kind in options.of:
            print(tables(kind, ranks, options.most, chosen, options.rounds), flush=True)


if __name__ == "__main__":
    main()
