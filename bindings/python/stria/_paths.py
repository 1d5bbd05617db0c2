"""Names of files as the library takes them."""

import os
import re
from typing import Any

from .errors import UnsupportedError, WrongTypeError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_OF_STORES = {"stria", "rados"}


def path_of(path: Any) -> str:
    """Returns a path, of text, bytes or os.PathLike; or a name in a store."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise WrongTypeError(f"the path of a file is a string, bytes or os.PathLike, not {type(path).__name__}") from None
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1].lower() in _OF_STORES:
        return text
    if scheme[1].lower() == "file":
        raise UnsupportedError(f"'{text}': give the path itself, without 'file://'")
    raise UnsupportedError(
        f"'{text}': files are on file systems, or in stores as stria:// and rados://, and not at {scheme[0]}; copy it here, "
        "or mount what holds it"
    )
