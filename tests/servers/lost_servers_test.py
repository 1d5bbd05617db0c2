"""Stores of which a server, or what it kept, is lost: what `stria scrub` tells of it, and how
`stria retire` takes the server out."""

import json
import os
import shutil
import signal
import time

import pytest
from store_processes import Store
from stria_program import run
from waiting import wait_until


@pytest.fixture
def store(work, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "2")
    (work / "store").mkdir()
    servers = Store(work / "store", 3)
    yield servers
    servers.close()


def parts(store):
    return set(store.directory.rglob("data/*/*"))


def put(store, work, name):
    """Writes a file with a part on each server that is up; returns what came into their
    directories."""
    before = parts(store)
    (work / "content").write_bytes(name.encode() * 900_000)
    run("cp", "--sync", work / "content", f"{store.url}/{name}").succeeded()
    return parts(store) - before


def servers_of(store):
    return {server["index"]: server for server in json.loads(run("df", "--json", store.url).succeeded().stdout)}


def put_on_two(store, work, name):
    """A file on the servers 0 and 2, made while server 1 is away."""
    store.kill(1)
    wait_until(lambda: servers_of(store)[1]["silent_ms"] >= 6000)
    put(store, work, name)
    store.start(1)


def scrub(store, *options):
    done = run("scrub", "--json", store.url, *options)
    return done.code, json.loads(done.stdout)


def test_scrub_goes_on_after_files_on_servers_that_are_away(store, work):
    put(store, work, "a")
    put(store, work, "b")
    put_on_two(store, work, "c")
    assert scrub(store)[0] == 0
    store.kill(1)
    code, report = scrub(store)
    assert code == 1 and report["files"] == 3
    told = [(fault["path"], fault["server"], fault["fault"]) for fault in report["faults"]]
    assert told == [(f"{store.url}/{name}", store.addresses[1], "not looked at") for name in "ab"], report
    text = run("scrub", store.url)
    assert text.code == 1 and "2 faults in 2 files, 2 of which can't be looked at as a whole" in text.stdout, text
    assert f"server {store.addresses[1]} doesn't answer" in text.stdout
    shutil.rmtree(store.directory / "1")
    store.start(1)
    code, report = scrub(store)
    assert code == 1 and report["files"] == 3
    assert [fault["path"] for fault in report["faults"]] == [f"{store.url}/a", f"{store.url}/b"]
    assert all("server 1 is gone" in fault["message"] for fault in report["faults"]), report
    text = run("scrub", f"{store.url}/a")
    assert text.code == 1 and "server 1 is gone" in text.stdout, text


def test_a_server_that_stands_still_is_the_only_one_that_does_not_answer(store):
    """Those that are asked after it have their time, too."""
    os.kill(store.processes[1].pid, signal.SIGSTOP)
    told = run("status", store.url)
    os.kill(store.processes[1].pid, signal.SIGCONT)
    lines = [line for line in told.stdout.splitlines() if "doesn't answer" in line]
    assert told.code == 1 and len(lines) == 1 and store.addresses[1] in lines[0], told


def test_scrub_without_a_manager_ends(store, work):
    put(store, work, "a")
    store.kill(0)
    run("scrub", store.url).refused(store.addresses[0])


def test_scrub_finds_lost_parts(store, work):
    put(store, work, "a")
    for path in put(store, work, "b"):
        if path.is_relative_to(store.directory / "1"):
            store.end(1)
            path.unlink()
    store.start(1)
    code, report = scrub(store)
    [fault] = report["faults"]
    assert code == 1 and fault["path"] == f"{store.url}/b" and fault["server"] == store.addresses[1], report
    assert "is lost" in fault["message"], report
    run("cp", f"{store.url}/b", work / "copy").refused(f"{store.url}/b", store.addresses[1], "is lost")
    run("cp", f"{store.url}/a", work / "copy").succeeded()


def test_scrub_finds_files_whose_names_come_from_a_backup(store, work):
    put(store, work, "a")
    put(store, work, "b")
    names = store.directory / "0" / "names.sqlite"
    store.end(0)
    shutil.copy(names, work / "names")
    store.start(0)
    run("rm", f"{store.url}/b").succeeded()
    wait_until(lambda: len(list(store.directory.rglob("parts/*"))) <= 3)
    store.end(0)
    shutil.copy(work / "names", names)
    store.start(0)
    code, report = scrub(store)
    assert code == 1 and {fault["path"] for fault in report["faults"]} == {f"{store.url}/b"}, report
    assert all("was removed on the server" in fault["message"] for fault in report["faults"]), report
    run("cp", f"{store.url}/b", work / "copy").refused(f"{store.url}/b", "an older copy of names.sqlite")
    run("rm", f"{store.url}/b").succeeded()
    assert scrub(store)[0] == 0


def test_an_empty_server_is_retired(store, work):
    put(store, work, "a")
    put_on_two(store, work, "b")
    run("retire", store.url, 3).refused("no server '3'", "stria df")
    run("retire", store.url, 0).refused("server 0 is the manager")
    kept = run("retire", store.url, store.addresses[1])
    assert kept.code == 1 and "1 file has a part on server 1" in kept.stderr and f"{store.url}/a" in kept.stderr, kept
    assert f"{store.url}/b" not in kept.stderr
    run("retire", "--lost", store.url, 1).refused("server 1 is up", "end it first")
    assert list(servers_of(store)) == [0, 1, 2]
    run("rm", f"{store.url}/a").succeeded()
    assert store.addresses[1] in run("retire", store.url, 1).succeeded().stdout
    assert list(servers_of(store)) == [0, 2]
    run("status", store.url).succeeded()
    time.sleep(1.5)  # a pulse of the server, which is still there
    put(store, work, "c")
    servers = json.loads(run("stat", "--json", f"{store.url}/c").succeeded().stdout)["servers"]
    assert sorted(server["index"] for server in servers) == [0, 2]
    assert scrub(store)[0] == 0
    store.end(1)
    with pytest.raises(AssertionError, match="was taken out of the store"):
        store.start(1)
    shutil.rmtree(store.directory / "1")
    store.start(1)
    assert list(servers_of(store)) == [0, 2, 3]


def test_a_dead_server_is_retired_with_what_is_lost(store, work):
    put(store, work, "a")
    put_on_two(store, work, "b")
    store.kill(1)
    shutil.rmtree(store.directory / "1")
    kept = run("retire", store.url, 1)
    assert kept.code == 1 and f"{store.url}/a" in kept.stderr, kept
    deadline = time.monotonic() + 300
    while (done := run("retire", "--lost", store.url, 1)).code == 2 and "is up" in done.stderr:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert "1 file has lost a part" in done.succeeded().stdout
    for _ in range(2):
        assert list(servers_of(store)) == [0, 2]
        run("status", store.url).succeeded()
        run("cp", f"{store.url}/a", work / "copy").refused("server 1 is gone")
        run("cp", f"{store.url}/b", work / "copy").succeeded()
        code, report = scrub(store)
        assert code == 1 and [fault["path"] for fault in report["faults"]] == [f"{store.url}/a"], report
        listed = run("ls", "-l", store.url)
        lines = {line.split()[-1]: line for line in listed.stdout.splitlines()}
        assert listed.code == 1 and " ? " in lines["a"] and " ? " not in lines["b"], listed
        assert "(gone)" in run("stat", f"{store.url}/a").stdout
        store.end(0)
        store.start(0)  # the manager remembers
    run("rm", f"{store.url}/a").succeeded()
    assert scrub(store)[0] == 0
    run("retire", store.url, 1).refused("no server '1'")
