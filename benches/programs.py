#!/usr/bin/env python3
"""Real programs of others, unmodified, on oxmpi and on Debian's MPICH: do they pass, and how long do they take?

usage: benches/programs.py [--rounds N] [--lock FILE] [--only WORD] [--write]

Everything comes from Debian's packages: netpipe-mpich2, libtachyon-mpich-0-dev, yorick-mpy-mpich2, scalapack-mpi-test; what is not
installed is left out and named. The programs know nothing of oxmpi: LD_LIBRARY_PATH lets them find it. Each run is checked by what
the program says of its own results, and the libraries take turns; the times are medians of whole commands, mpiexec's start included.
--lock: each run holds this file, for those who share the machine. --write: into benches/RESULTS-programs.md.
"""

import argparse
import fcntl
import gzip
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pages

ROOT = Path(__file__).resolve().parent.parent
STAGE = Path(os.environ.get("OXMPI_PREFIX") or ROOT / "target" / "stage")
WORK = ROOT / "target" / "programs"
SCALAPACK = Path("/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests")
YORICK = Path("/usr/share/doc/yorick-mpy-common/examples/testmp.i.gz")
TACHYON = Path("/usr/include/tachyon.h")
LIBRARIES = {"oxmpi": str(STAGE / "bin" / "mpiexec"), "Debian MPICH 4.0.2": "mpiexec.mpich"}
# Of each kind of driver some: factorizations, solvers, eigenvalues, reductions to band form, and the BLACS's own tests.
DRIVERS = ["xdlu", "xdllt", "xdqr", "xdls", "xdinv", "xdbrd", "xdtrd", "xdhrd", "xdgblu", "xdpbllt", "xznep", "xclu", "xzevc", "xslu"]


class Program:
    """`passed` says from the output (and the folder of the run) what the program has found, or None if it failed."""

    def __init__(self, name, ranks, command, passed, needs, stdin=""):
        self.name, self.ranks, self.command, self.passed = name, ranks, command, passed
        self.needs, self.stdin = Path(needs), stdin


def netpipe(output, _folder):
    passed = output.count("Integrity check passed")
    return f"{passed} sizes intact" if passed > 20 and "ntegrity check failed" not in output else None


def picture(_output, folder):
    """The picture must not depend on the library or the number of ranks."""
    file = folder / "picture.ppm"
    made = hashlib.md5(file.read_bytes()).hexdigest() if file.exists() else "none"
    picture.first = getattr(picture, "first", made)
    return "the same picture" if made == picture.first != "none" else None


def yorick(output, _folder):
    good = "testmp2 passed" in output and "testmp3 passed" in output and "rank 1 send/recv worked" in output
    return f"{output.count('nerrors=0')} pools without errors" if good else None


def residuals(output, _folder):
    found = re.search(r"(\d+) tests completed and passed", output)
    return f"{found[1]} tests passed" if found and "FAILED" not in output else None


def programs(selected):
    all = [Program(f"NetPIPE {options}", 2, ["NPmpich2", *options.split(), "-o", "np.out"], netpipe, "/usr/bin/NPmpich2")
           for options in ["-i -u 262144 -n 20", "-i -a -2 -u 131072 -n 20", "-i -S -u 131072 -n 20"]]
    all += [Program(f"Tachyon, {ranks} ranks", ranks, [str(WORK / "tachyon")], picture, TACHYON) for ranks in [1, 2, 4]]
    all += [Program(f"Yorick, its self test, {ranks} ranks", ranks, ["mpy.mpich2", "-j", "testmp.i"], yorick, YORICK,
                    "testmp\ntestmp1, 1\nquit\n") for ranks in [2, 3]]
    all += [Program(f"ScaLAPACK {name}", 2, [str(SCALAPACK / name)], residuals, SCALAPACK / name) for name in DRIVERS]
    return [program for program in all if selected in program.name]


def prepare():
    """Every program in a folder with the files that it reads."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    if YORICK.exists():
        (WORK / "testmp.i").write_bytes(gzip.decompress(YORICK.read_bytes()))
    for data in [*Path("/usr/share/scalapack").glob("*"), *SCALAPACK.glob("*.dat")]:
        if data.is_file() and not (WORK / data.name).exists():
            shutil.copy(data, WORK)
    if TACHYON.exists():
        source = ROOT / "benches" / "tachyon.c"
        subprocess.run(["mpicc.mpich", "-O1", "-w", source, "-o", WORK / "tachyon", "-ltachyon-mpich", "-lm"], check=True)


@contextmanager
def alone(lock):
    if not lock:
        yield
        return
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(program, library, lock):
    """(seconds, what it says) of one run; what it says is None if it failed."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if library == "oxmpi":
        # Rank 0 then writes its settings: the proof that the program did not find the library of the system.
        environment.update(LD_LIBRARY_PATH=str(STAGE / "lib"), OXMPI_SHOW="variables")
    (WORK / "picture.ppm").unlink(missing_ok=True)
    command = [LIBRARIES[library], "-n", str(program.ranks), *program.command]
    with alone(lock):
        begin = time.monotonic()
        try:
            done = subprocess.run(command, cwd=WORK, env=environment, input=program.stdin, capture_output=True, text=True,
                                  errors="replace", timeout=60)
        except subprocess.TimeoutExpired:
            return 60.0, None
        seconds = time.monotonic() - begin
    output = done.stdout + done.stderr
    right_library = ("OXMPI_SHOW=variables" in output) == (library == "oxmpi")
    return seconds, program.passed(output, WORK) if done.returncode == 0 and right_library else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lock")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    libraries = [name for name, mpiexec in LIBRARIES.items() if shutil.which(mpiexec)]
    prepare()
    lines, missing, good = [], [], True
    for program in programs(options.only):
        if not program.needs.exists():
            missing.append(program.name)
            continue
        seconds, said = {name: [] for name in libraries}, {}
        for _ in range(options.rounds):
            for library in libraries:
                took, said[library] = run(program, library, options.lock)
                seconds[library].append(took)
                if said[library] is None:
                    break
        times = [f"{statistics.median(seconds[name]):.2f}" if said.get(name) else "failed" for name in libraries]
        good &= said["oxmpi"] is not None
        lines.append(f"| {program.name} | {program.ranks} | {said['oxmpi'] or 'failed'} | " + " | ".join(times) + " |")
        print(lines[-1], flush=True)
    head = f"| program | ranks | on oxmpi | {' | '.join(f'{name}, s' for name in libraries)} |"
    text = f"""Seconds of the whole command, median of {options.rounds}, in turns; the head of programs.py says what each needs.

{head}
|---|---|---|{'---|' * len(libraries)}
{chr(10).join(lines)}
"""
    if missing:
        text += f"\nNot installed, so left out: {', '.join(missing)}.\n"
    if options.write:
        pages.replace(ROOT / "benches" / "RESULTS-programs.md", "Real programs", text)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
