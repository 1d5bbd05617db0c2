"""Datasets of records, and NumPy's structured arrays."""

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnsupportedError

# These are NumPy's names in the order of enum stria_element.
ELEMENTS = ["uint8", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
NUMBERS = {name: number for number, name in enumerate(ELEMENTS) if number > 0}
# What numbers mean where their type alone doesn't say it: NumPy's name, the library's Meaning, and
# the numbers that it moves.
NUMBER, BOOLEAN, HALF, COMPLEX = range(4)
MEANT = {
    "bool": (BOOLEAN, "uint8"),
    "float16": (HALF, "uint16"),
    "complex64": (COMPLEX, "float32"),
    "complex128": (COMPLEX, "float64"),
}
_NAMES = {(meaning, NUMBERS[number]): name for name, (meaning, number) in MEANT.items()}
_TEXT = np.dtype("O", metadata={"vlen": str})  # the type that h5py's string_dtype() returns


def columns_of(library: Any, path: str, dtype: np.dtype) -> list[Any]:
    """Returns the fields of a structured type, as the library has columns: with the file's byte
    order."""
    return [_column_of(library, path, name, *dtype.fields[name][:2]) for name in dtype.names]


def _column_of(library: Any, path: str, name: str, kind: np.dtype, offset: int) -> Any:
    column = library.Column()
    column.name, column.offset_bytes = name, offset
    base, column.dims = kind.base, list(kind.shape)
    native = base.newbyteorder("=")
    if base.fields is not None:
        column.members, column.record_bytes = columns_of(library, path, base), base.itemsize
    elif base.kind == "S" and base.itemsize > 0:
        column.string_bytes = base.itemsize
    elif native.name in NUMBERS or native.name in MEANT:
        column.meaning, number = MEANT.get(native.name, (NUMBER, native.name))
        column.element, column.big_endian = NUMBERS[number], not base.isnative
        if names := (base.metadata or {}).get("enum"):
            column.enumeration = [(str(key), signed(int(value))) for key, value in names.items()]
    else:
        raise UnsupportedError(
            f"'{path}': the field '{name}' is {kind}; records hold numbers, strings of bytes, records and arrays of these"
        )
    return column


def signed(value: int) -> int:
    """Returns an integer of 64 bits as the library has it: an unsigned one by its bits."""
    return value - (1 << 64) if value >= 1 << 63 else value


def unsigned(value: int, dtype: np.dtype) -> int:
    return value % (1 << 64) if dtype.kind == "u" else value


def enum_of(dtype: np.dtype, names: "list[tuple[str, int]]") -> np.dtype:
    """Returns the type of integers with names, as h5py's enum_dtype() makes it."""
    return np.dtype(dtype, metadata={"enum": {name: unsigned(value, dtype) for name, value in names}})


def dtype_of(columns: list[Any], row_bytes: int, *, as_text: bool = False) -> np.dtype:
    """The type of the library's records; text of any length is bytes, or `as_text` Python's
    strings."""
    fields = [_type_of(column, as_text) for column in columns]
    names = [column.name for column in columns]
    if as_text and any(_has_text(column) for column in columns):
        return np.dtype(list(zip(names, fields, strict=True)))
    offsets = [column.offset_bytes for column in columns]
    return np.dtype({"names": names, "formats": fields, "offsets": offsets, "itemsize": row_bytes})


def _has_text(column: Any) -> bool:
    return column.varies or any(_has_text(member) for member in column.members)


def _type_of(column: Any, as_text: bool) -> np.dtype:
    if column.members:
        base = dtype_of(column.members, column.record_bytes, as_text=as_text)
    elif column.string_bytes > 0:
        base = _TEXT if as_text and column.varies else np.dtype(f"S{column.string_bytes}")
    else:
        base = np.dtype(_NAMES.get((column.meaning, column.element), ELEMENTS[column.element]))
    if column.enumeration:
        base = enum_of(base, column.enumeration)
    return np.dtype((base, tuple(column.dims))) if column.dims else base


def with_text(rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Records with strings of Python where `dtype` has objects; themselves where it has none."""
    if not dtype.hasobject:
        return rows
    out = np.empty(rows.shape, dtype)
    for name in dtype.names:
        _fill_text(out, name, rows[name])
    return out


def _fill_text(out: np.ndarray, name: str, values: np.ndarray) -> None:
    base = out.dtype[name].base
    if base.fields is not None:
        out[name] = with_text(values, base)
    elif base.hasobject:
        texts = [one.decode("utf-8", "surrogateescape") for one in values.reshape(-1).tolist()]
        out[name] = np.array([*texts, None], object)[:-1].reshape(values.shape)
    else:
        out[name] = values


def packed(dtype: np.dtype) -> np.dtype:
    """Returns the fields one behind the other, as create_records() has them in the file."""
    if dtype.fields is None:
        return dtype
    fields = ((name, dtype.fields[name][0]) for name in dtype.names)
    return np.dtype([(name, packed(kind.base), kind.shape) for name, kind in fields])


def native(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("=")


def as_records(path: str, value: np.ndarray, of_file: np.dtype) -> np.ndarray:
    """Records that the library converts: in this machine's byte order, with the values of half
    precision, of which it takes 16 bits of any integer for the bits."""
    if value.dtype.fields is None:
        raise InvalidArgumentError(f"'{path}' holds records of {', '.join(of_file.names)}, not {value.dtype}")
    return value.astype(_with_halves(native(value.dtype), of_file), copy=False)


def _with_halves(dtype: np.dtype, of_file: np.dtype) -> np.dtype:
    """`dtype` with float16 where one side has that, and the other uint16."""
    if dtype.base.fields is None or of_file.base.fields is None:
        if dtype.base.kind + of_file.base.kind in ("uf", "fu") and dtype.base.itemsize == of_file.base.itemsize == 2:
            return np.dtype((of_file.base, dtype.shape))
        return dtype
    base = dtype.base
    given = [base.fields[name][0] for name in base.names]
    formats = [
        _with_halves(kind, of_file.base.fields[name][0]) if name in of_file.base.fields else kind
        for name, kind in zip(base.names, given, strict=True)
    ]
    if formats == given:
        return dtype
    offsets = [base.fields[name][1] for name in base.names]
    changed = np.dtype({"names": base.names, "formats": formats, "offsets": offsets, "itemsize": base.itemsize})
    return np.dtype((changed, dtype.shape)) if dtype.shape else changed


def as_strings(path: str, strings: Any, dtype: np.dtype) -> np.ndarray:
    """Strings, or bytes, as the file has them: filled up with NULs."""
    array = np.asarray(strings)
    array = np.char.encode(array, "utf-8", "surrogateescape") if array.dtype.kind == "U" else array
    if array.dtype.kind != "S":
        raise InvalidArgumentError(f"'{path}' holds strings of {dtype.itemsize} bytes, not {array.dtype}")
    if array.dtype.itemsize > dtype.itemsize:  # NumPy would cut them off
        longest = np.char.str_len(array).max(initial=0)
        if longest > dtype.itemsize:
            raise InvalidArgumentError(f"'{path}' holds strings of {dtype.itemsize} bytes, and one has {longest}")
    return array.astype(dtype)


def strings_of(path: str, data: Any, dtype: Any) -> "np.ndarray | None":
    """`data` as strings of bytes, where `dtype`, or that of an array, is of such; else None."""
    wanted = np.dtype(getattr(data, "dtype", "O") if dtype is None else dtype)
    if wanted.kind != "S":
        return None
    if wanted.itemsize == 0:
        wanted = np.dtype(f"S{max(np.asarray(data, dtype='S').itemsize, 1)}")
    return as_strings(path, data, wanted)


def as_table(library: Any, path: str, records: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Columns, and rows in one piece, whose strings end with blanks."""
    if records.dtype.fields is None or records.ndim != 1:
        raise UnsupportedError(f"'{path}': a table is a structured array of one dimension")
    columns = columns_of(library, path, records.dtype)
    return columns, _filled_with_blanks(np.ascontiguousarray(records.astype(native(records.dtype), copy=False)))


def _filled_with_blanks(records: np.ndarray) -> np.ndarray:
    rows = np.array(records)
    for name in records.dtype.names:
        base = records.dtype[name].base
        if base.fields is not None:
            rows[name] = _filled_with_blanks(records[name])
        elif base.kind == "S" and records.size > 0:
            rows[name] = np.char.ljust(records[name], base.itemsize, b" ")
    return rows
