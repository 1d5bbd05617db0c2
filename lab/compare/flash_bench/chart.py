"""The chart: one panel per case, one bar per mode, the packed limit as a line. Also a program:
chart.py FLASH.JSON OUT.PNG."""

import json
import sys

COLOURS = {"limit": "#b8bfc6", "hdf5": "#4c78a8", "pnetcdf": "#72b7b2", "mpiio": "#e0a458"}
COLOURS |= {"adios2": "#8f6bb3", "stria": "#d1495b"}  # in the order of the bars, from above
LEGEND = {"limit": "limit (system calls)", "hdf5": "HDF5", "pnetcdf": "PnetCDF", "mpiio": "MPI-IO", "adios2": "ADIOS2"}
LEGEND |= {"stria": "Stria"}
# Each entry says which modes share a panel, in the order of the panels, and which limit the dashed
# line shows.
KINDS = {
    "checkpoint": ("", ("checkpoint",), "limit-pack"),
    "plot": (": plot file", ("plot",), "plot-limit-pack"),
    "read": (": reading back, restart on other ranks", ("read", "restart"), "read-limit"),
}
NOT_SHOWN = ("limit-pack-whole", "limit-pack-staged")  # limit-pack is the better of them


def family(name):
    """Says which library a mode belongs to."""
    return next((key for key in reversed(COLOURS) if key in name and key != "limit"), "limit")


def shown(case, kinds):
    """Returns the modes of a case that belong to some kinds, bottom first: limits on top, then
    peers, then ours; each limit once."""
    modes = [
        mode
        for mode in case["modes"]
        if mode["kind"] in kinds
        and mode["name"] not in NOT_SHOWN
        and not (mode["program"] == "stria" and mode["name"] in ("limit-pack", "limit-contig", "read-limit"))
    ]
    return sorted(modes, key=lambda mode: list(COLOURS).index(family(mode["name"])))[::-1]


def panels_of(record):
    """Returns all panels of a record: (title, modes, name of the limit), checkpoints first."""
    return [
        (case["title"] + words, shown(case, kinds), limit)
        for words, kinds, limit in KINDS.values()
        for case in record["cases"]
        if any(family(mode["name"]) != "limit" for mode in shown(case, kinds))
    ]


def draw_panel(axes, title, bars, limit):
    """Horizontal bars with their figures and the spread of the rounds, libraries told
    apart by colour."""
    medians = [bar["mbps"]["median"] for bar in bars]
    spread = [
        [bar["mbps"]["median"] - bar["mbps"]["min"] for bar in bars],
        [bar["mbps"]["max"] - bar["mbps"]["median"] for bar in bars],
    ]
    right = max(bar["mbps"]["max"] for bar in bars) * 1.17
    axes.barh(
        range(len(bars)),
        medians,
        color=[COLOURS[family(bar["name"])] for bar in bars],
        height=0.74,
        xerr=spread,
        error_kw={"elinewidth": 0.8, "ecolor": "#444444", "capsize": 1.5},
    )
    for place, bar in enumerate(bars):
        beside = bar["mbps"]["max"] + right * 0.012
        plain = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        axes.text(beside, place, f"{bar['mbps']['median']:.0f}", va="center", fontsize=6.5, bbox=plain)
        if bar["name"] == limit:
            axes.axvline(bar["mbps"]["median"], color="#555555", linewidth=0.8, linestyle="--", zorder=0)
    axes.set_xlim(0, right)
    axes.set_yticks(range(len(bars)), [bar["name"] for bar in bars], fontsize=7)
    for label, bar in zip(axes.get_yticklabels(), bars, strict=True):
        label.set_fontweight("bold" if family(bar["name"]) == "stria" else "normal")
    axes.set_title(title, fontsize=8.5, loc="left", x=-0.35)
    axes.set_xlabel("MB/s (10$^6$ useful bytes): median, least and most", fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.02)


def draw(record, path):
    """Draws every measured case of a record into a PNG. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    panels = panels_of(record)
    columns = max(1, min(3 if len(panels) <= 30 else 6, len(panels)))
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    heights = [0.9 + 0.17 * max(len(bars) for _, bars, _ in row) for row in rows]
    figure, grid = pyplot.subplots(
        len(rows),
        columns,
        figsize=(5.4 * columns, sum(heights) + 0.6),
        squeeze=False,
        height_ratios=heights,
        layout="constrained",
    )
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_panel(axes, *panel)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    figure.legend(
        handles=[Patch(color=COLOURS[key], label=LEGEND[key]) for key in LEGEND],
        loc="outside upper center",
        ncol=len(LEGEND),
        fontsize=9,
        frameon=False,
    )
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main(arguments):
    """Draws one record."""
    with open(arguments[0], encoding="utf-8") as file:
        draw(json.load(file), arguments[1])


if __name__ == "__main__":
    main(sys.argv[1:])
