"""The page of benches/threads.py: what its rows are, and how medians become tables and are held against what issue 6 asks for.

A run counts only if the host did not move the cores during it and nobody else used them; a table has one class of placement, and a cell that was never measured
in that class is a dash.
"""

import os
import statistics

import pages
from libraries import LIBRARIES

SCHEMES = ["collected", "suppressed", "counting", "never"]
PEERS = ["mpich", "openmpi", "impi"]
OBJECTS = ["predefined", "derived"]
THREADS = (1, 2, 4)
SHAPES = {"paper": "1 process with N threads, N with one", "pairs": "2 processes with N threads each"}
WHERES = {"world": "MPI_COMM_WORLD", "own": "a duplicate for each", "hints": "one duplicate with hints"}
CLASSES = {"separate": "cores without a common cache", "siblings": "cores that share their caches"}
MESSAGES = 12
COUNTED = [(level, objects, scheme) for level in ("single", "multiple") for objects in OBJECTS for scheme in SCHEMES]
ROWS = [
    *(("neighbor", ("pairs", "single", 1, objects)) for objects in OBJECTS),
    *(("neighbor", (shape, "multiple", threads, objects)) for shape in SHAPES for objects in OBJECTS for threads in THREADS),
    ("windows", ("single", "world", 1)),
    *(("windows", ("multiple", where, threads)) for where in WHERES for threads in THREADS),
]


def key(row, column):
    program, arguments = row
    return " ".join(map(str, (program, *arguments, column)))


def medians_of(runs, where):
    """By key: the medians of a class."""
    rates = {}
    for entry in runs:
        if entry["where"] == where and entry["rate"]:
            rates.setdefault(entry["key"], []).append(entry["rate"])
    return {name: statistics.median(values) for name, values in rates.items()}


def millions(rate):
    return f"{rate / 1e6:.2f}" if rate else "-"


def ratio(one, other):
    return f"{one / other:.2f}" if one and other else "-"


def table(medians, rows, own, label):
    """One row each, oxmpi's columns first, and the first of those to the best peer."""
    head = [*(name.split("/")[-1] for name in own), *(LIBRARIES[name].title for name in PEERS), "ratio"]
    lines = [f"| threads | {label} | " + " | ".join(head) + " |", "|---" * (len(head) + 2) + "|"]
    for row in rows:
        rates = [medians.get(key(row, column)) for column in [*own, *PEERS]]
        best = max((rate for rate in rates[len(own):] if rate), default=None)
        levels = [part for part in row[1] if part in ("single", "multiple")]
        threads = f"{[part for part in row[1] if isinstance(part, int)][0]}"
        threads += ", MPI_THREAD_SINGLE" if levels == ["single"] else ""
        what = [WHERES.get(part, part) for part in row[1] if part in WHERES or part in OBJECTS][0]
        lines.append(f"| {threads} | {what} | " + " | ".join([*map(millions, rates), ratio(rates[0], best)]) + " |")
    return "\n".join([*lines, ""])


def rates_text(medians):
    own = [f"oxmpi/{scheme}" for scheme in SCHEMES]
    page = []
    for shape, text in SHAPES.items():
        rows = [row for row in ROWS if row[0] == "neighbor" and row[1][0] == shape]
        page += [f"{text[0].upper()}{text[1:]}:", "", table(medians, rows, own, "objects")]
    rows = [row for row in ROWS if row[0] == "windows"]
    page += ["`benches/threads.c`: 2 processes with N threads each, windows of 64 messages of 8 bytes in one direction:", "",
             table(medians, rows, ["oxmpi"], "communicator")]
    return "\n".join(page)


def targets(medians):
    """What issue 6 asks for, with what was found."""
    def rate(shape, level, threads, objects, column="oxmpi/collected"):
        return medians.get(key(("neighbor", (shape, level, threads, objects)), column))

    lines = ["| | " + " | ".join(f"{shape}, {objects}" for shape in SHAPES for objects in OBJECTS) + " |", "|---" * 5 + "|"]
    cells = {"1 thread, MULTIPLE to SINGLE: at least 0.85": [], "2 threads to the best peer: at least 1.5": [],
             "4 threads to 2 threads: at least 0.8": []}
    alone, peers, crowd = cells.values()
    for shape in SHAPES:
        for objects in OBJECTS:
            one, two, four = (rate(shape, "multiple", threads, objects) for threads in THREADS)
            best = max((found for found in (rate(shape, "multiple", 2, objects, name) for name in PEERS) if found), default=None)
            # With one thread both shapes are the same program.
            alone.append(ratio(one, rate("pairs", "single", 1, objects)))
            peers.append(ratio(two, best))
            crowd.append(ratio(four, two))
    return "\n".join([*lines, *(f"| {what} | " + " | ".join(values) + " |" for what, values in cells.items()), ""])


def drawn(medians):
    """Rows of the picture: MPI_THREAD_MULTIPLE, predefined objects in both shapes, and the windows of threads.c."""
    rows = {}
    for row in ROWS:
        program, arguments = row
        threads = next(part for part in arguments if isinstance(part, int))
        if "multiple" not in arguments or "derived" in arguments:
            continue
        shape = "paper, " if "paper" in arguments else "pairs, " if "pairs" in arguments else f"{WHERES[arguments[1]]}, "
        for column in ["oxmpi/collected" if program == "neighbor" else "oxmpi", *PEERS]:
            rate = medians.get(key(row, column))
            if rate:
                title = LIBRARIES[column.split("/")[0]].title
                rows.setdefault(f"{shape}{threads} thread{'s' * (threads > 1)}", {})[title] = rate / 1e6
    return rows


def instructions_text(found):
    lines = ["| level | objects | " + " | ".join(SCHEMES) + " | collected / never |", "|---" * (len(SCHEMES) + 3) + "|"]
    for level in ("single", "multiple"):
        for objects in OBJECTS:
            cells = [found[f"{level}/{objects}/{scheme}"] for scheme in SCHEMES]
            numbers = " | ".join(", ".join([f"{cell[0]:.1f}", f"{cell[1]:.2f}", *(f"{misses:.2f}" for misses in cell[2:] if misses is not None)])
                                 for cell in cells)
            lines.append(f"| {level} | {objects} | {numbers} | {cells[0][0] / cells[3][0]:.4f} |")
    return "\n".join(lines) + "\n"


def write(results, page):
    when = results.get("when", {})
    text = ("# Threads: rates of messages, and what lifetimes cost\n\nMade by `benches/threads.py`; do not edit. The benchmark is "
            "`benches/neighbor.c` (paper 003): 12 receives and 12 sends of 0 bytes a round and thread, with predefined objects or with a "
            "communicator and a datatype for each thread. The schemes of oxmpi are docs/objects.md's, \"Lifetimes\"; `never` gives nothing "
            "back and is the bound. The ratio is that of oxmpi as it comes (collected) to the best peer.\n\n" + pages.machine() + "\n")
    runs = results.get("runs", [])
    tables = ""
    for where, name in CLASSES.items():
        medians = medians_of(runs, where)
        if len(medians) * 2 > len({entry["key"] for entry in runs}):
            counts = [sum(entry["where"] == where and entry["key"] == found for entry in runs) for found in medians]
            pages.draw("threads", f"Message rates by threads (more is better), {name}", "million messages/s", drawn(medians))
            tables += (f"\n## Rates on {name}\n\nMillions of messages a second, both directions, medians of {min(counts)} to {max(counts)} "
                       f"interleaved runs on {os.cpu_count()} cores, {when['rates']}. What is asked for:\n\n{targets(medians)}\n"
                       f"{rates_text(medians)}")
    text += tables
    if "instructions" in results:
        found = results["instructions"]
        has_misses = any(cell[2:] and cell[2] is not None for cell in found.values())
        misses = ("Third, cache misses (perf)." if has_misses else
                  "Cache misses: the machine has no counters for perf (`perf stat` says \"not supported\").")
        text += ("\n## Instructions\n\nInstructions, and atomic read-modify-writes inside the library, for each message that one thread "
                 f"sends to itself, sending, receiving and waiting together (callgrind), {when['instructions']}. {misses}\n\n"
                 f"{instructions_text(found)}")
    page.write_text(text)
