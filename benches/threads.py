#!/usr/bin/env python3
"""Messages of several threads: the Neighbor Message Rate benchmark of paper 003 on oxmpi's schemes of lifetimes and on its peers, and
what a message costs in instructions and in atomic read-modify-writes. Writes benches/threads.md.

    benches/threads.py                      both, three rounds, less than four minutes on a quiet machine
    benches/threads.py --quick              one short round
    benches/threads.py --only instructions  (or rates); the other part stays as it was measured last
    benches/threads.py --libs oxmpi,mpich   --rounds 5

Rounds are interleaved: each runs every library and scheme once for each row; the table shows medians.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

from libraries import HERE, LIBRARIES, STAGE, WORK, Unavailable

SCHEMES = ["collected", "suppressed", "counting", "never"]
PEERS = ["mpich", "openmpi", "impi"]
OBJECTS = ["predefined", "derived"]
SHAPES = {"paper": "1 process with N threads, N with one", "pairs": "2 processes with N threads each"}
RESULTS = WORK / "threads.json"
PAGE = HERE / "threads.md"
SECONDS, QUICK = 0.35, 0.1
LONG, SHORT = 3000, 1000  # rounds under callgrind; their difference is what is counted
MESSAGES = 12


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["rates", "instructions"])
    parser.add_argument("--libs", default=",".join(["oxmpi", *PEERS]))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def rows(shape_names=SHAPES):
    single = [("pairs", "single", 1, "predefined")]
    return single + [(shape, "multiple", threads, objects)
                     for shape in shape_names for objects in OBJECTS for threads in (1, 2, 4)]


def run(library, row, environment, seconds):
    """Messages a second, or None."""
    shape, level, threads, objects = row
    ranks = threads + 1 if shape == "paper" else 2
    # Free placement: threads of a process that is bound to a core would share that core.
    options = {"openmpi": ["--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"], "mpich": ["-bind-to", "none"]}.get(library.name, [])
    binary = WORK / "bin" / library.family / "neighbor"
    command = [library.mpiexec(), *options, "-n", str(ranks), str(binary), shape, level, str(threads), objects, str(seconds)]
    pin = {"I_MPI_PIN": "0"} if library.name == "impi" else {}
    variables = {**os.environ, **library.variables(), **pin, **environment}
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None
    found = re.search(r"RATE (\d+)", done.stdout)
    return float(found[1]) if done.returncode == 0 and found else None


def columns(names):
    for name in names:
        library = LIBRARIES[name]
        if name == "oxmpi":
            yield from (((name, scheme), library, {"OXMPI_LIFETIME": scheme}) for scheme in SCHEMES)
        else:
            yield (name, ""), library, {}


def measure_rates(names, rounds, seconds):
    values = {}
    for number in range(rounds):
        for row in rows():
            for column, library, environment in columns(names):
                rate = run(library, row, environment, seconds)
                values.setdefault("/".join(map(str, (*row, *column))), []).append(rate)
        print(f"round {number + 1} of {rounds}", flush=True)
    medians = {}
    for key, rates in values.items():
        good = [rate for rate in rates if rate]
        medians[key] = statistics.median(good) if len(good) * 2 > len(rates) else None
    return medians


def locked_addresses(library):
    """Where the library's atomic read-modify-writes are."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(library)], check=True, capture_output=True, text=True).stdout
    pattern = re.compile(r"^\s*([0-9a-f]+):\s+(lock\b.*|xchg\s.*\(.*)$", re.M)
    return {int(found[1], 16) for found in pattern.finditer(text)}


def callgrind(level, objects, scheme, rounds):
    """Instructions in all, and how often each address of the library was executed."""
    out = WORK / "callgrind.out"
    command = ["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
               f"--callgrind-out-file={out}", str(WORK / "bin" / "mpich" / "neighbor"), "self", level, "1", objects, str(rounds)]
    variables = {**os.environ, **LIBRARIES["oxmpi"].variables(), "OXMPI_LIFETIME": scheme}
    subprocess.run(command, check=True, env=variables, capture_output=True, timeout=120)
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


def measure_instructions():
    """For each level, kind of objects and scheme: instructions and atomic operations a message, sent and received."""
    if not shutil.which("valgrind") or not shutil.which("objdump"):
        sys.exit("valgrind and objdump are needed")
    locked = locked_addresses(STAGE / "lib" / "libmpi.so.12")
    found = {}
    for level in ("single", "multiple"):
        for objects in OBJECTS:
            for scheme in SCHEMES:
                less, few = callgrind(level, objects, scheme, SHORT)
                more, many = callgrind(level, objects, scheme, LONG)
                messages = (LONG - SHORT) * MESSAGES
                atomics = sum(count - few.get(address, 0) for address, count in many.items() if address in locked)
                found[f"{level}/{objects}/{scheme}"] = [(more - less) / messages, atomics / messages]
                print(level, objects, scheme, *found[f"{level}/{objects}/{scheme}"], flush=True)
    return found


def millions(rate):
    return "-" if not rate else f"{rate / 1e6:.2f}"


def rates_table(rates):
    names = [name for name in PEERS if any(key.endswith(f"/{name}/") for key in rates)]
    head = [*SCHEMES, *(LIBRARIES[name].title for name in names), "ratio"]
    lines = ["| threads | objects | " + " | ".join(head) + " |", "|---" * (len(head) + 2) + "|"]
    page = []
    for shape, text in SHAPES.items():
        body = []
        for row in rows():
            if row[0] != shape:
                continue
            key = "/".join(map(str, row))
            own = [rates.get(f"{key}/oxmpi/{scheme}") for scheme in SCHEMES]
            peers = [rates.get(f"{key}/{name}/") for name in names]
            best = max((peer for peer in peers if peer), default=None)
            ratio = f"{own[0] / best:.2f}" if best and own[0] else "-"
            threads = f"{row[2]}" if row[1] == "multiple" else f"{row[2]}, MPI_THREAD_SINGLE"
            body.append(f"| {threads} | {row[3]} | " + " | ".join([*map(millions, own), *map(millions, peers), ratio]) + " |")
        page.append("\n".join([f"{text[0].upper()}{text[1:]}:", "", *lines, *body, ""]))
    return "\n".join(page)


def instructions_table(found):
    lines = ["| level | objects | " + " | ".join(SCHEMES) + " | collected / never |", "|---" * (len(SCHEMES) + 3) + "|"]
    for level in ("single", "multiple"):
        for objects in OBJECTS:
            cells = [found[f"{level}/{objects}/{scheme}"] for scheme in SCHEMES]
            numbers = " | ".join(f"{count:.1f}, {atomics:.2f}" for count, atomics in cells)
            lines.append(f"| {level} | {objects} | {numbers} | {cells[0][0] / cells[3][0]:.4f} |")
    return "\n".join(lines) + "\n"


def write_page(results):
    when = results.get("when", {})
    page = ("# Threads: rates of messages, and what lifetimes cost\n\nMade by `benches/threads.py`; do not edit. The benchmark is "
            "`benches/neighbor.c` (paper 003): 12 receives and 12 sends of 0 bytes a round and thread. The schemes of oxmpi are "
            "docs/objects.md's, \"Lifetimes\"; `never` gives nothing back and is the bound.\n")
    if "rates" in results:
        page += (f"\n## Rates\n\nMillions of messages a second, both directions, medians of {results['rounds']} interleaved rounds on "
                 f"{os.cpu_count()} cores, {when['rates']}. The ratio is collected to the best peer.\n\n{rates_table(results['rates'])}")
    if "instructions" in results:
        page += ("\n## Instructions\n\nInstructions, and atomic read-modify-writes inside the library, for each message that one thread "
                 f"sends to itself, sending, receiving and waiting together (callgrind), {when['instructions']}.\n\n"
                 f"{instructions_table(results['instructions'])}")
    PAGE.write_text(page)


def main():
    arguments = parse_arguments()
    names = []
    for name in arguments.libs.split(","):
        try:
            LIBRARIES[name].provide()
            names.append(name)
        except Unavailable as error:
            print(f"without {name}: {error}")
    compile_programs({LIBRARIES[name].family for name in names})
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    when = results.setdefault("when", {})
    if arguments.only != "instructions":
        results["rounds"] = 1 if arguments.quick else arguments.rounds
        results["rates"] = measure_rates(names, results["rounds"], QUICK if arguments.quick else SECONDS)
        when["rates"] = time.strftime("%Y-%m-%d %H:%M")
    if arguments.only != "rates":
        results["instructions"] = measure_instructions()
        when["instructions"] = time.strftime("%Y-%m-%d %H:%M")
    RESULTS.write_text(json.dumps(results, indent=1))
    write_page(results)


def compile_programs(families):
    """Apart from the programs of run.py, whose directory knows when all of them are fresh."""
    for family in families:
        directory = WORK / "bin" / family
        directory.mkdir(parents=True, exist_ok=True)
        source, target = str(HERE / "neighbor.c"), str(directory / "neighbor")
        if family == "openmpi":
            command = [str(LIBRARIES["openmpi"].prefix / "bin" / "mpicc"), source, "-o", target]
        else:
            headers = STAGE / "include"
            command = [os.environ.get("CC", "cc"), f"-I{headers}", source, "-o", target,
                       str(STAGE / "lib" / "libmpi.so.12"), "-Wl,--allow-shlib-undefined"]
        subprocess.run([*command, "-O2", "-Wall", "-Wextra", "-pthread"], check=True)


if __name__ == "__main__":
    main()
