#!/usr/bin/env python3
"""Context ids: every strategy and store of the papers beside each other and beside the peers; writes benches/context_ids.md.

    benches/context_ids.py                  everything, five rounds, about ten minutes; plots into benches/plots/
    benches/context_ids.py --rounds 1 --simulation-only
    benches/context_ids.py --libs openmpi,impi --ranks 2,4 --output /tmp/x.md

Three parts: the fragmentation benchmark of paper 002 on simulated ranks (exact: rounds, bytes, density), the same as a program
on real ranks, and the constructors against the peers (communicators.c). Runs are interleaved; what was measured while other
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

STRATEGIES = ["lease", "eager", "mask", "queue", "disjoint", "candidate", "highest"]
PROGRAMS = ["communicators", "fragmentation"]
SERIES = {
    "dup": "MPI_Comm_dup and free", "idup64": "MPI_Comm_idup, 64 outstanding, and free", "split": "MPI_Comm_split and free",
    "create_group": "MPI_Comm_create_group of half, and free", "merge": "the same by recursive merging",
    "create_group2": "MPI_Comm_create_group of two, and free", "merge2": "the same by merging",
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--libs", default="mpich,openmpi,impi", help="the peers")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--budget", type=float, default=0.1, help="seconds for each value")
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--simulation-only", action="store_true")
    parser.add_argument("--output", type=Path, default=ROOT / "benches" / "context_ids.md")
    options = parser.parse_args()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    return options


def simulate():
    output = subprocess.run(["cargo", "bench", "--bench", "context_ids"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def columns(options):
    """Name, library and environment of each column."""
    yield from ((name, LIBRARIES["oxmpi"], {"OXMPI_CONTEXT_STRATEGY": name}) for name in STRATEGIES)
    for name in options.libs.split(","):
        try:
            LIBRARIES[name].provide()
            yield LIBRARIES[name].title, LIBRARIES[name], {}
        except (Unavailable, KeyError) as error:
            print(f"without {name}: {error}", flush=True)


def measure(options):
    libraries.PROGRAMS[:] = PROGRAMS
    chosen = list(columns(options))
    libraries.build([library for _, library, _ in chosen])
    jobs = [("communicators", [options.budget], ranks) for ranks in options.ranks]
    jobs += [("fragmentation", [case, options.splits], ranks) for case in ("large", "small") for ranks in (8, 16)
             if ranks in options.ranks]
    results, failed = [], {}
    busy, children, began = run.busy_seconds(), run.children_seconds(), time.monotonic()
    for turn in range(options.rounds):
        for program, arguments, ranks in jobs:
            for name, library, environment in chosen:
                if failed.get((program, ranks, name), 0) > 1:
                    continue
                command = library.command(program, arguments, ranks, ranks > run.os.cpu_count())
                status, output, errors, wall, foreign = run.execute(command, {**library.variables(), **environment}, 120)
                values = {f"{series} {size}": float(value) for series, size, value, *_ in run.RESULT.findall(output)}
                if status != "ok":
                    failed[program, ranks, name] = failed.get((program, ranks, name), 0) + 1
                results.append({"program": program, "case": str(arguments[0]), "ranks": ranks, "column": name, "status": status,
                                "foreign": foreign, "values": values})
                print(f"{turn + 1}/{options.rounds} {program} {arguments} {ranks} ranks {name}: {status}, {wall:.1f} s"
                      + (f", others used {foreign:.2f} cores" if foreign > run.FOREIGN_LIMIT else ""), flush=True)
                if status != "ok":
                    print("    " + (errors or output)[-300:], flush=True)
    # Over the whole time: most runs are too short for the kernel's accounting to tell who else ran.
    foreign = (run.busy_seconds() - busy - (run.children_seconds() - children)) / (time.monotonic() - began)
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


def measured_tables(results, quiet):
    names = list(dict.fromkeys(entry["column"] for entry in results))
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
            gain = f"{best / values['lease']:.1f}" if best and values["lease"] else "–"
            rows.append([f"{ranks} ranks", *(show(values[name]) for name in names), *([gain] if quiet else [])])
        if rows:
            text += f"\n### {title}, µs\n\n" + table(["", *names, *(["gain of lease"] if quiet else [])], rows)
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
        text += f"\n{len(results)} runs, {options.rounds} rounds; other processes used {foreign:.2f} of {run.os.cpu_count()} cores meanwhile."
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
        if not (environment / "bin" / "python").exists():
            libraries.virtual_environment(environment, ["matplotlib"])
        python = str(environment / "bin" / "python")
    subprocess.run([python, str(libraries.HERE / "context_ids_plot.py"), str(source), str(directory)], check=True)
    return "\n" + "".join(f"![{path.stem}](plots/{path.name})\n" for path in sorted(directory.glob("context-ids-*.png")))


def main():
    options = parse_arguments()
    simulated = simulate()
    results, foreign = ([], 0.0) if options.simulation_only else measure(options)
    quiet = foreign <= run.FOREIGN_LIMIT
    text = head(options, results, foreign)
    measured = "\n## Measured\n" + measured_tables(results, quiet) if results else ""
    text += "" if not quiet else measured
    text += "\n## Simulated: fragmentation (paper 002)\n" + simulated_tables(simulated)
    text += "\n## Lookup by context id\n\n" + lookup_table(simulated)
    text += measured.replace("## Measured", "## Under load", 1) if not quiet else ""
    text += plots(simulated, results, "" if quiet else " (machine under load)", options.output.parent / "plots")
    options.output.write_text(text)
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
