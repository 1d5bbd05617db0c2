"""Strings of Python and NumPy as the library takes them."""

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnsupportedError


def texts_of(what: str, value: Any) -> list[str]:
    """The strings of one, a list or an array, in C order; bytes are UTF-8. `what` has them, for
    messages."""
    values = [value] if isinstance(value, (str, bytes)) else np.array(value, dtype=object).reshape(-1).tolist()
    texts = []
    for one in values:
        if not isinstance(one, (str, bytes)):
            raise UnsupportedError(f"{what}: {one!r} is neither a string nor a number of at most 64 bits")
        text = one.decode() if isinstance(one, bytes) else str(one)
        if "\0" in text:
            raise InvalidArgumentError(f"{what}: {text!r} has a NUL, where it would end in the file")
        texts.append(text)
    return texts
