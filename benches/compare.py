#!/usr/bin/env python3
"""Compares two builds of oxmpi, interleaved: the programs of run.py on the one and the other in turn, cell by cell.

    benches/compare.py OLD/target/stage target/stage              all cells of 2 to 16 ranks
    benches/compare.py OLD NEW --ranks 2,4 --only collective,nonblocking --rounds 30
    benches/compare.py OLD NEW --only collective --cells allreduce,bcast:65536
    benches/compare.py OLD NEW --env NAME=VALUE                   both builds with a variable of theirs
    benches/compare.py OLD NEW --again                            more rounds of the cells that looked slower, or have too few
    benches/compare.py OLD NEW --append                           more rounds of all, say for the placement that has few
    benches/compare.py OLD NEW --report                           only the table of what was measured before

A round runs each program on the one build and then on the other, the next round in the other order. Placements, and runs that do not count,
are those of run.py. The runs are short and many: the host moves the cores every few seconds, so two long runs seldom meet the same
placement. A ratio is the median over each run of the old build with each of the new one in one placement, old / new, turned so that above 1 the
new build is better: on one build against itself it scattered less than the ratio of medians, that of minima, or the median over neighbours
in time. A cell with fewer runs of a build than five in a placement is shown, but not judged.

The benchmark two-level is MPI_Allreduce on 8 ranks of two pretended nodes.

--again and --append add to the rounds that the cells have, so that a cell slow by chance comes right and one that is slow stays. Where a
build has changed since, the cells start anew. --state names the file of the numbers, for several comparisons side by side.
"""

import argparse
import copy
import hashlib
import json
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
TWO_LEVEL = Benchmark("two-level", "collective", [8], lambda s: [s, "allreduce"], timeout=120, environment={"OXMPI_PRETEND": "nodes=2"})
ROOTED = copy.copy(BENCHMARKS["rooted"])
ROOTED.ranks = [2, 4, 8, 16]  # with all peers that takes too long for a full run
COMPARED = {**BENCHMARKS, "rooted": ROOTED, "two-level": TWO_LEVEL}
FEWEST = 5  # runs of each build, for a cell that is judged
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
    parser.add_argument("--rounds", type=int, help="default 20")
    parser.add_argument("--seconds", type=float, default=0.02, help="budget of a value; default 0.02")
    parser.add_argument("--again", action="store_true", help="more rounds of the cells that looked slower, or have too few")
    parser.add_argument("--append", action="store_true", help="keep the rounds of earlier calls and add to them")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--keep-disturbed", action="store_true", help="count runs although others used the machine")
    parser.add_argument("--state", type=Path, default=WORK / "compare.json", help="default target/bench/compare.json")
    options = parser.parse_args()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    options.only = chosen(parser, options.only, COMPARED, USUAL)
    options.cells = options.cells.split(",") if options.cells else None
    options.rounds = options.rounds or 20
    options.quick = False
    if any("=" not in variable for variable in options.env):
        parser.error("--env takes NAME=VALUE")
    options.continues = options.again or options.append or options.report
    if options.continues and not options.state.exists():
        parser.error(f"{options.state} does not exist: nothing was measured yet")
    if options.continues and options.env:
        parser.error("--env is that of the first call")
    return options


def build_of(name, prefix, environment):
    for needed in ("bin/mpiexec", "lib/libmpi.so.12", "include/mpi.h"):
        if not (prefix / needed).exists():
            sys.exit(f"{prefix / needed} is missing: {prefix} is no prefix of oxmpi")
    return Library(name, name, "mpich", directory=prefix.resolve(), environment=environment)


def fingerprint(library):
    files = [library.prefix / name for name in ("lib/libmpi.so.12", "bin/mpiexec")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def part_of(benchmark, ranks, seconds, cells=None):
    """The benchmark with these numbers of ranks, so long for each value, and, of collective.c, these cells."""
    part = copy.copy(benchmark)
    part.ranks = [n for n in benchmark.ranks if n in ranks]
    part.seconds = (seconds * (5 if benchmark.name == "rate" else 1),) * 2
    if cells and part.program == "collective":
        part.arguments = lambda seconds: [seconds, *cells]
    return part


def wanted(options):
    return [part_of(COMPARED[name], options.ranks, options.seconds, options.cells) for name in options.only
            if not options.cells or COMPARED[name].program == "collective"]


def repeated(data, seconds):
    """What --again runs: the cells that looked slower or are judged in no placement; of programs other than collective.c all sizes."""
    placements, cells = defaultdict(list), defaultdict(set)
    for cell in cells_of(data):
        placements[cell.key[1:]].append(cell)
    for (name, ranks, series, size), found in placements.items():
        if any(cell.slower() for cell in found) or not any(cell.judged for cell in found):
            cells[name, ranks].add(f"{series}:{size}" if size > 0 else series)
    return [part_of(COMPARED[name], [ranks], seconds, sorted(named)) for (name, ranks), named in cells.items()]


class Cell:
    """What was measured of (placement, benchmark, ranks, series, size): samples of both builds, as times, so that less is better."""

    def __init__(self, key, medians):
        self.key, self.samples = key, [medians.samples[key][build] for build in ("old", "new")]
        self.medians = [medians.value(key, build) for build in ("old", "new")]
        ratios = sorted(medians.gain(key, new, old) for old in self.samples[0] for new in self.samples[1])
        self.ratio = statistics.median(ratios)
        self.middle = [ratios[int(len(ratios) * part)] for part in (0.25, 0.75)]
        self.judged = min(map(len, self.samples)) >= FEWEST

    def slower(self):
        return self.judged and self.ratio < SLOWER


def cells_of(data):
    medians = report.Medians(data)
    return [Cell(key, medians) for key, row in medians.samples.items() if {"old", "new"} <= row.keys()]


def label(key, placed=False):
    place, _, ranks, series, size = key
    return " ".join(filter(None, [f"{ranks} ranks", series, report.bytes_text(size) if size >= 0 else "", f"({place})" if placed else ""]))


def forms(data):
    """Nonblocking and persistent MPI_Allreduce over the blocking one of the same run, medians of the runs."""
    over = defaultdict(lambda: defaultdict(list))
    for run in data["runs"]:
        if run["benchmark"] != "nonblocking" or not run["counted"]:
            continue
        values = {(v["placement"], v["series"], v["size"]): v["value"] for v in run["values"] if v["placement"] in report.PLACEMENTS}
        for (place, series, size), value in values.items():
            blocking = values.get((place, "allreduce", size))
            if series in FORMS and blocking:
                over[place, "nonblocking", run["ranks"], series, size][run["library"]].append(value / blocking)
    rows = [["", "old", "new", "runs"]]
    for key in sorted(over, key=lambda key: (key[0], key[2], key[4], key[3])):
        builds = [over[key][name] for name in ("old", "new")]
        rows.append([label(key, placed=True), *(report.number(statistics.median(x)) if x else report.number(None) for x in builds),
                     ", ".join(str(len(x)) for x in builds)])
    return "\n### Time over that of blocking MPI_Allreduce\n\n" + report.markdown_table(rows) if len(rows) > 1 else ""


def cells_table(cells):
    rows = [["", "old", "new", "old / new", "middle half", "runs"]]
    for cell in cells:
        rows.append([label(cell.key), *map(report.number, cell.medians), f"{cell.ratio:.2f}", "{:.2f} to {:.2f}".format(*cell.middle),
                     ", ".join(str(len(x)) for x in cell.samples)])
    return report.markdown_table(rows) + mean_line(cells)


def mean_line(cells):
    judged = [cell.ratio for cell in cells if cell.judged]
    return f"\nGeometric mean of {len(judged)} cells: {statistics.geometric_mean(judged):.3f}\n" if judged else ""


def text_of(data):
    text = "".join(f"- `{call['command'].strip()}`, {call['date']}\n" for call in data["calls"])
    text += "".join(f"- {name}: {data['builds'][name][0]}\n" for name in ("old", "new"))
    text += "".join(f"- with {variable}\n" for variable in data["environment"])
    lost = sum(not run["counted"] for run in data["runs"])
    text += f"- {len(data['runs'])} runs, {lost} not counted, because others used the machine\n"
    failed = report.failures(data)
    text += f"\nRuns that failed:\n\n{failed}" if failed else ""
    first = {}
    for series in (v["series"] for run in data["runs"] for v in run["values"]):
        first.setdefault(series, len(first))
    cells = sorted(cells_of(data), key=lambda cell: (*cell.key[:3], first[cell.key[3]], cell.key[4]))
    for place, name in dict.fromkeys(cell.key[:2] for cell in cells):
        text += f"\n### {TITLES[name]}; {report.PLACEMENT_TITLES[place]}\n\n" + cells_table([c for c in cells if c.key[:2] == (place, name)])
    text += forms(data) + "\n### All\n" + mean_line(cells)
    slower = sorted((cell for cell in cells if cell.slower()), key=lambda cell: cell.ratio)
    text += f"More than 5 % slower: {len(slower)}\n"
    text += "".join(f"  {c.ratio:.2f} ({c.middle[0]:.2f} to {c.middle[1]:.2f})  {c.key[1]}: {label(c.key, placed=True)}\n" for c in slower)
    return text + f"Not judged, fewer than {FEWEST} runs of a build: {sum(not cell.judged for cell in cells)}\n"


def main():
    options = parse_arguments()
    data = json.loads(options.state.read_text()) if options.continues else {"runs": [], "calls": [], "environment": options.env}
    environment = dict(variable.split("=", 1) for variable in data["environment"])
    builds = [build_of("old", options.old, environment), build_of("new", options.new, environment)]
    if options.report:
        print(text_of(data))
        return
    if options.again:
        benchmarks, options.ranks = repeated(data, options.seconds), None
        if not benchmarks:
            print(text_of(data) + "Nothing to repeat.")
            return
    else:
        benchmarks = wanted(options)
    if options.continues and any(data["builds"][build.name][1] != fingerprint(build) for build in builds):
        print("a build has changed: its cells start anew")
        data["runs"] = []
    data["builds"] = {build.name: (str(build.prefix), fingerprint(build)) for build in builds}
    libraries.STAGE = builds[0].prefix
    options.libs = ["old", "new"]
    data["calls"].append(description(options, libraries.build(builds)))
    orders = [list(plan(benchmarks, options, order)) for order in (builds, builds[::-1])]
    run_rounds(data, [orders[turn % 2] for turn in range(options.rounds)], options, options.state, terse=True)
    print("\n" + text_of(data))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was measured is kept: --report shows it")
