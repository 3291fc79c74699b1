#!/usr/bin/env python3
"""Files on oxmpi and on the peers, and by hand with pread and pwrite: io.c, the libraries in turn.

usage: benches/io.py [--minutes M] [--rounds N] [--seconds S] [--ranks N ...] [--directory DIR ...] [--library NAME ...]
                     [--only ROW] [--write]

Each cell is the median over the rounds; no round is begun after so many minutes. `by hand` is io.c with plain calls of the system, the same
bytes by the same number of ranks, each a contiguous share; it is started by oxmpi's mpiexec. `of by hand` and `of the best peer` say how fast
oxmpi is in comparison: 2 is twice as fast, as the median of the ratios within a round. --write: into benches/RESULTS-io.md. A library that
fails or takes too long has no cells from there on.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict

import libraries
import pages
from run import execute

LIMIT = 20  # s for a run
HAND = "by hand"
# What each row is to reach: of by hand (or ns more than it), and of the best peer.
GOALS = {
    "write_at_8": ("+80 ns", 1), "read_at_8": ("+80 ns", 1), "write_8": ("+80 ns", 1), "read_8": ("+80 ns", 1),
    "write_at_4K": ("+80 ns", 1), "read_at_4K": ("+80 ns", 1), "write_at_64K": (0.97, 1), "atomic_write_at_64K": ("+200 ns", 1),
    "write_at_4M": (0.97, 1), "read_at_4M": (0.97, 1), "write_at_all_4M": (0.97, 1), "read_at_all_4M": (0.97, 1),
    "new_write_at_4M": (0.97, 1), "new_write_at_all_4M": (0.97, 1),
    "memory_with_holes_write_1M": (0.8, 1.3), "memory_with_holes_read_1M": (0.8, 1.3),
    "write_all_cyclic_16": (0.6, 2), "read_all_cyclic_16": (0.6, 2), "write_all_cyclic_32K": (0.8, 1.5), "read_all_cyclic_32K": (0.8, 1.5),
    "write_all_grid": (0.8, 1.5), "read_all_grid": (0.8, 1.5), "write_16_of_64": (None, 1), "read_16_of_64": (None, 1.5),
    "write_512_of_1024": (None, 1), "read_512_of_1024": (None, 1.5), "set_view_100000": (None, 100),
    "deep_write_8": ("+200 ns", 8), "deep_read_8": ("+200 ns", 8), "deep_position": (None, 300),
    "write_shared_8": ("+180 ns", 1.5), "write_ordered_8": (None, 1.5), "open_close_self": ("+2000 ns", 3), "open_close_world": (None, 2),
    "iwrite_at_8_wait": ("+1500 ns", 1), "iread_at_8_wait": ("+1500 ns", 1), "sync_write_at_4M": (None, 1),
    "overlap_iwrite_at_64M": (None, None), "overlap_iwrite_all_cyclic_16": (None, None),
    "compute_10ms_iwrite_at_64M": (1, 1), "compute_10ms_iwrite_all_cyclic_16": (None, 1),
}
ABSOLUTE = {"set_view_100000": "1000 ns, 1 rank", "deep_position": "120 ns for both calls", "overlap_iwrite_at_64M": "90 %",
            "overlap_iwrite_all_cyclic_16": "80 %"}


def run(column, ranks, directory, options):
    """The values of a run by row: (value, whether more is better)."""
    mode = "raw" if column == HAND else "mpi"
    library = libraries.LIBRARIES["oxmpi" if column == HAND else column]
    with tempfile.TemporaryDirectory(prefix="oxmpi-bench-", dir=directory) as folder:
        arguments = ["-m", mode, "-d", folder, "-s", options.seconds, *([options.only] if options.only else [])]
        command = library.command("io", arguments, ranks, oversubscribed=ranks > len(os.sched_getaffinity(0)))
        status, output, errors, _wall, _foreign = execute(command, library.variables(), options.limit)
    rows = {}
    for line in output.splitlines():
        if line.startswith("RESULT"):
            fields = dict(word.split("=", 1) for word in line.split()[1:])
            rows[fields["series"], fields["unit"]] = float(fields["value"]), fields["better"] == "higher"
    if status != "ok":
        print(f"{column} on {ranks} ranks in {directory}: ended with {status} after {len(rows)} rows: {errors.strip()[-200:]}", flush=True)
    return rows


def speed(one, other):
    """How fast one is against the other; both are (value, whether more is better)."""
    if min(one[0], other[0]) <= 0:
        return None
    return one[0] / other[0] if one[1] else other[0] / one[0]


def number(value):
    return "-" if value is None else f"{value:.4g}"


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def goal_of(row):
    hand, peer = GOALS.get(row, (None, None))
    words = [ABSOLUTE.get(row), f"by hand {hand}" if isinstance(hand, str) else f"{hand} of by hand" if hand else None,
             f"{peer} of the best peer" if peer else None]
    return "; ".join(word for word in words if word)


def table(place, rounds, columns):
    """`rounds`: for each round, column -> row -> (value, more is better)."""
    ranks, directory, kind = place
    titles = [HAND if name == HAND else libraries.LIBRARIES[name].title for name in columns]
    lines = [f"### {ranks} ranks, {directory} ({kind})", "",
             "| row | " + " | ".join(titles) + " | of by hand | of the best peer | goal |", "|---|" + "---:|" * (len(titles) + 2) + "---|"]
    peers = [name for name in columns if name not in (HAND, "oxmpi")]
    # In the order of io.c, which oxmpi has all rows of.
    for row in dict.fromkeys(row for column in [*columns[1:], HAND] for found in rounds for row in found.get(column, {})):
        at = {name: [found[name][row] for found in rounds if row in found.get(name, {})] for name in columns}
        cells = [number(median(value for value, _ in at[name])) for name in columns]
        hand, best = [], []
        for found in rounds:
            own = found.get("oxmpi", {}).get(row)
            if own is None:
                continue
            if row in found.get(HAND, {}):
                hand.append(speed(own, found[HAND][row]))
            speeds = [speed(own, found[name][row]) for name in peers if row in found.get(name, {})]
            best.append(min((one for one in speeds if one is not None), default=None))
        lines.append(f"| {row[0]} ({row[1]}) | " + " | ".join(cells) + f" | {number(median(hand))} | {number(median(best))} | {goal_of(row[0])} |")
    return "\n".join([*lines, ""])


# What is drawn of 2 ranks in the first folder: times of a call.
DRAWN = ["write_at_8", "read_at_8", "write_at_64K", "write_16_of_64", "read_16_of_64", "deep_write_8", "write_shared_8", "write_ordered_8",
         "iwrite_at_8_wait", "set_view_100000", "open_close_self", "open_close_world"]


def drawn(rounds, columns):
    """Row -> library -> median, by hand among the libraries."""
    rows = {}
    for column in columns:
        title = HAND if column == HAND else libraries.LIBRARIES[column].title
        for row in DRAWN:
            found = [round[column][row, "ns"][0] for round in rounds if (row, "ns") in round.get(column, {})]
            if found:
                rows.setdefault(row, {})[title] = statistics.median(found)
    return {row: rows[row] for row in DRAWN if row in rows}


def kind_of(directory):
    """The type of the file system."""
    found = "", "?"
    for line in open("/proc/mounts"):
        _device, point, kind = line.split()[:3]
        if (os.path.realpath(directory) + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(found[0]):
            found = point, kind
    return found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", default="0.02")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4, 16])
    parser.add_argument("--directory", nargs="*", default=["/tmp", "/dev/shm"])
    parser.add_argument("--library", nargs="*", default=["oxmpi", "mpich", "openmpi", "impi"])
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    begun = time.monotonic()
    libraries.PROGRAMS[:] = ["io"]
    libraries.WORK = libraries.WORK / "io"
    columns = [HAND]
    for name in options.library:
        try:
            libraries.LIBRARIES[name].provide()
            columns.append(name)
        except libraries.Unavailable as why:
            print(f"left out: {name}: {why}")
    libraries.build([libraries.LIBRARIES[name] for name in columns[1:]])
    places = [(ranks, directory, kind_of(directory)) for directory in options.directory for ranks in options.ranks]
    found = defaultdict(list)
    # Rounds outermost: what changes on the machine in ten minutes meets all places.
    for _ in range(options.rounds):
        for place in places:
            if time.monotonic() - begun < 60 * options.minutes:
                found[place].append({column: run(column, *place[:2], options) for column in columns})
    texts = [table(place, found[place], columns) for place in places if found[place]]
    took = f"{(time.monotonic() - begun) / 60:.1f} minutes, {min(map(len, found.values()))} to {max(map(len, found.values()))} rounds"
    text = (f"{took[0].upper()}{took[1:]}: ns a call or MB/s of all ranks together, in the page cache but for sync. The libraries take turns.\n"
            "`benches/io.c` has the rows, `benches/io.py` what the columns mean.\n\n" + "\n".join(texts))
    print(text)
    if options.write:
        pages.replace(libraries.HERE / "RESULTS-io.md", "Files", text)
        place = next((place for place in places if place[0] == 2 and found[place]), None)
        if place:
            pages.draw("files", f"Files (less is better), 2 ranks, {place[1]} ({place[2]})", "ns a call", drawn(found[place], columns))


if __name__ == "__main__":
    main()
