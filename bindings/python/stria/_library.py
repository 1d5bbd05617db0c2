"""The compiled modules: one without MPI, and one for the MPI that the package was built with."""

import importlib
import importlib.util
from types import ModuleType
from typing import Any

from .errors import UnsupportedError, exception_of

_loaded: dict[str, ModuleType] = {}


def _load(name: str) -> ModuleType:
    if name not in _loaded:
        module = importlib.import_module("." + name, __package__)
        module.raise_by(exception_of)
        _loaded[name] = module
    return _loaded[name]


def library_for(comm: Any) -> tuple[ModuleType, "int | None"]:
    """The module for files of `comm`, and the communicator as it takes it: mpi4py's, by py2f(), or
    Fortran's integer."""
    if comm is None:
        return _load("_serial"), None
    number = comm if isinstance(comm, int) else comm.py2f()
    module = _load(_name_of_mpi())
    library, runs = module.mpi_library()
    if not runs:
        raise UnsupportedError(
            f"stria calls {library.strip()}, which this program has not initialised: mpi4py uses another MPI. Install stria "
            "where the MPI of mpi4py is the default, or choose it by CMAKE_ARGS=-DSTRIA_MPI=openmpi|mpich"
        )
    return module, number


def _name_of_mpi() -> str:
    """The module for the MPI that mpi4py has loaded; else the one that there is."""
    try:
        from mpi4py import MPI

        wanted = "_openmpi" if "Open MPI" in MPI.Get_library_version() else "_mpich"
    except ImportError:
        wanted = "_openmpi"
    for name in (wanted, "_openmpi", "_mpich"):
        if importlib.util.find_spec("." + name, __package__) is not None:
            return name
    raise UnsupportedError("this stria was built without MPI: leave out the communicator, or install it where MPI is")
