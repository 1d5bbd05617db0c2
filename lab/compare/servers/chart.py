"""The figures: seconds by accesses of a client for each method, bars where an experiment
has one point."""

import statistics

COLOURS = {
    "multiple": "#b8bfc6",
    "list": "#d1495b",
    "sieving": "#4c78a8",
    "hybrid": "#72b7b2",
    "datatype": "#8c5ba6",
    "two-phase": "#e0a458",
    "automatic": "#2d2d2d",
}


def panels_of(points):
    """Returns [(title, axis, {method: [(size, median seconds)]})], in the order of the
    experiments."""
    panels = {}
    for point in points:
        for quantity, title in point["figures"]:
            key = f"{title}, {point['clients']} clients"
            _, _, series = panels.setdefault(key, (key, point["axis"], {}))
            for method, values in point["times"].get(quantity, {}).items():
                series.setdefault(method, []).append((point["size"], statistics.median(values)))
    return [panel for panel in panels.values() if panel[2]]


def draw_panel(axes, title, axis, series):
    if axis:
        for method, line in series.items():
            sizes, seconds = zip(*sorted(line), strict=True)
            axes.plot(sizes, seconds, marker="o", markersize=3, linewidth=1.2, color=COLOURS[method], label=method)
        axes.set_xscale("log")
        axes.set_xlabel(f"{axis} of a client", fontsize=7)
    else:
        names = list(series)
        axes.bar(names, [series[name][0][1] for name in names], color=[COLOURS[name] for name in names])
    axes.set_yscale("log")
    axes.set_ylabel("seconds", fontsize=7)
    axes.set_title(title, fontsize=8.5, loc="left")
    axes.tick_params(which="both", labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def draw(points, path):
    """Draws all panels into a PNG. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    panels = panels_of(points)
    if not panels:
        return
    rows = (len(panels) + 1) // 2
    figure, grid = pyplot.subplots(rows, 2, figsize=(9, 2.9 * rows), squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_panel(axes, *panel)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    used = [method for method in COLOURS if any(method in series for _, _, series in panels)]
    figure.legend(
        handles=[Patch(color=COLOURS[method], label=method) for method in used], ncols=7, fontsize=8, loc="lower center"
    )
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
