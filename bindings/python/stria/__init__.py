"""One standard HDF5 file, written and read by all ranks of a communicator, or by one process.

    with stria.create("run_chk_0001.h5", comm) as f:
        dens = f.create_dataset("dens", (blocks, 8, 8, 8), "f8")
        dens[first : first + mine] = unk[:, 4:-4, 4:-4, 4:-4, 0]

Assignments record, leaving the `with` commits: everything put travels as one collective write, and
only then does the file have its name. An exception discards it. `comm` is a communicator of mpi4py;
without one the file is of this process, and MPI is not touched.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _whole, errors, trace
from ._attributes import Attributes, Reference, Unreadable
from ._dataset import Dataset
from ._elements import Elements
from ._file import Commit, File, Texts, told_of_writers
from ._groups import Group
from ._library import library_for
from ._options import DatasetOptions
from ._paths import path_of
from ._views import View
from ._whole import DistributedArray
from .errors import *  # noqa: F403 - the exceptions' names are there to be caught
from .errors import HintWarning, of_file

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import xarray
    from typing_extensions import Unpack

    from ._typing import Comm, Hints, Values

__all__ = [
    "Attributes",
    "Commit",
    "Dataset",
    "DistributedArray",
    "Elements",
    "File",
    "Group",
    "HintWarning",
    "DatasetOptions",
    "Reference",
    "Texts",
    "Unreadable",
    "View",
    "append",
    "create",
    "drain_staged",
    "hint_problems",
    "inspect",
    "list_directory",
    "open",
    "path_exists",
    "read",
    "remove_abandoned",
    "remove_file",
    "trace",
    "trace_table",
    "verify",
    "write",
    "errors",
    "__version__",
]
__all__ += [name for name in dir(errors) if name.endswith("Error")]


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _begun(call: str, path: Any, comm: Any, options: "dict[str, Any]", hints: "Mapping[str, Any] | None") -> File:
    name = path_of(path)
    library, number = library_for(comm)
    for problem in library.hint_problems({str(k): _text(v) for k, v in hints.items()}) if hints else ():
        warnings.warn(f"{call}('{name}'): {problem}", HintWarning, stacklevel=3)
    everything = {**(hints or {}), **options}
    with of_file(name), told_of_writers(name, call):
        handle = getattr(library, call)(number, name, {str(k): _text(v) for k, v in everything.items()})
    again = {"verify": options["verify"], "hints": hints} if call == "open" else None
    return File(library, handle, name, writing=call != "open", comm=comm, options=again)


def create(
    path: "str | os.PathLike[str]",
    comm: "Comm" = None,
    *,
    sync: bool = True,
    checksums: bool = True,
    track_order: bool = False,
    format: "str | None" = None,
    hints: "Hints | None" = None,
) -> File:
    """Begins a new file. Until its commit a file of that name stays as it was. A link is followed,
    also to a file that is still to come; a file that is replaced hands on its mode, group, access
    list and extended attributes. InvalidArgumentError for what is no file, such as a pipe.

    `sync`: survive a power loss. `checksums`: of every row, for verify(). `track_order`: keep
    the order in which objects and attributes are made. `format`: "hdf5",
    "netcdf", "cdf1", "cdf2" or "cdf5"; None: netCDF for a path that ends with ".nc", else HDF5.
    `hints`: see docs/hints.md. Collective over `comm`.
    """
    options = {"sync": sync, "checksums": checksums, "track_order": track_order}
    if format is not None:
        options["format"] = format
    return _begun("create", path, comm, options, hints)


def open(  # noqa: A001 - as gzip, bz2 and h5py have it
    path: "str | os.PathLike[str]", comm: "Comm" = None, *, verify: bool = False, hints: "Hints | None" = None
) -> File:
    """Opens an HDF5 or netCDF file for reading. `verify`: compare what is read with its checksums.
    Collective over `comm`."""
    return _begun("open", path, comm, {"verify": verify}, hints)


def append(path: "str | os.PathLike[str]", comm: "Comm" = None, *, sync: bool = True, hints: "Hints | None" = None) -> File:
    """Opens an HDF5 file to add datasets, attributes and rows to it, or a classic netCDF file to
    add records. What it has stays readable throughout; the commit makes all that is new visible at
    once. Collective over `comm`."""
    return _begun("append", path, comm, {"sync": sync}, hints)


def write(
    path: "str | os.PathLike[str]",
    values: "Mapping[str, Values | DistributedArray] | pandas.DataFrame | xarray.Dataset",
    comm: "Comm" = None,
    *,
    attrs: "Mapping[str, object] | None" = None,
    sync: bool = True,
    checksums: bool = True,
    track_order: bool = False,
    format: "str | None" = None,
    hints: "Hints | None" = None,
    **options: "Unpack[DatasetOptions]",
) -> None:
    """Makes a file of whole datasets in one call. A value is an array of numbers, records or
    strings, or what NumPy makes one of, the same on all ranks, which rank 0 writes; a DataFrame of
    pandas, which becomes records; or a DistributedArray, of which every rank writes its box. In
    place of the dictionary, a Dataset of xarray keeps its names, dimensions, coordinates and
    attributes. UnsupportedError for what a file can't keep. `attrs` are the file's; `sync`,
    `checksums`, `track_order`, `format` and `hints` are those of create(). Other options are those
    of create_dataset(), such as `compress`, for every dataset but strings and those without
    dimensions. Collective over `comm`.

        stria.write("step.h5", {"dens": DistributedArray(dens, start, shape, ghosts=4)}, comm)
    """
    made = create(path, comm, sync=sync, checksums=checksums, track_order=track_order, format=format, hints=hints)
    _whole.write(made, values, comm, attrs, options)


def read(
    path: "str | os.PathLike[str]",
    wanted: "str | Sequence[str] | Mapping[str, np.ndarray | DistributedArray] | None" = None,
    comm: "Comm" = None,
    *,
    verify: bool = False,
    hints: "Hints | None" = None,
) -> Any:
    """Reads datasets in one call. `wanted` is a name: the array is returned; a list of names, or
    None for all: a dictionary of arrays, whole on every rank; or a dictionary of arrays and
    DistributedArrays, into which is read and which is returned. UnsupportedError names the first
    dataset that can't be read. Collective over `comm`."""
    if hasattr(wanted, "py2f"):
        raise errors.WrongTypeError("the second argument of read() says what is read: pass the communicator as comm=")
    return _whole.read(open(path, comm, verify=verify, hints=hints), wanted)


def inspect(path: "str | os.PathLike[str]", comm: "Comm" = None) -> "list[dict[str, Any]]":
    """Returns what the datasets of a file are: the path, type, shape and attributes of each. The
    file, as "/", and groups with attributes come before, of the type "group" and the shape None. An
    attribute or dataset that can't be read is an Unreadable, which says why. It is a table as
    pandas takes it: pandas.DataFrame(stria.inspect(path)). Collective over `comm`."""
    return _whole.inspect(open(path, comm))


def verify(path: "str | os.PathLike[str]", comm: "Comm" = None) -> "tuple[list[tuple[str, int, int]], list[str]]":
    """Reads a file whole and compares it with its checksums: (dataset, first row, end) of what is
    damaged, the rows [first row, end), and sentences on what can't be checked. Collective over
    `comm`."""
    with open(path, comm) as file:
        return file.verify()


def trace_table(trace: "str | os.PathLike[str]", what: str = "events") -> "pandas.DataFrame":
    """Returns a trace as a frame of pandas: `what` is "events", a row for each, or "counters", a
    row for each rank and file. Needs the command `stria`, pandas and pyarrow."""
    if what not in ("events", "counters"):
        raise errors.InvalidArgumentError(f"a trace has tables of events and of counters, not of '{what}'")
    from . import _traces  # here, since it takes as long to load as all else

    return _traces.table(trace, what)


def drain_staged(place: "str | os.PathLike[str]") -> list[str]:
    """Brings whole files to their own place that a killed program has left where the hint
    `stria_staging` was `place`, and removes what isn't whole; never what a live program works on.
    Returns their paths. One process calls it."""
    with of_file(path_of(place)):
        return library_for(None)[0].drain_staged(path_of(place))


def remove_abandoned(directory: "str | os.PathLike[str]", prefix: str) -> list[str]:
    """Removes files that a killed program left in `directory` under their temporary names, where
    the name begins with `prefix`; never one that a live program still writes, nor another user's.
    Where such a name is a link, it looks beside the file to which that leads. Returns their paths.
    One process calls it."""
    with of_file(path_of(directory)):
        return library_for(None)[0].remove_abandoned(path_of(directory), prefix)


def hint_problems(hints: "Hints") -> list[str]:
    """A sentence on each hint that is unknown or has a value that can't be used."""
    return library_for(None)[0].hint_problems({str(k): _text(v) for k, v in hints.items()})


def path_exists(path: "str | os.PathLike[str]") -> bool:
    """Tells whether a file or directory has the name, here or in a store (stria://, rados://)."""
    with of_file(path_of(path)):
        return library_for(None)[0].path_exists(path_of(path))


def list_directory(directory: "str | os.PathLike[str]") -> list[str]:
    """Lists the names in a directory, here or in a store, sorted."""
    with of_file(path_of(directory)):
        return library_for(None)[0].list_directory(path_of(directory))


def remove_file(path: "str | os.PathLike[str]") -> None:
    """Removes a file, here or in a store."""
    with of_file(path_of(path)):
        library_for(None)[0].remove_file(path_of(path))


__version__ = library_for(None)[0].version()
