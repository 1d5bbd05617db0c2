"""Arrays of NumPy as the library takes them: which numbers it moves, and what they mean."""

from typing import Any

import numpy as np

from ._tables import NUMBERS
from .errors import UnsupportedError

_AS_THEY_ARE = {np.dtype(name) for name in NUMBERS}  # arrays that the library takes


# What numbers mean where their type alone doesn't say it: NumPy's type, the option "meaning", and
# the numbers that the library moves.
MEANINGS = {
    np.dtype("bool"): ("bool", np.dtype("uint8")),
    np.dtype("float16"): ("half", np.dtype("uint16")),
    np.dtype("complex64"): ("complex", np.dtype("float32")),
    np.dtype("complex128"): ("complex", np.dtype("float64")),
}
HALF = np.dtype("float16")
EXACT = {np.dtype("bool"), HALF}  # which the library doesn't convert
MEANT_BY_NAME = {dtype.name: dtype for dtype in MEANINGS}


def element_of(dtype: Any) -> int:
    native = np.dtype(dtype).newbyteorder("=")
    native = MEANINGS[native][1] if native in MEANINGS else native
    if native not in _AS_THEY_ARE:
        raise UnsupportedError(f"datasets hold integers, floats, complex numbers and records, not {np.dtype(dtype)}")
    return NUMBERS[native.name]


def as_numbers(array: np.ndarray) -> np.ndarray:
    """The numbers of an array, without a copy; complex ones are pairs along one dimension more, and
    records and strings their bytes."""
    if array.dtype.fields is not None or array.dtype.kind == "S":
        return array[..., np.newaxis].view(np.uint8)
    meaning = MEANINGS.get(array.dtype)
    if meaning is None:
        return array
    return (array[..., np.newaxis] if array.dtype.kind == "c" else array).view(meaning[1])


def has_strides_of_elements(array: np.ndarray) -> bool:
    """Whether the distances of elements are multiples of their size, as in all but members of
    packed records."""
    size = array.itemsize
    for stride in array.strides:  # a loop: this is asked of every array that is put
        if stride % size:
            return False
    return True


def array_of(value: Any) -> np.ndarray:
    """`value` as an array of the CPU, without a copy where it is one in this
    machine's byte order. For the library: as_numbers()."""
    if type(value) is np.ndarray and value.dtype in _AS_THEY_ARE and has_strides_of_elements(value):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        value = np.from_dlpack(value)
    array = np.asanyarray(value)
    if array.dtype.fields is not None:
        return array
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    element_of(array.dtype)
    if not has_strides_of_elements(array):
        array = array.copy()
    return array
