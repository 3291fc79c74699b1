#!/usr/bin/env python3
"""Packing and reductions at every level of this processor, beside the peers: datatype.c and op.c, the libraries in turn.

usage: benches/levels.py [--rounds N] [--seconds S] [--write]

Levels that the processor lacks are left out. A processor with less is played by OXMPI_KERNELS; the C
library, which the peers copy by, and Open MPI's reductions are kept from wider registers, too, where the level says so. What an
instruction costs elsewhere is not played: a table is of its processor. Each cell is the median over the rounds. --write: into the processor's
page, benches/RESULTS-levels-family*-model*.md.
"""

import argparse
import math
import os
import platform
import re
import statistics
from collections import defaultdict
from datetime import date

import libraries
from run import RESULT

FLAGS = set(re.search(r"^flags\s*: (.*)", open("/proc/cpuinfo").read(), re.M)[1].split())


def without(features, **more):
    """What the C library is kept from, and more of the kind."""
    return {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join("-" + feature for feature in features), **more}


AVX512 = [f"AVX512{part}" for part in ("F", "VL", "BW", "DQ", "CD")]
# Level, the processor's flag for it, its name for packing and for reductions, and what the peers' libraries are kept from. At SSE2 Open MPI has
# to do without the component that it has for AVX.
LEVELS = [
    ("AVX-512", "avx512f", "best", {}),
    ("AVX2", "avx2", "avx2", without(AVX512, OMPI_MCA_op_avx_support="63")),
    ("SSE2", "sse2", "plain", without([*AVX512, "AVX2", "AVX_Fast_Unaligned_Load"], OMPI_MCA_op="^avx")),
]
LEVELS = [(level, *rest) for level, flag, *rest in LEVELS if flag in FLAGS]
PEERS = ["mpich", "openmpi", "impi"]
FAMILY = re.search(r"cpu family\s*: (.*)\nmodel\s*: (.*)", open("/proc/cpuinfo").read())
# A page a processor: a table of one says nothing of another.
FILE = libraries.HERE / (f"RESULTS-levels-family{FAMILY[1]}-model{FAMILY[2]}.md" if FAMILY else "RESULTS-levels.md")


def measured(library, program, arguments, environment):
    """GB/s of packing, or us a call, by row. The program is started without a launcher: one rank needs none."""
    binary = libraries.WORK / "bin" / library.family / program
    extra = {**library.variables(), "OPAL_PREFIX": str(library.prefix)} if library.family == "openmpi" else library.variables()
    command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), str(binary), *map(str, arguments)]
    output = libraries.subprocess.run(command, env={**os.environ, "LD_LIBRARY_PATH": library.library_path(), **extra, **environment},
                                      capture_output=True, text=True, timeout=120, check=True).stdout
    found = RESULT.findall(output)
    return {(series, int(size)): float(value) for series, size, value, *_ in found if not series.startswith("construct")}


def table(program, arguments, rounds):
    values = defaultdict(list)
    for _ in range(rounds):
        for level, kernels, kept_from in LEVELS:
            own = {**kept_from, "OXMPI_KERNELS": kernels}
            for name in ["oxmpi", *PEERS]:
                environment = own if name == "oxmpi" else kept_from
                for row, value in measured(libraries.LIBRARIES[name], program, arguments, environment).items():
                    values[row, level, name].append(value)
    medians = {cell: statistics.median(found) for cell, found in values.items()}
    rows = sorted({row for row, _, _ in medians if not row[0].startswith("hand_")}, key=lambda row: (row[1], row[0]))
    higher = program == "datatype"
    lines = []
    for level, *_ in LEVELS:
        hand = ["plain loop"] if higher else []
        lines += ["", f"### {level}", "", "| | oxmpi | " + " | ".join([*(libraries.LIBRARIES[name].title for name in PEERS), *hand]) +
                  " | gain over best peer |", "|---|" + "---:|" * (len(PEERS) + 2 + len(hand))]
        gains = defaultdict(list)
        for row in rows:
            cells = [medians[row, level, name] for name in ["oxmpi", *PEERS]]
            best = max(cells[1:]) if higher else min(cells[1:])
            gain = cells[0] / best if higher else best / cells[0]
            gains[row[1]].append(gain)
            if higher:
                cells.append(medians[("hand_" + row[0], row[1]), level, "oxmpi"])
            size = f"{row[1] >> 20} MB" if row[1] >= 1 << 20 else f"{row[1] >> 10} KB"
            lines.append(f"| {row[0]} {size} | " + " | ".join(f"{cell:.3g}" for cell in cells) + f" | {gain:.2f} |")
        for size, found in gains.items():
            mean = math.exp(statistics.fmean(map(math.log, found)))
            lines += ["", f"Geometric mean of the gains, {size >> 10} KB: {mean:.2f}; the lowest: {min(found):.2f}"]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    libraries.build([libraries.LIBRARIES[name] for name in ["oxmpi", *PEERS]])
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    lines = ["# Measured: every level", "", f"Written by `benches/levels.py --rounds {options.rounds} --seconds {options.seconds} --write`; do not edit. "
             f"Medians, {date.today()}.", "", f"Processor: {model and model[1]} (family {FAMILY and FAMILY[1]}, model {FAMILY and FAMILY[2]}), "
             f"Linux {platform.release()}. All levels on this one processor: see the head of levels.py.", "",
             "## Packing and unpacking (GB/s)", *table("datatype", ["pack", options.seconds, 1], options.rounds), "",
             "## MPI_Reduce_local (us a call)", *table("op", [options.seconds], options.rounds), ""]
    text = "\n".join(lines)
    print(text)
    if options.write:
        FILE.write_text(text)


if __name__ == "__main__":
    main()
