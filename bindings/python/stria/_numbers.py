"""Arrays of NumPy as the library takes them: which numbers it moves, and what they mean."""

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._tables import MEANT, NUMBERS
from .errors import InvalidArgumentError, UnsupportedError, WrongTypeError

_AS_THEY_ARE = {np.dtype(name) for name in NUMBERS}  # arrays that the library takes


# What numbers mean where their type alone doesn't say it: the library's Meaning, and the numbers
# that it moves.
MEANINGS = {np.dtype(name): (meaning, np.dtype(number)) for name, (meaning, number) in MEANT.items()}
HALF = np.dtype("float16")
EXACT = {np.dtype("bool"), HALF}  # types that the library doesn't convert
# What DLPack calls memory that the CPU reaches: its own, CUDA's and ROCm's on the host, managed.
_HOSTS = {1, 3, 11, 13}
MEANT_BY_NAME = {dtype.name: dtype for dtype in MEANINGS}


def element_of(dtype: Any, path: str = "") -> int:
    native = np.dtype(dtype).newbyteorder("=")
    native = MEANINGS[native][1] if native in MEANINGS else native
    if native not in _AS_THEY_ARE:
        where = f"'{path}': " if path else ""
        raise UnsupportedError(
            f"{where}datasets hold integers, floats, complex numbers, records and strings of bytes, not {np.dtype(dtype)}"
        )
    return NUMBERS[native.name]


def as_numbers(array: np.ndarray) -> np.ndarray:
    """Returns the numbers of an array, without a copy; complex ones are pairs along one dimension
    more, and records and strings their bytes."""
    if array.dtype.fields is not None or array.dtype.kind == "S":
        return array[..., np.newaxis].view(np.uint8)
    meaning = MEANINGS.get(array.dtype)
    if meaning is None:
        return array
    return (array[..., np.newaxis] if array.dtype.kind == "c" else array).view(meaning[1])


def has_strides_of_elements(array: np.ndarray) -> bool:
    """Tells whether the distances of elements are multiples of their size, as in all but members of
    packed records."""
    size = array.itemsize
    for stride in array.strides:  # a loop: this is asked of every array that is put
        if stride % size:
            return False
    return True


def _of_this_machine(value: Any) -> Any:
    """Returns an array of another library as one of NumPy; anything else as it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    by_dlpack = hasattr(value, "__dlpack__")
    if by_dlpack:
        on_device = int(value.__dlpack_device__()[0]) not in _HOSTS
    else:
        on_device = hasattr(value, "__cuda_array_interface__") and not hasattr(value, "__array_interface__")
    if on_device:
        raise UnsupportedError(
            f"an array ({type(value).__name__}) in the memory of a device: give a copy in that of the host, by .get() of CuPy, "
            ".cpu() of PyTorch, numpy.asarray() of JAX"
        )
    try:
        return np.from_dlpack(value) if by_dlpack else value
    except (BufferError, RuntimeError) as error:
        raise UnsupportedError(f"an array ({type(value).__name__}) that NumPy can't take: {error}") from error


def target_of(path: str, out: Any) -> np.ndarray:
    """The array, of NumPy or of another library on the CPU, whose memory is to be filled."""
    array = out if isinstance(out, np.ndarray) else _of_this_machine(out)
    if not isinstance(array, np.ndarray):
        if not hasattr(array, "__array_interface__") or isinstance(array, np.generic):
            raise WrongTypeError(
                f"'{path}': a read fills an array, not {type(out).__name__}: make one by numpy.empty(shape, dtype), or take "
                "what dataset[index] gives"
            )
        array = np.asarray(array)
    if not array.flags.writeable:
        raise InvalidArgumentError(f"'{path}': the array to be filled is read-only: give one that may change, such as a copy")
    return array


def lengths_of(what: str, lengths: "Iterable[Any]") -> list[int]:
    """Returns lengths of dimensions."""
    try:
        numbers = [operator.index(length) for length in lengths]
    except TypeError:
        raise WrongTypeError(f"{what}: lengths are integers, not {lengths!r}") from None
    if any(number < 0 for number in numbers):
        raise InvalidArgumentError(f"{what}: a length is negative in {numbers}")
    return numbers


def array_of(value: Any, path: str = "") -> np.ndarray:
    """`value` as an array of the CPU, without a copy where it is one in this
    machine's byte order. For the library: as_numbers(). `path`: of the dataset, for messages."""
    if type(value) is np.ndarray and value.dtype in _AS_THEY_ARE and has_strides_of_elements(value):
        return value
    array = np.asanyarray(_of_this_machine(value))
    if array.dtype.fields is not None:
        return array
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    element_of(array.dtype, path)
    if not has_strides_of_elements(array):
        array = array.copy()
    return array


def is_private(array: np.ndarray, value: Any) -> bool:
    """Tells whether `array`, made of `value`, is an array of its own, which nobody else can
    change."""
    if array is value:
        return False
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and not np.may_share_memory(array, value))


def copy_of(array: np.ndarray) -> np.ndarray:
    """Returns a copy, in which values that repeat still take no memory."""
    once = tuple(slice(1) if stride == 0 else slice(None) for stride in array.strides)
    return np.broadcast_to(array[once].copy(), array.shape)
