"""Draws one PNG per chart: plot.py CHARTS.json DIRECTORY. Needs matplotlib; report.py starts it with a Python that has it."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

COLOURS = {"oxmpi": "#d62728", "limit": "#888888"}


def label(size):
    return f"{size >> 20}M" if size >= 2**20 else f"{size >> 10}K" if size >= 1024 else str(size)


def main():
    charts, directory = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    for name, lines in charts.items():
        what, place = name.split("-", 1)
        figure, axes = pyplot.subplots(figsize=(8, 5), dpi=110)
        sizes = sorted({size for points in lines.values() for size, _ in points if size > 0})
        for title, points in lines.items():
            points = sorted((size, value) for size, value in points if size > 0)
            axes.plot(*zip(*points), label=title, color=COLOURS.get(title), marker="" if title == "limit" else "o",
                      linestyle="--" if title == "limit" else "-", markersize=3.5, linewidth=2.2 if title == "oxmpi" else 1.3)
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [label(size) for size in sizes], rotation=60)
        if what == "latency":
            axes.set_yscale("log")
        axes.set_xlabel("message size, bytes")
        axes.set_ylabel("half round trip, µs" if what == "latency" else "GB/s")
        axes.set_title(f"{what}, 2 ranks, {'siblings of one core' if place == 'siblings' else 'separate cores'}")
        axes.grid(True, which="both", alpha=0.25)
        axes.legend()
        figure.tight_layout()
        figure.savefig(directory / f"{name}.png")
        pyplot.close(figure)


if __name__ == "__main__":
    main()
