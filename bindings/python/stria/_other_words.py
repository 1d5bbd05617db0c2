"""Describes what users of h5py write out of habit, in the words of this package."""

from collections.abc import Iterable

from .errors import WrongTypeError

_OPTIONS = {
    "compression": 'compress="gzip"',
    "compression_opts": "compress=, which has no levels",
    "scaleoffset": 'compress="scale_offset"',
    "fillvalue": "fill_value=",
    "maxshape": "a first length of None, such as shape=(None, 3), for rows that come later",
    "track_order": "stria.create(..., track_order=True)",
}
_MEMBERS = {
    "create_group": 'groups are made with what is in them: create_dataset("group/name", ...)',
    "require_group": 'groups are made with what is in them: create_dataset("group/name", ...)',
    "require_dataset": "create_dataset() makes a new one, update() takes up one of a file that stria.append() has opened",
    "filename": "that is File.path",
    "mode": "File.writing tells whether it is written",
    "swmr_mode": "readers see a file that grows at each commit, without a mode",
}


def refuse_options(path: str, names: "Iterable[str]") -> None:
    """Raises WrongTypeError for the first of some unknown options of create_dataset()."""
    for name in names:
        meant = f"; use {_OPTIONS[name]}" if name in _OPTIONS else ""
        raise WrongTypeError(f"'{path}': create_dataset() has no option '{name}'{meant}")


def missing_member(name: str) -> str:
    """Returns what to say of a File's attribute that isn't there."""
    meant = f": {_MEMBERS[name]}" if name in _MEMBERS else ""
    return f"'File' object has no attribute '{name}'{meant}"
