"""Servers that are started before their store's manager wait for it, and say so; what waiting can't
mend ends them at once."""

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from subprocess import DEVNULL, PIPE

import pytest
from standby_support import address_url, log_of, wait_for_standby
from store_processes import Store, lasting_port, new_key
from stria_program import PROGRAM, run
from waiting import PATIENCE_SECONDS, wait_until

SERVERS = 4
STANDBY = 1
# More than a server was ever patient for before it ended.
LONG_SECONDS = 7
SOON_SECONDS = 60  # an attempt takes less than one; a process that waits does so without an end


@pytest.fixture
def key(work, monkeypatch):
    path = new_key(work / "key")
    monkeypatch.setenv("STRIA_KEY_FILE", str(path))
    return path


@contextlib.contextmanager
def stopped_store(work, key, **options):
    """Gives a store that was there, all of whose servers have ended."""
    with contextlib.closing(Store(work, SERVERS, key=key, **options)) as store:
        for address in store.addresses:
            if address.endswith(":0"):
                pytest.skip("no port that stays free")
        yield store


class Started:
    """Servers that are starting, each of which says by a line that it is there."""

    def __init__(self, store, indices):
        self.threads = [threading.Thread(target=store.start, args=[index]) for index in indices]
        for thread in self.threads:
            thread.start()

    def are_waiting(self):
        return all(thread.is_alive() for thread in self.threads)

    def join(self):
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive(), "it still waits"


def is_said(store, index, times):
    return log_of(store, index).count("waits_for_manager") >= times


def test_all_servers_are_started_before_the_manager(work, key):
    content = random.Random(1).randbytes(2_000_003)
    (work / "content").write_bytes(content)
    with stopped_store(work, key) as store:
        run("cp", "--sync", work / "content", f"{store.url}/before").succeeded()
        for index in reversed(range(SERVERS)):
            assert store.end(index) == 0
        starting = Started(store, [3, 1, 2])
        time.sleep(LONG_SECONDS)
        assert starting.are_waiting()
        for index in (1, 2, 3):
            assert is_said(store, index, 1)
            told = log_of(store, index)
            assert f"waits for the store's manager (--join): server {store.addresses[0]} doesn't answer" in told, told
            assert told.count("waits_for_manager") <= 3, "one line for a reason"
        store.start(0)
        starting.join()
        run("status", "--wait", SERVERS, store.url).succeeded()
        run("cp", f"{store.url}/before", work / "back").succeeded()
        assert (work / "back").read_bytes() == content
        run("cp", work / "content", f"{store.url}/after").succeeded()
        described = json.loads(run("stat", "--json", f"{store.url}/after").succeeded().stdout)
        assert len(described["servers"]) == SERVERS


def start_alone(directory, *options, key=None):
    environment = {**os.environ, **({"STRIA_KEY_FILE": str(key)} if key else {})}
    command = [PROGRAM, "serve", "--dir", directory, "--listen", "127.0.0.1:0", *options]
    return subprocess.Popen(list(map(str, command)), env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_one_that_waits_ends_when_it_is_told_to(work, key, how):
    process = start_alone(work / "alone", "--join", f"127.0.0.1:{lasting_port() or 9}")
    assert "waits for the store's manager" in process.stderr.readline()
    begin = time.monotonic()
    process.send_signal(how)
    stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0 and stdout == ""
    assert "ended while it waited for the store's manager" in stderr
    assert time.monotonic() - begin < SOON_SECONDS


def refused_at_once(process, *words):
    begin = time.monotonic()
    _, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode not in (0, None) and time.monotonic() - begin < SOON_SECONDS
    assert all(word in stderr for word in words), stderr
    assert "waits_for_manager" not in stderr


def test_what_waiting_cannot_mend_ends_it(work, key):
    (work / "others").mkdir()
    other_key = new_key(work / "other_key")
    with stopped_store(work, key) as store, contextlib.closing(Store(work / "others", 1, key=key)) as others:
        refused_at_once(start_alone(work / "new", "--join", store.addresses[1]), "no manager of names", store.addresses[1])
        refused_at_once(start_alone(work / "new", "--join", store.addresses[0], key=other_key), "another key")
        refused_at_once(start_alone(work / "new", "--encrypt", "--join", store.addresses[0]), "encrypt")
        assert store.end(2) == 0
        refused_at_once(start_alone(work / "2", "--join", others.addresses[0]), "another store's files")
        # The same, found when it has waited.
        assert others.end(0) == 0
        process = start_alone(work / "2", "--join", others.addresses[0])
        assert "waits for the store's manager" in process.stderr.readline()
        others.start(0)
        _, stderr = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode not in (0, None) and "another store's files" in stderr, stderr


def test_a_standby_takes_over_from_a_manager_that_never_comes(work, key):
    (work / "content").write_bytes(b"content" * 50_000)
    with stopped_store(work, key, standby=STANDBY) as store:
        run("cp", "--sync", work / "content", f"{store.url}/before").succeeded()
        wait_for_standby(store, STANDBY)
        for index in range(SERVERS):
            store.kill(index)
        starting = Started(store, [2, 3])
        for index in (2, 3):
            wait_until(lambda index=index: is_said(store, index, 1))
        store.start(STANDBY)
        assert starting.are_waiting()
        assert "is the manager now" in run("promote", address_url(store, STANDBY)).succeeded().stdout
        starting.join()
        run("cp", work / "content", f"{store.url}/after").succeeded()
        store.start(0)
        for name in ("before", "after"):
            run("cp", f"{store.url}/{name}", work / "back").succeeded()
            assert (work / "back").read_bytes() == b"content" * 50_000
