"""Servers and clients of a store that are not of one version: each speaks its own and the one
before.

With STRIA_OLD_PROGRAM, the older side is that program, a build of the version before. Without it,
this program speaks as that did (STRIA_WIRE_VERSION)."""

import concurrent.futures
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time

import pytest
import stria_program
from mounting import mounted, skip_without_fuse
from store_processes import OLD_PROGRAM, OLD_VERSION, Store
from stria_program import PROGRAM, run

SERVERS = 3
NEW_VERSION = str(int(OLD_VERSION) + 1)


@pytest.fixture
def as_client(monkeypatch):
    """Has the commands that follow speak as one of the version before, or as one of this."""

    def choose(old):
        monkeypatch.setattr(stria_program, "PROGRAM", OLD_PROGRAM if old else PROGRAM)
        if old:
            monkeypatch.setenv("STRIA_WIRE_VERSION", OLD_VERSION)
        else:
            monkeypatch.delenv("STRIA_WIRE_VERSION", raising=False)

    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "60")
    return choose


@contextlib.contextmanager
def store_of(directory, old):
    directory.mkdir(exist_ok=True)
    with contextlib.closing(Store(directory, SERVERS, old=old)) as servers:
        yield servers


def versions(store):
    return [entry["figures"].get("protocol_version") for entry in json.loads(run("status", "--json", store.url).stdout)]


def use_commands(url, work, content):
    (work / "content").write_bytes(content)
    run("mkdir", f"{url}/in").succeeded()
    run("cp", "--sync", work / "content", f"{url}/in/file").succeeded()
    run("cp", f"{url}/in/file", work / "back").succeeded()
    assert (work / "back").read_bytes() == content
    assert "file" in run("ls", "-l", f"{url}/in").succeeded().stdout
    assert str(len(content)) in run("stat", f"{url}/in/file").succeeded().stdout
    run("chmod", "640", f"{url}/in/file").succeeded()
    run("mv", f"{url}/in/file", f"{url}/in/other").succeeded()
    run("cp", f"{url}/in/file", work / "back").refused("No such file")
    run("scrub", url).succeeded()
    run("fsck", url).succeeded()
    assert run("df", url).succeeded().stdout
    run("rm", f"{url}/in/other").succeeded()


def use_mount(directory, content):
    place = directory / "mounted"
    place.mkdir()
    for number in range(70):  # more than are closed at a time
        path = place / f"small_{number}"
        path.write_bytes(content[:number])
        assert path.stat().st_size == number
    (place / "large").write_bytes(content)
    assert (place / "large").read_bytes() == content
    (place / "large").rename(place / "renamed")
    assert sorted(path.name for path in place.iterdir()) == sorted(["renamed", *(f"small_{n}" for n in range(70))])
    with pytest.raises(FileExistsError):
        (place / "renamed").open("x")
    os.symlink("renamed", place / "link")
    assert (place / "link").read_bytes() == content
    shutil.rmtree(place)


def check_versions(store, old_servers):
    expected = [int(OLD_VERSION if index in old_servers else NEW_VERSION) for index in range(SERVERS)]
    told = versions(store)
    if OLD_PROGRAM != PROGRAM:  # it may not tell
        told = [int(OLD_VERSION) if version is None else version for version in told]
    assert told == expected


old_clients = pytest.mark.parametrize("old_client", [False, True], ids=["new_client", "old_client"])
old_stores = pytest.mark.parametrize(
    "old_servers", [set(), {0}, {1}, {0, 1, 2}], ids=["new", "old_manager", "old_server", "old"]
)


@old_clients
@old_stores
def test_commands_work_with_the_version_before(work, as_client, old_client, old_servers):
    with store_of(work / "store", old_servers) as store:
        as_client(old_client)
        use_commands(store.url, work, random.Random(5).randbytes(1_000_003))
        as_client(False)
        check_versions(store, old_servers)


@old_clients
@old_stores
def test_a_mount_works_with_the_version_before(work, as_client, old_client, old_servers):
    skip_without_fuse()
    with store_of(work / "store", old_servers) as store:
        as_client(old_client)
        with mounted(store.url, work / "mount") as directory:
            use_mount(directory, random.Random(6).randbytes(1_000_003))
        as_client(False)
        run("fsck", store.url).succeeded()


# Writes a file of so many bytes that follow on its standard input, and says when that is done.
WRITER = """
import sys
while line := sys.stdin.buffer.readline():
    count, path = line.split(maxsplit=1)
    content = sys.stdin.buffer.read(int(count))
    with open(path.strip(), "wb") as file:
        file.write(content)
    print("written", flush=True)
"""


@contextlib.contextmanager
def writing_process(directory):
    """Gives a function that writes a file there from another process. This one starts servers: a
    process that it forks closes the files that are open here, and in a mount that waits for the
    servers."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:

        def write(name, content):
            process.stdin.write(b"%d %s\n" % (len(content), os.fsencode(directory / name)) + content)
            process.stdin.flush()
            said = process.stdout.readline()
            assert said == b"written\n", process.stderr.read().decode()

        try:
            yield write
        finally:
            process.stdin.close()


def write_until(ends, write, written):
    """Writes files, and notes what of each was acknowledged, until it is told to end."""
    while not ends.is_set():
        content = random.Random(len(written)).randbytes(150_000)
        write(f"file_{len(written)}", content)
        written.append(content)


def upgrade_each(store, written, is_alive):
    """The servers, then the manager, each of them once some more was written."""
    for index in [*range(1, SERVERS), 0]:
        enough = len(written) + 3
        store.end(index)
        store.old.discard(index)
        store.start(index)
        while len(written) < enough and is_alive():
            time.sleep(0.02)


def upgrade_beside(store, write):
    """Upgrades the store while a thread writes; returns what was written."""
    written = []
    ends = threading.Event()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        writer = pool.submit(write_until, ends, write, written)
        try:
            upgrade_each(store, written, lambda: not writer.done())
        finally:
            ends.set()
        writer.result()
    return written


def check_upgraded(store, work, written):
    assert len(written) >= 3 * SERVERS
    assert versions(store) == [int(NEW_VERSION)] * SERVERS
    for number, content in enumerate(written):
        run("cp", f"{store.url}/file_{number}", work / "back").succeeded()
        assert (work / "back").read_bytes() == content, number
    run("fsck", store.url).succeeded()


def test_a_store_is_upgraded_while_commands_write(work, as_client):
    def put(name, content):
        (work / "source").write_bytes(content)
        run("cp", "--sync", work / "source", f"{store.url}/{name}").succeeded()

    with store_of(work / "store", set(range(SERVERS))) as store:
        as_client(True)
        written = upgrade_beside(store, put)
        as_client(False)
        check_upgraded(store, work, written)


@old_clients
def test_a_store_is_upgraded_below_a_mount(work, as_client, old_client):
    skip_without_fuse()
    with store_of(work / "store", set(range(SERVERS))) as store:
        as_client(old_client)
        with mounted(store.url, work / "mount") as directory, writing_process(directory) as write:
            written = upgrade_beside(store, write)
        as_client(False)
        check_upgraded(store, work, written)


def test_a_version_that_nobody_speaks_is_refused(work, as_client, monkeypatch):
    with store_of(work / "store", set()) as store:
        as_client(False)
        for wrong in ["2", "99", "four", "4x"]:
            monkeypatch.setenv("STRIA_WIRE_VERSION", wrong)
            run("ls", store.url).refused("STRIA_WIRE_VERSION is 3 or 4", wrong)
            run("serve", "--dir", work / "other", "--listen", "127.0.0.1:0").refused("STRIA_WIRE_VERSION is 3 or 4")
