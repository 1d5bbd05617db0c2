#!/usr/bin/env python3
"""Draws the runs of ross_discovery.sh side by side, and sums them up in a table.

usage: ross_pictures.py DIRECTORY

DIRECTORY holds the runs as Parquet (stria trace export --parquet): hyperslab, collective, inside,
packed and stria. Of each the last checkpoint counts, from the first rank that creates the file to
the last that has closed it; those before it warm up.
Written there: checkpoint.svg, all on one scale of time; call.svg, the inside of one call that
moves data, each on its own scale, or a stretch of it where it makes too many writes to tell them
apart; and table.md.
"""

import argparse
import pathlib
from html import escape

import numpy
import pyarrow.parquet

RUNS = {
    "hyperslab": "HDF5, hyperslab of memory, independent",
    "collective": "HDF5, hyperslab of memory, collective",
    "inside": "HDF5, hyperslab of memory, collective, on Stria's MPI-IO",
    "packed": "HDF5, packed by the benchmark, independent",
    "stria": "Stria, one commit",
}
CREATE = ("H5Fcreate", "File::create")
CLOSE = ("H5Fclose", "File::close")
MOVE = ("H5Dwrite", "File::commit")
AGREE = ("exchange", "turn wait", "reduce", "gather", "broadcast", "barrier", "message wait", "share memory", "send", "receive")
# How a state is drawn: its name in the legend, and a colour of the palette of Okabe and Ito.
CLASSES = {
    "H5Dwrite, File::commit": "#56b4e9",
    "other calls of the program": "#c8c8c8",
    "MPI_File_write_at, …_all": "#e69f00",
    "other MPI_File_…": "#f0e442",
    "pack": "#cc79a7",
    "metadata, planning, agreeing on the outcome": "#0072b2",
    "exchange and waiting for others": "#8a8a8a",
    "write to the storage": "#009e73",
}
NAMES, COLOURS = list(CLASSES), list(CLASSES.values())
LEFT, WIDTH, ROW, GAP, HEAD = 60, 640, 7, 4, 30
FEW = 12  # writes that are told apart in a stretch of a call


class Run:
    """The spans of one run's last checkpoint: columns of equal length, times in ns from
    its beginning."""

    def __init__(self, path):
        table = pyarrow.parquet.read_table(path)
        self.begin, self.end, self.rank, self.bytes = (
            table[name].to_numpy() for name in ("begin_ns", "end_ns", "rank", "bytes")
        )
        self.kind, self.layer = (numpy.array(table[name].to_pylist()) for name in ("kind", "layer"))
        ids = (self.rank.astype(numpy.uint64) << numpy.uint64(32)) | table["id"].to_numpy()
        parents = (self.rank.astype(numpy.uint64) << numpy.uint64(32)) | table["parent"].to_numpy()
        self.own = own_times(ids, parents, self.end - self.begin)
        first = min(self.begin[(self.rank == rank) & self.is_kind(*CREATE)].max() for rank in set(self.rank))
        last = self.end[self.is_kind(*CLOSE)].max()
        self.keep((self.begin >= first) & (self.end <= last))
        self.begin, self.end = self.begin - first, self.end - first
        self.seconds = (last - first) * 1e-9
        self.ranks = sorted(set(self.rank))
        self.layers = [layer for layer in ("app", "library", "engine", "storage") if layer in set(self.layer)]

    def keep(self, mask):
        for name in ("begin", "end", "rank", "bytes", "kind", "layer", "own"):
            setattr(self, name, getattr(self, name)[mask])

    def is_kind(self, *kinds):
        return numpy.isin(self.kind, kinds)

    def inside_moves(self):
        """Says, for each span, whether a call that moves data is under way on its rank, or is the
        span itself."""
        inside = numpy.zeros(len(self.begin), bool)
        for rank in self.ranks:
            moves = (self.rank == rank) & self.is_kind(*MOVE)
            order = numpy.argsort(self.begin[moves])
            begins, ends = self.begin[moves][order], self.end[moves][order]
            mine = numpy.flatnonzero(self.rank == rank)
            place = numpy.searchsorted(begins, self.begin[mine], side="right") - 1
            inside[mine] = (place >= 0) & (self.end[mine] <= ends[numpy.maximum(place, 0)])
        return inside


def own_times(ids, parents, durations):
    """Returns how long each span lasted without those right inside it."""
    order = numpy.argsort(ids)
    place = numpy.minimum(numpy.searchsorted(ids[order], parents), len(ids) - 1)
    known = ids[order][place] == parents
    within = numpy.bincount(order[place[known]], weights=durations[known], minlength=len(ids))
    return durations - within


def class_of(kind, layer):
    """Returns the place in CLASSES of a kind."""
    if kind in MOVE:
        return 0
    if layer == "app":
        return 1
    if kind.startswith("MPI_File_"):
        return 2 if "write" in kind else 3
    if kind == "pack":
        return 4
    if kind in AGREE:
        return 6
    return 7 if kind.startswith("storage write") or kind == "write" else 5


def raster(begin, end, classes, first, last):
    """The class that fills most of each of WIDTH columns of [first, last), -1 where none
    does a quarter."""
    filled = numpy.zeros((len(CLASSES), WIDTH))
    scale = WIDTH / (last - first)
    for left, right, which in zip((begin - first) * scale, (end - first) * scale, classes, strict=True):
        left, right = max(left, 0.0), min(right, float(WIDTH))
        if right <= left:
            continue
        at, until = int(left), min(int(right), WIDTH - 1)
        if at == until:
            filled[which, at] += right - left
        else:
            filled[which, at] += at + 1 - left
            filled[which, at + 1 : until] += 1
            filled[which, until] += right - until
    most = filled.argmax(axis=0)
    return numpy.where(filled.max(axis=0) >= 0.25, most, -1)


def bars(columns, y):
    """Draws the SVG of one row: a path for each class."""
    paths = {}
    edges = numpy.flatnonzero(numpy.diff(columns, prepend=-2, append=-2))
    for at, until in zip(edges[:-1], edges[1:], strict=True):
        if columns[at] >= 0:
            paths.setdefault(columns[at], []).append(f"M{LEFT + at} {y}h{until - at}")
    return [f'<path stroke="{COLOURS[which]}" d="{"".join(d)}"/>' for which, d in sorted(paths.items())]


def panel(run, title, first, last, y):
    """Returns one run between two times: for each rank a row for each layer that it has, the
    program's calls on top."""
    lines = [f'<text x="{LEFT}" y="{y + 12}">{escape(title)}</text>']
    y += HEAD - 10
    for rank in run.ranks:
        lines.append(f'<text x="4" y="{y + 2 * ROW}" class="small">rank {rank}</text>')
        for row, layer in enumerate(run.layers):
            mine = (run.rank == rank) & (run.layer == layer) & (run.end > first) & (run.begin < last)
            classes = [class_of(kind, layer) for kind, layer in zip(run.kind[mine], run.layer[mine], strict=True)]
            columns = raster(run.begin[mine], run.end[mine], classes, first, last)
            lines += bars(columns, y + row * ROW + ROW // 2)
        y += len(run.layers) * ROW + GAP
    span = last - first
    text = f"{span * 1e-6:.4g} ms" if span >= 1e6 else f"{span * 1e-3:.4g} µs"
    lines.append(f'<path class="scale" d="M{LEFT} {y}h{WIDTH}"/>')
    lines.append(f'<text x="{LEFT + WIDTH}" y="{y + 12}" class="small" text-anchor="end">the whole width: {text}</text>')
    return lines, y + 22


def picture(panels):
    """SVG of panels (run, title, first, last) under each other, and the legend."""
    body, y = [], 4
    for run, title, first, last in panels:
        lines, y = panel(run, title, first, last, y)
        body += lines
    for place, name in enumerate(NAMES):
        x, row = LEFT + 320 * (place % 2), y + 14 * (place // 2)
        body.append(f'<path stroke="{COLOURS[place]}" d="M{x} {row + 6}h10"/><text x="{x + 14}" y="{row + 10}" class="small">')
        body.append(f"{escape(name)}</text>")
    height = y + 14 * (-(-len(NAMES) // 2)) + 6
    style = "text{font:12px sans-serif;fill:#222}.small{font-size:10px}path{stroke-width:7}.scale{stroke:#222;stroke-width:1}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 12} {height}" role="img">'
    return "\n".join([head, f"<style>{style}</style>", '<rect width="100%" height="100%" fill="#fff"/>', *body, "</svg>\n"])


def one_move(run):
    """Begin and end of a call that moves data, the middle one of rank 0; of a call with many writes
    the stretch of a few."""
    moves = numpy.flatnonzero((run.rank == run.ranks[0]) & run.is_kind(*MOVE))
    chosen = moves[numpy.argsort(run.begin[moves])][len(moves) // 2]
    first, last = run.begin[chosen], run.end[chosen]
    writes = (run.rank == run.ranks[0]) & run.is_kind("storage write") & (run.begin >= first) & (run.end <= last)
    begins = numpy.sort(run.begin[writes])
    if len(begins) > 20 * FEW:
        middle = len(begins) // 2
        first, last = begins[middle], begins[middle + FEW]
    return first, last


def table(runs):
    """Makes Markdown: a line for each run. Times are means over the ranks."""
    head = ["run", "checkpoint", "in `H5Dwrite` or `File::commit`", "writes to the storage", "of bytes", "in these writes",
            "in calls that nothing outside explains", "pack"]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, run in runs.items():
        inside = run.inside_moves()
        mean = 1e-6 / len(run.ranks)
        writes = inside & run.is_kind("storage write", "storage write behind")
        opaque = inside & (run.is_kind("H5Dwrite") | numpy.char.startswith(run.kind, "MPI_File_"))
        packs = (run.end - run.begin)[inside & run.is_kind("pack")].sum() * mean
        cells = [
            f"`{name}`",
            f"{run.seconds * 1e3:.1f} ms",
            f"{(run.end - run.begin)[run.is_kind(*MOVE)].sum() * mean:.2f} ms",
            f"{writes.sum()}",
            f"{numpy.median(run.bytes[writes]):.0f}",
            f"{run.own[writes].sum() * mean:.2f} ms",
            f"{run.own[opaque].sum() * mean:.2f} ms" if opaque.any() else "none",
            f"{packs:.2f} ms" if packs > 0 else "no name",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    directory = parser.parse_args().directory
    runs = {name: Run(directory / f"{name}.parquet") for name in RUNS}
    longest = max(run.seconds for run in runs.values()) * 1e9
    (directory / "checkpoint.svg").write_text(picture([(run, RUNS[name], 0, longest) for name, run in runs.items()]))
    (directory / "call.svg").write_text(picture([(run, RUNS[name], *one_move(run)) for name, run in runs.items()]))
    (directory / "table.md").write_text(table(runs))


if __name__ == "__main__":
    main()
