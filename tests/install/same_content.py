"""Compares two files as their readers see them: a text is the same whether or not its length is
fixed, which Python leaves open and other languages say. Exits with 1 where they differ."""

import sys

import h5py
import numpy as np


def value_of(item):
    """Returns a value in which texts of both kinds are the same."""
    texts = np.vectorize(lambda one: one.decode() if isinstance(one, bytes) else one, otypes=[object])
    value = np.asarray(item)
    return repr(texts(value).tolist() if value.dtype.kind in "SO" else value.tolist())


def content_of(path):
    """Returns all that other programs see of a file: what lies in .stria depends on where things
    lie."""
    content = {}
    with h5py.File(path) as file:

        def visit(name, item):
            if name.split("/")[0] == ".stria":
                return
            content[name] = value_of(item[()]) if isinstance(item, h5py.Dataset) else None
            for key, value in item.attrs.items():
                if key in ("DIMENSION_LIST", "REFERENCE_LIST"):  # places in the file
                    continue
                is_reference = isinstance(value, h5py.Reference) or h5py.check_ref_dtype(np.asarray(value).dtype) is not None
                places = [file[one].name for one in np.atleast_1d(value)] if is_reference else value_of(value)
                content[f"{name}@{key}"] = places

        visit("", file["/"])
        file.visititems(visit)
    return content


first, second = (content_of(path) for path in sys.argv[1:3])
unlike = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
if unlike or not first:
    sys.exit(f"{sys.argv[1]} and {sys.argv[2]} differ in {', '.join(unlike) or 'nothing, and are empty'}")
