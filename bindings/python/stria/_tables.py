"""Datasets of records, and NumPy's structured arrays."""

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnsupportedError

# enum stria_element, by NumPy's name
ELEMENTS = ["uint8", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
NUMBERS = {name: number for number, name in enumerate(ELEMENTS) if number > 0}
# Name, place in a row, bytes of a string (0: a number), enum stria_element.
Column = tuple[str, int, int, int]


def columns_of(path: str, dtype: np.dtype) -> list[Column]:
    """The fields of a structured type."""
    columns = []
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        if kind.kind == "S":
            columns.append((name, offset, kind.itemsize, 0))
        elif kind.isnative and kind.name in NUMBERS:
            columns.append((name, offset, 0, NUMBERS[kind.name]))
        else:
            raise UnsupportedError(f"'{path}': the field '{name}' is {kind}; records hold native numbers and strings of bytes")
    return columns


def dtype_of(columns: list[Column], row_bytes: int) -> np.dtype:
    fields: dict[str, Any] = {"names": [], "formats": [], "offsets": [], "itemsize": row_bytes}
    for name, offset, string_bytes, element in columns:
        fields["names"].append(name)
        fields["formats"].append(f"S{string_bytes}" if string_bytes > 0 else ELEMENTS[element])
        fields["offsets"].append(offset)
    return np.dtype(fields)


def packed(dtype: np.dtype) -> np.dtype:
    """The fields one behind the other."""
    return np.dtype([(name, dtype.fields[name][0]) for name in dtype.names])


def as_rows(path: str, records: np.ndarray, dtype: np.dtype, filler: bytes) -> np.ndarray:
    """The records as the file has them: in the layout of `dtype`, zeros between the fields, and
    `filler` behind strings. Themselves where they are so."""
    if records.dtype.names is None or set(records.dtype.names) != set(dtype.names):
        raise InvalidArgumentError(f"'{path}' holds records of {', '.join(dtype.names)}, not {records.dtype}")
    filled = {name for name in dtype.names if dtype.fields[name][0].kind == "S" and filler != b"\0"}
    if records.dtype == dtype and not filled:
        return records
    rows = np.zeros(records.shape, dtype)
    for name in dtype.names:
        values = records[name]
        _require_room(f"'{path}': the field '{name}'", values, dtype.fields[name][0].itemsize)
        if name in filled and values.size > 0:
            values = np.char.ljust(values, dtype.fields[name][0].itemsize, filler)
        rows[name] = values
    return rows


def as_strings(path: str, strings: Any, dtype: np.dtype) -> np.ndarray:
    """Strings, or bytes, as the file has them: filled up with NULs."""
    array = np.asarray(strings)
    array = np.char.encode(array, "utf-8") if array.dtype.kind == "U" else array
    if array.dtype.kind != "S":
        raise InvalidArgumentError(f"'{path}' holds strings of {dtype.itemsize} bytes, not {array.dtype}")
    _require_room(f"'{path}'", array, dtype.itemsize)
    return array.astype(dtype)


def _require_room(what: str, values: np.ndarray, field_bytes: int) -> None:
    """NumPy would cut strings off."""
    if values.dtype.kind == "S" and values.dtype.itemsize > field_bytes:
        longest = np.char.str_len(values).max(initial=0)
        if longest > field_bytes:
            raise InvalidArgumentError(f"{what} holds strings of {field_bytes} bytes, and one has {longest}")


def as_table(path: str, records: np.ndarray) -> tuple[list[Column], np.ndarray]:
    """Columns, and rows in one piece."""
    if records.dtype.fields is None or records.ndim != 1:
        raise UnsupportedError(f"'{path}': a table is a structured array of one dimension")
    return columns_of(path, records.dtype), as_rows(path, np.ascontiguousarray(records), records.dtype, filler=b" ")


def from_table(columns: list[Column], row_bytes: int, rows: bytes) -> np.ndarray:
    """A structured array of its own."""
    return np.frombuffer(rows, dtype_of(columns, row_bytes)).copy()
