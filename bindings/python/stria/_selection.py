"""NumPy's indexing as hyperslabs: which elements of a dataset an index means, in parts that the
library can take."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .errors import InvalidArgumentError


@dataclass
class Axis:
    """What an index says about one dimension: `count` elements from `start`, `step` > 0 apart; or
    a list of them."""

    start: int = 0
    count: int = 0
    step: int = 1
    kept: bool = True  # an integer takes the dimension away
    flipped: bool = False  # a slice with a negative step
    indices: "np.ndarray | None" = None


@dataclass
class Selection:
    axes: list[Axis]
    shape: tuple[int, ...] = field(init=False)  # of the array that it means
    full_shape: tuple[int, ...] = field(init=False)  # with the dimensions of integers

    def __post_init__(self) -> None:
        self.full_shape = tuple(axis.count for axis in self.axes)
        self.shape = tuple(axis.count for axis in self.axes if axis.kept)

    def parts(self, array: np.ndarray) -> Iterator[tuple[list[int], list[int], list[int], np.ndarray]]:
        """(start, count, stride, view of `array`) of each part. Views share `array`'s memory;
        nothing is copied."""
        array = array.reshape(self.full_shape) if array.shape != self.full_shape and array.size == 0 else self._expand(array)
        flips = tuple(slice(None, None, -1) if axis.flipped else slice(None) for axis in self.axes)
        array = array[(..., *flips)]  # with the dots, one without dimensions stays an array
        start = [axis.start for axis in self.axes]
        count = [axis.count for axis in self.axes]
        stride = [axis.step for axis in self.axes]
        listed = next((i for i, axis in enumerate(self.axes) if axis.indices is not None), None)
        if listed is None:
            yield start, count, stride, array
            return
        for first, length, position in _runs(self.axes[listed].indices):
            start[listed], count[listed] = first, length
            where = (slice(None),) * listed + (slice(position, position + length),)
            yield list(start), list(count), stride, array[where]

    def _expand(self, array: np.ndarray) -> np.ndarray:
        """A view with the dimensions that integers took away put back."""
        where = tuple(slice(None) if axis.kept else np.newaxis for axis in self.axes)
        return array[(..., *where)]


def _runs(indices: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(first, length, position) of the runs of consecutive numbers in increasing `indices`. Linear
    in their number."""
    if indices.size == 0:
        return
    breaks = np.flatnonzero(np.diff(indices) != 1) + 1
    begins = np.concatenate(([0], breaks))
    ends = np.concatenate((breaks, [indices.size]))
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        yield int(indices[begin]), end - begin, begin


def _of_slice(index: slice, size: int) -> Axis:
    start, stop, step = index.indices(size)
    count = len(range(start, stop, step))
    if step < 0:
        return Axis(start + (count - 1) * step if count else 0, count, -step, flipped=True)
    return Axis(start if count else 0, count, step)


def _of_list(index: Any, size: int, path: str) -> Axis:
    numbers = np.asarray(index)
    if numbers.dtype == bool:
        if numbers.shape != (size,):
            raise InvalidArgumentError(f"'{path}': a mask of shape {numbers.shape} for a dimension of {size}")
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InvalidArgumentError(f"'{path}': an index must be an integer, a slice, a list of integers or a mask")
    numbers = np.where(numbers < 0, numbers + size, numbers).astype(np.int64)
    if numbers.size and not (0 <= numbers.min() and numbers.max() < size):
        raise InvalidArgumentError(f"'{path}': an index is outside a dimension of {size}")
    return Axis(0, numbers.size, 1, indices=numbers)


class Box(NamedTuple):
    """What an index of integers and slices without steps means."""

    start: list[int]
    count: list[int]
    shape: tuple[int, ...]  # of the array: without the dimensions of integers


def box_of(key: Any, dims: tuple[int, ...]) -> "Box | None":
    """The same as select() in a fraction of the time, for the usual indices; None for others."""
    keys = key if type(key) is tuple else (key,)
    if len(keys) > len(dims):
        return None
    start, count, shape = [], [], []
    for one, size in zip(keys, dims, strict=False):
        if type(one) is int and -size <= one < size:
            start.append(one % size)
            count.append(1)
        elif type(one) is slice:
            first, last, step = one.indices(size)
            if step != 1:
                return None
            start.append(first if last > first else 0)
            count.append(max(last - first, 0))
            shape.append(count[-1])
        else:
            return None
    rest = dims[len(keys) :]
    return Box(start + [0] * len(rest), count + list(rest), (*shape, *rest))


def select(key: Any, dims: tuple[int, ...], path: str) -> Selection:
    """What `dataset[key]` means."""
    keys = key if isinstance(key, tuple) else (key,)
    if sum(one is Ellipsis for one in keys) > 1 or len(keys) - (Ellipsis in _plain(keys)) > len(dims):
        raise InvalidArgumentError(f"'{path}': {len(keys)} indices for {len(dims)} dimensions")
    if Ellipsis not in _plain(keys):
        keys = (*keys, Ellipsis)
    at = _plain(keys).index(Ellipsis)
    keys = keys[:at] + (slice(None),) * (len(dims) - len(keys) + 1) + keys[at + 1 :]
    axes = []
    for one, size in zip(keys, dims, strict=True):
        if isinstance(one, slice):
            axes.append(_of_slice(one, size))
        elif hasattr(one, "__index__") and not isinstance(one, (bool, np.ndarray)):
            number = operator.index(one)
            if not -size <= number < size:
                raise InvalidArgumentError(f"'{path}': index {number} is outside a dimension of {size}")
            axes.append(Axis(number % size, 1, 1, kept=False))
        else:
            axes.append(_of_list(one, size, path))
    if sum(axis.indices is not None for axis in axes) > 1:
        raise InvalidArgumentError(f"'{path}': more than one list of indices; put or get one after the other")
    return Selection(axes)


def _plain(keys: tuple[Any, ...]) -> list[Any]:
    """The keys, lists and arrays left out: comparing those with Ellipsis would compare
    their elements."""
    return [one if one is Ellipsis else None for one in keys]


def sorted_by_list(selection: Any, array: np.ndarray, path: str) -> np.ndarray:
    """The array in the order of increasing indices: itself where they are."""
    which = next(i for i, axis in enumerate(selection.axes) if axis.indices is not None)
    indices = selection.axes[which].indices
    order = np.argsort(indices, kind="stable")
    selection.axes[which].indices = indices[order]
    if np.any(np.diff(selection.axes[which].indices) == 0):
        raise InvalidArgumentError(f"'{path}': an index comes twice in a list: which of its values is meant?")
    if np.array_equal(order, np.arange(order.size)):
        return array
    return np.take(array, order, axis=sum(axis.kept for axis in selection.axes[:which]))
