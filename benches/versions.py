#!/usr/bin/env python3
"""Compares two builds of oxmpi, interleaved: the time of the second divided by that of the first, cell by cell.

    benches/versions.py OLD/target/stage target/stage latency:2 rate:2 collective:4:bcast [--rounds 7]

Each argument after the two prefixes is a program of benches/ with its number of ranks and perhaps operations. A round runs the program on both builds,
in turns of order. A value counts where the cache line between the cores took about as long (within a quarter) before and after
it, and in both runs of the pair: the host moves the cores, and everything of two ranks follows the line. A cell is the median of
the ratios of its pairs; below 1 the second build is faster. The last line of a table is the geometric mean of its cells.
"""

import argparse
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from libraries import WORK, build, Own
from run import RESULT, execute

NEAR = 1.25
MODES = {"bandwidth": ("bandwidth", ["one"]), "rate": ("bandwidth", ["rate"])}


def near(*times):
    return min(times) > 0 and max(times) / min(times) <= NEAR


def values_of(prefix, name, ranks, arguments, timeout=240):
    program, mode = MODES.get(name, (name, []))
    command = [str(prefix / "bin/mpiexec"), "-n", str(ranks), str(WORK / "bin/mpich" / program), *mode, *arguments]
    status, output, errors, _wall, _foreign = execute(command, {"LD_LIBRARY_PATH": str(prefix / "lib")}, timeout)
    if status != "ok":
        sys.exit(f"{' '.join(command)}: {status}\n{errors[-2000:]}")
    values = {}
    for series, size, value, _unit, better, before, after in RESULT.findall(output):
        cost = float(value) if better == "lower" else 1 / float(value)
        values[series, int(size)] = (cost, float(before or 0), float(after or 0))
    return values


def pairs(old, new, always):
    for key in old.keys() & new.keys():
        (a, *lines_a), (b, *lines_b) = old[key], new[key]
        if always or near(*lines_a, *lines_b):
            yield key, b / a, sum(lines_a) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("what", nargs="+", metavar="PROGRAM:RANKS")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1, help="budget of a value")
    parser.add_argument("--any-line", action="store_true", help="count all pairs")
    options = parser.parse_args()
    build([Own("oxmpi", "oxmpi", "mpich")])
    for what in options.what:
        program, ranks, *operations = what.split(":")
        ratios, lines = defaultdict(list), defaultdict(list)
        for turn in range(options.rounds):
            order = [options.old.resolve(), options.new.resolve()]
            found = {}
            for prefix in order if turn % 2 == 0 else reversed(order):
                found[prefix] = values_of(prefix, program, int(ranks), [str(options.seconds), *operations])
            for key, ratio, line in pairs(found[order[0]], found[order[1]], options.any_line):
                ratios[key].append(ratio)
                lines[key].append(line)
        print(f"\n{program}, {ranks} ranks, {options.rounds} rounds: new / old")
        medians = {}
        for key in sorted(ratios):
            medians[key] = statistics.median(ratios[key])
            print(f"  {key[0]:24} {key[1]:9}  {medians[key]:5.2f}   {min(ratios[key]):.2f} to {max(ratios[key]):.2f}, "
                  f"{len(ratios[key])} pairs, line {statistics.median(lines[key]):.0f} ns")
        if medians:
            mean = math.exp(statistics.fmean(map(math.log, medians.values())))
            print(f"  geometric mean of {len(medians)} cells: {mean:.3f}", flush=True)
        else:
            print("  no pair of runs with the line at one place", flush=True)


if __name__ == "__main__":
    main()
