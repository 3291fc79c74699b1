#!/usr/bin/env python3
"""Context ids: every strategy and store of the papers beside each other and beside the peers; writes benches/context_ids.md.

    benches/context_ids.py                              everything, about eight minutes; plots into benches/plots/
    benches/context_ids.py --only simulation            what depends on no machine (but for the times of lookups)
    benches/context_ids.py --only constructors --libs openmpi,impi --ranks 2,4 --rounds 1 --output /tmp/x.md

Parts: `simulation`, the fragmentation benchmark of paper 002 on up to 128 simulated ranks (exact: rounds, bytes, density) and the
lookups; `constructors`, the default strategy against the peers (communicators.c); `many`, 200,000 live
communicators (many.c); `strategies`, the others in the same program; `fragmentation`, paper 002 on real ranks, all of them. A round runs the parts that are left one after another, so runs of one
kind are neighbours in time; no run begins after --minutes, and none takes longer than --timeout. What was measured while other
processes used the machine is marked at the head of the tables, which then compare nothing.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import libraries
import run
from libraries import LIBRARIES, ROOT, WORK, Unavailable

PARTS = ["simulation", "constructors", "many", "strategies", "fragmentation"]
STRATEGIES = ["lease", "eager", "mask", "queue", "disjoint", "candidate", "highest"]
PROGRAMS = ["communicators", "fragmentation", "many"]
SERIES = {
    "dup": "MPI_Comm_dup and free", "idup64": "MPI_Comm_idup, 64 outstanding, and free", "split": "MPI_Comm_split and free",
    "create_group": "MPI_Comm_create_group of half, and free", "merge": "the same by recursive merging",
    "create_group2": "MPI_Comm_create_group of two, and free", "merge2": "the same by merging",
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="parts: " + ",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=5.5, help="of runs, after the simulation; none begins later")
    parser.add_argument("--timeout", type=float, default=30, help="seconds a run may take")
    parser.add_argument("--libs", default="mpich,openmpi,impi", help="the peers")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--budget", type=float, default=0.05, help="seconds for each value")
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--many", type=int, default=200_000, help="live communicators")
    parser.add_argument("--output", type=Path, default=ROOT / "benches" / "context_ids.md")
    options = parser.parse_args()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    options.only = options.only.split(",")
    for part in options.only:
        if part not in PARTS:
            parser.error(f"unknown part {part}; known: {', '.join(PARTS)}")
    return options


def simulate():
    output = subprocess.run(["cargo", "bench", "--features", "papers", "--bench", "context_ids"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


class Column:
    """A strategy of ours, or a peer."""

    def __init__(self, name, library, environment=None, oversubscribed=None):
        self.name, self.library, self.environment, self.oversubscribed = name, library, environment or {}, oversubscribed or {}

    def run(self, program, arguments, ranks, timeout):
        oversubscribed = ranks > run.os.cpu_count()
        environment = {**self.library.variables(), **self.environment, **(self.oversubscribed if oversubscribed else {})}
        return run.execute(self.library.command(program, arguments, ranks, oversubscribed), environment, timeout)


def peers(options):
    for name in filter(None, options.libs.split(",")):
        try:
            LIBRARIES[name].provide()
            # With more ranks than cores MPICH collapses, unless it is told to yield; its better half is compared.
            oversubscribed = libraries.THROTTLE if name == "mpich" else {}
            yield Column(LIBRARIES[name].title + (", yielding where oversubscribed" if oversubscribed else ""), LIBRARIES[name], oversubscribed=oversubscribed)
        except (Unavailable, KeyError) as error:
            print(f"without {name}: {error}", flush=True)


def plan(options, strategies, others):
    """Part, program, arguments, ranks and columns of each group of runs in a round."""
    constructors = [options.budget]
    for ranks in options.ranks if "constructors" in options.only else []:
        yield "constructors", "communicators", constructors, ranks, [strategies[0], *others]
    if "many" in options.only:
        yield "many", "many", [options.many], 2, strategies[:1]
    for ranks in options.ranks if "strategies" in options.only else []:
        yield "strategies", "communicators", constructors, ranks, strategies[1:]
    for case in ("large", "small") if "fragmentation" in options.only else []:
        for ranks in (8, 16):
            if ranks in options.ranks:
                yield "fragmentation", "fragmentation", [case, options.splits], ranks, [*strategies, *others]


def measure(options):
    libraries.PROGRAMS[:] = PROGRAMS
    libraries.use_papers()
    strategies = [Column(name, LIBRARIES["oxmpi"], {"OXMPI_CONTEXT_STRATEGY": name}) for name in STRATEGIES]
    others = list(peers(options))
    LIBRARIES["oxmpi"].provide()
    libraries.build([column.library for column in [strategies[0], *others]])
    results, failed = [], {}
    busy, children, began = run.busy_seconds(), run.children_seconds(), time.monotonic()
    for turn in range(options.rounds):
        for part, program, arguments, ranks, columns in plan(options, strategies, others):
            # The third round of what matters less is left out.
            if part != "constructors" and turn > 1:
                continue
            for column in columns:
                what = (program, arguments[0], ranks, column.name)
                if failed.get(what, 0) > 1 or time.monotonic() - began > options.minutes * 60:
                    continue
                status, output, errors, wall, foreign = column.run(program, arguments, ranks, options.timeout)
                values = {f"{series} {size}": float(value) for series, size, value, *_ in run.RESULT.findall(output)}
                if status != "ok":
                    failed[what] = failed.get(what, 0) + 1
                results.append({"program": program, "case": str(arguments[0]), "ranks": ranks, "column": column.name,
                                "status": status, "foreign": foreign, "values": values})
                print(f"{turn + 1}/{options.rounds} {program} {arguments} {ranks} ranks {column.name}: {status}, {wall:.1f} s"
                      + (f", others used {foreign:.2f} cores" if foreign > run.FOREIGN_LIMIT else ""), flush=True)
                if status != "ok":
                    print("    " + (errors or output)[-300:], flush=True)
    # Over the whole time: most runs are too short for the kernel's accounting to tell who else ran.
    foreign = (run.busy_seconds() - busy - (run.children_seconds() - children)) / max(time.monotonic() - began, 0.1)
    return results, max(foreign, 0.0)


def table(head, rows):
    widths = [max(len(str(row[at])) for row in [head, *rows]) for at in range(len(head))]
    line = lambda row: "| " + " | ".join(str(cell).ljust(width) if at == 0 else str(cell).rjust(width)
                                         for at, (cell, width) in enumerate(zip(row, widths))) + " |"
    rule = "|" + "|".join("-" * (width + 1) + (":" if at else "-") for at, width in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)]) + "\n"


def simulated_tables(simulated):
    text = ""
    runs = [entry for entry in simulated if entry["what"] == "fragmentation"]
    for ranks, case in dict.fromkeys((entry["ranks"], entry["case"]) for entry in runs):
        chosen = [entry for entry in runs if (entry["ranks"], entry["case"]) == (ranks, case)]
        text += f"\n### {ranks} ranks, {case}, {chosen[0]['splits']:.0f} splits\n\n"
        text += table(["", "reductions", "most", "bytes", "ids taken", "array", "tree", "levels"], [
            [entry["strategy"], f"{entry['reductions']:.2f}", entry["most"], f"{entry['bytes']:.0f}", f"{entry['taken']:.0f}",
             *(f"{entry['density'][store]:.2f}" for store in ("array", "tree", "levels"))] for entry in chosen])
    return text


def lookup_table(simulated):
    rows = [entry for entry in simulated if entry["what"] == "lookup"]
    kinds = list(dict.fromkeys((entry["live"], entry["sparse"]) for entry in rows))
    find = {(entry["store"], entry["live"], entry["sparse"]): entry for entry in rows}
    return table(["ns (density)", "array", "tree", "levels"], [
        [f"{live} communicators{', every 16th id' if sparse else ''}",
         *(f"{find[s, live, sparse]['nanoseconds']:.1f} ({find[s, live, sparse]['density']:.2f})" for s in ("array", "tree", "levels"))]
        for live, sparse in kinds])


def median(results, program, case, ranks, column, key):
    values = [entry["values"][key] for entry in results
              if (entry["program"], entry["ranks"], entry["column"]) == (program, ranks, column)
              and (case is None or entry["case"] == case) and key in entry["values"]]
    return statistics.median(values) if values else None


def factors(results, names, show):
    """MPI_Comm_create_group against the algorithm that users wrote before it, and its independence of the parent's size."""
    rows = []
    for ranks in dict.fromkeys(entry["ranks"] for entry in results if entry["program"] == "communicators"):
        for native, merged, what in (("create_group", "merge", "half"), ("create_group2", "merge2", "two")):
            times = [(median(results, "communicators", None, ranks, name, f"{native} -1"),
                      median(results, "communicators", None, ranks, name, f"{merged} -1")) for name in names]
            if any(one and other for one, other in times):
                rows.append([f"{what} of {ranks} ranks", *(show(other / one if one and other else None) for one, other in times)])
    if not rows:
        return ""
    text = "\n### Recursive merging of intercommunicators / MPI_Comm_create_group\n\n" + table(["times as long", *names], rows)
    return text + ("\nThat a small group costs the same in every parent is in \"MPI_Comm_create_group of two\": it has no reason to grow "
                   "with the number of ranks but that the others, who wait, share the cores.\n")


def measured_tables(results, quiet):
    found = list(dict.fromkeys(entry["column"] for entry in results))
    names = [name for name in STRATEGIES if name in found] + [name for name in found if name not in STRATEGIES]
    gains = []
    peers = [name for name in names if name not in STRATEGIES]
    show = lambda value: "–" if value is None else f"{value:.3g}"
    text = ""
    for series, title in SERIES.items():
        rows = []
        for ranks in dict.fromkeys(entry["ranks"] for entry in results if entry["program"] == "communicators"):
            values = {name: median(results, "communicators", None, ranks, name, f"{series} -1") for name in names}
            if not any(values.values()):
                continue
            best = min((values[name] for name in peers if values[name]), default=None)
            gain = best / values["lease"] if best and values.get("lease") else None
            if gain and not series.startswith("merge"):
                gains.append((gain, f"{title}, {ranks} ranks"))
            rows.append([f"{ranks} ranks", *(show(values[name]) for name in names), *([show(gain)] if quiet else [])])
        if rows:
            text += f"\n### {title}, µs\n\n" + table(["", *names, *(["best peer / lease"] if quiet else [])], rows)
    if gains and quiet:
        worst = min(gains)
        text = f"\nThe default against the best peer: at least {worst[0]:.2f} times as fast ({worst[1]}).\n" + text
    text += factors(results, names, show)
    many = [median(results, "many", None, 2, "lease", f"{series} -1") for series in ("first", "last", "few", "many")]
    if all(many):
        live = next(entry["case"] for entry in results if entry["program"] == "many")
        text += f"\n### {int(live):,} live duplicates of MPI_COMM_WORLD, 2 ranks\n\n" + table(
            ["", "the second thousand", "the last thousand", "last / second"],
            [["MPI_Comm_dup, µs", show(many[0]), show(many[1]), show(many[1] / many[0])],
             ["half round trip of 4 bytes on the newest, ns", show(many[2]), show(many[3]), show(many[3] / many[2])]])
    rows = []
    for case in ("large", "small"):
        for ranks in dict.fromkeys(entry["ranks"] for entry in results if entry["program"] == "fragmentation"):
            for part, what in ((50, "median"), (95, "95 %")):
                rows.append([f"{case}, {ranks} ranks, {what}",
                             *(show(median(results, "fragmentation", case, ranks, name, f"split {part}")) for name in names)])
    if rows:
        text += "\n### A split under fragmentation (paper 002), µs on rank 0\n\n" + table(["", *names], rows)
    return text


def head(options, results, foreign):
    revision = run.text_of(["git", "describe", "--always", "--dirty"])
    text = f"""# Context ids: strategies, stores, peers

Written by `benches/context_ids.py`; do not edit. Revision {revision}. What the strategies do is in `docs/context-ids.md`.

"Printed" strategies are those of the papers for processes of one thread, without what keeps them from deadlocks; no job can
choose them. All others make sure first that all members have begun. Reductions and bytes are per allocation, of one rank;
ids taken: on a rank at the end, with those leased; the rest is the density of the three stores.
"""
    if results:
        failed = sorted({f"{entry['column']} ({entry['program']}, {entry['ranks']} ranks)" for entry in results if entry["status"] != "ok"})
        text += f"\n{len(results)} runs, up to {options.rounds} of a kind, medians; other processes used {foreign:.2f} of {run.os.cpu_count()} cores meanwhile."
        if foreign > run.FOREIGN_LIMIT:
            text += (" **So the times below are no measurements, and say nothing about who is faster: run it again on a quiet machine.** "
                     "What is simulated depends on no machine, but for the times of lookups.")
        text += f" Failed: {', '.join(failed)}.\n" if failed else "\n"
    return text


def plots(simulated, results, note, directory):
    """With matplotlib, as report.py does. Returns the lines for the report."""
    source = WORK / "context-ids.json"
    WORK.mkdir(parents=True, exist_ok=True)
    source.write_text(json.dumps({"simulated": simulated, "results": results, "strategies": STRATEGIES, "note": note}))
    directory.mkdir(parents=True, exist_ok=True)
    python = sys.executable
    if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode:
        environment = WORK / "plot-venv"
        try:
            if not (environment / "bin" / "python").exists():
                libraries.virtual_environment(environment, ["matplotlib"])
            python = str(environment / "bin" / "python")
        except Unavailable as error:
            print(f"no plots: {error}", flush=True)
            return ""
    drawn = subprocess.run([python, str(libraries.HERE / "context_ids_plot.py"), str(source), str(directory)])
    if drawn.returncode:
        print("no plots, see above; the tables are written nevertheless", flush=True)
    return "\n" + "".join(f"![{path.stem}](plots/{path.name})\n" for path in sorted(directory.glob("context-ids-*.svg")))


def main():
    options = parse_arguments()
    simulated = simulate() if "simulation" in options.only else []
    results, foreign = measure(options) if options.only != ["simulation"] else ([], 0.0)
    quiet = foreign <= run.FOREIGN_LIMIT
    text = head(options, results, foreign)
    measured = "\n## Measured\n" + measured_tables(results, quiet) if results else ""
    text += "" if not quiet else measured
    if simulated:
        text += "\n## Simulated: fragmentation (paper 002)\n" + simulated_tables(simulated)
        text += "\n## Lookup by context id\n\n" + lookup_table(simulated)
    text += measured.replace("## Measured", "## Under load", 1) if not quiet else ""
    text += plots(simulated, results, "" if quiet else " (machine under load)", options.output.parent / "plots")
    options.output.write_text(text)
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
