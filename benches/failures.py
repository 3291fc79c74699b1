#!/usr/bin/env python3
"""Measures failures beside Open MPI's ULFM: to find a death, to agree, to revoke, to shrink, and to recover in docs/jacobi.c.

    OXMPI_PEERS=/opt/peers benches/failures.py [--kills 20] [--write]

A cell is the median over all that are left and over so many jobs of one kill each, which take turns; an agreement is one of 200. --write
makes the measured part of benches/RESULTS-failures.md.
"""

import argparse
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import libraries
import pages

PAGE = libraries.HERE / "RESULTS-failures.md"
PEER = libraries.LIBRARIES["openmpi"]
RANKS = (2, 4, 8)
SWEEPS = 40000
ROWS = {
    "recv": "from the kill to the error of a receiver that is blocked",
    "agree": "agreement, nobody has died",
    "revoke": "from the revocation to the error of a receiver that is blocked",
    "shrink": "shrink, the death is known",
    "jacobi": "docs/jacobi.c: from the kill until all go on",
}


def columns():
    """Name, mpicc, mpiexec with options, variables."""
    yield "oxmpi", str(libraries.STAGE / "bin/mpicc"), [str(libraries.STAGE / "bin/mpiexec"), "-with-ft", "ulfm"], {}
    if (PEER.prefix / "bin/mpiexec").exists():
        options = ["--with-ft", "ulfm", *PEER.oversubscribed]
        yield PEER.title, str(PEER.prefix / "bin/mpicc"), [PEER.mpiexec(), *options], PEER.variables()


def say(command, text):
    print(f"{' '.join(map(str, command))}: {text}", file=sys.stderr, flush=True)


def once(start, variables, binary, what, ranks):
    """Milliseconds of all that are left; none where it did not work."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(4096))
        file.flush()
        command = ["timeout", "-k", "1", "30", *start, "-n", str(ranks), str(binary), file.name, what]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    lines = [line for line in done.stdout.split("\n") if line]
    if len(lines) != ranks - (what != "agree") or not all(line.isdecimal() for line in lines):
        say(command, f"{done.stdout}{done.stderr[-300:]}")
        return []
    return [int(line) / 1e6 for line in lines]


def ranks_of(binary):
    """Numbers of the processes that run this program."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and os.readlink(entry / "exe") == str(binary):
                found.append(int(entry.name))
        except OSError:
            pass
    return sorted(found)


def recovery(start, variables, binary, ranks):
    """Milliseconds from the kill of a rank until the line of those that go on."""
    command = [*start, "-n", str(ranks), str(binary), str(SWEEPS)]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **variables}, bufsize=0)
    killed, found, text, end = None, [], b"", time.monotonic() + 30
    while not found and time.monotonic() < end:
        if select.select([job.stdout], [], [], 0.1)[0]:
            text += job.stdout.read(4096) or b""
        if killed is None and b"begin" in text:
            time.sleep(0.1)
            victim = ranks_of(binary)[-1]
            killed = time.monotonic()
            os.kill(victim, signal.SIGKILL)
        if re.search(rb"go on.*\n", text):
            found = [(time.monotonic() - killed) * 1e3]
    if not found:
        say(command, f"no recovery: {text.decode()}")
    # The rest of the sweeps is of no interest.
    job.terminate()
    try:
        job.wait(10)
    except subprocess.TimeoutExpired:
        job.kill()
    for process in ranks_of(binary):
        os.kill(process, signal.SIGKILL)
    return found


def measure(kills, work):
    cells = {}
    there = []
    for number, (name, compiler, start, variables) in enumerate(columns()):
        binaries = []
        for source in (libraries.HERE / "deaths.c", libraries.ROOT / "docs/jacobi.c"):
            binaries.append(work / f"{source.stem}-{number}")
            subprocess.run([compiler, "-O2", str(source), "-o", str(binaries[-1])], check=True)
        there.append((name, start, variables, *binaries))
    for ranks in RANKS:
        for what in ROWS:
            for number in range(kills):
                for name, start, variables, deaths, jacobi in there:
                    if what == "agree" and number >= 5:
                        continue
                    took = recovery(start, variables, jacobi, ranks) if what == "jacobi" else once(start, variables, deaths, what, ranks)
                    cells.setdefault((what, ranks, name), []).extend(took)
        print(f"{ranks} ranks: done", file=sys.stderr, flush=True)
    return [name for name, *_ in there], cells


def table(names, cells):
    lines = ["| ms, median | ranks | " + " | ".join(names) + " | ratio |", "|---|---:|" + "---:|" * (len(names) + 1)]
    for what, words in ROWS.items():
        for ranks in RANKS:
            medians = [statistics.median(cells[what, ranks, name]) if cells[what, ranks, name] else None for name in names]
            shown = ["-" if it is None else f"{it:.3g}" for it in medians]
            ratio = f"{medians[0] / medians[1]:.2f}" if len(medians) > 1 and None not in medians else "-"
            lines.append(f"| {words} | {ranks} | {' | '.join(shown)} | {ratio} |")
    return "\n".join(lines)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--kills", type=int, default=20)
    words.add_argument("--write", action="store_true")
    words = words.parse_args()
    work = Path(tempfile.mkdtemp(prefix="bench-failures-", dir=libraries.ROOT / "target"))
    try:
        text = table(*measure(words.kills, work))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(text)
    if words.write:
        pages.replace(PAGE, "Failures", text)


if __name__ == "__main__":
    main()
