#!/usr/bin/env python3
"""Reads with h5py what the examples have written, and compares it with what they should have.

usage: check_examples.py DIRECTORY RANKS
  DIRECTORY  has NAME_c.h5 of every example, and async_STEP_c.h5, written by so many ranks
"""

import pathlib
import sys

import h5py
import numpy as np


def check_checkpoint(h, ranks):
    blocks = np.arange(20 * ranks).reshape(-1, 1, 1, 1)
    assert h["dens"].shape == h["pres"].shape == (20 * ranks, 8, 8, 8)
    assert np.all(h["dens"][:] == blocks) and np.all(h["pres"][:] == blocks + 0.1)
    assert h.attrs["time"] == 0.25


def check_amr_blocks(h, ranks):
    levels = np.concatenate([[1] if rank % 2 == 0 else [2] * 4 for rank in range(ranks)])
    assert h["level"].dtype == np.int32 and np.array_equal(h["level"], levels)
    corners, widths = h["corner"][:], 2.0 ** (1 - levels)
    assert np.sum(widths**2) == ranks, "the blocks cover the domain"
    assert len({tuple(corner) for corner in corners}) == len(levels)
    centres = (np.arange(8) + 0.5) / 8 * widths[:, None]
    x, y = (corners[:, d, None] + centres for d in range(2))
    assert np.array_equal(h["dens"], x[:, None, :] + 10 * y[:, :, None])


def check_particles(h, ranks):
    counts = [1000 + 10 * rank for rank in range(ranks)]
    assert np.array_equal(h["x"], np.concatenate([0.5 * np.arange(count) for count in counts]))
    assert np.array_equal(h["y"], np.repeat(-1.0 * np.arange(ranks), counts))
    assert h["mass"].dtype == np.float32 and np.all(h["mass"][:] == 2)
    assert np.array_equal(h["id"], np.concatenate([100000 * rank + np.arange(counts[rank]) for rank in range(ranks)]))


def check_time_series(h, ranks):
    times = 0.5 * np.arange(5)
    assert np.array_equal(h["temperature"].attrs["times"], times)
    assert np.array_equal(h["temperature"], 300 + times[:, None] + np.repeat(np.arange(ranks), 100))


def check_attributes(h, ranks):
    assert np.array_equal(h["air"], 300 + np.repeat(np.arange(ranks), 4))
    assert set(h.attrs) == {"title", "shown"} and h.attrs["title"] in ("a room", b"a room")
    assert h[h.attrs["shown"][0]] == h["air"] and len(h.attrs["shown"]) == 1
    attributes = dict(h["air"].attrs)
    assert attributes.pop("unit") in ("K", b"K")
    assert [one.decode() for one in attributes.pop("axes")] == ["x", "height"]
    wanted = {
        "step": np.int32(7),
        "cells": np.array([4, 1], np.int64),
        "error": np.float32(0.5),
        "times": np.array([0, 0.25, 0.5]),
        "closed": np.bool_(True),
        "walls": np.array([True, False]),
        "mode": np.complex128(1 - 2j),
        "modes": np.array([1, 0.5j]),
    }
    assert attributes.keys() == wanted.keys()
    for name, value in wanted.items():
        assert attributes[name].dtype == value.dtype and np.array_equal(attributes[name], value), name


def check_distributed_array(h, _ranks):
    assert np.array_equal(h["density"], 1000.0 * np.arange(60)[:, None] + np.arange(42))


def check_compressed(h, ranks):
    dataset = h["temperature"]
    assert (dataset.chunks, dataset.compression, dataset.shuffle) == ((50, 100), "gzip", True)
    assert dataset.id.get_storage_size() < dataset.nbytes / 4
    rows = np.arange(64 * ranks)[:, None]
    assert np.array_equal(dataset, 300 + 0.25 * ((rows + np.arange(256)) // 8))


def check_async(h, ranks):
    step = h.attrs["step"]
    assert np.array_equal(h["field"], np.repeat(np.arange(ranks), 1000) + 0.5 * (step + 1))
    assert h.filename.endswith(f"_{step}_c.h5")


def main():
    directory, ranks = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            example = name.removeprefix("check_")
            for part in ["_0", "_1", "_2"] if example == "async" else [""]:
                with h5py.File(directory / f"{example}{part}_c.h5") as h:
                    check(h, ranks)


if __name__ == "__main__":
    main()
