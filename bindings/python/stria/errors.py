"""Errors as exceptions: each is a StriaError, and also Python's own class for such an error."""


class StriaError(Exception):
    """An error of the library. `code` is its stable name, such as "no_space"; the text says what,
    where and what to do.

    A collective call raises the same class on every rank.
    """

    code = "internal"


class InvalidArgumentError(StriaError, ValueError):
    code = "invalid_argument"


class NotFoundError(StriaError, KeyError, FileNotFoundError):
    """No such file, dataset or attribute."""

    code = "not_found"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


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
    """The exception for a code of the library."""
    return _CLASSES.get(code, StriaError)(message)
