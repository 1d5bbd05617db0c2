"""Strings of Python and NumPy as the library takes them."""

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnsupportedError


def texts_of(what: str, value: Any) -> list[str]:
    """The strings of one, a list or an array, in C order; bytes are UTF-8, or else as os.fsdecode()
    has them. `what` has them, for messages."""
    values = [value] if isinstance(value, (str, bytes)) else np.array(value, dtype=object).reshape(-1).tolist()
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
    """What NumPy makes of a value; lists of strings and bytes, which needn't be ASCII for it, are
    objects."""
    try:
        return np.asarray(value)
    except UnicodeDecodeError:
        return np.asarray(value, object)


def text_of_name(name: Any) -> str:
    """A name, which h5py may have as bytes: those that aren't UTF-8 become surrogates, as
    os.fsdecode() has them."""
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else str(name)
