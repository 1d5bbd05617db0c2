"""Programs that want a file system, on a mounted store: rsync, tar, git, Python's environments and
pip, cases of POSIX, and thousands of files. Skipped, with the reason, where nothing can be
mounted."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
import zipfile

import posix_cases
import pytest
from mounting import mounted, store_to_mount
from stria_program import run
from waiting import wait_until

SERVERS = 2
# Why a mounted store answers otherwise than a local file system: docs/servers.md has the table.
KNOWN_DIFFERENCES = {
    "mkfifo: makes a pipe": "EPERM",
    "read: changes the time of access": False,
    "unlink: of an open file leaves no name": None,
}
# One that nobody else changes makes no second names of files.
DIFFERENCES_ALONE = {
    **KNOWN_DIFFERENCES,
    "link: shares the file": "EPERM",
    "link: writes reach both": "EPERM",
    "link: changes times": "EPERM",
    "rename: of two names of one file does nothing": "EPERM",
}
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="cases of other users need root")


@pytest.fixture(scope="module")
def store(session_directory):
    with store_to_mount(session_directory / "programs", SERVERS) as servers:
        yield servers


@pytest.fixture(scope="module")
def place(store, session_directory):
    others = ["--allow-other"] if os.geteuid() == 0 else []  # cases of other users
    with mounted(store.url, session_directory / "programs_place", *others) as directory:
        yield directory


def program(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def needs(name):
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")


@pytest.fixture
def tree(work):
    """Files of some sizes and times, links, and a mode that counts."""
    top = work / "tree"
    (top / "below/deep").mkdir(parents=True)
    for number in range(40):
        file = top / f"below/file {number}"
        file.write_bytes(bytes([number]) * (number * 997))
        os.utime(file, ns=(10**18, 10**18 + number * 1_000_003))
    (top / "program").write_text("#!/bin/sh\necho it runs\n")
    (top / "program").chmod(0o755)
    os.symlink("below/file 3", top / "link")
    os.link(top / "below/file 5", top / "below/deep/same")
    os.utime(top / "below", ns=(10**18, 10**18 + 5))
    return top


def test_rsync_copies_nothing_twice(place, tree):
    needs("rsync")
    to = place / "rsync"
    first = program("rsync", "-aHAX", "--itemize-changes", f"{tree}/", to)
    assert "below/file 7" in first
    time.sleep(1.1)
    assert program("rsync", "-aHAX", "--itemize-changes", f"{tree}/", to) == ""
    with open(tree / "below/file 7", "ab") as file:
        file.write(b"more")
    again = program("rsync", "-a", "--itemize-changes", f"{tree}/", to)
    assert [line.split(maxsplit=1)[1] for line in again.splitlines()] == ["below/file 7"]
    assert os.stat(to / "below/deep/same").st_nlink == 2 and os.readlink(to / "link") == "below/file 3"


def test_tar_goes_in_and_out(place, tree, work):
    program("tar", "-cf", work / "tree.tar", "-C", tree, ".")
    (place / "tar").mkdir()
    program("tar", "-xpf", work / "tree.tar", "-C", place / "tar")
    program("tar", "--compare", "-f", work / "tree.tar", "-C", place / "tar")
    assert program(place / "tar/program") == "it runs\n"
    program("cp", "-a", place / "tar", work / "back")
    program("tar", "--compare", "-f", work / "tree.tar", "-C", work / "back")


def test_git_works_there(place, work):
    needs("git")
    who = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", HOME=str(work))
    for role in ("AUTHOR", "COMMITTER"):
        who |= {f"GIT_{role}_NAME": "somebody", f"GIT_{role}_EMAIL": "somebody@example.org"}

    def git(where, *words):
        return program("git", *words, cwd=where, env=who)

    project = place / "project"
    git(place, "init", "-q", "-b", "main", project)
    for number in range(30):
        (project / f"file{number}").write_text(f"line {number}\n" * number)
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    (project / "file3").write_text("changed\n")
    assert git(project, "status", "--porcelain").strip() == "M file3"
    git(project, "commit", "-q", "-a", "-m", "second")
    git(project, "gc", "-q")
    git(place, "clone", "-q", project, "cloned")
    assert git(place / "cloned", "log", "--format=%s").split() == ["second", "first"]
    assert git(place / "cloned", "status", "--porcelain") == ""
    git(place / "cloned", "fsck", "--strict")
    assert (place / "cloned/file3").read_text() == "changed\n"


def test_python_makes_an_environment_there(place, work):
    made = place / "environment"
    program(sys.executable, "-m", "venv", "--without-pip", made)
    assert program(made / "bin/python", "-c", "import sys; print(sys.prefix)").strip() == str(made)
    package = work / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(package, "w") as wheel:
        about = "greeting-1.0.dist-info"
        wheel.writestr("greeting.py", "WORDS = 'from a store'\n")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no pip here")
    library = made / "library"
    program(*pip, "install", "-q", "--no-index", "--no-deps", "--target", library, package)
    said = program(made / "bin/python", "-c", "import greeting; print(greeting.WORDS)", env={"PYTHONPATH": str(library)})
    assert said == "from a store\n"


def check_cases_of_posix(local, other, known):
    for directory in (local, other):
        directory.mkdir()
        directory.chmod(0o755)
    found = {name: (right, answer) for name, right, answer in posix_cases.differences(local, other)}
    assert set(found) == set(known), found
    for name, answer in known.items():
        assert answer is None or found[name][1] == answer


@AS_ROOT
def test_cases_of_posix(place, work):
    check_cases_of_posix(work / "local", place / "posix", KNOWN_DIFFERENCES)


@AS_ROOT
def test_cases_of_posix_where_nobody_else_changes_files(store, work):
    (work / "alone").mkdir()
    with mounted(store.url, work / "alone", "--allow-other", "--alone") as alone:
        check_cases_of_posix(work / "local", alone / "posix_alone", DIFFERENCES_ALONE)


def test_commands_know_links(store, place, work):
    top = place / "links"
    (top / "real").mkdir(parents=True)
    (top / "real/file").write_bytes(b"content")
    os.symlink("real", top / "directory")
    os.symlink("real/file", top / "link")
    os.symlink("/etc/hostname", top / "of this machine")
    os.symlink("../../..", top / "out")
    url = f"{store.url}/links"
    assert "link -> real/file" in run("ls", "-l", url).succeeded().stdout
    assert run("ls", f"{url}/directory").succeeded().stdout == "file\n"
    run("cp", f"{url}/directory/file", work / "copied").succeeded()
    assert (work / "copied").read_bytes() == b"content"
    run("cp", f"{url}/of this machine", work / "none").refused("a path of a machine")
    run("cp", f"{url}/out", work / "none").refused("out of the store")
    run("cp", work / "copied", f"{url}/new").succeeded()
    (work / "copied").write_bytes(b"another")
    run("cp", work / "copied", f"{url}/link").succeeded()
    time.sleep(1.1)
    assert os.path.islink(top / "link") and (top / "real/file").read_bytes() == b"another"
    run("rm", "-r", f"{url}/directory").succeeded()
    time.sleep(1.1)
    assert (top / "real/file").exists() and not os.path.lexists(top / "directory")
    os.symlink("real", top / "again")
    with mounted(f"{url}/again", work / "mounted") as below:
        assert (below / "file").read_bytes() == b"another"
        os.symlink("file", below / "beside")
    assert os.readlink(top / "real/beside") == "file"


def test_names_go_while_a_server_is_away(store, place):
    top = place / "away"
    top.mkdir()
    for number in range(5):
        (top / str(number)).write_bytes(b"x" * 300_000)
    parts = store.directory / "1/data"
    before = sum(1 for path in parts.rglob("*") if path.is_file())
    store.kill(1)
    try:
        time.sleep(1.1)
        (top / "0").unlink()
        shutil.rmtree(top)
        assert not top.exists()
    finally:
        store.start(1)
    wait_until(lambda: sum(1 for path in parts.rglob("*") if path.is_file()) <= before - 10)


def test_a_file_is_not_read_as_shorter_than_it_is(store, place):
    file = place / "whole"
    content = os.urandom(600_000)
    file.write_bytes(content)
    store.kill(1)
    try:
        time.sleep(1.1)
        assert os.stat(file).st_size <= len(content)
        listed = run("ls", "-l", f"{store.url}/whole")
        assert listed.code == 1 and ">=" in listed.stdout
    finally:
        store.start(1)
    assert file.read_bytes() == content


def test_thousands_of_files(place):
    top = place / "many"
    top.mkdir()
    for number in range(5000):
        (top / str(number)).touch()
    names = {str(number) for number in range(5000)}
    assert set(os.listdir(top)) == names
    with os.scandir(top) as entries:
        assert {entry.name for entry in entries if entry.stat().st_size == 0} == names
    shutil.rmtree(top)
    with contextlib.suppress(FileNotFoundError):
        assert os.listdir(top) == []
