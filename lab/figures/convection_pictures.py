#!/usr/bin/env python3
"""Draws a run of stria convection.

usage: convection_pictures.py DIRECTORY

DIRECTORY holds its files. Written there: convection.png, the last temperature with the flow, beside
the averages over the width; movie.gif, all frames.
"""

import argparse
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import numpy
from matplotlib import animation, pyplot

WARMTH = {"cmap": "RdBu_r", "vmin": -0.25, "vmax": 0.25}


def read(path, *names):
    """Reads datasets of a file, and its time."""
    with h5py.File(path) as file:
        return [file[name][()] for name in names], file.attrs["time"]


def warmth(path):
    """Returns a frame of the movie, as a share of the temperature of the layer at rest."""
    (frame,), time = read(path, "warmth")
    return (frame / 255 - 0.5) / 2 if frame.dtype == numpy.uint8 else frame, time


def movie(frames, target):
    first, _ = warmth(frames[0])
    figure, axes = pyplot.subplots(figsize=(6.4, 6.4 * first.shape[0] / first.shape[1] + 0.4), layout="constrained")
    image = axes.imshow(first, **WARMTH)
    axes.set_axis_off()
    title = axes.set_title("", fontsize=9, loc="left")

    def draw(path):
        frame, time = warmth(path)
        image.set_data(frame)
        title.set_text(f"t = {time:.2f}")

    animation.FuncAnimation(figure, draw, frames, cache_frame_data=False).save(target, animation.PillowWriter(fps=15), dpi=80)
    pyplot.close(figure)


def picture(data, averages, target):
    (temperature, across, down), time = read(data, "temperature", "speed_x", "speed_z")
    depth, width = temperature.shape
    rest = temperature.mean(axis=1, keepdims=True)
    figure, (plane, means) = pyplot.subplots(
        1, 2, figsize=(11, 4.2), layout="constrained", gridspec_kw={"width_ratios": [3, 1]}
    )
    image = plane.imshow(temperature / rest - 1, extent=(0, width / depth, 1, 0), **WARMTH)
    step = max(depth // 24, 1)
    x, z = ((numpy.arange(0, size, step) + 0.5) / depth for size in (width, depth))
    plane.quiver(x, z, across[::step, ::step], down[::step, ::step], angles="xy", width=0.0012, color="#222222")
    plane.set(xlabel="width", ylabel="depth", title=f"temperature beside its mean, and flow, t = {time:.2f}")
    figure.colorbar(image, ax=plane, shrink=0.8)
    (rows,), _ = read(averages, "averages")
    with h5py.File(averages) as file:
        names = [name.decode() if isinstance(name, bytes) else name for name in file.attrs["names"]]
    for name, colour in (("temperature", "#d1495b"), ("density", "#4c78a8")):
        means.plot(rows[:, names.index(name)], (numpy.arange(len(rows)) + 0.5) / len(rows), color=colour, label=name)
    means.set(ylim=(1, 0), title="means over the width")
    means.legend(frameon=False)
    figure.savefig(target, dpi=130)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    directory = parser.parse_args().directory
    data, averages, frames = (sorted(directory.glob(f"convection_{kind}_*.h5")) for kind in ("data", "averages", "movie"))
    if not (data and averages and frames):
        print(f"convection_pictures.py: '{directory}' has no data, averages and movie frames", file=sys.stderr)
        return 2
    picture(data[-1], averages[-1], directory / "convection.png")
    movie(frames, directory / "movie.gif")
    print(f"drawn: {directory}/convection.png, {directory}/movie.gif")
    return 0


if __name__ == "__main__":
    sys.exit(main())
