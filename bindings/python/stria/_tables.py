"""Small datasets of records, and NumPy's structured arrays."""

from typing import Any

import numpy as np

from .errors import UnsupportedError

# enum stria_element, by NumPy's name
ELEMENTS = ["uint8", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
NUMBERS = {name: number for number, name in enumerate(ELEMENTS) if number > 0}
# Name, place in a row, bytes of a string (0: a number), enum stria_element.
Column = tuple[str, int, int, int]


def as_table(path: str, records: np.ndarray) -> tuple[list[Column], np.ndarray]:
    """Columns, and rows as the file has them: in one piece, zeros between the fields, blanks behind
    strings."""
    fields = records.dtype.fields
    if fields is None or records.ndim != 1:
        raise UnsupportedError(f"'{path}': a table is a structured array of one dimension")
    rows = np.zeros(records.shape, records.dtype)
    columns = []
    for name in records.dtype.names:
        kind, offset = fields[name][:2]
        if kind.kind == "S":
            rows[name] = [one.ljust(kind.itemsize) for one in records[name].tolist()]
            columns.append((name, offset, kind.itemsize, 0))
        elif kind.isnative and kind.name in NUMBERS:
            rows[name] = records[name]
            columns.append((name, offset, 0, NUMBERS[kind.name]))
        else:
            raise UnsupportedError(f"'{path}': the field '{name}' is {kind}; tables hold native numbers and strings of bytes")
    return columns, rows


def from_table(columns: list[Column], row_bytes: int, rows: bytes) -> np.ndarray:
    """A structured array of its own."""
    fields: dict[str, Any] = {"names": [], "formats": [], "offsets": [], "itemsize": row_bytes}
    for name, offset, string_bytes, element in columns:
        fields["names"].append(name)
        fields["formats"].append(f"S{string_bytes}" if string_bytes > 0 else ELEMENTS[element])
        fields["offsets"].append(offset)
    return np.frombuffer(rows, np.dtype(fields)).copy()
