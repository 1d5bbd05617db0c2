"""Threads that read one file take turns.

Problem: the library lets one thread at a time use a file, and dask's threads, as those of any pool,
read from one. Method: a lock for each file that one process reads; every call of the library takes
it, and a read, which is several of them, holds it from the first to the last. Where ranks share a
file their calls have an order, which threads would mix up: there a second thread is an error.
"""

import os
import threading
from typing import Any
from weakref import WeakSet


class Turn:
    """A lock that a thread may take again while it has it. A forked process has a new one: the
    thread that had the old one isn't there."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _turns.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def begin_again(self) -> None:
        self._lock = threading.RLock()


class TakingTurns:
    """The library's handle of a file, each of whose calls waits for its turn."""

    def __init__(self, handle: Any, turn: Turn) -> None:
        self._handle = handle
        self._turn = turn

    @property
    def is_open(self) -> bool:
        return self._handle.is_open

    def __getattr__(self, name: str) -> Any:
        """This is called once for each name: what it returns is kept."""
        call = getattr(self._handle, name)
        turn = self._turn

        def in_turn(*arguments: Any) -> Any:
            with turn:
                return call(*arguments)

        self.__dict__[name] = in_turn
        return in_turn


_turns: "WeakSet[Turn]" = WeakSet()


def _begin_again() -> None:
    for turn in _turns:
        turn.begin_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
