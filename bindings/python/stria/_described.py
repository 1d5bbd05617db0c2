"""Describes what a dataset says of itself, besides its shape and type."""

from typing import Any

import numpy as np

from ._numbers import HALF
from ._tables import ELEMENTS


class Described:
    """The part of Dataset that only tells."""

    _file: Any
    _handle: Any
    _dtype: Any
    _has_records: bool
    shape: tuple[int, ...]

    @property
    def type_name(self) -> str:
        """The type in words: "float64", "string[4]", "record[84]" and so on."""
        return self._handle.type_name

    @property
    def filters(self) -> str:
        """What its chunks pass, such as "shuffle deflate(1)"; empty where there is nothing."""
        return self._handle.filters

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions, "" for one without; none where no dimension has one. In HDF5
        files they are paths."""
        names = tuple(self._handle.dimensions[: len(self.shape)])
        return names if any(names) else ()

    @property
    def chunks(self) -> "tuple[int, ...] | None":
        """The shape of its chunks; None where it has none."""
        lengths = tuple(self._handle.chunk[: len(self.shape)])
        return lengths if any(lengths) else None

    @property
    def can_grow(self) -> bool:
        """Whether the first dimension has no limit, so that append_rows() may give it rows."""
        return self._handle.can_grow

    @property
    def maxshape(self) -> "tuple[int | None, ...]":
        """The shape, with None for a length that has no limit."""
        return (None, *self.shape[1:]) if self.can_grow else self.shape

    @property
    def fill_value(self) -> Any:
        """What elements read as that nobody has put; None for strings and records."""
        if self._dtype is None or self._has_records or self._dtype.kind == "S":
            return None
        value = self._file._handle.fill_value(self._handle)
        if value is None:
            return self._dtype.type(0)
        number = np.frombuffer(value, ELEMENTS[self._handle.element])[0]
        return number.view(HALF) if self._dtype == HALF else self._dtype.type(number)

    @property
    def nbytes(self) -> int:
        """The bytes of all its elements."""
        return self._file._handle.bytes(self._handle)

    @property
    def stored_bytes(self) -> "int | None":
        """The bytes that it takes in an opened file; None when only libhdf5 can tell."""
        bytes_or_none = self._file._handle.stored_bytes(self._handle)
        return None if bytes_or_none < 0 else bytes_or_none

    @property
    def is_contiguous(self) -> bool:
        """Whether the raw data lie in one piece."""
        return self._file._handle.is_contiguous(self._handle)
