"""Files that are copied into a store while something happens to it."""

import threading
import time

from waiting import wait_until


class Copies:
    """Copies files, one after another, until it is told to end or a copy fails. `copy(number,
    name)` raises where it fails; each name in `copied` was acknowledged."""

    def __init__(self, copy):
        self.copy = copy
        self.copied = []
        self.failed = []
        self.ends = False
        self.between_copies = threading.Lock()
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, raised, *_):
        self.ends = True
        self.thread.join()
        assert raised or self.failed == []

    def work(self):
        while not self.ends:
            name = f"file_{len(self.copied)}"
            with self.between_copies:
                try:
                    self.copy(len(self.copied), name)
                except AssertionError as error:
                    self.failed.append(str(error))
                    return
            self.copied.append(name)
            time.sleep(0.01)  # for whoever waits for the lock

    def goes_on(self):
        count = len(self.copied)
        wait_until(lambda: len(self.copied) > count + 2 or not self.thread.is_alive())
        assert self.failed == []
        assert self.thread.is_alive()
