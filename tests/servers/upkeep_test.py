"""Tests what whoever looks after a store does: closes servers to new files, copies the names and
brings them back, checks names against parts, reads the log and the metrics."""

import contextlib
import json
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.request

import pytest
from store_processes import Store, started
from stria_program import ROOT, run
from waiting import wait_until

MONITORING = ROOT / "packaging/monitoring"


@pytest.fixture
def store(work, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "5")
    (work / "store").mkdir()
    servers = Store(work / "store", 3, options=("--log", "json"))
    yield servers
    servers.close()


def content_of(name, size):
    return random.Random(name).randbytes(size)


def put(store, work, name, size=1_500_000):
    (work / "content").write_bytes(content_of(name, size))
    run("cp", "--sync", work / "content", f"{store.url}/{name}").succeeded()


def is_whole(store, work, path, name, size=1_500_000):
    run("cp", f"{store.url}{path}", work / "back").succeeded()
    return (work / "back").read_bytes() == content_of(name, size)


def servers_of(store, name):
    return sorted(server["index"] for server in json.loads(run("stat", "--json", f"{store.url}/{name}").stdout)["servers"])


def states(store):
    return [server["state"] for server in json.loads(run("df", "--json", store.url).succeeded().stdout)]


def fsck(store, *options):
    done = run("fsck", "--json", store.url, *options)
    return done.code, json.loads(done.stdout)


def faults(report):
    return sorted((fault["fault"], fault.get("path", "")) for fault in report["faults"])


def events(store, index):
    lines = (store.directory / f"server_{index}.log").read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_a_server_is_closed_to_new_files_and_opened(store, work):
    put(store, work, "before")
    assert servers_of(store, "before") == [0, 1, 2]
    done = run("server", "no-new-files", store.url, store.addresses[1]).succeeded()
    assert "server 1" in done.stdout
    put(store, work, "closed")
    assert servers_of(store, "closed") == [0, 2]
    assert states(store) == ["up", "up, no new files", "up"]
    assert "up, no new files; " in run("status", store.url).succeeded().stdout
    assert is_whole(store, work, "/before", "before")
    run("server", "new-files", store.url, 1).succeeded()
    put(store, work, "after")
    assert servers_of(store, "after") == [0, 1, 2]
    run("server", "no-new-files", store.url, 7).refused("no server '7'", "stria df")


def test_a_server_that_ends_signs_off(store, work):
    assert store.end(2) == 0
    assert states(store)[2] == "ended"
    assert "ended" in run("status", store.url).stdout
    put(store, work, "without")
    assert servers_of(store, "without") == [0, 1]
    store.start(2)
    wait_until(lambda: states(store)[2] == "up")
    put(store, work, "with")
    assert servers_of(store, "with") == [0, 1, 2]


def quotas(store):
    return json.loads(run("quota", "show", "--json", store.url).succeeded().stdout)


def what_is_said(store):
    """Returns what is said of servers, names and parts, of space, and of what a server that has
    ended means for others."""
    drained = run("server", "drain", store.url, 2)
    told = [(server["state"], server.get("reason", "")) for server in json.loads(run("status", "--json", store.url).stdout)]
    code, report = fsck(store)
    return {
        "status": told,
        "fsck": (code, faults(report)),
        "quotas": quotas(store),
        "drain": (drained.code, "has ended" in drained.stderr),
    }


def test_a_manager_that_is_started_again_knows_who_has_signed_off(store, work):
    put(store, work, "before")
    run("quota", "set", store.url, "--user", 0, "--space", "100M").succeeded()
    wait_until(lambda: quotas(store)[0]["counted"])
    assert store.end(2) == 0
    said = what_is_said(store)
    assert said["status"] == [("up", ""), ("up", ""), ("ended", "it was ended")]
    assert said["drain"] == (2, True) and said["fsck"] == (1, [("not looked at", "")])
    store.kill(0)
    store.start(0)
    begin = time.monotonic()
    put(store, work, "without")
    assert time.monotonic() - begin < 3, "nobody waits for a server that has signed off"
    assert servers_of(store, "without") == [0, 1]
    run("rm", f"{store.url}/without").succeeded()
    wait_until(lambda: states(store)[1] == "up")
    assert what_is_said(store) == said
    store.start(2)
    store.kill(0)
    store.start(0)
    wait_until(lambda: states(store) == ["up", "up", "up"])
    assert is_whole(store, work, "/before", "before")


def restore(store, backup):
    """Restores the names as docs/servers.md says."""
    store.end(0)
    directory = store.directory / "0"
    for name in ("names.sqlite-wal", "names.sqlite-shm"):
        (directory / name).unlink(missing_ok=True)
    shutil.copy(backup, directory / "names.sqlite")
    store.start(0)
    wait_until(lambda: all(state == "up" for state in states(store)))


def test_a_backup_is_restored_and_what_came_after_is_found(store, work):
    put(store, work, "kept")
    put(store, work, "removed")
    put(store, work, "small", 1000)
    backup = work / "names"
    run("backup", store.url, backup).succeeded()
    assert backup.stat().st_mode & 0o777 == 0o600 and not list(work.glob("*.partial"))
    put(store, work, "later")
    put(store, work, "tiny", 10)
    run("rm", f"{store.url}/removed").succeeded()
    wait_until(lambda: fsck(store)[0] == 0 and len(list(store.directory.rglob("data/*/*"))) == 2 * (3 + 1 + 3 + 1))
    restore(store, backup)
    code, report = fsck(store)
    assert code == 1 and faults(report) == [("no name", "")] * 2 + [("removed", "/removed")] * 3, report
    text = run("fsck", store.url)
    assert text.code == 1 and "5 faults, 0 mended" in text.stdout, text
    code, report = fsck(store, "--repair")
    assert code == 0, report
    found = [fault["path"] for fault in report["faults"] if fault["fault"] == "no name"]
    assert len(found) == 2 and all(path.startswith("/lost+found/") for path in found)
    assert fsck(store)[0] == 0
    assert sorted(is_whole(store, work, path, "later") for path in found) == [False, True]
    assert sorted(is_whole(store, work, path, "tiny", 10) for path in found) == [False, True]
    assert is_whole(store, work, "/kept", "kept") and is_whole(store, work, "/small", "small", 1000)
    run("stat", f"{store.url}/removed").refused("removed")
    run("scrub", store.url).succeeded()
    put(store, work, "new")
    assert is_whole(store, work, "/new", "new")


def test_parts_that_no_name_needs_are_freed(store, work):
    put(store, work, "kept")
    backup = work / "names"
    run("backup", store.url, backup).succeeded()
    put(store, work, "later")
    restore(store, backup)
    assert len(list(store.directory.rglob("data/*/*"))) == 2 * 6
    code, report = fsck(store, "--free")
    assert code == 0 and [fault["mended"] for fault in report["faults"]] == ["removed"], report
    wait_until(lambda: len(list(store.directory.rglob("data/*/*"))) == 2 * 3)
    assert fsck(store)[0] == 0 and is_whole(store, work, "/kept", "kept")


def test_a_backup_goes_on_when_the_manager_is_started_again(store, work):
    put(store, work, "kept")
    assert store.end(0) == 0
    with contextlib.closing(sqlite3.connect(store.directory / "0/names.sqlite")) as names:
        names.execute("CREATE TABLE ballast (bytes BLOB)")
        names.execute("INSERT INTO ballast VALUES (randomblob(200000000))")
        names.commit()
    store.start(0)
    with started("backup", store.url, work / "names") as backup:
        partial = work / "names.partial"
        wait_until(lambda: backup.poll() is not None or (partial.exists() and partial.stat().st_size > 0))
        store.kill(0)
        store.start(0)
        _, told = backup.communicate(timeout=60)
    assert backup.returncode == 0, told
    with contextlib.closing(sqlite3.connect(work / "names")) as copied:
        assert copied.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copied.execute("SELECT count(*) FROM ballast").fetchone() == (1,)


def test_a_manager_whose_disk_is_lost_gets_its_names_back(store, work):
    run("server", "no-new-files", store.url, 0).succeeded()
    put(store, work, "elsewhere")
    run("backup", store.url, work / "names").succeeded()
    store.kill(0)
    shutil.rmtree(store.directory / "0")
    (store.directory / "0").mkdir()
    shutil.copy(work / "names", store.directory / "0/names.sqlite")
    store.start(0)
    wait_until(lambda: states(store).count("up") == 3)
    assert is_whole(store, work, "/elsewhere", "elsewhere")
    assert fsck(store)[0] == 0


def parts_on(store, index, number):
    """Returns a server's part of the file, and its checksums."""
    return sorted((store.directory / str(index)).glob(f"data/*/{number}*"))


def test_parts_in_the_wrong_place_and_lost_ones_are_listed(store, work):
    put(store, work, "moved")
    put(store, work, "lost")
    put(store, work, "cut")
    numbers = {
        name: json.loads(run("stat", "--json", f"{store.url}/{name}").succeeded().stdout)["file"]
        for name in ("moved", "lost", "cut")
    }
    for index in range(3):
        store.end(index)
    for path in parts_on(store, 1, numbers["lost"]):
        path.unlink()
    [part] = [path for path in parts_on(store, 2, numbers["cut"]) if path.suffix == ""]
    with part.open("r+b") as opened:
        opened.truncate(5000)
    for path in parts_on(store, 1, numbers["moved"]):
        shutil.copy(path, store.directory / "2" / path.relative_to(store.directory / "1"))
    for index in range(3):
        store.start(index)
    wait_until(lambda: all(state == "up" for state in states(store)))
    code, report = fsck(store)
    assert code == 1 and faults(report) == [("lost", "/lost"), ("other place", "/moved"), ("size", "/cut")], report
    assert fsck(store, "--repair")[0] == 1, "only their owner can decide"


def test_a_check_beside_writers_finds_nothing(store, work):
    ends = threading.Event()

    def write(number):
        source = work / f"source_{number}"
        source.write_bytes(content_of(number, 900_000))
        while not ends.is_set():
            run("cp", source, f"{store.url}/file_{number}").succeeded()
            run("mv", f"{store.url}/file_{number}", f"{store.url}/moved_{number}").succeeded()
            run("rm", f"{store.url}/moved_{number}").succeeded()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(6):
            code, report = fsck(store, "--repair")
            assert code == 0 and not report["faults"], report
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    assert "lost+found" not in run("ls", store.url).succeeded().stdout


def test_a_server_that_is_away_is_not_taken_for_one_without_parts(store, work):
    put(store, work, "a")
    store.kill(1)
    code, report = fsck(store, "--free")
    assert code == 1 and faults(report) == [("not looked at", "")], report
    store.start(1)
    wait_until(lambda: fsck(store)[0] == 0)
    assert is_whole(store, work, "/a", "a")


def test_the_log_tells_what_happens(store, work):
    run("server", "no-new-files", store.url, 2).succeeded()
    store.end(1)
    store.start(1)
    store.kill(2)
    wait_until(lambda: any(event["event"] == "server_silent" for event in events(store, 0)))
    told = [(event["event"], event["level"], event.get("of_server")) for event in events(store, 0)]
    for expected in (
        ("started", "info", None),
        ("server_joined", "info", "0"),
        ("server_joined", "info", "1"),
        ("new_files", "info", "2"),
        ("server_condition", "warning", "1"),
        ("server_silent", "error", "2"),
    ):
        assert expected in told, told
    assert [event["event"] for event in events(store, 1)] == ["started", "ended", "started"]
    assert all(event["server"] == store.addresses[1] for event in events(store, 1))


def test_a_server_that_is_away_when_the_manager_starts_is_in_the_log(store):
    assert store.end(1) == 0
    store.kill(2)
    store.kill(0)
    (store.directory / "server_0.log").unlink()
    store.start(0)

    def silent():
        return [event["of_server"] for event in events(store, 0) if event["event"] == "server_silent"]

    wait_until(silent)
    assert silent() == ["2"], "the other one has signed off"
    store.start(2)
    wait_until(lambda: states(store)[2] == "up")
    assert any(event["event"] == "server_joined" and event["of_server"] == "2" for event in events(store, 0))


def test_a_client_that_is_refused_is_in_the_log(work, monkeypatch):
    for name in ("key", "other"):
        (work / name).write_bytes(name.encode() * 8)
        (work / name).chmod(0o600)
    (work / "store").mkdir()
    store = Store(work / "store", 1, key=work / "key", options=("--log", "journal"))
    try:
        monkeypatch.setenv("STRIA_KEY_FILE", str(work / "other"))
        run("ls", store.url).refused("another key")
        refused = re.compile(r"^<4>client_refused: client 127\.0\.0\.1:\d+: .*another key$", re.MULTILINE)
        wait_until(lambda: refused.search((store.directory / "server_0.log").read_text()))
        log = (store.directory / "server_0.log").read_text()
        assert re.search(r"^<6>started: serves ", log, re.MULTILINE), log
    finally:
        store.close()


def figures_in(text):
    return set(re.findall(r"\bstria_[a-z_]+", text))


def test_rules_and_board_use_figures_that_there_are(store):
    [figures, *_] = [set(server["figures"]) for server in json.loads(run("status", "--json", store.url).succeeded().stdout)]
    there = {f"stria_{name.split('{')[0]}" for name in figures}
    rules = (MONITORING / "stria_rules.yml").read_text()
    board = json.loads((MONITORING / "stria_board.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    assert queries and figures_in(rules)
    for used in (figures_in(rules), figures_in(" ".join(queries))):
        assert used <= there, used - there
    for label in re.findall(r'kind="([a-z_]+)"|code="([a-z_]+)"', rules + " ".join(queries)):
        assert any(f'"{word}"' in name for word in label if word for name in figures), label


def test_prometheus_takes_rules_and_queries(work):
    """The board's queries are put into rules, where Prometheus reads them too."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian: prometheus)")
    board = json.loads((MONITORING / "stria_board.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    settled = [re.sub(r"\$__\w+|\$\{?\w+\}?", "5m", query) for query in queries]
    rules = [{"record": f"stria:query_{number}", "expr": query} for number, query in enumerate(settled)]
    (work / "board.yml").write_text(json.dumps({"groups": [{"name": "board", "rules": rules}]}))
    for path, count in ((MONITORING / "stria_rules.yml", 1), (work / "board.yml", len(queries))):
        done = subprocess.run([promtool, "check", "rules", str(path)], capture_output=True, text=True, timeout=60)
        found = re.search(r"SUCCESS: (\d+) rules found", done.stdout + done.stderr)
        assert done.returncode == 0 and found and int(found[1]) >= count, done


def test_prometheus_reads_the_page(store):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian: prometheus)")
    store.end(1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    store.options = (*store.options, "--metrics", f"127.0.0.1:{port}")
    store.start(1)
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read()
    done = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, timeout=60)
    # It may find names of other habits (3), and must be able to read all of it.
    assert page and done.returncode in (0, 3) and b"error while linting" not in done.stderr, done
