"""What the pages of measurements have in common: the machine and the date in the head, the part that is written by hand above a mark and
the measured part below it, and the pictures.

Pictures are drawn from plots/NAME.json by plot.py: `title`, `unit` and `rows`, which are row -> library -> value.
"""

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import libraries

MARK = "<!-- measured by {} -->\n"


def level():
    """The highest level of vector instructions that this processor has, in the words of docs/datatypes.md."""
    flags = set(re.findall(r"\S+", next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("flags", "Features"))), "")))
    known = (("AVX-512", "avx512vl"), ("AVX2", "avx2"), ("SSE2", "sse2"), ("NEON", "asimd"))
    return next((name for name, flag in known if flag in flags), "no vector instructions known here")


def machine():
    """Processor with family and model, its level, cores, memory and kernel: without them a figure says nothing."""
    text = Path("/proc/cpuinfo").read_text()
    field = lambda name: (re.search(rf"^{name}\s*:\s*(.*)", text, re.M) or ["", "?"])[1]
    virtual = ", virtual machine" if re.search(r"^flags.*\bhypervisor\b", text, re.M) else ""
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) / 2**20
    return (f"{field('model name')} (family {field('cpu family')}, model {field('model')}, {level()}{virtual}), {os.cpu_count()} cores, "
            f"{memory:.0f} GB, Linux {platform.release()}")


def revision():
    """The commit, and whether what is measured has changed since then: pages and pictures are made one after the other."""
    git = lambda *words: subprocess.run(["git", *words], capture_output=True, text=True, cwd=libraries.ROOT)
    changed = git("diff", "--quiet", "HEAD", "--", "src", "capi", "launcher", "fortran", "macros").returncode
    return (git("describe", "--always").stdout.strip() or "unknown") + ("-dirty" if changed else "")


def made():
    """The sentence that heads a measured part: command, date, revision, machine."""
    words = " ".join([f"benches/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    return f"Made by `{words}`, {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, revision {revision()}. {machine()}.\n"


def replace(page, title, text):
    """Writes the measured part of a page, below its mark. What stands above, written by hand, is kept; `title` heads a new page."""
    mark = MARK.format(f"benches/{Path(sys.argv[0]).name}")
    head = page.read_text().partition(mark)[0] if page.exists() else f"# {title}\n\n"
    page.write_text(head + mark + "\n" + made() + "\n" + text.rstrip() + "\n")


def with_matplotlib():
    """A Python that has matplotlib, by pip if need be; None where it cannot be had."""
    if not subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True).returncode:
        return sys.executable
    environment = libraries.WORK / "plot-venv"
    try:
        if not (environment / "installed").exists():
            libraries.virtual_environment(environment, ["matplotlib"])
            (environment / "installed").touch()
    except libraries.Unavailable as error:
        print(f"no plots: {error}")
        return None
    return str(environment / "bin" / "python")


def draw(name, title, unit, rows):
    """A picture of groups of bars: rows are row -> library -> value. Less is better where the unit is a time."""
    directory = libraries.HERE / "plots"
    source = directory / f"{name}.json"
    source.write_text(json.dumps({"title": title, "unit": unit, "made": made().strip(), "rows": rows}, indent=1) + "\n")
    python = with_matplotlib()
    if python:
        subprocess.run([python, str(libraries.HERE / "plot.py"), str(source), str(directory)], check=True)
