#!/usr/bin/env python3
"""Compares two builds of oxmpi, interleaved: the programs of run.py on the one and the other in turn, cell by cell.

    benches/compare.py OLD/target/stage target/stage              all cells of 2 to 16 ranks
    benches/compare.py OLD NEW --ranks 2,4 --only collective,nonblocking --rounds 7
    benches/compare.py OLD NEW --only collective --cells allreduce,bcast:65536
    benches/compare.py OLD NEW --env OXMPI_SHM=no                 both builds with a variable (again and again)
    benches/compare.py OLD NEW --again                            only the cells that looked slower, more rounds
    benches/compare.py OLD NEW --report                           only the table of what was measured before

A round runs each program on both builds, the next round in the other order. Probes, placements of the cores, and runs that do not count are
those of run.py. A ratio is old / new, in the direction in which above 1 the new build is better. The benchmark two-level is MPI_Allreduce on 8
ranks of two pretended nodes.

--again adds its rounds to those that the cells have, so that a cell that was slow by chance comes right and one that is slow stays. Where a build
has changed since, its cells start anew. --state names the file of the numbers, for several comparisons side by side.
"""

import argparse
import copy
import hashlib
import json
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path

import libraries
import report
from libraries import WORK, Library
from run import BENCHMARKS, Benchmark, chosen, description, plan, run_rounds

SLOWER = 1 / 1.05  # ratios below are listed, and repeated by --again
TITLES = {**report.TITLES, "two-level": "MPI_Allreduce on two pretended nodes (µs)"}
TWO_LEVEL = Benchmark("two-level", "collective", [8], lambda s: [s, "allreduce"], (0.3, 0.02), 120, environment={"OXMPI_PRETEND_NODES": "2"})
COMPARED = {**BENCHMARKS, "two-level": TWO_LEVEL}
LEAST = 0.1  # s a value: with less, runs of few cells are too short for the use of the machine by others to be seen
USUAL = ["latency", "bandwidth", "bidirectional", "rate", "exchange", "collective", "rooted", "nonblocking", "two-level", "startup", "typed"]
FORMS = ("iallreduce", "allreduce_init")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="prefix of the one build, such as target/stage")
    parser.add_argument("new", type=Path, help="prefix of the other")
    parser.add_argument("--ranks", default="2,4,8,16", metavar="N,M", help="default 2,4,8,16")
    parser.add_argument("--only", metavar="A,B", help="benchmarks: " + ",".join(name for name in COMPARED if name != "limits"))
    parser.add_argument("--cells", metavar="A,B", help="operations of collective.c, each perhaps with :BYTES")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for both builds")
    parser.add_argument("--rounds", type=int, help="default 5; 9 with --again")
    parser.add_argument("--again", action="store_true", help="more rounds of the cells that looked slower")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--quick", action="store_true", help="short runs")
    parser.add_argument("--keep-disturbed", action="store_true", help="count runs although others used the machine")
    parser.add_argument("--state", type=Path, default=WORK / "compare.json", help="default target/bench/compare.json")
    options = parser.parse_args()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    options.only = chosen(parser, options.only, COMPARED, USUAL)
    options.cells = options.cells.split(",") if options.cells else None
    options.rounds = options.rounds or (9 if options.again else 5)
    if any("=" not in variable for variable in options.env):
        parser.error("--env takes NAME=VALUE")
    if (options.again or options.report) and not options.state.exists():
        parser.error(f"{options.state} does not exist: nothing was measured yet")
    return options


def build_of(name, prefix, environment):
    for needed in ("bin/mpiexec", "lib/libmpi.so.12", "include/mpi.h"):
        if not (prefix / needed).exists():
            sys.exit(f"{prefix / needed} is missing: {prefix} is no prefix of oxmpi")
    return Library(name, name, "mpich", directory=prefix.resolve(), environment=environment)


def fingerprint(library):
    files = [library.prefix / name for name in ("lib/libmpi.so.12", "bin/mpiexec")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def with_cells(benchmark, ranks, cells=None):
    """The benchmark with these numbers of ranks, and, of collective.c, these cells: the fewer, the more time each."""
    part = copy.copy(benchmark)
    part.ranks = [n for n in benchmark.ranks if n in ranks]
    least = LEAST
    if cells and part.program == "collective":
        part.arguments = lambda seconds: [seconds, *cells]
        least = max(LEAST, min(0.4, 1 / len(cells)))
    part.seconds = (max(benchmark.seconds[0], least), benchmark.seconds[1])
    return part


def wanted(options):
    return [with_cells(COMPARED[name], options.ranks, options.cells) for name in options.only
            if not options.cells or COMPARED[name].program == "collective"]


def slower_benchmarks(slower):
    """What --again runs: of collective.c the cells that looked slower, of other programs all sizes."""
    cells = defaultdict(set)
    for _place, name, ranks, series, size in slower:
        cells[name, ranks].add(f"{series}:{size}" if size > 0 else series)
    return [with_cells(COMPARED[name], [ranks], sorted(named)) for (name, ranks), named in cells.items()]


def ratios(medians):
    """(placement, benchmark, ranks, series, size) -> how many times as good the new build is as the old one."""
    both = {key for key, row in medians.table.items() if {"old", "new"} <= row.keys()}
    return {key: medians.gain(key, medians.value(key, "new"), medians.value(key, "old")) for key in medians.table if key in both}


def mean_of(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def label(key, placed=False):
    place, _, ranks, series, size = key
    return " ".join(filter(None, [f"{ranks} ranks", series, report.bytes_text(size) if size >= 0 else "", f"({place})" if placed else ""]))


def forms(medians):
    """Nonblocking and persistent MPI_Allreduce over the blocking one of the same run."""
    rows = [["", "old", "new"]]
    for key in medians.table:
        place, name, ranks, series, size = key
        if name == "nonblocking" and series in FORMS:
            blocking = (place, name, ranks, "allreduce", size)
            over = [medians.value(key, build) / medians.value(blocking, build) if medians.value(key, build) and medians.value(blocking, build)
                    else None for build in ("old", "new")]
            rows.append([label(key, placed=True), *map(report.number, over)])
    return "\n### Time over that of blocking MPI_Allreduce\n\n" + report.markdown_table(rows) if len(rows) > 1 else ""


def text_of(data):
    medians = report.Medians(data)
    found = ratios(medians)
    text = "".join(f"- `{call['command'].strip()}`, {call['date']}\n" for call in data["calls"])
    text += "".join(f"- {name}: {data['builds'][name][0]}\n" for name in ("old", "new"))
    text += "".join(f"- with {variable}\n" for variable in data["environment"])
    lost = sum(not run["counted"] for run in data["runs"])
    text += f"- {len(data['runs'])} runs, {lost} not counted, because others used the machine\n"
    failed = report.failures(data)
    text += f"\nRuns that failed:\n\n{failed}" if failed else ""
    for place, name in dict.fromkeys(key[:2] for key in sorted(found)):
        keys = [key for key in found if key[:2] == (place, name)]
        keys.sort(key=lambda key: key[2])
        rows = [["", "old", "new", "old / new", "runs"]]
        for key in keys:
            (old, n), (new, m) = medians.table[key]["old"], medians.table[key]["new"]
            rows.append([label(key), report.number(old), report.number(new), f"{found[key]:.2f}", f"{n}, {m}"])
        rows.append(["geometric mean", "", "", f"{mean_of([found[key] for key in keys]):.3f}", ""])
        text += f"\n### {TITLES[name]}; {report.PLACEMENT_TITLES[place]}\n\n" + report.markdown_table(rows)
    text += forms(medians)
    if found:
        text += f"\nGeometric mean of {len(found)} cells: {mean_of(found.values()):.3f}\n"
        slower = sorted((ratio, key) for key, ratio in found.items() if ratio < SLOWER)
        text += f"More than 5 % slower: {len(slower)}\n" + "".join(f"  {ratio:.2f}  {key[1]}: {label(key, placed=True)}\n" for ratio, key in slower)
    return text


def main():
    options = parse_arguments()
    data = json.loads(options.state.read_text()) if options.again or options.report else {"runs": [], "calls": [], "environment": options.env}
    environment = dict(variable.split("=", 1) for variable in data["environment"])
    builds = [build_of("old", options.old, environment), build_of("new", options.new, environment)]
    if options.report:
        print(text_of(data))
        return
    if options.again:
        slower = [key for key, ratio in ratios(report.Medians(data)).items() if ratio < SLOWER]
        benchmarks, options.ranks = slower_benchmarks(slower), None
        if any(data["builds"][build.name][1] != fingerprint(build) for build in builds):
            print("a build has changed: its cells start anew")
            data["runs"] = []
    else:
        benchmarks = wanted(options)
    data["builds"] = {build.name: (str(build.prefix), fingerprint(build)) for build in builds}
    libraries.STAGE = builds[0].prefix
    options.libs = ["old", "new"]
    data["calls"].append(description(options, libraries.build(builds)))
    orders = [list(plan(benchmarks, options, order)) for order in (builds, builds[::-1])]
    run_rounds(data, [orders[turn % 2] for turn in range(options.rounds)], options, options.state)
    print("\n" + text_of(data))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was measured is kept: --report shows it")
