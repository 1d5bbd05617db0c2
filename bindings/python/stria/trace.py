"""Traces of a program: where the time goes (docs/tracing.md)::

    stria.trace.start(comm, directory="traces")
    with stria.trace.region("step"):
        ...
    print(stria.trace.finish())

Without these calls STRIA_TRACE=full and STRIA_TRACE_DIR in the environment do the same.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._library import library_for, loaded_libraries
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._typing import Comm

#: What is recorded; each level adds to the one before.
LEVELS = ("off", "counters", "app", "library", "full")


def _number(level: str) -> int:
    if level not in LEVELS:
        raise InvalidArgumentError(f"there is no level '{level}' of tracing: use {', '.join(LEVELS)}")
    return LEVELS.index(level)


def start(comm: "Comm", level: str = "full", directory: "str | os.PathLike[str]" = ".") -> None:
    """Begins to record the ranks of `comm` as one run. Collective over `comm`."""
    library, number = library_for(comm)
    library.trace_start(number, _number(level), os.fspath(directory))


def start_from_environment(comm: "Comm") -> None:
    """Begins at once the run that STRIA_TRACE and STRIA_TRACE_DIR ask for, if any. Collective over
    `comm`."""
    library, number = library_for(comm)
    library.trace_start_from_environment(number)


def finish() -> "str | None":
    """Ends the run. The path of the trace file; None when there is none. Collective over the run's
    communicator."""
    paths = loaded_libraries()[-1].trace_finish()
    return paths[0] if paths else None


def set_level(level: str) -> None:
    """Changes what this rank records from now on."""
    for library in loaded_libraries():
        library.trace_set_level(_number(level))


def level() -> str:
    """Returns what this rank records."""
    return LEVELS[loaded_libraries()[-1].trace_level()]


def flush() -> None:
    """Writes what this rank has recorded so far, where a crash of the program can't harm it."""
    for library in loaded_libraries():
        library.trace_flush()


@contextmanager
def region(name: str) -> Iterator[None]:
    """Records a span of this name around the calls within."""
    libraries = loaded_libraries()
    for library in libraries:
        library.trace_begin(name)
    try:
        yield
    finally:
        for library in libraries:
            library.trace_end()
