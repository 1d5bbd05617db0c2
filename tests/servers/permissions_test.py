"""The store knows who may do what: users with keys of their own, and users whom the kernel
names."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from store_processes import Store, new_key
from stria_program import PROGRAM, environment, run

ALICE, BOB = 71001, 71002  # none of this machine's
GROUP = 500


@pytest.fixture(scope="module")
def keys(session_directory):
    """Makes key files by name: the cluster's, Alice's and Bob's."""
    directory = session_directory / "keys"
    directory.mkdir()
    files = {name: directory / name for name in ("cluster", "alice", "bob")}
    new_key(files["cluster"])
    for name, uid in (("alice", ALICE), ("bob", BOB)):
        run("key", uid, files[name], "--groups", GROUP, "--key", files["cluster"]).succeeded()
    return files


@pytest.fixture(scope="module")
def store(session_directory, keys):
    directory = session_directory / "owned"
    directory.mkdir()
    servers = Store(directory, 2, key=keys["cluster"])
    yield servers
    servers.close()


@pytest.fixture
def run_as(keys, monkeypatch):
    def run_with_key(name, *arguments):
        monkeypatch.setenv("STRIA_KEY_FILE", str(keys[name]))
        return run(*arguments)

    return run_with_key


def test_files_belong_to_who_made_them(store, run_as, work):
    (work / "file").write_bytes(b"x" * 700_000)
    url = f"{store.url}/project/file"
    run_as("alice", "cp", work / "file", url).succeeded()
    run_as("alice", "chmod", "u=rw,g=r,o=", url).succeeded()
    line = run_as("bob", "ls", "-l", f"{store.url}/project").succeeded().stdout
    assert re.match(rf"-rw-r-----\s+{ALICE}\s+\S+\s+700\.0 kB\s", line), line
    described = json.loads(run_as("bob", "stat", "--json", url).succeeded().stdout)
    assert (described["uid"], described["gid"], described["mode"]) == (ALICE, GROUP, "0640")
    run_as("bob", "cp", url, work / "copy").succeeded()
    assert (work / "copy").read_bytes() == (work / "file").read_bytes()
    run_as("bob", "cp", work / "file", url).refused("Permission denied", f"user {BOB}")
    run_as("bob", "rm", url).refused("Permission denied")
    run_as("bob", "mv", url, f"{store.url}/taken").refused("Permission denied")
    run_as("bob", "chmod", "666", url).refused("Permission denied")
    run_as("alice", "chmod", "g-r", url).succeeded()
    run_as("bob", "cp", url, work / "copy").refused("Permission denied", f"user {BOB} may not read")
    run_as("bob", "scrub", url).refused("Permission denied")
    run_as("alice", "chown", BOB, url).refused("Permission denied")
    run_as("cluster", "chown", "-R", f"{BOB}:{GROUP}", f"{store.url}/project").succeeded()
    run_as("bob", "cp", work / "file", url).succeeded()
    run_as("alice", "rm", url).refused("Permission denied")
    run_as("bob", "rm", "-r", f"{store.url}/project").succeeded()
    for mode in ("999", "u+q", "w", "", "77777"):
        run_as("bob", "chmod", mode, store.url).refused()


def test_servers_that_encrypt(keys, run_as, session_directory, work, monkeypatch):
    directory = session_directory / "encrypted"
    directory.mkdir()
    (work / "file").write_bytes(os.urandom(700_000))
    with contextlib.closing(Store(directory, 2, key=keys["cluster"], options=["--encrypt"])) as store:
        url = f"{store.url}/file"
        for wish in ("1", ""):
            monkeypatch.setenv("STRIA_ENCRYPT", wish)
            run_as("alice", "cp", work / "file", url).succeeded()
            run_as("alice", "cp", url, work / "copy").succeeded()
            assert (work / "copy").read_bytes() == (work / "file").read_bytes()
        monkeypatch.setenv("STRIA_ENCRYPT", "0")
        run_as("alice", "ls", store.url).refused(store.addresses[0], "the server encrypts", "STRIA_ENCRYPT=0")
        monkeypatch.setenv("STRIA_ENCRYPT", "maybe")
        run_as("alice", "ls", store.url).refused("STRIA_ENCRYPT is 1")
    monkeypatch.delenv("STRIA_KEY_FILE")
    run("serve", "--dir", directory / "keyless", "--encrypt").refused("--encrypt needs the cluster's key")


def test_a_client_that_insists_on_encryption(store, run_as, monkeypatch):
    monkeypatch.setenv("STRIA_ENCRYPT", "1")
    run_as("alice", "ls", store.url).refused(store.addresses[0], "the server does not encrypt")
    monkeypatch.delenv("STRIA_KEY_FILE")
    run("ls", store.url).refused("the server wants the cluster's key")


def test_a_key_is_one_users(store, keys, run_as, work):
    uid, *rest = keys["alice"].read_text().split(maxsplit=2)[1:]
    assert uid == str(ALICE)
    keys["forged"] = work / "forged"
    keys["forged"].touch(mode=0o600)
    keys["forged"].write_text(f"stria-user-key 0 {' '.join(rest)}")
    run_as("forged", "ls", store.url).refused("another key")
    keys["over"] = work / "over"
    run_as("cluster", "key", ALICE, keys["over"], "--groups", GROUP, "--days", 0).succeeded()
    assert keys["over"].stat().st_mode & 0o777 == 0o600
    run_as("alice", "key", BOB, work / "made", "--groups", GROUP).refused("cluster's")
    run_as("cluster", "key", ALICE, keys["over"], "--groups", GROUP).refused("over")
    run_as("alice", "serve", "--dir", work / "new", "--listen", "127.0.0.1:0").refused("cluster's key")


@contextlib.contextmanager
def local_store(directory):
    """Gives a server without a key on a Unix socket; its URL without a path."""
    with subprocess.Popen(
        [PROGRAM, "serve", "--dir", directory / "store", "--listen", f"unix:{directory}/socket"],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        yield process.stdout.readline().strip() + ":"
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_on_a_unix_socket_the_kernel_says_who_it_is():
    if os.geteuid() != 0:
        pytest.skip("only root can start programs of other users")
    directory = tempfile.mkdtemp(prefix="stria_socket_")
    try:
        os.chmod(directory, 0o755)
        os.mkdir(f"{directory}/public")
        os.chmod(f"{directory}/public", 0o777)
        if subprocess.run([PROGRAM, "--version"], user=ALICE, capture_output=True, check=False).returncode != 0:
            pytest.skip("the programs lie where only root can read them")
        original = f"{directory}/public/file"
        with open(original, "wb") as file:
            file.write(b"y" * 5000)
        os.chmod(original, 0o644)
        with local_store(pathlib.Path(directory)) as url:
            run("cp", original, f"{url}/file", user=ALICE).succeeded()
            run("chmod", "600", f"{url}/file", user=ALICE).succeeded()
            run("cp", f"{url}/file", f"{directory}/public/copy", user=BOB).refused(f"user {BOB} may not read")
            run("cp", f"{url}/file", f"{directory}/public/copy", user=ALICE).succeeded()
            run("rm", f"{url}/file", user=BOB).refused("sticky")
            run("rm", f"{url}/file").succeeded()
    finally:
        shutil.rmtree(directory)
