"""Medians and tables from the recorded runs. Only runs that count, and only of one placement, are ever put together."""

import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import libraries
import pages
from libraries import LIBRARIES, WORK

OWN, LIMIT = "oxmpi", "limit"
TITLES = {
    "latency": "Latency, half round trip, 2 ranks (µs)",
    "bandwidth": "Bandwidth, 2 ranks, windows of up to 64 messages (GB/s)",
    "bidirectional": "Bandwidth in both directions together, 2 ranks (GB/s)",
    "rate": "Message rate, 8 bytes, window 64, 2 ranks (million/s)",
    "exchange": "Exchange of all ranks, a round to the last rank's completion (µs)",
    "collective": "Collectives, a call to the last rank's completion (µs)",
    "rooted": "MPI_Gather, MPI_Scatter, MPI_Scan, a call to the last rank's completion (µs)",
    "nonblocking": "A call and MPI_Wait, beside blocking MPI_Allreduce; iallreduce_x8: eight in flight (µs)",
    "startup": "MPI_Init and MPI_Finalize, slowest rank (ms)",
    "hello": "mpiexec -n N hello, whole command (s)",
    "memory": "Memory at 64 ranks (MB): per rank (pss), shared memory of the node (shared)",
    "idle": "A rank blocked in MPI_Recv: CPU time of the whole pause, and time to wake up",
    "datatype": "Pack and unpack of datatypes, beside a loop by hand (GB/s); making and committing them (ms)",
    "typed": "Ping-pong of datatypes, half round trip, 2 ranks (µs)",
    "op": "MPI_Reduce_local (µs)",
    "limits": "What the machine can do without MPI",
}
PLACEMENTS = ["separate", "siblings", "any"]
PLACEMENT_TITLES = {
    "separate": "Separate cores (cache line over 100 ns one way)",
    "siblings": "Siblings of one core (cache line under 100 ns one way)",
    "any": "Independent of the placement",
}


CORES = 2  # of all machines that these results are from
HAND_OVER = 1.1  # µs: one rank lets the next one on its core run
ALL_WAIT_FOR_ALL = ("allreduce", "allgather", "alltoall")  # of the others somebody waits for nobody, and runs ahead
# Times the size, at n ranks: what is copied or reduced at least, each result once; and what users' memory that touches.
CROWD_COPIES = {
    "bcast": lambda n: (n - 1, n),
    "reduce": lambda n: (n, n + 1),
    "allreduce": lambda n: (2 * n, 2 * n),
    "reduce_scatter": lambda n: (n, n + 1),
    "allgather": lambda n: (n * n, n + n * n),
    "alltoall": lambda n: (n * n, 2 * n * n),
}


class Medians:
    """(placement, benchmark, ranks, series, size) -> library -> median and number of runs."""

    def __init__(self, data):
        self.samples = samples = defaultdict(lambda: defaultdict(list))
        lines, above_line = defaultdict(list), defaultdict(list)
        self.kind = {}
        for run in data["runs"]:
            if not run["counted"]:
                continue
            for v in run["values"]:
                if v["placement"] not in PLACEMENTS:
                    continue  # the cores were moved meanwhile
                line = sum(v["probes"]) / 2 if v["placement"] != "any" else 0
                lines[v["placement"]].append(line)
                key = (v["placement"], run["benchmark"], run["ranks"], v["series"], v["size"])
                samples[key][run["library"]].append(v["value"])
                self.kind[key] = (v["unit"], v["better"])
                if (v["series"], v["size"]) == ("latency", 8):
                    above_line[v["placement"], run["library"]].append(1000 * v["value"] - line)
        self.table = {key: {lib: (statistics.median(x), len(x)) for lib, x in row.items()} for key, row in samples.items()}
        self.lines = {place: (statistics.median(x), min(x), max(x)) for place, x in lines.items()}
        self.above_line = {key: statistics.median(x) for key, x in above_line.items()}

    def value(self, key, library):
        found = self.table.get(key, {}).get(library)
        return found[0] if found else None

    def best_peer(self, key):
        """(value, name) of the best of the others, or None."""
        _, better = self.kind[key]
        peers = [(m, lib) for lib, (m, _) in self.table[key].items() if lib not in (OWN, LIMIT)]
        return (min(peers) if better == "lower" else max(peers)) if peers else None

    def gain(self, key, ours, other):
        """How many times as good ours is as the other: above 1 is better, whichever way the unit counts."""
        _, better = self.kind[key]
        good, bad = (other, ours) if better == "lower" else (ours, other)
        return good / bad if bad else float("inf")

    def limit(self, key):
        place, benchmark, ranks, series, size = key
        if benchmark == "latency" and 0 < size <= 8 and place in self.lines:
            return self.lines[place][0] / 1000
        if benchmark in ("latency", "bandwidth"):
            return self.value((place, "limits", 0, "limit_" + benchmark, size), LIMIT)
        if series == "barrier":
            return self.value((place, "limits", 0, f"yield_barrier_{ranks}", -1), LIMIT)
        if benchmark == "collective" and ranks > CORES:
            return self.limit_of_crowd(place, ranks, series, size)
        return None

    def limit_of_crowd(self, place, ranks, series, size):
        """µs: the turns that each core gives to its ranks, where all wait for all, and what both cores copy, at the rate
        that they have with as much memory as the operation touches."""
        moved, touched = (parts * size for parts in CROWD_COPIES[series](ranks))
        sizes = [k[4] for k in self.table if k[:4] == (place, "limits", 0, "both_copy")]
        fitting = [s for s in sizes if s >= touched] or sizes
        if not fitting:
            return None
        rate = self.value((place, "limits", 0, "both_copy", min(fitting) if fitting is not sizes else max(sizes)), LIMIT)
        turns = ranks / CORES if series in ALL_WAIT_FOR_ALL else 0
        return turns * HAND_OVER + moved / rate / 1000


def bytes_text(size):
    if size >= 2**20:
        return f"{size >> 20} MB"
    return f"{size >> 10} KB" if size >= 1024 else f"{size} B"


def number(value):
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def markdown_table(rows):
    """rows[0] is the head. Padded, so that it reads well in a terminal too."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))) + " |" for row in rows]
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def benchmark_table(medians, place, benchmark):
    keys = [k for k in medians.table if k[0] == place and k[1] == benchmark]
    if not keys:
        return ""
    first_seen = {series: i for i, series in reversed(list(enumerate(k[3] for k in keys)))}
    keys.sort(key=lambda k: (k[2], first_seen[k[3]], k[4]))
    several_ranks, several_series = len({k[2] for k in keys}) > 1, len({k[3] for k in keys}) > 1
    shown = [lib for lib in LIBRARIES if any(lib in medians.table[k] for k in keys)]
    limits = {k: medians.limit(k) for k in keys}
    only_limit = benchmark == "limits"
    with_own = OWN in shown and len(shown) > 1
    head = [""] + (["value"] if only_limit else [LIBRARIES[lib].title for lib in shown])
    head += ["gain over best peer"] if with_own else []
    head += ["limit", "of limit"] if any(limits.values()) else []
    rows = [head]
    most = max(n for k in keys for _, n in medians.table[k].values())
    for key in keys:
        _, _, ranks, series, size = key
        label = " ".join(filter(None, [f"{ranks} ranks" if several_ranks and not only_limit else "", series if several_series else "",
                                       bytes_text(size) if size >= 0 else ""]))
        if only_limit:
            rows.append([label, f"{number(medians.value(key, LIMIT))} {medians.kind[key][0]}"])
            continue
        if benchmark == "idle":
            label += f" ({medians.kind[key][0]})"
        cells = []
        for lib in shown:
            found = medians.table[key].get(lib)
            cells.append("–" if not found else number(found[0]) + (f" ({found[1]})" if found[1] < most else ""))
        ours, best = medians.value(key, OWN), medians.best_peer(key)
        if with_own:
            cells.append(f"{medians.gain(key, ours, best[0]):.2f} ({best[1]})" if ours is not None and best else "–")
        if any(limits.values()):
            limit = limits[key]
            cells += [number(limit), f"{medians.gain(key, ours, limit):.2f}" if limit and ours is not None else "–"]
        rows.append([label or benchmark, *cells])
    return f"\n### {TITLES[benchmark]}\n\n" + markdown_table(rows)


def targets(medians, place):
    """The figures the library has set itself, each with what was measured: (what, wanted, measured, kept or not)."""
    def worst(select, reference):
        gains = []
        for key in medians.table:
            ours, other = medians.value(key, OWN), reference(key)
            if key[0] == place and select(key) and ours is not None and other:
                gains.append((medians.gain(key, ours, other), f"{key[2]} ranks {key[3]} {bytes_text(key[4]) if key[4] >= 0 else ''}".strip()))
        return min(gains) if gains else None

    def peer(key):
        best = medians.best_peer(key)
        return best[0] if best else None

    def mean(select):
        gains = [medians.gain(key, medians.value(key, OWN), peer(key)) for key in medians.table
                 if key[0] == place and select(key) and medians.value(key, OWN) is not None and peer(key)]
        return (statistics.geometric_mean(gains), f"geometric mean of {len(gains)} cells") if gains else None

    crowd = lambda least, most: lambda k: k[1] == "collective" and k[2] >= 4 and least <= k[4] <= most
    large = lambda name, least: lambda k: k[1] == name and k[4] >= least
    rows = []
    excess = medians.above_line.get((place, OWN))
    if excess is not None:
        rows.append(("8-byte latency above the cache line", "at most 60 ns", f"{excess:.0f} ns", excess <= 60))
    rate = {"separate": 1.5, "siblings": 1.1}.get(place)
    wanted = [
        ("8-byte latency, gain over best peer", 1.0, worst(lambda k: k[1] == "latency" and k[4] == 8, peer)),
        ("8-byte message rate, gain over best peer", rate, worst(lambda k: k[1] == "rate", peer)),
        ("latency from 8 KB on, gain over best peer, worst size", 1.0, worst(large("latency", 8192), peer)),
        ("bandwidth from 8 KB on, gain over best peer, worst size", 1.0, worst(large("bandwidth", 8192), peer)),
        ("latency from 64 KB on, of the limit, worst size", 0.9, worst(large("latency", 65536), medians.limit)),
        ("bandwidth from 64 KB on, of the limit, worst size", 0.9, worst(large("bandwidth", 65536), medians.limit)),
        ("ring and random exchange, gain over best peer, worst case", 1.3, worst(lambda k: k[1] == "exchange", peer)),
        ("collectives of up to 1 KB from 4 ranks on, gain over best peer", 2.0, mean(crowd(-1, 1024))),
        ("collectives of 64 KB and 1 MB from 4 ranks on, gain over best peer", 1.7, mean(crowd(65536, 2**20))),
        ("collectives from 4 ranks on, gain over best peer, worst case", 1.0, worst(crowd(-1, 2**20), peer)),
        ("hello of 64 and 128 ranks, gain over best peer", 1.0, worst(lambda k: k[1] == "hello" and k[2] > 2, peer)),
        ("memory per rank, gain over best peer", 1.0, worst(lambda k: k[3].startswith("pss"), peer)),
        ("shared memory of the node, gain over best peer", 1.0, worst(lambda k: k[3].startswith("shared_node"), peer)),
    ]
    for what, least, found in wanted:
        if found and least:
            rows.append((what, f"{least}", f"{found[0]:.2f} ({found[1]})", found[0] >= least))
    idle = medians.value((place, "idle", 2, "idle_cpu", -1), OWN)
    if idle is not None:
        rows.append(("CPU time of a rank blocked in MPI_Recv", "under 0.1 s", f"{idle:.3f} s", idle < 0.1))
    if not rows:
        return ""
    table = [["", "wanted", "measured", ""]] + [[what, want, got, "kept" if kept else "MISSED"] for what, want, got, kept in rows]
    return "\n### Targets\n\n" + markdown_table(table)


def failures(data):
    seen = defaultdict(int)
    for run in data["runs"]:
        if run["status"] != "ok":
            seen[f"{run['benchmark']} with {run['ranks']} ranks on {run['library']}: {run['status']}"] += 1
    return "".join(f"- {what} ({count} times)\n" for what, count in seen.items())


def not_pinned(data):
    """Libraries whose ranks were not each on a core of its own with two ranks: their numbers mean something else."""
    free = {run["library"] for run in data["runs"] if run["ranks"] == 2 and len(run["places"]) == 2
            and (any(allowed != "1" for _, _, allowed in run["places"]) or len({cpu for _, cpu, _ in run["places"]}) < 2)}
    return f"Not pinned to two cores with 2 ranks: {', '.join(sorted(free))}.\n" if free else ""


def charts_of(medians):
    """What is drawn: placement -> latency, bandwidth, rate, collectives -> library -> medians."""
    places = {}
    for key in sorted(medians.table, key=lambda key: (key[2], key[4])):
        place, benchmark, ranks, series, size = key
        charts = places.setdefault(place, {"latency": {}, "bandwidth": {}, "rate": {}, "collective": {}})
        for lib in [name for name in [*LIBRARIES, LIMIT] if name in medians.table[key]]:
            title, value = "limit" if lib == LIMIT else LIBRARIES[lib].title, medians.value(key, lib)
            if series in ("limit_latency", "limit_bandwidth") or benchmark in ("latency", "bandwidth"):
                charts[series.removeprefix("limit_")].setdefault(title, []).append((size, value))
            elif benchmark == "rate":
                charts["rate"][title] = value
            elif benchmark == "collective":
                name = f"{series} {bytes_text(size)}" if size >= 0 else series
                charts["collective"].setdefault(str(ranks), {}).setdefault(title, {})[name] = value
    for charts in places.values():
        for what in ("latency", "bandwidth"):
            # a limit alone is no comparison
            if not set(charts[what]) - {"limit"}:
                charts[what] = {}
    return {place: charts for place, charts in places.items() if any(charts.values())}


def plots_of(medians, data, directory):
    """Draws the charts as SVG with matplotlib, installed by pip if need be, and leaves their numbers beside them. Returns the lines
    for a report in the folder above."""
    charts = charts_of(medians)
    if not charts:
        return ""
    directory.mkdir(parents=True, exist_ok=True)
    call = data["calls"][-1]
    source = directory / "charts.json"
    source.write_text(json.dumps({
        "commands": [f"{c['command'].strip()}, {c['date']}, revision {c['revision']}, {c['rounds']} rounds" for c in data["calls"]],
        "machine": call["machine"], "cores": CORES,
        "line_ns": {place: round(medians.lines[place][0], 1) for place in charts if place in medians.lines}, "places": charts,
    }, indent=1) + "\n")
    python = pages.with_matplotlib()
    if not python:
        return ""
    subprocess.run([python, str(libraries.HERE / "plot.py"), str(source), str(directory)], check=True)
    drawn = [path for path in sorted(directory.glob("*.svg")) if path.stem.rsplit("-", 1)[-1] in charts or path.stem.split("-")[0] == "collectives"]
    return "\n" + "".join(f"![{path.stem}]({directory.name}/{path.name})\n" for path in drawn)


def write(data, output, plots=None):
    medians = Medians(data)
    call = data["calls"][-1]
    used = [LIBRARIES[name].title for name in LIBRARIES if any(run["library"] == name for run in data["runs"])]
    counted = sum(run["counted"] for run in data["runs"])
    moved = sum(v["placement"] not in PLACEMENTS for run in data["runs"] for v in run["values"])
    text = "# Measured\n\n"
    text += "Written by `benches/run.py`; do not edit. Medians; a number in parentheses is the count of runs where it is not the full one.\n"
    text += "Gain: how many times as good as the best of the others, above 1 is better. Of limit: the same against the machine's limit.\n"
    text += "Only values of the same placement of the two cores are put together; the probe ran before and after each value.\n\n"
    text += "".join(f"- `{c['command'].strip()}`, {c['date']}, revision {c['revision'] or 'unknown'}, {c['rounds']} rounds\n" for c in data["calls"])
    text += f"- machine: {call['machine']}\n- libraries: {', '.join(used)}; programs built with {call['header']}"
    text += f" (one binary for all with MPICH's ABI) and Open MPI's mpicc\n- {len(data['runs'])} runs, {counted} counted (during the others, other processes used the machine)"
    text += f"; {moved} values left out because the cores were moved meanwhile\n"
    text += not_pinned(data)
    failed = failures(data)
    text += f"\nRuns that failed:\n\n{failed}" if failed else ""
    for place in PLACEMENTS:
        sections = targets(medians, place) + "".join(benchmark_table(medians, place, name) for name in TITLES)
        if sections:
            text += f"\n## {PLACEMENT_TITLES[place]}\n"
            if place != "any":
                middle, least, most = medians.lines[place]
                text += f"\nCache line, one way: median {middle:.0f} ns ({least:.0f} to {most:.0f} ns over all values).\n"
            text += sections
    if plots:
        text += plots_of(medians, data, plots)
    output.parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text(text)
    return text
