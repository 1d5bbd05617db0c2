"""Users and directories have no more of a store than their quotas say."""

import contextlib
import errno
import json
import os
import subprocess
import time

import pytest
from mounting import mounted, skip_without_fuse, store_to_mount
from store_processes import Store
from stria_program import run
from waiting import wait_until

USER = 12345


@pytest.fixture
def store(work, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "5")
    (work / "store").mkdir()
    servers = Store(work / "store", 2)
    yield servers
    servers.close()


@contextlib.contextmanager
def refused(code):
    """What is done within fails with that number of the system."""
    with pytest.raises(OSError) as refusal:
        yield
    assert refusal.value.errno == code


def put(store, work, name, size=1_000_000):
    (work / "content").write_bytes(bytes(size))
    return run("cp", "--sync", work / "content", f"{store.url}/{name}")


def quotas(store):
    return json.loads(run("quota", "show", "--json", store.url).succeeded().stdout)


def is_counted(store, bytes_used, files):
    def holds():
        [quota] = quotas(store)
        return quota["counted"] and (quota["bytes"], quota["files"]) == (bytes_used, files)

    return holds


def test_a_directory_has_no_more_than_its_quota(store, work):
    run("mkdir", f"{store.url}/project").succeeded()
    put(store, work, "project/before").succeeded()
    put(store, work, "elsewhere").succeeded()
    assert run("quota", "show", store.url).succeeded().stdout == "no quotas\n"
    run("quota", "set", f"{store.url}/project", "--space", "3MB").succeeded()
    wait_until(is_counted(store, 1_000_000, 1))
    put(store, work, "project/below/more").succeeded()
    put(store, work, "project/last").succeeded()
    wait_until(is_counted(store, 3_000_000, 3))
    put(store, work, "project/no").refused("Disk quota exceeded", "the directory '/project' has 3.0 MB of at most 3.0 MB")
    put(store, work, "elsewhere").succeeded()
    run("rm", f"{store.url}/project/last").succeeded()
    wait_until(is_counted(store, 2_000_000, 2))
    run("mv", f"{store.url}/elsewhere", f"{store.url}/project/came").succeeded()
    wait_until(is_counted(store, 3_000_000, 3))
    run("mv", f"{store.url}/project/below", f"{store.url}/below").succeeded()
    wait_until(is_counted(store, 2_000_000, 2))
    text = run("quota", "show", store.url).succeeded().stdout
    assert "/project" in text and "2.0 MB of 3.0 MB" in text, text
    run("quota", "set", f"{store.url}/project", "--none").succeeded()
    assert quotas(store) == []
    for index in range(3):
        put(store, work, f"project/{index}").succeeded()


def test_a_user_has_no_more_files_than_the_quota(store, work):
    run("quota", "set", store.url, "--user", os.getuid(), "--files", 3).succeeded()
    for index in range(3):
        put(store, work, f"file_{index}", 10).succeeded()
    put(store, work, "file_3", 10).refused("Disk quota exceeded", f"user {os.getuid()} has 3 of at most 3 files")
    wait_until(lambda: quotas(store)[0]["files"] == 3)
    run("rm", f"{store.url}/file_0").succeeded()
    wait_until(lambda: put(store, work, "file_3", 10).code == 0)
    # Everything is as before after a restart of all.
    for index in (1, 0):
        store.end(index)
    for index in (0, 1):
        store.start(index)
    wait_until(lambda: [server["state"] for server in json.loads(run("df", "--json", store.url).stdout)] == ["up"] * 2)
    put(store, work, "file_4", 10).refused("Disk quota exceeded")
    run("quota", "set", store.url, "--user", os.getuid(), "--files", 9).succeeded()
    put(store, work, "file_4", 10).succeeded()
    run("quota", "set", store.url, "--user", USER, "--space", "1 GB").succeeded()
    assert [(quota["bytes_limit"], quota["files_limit"]) for quota in quotas(store)] == [(0, 9), (1_000_000_000, 0)]


def test_what_is_said_wrongly_is_refused(store):
    run("quota", "set", store.url, "--space", "1GB").refused("directory's")
    run("quota", "set", store.url, "--user", USER).refused("say how much")
    run("quota", "set", store.url, "--user", USER, "--space", "much").refused("'much' is no space")
    run("quota", "set", store.url, "--user", USER, "--space", "1XB").refused("'1XB' is no space")
    run("quota", "set", f"{store.url}/nothing", "--space", "1GB").refused("No such file or directory")


def pattern(begin, end):
    return b"".join(bytes([1 + at // 1000 % 250]) * 1000 for at in range(0, end, 1000))[begin:end]


def write_until_refused(path, number):
    """Writes and syncs pieces of one file until that is refused with the error `number`; returns
    the bytes that were acknowledged. The last write may have taken a part of its piece."""
    deadline = time.monotonic() + 100
    acknowledged = 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    with refused(number):
        while time.monotonic() < deadline:
            try:
                written = os.write(descriptor, pattern(acknowledged, acknowledged + 150_000))
                os.fsync(descriptor)
            except OSError:
                os.close(descriptor)
                raise
            acknowledged += written
    return acknowledged


def check_acknowledged(store, work, name, acknowledged):
    run("cp", f"{store.url}/{name}", work / "back").succeeded()
    assert (work / "back").read_bytes()[:acknowledged] == pattern(0, acknowledged)


def append(path, size):
    """Adds bytes to a file, which a mount keeps until it is closed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        while size > 0:
            size -= os.write(descriptor, bytes(size))
    finally:
        os.close(descriptor)


def test_a_mount_tells_of_a_quota(store, work):
    with mounted(store.url, work / "mount") as directory:
        (directory / "project").mkdir()
        (directory / "project/before").write_bytes(bytes(1_000_000))
        run("quota", "set", f"{store.url}/project", "--space", "3MB", "--files", "3").succeeded()
        wait_until(is_counted(store, 1_000_000, 1))
        acknowledged = write_until_refused(directory / "project/file", errno.EDQUOT)
        assert acknowledged >= 1_500_000
        check_acknowledged(store, work, "project/file", acknowledged)
        with refused(errno.EDQUOT):
            append(directory / "project/before", 1000)
        assert (directory / "project/before").read_bytes() == bytes(1_000_000)
        (directory / "elsewhere").write_bytes(bytes(1_000_000))
        (directory / "project/file").unlink()
        wait_until(is_counted(store, 1_000_000, 1))
        (directory / "project/second").write_bytes(bytes(1000))
        (directory / "project/third").write_bytes(bytes(1000))
        with refused(errno.EDQUOT):
            (directory / "project/fourth").touch()


def test_a_mount_tells_of_a_full_disk(work):
    skip_without_fuse()
    small = work / "store/1"
    small.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=755", "tmpfs", small]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("a small disk can't be mounted here")
    try:
        with store_to_mount(work / "store", 2) as store, mounted(store.url, work / "mount") as directory:
            acknowledged = write_until_refused(directory / "file", errno.ENOSPC)
            assert acknowledged >= 5_000_000
            check_acknowledged(store, work, "file", acknowledged)
            with refused(errno.ENOSPC):
                append(directory / "file", 3_000_000)
            (directory / "file").unlink()
            wait_until(lambda: has_room(directory / "file"))
    finally:
        subprocess.run(["umount", "-l", small], check=False)


def has_room(path):
    """Tells whether a file of some megabytes can be written."""
    try:
        path.write_bytes(bytes(4_000_000))
    except OSError as error:
        assert error.errno == errno.ENOSPC, error
        return False
    return True
