"""Parts of files move to other servers: one is drained, one joins; names from before are mended."""

import concurrent.futures
import json
import random
import shutil
import time

import pytest
from store_processes import Store, started
from stria_program import run
from waiting import wait_until


@pytest.fixture
def make_store(work, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "5")
    (work / "store").mkdir()
    stores = []

    def make(count):
        stores.append(Store(work / "store", count))
        return stores[0]

    yield make
    for store in stores:
        store.close()


def content_of(name, size):
    return random.Random(name).randbytes(size)


def put(store, work, name, size=1_500_000):
    (work / "content").write_bytes(content_of(name, size))
    run("cp", "--sync", work / "content", f"{store.url}/{name}").succeeded()


def is_whole(store, work, name, size=1_500_000):
    run("cp", f"{store.url}/{name}", work / "back").succeeded()
    return (work / "back").read_bytes() == content_of(name, size)


def facts(store, name):
    return json.loads(run("stat", "--json", f"{store.url}/{name}").succeeded().stdout)


def servers_of(store, name):
    return sorted(server["index"] for server in facts(store, name)["servers"])


def data_bytes(store, index):
    parts = (store.directory / str(index)).glob("data/*/*")
    return sum(part.stat().st_size for part in parts if part.suffix == "")


def fsck(store, *options):
    done = run("fsck", "--json", store.url, *options)
    return done.code, json.loads(done.stdout)


SIZES = {"wide": 1_500_000, "small": 1000, "empty": 0, "two": 600_000}


def test_a_server_is_drained_and_taken_out(make_store, work):
    store = make_store(3)
    for name, size in SIZES.items():
        put(store, work, name, size)
    modified = {name: facts(store, name)["modified"] for name in SIZES}
    refused = run("retire", store.url, 1)
    assert refused.code == 1 and "stria server drain" in refused.stderr, refused
    done = run("server", "drain", store.url, store.addresses[1]).succeeded()
    assert "server 1" in done.stdout and "stria retire" in done.stdout
    assert all(1 not in servers_of(store, name) for name in SIZES)
    assert servers_of(store, "wide") in ([0, 0, 2], [0, 2, 2]), "a server may have two parts of a file"
    wait_until(lambda: data_bytes(store, 1) == 0)
    assert fsck(store)[0] == 0
    assert {name: facts(store, name)["modified"] for name in SIZES} == modified
    put(store, work, "new")
    assert servers_of(store, "new") == [0, 2]
    run("retire", store.url, 1).succeeded()
    store.end(1)
    run("scrub", store.url).succeeded()
    for name, size in SIZES.items():
        assert is_whole(store, work, name, size)
        run("rm", f"{store.url}/{name}").succeeded()
    assert is_whole(store, work, "new")
    wait_until(lambda: fsck(store)[1]["files"] == 1 and fsck(store)[1]["parts"] == 2)


def test_the_drained_server_can_have_its_parts_again(make_store, work):
    store = make_store(2)
    for name, size in SIZES.items():
        put(store, work, name, size)
    for server in (1, 0, 1):
        run("server", "drain", store.url, server).succeeded()
        assert all(server not in servers_of(store, name) for name in SIZES)
        run("server", "new-files", store.url, server).succeeded()
        wait_until(lambda server=server: data_bytes(store, server) == 0)
        assert all(is_whole(store, work, name, size) for name, size in SIZES.items())
    assert fsck(store)[0] == 0


def test_what_cannot_go_is_told(make_store, work):
    store = make_store(2)
    put(store, work, "wide")
    run("server", "no-new-files", store.url, 0).succeeded()
    done = run("server", "drain", store.url, 1)
    assert done.code == 1 and "/wide: no other server has space" in done.stderr, done
    assert "has 1 part still" in done.stdout, done
    assert is_whole(store, work, "wide")
    run("server", "drain", store.url, 5).refused("no server '5'")


def test_a_server_that_joins_gets_its_share(make_store, work):
    store = make_store(2)
    for index in range(12):
        put(store, work, f"file_{index}", 1_000_000)
    store.join()
    wait_until(lambda: [server["state"] for server in json.loads(run("df", "--json", store.url).stdout)] == ["up"] * 3)
    told = run("server", "rebalance", "--dry-run", store.url).succeeded().stdout
    assert "would move" in told and not told.startswith("0 parts"), told
    assert data_bytes(store, 2) == 0
    run("server", "rebalance", "--rate", "50", store.url).succeeded()
    wait_until(lambda: fsck(store)[0] == 0 and sum(data_bytes(store, index) for index in range(3)) == 12_000_000)
    shares = [data_bytes(store, index) for index in range(3)]
    assert all(3_200_000 < share < 4_800_000 for share in shares), shares
    assert all(is_whole(store, work, f"file_{index}", 1_000_000) for index in range(12))
    assert run("server", "rebalance", "--dry-run", store.url).succeeded().stdout.startswith("0 parts")


def test_names_from_before_a_move_find_the_parts(make_store, work):
    """`stria fsck --repair` takes a part where it is, and its file for none that was removed."""
    store = make_store(3)
    run("server", "no-new-files", store.url, 2).succeeded()
    put(store, work, "moved")
    put(store, work, "removed")
    run("backup", store.url, work / "names").succeeded()
    run("server", "new-files", store.url, 2).succeeded()
    run("server", "drain", store.url, 1).succeeded()
    assert servers_of(store, "moved") == [0, 2]
    run("rm", f"{store.url}/removed").succeeded()
    wait_until(lambda: data_bytes(store, 1) == 0 and fsck(store)[1]["parts"] == 2)
    store.end(0)
    for name in ("names.sqlite-wal", "names.sqlite-shm"):
        (store.directory / "0" / name).unlink(missing_ok=True)
    shutil.copy(work / "names", store.directory / "0/names.sqlite")
    store.start(0)
    wait_until(lambda: [server["state"][:2] for server in json.loads(run("df", "--json", store.url).stdout)] == ["up"] * 3)
    code, report = fsck(store)
    kinds = sorted((fault["fault"], fault["path"]) for fault in report["faults"])
    assert code == 1 and kinds[:2] == [("elsewhere", "/moved"), ("removed", "/moved")], report
    code, report = fsck(store, "--repair")
    assert code == 0, report
    assert servers_of(store, "moved") == [0, 2] and is_whole(store, work, "moved")
    run("stat", f"{store.url}/removed").refused("removed")
    assert fsck(store)[0] == 0


def finished(process):
    """Waits for its end, and returns its status, and what it has said."""
    stdout, stderr = process.communicate(timeout=90)
    return process.returncode, stdout, stderr


def comes_to(store, index, least):
    wait_until(lambda: data_bytes(store, index) >= least)


@pytest.mark.parametrize("command", ["drain", "rebalance"])
def test_moves_go_on_when_the_manager_is_started_again(make_store, work, command):
    """It is killed in the midst of a copy, and of the next one; that of a drained server's part
    can't be the manager's own."""
    store = make_store(2)
    sizes = {f"file_{number}": 8_000_000 for number in range(4)}
    for name, size in sizes.items():
        put(store, work, name, size)
    store.join()
    wait_until(lambda: len(json.loads(run("df", "--json", store.url).stdout)) == 3)
    which = ["drain", store.url, 1] if command == "drain" else ["rebalance", store.url]
    with started("server", *which, "--rate", 4) as moving:
        for least in (1_000_000, 5_500_000):
            comes_to(store, 2, least)
            store.kill(0)
            time.sleep(0.5)
            store.start(0)
        assert finished(moving)[0] == 0
    if command == "drain":
        assert all(1 not in servers_of(store, name) for name in sizes)
    else:
        assert run("server", "rebalance", "--dry-run", store.url).succeeded().stdout.startswith("0 parts")
    wait_until(lambda: fsck(store)[0] == 0)
    assert all(is_whole(store, work, name, size) for name, size in sizes.items())


def test_a_command_that_the_manager_has_left_says_how_to_go_on(make_store, work, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "2")
    store = make_store(3)
    for number in range(3):
        put(store, work, f"file_{number}", 6_000_000)
    run("server", "no-new-files", store.url, 0).succeeded()
    with started("server", "drain", store.url, 1, "--rate", 3) as drain:
        comes_to(store, 2, 3 * 2_000_000 + 2_500_000)  # a whole part, and some of the next one
        store.kill(0)
        code, _, told = finished(drain)
    assert code == 2 and f"repeat 'stria server drain {store.url} 1'" in told, told
    assert "1 part moved" in told, told
    scrubbed = run("scrub", store.url)
    assert scrubbed.code == 2 and "nothing" not in scrubbed.stdout, scrubbed
    checked = run("fsck", "--repair", store.url)
    assert checked.code == 2 and "doesn't answer" in checked.stderr, checked
    store.start(0)
    run("server", "drain", store.url, 1).succeeded()
    wait_until(lambda: fsck(store)[0] == 0)
    assert all(is_whole(store, work, f"file_{number}", 6_000_000) for number in range(3))


def test_a_scrub_follows_parts_that_move(make_store, work):
    """None of its bytes is left out, whichever part moves when it is looked at."""
    store = make_store(3)
    (work / "many").mkdir()
    for number in range(100):
        (work / "many" / f"file_{number}").write_bytes(bytes(300_000))
    run("cp", "-r", work / "many", f"{store.url}/many").succeeded()
    reports = []

    def scrub_until(drain):
        while drain.poll() is None:
            done = run("scrub", "--json", store.url)
            reports.append((done.code, json.loads(done.stdout)))

    with started("server", "drain", store.url, 1, "--rate", 4) as drain, concurrent.futures.ThreadPoolExecutor() as pool:
        for scrub in [pool.submit(scrub_until, drain) for _ in range(4)]:
            scrub.result()
        assert finished(drain)[0] == 0
    assert len(reports) > 8
    for code, report in reports:
        assert code == 0 and report["bytes"] == 100 * 300_000 and report["whole"], report
