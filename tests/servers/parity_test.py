"""Files with parity in a store of which a server is away, or lost: each file of the set lies on a
server of its own, so that reading goes on, and stria repair puts what is missing on those that are
up."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import stria
from store_processes import Store
from stria_program import run
from waiting import wait_until

SHAPE = (40, 64, 8)
VALUES = np.arange(40 * 64 * 8.0).reshape(SHAPE)
# The manager, and a server for each of four parts, their parity and the file that names them.
SERVERS = 7
FILES = [f"run.h5{end}" for end in ["", ".part-1-0", ".part-1-1", ".part-1-2", ".part-1-3", ".parity-1-0"]]


@pytest.fixture
def make_store(work, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "2")
    (work / "store").mkdir()
    stores = []

    def make(count):
        stores.append(Store(work / "store", count))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def store(make_store):
    return make_store(SERVERS)


def write(store, values=VALUES, **more):
    """Writes a checkpoint of which no file lies with the manager; returns the warnings."""
    hints = {"stria_subfiles": "4", "stria_parity": "1", "start_iodevice": "1", **more}
    with stria.create(f"{store.url}/run.h5", hints=hints) as file:
        file.create_dataset("dens", SHAPE)[:] = values
        return list(file.hint_warnings)


def server_of(store, name):
    """Returns the number of the one server that has the file."""
    described = json.loads(run("stat", "--json", f"{store.url}/{name}").succeeded().stdout)
    (server,) = described["servers"]
    return store.addresses.index(server["address"])


def check_values(store, values=VALUES):
    """Reads all; returns the warnings."""
    with stria.open(f"{store.url}/run.h5") as file:
        assert (file["dens"][:] == values).all()
        return "".join(file.hint_warnings)


def wait_until_silent(store, server):
    """Waits until the manager gives the server no new files."""
    wait_until(lambda: json.loads(run("df", "--json", store.url).succeeded().stdout)[server]["silent_ms"] > 6000)


def test_restart_without_a_server(store, work, monkeypatch):
    """A simulation goes on from its latest checkpoint."""
    (work / "hints").write_text("stria_subfiles 4\nstria_parity 1\nstart_iodevice 1\n")
    monkeypatch.setenv("STRIA_HINTS_FILE", str(work / "hints"))
    sedov = ["flash", "sedov", "--dim", "2", "--max-level", "3", "--out", f"{store.url}/sedov"]
    run(*sedov, "--steps", "3", "--checkpoint-every", "3").succeeded()
    store.kill(3)
    wait_until_silent(store, 3)
    run(*sedov, "--steps", "5", "--checkpoint-every", "2", "--restart", "latest").succeeded()
    for name in run("ls", f"{store.url}/sedov").succeeded().stdout.split():
        if ".pa" not in name:
            run("verify", f"{store.url}/sedov/{name}").succeeded()


def test_a_server_that_takes_no_new_files_gets_no_part(make_store):
    store = make_store(SERVERS + 1)
    closed = 3
    run("server", "no-new-files", store.url, str(closed)).succeeded()
    assert write(store) == []
    assert closed not in {server_of(store, name) for name in FILES}
    run("server", "new-files", store.url, str(closed)).succeeded()


def check_repair(store, name):
    """Returns what was on the server that is away is put on the one that had nothing."""
    url = f"{store.url}/run.h5"
    looked = run("repair", "--dry-run", url)
    assert looked.code == 1 and f"{name}' is out of reach" in looked.stdout, looked
    done = run("repair", url).succeeded()
    assert f"{name}' is out of reach" in done.stdout, done
    assert server_of(store, name) == 0
    assert check_values(store) == ""
    assert "whole, and so is its parity" in run("repair", "--dry-run", url).succeeded().stdout


def test_each_file_has_a_server(store):
    assert write(store) == []
    assert [server_of(store, name) for name in FILES] == [1, 2, 3, 4, 5, 6]
    assert write(store) == [], "the next generation"
    names = run("ls", store.url).succeeded().stdout.split()
    assert names == sorted(name.replace("-1-", "-2-") for name in FILES)
    assert len({server_of(store, name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["run.h5", "run.h5.part-1-2"])
def test_a_server_that_is_away(store, name):
    write(store)
    lost = server_of(store, name)
    store.kill(lost)
    assert store.addresses[lost] in check_values(store)
    said = run("verify", f"{store.url}/run.h5", ranks=3).succeeded().stdout
    assert "every checksum is right" in said and store.addresses[lost] in said, said
    check_repair(store, name)
    store.start(lost)
    assert check_values(store) == ""


def test_the_server_of_all_parity_is_away(store):
    """Nothing tells what it had: it is made anew."""
    write(store)
    url = f"{store.url}/run.h5"
    store.kill(6)
    assert check_values(store) == ""
    said = run("verify", url).succeeded().stdout
    assert store.addresses[6] in said and f"'stria repair --renew 1 {url}'" in said, said
    wait_until_silent(store, 6)
    assert run("repair", url).code == 2
    run("repair", "--renew", "1", url).succeeded()
    assert server_of(store, "run.h5.parity-1-0") == 0
    store.kill(3)
    assert "is out of reach" in check_values(store)


def test_a_server_that_comes_back(store):
    """Nothing is to be repaired, and nothing is moved."""
    write(store)
    store.kill(3)
    assert "is out of reach" in check_values(store)
    store.start(3)
    assert check_values(store) == ""
    run("repair", f"{store.url}/run.h5").succeeded()
    assert [server_of(store, name) for name in FILES] == [1, 2, 3, 4, 5, 6]


def test_a_directory_that_is_lost(store):
    write(store)
    store.kill(4)
    shutil.rmtree(store.directory / "4")
    store.start(4)
    assert "server 4 is gone" in check_values(store)
    run("repair", f"{store.url}/run.h5").succeeded()
    assert check_values(store) == ""
    run("retire", "--lost", store.url, "4").succeeded()


def test_two_servers_that_are_away(store):
    write(store)
    store.kill(3)
    store.kill(4)
    with pytest.raises(stria.StriaError, match=store.addresses[3]), stria.open(f"{store.url}/run.h5") as file:
        file["dens"][:]
    failed = run("repair", f"{store.url}/run.h5")
    assert failed.code == 2
    for part in ["can't be made whole", store.addresses[3], store.addresses[4]]:
        assert part in failed.stderr, failed


def test_writing_goes_on_without_a_server(store):
    write(store)
    store.kill(3)
    wait_until_silent(store, 3)
    assert write(store, 2 * VALUES) == [], "six files on the six servers that are up"
    assert check_values(store, 2 * VALUES) == ""
    names = run("ls", store.url).succeeded().stdout.split()
    assert sorted(server_of(store, name) for name in names) == [0, 1, 2, 4, 5, 6]


@pytest.mark.parametrize("is_emptied", [False, True])
def test_writing_goes_on_after_a_node_that_died_in_a_commit(store, is_emptied):
    """The file of the temporary name, and parts, were on it."""
    hints = {"stria_subfiles": "4", "stria_parity": "1", "start_iodevice": "3"}
    program = f"import os, stria\nfile = stria.create('{store.url}/run.h5', hints={hints})\nos.kill(os.getpid(), 9)\n"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert server_of(store, ".run.h5.partial") == 3
    store.kill(3)
    if is_emptied:
        shutil.rmtree(store.directory / "3")
        store.start(3)
    else:
        wait_until_silent(store, 3)
    assert write(store) == []
    assert check_values(store) == ""
    assert len(run("ls", store.url).succeeded().stdout.split()) == len(FILES)


def test_fewer_servers_than_files(make_store):
    store = make_store(3)
    (warning,) = write(store)
    assert "takes up to 2 of the 6 files" in warning and "stria_parity=1 makes up for 1" in warning, warning
    assert write(store, stria_subfiles="3", stria_parity="2") == [], "two of six on each server"
    store.kill(2)
    assert "is out of reach" in check_values(store)


def test_places_of_the_machine_are_none_in_a_store(store):
    warnings = write(store, stria_part_places="/nvme0:/nvme1")
    assert any("'stria_part_places' has no effect" in warning and "run.h5" in warning for warning in warnings), warnings
    refused = run("repair", "--place", "/nvme0", f"{store.url}/run.h5")
    assert refused.code == 2 and "leave --place out" in refused.stderr, refused


def test_a_damaged_block_of_a_file_in_one_piece(make_store):
    """Its stripes lie on all servers; a get that they would take as a datatype is healed too."""
    store = make_store(3)
    url = f"{store.url}/run.h5"
    with stria.create(url, hints={"stria_parity": "1"}) as file:
        file.create_dataset("dens", (400, 64, 8))[:] = np.ones((400, 64, 8))
    parts = [path for path in store.directory.rglob("data/*/*") if path.suffix != ".sums"]
    damaged = max(parts, key=lambda path: path.stat().st_size)
    times = os.stat(damaged)
    with open(damaged, "r+b") as raw:
        raw.seek(times.st_size // 2)
        raw.write(b"damaged")
    os.utime(damaged, ns=(times.st_atime_ns, times.st_mtime_ns))  # A disk does the same.
    for hints in [{}, {"stria_method": "datatype_io"}]:
        with stria.open(url, hints=hints) as file:
            assert (file["dens"][:, ::2, 1:3] == 1).all()
            assert "is read by its parity" in "".join(file.hint_warnings), hints
    run("repair", url).succeeded()
    assert run("scrub", store.url).code == 0
    with stria.open(url) as file:
        assert (file["dens"][:] == 1).all() and not file.hint_warnings
