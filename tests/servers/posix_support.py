"""Holds what the cases of POSIX share (posix_cases.py): their register, calls, and their
outcomes."""

import contextlib
import errno
import os
import stat
import time

CASES = {}
STRANGER = 65534
LONG = "n" * 255
LONGER = "n" * 256


def case(group):
    def add(function):
        CASES[f"{group}: {function.__name__.strip('_').replace('_', ' ')}"] = function
        return function

    return add


def outcome(call, *arguments, **options):
    """Returns what a call gives, or the name of its error."""
    try:
        value = call(*arguments, **options)
    except OSError as error:
        return errno.errorcode.get(error.errno, error.errno)
    return "ok" if value is None else value


@contextlib.contextmanager
def as_stranger():
    """Becomes a user to whom nothing here belongs."""
    os.setegid(STRANGER)
    os.seteuid(STRANGER)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def by_stranger(call, *arguments, **options):
    with as_stranger():
        return outcome(call, *arguments, **options)


def make(path, content=b"content"):
    path.write_bytes(content)
    return path


def mode(path):
    return oct(stat.S_IMODE(os.lstat(path).st_mode))


def opened(path, flags, mode=0o644):
    os.close(os.open(path, flags, mode))


def pause():
    """Waits long enough for a later time, on clocks that tick a hundred times a second."""
    time.sleep(0.03)


def moves_on(path, change, which):
    """Tells whether the time of that name moves when something is done."""
    before = getattr(os.lstat(path), which)
    pause()
    change()
    # A kernel may know attributes for a second.
    time.sleep(1.05)
    return getattr(os.lstat(path), which) > before
