"""The compiled modules: one without MPI, and one for each MPI that the package was built for."""

import ctypes
import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import UnsupportedError, exception_of

_loaded: dict[str, ModuleType] = {}
_mpi: list[ctypes.CDLL] = []  # the one whose module is loaded
_NOT_RUNNING = (
    "a communicator needs a running MPI, which this program has not initialised, or has finalised: import mpi4py.MPI before, "
    "and leave files and their communicators before MPI.Finalize()"
)
_LIBRARY_OF_MPI = re.compile(r"/lib(?:mpi|mpich)\.so[.0-9]*$")


def _load(name: str) -> ModuleType:
    if name not in _loaded:
        module = importlib.import_module("." + name, __package__)
        module.raise_by(exception_of)
        _loaded[name] = module
    return _loaded[name]


def loaded_libraries() -> list[ModuleType]:
    """That without MPI, and behind it that for MPI if there is one yet."""
    _load("_serial")
    return list(_loaded.values())


def library_for(comm: Any) -> tuple[ModuleType, "int | None"]:
    """The module for files of `comm`, and the communicator as it takes it: mpi4py's, by py2f(), or
    Fortran's integer."""
    if comm is None:
        return _load("_serial"), None
    library = _module_for_mpi()  # first: without a running MPI the conversion ends the program
    return library, comm if isinstance(comm, int) else comm.py2f()


def _module_for_mpi() -> ModuleType:
    """The module for the MPI that this program has initialised. The modules name no library of MPI,
    which have other names on other systems: they find the one that is made visible here."""
    for name in ("_openmpi", "_mpich"):
        if name in _loaded:
            if not _is_running(_mpi[0]):
                raise UnsupportedError(_NOT_RUNNING)
            return _loaded[name]
    path, version = _running_mpi()
    name = "_openmpi" if "Open MPI" in version else "_mpich"
    if importlib.util.find_spec("." + name, __package__) is None:
        raise UnsupportedError(
            f"this program uses {version}, for which stria was not built: leave out the communicator, or install stria anew "
            "where the compiler of that MPI is found"
        )
    _mpi.append(ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL))
    return _load(name)


def _running_mpi() -> tuple[str, str]:
    """The library of MPI that is loaded and initialised, and what it says of itself."""
    for path in sorted({line.split(maxsplit=5)[-1].strip() for line in Path("/proc/self/maps").open()}):
        if _LIBRARY_OF_MPI.search(path):
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
