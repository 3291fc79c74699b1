#!/usr/bin/env python3
"""Runs the benchmarks on oxmpi and its peers, interleaved, and writes the comparison.

    benches/run.py                              everything, five rounds, about 24 minutes; writes benches/RESULTS.md and benches/plots/
    benches/run.py --quick                      one short round, to see that all works
    benches/run.py --only latency,rate --libs oxmpi,impi --rounds 5
    benches/run.py --append ...                 adds rounds to those of earlier calls (say, to get the other placement too)
    benches/run.py --report                     only writes the report of what was measured before
    benches/run.py --quick --rounds 3 --only latency,bandwidth,rate,collective --plots benches/plots
                                                the pictures alone, from short runs: about eight minutes

A round is: for each benchmark, for each library: probe, run, probe. The probe is the one-way time of a cache line between the
two cores; it stays beside each number and classes it: separate cores (over 100 ns) or siblings of one core (below). The host
moves the cores every few seconds, so the programs probe around each value too, and that counts where there is one. What was
measured while the class changed, or while others used the machine, is repeated, and not counted if that does not help.
"""

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import libraries
import pages
import report
from libraries import LIBRARIES, ROOT, WORK, Unavailable

SIBLINGS_BELOW = 100.0  # ns
FOREIGN_LIMIT = 0.25  # cores used by others during a run, above which it is not counted
SHORT_RUN = 0.1  # s; shorter runs are too short for the kernel's accounting to tell foreign use (at 0.13 s it errs by up to 0.09 cores)
MARK = "BENCH_RUN"  # in the environment of all that a run starts, to find what a killed run leaves
RESULT = re.compile(r"RESULT series=(\S+) size=(-?\d+) value=([-+.\de]+|nan|inf) unit=(\S+) better=(\S+)(?: line=([\d.]+)/([\d.]+))?")
RESULTS_FILE = WORK / "results.json"


class Benchmark:
    """One program at several rank counts. seconds: budget per measured value, (normal, quick). environment: what the library is
    given on top of its own."""

    def __init__(self, name, program, ranks, arguments=lambda seconds: [seconds], seconds=(0.2, 0.04), timeout=60,
                 placed=True, quick_ranks=None, environment=None):
        self.name, self.program, self.ranks, self.arguments = name, program, ranks, arguments
        self.seconds, self.timeout, self.placed = seconds, timeout, placed
        self.quick_ranks = quick_ranks or ranks[:1]
        self.environment = environment or {}


# The forms of one operation beside each other, so that one placement of the cores has them all.
FORMS = [*(f"{form}:{size}" for size in (8, 65536) for form in ("allreduce", "iallreduce", "allreduce_init")),
         "iallreduce_x8", "ibarrier", "ibcast"]


def shared_memory_now():
    return int(re.search(r"^Shmem:\s+(\d+)", Path("/proc/meminfo").read_text(), re.M)[1])


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in [
        Benchmark("limits", "limits", [0], seconds=(0.1, 0.05), timeout=180),
        Benchmark("latency", "latency", [2]),
        Benchmark("bandwidth", "bandwidth", [2], lambda s: ["one", s]),
        Benchmark("bidirectional", "bandwidth", [2], lambda s: ["both", s]),
        Benchmark("rate", "bandwidth", [2], lambda s: ["rate", s], (0.5, 0.1)),
        Benchmark("exchange", "exchange", [4, 8, 16], timeout=180),
        Benchmark("collective", "collective", [2, 4, 8, 16], seconds=(0.1, 0.02), timeout=240, quick_ranks=[2, 8]),
        Benchmark("rooted", "collective", [2, 8], lambda s: [s, "gather", "scatter", "scan"], (0.03, 0.02), 240, quick_ranks=[2, 8]),
        Benchmark("nonblocking", "collective", [2, 4, 8, 16], lambda s: [s, *FORMS], (0.03, 0.02), 240, quick_ranks=[2, 8]),
        Benchmark("startup", "startup", [2, 16], lambda s: []),
        Benchmark("hello", "hello", [2, 64, 128], lambda s: [], quick_ranks=[2, 64]),
        Benchmark("memory", "memory", [64], lambda s: [shared_memory_now()], placed=False, timeout=120),
        Benchmark("datatype", "datatype", [1], lambda s: ["pack", s], (0.1, 0.02), placed=False),
        Benchmark("typed", "datatype", [2], lambda s: ["exchange", s], (0.1, 0.02)),
        Benchmark("op", "op", [1], seconds=(0.1, 0.02), placed=False),
        Benchmark("idle", "idle", [2], seconds=(10, 2), placed=False),
    ]
}
LIMITS = ["copy", "kernel", "both", "wait"]
CROWDED = ("exchange", "collective", "rooted", "nonblocking")  # with more ranks than cores MPICH has a throttled column in these
ONLY_THROTTLED = ("rooted", "nonblocking")  # and there only that: as it comes, it would take a quarter of the whole run


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="A,B", help="benchmarks: " + ",".join(BENCHMARKS))
    parser.add_argument("--libs", metavar="A,B", help="libraries: " + ",".join(LIBRARIES))
    parser.add_argument("--ranks", metavar="N,M", help="only these rank counts")
    parser.add_argument("--rounds", type=int, help="default 5; 1 with --quick")
    parser.add_argument("--quick", action="store_true", help="one short round, smaller rank counts, no RESULTS.md")
    parser.add_argument("--append", action="store_true", help="keep the runs of earlier calls and add to them")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--output", type=Path, help="where the report goes; default benches/RESULTS.md for a full run, else target/bench")
    parser.add_argument("--keep-disturbed", action="store_true", help="count runs although others used the machine (to try the runner)")
    parser.add_argument("--plots", type=Path, metavar="DIRECTORY", help="where the pictures go; default: plots beside the report")
    parser.add_argument("--no-plots", action="store_true")
    options = parser.parse_args()
    options.full = not (options.only or options.libs or options.ranks or options.quick)
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.only = chosen(parser, options.only, BENCHMARKS, list(BENCHMARKS))
    options.libs = chosen(parser, options.libs, LIBRARIES, libraries.DEFAULT)
    options.ranks = [int(n) for n in options.ranks.split(",")] if options.ranks else None
    if "mpich" in options.libs and "mpich-throttle" not in options.libs:
        options.libs.insert(options.libs.index("mpich") + 1, "mpich-throttle")
    return options


def chosen(parser, text, known, otherwise):
    names = text.split(",") if text else list(otherwise)
    for name in names:
        if name not in known:
            parser.error(f"unknown name {name}; known: {', '.join(known)}")
    return names


def busy_seconds():
    """CPU seconds that the whole machine has spent on anything, time stolen by the host included."""
    fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def probe():
    """One-way time of a cache line between the two cores in ns, or None."""
    try:
        text = subprocess.run([WORK / "bin/none/limits", "probe"], capture_output=True, text=True, timeout=20).stdout
    except subprocess.TimeoutExpired:
        return None
    found = RESULT.search(text)
    return float(found[3]) if found else None


def placement(before, after):
    if before is None or after is None:
        return "unknown"
    classes = {"siblings" if ns < SIBLINGS_BELOW else "separate" for ns in (before, after)}
    return classes.pop() if len(classes) == 1 else "moved"


def kill_marked(process, mark):
    """Ends a run: politely, then what it started and nothing else, found by the mark in the environment."""
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass  # not ours to read, or gone by itself


def execute(command, environment, timeout):
    """Runs a command under a timeout. Returns (status, output, error text, wall seconds, seconds used by others per second)."""
    mark = uuid.uuid4().hex
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "I_MPI_", "MPIR_", "OXMPI_", "LD_"))}
    variables.update(environment, **{MARK: mark})
    busy, children, start = busy_seconds(), children_seconds(), time.monotonic()
    try:
        process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace", cwd=WORK)
    except OSError as error:
        return f"cannot start: {error}", "", "", 0.0, 0.0
    try:
        output, errors = process.communicate(timeout=timeout)
        status = "ok" if process.returncode == 0 else f"exit code {process.returncode}"
    except subprocess.TimeoutExpired:
        kill_marked(process, mark)
        output, errors = process.communicate()
        status = f"timeout of {timeout} s"
    except KeyboardInterrupt:
        kill_marked(process, mark)
        raise
    wall = time.monotonic() - start
    foreign = (busy_seconds() - busy - (children_seconds() - children)) / wall if wall >= SHORT_RUN else 0.0
    return status, output, errors, wall, max(foreign, 0.0)


def parse(output, outer, placed):
    """The values of a run, each with its probes: its own, else those around the run. The worst value where several
    ranks print the same series."""
    values = {}
    for series, size, value, unit, better, before, after in RESULT.findall(output):
        key, value = (series, int(size)), float(value)
        probes = (float(before), float(after)) if float(before or 0) > 0 and float(after or 0) > 0 else outer
        if key in values:
            value = (max if better == "lower" else min)(value, values[key]["value"])
        values[key] = {"series": series, "size": int(size), "value": value, "unit": unit, "better": better,
                       "probes": probes, "placement": placement(*probes) if placed else "any"}
    return list(values.values())


def one_run(benchmark, library, ranks, options):
    """One library, one benchmark: probe, run, probe; repeated once where the run does not count."""
    seconds = benchmark.seconds[options.quick]
    if library is None:
        commands = [[str(WORK / "bin/none/limits"), mode, str(seconds)] for mode in LIMITS]
        environment = {}
    else:
        oversubscribed = ranks > os.cpu_count()
        commands = [library.command(benchmark.program, benchmark.arguments(seconds), ranks, oversubscribed)]
        environment = {**library.variables(), **benchmark.environment}
        if benchmark.name == "memory" and library.name == "mpich":
            environment.update(libraries.THROTTLE)  # changes no memory, but 64 ranks on two cores would take minutes
    for attempt in range(2):
        before = probe()
        status, output, errors, wall, foreign = "ok", "", "", 0.0, 0.0
        for command in commands:
            outcome = execute(command, environment, benchmark.timeout)
            status = status if status != "ok" else outcome[0]
            output, errors, wall, foreign = output + outcome[1], errors + outcome[2], wall + outcome[3], max(foreign, outcome[4])
        after = probe()
        where = placement(before, after)
        own_probes = "line=" in output
        quiet = foreign <= FOREIGN_LIMIT or options.keep_disturbed
        if status != "ok" or (quiet and (where != "moved" or own_probes or not benchmark.placed)):
            break
    if benchmark.name == "hello" and status == "ok":
        lines = len(re.findall(r"hello from rank \d+ of %d\b" % ranks, output))
        if lines != ranks:
            status = f"only {lines} of {ranks} ranks said hello"
        else:
            output = f"RESULT series=hello size=-1 value={wall} unit=s better=lower"
    values = parse(output, (before, after), benchmark.placed)
    if status == "ok" and not values:
        status = "no results"
    return {
        "benchmark": benchmark.name, "ranks": ranks, "library": library.name if library else "limit",
        "placement": where, "before": before, "after": after, "foreign": round(foreign, 3), "counted": quiet, "status": status,
        "wall": round(wall, 3), "values": values,
        "places": re.findall(r"PLACE rank=(\d+) cpu=(\d+) allowed=(\d+)", output),
        "error": "" if status == "ok" else (errors or output)[-2000:],
    }


def plan(benchmarks, options, available):
    """The runs of one round in order: benchmarks outside, libraries inside, so that neighbours in time are compared."""
    for benchmark in benchmarks:
        counts = options.ranks or (benchmark.quick_ranks if options.quick else benchmark.ranks)
        for ranks in benchmark.ranks:
            if benchmark.name == "limits":
                yield benchmark, None, 0
            elif ranks in counts:
                for library in available:
                    crowd = ranks > os.cpu_count()
                    if library.oversubscribed_only and not (crowd and benchmark.name in CROWDED):
                        continue
                    if library.name == "mpich" and crowd and benchmark.name in ONLY_THROTTLED:
                        continue
                    yield benchmark, library, ranks


def description(options, headers):
    return {
        "command": f"benches/{Path(sys.argv[0]).name} " + " ".join(sys.argv[1:]),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": pages.machine(), "revision": pages.revision(),
        "header": "oxmpi's mpi.h" if headers == libraries.STAGE else "MPICH's mpi.h",
        "libraries": options.libs, "rounds": options.rounds,
    }


def save(data, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps(data))
    new.replace(file)


def measure(options):
    available = []
    for name in options.libs:
        try:
            LIBRARIES[name].provide()
            available.append(LIBRARIES[name])
        except Unavailable as error:
            print(f"without {name}: {error}", flush=True)
    if not available and options.only != ["limits"]:
        sys.exit("no library to measure")
    headers = libraries.build(available)
    data = {"runs": [], "calls": []}
    if options.append and RESULTS_FILE.exists():
        data = json.loads(RESULTS_FILE.read_text())
    data["calls"].append(description(options, headers))
    steps = list(plan([BENCHMARKS[name] for name in options.only], options, available))
    run_rounds(data, [steps] * options.rounds, options, RESULTS_FILE)
    return data


def run_rounds(data, rounds, options, file, terse=False):
    """Adds the runs of all rounds, each a list of (benchmark, library, ranks), to the data, and saves it after each run. Terse: of
    runs that are well nothing is printed."""
    start, given_up = time.monotonic(), {}
    for turn, steps in enumerate(rounds):
        for step, (benchmark, library, ranks) in enumerate(steps):
            name = library.name if library else "limit"
            key = (benchmark.name, ranks, name)
            if given_up.get(key, 0) >= 2:
                continue  # failed twice: said already, and a timeout in each round would take forever
            run = one_run(benchmark, library, ranks, options)
            if run["status"] != "ok":
                given_up[key] = given_up.get(key, 0) + 1
            data["runs"].append(run)
            save(data, file)
            line = f"{run['before']:.0f}/{run['after']:.0f} ns" if run["before"] and run["after"] else "no probe"
            note = "" if run["counted"] else f"  NOT COUNTED: others used {run['foreign']:.2f} cores"
            shown = run["status"] if run["status"] == "ok" else run["status"].upper()
            if terse and shown == "ok" and not note and step + 1 < len(steps):
                continue
            print(f"[{time.monotonic() - start:5.0f} s] round {turn + 1}/{len(rounds)} {step + 1:3}/{len(steps)}  {benchmark.name:13} "
                  f"{ranks:3} ranks  {name:14} {line:12} {run['placement']:8} {run['wall']:6.1f} s  {shown}{note}", flush=True)
            if run["error"]:
                print("    " + "\n    ".join(run["error"].strip().splitlines()[-6:]), flush=True)


def main():
    options = parse_arguments()
    if options.report:
        if not RESULTS_FILE.exists():
            sys.exit(f"{RESULTS_FILE} does not exist: nothing was measured yet")
        data = json.loads(RESULTS_FILE.read_text())
    else:
        data = measure(options)
    complete = options.full and (options.report or options.rounds >= 5)
    output = options.output or (ROOT / "benches" / "RESULTS.md" if complete else WORK / "RESULTS.md")
    plots = None if options.no_plots else options.plots or output.parent / "plots"
    text = report.write(data, output, plots)
    print("\n" + text + f"\nwritten to {output}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was measured is kept: benches/run.py --report")
