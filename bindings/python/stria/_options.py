"""Options of datasets as the library takes them."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from ._numbers import HALF
from ._tables import signed
from .errors import InvalidArgumentError, UnsupportedError


class DatasetOptions(TypedDict, total=False):
    """The options of File.create_dataset() that stria.write() passes on."""

    value_range: bool
    alignment: int
    compress: "bool | int | str | None"
    shuffle: "bool | None"
    fletcher32: bool
    chunks: "tuple[int, ...] | None"
    dimensions: "Sequence[str] | None"
    unlimited: bool
    fill_value: object


def options_of(library: Any, dtype: np.dtype, given: DatasetOptions) -> Any:
    """Returns the library's options of a dataset, of which `chunks` and `dimensions` are left
    out."""
    options = library.DatasetOptions()
    options.value_range = bool(given.get("value_range"))
    options.alignment_bytes = given.get("alignment", 0)
    options.big_endian = dtype.fields is None and dtype.byteorder == ">"
    if text := filter_text(given.get("compress")):
        options.set_filters(text)
    if given.get("shuffle") is not None:
        options.set_shuffle(bool(given["shuffle"]))
    if given.get("fletcher32"):
        options.set_fletcher32(True)
    if names := (dtype.metadata or {}).get("enum"):
        options.set_enumeration([(str(name), signed(int(value))) for name, value in names.items()])
    if given.get("fill_value") is not None:
        _fill(options, given["fill_value"], dtype)
    return options


def filter_text(compress: Any) -> str:
    """Returns the name of a filter; empty for none. "gzip" is h5py's name of deflate, which has one
    level here."""
    if compress is None or isinstance(compress, (bool, np.bool_)):
        return "deflate" if compress else ""
    if isinstance(compress, str):
        return "deflate" if compress == "gzip" else compress
    if isinstance(compress, (int, np.integer)) and compress in (0, 1):
        return "deflate" if compress else ""
    raise InvalidArgumentError(
        f"compress={compress!r}: deflate has one level here; use True, or the name of another filter, such as 'zstd'"
    )


def _fill(options: Any, fill_value: Any, dtype: np.dtype) -> None:
    """Gives the options what elements of a dataset of `dtype` read as that nobody puts."""
    value = np.asarray(_number_in(fill_value) if isinstance(fill_value, str) else fill_value)
    if value.shape != () or value.dtype.kind not in "biufc":
        raise InvalidArgumentError(f"fill_value={fill_value!r}: it must be one number")
    if dtype.fields is not None:
        raise UnsupportedError("a dataset of records has no fill value")
    if dtype.kind == "b":
        options.fill_with_integer(int(bool(value)))
    elif dtype.newbyteorder("=") == HALF:
        options.fill_with_bits_of_half(int(value.astype(HALF).view(np.uint16)))
    elif value.dtype.kind == "c":
        options.fill_with_complex(float(value.real), float(value.imag))
    elif value.dtype.kind == "f":
        options.fill_with_real(float(value))
    elif value.dtype.kind == "u":
        options.fill_with_unsigned(int(value))
    else:
        options.fill_with_integer(int(value))


def _number_in(text: str) -> "int | float | complex | str":
    """Returns the number that a text is, or the text."""
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
