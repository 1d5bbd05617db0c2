"""Whole files in one call: written, read, looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._attributes import Unreadable
from ._contents import is_first_rank
from ._file import File
from ._frames import is_frame, is_xarray, put_xarray, records_of
from ._strings import array_of_texts, holds_text
from .errors import CorruptedError, FormatError, InvalidArgumentError, UnsupportedError


@dataclass(frozen=True)
class DistributedArray:
    """A global array of `shape`, of which this rank holds the box that begins at `start`: `array`,
    of any strides, without its layers of ghost cells. `ghosts`: how many there are, one number for
    all sides, or for each dimension a number or the pair (before, after).

        DistributedArray(rho, start=(y, x), shape=(512, 256), ghosts=2)
    """

    array: Any
    start: "Sequence[int]"
    shape: "Sequence[int]"
    ghosts: "int | Sequence[int | tuple[int, int]]" = 0

    def box(self) -> tuple[tuple[slice, ...], Any]:
        """Returns the place in the dataset, and a view of the array without ghosts."""
        if not len(self.start) == len(self.shape) == self.array.ndim:
            raise InvalidArgumentError(
                f"a distributed array has as many starts ({len(self.start)}) and lengths ({len(self.shape)}) as its part "
                f"has dimensions ({self.array.ndim})"
            )
        sides = [self.ghosts] * self.array.ndim if isinstance(self.ghosts, int) else list(self.ghosts)
        if len(sides) != self.array.ndim:
            raise InvalidArgumentError(f"ghosts of {len(sides)} dimensions, for an array of {self.array.ndim}")
        inner, place = [], []
        for start, length, held, side in zip(self.start, self.shape, self.array.shape, sides, strict=True):
            before, after = (side, side) if isinstance(side, int) else side
            count = held - before - after
            if before < 0 or after < 0 or count < 0 or start < 0 or start + count > length:
                raise InvalidArgumentError(
                    f"the box [{start}, {start + count}) of a dimension is not in the array's [0, {length}), or has fewer "
                    f"elements ({held}) than ghosts"
                )
            inner.append(slice(before, before + count))
            place.append(slice(start, start + count))
        return tuple(place), self.array[tuple(inner)]


def _put(file: File, path: str, value: Any, first_rank: bool, options: "Mapping[str, Any]") -> None:
    if is_frame(value):
        value = records_of(path, value)
    if isinstance(value, DistributedArray):
        place, part = value.box()
        file.create_dataset(path, tuple(value.shape), part.dtype, **_fitting(value.shape, options)).put(place, part)
        return
    array = array_of_texts(value)
    if holds_text(array) or array.dtype.kind in "mM":
        file.create_dataset(path, data=array)
    elif array.dtype.kind in "SO":
        file.create_strings(path, value)
    else:
        dataset = file.create_dataset(path, array.shape, array.dtype, **_fitting(array.shape, options))
        if first_rank:
            dataset.put(..., array)


def _fitting(shape: "Sequence[int]", options: "Mapping[str, Any]") -> "Mapping[str, Any]":
    """A number without dimensions has neither chunks nor rows."""
    return options if len(shape) > 0 else {name: options[name] for name in ("alignment", "fill_value") if name in options}


def write(
    open_file: Any, values: "Mapping[str, Any]", comm: Any, attrs: "Mapping[str, Any] | None", options: "Mapping[str, Any]"
) -> None:
    with open_file as file:
        first_rank = comm is None or is_first_rank(file)
        if is_xarray(values):
            put_xarray(file, values, options)
        else:
            for path, value in values.items():
                _put(file, path, value, first_rank, options)
        for name, value in (attrs or {}).items():
            file.attrs[name] = value


def _get(file: File, path: str, out: Any = None) -> Any:
    """Records the read of a dataset, whole or into a box; strings are read at once."""
    dataset = file[path]
    if isinstance(out, DistributedArray):
        place, part = out.box()
        if dataset.shape != tuple(out.shape):
            raise InvalidArgumentError(f"'{path}' has the shape {dataset.shape}, not {tuple(out.shape)}")
        dataset.get(place, part)
        return out.array
    if out is not None:
        dataset.get(..., out)
        return out
    if dataset.type_name.startswith("string"):
        return dataset[...]
    array = np.empty(dataset.shape, dataset.dtype)
    dataset.get(..., array)
    return array


def read(open_file: Any, wanted: "str | Sequence[str] | Mapping[str, Any] | None") -> Any:
    with open_file as file:
        if isinstance(wanted, str):
            found = _get(file, wanted)
        elif isinstance(wanted, Mapping):
            found = {path: _get(file, path, out) for path, out in wanted.items()}
        else:
            found = {path: _get(file, path) for path in (file.keys() if wanted is None else wanted)}
    return found


def inspect(open_file: Any) -> "list[dict[str, Any]]":
    with open_file as file:
        paths = file.keys()
        groups = [_described(file, path, "group", None) for path in _groups_of(paths)]
        return [one for one in groups if one["attributes"]] + [_dataset(file, path) for path in paths]


def _groups_of(paths: "Sequence[str]") -> list[str]:
    """Returns the file itself, and the groups in which datasets lie."""
    parts = (path.strip("/").split("/") for path in paths)
    return ["/", *sorted({"/".join(names[:depth]) for names in parts for depth in range(1, len(names))})]


def _dataset(file: File, path: str) -> "dict[str, Any]":
    dataset = file[path]
    return _described(file, path, dataset.type_name, dataset.shape)


def _described(file: File, path: str, kind: str, shape: "tuple[int, ...] | None") -> "dict[str, Any]":
    """A damaged list of attributes doesn't hide the rest of the file."""
    try:
        attributes: Any = file.attrs_of(path)._told()
    except (CorruptedError, FormatError, UnsupportedError) as error:
        attributes = {"": Unreadable(error)}
    return {"path": path, "type": kind, "shape": shape, "attributes": attributes}
