"""Strings of Python and NumPy as the library takes them."""

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnsupportedError


def texts_of(what: str, value: Any) -> list[str]:
    """Returns the strings of one, a list or an array, in C order; bytes are UTF-8, or else as
    os.fsdecode() has them. `what` has them, for messages."""
    values = [value] if isinstance(value, (str, bytes)) else np.array(value, dtype=object).reshape(-1).tolist()
    values = [one.item() if isinstance(one, np.generic) else one for one in values]
    texts = []
    for one in values:
        if not isinstance(one, (str, bytes)):
            raise UnsupportedError(f"{what}: {one!r} is neither a string nor a number of at most 64 bits")
        text = one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else str(one)
        if "\0" in text:
            raise InvalidArgumentError(f"{what}: {text!r} has a NUL, where it would end in the file")
        texts.append(text)
    return texts


def array_of_texts(value: Any) -> np.ndarray:
    """Returns what NumPy makes of a value; lists of strings and bytes, which needn't be ASCII for
    it, are objects."""
    try:
        return np.asarray(value)
    except UnicodeDecodeError:
        return np.asarray(value, object)


def is_text(dtype: Any) -> bool:
    """Tells whether a dtype is one of Python's strings: NumPy's own, its StringDType, str, or
    h5py's string_dtype() of any length."""
    if dtype is None:
        return False
    kind = np.dtype(dtype)
    return kind.kind in "UT" or (kind.kind == "O" and (kind.metadata or {}).get("vlen") is str)


def holds_text(array: np.ndarray) -> bool:
    """Tells whether an array has strings of Python: bytes are no text."""
    if array.dtype.kind == "O":
        return array.size > 0 and all(isinstance(one, str) for one in array.reshape(-1).tolist())
    return is_text(array.dtype)


def text_of_name(name: Any) -> str:
    """Returns a name, which h5py may have as bytes: those that aren't UTF-8 become surrogates, as
    os.fsdecode() has them."""
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else str(name)
