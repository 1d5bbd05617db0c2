"""The chart: one panel a case, one bar a mode, the packed limit as a line. Also a program: chart.py FLASH.JSON OUT.PNG."""

import json
import subprocess
import sys

COLOURS = {"limit": "#b8bfc6", "hdf5": "#4c78a8", "pnetcdf": "#72b7b2", "mpiio": "#e0a458", "stria": "#d1495b"}
LEGEND = {"limit": "limit (system calls)", "hdf5": "HDF5", "pnetcdf": "PnetCDF", "mpiio": "MPI-IO", "stria": "Stria"}
PANELS_A_ROW = 3
SYSTEM_PYTHON = "/usr/bin/python3"  # has the distribution's matplotlib where `python3` is another one
NO_MATPLOTLIB = 3


def family(name):
    """Which library a mode belongs to."""
    return next((key for key in ("stria", "hdf5", "pnetcdf", "mpiio") if key in name), "limit")


def shown(case):
    """The checkpoint modes of a case from bottom to top, each limit once."""
    return [
        mode
        for mode in case["modes"]
        if mode["kind"] == "checkpoint"
        and not (mode["program"] == "stria" and "limit" in mode["name"])
        and mode["name"] not in ("limit-pack-whole", "limit-pack-staged")
    ][::-1]


def draw_panel(axes, case):
    """Horizontal bars with the spread of the rounds, families told apart by colour."""
    bars = shown(case)
    medians = [bar["mbps"]["median"] for bar in bars]
    spread = [
        [bar["mbps"]["median"] - bar["mbps"]["min"] for bar in bars],
        [bar["mbps"]["max"] - bar["mbps"]["median"] for bar in bars],
    ]
    axes.barh(
        range(len(bars)),
        medians,
        color=[COLOURS[family(bar["name"])] for bar in bars],
        height=0.72,
        xerr=spread,
        error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
    )
    axes.set_yticks(range(len(bars)))
    axes.set_yticklabels([bar["name"] for bar in bars], fontsize=7)
    for bar in bars:
        if bar["name"] == "limit-pack":
            axes.axvline(bar["mbps"]["median"], color="#555555", linewidth=0.8, linestyle="--")
    axes.set_title(case["title"], fontsize=8, loc="left")
    axes.set_xlabel("MB/s (10$^6$ useful bytes)", fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.spines["top"].set_visible(False)
    axes.spines["right"].set_visible(False)
    axes.margins(y=0.02)


def draw(record, path):
    """Draws every measured case of a record into a PNG. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    measured = [case for case in record["cases"] if shown(case)]
    columns = max(1, min(PANELS_A_ROW, len(measured)))
    rows = max(1, -(-len(measured) // columns))
    figure, grid = pyplot.subplots(rows, columns, figsize=(5.2 * columns, 3.4 * rows + 0.5), squeeze=False)
    for axes in grid.flat[len(measured) :]:
        axes.axis("off")
    for axes, case in zip(grid.flat, measured, strict=False):
        draw_panel(axes, case)
    figure.legend(
        handles=[Patch(color=COLOURS[key], label=LEGEND[key]) for key in LEGEND],
        loc="upper center",
        ncol=len(LEGEND),
        fontsize=8,
        frameon=False,
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.4 / figure.get_figheight()))
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def draw_with_any_python(json_path, picture_path):
    """Draws with this Python or, where it has no matplotlib, with the system's. Returns whether there is a picture."""
    for python in (sys.executable, SYSTEM_PYTHON):
        try:
            done = subprocess.run([python, __file__, json_path, picture_path], capture_output=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return True
    return False


def main(arguments):
    """Draws one record; exit code 3 says that matplotlib is missing."""
    with open(arguments[0], encoding="utf-8") as file:
        record = json.load(file)
    try:
        draw(record, arguments[1])
    except ImportError:
        return NO_MATPLOTLIB
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
