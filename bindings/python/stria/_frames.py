"""Datasets of xarray and frames of pandas, as files have them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import UnsupportedError

if TYPE_CHECKING:
    from ._file import File

_OF_ALL = ("alignment", "fill_value")  # options that a number without dimensions has too


def is_xarray(value: Any) -> bool:
    return hasattr(value, "data_vars") and hasattr(value, "coords")


def is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "reset_index") and hasattr(value, "dtypes")


def put_xarray(file: "File", dataset: Any, options: "Mapping[str, Any]") -> None:
    """Variables and coordinates with the names of their dimensions, and all attributes, by the
    conventions of CF, as xarray writes netCDF files."""
    from xarray import conventions

    try:
        variables, attributes = conventions.encode_dataset_coordinates(dataset)
        variables, attributes = conventions.cf_encoder(variables, attributes)
    except (NotImplementedError, ValueError, TypeError) as error:
        raise UnsupportedError(f"'{file.path}': a file can't keep this dataset: {error}") from error
    for name, variable in variables.items():
        if not isinstance(name, str):
            raise UnsupportedError(f"'{file.path}': the name {name!r} is no text")
        array = np.asarray(variable.values)
        given = options if array.ndim > 0 else {one: options[one] for one in _OF_ALL if one in options}
        text = array.dtype.kind in "UTO"
        names = list(variable.dims) if array.ndim > 0 else None
        made = file.create_dataset(name, data=array, **{**({} if text else given), "dimensions": names})
        for key, value in variable.attrs.items():
            made.attrs[key] = value
    for key, value in attributes.items():
        file.attrs[key] = value


def records_of(path: str, frame: Any) -> np.ndarray:
    """Returns the rows of a frame as records, its index before the columns unless that only counts
    them. Text becomes strings of bytes in UTF-8, as long as the longest."""
    counts = type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
    columns = frame if counts else frame.reset_index()
    fields = []
    for name in columns.columns:
        if not isinstance(name, str):
            raise UnsupportedError(f"'{path}': the column {name!r} has no text as its name, which files need")
        fields.append((name, _column(path, name, columns[name])))
    records = np.empty(len(columns), [(name, values.dtype) for name, values in fields])
    for name, values in fields:
        records[name] = values
    return records


def _column(path: str, name: str, column: Any) -> np.ndarray:
    def refused(why: str) -> UnsupportedError:
        return UnsupportedError(f"'{path}': the column '{name}' of {column.dtype} {why}")

    kind = column.dtype
    if type(kind).__name__ == "CategoricalDtype":
        raise refused("has categories, which records don't keep: convert it by .astype(str), or take .cat.codes")
    if getattr(kind, "kind", "O") in "mM":
        raise refused("has times, which records don't keep: convert it to numbers")
    if isinstance(kind, np.dtype) and kind.kind in "biufc":
        return column.to_numpy()
    if bool(column.isna().any()):
        raise refused("lacks values, which records don't keep: fill them by .fillna()")
    if getattr(kind, "kind", "O") in "biuf":  # pandas' own numbers
        return column.to_numpy(dtype=kind.numpy_dtype)
    values = column.tolist()
    if not all(isinstance(one, str) for one in values):
        raise refused("has neither numbers nor text")
    encoded = [one.encode("utf-8", "surrogateescape") for one in values]
    if any(one.endswith(b"\0") for one in encoded):
        raise refused("has text that ends in a NUL")
    return np.array(encoded, f"S{max((len(one) for one in encoded), default=1) or 1}")
