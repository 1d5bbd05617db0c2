"""A figure as SVG, once for light pages and once for dark ones."""

import io

COLOURS = ["#d1495b", "#4c78a8", "#e0a458", "#72b7b2", "#8c5ba6", "#8a939c"]
INKS = {"light": "#1f2933", "dark": "#d9dee3"}


def svg(figure, theme):
    """The drawing as bytes. Raises ImportError where there is no matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ink = INKS[theme]
    style = {name: ink for name in ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")}
    with pyplot.rc_context({**style, "svg.hashsalt": figure.title, "font.size": 9}):
        canvas, axes = pyplot.subplots(figsize=(5.2, 3.2), layout="constrained")
        shortest = min(seconds for points in figure.series.values() for _, seconds in points)
        for colour, (name, points) in zip(COLOURS, figure.series.items(), strict=False):
            places = [place for place, _ in points]
            values = [seconds / shortest for _, seconds in points]
            if figure.axis:
                axes.plot(places, values, marker="o", markersize=3.5, linewidth=1.4, color=colour, label=name)
            else:
                axes.bar(places, values, color=colour)
        if figure.axis:
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(figure.axis)
            axes.legend(frameon=False, labelcolor=ink)
        axes.set_ylabel("time, as a multiple of the shortest")
        axes.set_title(figure.title, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        out = io.BytesIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(canvas)
    return out.getvalue()
