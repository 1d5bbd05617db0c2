#!/usr/bin/env python3
"""Draws docs/blast.svg: the density of a 2-D FLASH checkpoint or plot file, and the mesh's blocks.

Problem: a picture in the repository is text, small, and made by a command that anybody can repeat.
Method: the cells of all blocks on one grid, the area above each of a few densities as a path whose
points lie where a straight line would miss it by more than half a unit, and a line around a block.

usage: blast_picture.py FILE OUT, as with the last checkpoint of `make demo`:
  build/venv/bin/python lab/figures/blast_picture.py out/demo/sedov_hdf5_chk_0001 docs/blast.svg
"""

import argparse
import html
import pathlib

import contourpy
import h5py
import numpy

SIZE, SCALE = 640, 96  # units of the picture: the domain, and what is right of it for the scale
WIDTH = 460  # pixels on a page
# The colours are viridis of matplotlib, which grows brighter evenly and is the same to all eyes.
COLOURS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    with h5py.File(arguments.file) as file:
        density, outlines = read(file)
        reals = file["real scalars"][:]
    time = next(row["value"] for row in reals if row["name"].strip() == b"time")
    arguments.out.write_text(picture(density, outlines, f"Density of a blast at t = {time:.3g}, and the blocks of its mesh"))


def read(file):
    """Reads the density on a grid of the finest cells, rows upwards; left, bottom and width of each
    block, in widths of the domain."""
    boxes, values = file["bounding box"][:], file["dens"][:, 0]
    low, high = boxes.min(axis=0)[:, 0], boxes.max(axis=0)[:, 1]
    cells = values.shape[1]
    finest = (boxes[:, 0, 1] - boxes[:, 0, 0]).min()
    density = numpy.zeros([round((high[0] - low[0]) / finest) * cells] * 2)
    outlines = []
    for box, block in zip(boxes, values, strict=True):
        left, bottom = (box[:2, 0] - low[:2]) / (high[0] - low[0])
        width = (box[0, 1] - box[0, 0]) / (high[0] - low[0])
        repeated = block.repeat(round(width * len(density)) // cells, axis=0).repeat(
            round(width * len(density)) // cells, axis=1
        )
        x, y = round(left * len(density)), round(bottom * len(density))
        density[y : y + len(repeated), x : x + len(repeated)] = repeated
        outlines.append((left, bottom, width))
    return density, outlines


def picture(density, outlines, title):
    levels = numpy.linspace(0, density.max(), len(COLOURS) + 1)
    at = (numpy.arange(len(density)) + 0.5) / len(density) * SIZE
    contours = contourpy.contour_generator(at, SIZE - at, density, fill_type=contourpy.FillType.OuterCode)
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE + SCALE} {SIZE}" width="{WIDTH}" role="img">\n'
    text += f"<title>{html.escape(title)}</title>\n<style>text{{font:16px sans-serif;fill:#444}}</style>\n"
    text += f'<rect width="{SIZE + SCALE}" height="{SIZE}" fill="#fff"/>\n'
    text += f'<rect width="{SIZE}" height="{SIZE}" fill="{COLOURS[0]}"/>\n'
    for colour, level in zip(COLOURS[1:], levels[1:], strict=False):
        # The area above a level is painted over that above the one before.
        rings = [
            ring for points, codes in zip(*contours.filled(level, numpy.inf), strict=True) for ring in rings_of(points, codes)
        ]
        text += f'<path fill="{colour}" fill-rule="evenodd" d="{"".join(map(closed_path, rings))}"/>\n'
    lines = "".join(f"M{x * SIZE:g} {SIZE - y * SIZE:g}h{w * SIZE:g}v{-w * SIZE:g}" for x, y, w in outlines)
    text += f'<path fill="none" stroke="#fff" stroke-opacity=".45" stroke-width=".8" d="{lines}"/>\n'
    return text + scale(levels) + "</svg>\n"


def rings_of(points, codes):
    """Returns the closed lines of an area: codes are matplotlib's, in which 1 begins one."""
    return numpy.split(points, numpy.flatnonzero(codes == 1)[1:])


def closed_path(ring):
    corners = numpy.rint(simplified(ring)).astype(int)
    steps = numpy.diff(corners, axis=0)
    steps = steps[steps.any(axis=1)][:-1]
    return f"M{corners[0][0]} {corners[0][1]}l{' '.join(f'{x} {y}' for x, y in steps)}z" if len(steps) > 1 else ""


def simplified(line, tolerance=0.5):
    """Keeps few points, after Douglas and Peucker, 1973, whose line no other is farther from than
    allowed."""
    if len(line) < 3:
        return line
    along = line[-1] - line[0]
    away = line[1:-1] - line[0]
    length = numpy.hypot(*along)
    distance = abs(along[0] * away[:, 1] - along[1] * away[:, 0]) / length if length else numpy.hypot(*away.T)
    if distance.max() <= tolerance:
        return line[[0, -1]]
    middle = distance.argmax() + 1
    return numpy.concatenate([simplified(line[: middle + 1])[:-1], simplified(line[middle:])])


def scale(levels):
    """Returns the colours with the densities between them."""
    height = (SIZE - 40) / len(COLOURS)
    text = f'<text x="{SIZE + 16}" y="18">density</text>\n'
    for number, colour in enumerate(COLOURS):
        top = SIZE - (number + 1) * height
        text += f'<rect x="{SIZE + 16}" y="{top:.1f}" width="20" height="{height + 0.3:.1f}" fill="{colour}"/>\n'
        text += f'<text x="{SIZE + 42}" y="{top + 6:.1f}">{levels[number + 1]:.1f}</text>\n'
    return text


if __name__ == "__main__":
    main()
