"""A store with a standby manager, as its operator uses it: with a key and encryption, while clients
and a mount write."""

import contextlib
import json
import os
import random
import threading
import time

import pytest
from copies import Copies
from mounting import mounted, skip_without_fuse
from standby_support import address_url, log_of, role_of, status, wait_for_standby
from store_processes import Store, new_key
from stria_program import run
from waiting import wait_until

SERVERS = 4
STANDBY = 1


@pytest.fixture
def store(work, monkeypatch):
    key = new_key(work / "key")
    monkeypatch.setenv("STRIA_KEY_FILE", str(key))
    with contextlib.closing(Store(work, SERVERS, key=key, options=["--encrypt"], standby=STANDBY)) as servers:
        wait_for_standby(servers, STANDBY)
        yield servers


def names(store):
    return {name.rstrip("/") for name in run("ls", store.url).succeeded().stdout.split()}


def copies_of(source, store):
    return Copies(lambda _, name: run("cp", source, f"{store.url}/{name}").succeeded())


def test_a_standby_takes_over_below_clients_and_gives_back(store, work):
    content = random.Random(1).randbytes(700_001)
    (work / "content").write_bytes(content)
    assert ", standby with every change" in run("status", store.url).succeeded().stdout
    with copies_of(work / "content", store) as writer:
        writer.goes_on()
        promoted = run("promote", address_url(store, STANDBY)).succeeded()
        assert f"{store.addresses[STANDBY]} is the manager now (epoch 1)" in promoted.stdout
        assert promoted.stderr == ""
        writer.goes_on()
    assert names(store) == set(writer.copied)
    run("ls", address_url(store, 0)).refused("was replaced", store.addresses[STANDBY])
    wait_until(lambda: role_of(store, 0) == "was the manager")
    assert role_of(store, STANDBY) == "manager"
    assert "manager_replaced" in log_of(store, 0) and "promoted" in log_of(store, STANDBY)
    run("promote", address_url(store, STANDBY)).refused("manager already")
    run("promote", address_url(store, 2)).refused("no standby")
    # The old one becomes the standby of the new one, and then the manager again.
    assert store.end(0) == 0
    store.options = ["--encrypt", "--standby", "--join", store.addresses[STANDBY]]
    store.start(0)
    store.options = ["--encrypt"]
    wait_for_standby(store, 0)
    run("cp", work / "content", f"{store.url}/between").succeeded()
    assert "(epoch 2)" in run("promote", address_url(store, 0)).succeeded().stdout
    assert names(store) == {*writer.copied, "between"}
    for name in ("between", writer.copied[0], writer.copied[-1]):
        run("cp", f"{store.url}/{name}", work / "back").succeeded()
        assert (work / "back").read_bytes() == content
    run("fsck", store.url).succeeded()


def test_a_manager_that_died_is_replaced_and_hears_of_it(store, work):
    (work / "content").write_bytes(b"content" * 1000)
    run("mkdir", f"{store.url}/in").succeeded()
    run("cp", "--sync", work / "content", f"{store.url}/in/before").succeeded()
    store.kill(0)
    promoted = run("promote", address_url(store, STANDBY)).succeeded()
    assert "didn't answer" in promoted.stderr and store.addresses[0] in promoted.stderr
    assert run("ls", f"{store.url}/in").succeeded().stdout.split() == ["before"]
    run("cp", work / "content", f"{store.url}/after").succeeded()
    store.start(0)
    wait_until(lambda: role_of(store, 0) == "was the manager")
    run("mkdir", f"{address_url(store, 0)}/late").refused("was replaced", store.addresses[STANDBY])
    run("cp", f"{store.url}/in/before", work / "back").succeeded()
    assert (work / "back").read_bytes() == b"content" * 1000
    # Whatever they are started as, each is what it has become.
    for index in (0, STANDBY):
        assert store.end(index) == 0
    for index in (STANDBY, 0):
        store.start(index)
    assert names(store) == {"in", "after"}
    assert role_of(store, STANDBY) == "manager"


def test_a_standby_that_takes_over_knows_who_has_signed_off(store, work):
    def said():
        told = {server["index"]: (server["state"], server.get("reason", "")) for server in status(store)}
        report = json.loads(run("fsck", "--json", store.url).stdout)
        faults = [(fault["fault"], fault["message"]) for fault in report["faults"]]
        drained = run("server", "drain", store.url, 3)
        return told[3], faults, (drained.code, drained.stderr)

    (work / "content").write_bytes(b"content" * 100_000)
    assert store.end(3) == 0
    before = said()
    assert before[0] == ("ended", "it was ended") and before[1][0][0] == "not looked at", before
    run("promote", address_url(store, STANDBY)).succeeded()
    begin = time.monotonic()
    run("cp", work / "content", f"{store.url}/without").succeeded()
    assert time.monotonic() - begin < 3, "nobody waits for a server that has signed off"
    wait_until(lambda: [server["state"] for server in status(store)] == ["up", "up", "up", "ended"])
    assert said() == before
    store.start(3)
    wait_until(lambda: all(server["state"] == "up" for server in status(store)))


def test_who_looks_after_the_store_goes_on_when_a_standby_takes_over(store, work):
    """The manager dies in the midst of a copy, and comes back as a server that has yet to hear."""
    (work / "many").mkdir()
    for number in range(12):
        (work / "many" / f"file_{number}").write_bytes(random.Random(number).randbytes(1_500_000))
    run("cp", "-r", work / "many", f"{store.url}/many").succeeded()
    ends = threading.Event()
    outcomes = []

    def look(*command):
        while not ends.is_set():
            outcomes.append(run(*command, store.url))

    lookers = [threading.Thread(target=look, args=[command]) for command in ("scrub", "scrub", "scrub", "fsck")]
    lookers.append(threading.Thread(target=lambda: outcomes.append(run("server", "drain", "--rate", 2, store.url, 3))))
    for thread in lookers:
        thread.start()
    try:
        time.sleep(1)
        store.kill(0)
        run("promote", address_url(store, STANDBY)).succeeded()
        store.start(0)
        wait_until(lambda: role_of(store, 0) == "was the manager")
        lookers.pop().join()
    finally:
        ends.set()
        for thread in lookers:
            thread.join()
    for outcome in outcomes:
        outcome.succeeded()
    assert {outcome.command[1] for outcome in outcomes} == {"scrub", "fsck", "server"}
    for number in range(12):
        run("cp", f"{store.url}/many/file_{number}", work / "back").succeeded()
        assert (work / "back").read_bytes() == (work / "many" / f"file_{number}").read_bytes()
        described = json.loads(run("stat", "--json", f"{store.url}/many/file_{number}").succeeded().stdout)
        assert all(server["index"] != 3 for server in described["servers"])


def test_a_standby_that_is_behind_is_refused(store, work):
    run("mkdir", f"{store.url}/with").succeeded()
    store.kill(STANDBY)
    run("mkdir", f"{store.url}/without").succeeded()
    wait_until(lambda: "standby_behind" in log_of(store, 0))
    store.kill(0)
    store.start(STANDBY)
    run("promote", address_url(store, STANDBY)).refused("behind", "--even-if-behind")
    run("ls", address_url(store, STANDBY)).refused("no manager of names")
    run("promote", "--even-if-behind", address_url(store, STANDBY)).succeeded()
    assert names(store) == {"with"}


def test_a_standby_that_comes_back_catches_up(store, work):
    assert store.end(STANDBY) == 0
    run("mkdir", f"{store.url}/without").succeeded()
    store.start(STANDBY)
    wait_for_standby(store, STANDBY)
    run("mkdir", f"{store.url}/with").succeeded()
    store.kill(0)
    run("promote", address_url(store, STANDBY)).succeeded()
    assert names(store) == {"with", "without"}


def test_a_mount_goes_on(store, work):
    skip_without_fuse()
    content = random.Random(2).randbytes(300_000)
    with mounted(store.url, work / "place") as place, open(place / "open", "w+b", buffering=0) as file:
        file.write(content)
        run("promote", address_url(store, STANDBY)).succeeded()
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        (place / "new").write_bytes(content)
        assert sorted(path.name for path in place.iterdir()) == ["new", "open"]
        assert (place / "open").read_bytes() == content * 2
    run("cp", f"{store.url}/open", work / "back").succeeded()
    assert (work / "back").read_bytes() == content * 2


def test_files_are_made_in_a_mount_all_the_while(store, work):
    """No part of theirs lies on the servers that are the manager, one after the other."""
    skip_without_fuse()
    content = random.Random(3).randbytes(100_000)
    for index in (0, STANDBY):
        run("server", "no-new-files", store.url, store.addresses[index]).succeeded()
    made = []
    failures = []
    ends = threading.Event()

    def make_files(place):
        while not ends.is_set():
            path = place / f"file_{len(made)}"
            try:
                path.write_bytes(content)
                assert path.stat().st_size == len(content)
                assert path.read_bytes() == content
            except (OSError, AssertionError) as failure:
                failures.append(f"{path}: {failure}")
            made.append(path.name)

    def goes_on():
        count = len(made)
        wait_until(lambda: len(made) > count + 10)

    with mounted(store.url, work / "place") as place:
        thread = threading.Thread(target=make_files, args=[place])
        thread.start()
        try:
            goes_on()
            for _ in range(2):
                store.kill(0)
                store.start(0)
                goes_on()
            wait_for_standby(store, STANDBY)
            run("promote", address_url(store, STANDBY)).succeeded()
            goes_on()
        finally:
            ends.set()
            thread.join()
        assert failures == []
        assert sorted(path.name for path in place.iterdir()) == sorted(made)


def test_a_client_of_the_version_before_goes_on(store, work, monkeypatch):
    (work / "content").write_bytes(b"content" * 1000)
    monkeypatch.setenv("STRIA_WIRE_VERSION", "3")
    run("cp", work / "content", f"{address_url(store, 0)}/old").succeeded()
    run("promote", address_url(store, STANDBY)).refused("needs version 4")
    monkeypatch.delenv("STRIA_WIRE_VERSION")
    run("promote", address_url(store, STANDBY)).succeeded()
    monkeypatch.setenv("STRIA_WIRE_VERSION", "3")
    run("cp", f"{address_url(store, STANDBY)}/old", work / "back").succeeded()
    run("mv", f"{store.url}/old", f"{store.url}/new").succeeded()
    assert (work / "back").read_bytes() == b"content" * 1000
    assert names(store) == {"new"}


def test_options_that_mean_nothing(work):
    run("serve", "--dir", work / "none", "--standby").refused("--join")
