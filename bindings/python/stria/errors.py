"""Errors as exceptions: each is a StriaError, and also Python's own class for such an error."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class StriaError(Exception):
    """An error of the library. `code` is its stable name, such as "no_space"; the text says what,
    where and what to do.

    A collective call raises the same class on every rank. Those that are an OSError and speak of a
    file have its `filename`, and the `errno` of their kind.
    """

    code = "internal"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Keeps what an OSError has beside the arguments."""
        names = [name for name in ("errno", "strerror", "filename") if getattr(self, name, None) is not None]
        return type(self), self.args, {**self.__dict__, **{name: getattr(self, name) for name in names}}


class InvalidArgumentError(StriaError, ValueError):
    code = "invalid_argument"


class InvalidIndexError(InvalidArgumentError, IndexError):
    """An index that a dataset doesn't have."""


class WrongTypeError(InvalidArgumentError, TypeError):
    """A value of a type that can't be meant, such as a string for a communicator."""


class NotFoundError(StriaError, KeyError, FileNotFoundError):
    """No such file, dataset or attribute."""

    code = "not_found"


class AlreadyExistsError(StriaError, FileExistsError):
    code = "already_exists"


class PermissionDeniedError(StriaError, PermissionError):
    code = "permission_denied"


class ReadOnlyError(StriaError, PermissionError):
    code = "read_only"


class NoSpaceError(StriaError, OSError):
    code = "no_space"


class StorageError(StriaError, OSError):
    """The storage failed to read or write."""

    code = "io"


class FormatError(StriaError, OSError):
    """The bytes are not the format that they should be."""

    code = "format"


class CorruptedError(StriaError, OSError):
    """A checksum does not match."""

    code = "corrupted"


class UnsupportedError(StriaError, NotImplementedError):
    code = "unsupported"


class ResourceExhaustedError(StriaError, MemoryError):
    code = "resource_exhausted"


class AbortedError(StriaError, RuntimeError):
    """Given up because another rank failed."""

    code = "aborted"


class HintWarning(UserWarning):
    """A hint that is unknown, or has a value that can't be used."""


_ERRNO = {
    "not_found": errno.ENOENT,
    "already_exists": errno.EEXIST,
    "permission_denied": errno.EACCES,
    "read_only": errno.EROFS,
    "no_space": errno.ENOSPC,
    "io": errno.EIO,
}

_CLASSES = {
    each.code: each
    for each in [
        InvalidArgumentError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ReadOnlyError,
        NoSpaceError,
        StorageError,
        FormatError,
        CorruptedError,
        UnsupportedError,
        ResourceExhaustedError,
        AbortedError,
    ]
}


def exception_of(code: str, message: str) -> StriaError:
    """Returns the exception for a code of the library."""
    return _CLASSES.get(code, StriaError)(message)


@contextmanager
def of_file(path: str) -> Iterator[None]:
    """Gives an OSError of the calls within the name of their file, and its errno."""
    try:
        yield
    except StriaError as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = path
            error.errno = _ERRNO.get(error.code)
            error.strerror = os.strerror(error.errno) if error.errno is not None else None
        raise
