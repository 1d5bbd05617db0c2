"""Users who prove by MUNGE who they are. The tests start a munged of their own, and skip where none
is installed. Only root can start programs of other users; others test with themselves alone."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest
from store_processes import Store, new_key
from stria_program import PROGRAM, run

ALICE, BOB = 71001, 71002  # none of this machine's
IS_ROOT = os.geteuid() == 0


@contextlib.contextmanager
def munged(directory):
    """A daemon with a key of its own; yields its socket."""
    program = shutil.which("munged", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("no munged here (Debian: munge)")
    directory.mkdir(mode=0o755)
    key = directory / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    socket = directory / "socket"
    files = [f"--{name}-file={directory / name}" for name in ("key", "log", "pid", "seed")]
    with open(directory / "output", "w") as output:
        process = subprocess.Popen([program, "--foreground", *files, f"--socket={socket}"], stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 200
        while not socket.exists():
            assert process.poll() is None and time.monotonic() < deadline, (directory / "output").read_text()
            time.sleep(0.01)
        yield socket
    finally:
        process.kill()  # asked to end, it takes ten seconds
        process.wait()


@pytest.fixture(scope="module")
def place(session_directory):
    """Gives a directory that all users can enter, with one in it that all can write to."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="stria_munge_", dir=session_directory.parent))
    directory.chmod(0o755)
    (directory / "public").mkdir()
    (directory / "public").chmod(0o777)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def socket(place):
    with munged(place / "munged") as path:
        yield path


@pytest.fixture(autouse=True)
def client(socket, monkeypatch):
    monkeypatch.setenv("STRIA_MUNGE_SOCKET", str(socket))


@contextlib.contextmanager
def store(directory, *options, key=None):
    directory.mkdir()
    with contextlib.closing(Store(directory, 2, key=key, options=["--munge", *options])) as servers:
        yield servers


def owner(url):
    return json.loads(run("stat", "--json", url).succeeded().stdout)["uid"]


@pytest.mark.parametrize("options", [[], ["--encrypt"]], ids=["plain", "encrypted"])
def test_files_belong_to_who_munge_says(place, options):
    original = place / "public/file"
    original.write_bytes(os.urandom(700_000))
    with store(place / f"store{len(options)}", *options) as servers:
        url = f"{servers.url}/own"
        run("cp", original, url).succeeded()
        assert owner(url) == os.geteuid()
        run("cp", url, place / "public/copy").succeeded()
        assert (place / "public/copy").read_bytes() == original.read_bytes()


def needs_users():
    if not IS_ROOT:
        pytest.skip("only root can start programs of other users")
    if subprocess.run([PROGRAM, "--version"], user=ALICE, capture_output=True, check=False).returncode != 0:
        pytest.skip("the programs lie where only root can read them")


def test_modes_hold_for_those_users(place):
    needs_users()
    original, copy = place / "public/hers", place / "public/hers_too"
    original.write_bytes(b"y" * 5000)
    original.chmod(0o644)
    with store(place / "users") as servers:
        url = f"{servers.url}/file"
        run("cp", original, url, user=ALICE).succeeded()
        assert owner(url) == ALICE
        run("chmod", "600", url, user=ALICE).succeeded()
        run("cp", url, place / "public/his", user=BOB).refused(f"user {BOB} may not read")
        run("rm", url, user=BOB).refused("sticky")
        run("cp", url, copy, user=ALICE).succeeded()
        assert copy.read_bytes() == original.read_bytes()
        # Root may do everything.
        run("rm", url).succeeded()


def test_a_server_of_somebody_else_is_not_believed(place, monkeypatch):
    needs_users()
    (place / "theirs").mkdir()
    os.chown(place / "theirs", BOB, BOB)
    command = [PROGRAM, "serve", "--munge", "--dir", place / "theirs/store", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, user=BOB, group=BOB, extra_groups=[], stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        run("ls", url, user=ALICE).refused(f"user {BOB} runs the server", "STRIA_SERVER_USER")
        run("ls", url, user=BOB).succeeded()
        monkeypatch.setenv("STRIA_SERVER_USER", str(BOB))
        run("ls", url, user=ALICE).succeeded()
        process.terminate()


def test_a_server_that_proves_nothing(place, monkeypatch):
    command = [PROGRAM, "serve", "--dir", place / "open", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        run("ls", url).succeeded()
        monkeypatch.setenv("STRIA_SERVER_USER", "root")
        run("ls", url).refused("does not prove who runs it")
        process.terminate()


def test_keys_go_on_beside_it(place, monkeypatch):
    key, hers = new_key(place / "cluster_key"), place / "her_key"
    run("key", ALICE, hers, "--groups", 500, "--key", key).succeeded()
    with store(place / "both", key=key) as servers:
        run("cp", PROGRAM, f"{servers.url}/by_munge").succeeded()
        monkeypatch.setenv("STRIA_KEY_FILE", str(hers))
        run("cp", key, f"{servers.url}/by_key").succeeded()
        assert [owner(f"{servers.url}/{name}") for name in ("by_munge", "by_key")] == [os.geteuid(), ALICE]


def test_without_munged_it_says_so(place, monkeypatch):
    nowhere = str(place / "nowhere")
    with store(place / "alone") as servers, munged(place / "strangers") as other:
        monkeypatch.setenv("STRIA_MUNGE_SOCKET", nowhere)
        run("ls", servers.url).refused(servers.addresses[0], "munged doesn't answer", nowhere)
        run("serve", "--munge", "--dir", place / "none", "--listen", "127.0.0.1:0").refused("--munge", "munged doesn't answer")
        # Another cluster's munged has another key.
        monkeypatch.setenv("STRIA_MUNGE_SOCKET", str(other))
        run("ls", servers.url).refused("MUNGE", "redential")
