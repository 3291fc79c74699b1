#!/usr/bin/env python3
"""How long a death takes to be an error of those that wait for the dead: the median over KILLS jobs of one kill each.

usage: deaths.py [KILLS]      default 100; writes nothing, prints a table for benches/RESULTS-hosts.md

Jobs run by `mpiexec -disable-auto-cleanup`; two hosts are pretended on this machine
(OXMPI_PRETEND=nodes=2 OXMPI_FABRIC=tcp).
"""

import os
import statistics
import subprocess
import sys
import tempfile

import libraries
import pages


def build():
    program = libraries.WORK / "deaths"
    libraries.WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run([libraries.ROOT / "target/stage/bin/mpicc", "-O2", libraries.HERE / "deaths.c", "-o", program], check=True)
    return program


def times(program, what, ranks, hosts, kills):
    """Milliseconds of all that were left, over so many kills."""
    found = []
    for _ in range(kills):
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(4096))
            file.flush()
            command = [libraries.ROOT / "target/stage/bin/mpiexec", "-disable-auto-cleanup", "-n", str(ranks)]
            environment = dict(os.environ)
            if hosts > 1:
                environment.update(OXMPI_PRETEND=f"nodes={hosts}", OXMPI_FABRIC="tcp")
            done = subprocess.run([*command, program, file.name, what], capture_output=True, text=True, env=environment, timeout=60)
        lines = done.stdout.split("\n")[:-1]
        if len(lines) != ranks - 1 or "no error" in lines:
            sys.exit(f"{what}, {ranks} ranks: {done.stdout}{done.stderr}")
        found += [int(line) / 1e6 for line in lines]
    return found


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    program = build()
    print(pages.made())
    print("| a rank is killed; the others wait in | ranks | median ms | 9 of 10 within | longest |\n|---|---|---|---|---|")
    for hosts in (1, 2):
        for what in ("recv", "barrier", "ibarrier", "fence"):
            for ranks in (2, 4):
                all_of_them = sorted(times(program, what, ranks, hosts, kills))
                where = {1: "one host", 2: "two hosts"}[hosts]
                print(f"| {what}, {where} | {ranks} | {statistics.median(all_of_them):.1f} | {all_of_them[len(all_of_them) * 9 // 10]:.1f} | {all_of_them[-1]:.1f} |",
                      flush=True)


if __name__ == "__main__":
    main()
