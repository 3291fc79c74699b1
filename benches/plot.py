"""Draws charts as SVG: plot.py CHARTS.json [DIRECTORY]. Needs matplotlib; report.py and pages.py start it with a Python that has it.

CHARTS.json is what report.py or pages.py leaves beside the pictures: medians, by placement of the cores or by row, so that a picture can
be drawn again without measuring. Text stays text, on a white ground, so that it reads in light and dark pages.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "oxmpi", "figure.facecolor": "white", "axes.facecolor": "white",
                            "savefig.facecolor": "white", "font.family": "sans-serif", "font.size": 10})
import matplotlib.pyplot as pyplot

COLOURS = {"oxmpi": "#d62728", "limit": "#888888", "MPICH": "#1f77b4", "Open MPI": "#2ca02c", "Intel MPI": "#9467bd"}
PLACES = {"separate": "on separate cores", "siblings": "on two threads of one core", "any": ""}


def colour(title):
    """One colour a library; what is MPICH with other settings is paler."""
    found = next((value for name, value in COLOURS.items() if title.startswith(name)), None)
    return (found + "80") if found and "throttled" in title else found


def label(size):
    return f"{size >> 20}M" if size >= 2**20 else f"{size >> 10}K" if size >= 1024 else str(size)


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    # Lines end without blanks, as everywhere.
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")


def lines(axes, what, series):
    """What depends on the size of messages."""
    sizes = sorted({size for points in series.values() for size, _ in points if size > 0})
    for title, points in series.items():
        points = sorted((size, value) for size, value in points if size > 0)
        limit = title == "limit"
        axes.plot(*zip(*points), label="what the machine can do" if limit else title, color=colour(title), marker="" if limit else "o",
                  linestyle="--" if limit else "-", markersize=3, linewidth=2.2 if title == "oxmpi" else 1.3)
    axes.set_xscale("log", base=2)
    shown = []
    for size in sizes:
        if not shown or size >= 4 * shown[-1]:
            shown.append(size)
    axes.set_xticks(shown, [label(size) for size in shown])
    axes.minorticks_off()
    if what == "latency":
        axes.set_yscale("log")
    axes.set_xlabel("message, bytes")
    axes.set_ylabel("µs, half round trip" if what == "latency" else "GB/s")
    axes.set_title(f"{'Latency (less is better)' if what == 'latency' else 'Bandwidth (more is better)'}, 2 ranks")
    axes.grid(True, alpha=0.25)


def rate(axes, values):
    names = list(values)
    bars = axes.bar(range(len(names)), [values[name] for name in names], color=[colour(name) for name in names], width=0.6)
    axes.bar_label(bars, fmt="%.1f")
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) if " MPI" not in name else name.replace(" MPI ", " MPI\n") for name in names],
                    fontsize=8)
    axes.set_ylabel("million messages/s")
    axes.set_title("Rate, 8 bytes, 2 ranks (more is better)")
    axes.margins(y=0.12)


def collectives(axes, ranks, values, cores):
    """values: library -> operation -> µs; operations in the order of the first library."""
    names = list(values)
    operations = [key for key in values[names[0]] if all(key in values[name] for name in names)]
    width = 0.8 / len(names)
    for at, name in enumerate(names):
        axes.bar([x + at * width for x in range(len(operations))], [values[name][key] for key in operations], width, label=name,
                 color=colour(name))
    axes.set_yscale("log")
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(operations))], operations, rotation=35, ha="right", fontsize=8)
    axes.set_ylabel("µs a call")
    axes.set_ylim(top=axes.get_ylim()[1] * 3)  # room for the legend
    crowded = f" on {cores} cores" if ranks > cores else ""
    axes.set_title(f"Collectives (less is better), {ranks} ranks{crowded}")
    axes.grid(True, axis="y", alpha=0.25)


def some(values, wanted=("8 B", "64 KB")):
    """A few operations, for the small picture."""
    return {name: {key: value for key, value in row.items() if " " not in key or key.split(" ", 1)[1] in wanted}
            for name, row in values.items()}


def bars(data, path):
    """Groups of bars: a row is a group, a library a colour."""
    rows = data["rows"]
    names = list(dict.fromkeys(name for values in rows.values() for name in values))
    width = 0.8 / len(names)
    figure, axes = pyplot.subplots(figsize=(max(7.5, 1.1 * len(rows)), 5))
    for at, name in enumerate(names):
        there = [(x + at * width, values[name]) for x, values in enumerate(rows.values()) if name in values]
        axes.bar(*zip(*there), width, label=name, color=colour(name))
    axes.set_yscale("log")
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(rows))], list(rows), rotation=35, ha="right", fontsize=8)
    axes.set_ylabel(data["unit"])
    axes.set_ylim(top=axes.get_ylim()[1] * 3)  # room for the legend
    axes.set_title(data["title"])
    axes.grid(True, axis="y", alpha=0.25)
    axes.legend(fontsize=8)
    save(figure, path)


def draw(place, charts, cores, directory):
    sized = [what for what in ("latency", "bandwidth") if charts.get(what)]
    crowds = {int(ranks): values for ranks, values in charts.get("collective", {}).items()}
    where = PLACES[place]
    for what in sized:
        figure, axes = pyplot.subplots(figsize=(7.5, 4.5))
        lines(axes, what, charts[what])
        axes.set_title(f"{axes.get_title()} {where}")
        axes.legend()
        save(figure, directory / f"{what}-{place}.svg")
    if charts.get("rate"):
        figure, axes = pyplot.subplots(figsize=(7.5, 3.5))
        rate(axes, charts["rate"])
        save(figure, directory / f"rate-{place}.svg")
    for ranks, values in crowds.items():
        figure, axes = pyplot.subplots(figsize=(12, 5))
        collectives(axes, ranks, values, cores)
        axes.legend()
        save(figure, directory / f"collectives-{place}-{ranks}.svg")
    if len(sized) == 2 and charts.get("rate") and crowds:
        figure, axes = pyplot.subplots(2, 2, figsize=(11, 8))
        for what, where_to in zip(sized, axes[0]):
            lines(where_to, what, charts[what])
        axes[0][0].legend(fontsize=8)
        rate(axes[1][0], charts["rate"])
        most = max(ranks for ranks in crowds if ranks <= 8) if any(ranks <= 8 for ranks in crowds) else max(crowds)
        collectives(axes[1][1], most, some(crowds[most]), cores)
        axes[1][1].legend(fontsize=7)
        save(figure, directory / f"overview-{place}.svg")


def main():
    source = Path(sys.argv[1])
    directory = Path(sys.argv[2]) if len(sys.argv) > 2 else source.parent
    data = json.loads(source.read_text())
    if "rows" in data:
        bars(data, directory / f"{source.stem}.svg")
        return
    for place, charts in data["places"].items():
        draw(place, charts, data["cores"], directory)


if __name__ == "__main__":
    main()
