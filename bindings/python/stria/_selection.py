"""NumPy's indexing as hyperslabs: which elements of a dataset an index means, in parts that the
library can take."""

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .errors import InvalidArgumentError, InvalidIndexError

# A list of so many runs is read as the box around them, where what lies between two runs costs less
# to read than another request, and the box is no burden for the memory.
_LEAST_RUNS = 9
_MOST_GAP_BYTES = 4096
_MOST_BOX_BYTES = 256 << 20


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
    listed: bool = False  # by a list, even if it is as a slice


@dataclass
class Selection:
    axes: list[Axis]
    dots: int = 0  # the dimension where an Ellipsis stands
    shape: tuple[int, ...] = field(init=False)  # the shape of the array that it means
    full_shape: tuple[int, ...] = field(init=False)  # with the dimensions of integers

    def __post_init__(self) -> None:
        self.full_shape = tuple(axis.count for axis in self.axes)
        shape = [axis.count for axis in self.axes if axis.kept]
        if self.first is not None:
            shape.insert(0, shape.pop(self.first))
        self.shape = tuple(shape)

    @property
    def list_axis(self) -> "int | None":
        """The dimension whose list isn't a slice."""
        return next((i for i, axis in enumerate(self.axes) if axis.indices is not None), None)

    @cached_property
    def first(self) -> "int | None":
        """Says which dimension of the array, integers left out, NumPy puts first: that of a list
        where a slice or an Ellipsis lies between it and an integer, or between integers around
        it."""
        chosen = [i for i, axis in enumerate(self.axes) if axis.listed or not axis.kept]
        which = next((i for i in chosen if self.axes[i].listed), None)
        if which is None:
            return None
        side_by_side = chosen[-1] - chosen[0] == len(chosen) - 1
        if side_by_side and not chosen[0] < self.dots <= chosen[-1]:
            return None
        return sum(axis.kept for axis in self.axes[:which])

    def parts(self, array: np.ndarray) -> Iterator[tuple[list[int], list[int], list[int], np.ndarray]]:
        """(start, count, stride, view of `array`) of each part. Views share `array`'s memory;
        nothing is copied."""
        array = self._in_order(array)
        start, count, stride = self._slab()
        listed = self.list_axis
        if listed is None:
            yield start, count, stride, array
            return
        for first, length, position in _runs(self.axes[listed].indices):
            start[listed], count[listed] = first, length
            where = (slice(None),) * listed + (slice(position, position + length),)
            yield list(start), list(count), stride, array[where]

    def runs(self, array: np.ndarray) -> "tuple[Any, int, list[tuple[int, int]], np.ndarray]":
        """Returns what a list selects: (start, count, stride), of which the dimension of the list
        counts for nothing; that dimension; the (first, length) of its runs; and a view of `array`,
        in which they follow each other."""
        which = self.list_axis
        runs = [(first, length) for first, length, _ in _runs(self.axes[which].indices)]
        return self._slab(), which, runs, self._in_order(array)

    def _slab(self) -> tuple[list[int], list[int], list[int]]:
        return [axis.start for axis in self.axes], [axis.count for axis in self.axes], [axis.step for axis in self.axes]

    def _in_order(self, array: np.ndarray) -> np.ndarray:
        """Returns a view of the array in the order of the dataset, with all dimensions."""
        array = np.moveaxis(array, 0, self.first) if self.first is not None else array
        array = array.reshape(self.full_shape) if array.shape != self.full_shape and array.size == 0 else self._expand(array)
        flips = tuple(slice(None, None, -1) if axis.flipped else slice(None) for axis in self.axes)
        return array[(..., *flips)]  # with the dots, one without dimensions stays an array

    def axis_of(self, which: int) -> int:
        """Returns the dimension of the array that belongs to one of the dataset."""
        return 0 if self.first is not None else sum(axis.kept for axis in self.axes[:which])

    def hull(self, dims: tuple[int, ...], itemsize: int, *, in_chunks: bool) -> "tuple[Selection, int, np.ndarray] | None":
        """Returns, where a list has many runs that lie close, the box around them, the dimension of
        the list in the array that the box means, and the places of the indices along it."""
        which = self.list_axis
        if which is None:
            return None
        indices = self.axes[which].indices
        runs = 1 + np.count_nonzero(np.diff(indices) != 1)
        if runs < _LEAST_RUNS:
            return None
        span = int(indices[-1] - indices[0]) + 1
        gap_bytes = (span - indices.size) / (runs - 1) * itemsize * math.prod(dims[which + 1 :])
        box_bytes = itemsize * span * math.prod(axis.count for i, axis in enumerate(self.axes) if i != which)
        if box_bytes > _MOST_BOX_BYTES or (gap_bytes > _MOST_GAP_BYTES and not in_chunks):
            return None
        axes = [replace(axis) for axis in self.axes]
        axes[which] = Axis(int(indices[0]), span, listed=True)
        return Selection(axes, self.dots), self.axis_of(which), indices - indices[0]

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


def many_runs(indices: np.ndarray) -> bool:
    """Tells whether increasing indices are so many runs that a map of elements is quicker."""
    return indices.size > 16 and 8 * np.count_nonzero(np.diff(indices) != 1) > indices.size


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
            raise InvalidIndexError(f"'{path}': a mask of shape {numbers.shape} for a dimension of {size}")
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InvalidIndexError(f"'{path}': an index must be an integer, a slice, a list of integers or a mask")
    numbers = np.where(numbers < 0, numbers + size, numbers).astype(np.int64)
    if numbers.size and not (0 <= numbers.min() and numbers.max() < size):
        raise InvalidIndexError(f"'{path}': an index is outside a dimension of {size}")
    return _as_slice(numbers) or Axis(0, numbers.size, 1, indices=numbers, listed=True)


def _as_slice(numbers: np.ndarray) -> "Axis | None":
    """Returns a list whose numbers are all one step apart."""
    if numbers.size < 2:
        return Axis(int(numbers[0]) if numbers.size else 0, numbers.size, listed=True)
    steps = np.diff(numbers)
    step = int(steps[0])
    if step == 0 or np.any(steps != step):
        return None
    return Axis(int(min(numbers[0], numbers[-1])), numbers.size, abs(step), flipped=step < 0, listed=True)


class Box(NamedTuple):
    """What an index of integers and slices without steps means."""

    start: list[int]
    count: list[int]
    shape: tuple[int, ...]  # the shape of the array: without the dimensions of integers


def box_of(key: Any, dims: tuple[int, ...]) -> "Box | None":
    """Returns the same as select() in a fraction of the time, for the usual indices; None for
    others."""
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
    """Returns what `dataset[key]` means."""
    keys = key if isinstance(key, tuple) else (key,)
    if sum(one is Ellipsis for one in keys) > 1 or len(keys) - (Ellipsis in _plain(keys)) > len(dims):
        raise InvalidIndexError(f"'{path}': {len(keys)} indices for {len(dims)} dimensions")
    if Ellipsis not in _plain(keys):
        keys = (*keys, Ellipsis)
    at = _plain(keys).index(Ellipsis)
    keys = keys[:at] + (slice(None),) * (len(dims) - len(keys) + 1) + keys[at + 1 :]
    axes = []
    for one, size in zip(keys, dims, strict=True):
        if isinstance(one, slice):
            axes.append(_of_slice(one, size))
        elif _is_integer(one):
            number = operator.index(one)
            if not -size <= number < size:
                raise InvalidIndexError(f"'{path}': index {number} is outside a dimension of {size}")
            axes.append(Axis(number % size, 1, 1, kept=False))
        else:
            axes.append(_of_list(one, size, path))
    if sum(axis.listed for axis in axes) > 1:
        raise InvalidIndexError(f"'{path}': more than one list of indices; put or get one after the other")
    return Selection(axes, at)


def _is_integer(one: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.ndim == 0 and one.dtype.kind in "iu"
    return hasattr(one, "__index__") and not isinstance(one, (bool, np.bool_))


def has_dots(key: Any) -> bool:
    """Tells whether an index has an Ellipsis, with which NumPy returns an array, even of one
    value."""
    return Ellipsis in _plain(key if isinstance(key, tuple) else (key,))


def without_newaxis(key: Any, path: str) -> "tuple[Any, tuple[Any, ...] | None]":
    """Returns the index without np.newaxis, and the one that puts these dimensions into the array
    that it means; None where it has none."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(one is None for one in keys):
        return key, None
    left = tuple(one for one in keys if one is not None)
    lists = [one for one in left if one is not Ellipsis and not isinstance(one, slice) and not _is_integer(one)]
    if lists and any(_is_integer(one) for one in left):
        raise InvalidIndexError(f"'{path}': np.newaxis beside a list and an integer: add the dimension to what was read")
    puts = [one if one is None or one is Ellipsis else slice(None) for one in keys if one is None or not _is_integer(one)]
    return left, tuple(puts if Ellipsis in _plain(tuple(puts)) else [*puts, Ellipsis])


class Mask:
    """A mask of booleans in the shape of a dataset of more than one dimension."""

    def __init__(self, mask: np.ndarray) -> None:
        self.mask = mask
        self.count = int(np.count_nonzero(mask))

    def box(self) -> tuple[slice, ...]:
        """Returns the smallest box that has all that it means."""
        sides = []
        for axis in range(self.mask.ndim):
            others = tuple(i for i in range(self.mask.ndim) if i != axis)
            found = np.flatnonzero(self.mask.any(axis=others))
            sides.append(slice(int(found[0]), int(found[-1]) + 1) if found.size else slice(0, 0))
        return tuple(sides)

    def is_dense(self, box: tuple[slice, ...], itemsize: int) -> bool:
        """Tells whether the box is read sooner than single elements."""
        elements = math.prod(side.stop - side.start for side in box)
        return elements * itemsize <= min(_MOST_BOX_BYTES, max(_LEAST_BOX_BYTES, 64 * self.count * itemsize))

    def offsets(self) -> np.ndarray:
        return np.flatnonzero(self.mask)


_LEAST_BOX_BYTES = 1 << 20


def mask_of(key: Any, dims: tuple[int, ...], path: str) -> "Mask | None":
    """Returns the mask of the whole dataset that an index is; None for others."""
    keys = tuple(one for one in (key if isinstance(key, tuple) else (key,)) if one is not Ellipsis)
    if len(keys) != 1 or not isinstance(keys[0], (np.ndarray, list)):
        return None
    mask = np.asarray(keys[0])
    if mask.dtype != bool or mask.ndim < 2:
        return None
    if mask.shape != dims:
        raise InvalidIndexError(f"'{path}': a mask of shape {mask.shape} for a dataset of {dims}")
    return Mask(mask)


def _plain(keys: tuple[Any, ...]) -> list[Any]:
    """The keys, lists and arrays left out: comparing those with Ellipsis would compare
    their elements."""
    return [one if one is Ellipsis else None for one in keys]


def sorted_once(selection: Selection) -> tuple[Any, ...]:
    """Makes a list increase, each index once. Returns where what is read then has what was asked
    for: everything, but a list in its own order."""
    which = selection.list_axis
    if which is None:
        return () if not selection.shape else (...,)
    axis = selection.axes[which]
    axis.indices, back = np.unique(axis.indices, return_inverse=True)
    axis.count = axis.indices.size
    selection.__post_init__()
    if back.size == axis.count and np.array_equal(back, np.arange(back.size)):
        return (...,)
    return (*[slice(None)] * selection.axis_of(which), back)


def sorted_by_list(selection: Selection, array: np.ndarray, path: str) -> np.ndarray:
    """Returns the array in the order of increasing indices: itself where they are."""
    which = selection.list_axis
    if which is None:
        return array
    indices = selection.axes[which].indices
    order = np.argsort(indices, kind="stable")
    selection.axes[which].indices = indices[order]
    if np.any(np.diff(selection.axes[which].indices) == 0):
        raise InvalidArgumentError(f"'{path}': an index comes twice in a list: which of its values is meant?")
    if np.array_equal(order, np.arange(order.size)):
        return array
    return np.take(array, order, axis=selection.axis_of(which))
