"""Options of datasets as the library takes them: words."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from ._numbers import HALF
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
    fill_value: Any


def compress_text(compress: Any) -> str:
    """The option "compress". "gzip" is h5py's name of deflate, which has one level here."""
    if compress is None or isinstance(compress, (bool, np.bool_)):
        return "true" if compress else "false"
    if isinstance(compress, str):
        return "deflate" if compress == "gzip" else compress
    if isinstance(compress, (int, np.integer)) and compress in (0, 1):
        return "true" if compress else "false"
    raise InvalidArgumentError(
        f"compress={compress!r}: deflate has one level here; use True, or the name of another filter, such as 'zstd'"
    )


def fill_text(fill_value: Any, dtype: np.dtype) -> str:
    """The option "fill_value" of a dataset of `dtype`."""
    value = np.asarray(_number_in(fill_value) if isinstance(fill_value, str) else fill_value)
    if value.shape != () or value.dtype.kind not in "biufc":
        raise InvalidArgumentError(f"fill_value={fill_value!r}: it must be one number")
    if dtype.fields is not None:
        raise UnsupportedError("a dataset of records has no fill value")
    if dtype.kind == "b":
        return str(int(bool(value)))
    if dtype.newbyteorder("=") == HALF:
        return str(int(value.astype(HALF).view(np.uint16)))
    if value.dtype.kind == "c":
        return f"{float(value.real)},{float(value.imag)}"
    return str(float(value)) if value.dtype.kind == "f" else str(int(value))


def _number_in(text: str) -> "int | float | complex | str":
    """The number that a text is, or the text."""
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
