"""Draws the plots of context_ids.py: context_ids_plot.py DATA.json DIRECTORY. Needs matplotlib."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "oxmpi", "figure.facecolor": "white"})
import matplotlib.pyplot as pyplot


def save(figure, directory, name):
    figure.tight_layout()
    figure.savefig(directory / f"context-ids-{name}.svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def reductions(simulated, directory):
    """How many allocations needed how many reductions, 128 ranks."""
    runs = [entry for entry in simulated if entry["what"] == "fragmentation"]
    ranks = max(entry["ranks"] for entry in runs)
    cases = list(dict.fromkeys(entry["case"] for entry in runs if entry["ranks"] == ranks))
    figure, all_axes = pyplot.subplots(1, len(cases), figsize=(5 * len(cases), 5), sharey=True, squeeze=False)
    for axes, case in zip(all_axes[0], cases):
        for entry in (entry for entry in runs if (entry["ranks"], entry["case"]) == (ranks, case)):
            total, cumulative = sum(entry["histogram"]), []
            for count in entry["histogram"]:
                cumulative.append((cumulative[-1] if cumulative else 0) + count / total)
            axes.step(range(len(cumulative)), cumulative, where="post", label=entry["strategy"],
                      linewidth=2.4 if entry["strategy"] == "lease" else 1.2)
        axes.set_title(f"{case}, {ranks} ranks")
        axes.set_xlabel("reductions (15: or more)")
        axes.grid(alpha=0.25)
    all_axes[0][0].set_ylabel("allocations done")
    all_axes[0][-1].legend(fontsize=8)
    save(figure, directory, "reductions")


def density(simulated, directory):
    runs = [entry for entry in simulated if entry["what"] == "fragmentation" and entry["case"] == "small"]
    ranks = max(entry["ranks"] for entry in runs)
    runs = [entry for entry in runs if entry["ranks"] == ranks]
    figure, axes = pyplot.subplots(figsize=(9, 5))
    for at, store in enumerate(("array", "tree", "levels")):
        axes.bar([x + 0.27 * at for x in range(len(runs))], [entry["density"][store] for entry in runs], 0.26, label=store)
    axes.set_xticks([x + 0.27 for x in range(len(runs))], [entry["strategy"] for entry in runs], rotation=30, ha="right")
    axes.set_ylabel("full cells of all cells")
    axes.set_title(f"density, small communicators, {ranks} ranks")
    axes.legend()
    save(figure, directory, "density")


def lookup(simulated, note, directory):
    rows = [entry for entry in simulated if entry["what"] == "lookup"]
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for store in dict.fromkeys(entry["store"] for entry in rows):
        for sparse in (False, True):
            points = [(entry["live"], entry["nanoseconds"]) for entry in rows if entry["store"] == store and entry["sparse"] == sparse]
            axes.plot(*zip(*sorted(points)), "o--" if sparse else "o-", label=store + (", every 16th id" if sparse else ""))
    axes.set_xscale("log")
    axes.set_xlabel("live communicators")
    axes.set_ylabel("ns a lookup")
    axes.set_title(f"lookup by context id{note}")
    axes.grid(alpha=0.25)
    axes.legend()
    save(figure, directory, "lookup")


def splits(results, strategies, note, directory):
    """The distribution of the times of a split, median over the rounds of each twentieth."""
    runs = [entry for entry in results if entry["program"] == "fragmentation" and entry["values"]]
    if not runs:
        return
    ranks = max(entry["ranks"] for entry in runs)
    figure, all_axes = pyplot.subplots(1, 2, figsize=(12, 5), sharey=True)
    for axes, case in zip(all_axes, ("large", "small")):
        chosen = [entry for entry in runs if entry["ranks"] == ranks and entry["case"] == case]
        for name in dict.fromkeys(entry["column"] for entry in chosen):
            parts = range(0, 101, 5)
            rounds = [entry["values"] for entry in chosen if entry["column"] == name and len(entry["values"]) == len(parts)]
            if not rounds:
                continue
            middle = [sorted(values[f"split {part}"] for values in rounds)[len(rounds) // 2] for part in parts]
            axes.plot(middle, list(parts), label=name, linestyle="-" if name in strategies else "--",
                      linewidth=2.4 if name == "lease" else 1.2)
        axes.set_xscale("log")
        axes.set_xlabel("µs")
        axes.set_title(f"MPI_Comm_split, {case}, {ranks} ranks{note}")
        axes.grid(True, which="both", alpha=0.25)
    all_axes[0].set_ylabel("% of the splits at most as long")
    all_axes[1].legend(fontsize=8)
    save(figure, directory, "splits")


def main():
    data, directory = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    if data["simulated"]:
        reductions(data["simulated"], directory)
        density(data["simulated"], directory)
        lookup(data["simulated"], data["note"], directory)
    splits(data["results"], data["strategies"], data["note"], directory)


if __name__ == "__main__":
    main()
