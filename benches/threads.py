#!/usr/bin/env python3
"""Messages of several threads, on oxmpi's schemes of lifetimes and on its peers, and what a message costs in instructions and in atomic
read-modify-writes. Writes benches/threads.md.

    benches/threads.py                      everything, three rounds, about ten minutes on a quiet machine
    benches/threads.py --quick              one short round
    benches/threads.py --only instructions  (neighbor, windows); the other parts stay as they were measured last
    benches/threads.py --libs oxmpi,mpich   --rounds 5
    benches/threads.py --seconds 20         what was measured least often, for so long, beside what was measured before: for a machine
                                            that is quiet only now and then; again and again
    benches/threads.py --page               only the page

Rounds are interleaved: each runs every library and scheme once for each row. The host of a virtual machine moves its cores, so each run
is classed as in run.py, and medians are of one class; a run while others used the machine is not counted.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

import threads_page
import libraries
from libraries import HERE, LIBRARIES, WORK, Unavailable, compile_all
from run import FOREIGN_LIMIT, busy_seconds, children_seconds, placement, probe

PARTS = ["neighbor", "windows", "instructions"]
RESULTS = WORK / "threads.json"
SECONDS, QUICK = 0.35, 0.1
LONG, SHORT = 3000, 1000  # rounds under callgrind; their difference is what is counted
FAILURES = 2  # after so many a library's row is left out


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--libs", default=",".join(["oxmpi", *threads_page.PEERS]))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def command(library, program, arguments, seconds):
    """How a row is run: its arguments are those of threads_page.ROWS, to which each program adds how long it takes."""
    if program == "neighbor":
        shape, _, threads, _ = arguments
        ranks, more = threads + 1 if shape == "paper" else 2, [seconds]
    else:  # bytes, and milliseconds of one of its six batches
        ranks, more = 2, [8, int(seconds * 1000 / 6)]
    # Free placement: threads of a process that is bound to a core would share that core.
    options = {"openmpi": ["--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"], "mpich": ["-bind-to", "none"]}.get(library.name, [])
    binary = WORK / "bin" / f"{library.family}-threads" / ("neighbor" if program == "neighbor" else "threads")
    return [library.mpiexec(), *options, "-n", str(ranks), str(binary), *map(str, arguments), *map(str, more)]


def run(library, program, arguments, environment, seconds):
    """Messages a second, or None."""
    pin = {"I_MPI_PIN": "0"} if library.name == "impi" else {}
    variables = {**os.environ, **library.variables(), **pin, **environment}
    try:
        done = subprocess.run(command(library, program, arguments, seconds), env=variables, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None
    found = re.search(r"RATE (\d+)|value=([\d.e+]+)", done.stdout)
    return float(found[1] or found[2]) if done.returncode == 0 and found else None


def columns(program, names):
    for name in names:
        library = LIBRARIES[name]
        if name == "oxmpi" and program == "neighbor":
            yield from ((f"oxmpi/{scheme}", library, {"OXMPI_LIFETIME": scheme}) for scheme in threads_page.SCHEMES)
        else:
            yield name, library, {}


def measure_row(runs, row, names, seconds):
    program, arguments = row
    before = probe()
    for column, library, environment in columns(program, names):
        key = threads_page.key(row, column)
        failed = [entry for entry in runs if entry["key"] == key and not entry["rate"] and entry["where"] != "disturbed"]
        if len(failed) >= FAILURES:
            continue
        began, busy, own = time.monotonic(), busy_seconds(), children_seconds()
        rate = run(library, program, arguments, environment, seconds)
        foreign = (busy_seconds() - busy - (children_seconds() - own)) / (time.monotonic() - began)
        after = probe()
        where = placement(before, after) if foreign <= FOREIGN_LIMIT else "disturbed"
        runs.append({"key": key, "rate": rate, "where": where})
        before = after


def measure_rates(runs, rows, arguments, names):
    """Whole rounds, or for a time what was measured least often."""
    seconds = QUICK if arguments.quick else SECONDS
    if arguments.seconds is None:
        for number in range(1 if arguments.quick else arguments.rounds):
            for row in rows:
                measure_row(runs, row, names, seconds)
            print(f"round {number + 1}", flush=True)
        return
    end, longest = time.monotonic() + arguments.seconds, 0.0
    while time.monotonic() + longest < end:
        counts = collections.Counter(entry["key"] for entry in runs)
        row = min(rows, key=lambda row: counts[threads_page.key(row, next(columns(row[0], names))[0])])
        began = time.monotonic()
        measure_row(runs, row, names, seconds)
        longest = max(longest, time.monotonic() - began)
        print(*row, flush=True)


def locked_addresses(library):
    """Where the library's atomic read-modify-writes are."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(library)], check=True, capture_output=True, text=True).stdout
    pattern = re.compile(r"^\s*([0-9a-f]+):\s+(lock\b.*|xchg\s.*\(.*)$", re.M)
    return {int(found[1], 16) for found in pattern.finditer(text)}


def self_run(level, objects, scheme, rounds):
    """One rank that sends to itself: its command and environment."""
    program = [str(WORK / "bin" / "mpich-threads" / "neighbor"), "self", level, "1", objects, str(rounds)]
    return program, {**os.environ, **LIBRARIES["oxmpi"].variables(), "OXMPI_LIFETIME": scheme}


def callgrind(level, objects, scheme, rounds):
    """Instructions in all, and how often each address of the library was executed."""
    out = WORK / "callgrind.out"
    program, variables = self_run(level, objects, scheme, rounds)
    valgrind = ["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
                f"--callgrind-out-file={out}"]
    subprocess.run([*valgrind, *program], check=True, env=variables, capture_output=True, timeout=120)
    total, executed, ours, skip = 0, {}, False, False
    for text in out.read_text().splitlines():
        if text.startswith("ob="):
            ours = "libmpi.so" in text
        elif text.startswith("calls="):
            skip = True
        elif text.startswith("0x"):
            fields = text.split()
            if skip:
                skip = False
                continue
            total += int(fields[-1])
            if ours:
                address = int(fields[0], 16)
                executed[address] = executed.get(address, 0) + int(fields[-1])
    return total, executed


def cache_misses(level, objects, scheme):
    """Misses of the last cache for each message, or None where the machine does not let perf count them."""
    counts = []
    for rounds in (SHORT * 100, LONG * 100):
        program, variables = self_run(level, objects, scheme, rounds)
        if not shutil.which("perf"):
            return None
        done = subprocess.run(["perf", "stat", "-x,", "-e", "cache-misses:u", *program], env=variables, capture_output=True, text=True,
                              timeout=120)
        found = re.search(r"^(\d+),[^,]*,cache-misses", done.stderr, re.M)
        if not found:
            return None
        counts.append(int(found[1]))
    return (counts[1] - counts[0]) / ((LONG - SHORT) * 100 * threads_page.MESSAGES)


def measure_instructions():
    """For each level, kind of objects and scheme: instructions, atomic operations and cache misses a message, sent and received."""
    if not shutil.which("valgrind") or not shutil.which("objdump"):
        sys.exit("valgrind and objdump are needed")
    locked = locked_addresses(libraries.STAGE / "lib" / "libmpi.so.12")
    found = {}
    for level, objects, scheme in threads_page.COUNTED:
        less, few = callgrind(level, objects, scheme, SHORT)
        more, many = callgrind(level, objects, scheme, LONG)
        messages = (LONG - SHORT) * threads_page.MESSAGES
        atomics = sum(count - few.get(address, 0) for address, count in many.items() if address in locked)
        numbers = [(more - less) / messages, atomics / messages, cache_misses(level, objects, scheme)]
        found[f"{level}/{objects}/{scheme}"] = numbers
        print(level, objects, scheme, *numbers, flush=True)
    return found


def compile_programs(families):
    """In directories of their own: those of run.py are fresh or not as a whole."""
    if "mpich" in families:
        compiler = [os.environ.get("CC", "cc"), f"-I{libraries.STAGE / 'include'}", "-pthread"]
        compile_all(compiler, ["neighbor", "threads"], "mpich-threads",
                    [str(libraries.STAGE / "lib" / "libmpi.so.12"), "-Wl,--allow-shlib-undefined"])
    if "openmpi" in families:
        compiler = [str(LIBRARIES["openmpi"].prefix / "bin" / "mpicc"), "-pthread"]
        compile_all(compiler, ["neighbor", "threads"], "openmpi-threads", [])
    compile_all([os.environ.get("CC", "cc")], ["limits"], "none", [])


def main():
    arguments = parse_arguments()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not arguments.page:
        measure(arguments, results)
        RESULTS.write_text(json.dumps(results, indent=1))
    threads_page.write(results, HERE / "threads.md")


def measure(arguments, results):
    libraries.use_papers()
    names = []
    for name in arguments.libs.split(","):
        try:
            LIBRARIES[name].provide()
            names.append(name)
        except Unavailable as error:
            print(f"without {name}: {error}")
    compile_programs({LIBRARIES[name].family for name in names})
    when, runs = results.setdefault("when", {}), results.get("runs", [])
    parts = [arguments.only] if arguments.only else PARTS if arguments.seconds is None else PARTS[:2]
    rows = [row for row in threads_page.ROWS if row[0] in parts]
    if rows:
        if arguments.seconds is None:
            runs = [entry for entry in runs if entry["key"].split()[0] not in parts]
        results["runs"] = runs
        measure_rates(runs, rows, arguments, names)
        when["rates"] = time.strftime("%Y-%m-%d %H:%M")
    if "instructions" in parts:
        results["instructions"] = measure_instructions()
        when["instructions"] = time.strftime("%Y-%m-%d %H:%M")


if __name__ == "__main__":
    main()
