"""The compiled modules: one without MPI, and one for each MPI that the package was built for."""

import ctypes
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .errors import UnsupportedError, WrongTypeError, exception_of

_loaded: dict[str, ModuleType] = {}
_mpi: list[ctypes.CDLL] = []  # the one whose module is loaded
_NOT_RUNNING = (
    "a communicator needs a running MPI, which this program has not initialised, or has finalised: import mpi4py.MPI before, "
    "and leave files and their communicators before MPI.Finalize()"
)
# The names are those that MPICH, Open MPI, Intel MPI and MVAPICH have, and Cray's, which name the
# compiler: libmpi_gnu_91.so.12.
_LIBRARY_OF_MPI = re.compile(r"/lib(?:mpi|mpich)(?:_(?:cray|gnu|intel|aocc|amd|nvidia|pgi)(?:_\d+)?)?\.so[.0-9]*$")
# What each says of itself. All but Open MPI have the ABI of MPICH.
_MODULE_OF_MPI = {"Open MPI": "_openmpi", "MPICH": "_mpich", "Intel(R) MPI": "_mpich", "MVAPICH": "_mpich"}


def _load(name: str) -> ModuleType:
    if name not in _loaded:
        module = importlib.import_module("." + name, __package__)
        module.raise_by(exception_of)
        _loaded[name] = module
    return _loaded[name]


def loaded_libraries() -> list[ModuleType]:
    """The library without MPI comes first, and behind it the one for MPI if there is one yet."""
    _load("_serial")
    return list(_loaded.values())


def library_for(comm: Any) -> tuple[ModuleType, "int | None"]:
    """Returns the module for files of `comm`, and the communicator as it takes it: mpi4py's, by
    py2f(), or Fortran's integer."""
    if comm is None:
        return _load("_serial"), None
    _require_communicator(comm)
    library = _module_for_mpi()  # first: without a running MPI the conversion ends the program
    return library, int(comm) if _is_integer(comm) else comm.py2f()


def _is_integer(comm: Any) -> bool:
    return isinstance(comm, (int, np.integer)) and not isinstance(comm, bool)


def _require_communicator(comm: Any) -> None:
    mpi = sys.modules.get("mpi4py.MPI")
    if type(comm).__module__.startswith("mpi4py"):  # its types and files have py2f(), too
        fits = mpi is not None and isinstance(comm, mpi.Comm)
    else:
        fits = callable(getattr(comm, "py2f", None)) or _is_integer(comm)
    if not fits:
        modes = "; modes are functions: stria.open() to read, stria.create() and stria.append() to write"
        raise WrongTypeError(
            f"comm={comm!r} is no communicator: pass one of mpi4py, such as MPI.COMM_WORLD, or the integer that Fortran has "
            f"for it, or leave it out for a file of this process{modes if isinstance(comm, str) else ''}"
        )


def _module_for_mpi() -> ModuleType:
    """Returns the module for the MPI that this program has initialised. The modules name no library
    of MPI, which have other names on other systems: they find the one that is made visible here."""
    for name in ("_openmpi", "_mpich"):
        if name in _loaded:
            if not _is_running(_mpi[0]):
                raise UnsupportedError(_NOT_RUNNING)
            return _loaded[name]
    path, version = _running_mpi()
    name = module_of(version)
    if name is None:
        raise UnsupportedError(
            f"this program uses {version}, which has neither Open MPI's ABI nor MPICH's: leave out the communicator"
        )
    if importlib.util.find_spec("." + name, __package__) is None:
        raise UnsupportedError(
            f"this program uses {version}, for which stria was not built: leave out the communicator, or install stria anew "
            "where the compiler of that MPI is found"
        )
    _mpi.append(ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL))
    return _load(name)


def module_of(version: str) -> "str | None":
    """Returns the module for the MPI that says this of itself; None for an ABI that no module
    has."""
    return next((module for words, module in _MODULE_OF_MPI.items() if words in version), None)


def libraries_of_mpi(maps: Iterable[str]) -> list[str]:
    """Returns the libraries of MPI among the mapped files of a process, as /proc/PID/maps lists
    them."""
    paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    return sorted(path for path in paths if _LIBRARY_OF_MPI.search(path))


def _running_mpi() -> tuple[str, str]:
    """Returns the library of MPI that is loaded and initialised, and what it says of itself."""
    with Path("/proc/self/maps").open() as maps:
        paths = libraries_of_mpi(maps)
    for path in paths:
        library = ctypes.CDLL(path)
        if _is_running(library):
            text, length = ctypes.create_string_buffer(8192), ctypes.c_int(0)
            library.MPI_Get_library_version(text, ctypes.byref(length))
            return path, text.value.decode().split("\n")[0].strip()
    raise UnsupportedError(_NOT_RUNNING)


def _is_running(library: ctypes.CDLL) -> bool:
    flags = ctypes.c_int(0), ctypes.c_int(0)
    library.MPI_Initialized(ctypes.byref(flags[0]))
    library.MPI_Finalized(ctypes.byref(flags[1]))
    return bool(flags[0].value) and not flags[1].value
