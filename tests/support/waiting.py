"""Waiting for what comes true by itself, however slow the machine is."""

import time

PATIENCE_SECONDS = 200


def wait_until(holds):
    """Returns once `holds()` is true; where that lasts too long, the test fails."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} s"
        time.sleep(0.1)
