"""Figures as SVG, once for light pages and once for dark ones: what the paper prints beside ours,
on the same axes."""

import contextlib
import io
import textwrap

from papers.outcome import plain

COLOURS = ["#d1495b", "#4c78a8", "#e0a458", "#72b7b2", "#8c5ba6", "#8a939c"]
INKS = {"light": "#1f2933", "dark": "#d9dee3"}
# Bars whose longest is so many times the shortest get an axis of powers of ten.
WIDE = 20
LABEL_LETTERS = 38
# What the axis of rows says, by unit.
MEASURED = {"ratio": "ratio", "%": "per cent of the run", "count": "count"}
PAPER_LOOK = {"facecolor": "none", "hatch": "////"}


@contextlib.contextmanager
def canvas(title, theme, size):
    """Makes axes with a title; `out` holds the drawing at the end. Raises ImportError where there
    is no matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ink = INKS[theme]
    style = {name: ink for name in ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")}
    out = io.BytesIO()
    with pyplot.rc_context({**style, "svg.hashsalt": title, "font.size": 9, "hatch.linewidth": 0.6}):
        drawing, axes = pyplot.subplots(figsize=size, layout="constrained")
        yield axes, ink, out
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        drawing.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(drawing)


# An axis of lines has so many values at most where all are written out.
FEW = 7
# An axis of powers of ten whose longest is below so many times the shortest has 2 and 5 as well.
NARROW = 100


def powers_of_ten(axis, values=()):
    """Returns a logarithmic axis whose numbers are written out. `values`: what is drawn along it,
    if known."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if values and max(values) < NARROW * min(values):
        axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axis.set_major_formatter(lambda value, _: plain(value))
    axis.set_minor_formatter(NullFormatter())


def shortest(series, names):
    return min(value for name in names for _, value in series[name])


def lines_of(figure):
    """[(name, whether it is the paper's, [(x, value)])]"""
    if figure.measure:
        both = ((False, figure.series), (True, figure.paper))
        return [(name, is_paper, points) for is_paper, series in both for name, points in series.items()]
    return multiples(figure)


def multiples(figure):
    """Returns the same with values as multiples of the shortest."""
    common = [name for name in figure.series if name in figure.paper] or list(figure.series)
    lines = []
    for is_paper, series in ((False, figure.series), (True, figure.paper)):
        if series:
            one = shortest(series, common)
            lines += [(name, is_paper, [(x, value / one) for x, value in points]) for name, points in series.items()]
    return lines


def svg(figure, theme, ours="here"):
    """Returns the drawing as bytes. Lines of the paper are dashed, its bars hatched. `ours`: what
    our figures are called."""
    lines = lines_of(figure)
    names = [*figure.series, *(name for name in figure.paper if name not in figure.series)]
    colour = dict(zip(names, COLOURS, strict=False))
    with canvas(figure.title, theme, (5.2, 3.2)) as (axes, ink, out):
        if figure.axis:
            for name, is_paper, points in lines:
                look = {"linestyle": "--", "marker": "x"} if is_paper else {"marker": "o"}
                look |= {"label": f"{name}, {'paper' if is_paper else ours}", "color": colour.get(name)}
                axes.plot(*zip(*points, strict=True), markersize=3.5, linewidth=1.4, **look)
            axes.set_xscale("log")
            axes.set_yscale("log")
            places = sorted({x for _, _, points in lines for x, _ in points})
            powers_of_ten(axes.xaxis, places)
            if len(places) <= FEW:
                axes.set_xticks(places)
            powers_of_ten(axes.yaxis, [value for _, _, points in lines for _, value in points])
            axes.set_xlabel(figure.axis)
            axes.legend(frameon=False, labelcolor=ink, fontsize=7.5)
        else:
            bars(axes, lines, colour, ink, ours)
        axes.set_ylabel(figure.measure or "time, as a multiple of the shortest")
    return out.getvalue()


def bars(axes, lines, colour, ink, ours):
    labels = list(dict.fromkeys(name for name, _, _ in lines))
    has_paper = any(is_paper for _, is_paper, _ in lines)
    width = 0.4 if has_paper else 0.7
    for name, is_paper, points in lines:
        place = labels.index(name) + (width / 2 if is_paper else -width / 2 if has_paper else 0)
        look = {**PAPER_LOOK, "edgecolor": colour.get(name)} if is_paper else {"color": colour.get(name)}
        axes.bar([place], [points[0][1]], width, **look)
    axes.set_xticks(range(len(labels)), [textwrap.fill(label, 16) for label in labels])
    values = [points[0][1] for _, _, points in lines]
    if max(values) / min(values) > WIDE:
        axes.set_yscale("log")
        powers_of_ten(axes.yaxis)
    if has_paper:
        key(axes, ink, ours)


def key(axes, ink, ours, **place):
    from matplotlib.patches import Patch

    patches = [Patch(color=ink, label=ours), Patch(edgecolor=ink, label="paper", **PAPER_LOOK)]
    axes.legend(handles=patches, frameon=False, labelcolor=ink, fontsize=7.5, **place)


def beside_svg(title, rows, theme, ours="here"):
    """Rows that have a number of the paper's, each with two bars on one axis of powers of ten."""
    # Ratios grow from 1 in both directions.
    base = 1 if all(row.scale() == "ratio" for row in rows) else 0
    with canvas(title, theme, (5.2, 0.9 + 0.46 * len(rows))) as (axes, ink, out):
        for side, values, look in (
            (-0.2, [row.ours for row in rows], {"color": COLOURS[1]}),
            (0.2, [row.paper for row in rows], {**PAPER_LOOK, "edgecolor": COLOURS[1]}),
        ):
            places = [place + side for place in range(len(rows))]
            axes.barh(places, [value - base for value in values], 0.36, left=base, **look)
        axes.set_yticks(range(len(rows)), [textwrap.fill(row.what, LABEL_LETTERS) for row in rows], fontsize=7.5)
        axes.invert_yaxis()
        axes.set_xscale("log")
        powers_of_ten(axes.xaxis)
        axes.set_xlabel(MEASURED[rows[0].scale()])
        if base:
            axes.axvline(1, color=ink, linewidth=0.8)
        key(axes, ink, ours, loc="upper left", bbox_to_anchor=(1, 1))
    return out.getvalue()
