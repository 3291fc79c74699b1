#!/usr/bin/env python3
"""All pages of measurements and all pictures, one script after the other; what a machine cannot run is said and left out.

usage: benches/all.py [--short] [--only NAME,NAME] [--list]

About an hour and a half on two cores; --short: one or two rounds each, about half an hour. Peers: benches/libraries.py. The machine should
have nothing else to do. A page has the command, the date, the revision and the processor in its head.
"""

import argparse
import subprocess
import sys
import time

from libraries import HERE, ROOT

# Name, command, arguments with --short.
STEPS = [
    ("messages", ["run.py"], ["--rounds", "2", "--output", str(HERE / "RESULTS.md")]),
    ("levels", ["levels.py", "--write"], ["--rounds", "3", "--seconds", "0.01"]),
    ("windows", ["rma.py", "--write"], ["--rounds", "2", "--seconds", "0.03", "--ranks", "2", "4"]),
    ("files", ["io.py", "--write"], ["--minutes", "5"]),
    ("threads", ["threads.py"], ["--rounds", "1"]),
    ("spawn", ["spawn.py", "--write"], ["--rounds", "3"]),
    ("programs", ["programs.py", "--write"], []),
    ("hosts", ["hosts.py", "--write"], ["--rounds", "2"]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default=",".join(name for name, _, _ in STEPS))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = set(wanted) - {name for name, _, _ in STEPS}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(name for name, _, _ in STEPS)}")
    ended = []
    for name, command, short in STEPS:
        if name not in wanted:
            continue
        command = [sys.executable, str(HERE / command[0]), *command[1:], *(short if options.short else [])]
        print(f"=== {name}: {' '.join(command[1:])}", flush=True)
        if options.list:
            continue
        begun = time.monotonic()
        code = subprocess.run(command, cwd=ROOT).returncode
        ended.append(f"{name:10} {time.monotonic() - begun:6.0f} s  {'ok' if code == 0 else f'exit code {code}'}")
    print("\n".join(ended))
    sys.exit(any("exit code" in line for line in ended))


if __name__ == "__main__":
    main()
