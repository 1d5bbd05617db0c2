"""The chart: one panel a case, one bar a mode, the packed limit as a line."""

COLOURS = {"limit": "#b8bfc6", "hdf5": "#4c78a8", "pnetcdf": "#72b7b2", "mpiio": "#e0a458", "stria": "#d1495b"}
PANELS_A_ROW = 3
LEGEND = {"limit": "limit (system calls)", "hdf5": "HDF5", "pnetcdf": "PnetCDF", "mpiio": "MPI-IO", "stria": "Stria"}


def family(name):
    """Which library a mode belongs to."""
    return next((key for key in ("stria", "hdf5", "pnetcdf", "mpiio") if key in name), "limit")


def shown(summaries):
    """The checkpoint modes of a case, without the limits that ran a second time in our own process."""
    chosen = [value for (program, name), value in summaries.items()
              if value.kind == "checkpoint" and not (program == "stria" and "limit" in name)
              and name not in ("limit-pack-whole", "limit-pack-staged")]
    return chosen[::-1]


def draw_panel(axes, case, summaries):
    """Horizontal bars with the spread of the rounds, fastest families told apart by colour."""
    bars = shown(summaries)
    rates = [bar.mbps() for bar in bars]
    medians = [rate["median"] for rate in rates]
    spread = [[rate["median"] - rate["min"] for rate in rates], [rate["max"] - rate["median"] for rate in rates]]
    axes.barh(range(len(bars)), medians, color=[COLOURS[family(bar.name)] for bar in bars], height=0.72,
              xerr=spread, error_kw={"elinewidth": 0.8, "ecolor": "#444444"})
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars], fontsize=7)
    limit = summaries.get(("peers", "limit-pack"))
    if limit is not None:
        axes.axvline(limit.mbps()["median"], color="#555555", linewidth=0.8, linestyle="--")
    axes.set_title(case.title(), fontsize=8, loc="left")
    axes.set_xlabel("MB/s (10$^6$ useful bytes)", fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.02)


def draw(path, measured):
    """Draws all cases, a list of (case, summaries), into a PNG. Returns False when matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    columns = min(PANELS_A_ROW, len(measured))
    rows = -(-len(measured) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(5.2 * columns, 3.4 * rows + 0.5), squeeze=False)
    for axes in grid.flat[len(measured):]:
        axes.axis("off")
    for axes, (case, summaries) in zip(grid.flat, measured):
        draw_panel(axes, case, summaries)
    figure.legend(handles=[Patch(color=COLOURS[key], label=LEGEND[key]) for key in LEGEND], loc="upper center", ncols=5,
                  fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.4 / figure.get_figheight()))
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return True
