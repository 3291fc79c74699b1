#!/usr/bin/env python3
"""Windows on oxmpi and on the peers: rma.c (synchronisation) and rma_ops.c (operations), the libraries in turn.

usage: benches/rma.py [--rounds N] [--seconds S] [--ranks N ...] [--library NAME ...] [--only WORD] [--write]

Each cell is the median over the rounds whose cache-line probe is near that of oxmpi's run of the round: the host moves virtual cores,
and only runs on the same pair of cores compare. A library that takes too long for a program keeps the cells it has printed, and is left
out of the table's other rounds. The cases of the first number of ranks are all of them, those of the others synchronisation and each
kind of memory while the target waits. --only: cases whose title has the word. --write: into benches/RESULTS-rma.md, where tables that
were not made, and columns of libraries that did not run, stay as they are, with the date of their run; the picture is of all libraries.
"""

import argparse
import os
import re
import statistics
from collections import defaultdict

import libraries
import pages
from run import execute

LIMIT = 90  # s for a program
SLEEP_LIMIT = 20  # the same where the target sleeps: with the peers nothing moves then
# Title, program, arguments, whether it is for all numbers of ranks.
CASES = [("synchronisation", "rma", [], True), ("operations, MPI_Win_allocate", "rma_ops", ["-w", "allocate"], True),
         ("operations, MPI_Win_create over malloc", "rma_ops", ["-w", "create"], True),
         ("operations, MPI_Win_create over 400 bytes of malloc", "rma_ops", ["-w", "create", "-b", "400"], False),
         ("operations, MPI_Win_create over 400 bytes of malloc, oxmpi_share=edges", "rma_ops", ["-w", "create", "-b", "400", "-i", "edges"], False),
         ("operations, MPI_Win_create over static memory", "rma_ops", ["-w", "static"], True),
         ("operations, MPI_Win_create over the stack", "rma_ops", ["-w", "stack"], True),
         ("operations, MPI_Win_create, the target sleeps", "rma_ops", ["-w", "create", "-s", "sleep"], False),
         ("operations, MPI_Win_create, the target computes", "rma_ops", ["-w", "create", "-s", "compute"], False),
         ("operations, MPI_Win_create, the target is stopped", "rma_ops", ["-w", "create", "-s", "stop"], False)]


def measured(library, program, arguments, ranks):
    """The values of a run by row, with the probe of the cache line, those printed so far if it fails or takes too long; whether it took too long."""
    command = library.command(program, arguments, ranks, oversubscribed=ranks > len(os.sched_getaffinity(0)))
    limit = SLEEP_LIMIT if "-s" in arguments else LIMIT
    _status, output, _errors, wall, _foreign = execute(command, library.variables(), limit)
    rows = {}
    for line in output.splitlines():
        if line.startswith("RESULT"):
            fields = dict(word.split("=", 1) for word in line.split()[1:])
            rows[f"{fields['series']} {fields['size']} ({fields['unit']})"] = (float(fields["value"]), fields.get("line", ""))
    return rows, wall >= limit


def near(one, two):
    probes = [float(probe) for probe in f"{one}/{two}".split("/") if probe not in ("", "-", "nan")]
    return not probes or min(probes) <= 0 or max(probes) / min(probes) < 1.4


# What is drawn: rows of the synchronisation and of the operations in memory of MPI_Win_allocate.
DRAWN = ["lock_exclusive 2 (ns)", "lock_all 2 (ns)", "fence 2 (ns)", "pscw 2 (ns)", "put_flush 8 (ns)", "get_flush 8 (ns)", "accumulate 8 (ns)",
         "fetch_and_op 8 (ns)", "compare_and_swap 8 (ns)", "get_accumulate 8 (ns)"]


def medians_of(program, arguments, ranks, chosen, rounds):
    """row -> library's title -> median."""
    cells = defaultdict(lambda: defaultdict(list))
    late = set()
    for _ in range(rounds):
        first = None
        for library in chosen:
            if library.name in late:
                continue
            found, is_late = measured(library, program, arguments, ranks)
            if is_late:
                late.add(library.name)
            first = first or found
            for row, (value, probe) in found.items():
                if row in first and near(probe, first[row][1]):
                    cells[row][library.title].append(value)
    return {row: {title: statistics.median(values) for title, values in columns.items()} for row, columns in cells.items()}


class Table:
    """The cells of a case as text: row -> column -> cell. A column is a library's title; one of an earlier run has its date behind it."""

    def __init__(self, title, columns, rows):
        self.title, self.columns, self.rows = title, columns, rows

    def text(self):
        lines = [f"### {self.title}", "", "| row | " + " | ".join(self.columns) + " |", "|---|" + "---:|" * len(self.columns)]
        for row, cells in self.rows.items():
            lines.append(f"| {row} | " + " | ".join(cells.get(column, "-") for column in self.columns) + " |")
        return "\n".join([*lines, ""])

    def dated(self, date):
        """This table with the date of its run in all columns that have none."""
        name = {column: column if DATE.search(column) else f"{column} ({date})" for column in self.columns}
        rows = {row: {name[column]: cell for column, cell in cells.items()} for row, cells in self.rows.items()}
        return Table(self.title, [name[column] for column in self.columns], rows)

    def over(self, earlier):
        """This table with the columns of an earlier one that it lacks."""
        own = {DATE.sub("", column) for column in self.columns}
        kept = [column for column in earlier.columns if DATE.sub("", column) not in own]
        rows = {row: dict(cells) for row, cells in self.rows.items()}
        for row, cells in earlier.rows.items():
            kept_cells = {column: cells[column] for column in kept if cells.get(column, "-") != "-"}
            if row in rows or kept_cells:
                rows.setdefault(row, {}).update(kept_cells)
        return Table(self.title, [*self.columns, *kept], rows)


DATE = re.compile(r" \((\d{4}-\d\d-\d\d)\)$")


def tables_in(text):
    """The tables of a page's measured part, by their titles."""
    tables = {}
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        title, _, rest = part.partition("\n")
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in rest.splitlines() if line.startswith("|")]
        columns = lines[0][1:]
        tables[title] = Table(title, columns, {row: dict(zip(columns, cells)) for row, *cells in lines[2:]})
    return tables


def merged(earlier, made, order):
    """The measured part of a page, `earlier` what it was: the tables that were made, with columns that they lack, and those that were not."""
    made_before = re.search(r"^Made by .*", earlier, re.M)
    date = re.search(r"\d{4}-\d\d-\d\d", made_before[0])[0] if made_before else ""
    before = {title: table.dated(date) for title, table in tables_in(earlier).items()}
    tables = {**before, **{table.title: table.over(before[table.title]) if table.title in before else table for table in made}}
    titles = sorted(tables, key=lambda title: order.index(title) if title in order else len(order))
    dates = {DATE.search(column)[1] for table in tables.values() for column in table.columns if DATE.search(column)}
    sources = re.findall(r"^\(\d{4}-\d\d-\d\d\): .*", earlier, re.M) + ([f"({date}): {made_before[0]}"] if made_before else [])
    kept = [line for line in sources if line[1:11] in dates]
    return "\n\n".join(["ns a call or MB/s. The libraries take turns.", *kept, *(tables[title].text() for title in titles)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", default="0.05")
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8, 16])
    parser.add_argument("--library", nargs="*", default=["oxmpi", "mpich", "openmpi", "impi"])
    parser.add_argument("--only", default="")
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
    columns = [library.title for library in chosen]
    tables, drawn = [], {}
    for ranks in options.ranks:
        for title, program, arguments, is_for_all in CASES:
            if options.only not in title or not is_for_all and ranks != options.ranks[0]:
                continue
            medians = medians_of(program, [*arguments, options.seconds], ranks, chosen, options.rounds)
            rows = {row: {column: f"{value:.4g}" for column, value in values.items()} for row, values in medians.items()}
            tables.append(Table(f"{title}, {ranks} ranks", columns, rows))
            print(tables[-1].text(), flush=True)
            if ranks == options.ranks[0] and "-w" in arguments and "allocate" in arguments:
                drawn.update((row, medians[row]) for row in DRAWN if row in medians)
    if options.write:
        page = libraries.HERE / "RESULTS-rma.md"
        earlier = page.read_text().partition(pages.MARK.format("benches/rma.py"))[2] if page.exists() else ""
        order = [f"{title}, {ranks} ranks" for ranks in sorted({*options.ranks, 2, 4, 8, 16}) for title, *_ in CASES]
        pages.replace(page, "Windows", merged(earlier, tables, order))
        if drawn and {library.name for library in chosen} >= set(parser.get_default("library")):
            pages.draw("windows", f"Windows of MPI_Win_allocate (less is better), {options.ranks[0]} ranks", "ns a call", drawn)


if __name__ == "__main__":
    main()
