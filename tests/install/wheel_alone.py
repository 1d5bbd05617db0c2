"""Describes what the wheel in this environment does without MPI, HDF5 or a compiler beside it:
every filter of the library is there, and no library of the system is used but those of C and C++.

usage: wheel_alone.py VENV"""

import pathlib
import re
import sys

import numpy as np
import stria

# What every Linux has, by manylinux; what Python may load; and what is used where it is there.
LIBRARIES = "c|m|resolv|deflate|dl|rt|pthread|util|stdc\\+\\+|gcc_s|z|ffi|crypt|lzma|bz2|expat|uuid|crypto|ssl"
SYSTEM = re.compile(rf"/lib({LIBRARIES})[-.][^/]*$|/ld-linux[^/]*$")


def mapped():
    """Returns the shared objects of this process."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[-1] for line in lines if re.search(r"\.so[.0-9]*$", line)}


def main(venv):
    values = np.arange(1000.0).reshape(10, 100)
    with stria.create("filters.h5") as f:
        for name in ("zstd", "deflate"):
            f.create_dataset(name, data=values, chunks=(5, 50), compress=name)
    with stria.open("filters.h5") as f:
        assert all(np.array_equal(f[name][...], values) for name in ("zstd", "deflate"))
        assert not f.verify()[0]
    prefixes = (venv, sys.base_prefix)
    foreign = sorted(path for path in mapped() if not path.startswith(prefixes) and not SYSTEM.search(path))
    assert not foreign, f"libraries of the system are used: {foreign}"
    own = sorted(pathlib.Path(path).name for path in mapped() if "stria" in path)
    missing = {"libhdf5", "libsz", "libzstd"} - {name.partition("-")[0] for name in own}
    assert not missing, f"the wheel carries no {missing}, but {own}"
    print(f"carries {', '.join(own)}")


main(*sys.argv[1:])
