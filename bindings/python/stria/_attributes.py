"""Attributes of datasets and groups."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._numbers import HALF, array_of, as_numbers
from ._strings import array_of_texts, holds_text, texts_of
from .errors import CorruptedError, FormatError, NotFoundError, UnsupportedError

if TYPE_CHECKING:
    from ._file import File
    from ._typing import Values


class Reference(str):
    """The path of an object of the same file, as the value of an attribute."""


class Unreadable(str):
    """Stands for a value that can't be read, in what stria.inspect() tells: its type, and why."""


class Named:
    """An object of a file, for attributes that refer to it: `name` is its path."""

    name: str


# What libraries keep in attributes for themselves, since it follows from the dimensions.
_LISTS_OF_HDF5 = ("DIMENSION_LIST", "REFERENCE_LIST")
_OF_NETCDF = {"_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"}


class Attributes:
    """Attributes of a dataset or group, like a dictionary: numbers, complex ones too, strings,
    booleans, references to objects (a Reference or a Dataset), and lists of one of these. Numbers
    may have more dimensions, and so may what other programs have set.

    All ranks set the same, and reading is collective. Attributes by which HDF5 and netCDF name
    dimensions are left out of lists, but can be read by name.
    """

    def __init__(self, file: "File", path: str) -> None:
        self._file = file
        self._path = path

    def __repr__(self) -> str:
        return f"<stria.Attributes of '{self._path}' in '{self._file.path}'>"

    def __setitem__(self, name: str, value: "Values | Named") -> None:
        handle = self._file._handle
        one = isinstance(value, (Reference, Named))
        listed = isinstance(value, (list, tuple)) and value and all(isinstance(v, (Reference, Named)) for v in value)
        if one or listed:
            paths = [v.name if isinstance(v, Named) else str(v) for v in ([value] if one else value)]
            handle.set_references(self._path, name, paths, not one)
            return
        array = array_of_texts(value)
        self._require_possible(name, array)
        if array.ndim > 1 and array.dtype.kind not in "iuf":
            raise UnsupportedError(f"attribute '{name}' of '{self._path}': a list has one dimension, not {array.ndim}")
        if array.dtype.kind in "USOT":
            texts = texts_of(f"attribute '{name}' of '{self._path}'", value)
            set_all = handle.set_texts if holds_text(array) else handle.set_strings
            set_all(self._path, name, texts, array.ndim == 1)
        elif array.dtype == bool:
            handle.set_booleans(self._path, name, [int(one) for one in array.reshape(-1)], array.ndim == 1)
        elif array.dtype.kind == "c":
            handle.set_complex(self._path, name, np.ascontiguousarray(as_numbers(array_of(array))), array.ndim == 1)
        else:
            array = array.astype("f4") if array.dtype == HALF else array
            handle.set_numbers(self._path, name, np.ascontiguousarray(array_of(array)).reshape(array.shape))

    def _require_possible(self, name: str, array: np.ndarray) -> None:
        if array.dtype.kind not in "biufcUSOT":
            more = ", but not records" if array.dtype.fields is not None else ""
            raise UnsupportedError(
                f"attribute '{name}' of '{self._path}': {array.dtype} can't be kept; attributes are numbers, bools, text, "
                f"references and lists of these{more}"
            )

    def _all_types(self) -> dict[str, str]:
        handle = self._file._handle
        return dict(zip(handle.attributes(self._path), handle.attribute_types(self._path), strict=True))

    def types(self) -> dict[str, str]:
        """Returns the type and shape of each, in words: "float64 ()", "string[4] (3)"."""
        types = self._all_types()
        hidden = {name for name in _LISTS_OF_HDF5 if name in types and not is_readable(types[name])}
        if types.get("CLASS", "").startswith("string") and self["CLASS"] == "DIMENSION_SCALE":
            hidden |= {"CLASS", "NAME"}
        return {name: kind for name, kind in types.items() if name not in hidden | _OF_NETCDF}

    def __getitem__(self, name: str) -> Any:
        type_name = self._all_types().get(name)
        if type_name is None:
            raise NotFoundError(f"'{self._file.path}': '{self._path}' has no attribute '{name}'")
        return self._value(name, type_name)

    def _value(self, name: str, type_name: str) -> Any:
        handle = self._file._handle
        words, _, sizes = type_name.partition(" (")
        kind = words.removesuffix(" big-endian")
        shape = tuple(int(size) for size in sizes.removesuffix(")").split(", ") if size)
        if not is_readable(kind):
            raise UnsupportedError(
                f"'{self._file.path}': the attribute '{name}' of '{self._path}' is {words}, which stria can't read"
            )
        if kind.startswith("string"):
            return _nested(handle.get_strings(self._path, name), shape)
        if kind == "reference":
            return _nested([Reference(path) for path in handle.get_references(self._path, name)], shape)
        if kind.startswith("complex"):
            array = np.array(handle.get_complex(self._path, name), np.float64).view(np.complex128)
        elif kind.startswith("float"):
            array = np.array(handle.get_floats(self._path, name), np.float64)
        elif kind.startswith("uint"):
            array = np.array(handle.get_unsigned(self._path, name), np.uint64)
        else:
            array = np.array(handle.get_signed(self._path, name), np.int64)
        return array.astype(kind).reshape(shape)[()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.types())

    def __len__(self) -> int:
        return len(self.types())

    def __contains__(self, name: object) -> bool:
        return name in self._file._handle.attributes(self._path)

    def keys(self) -> list[str]:
        return list(self)

    def values(self) -> list[Any]:
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[str, Any]]:
        """Returns the names and values of all whose type can be read."""
        return [(name, self._value(name, kind)) for name, kind in self.types().items() if is_readable(kind)]

    def _told(self) -> dict[str, Any]:
        """Returns all of them, with an Unreadable for one that can't be read."""
        told: dict[str, Any] = {}
        for name, kind in self.types().items():
            try:
                told[name] = self._value(name, kind)
            except (CorruptedError, FormatError, UnsupportedError) as error:
                told[name] = Unreadable(f"{kind}: {error}")
        return told

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default


def is_readable(type_name: str) -> bool:
    return not type_name.startswith(("record", "other"))


def _nested(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Returns one value, or lists of lists."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape).tolist()
