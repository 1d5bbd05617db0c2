"""Tests what the commands on stores do in the corners: modes of copies, servers that are away, long
names, interrupts, and stores that are started again."""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest
from store_processes import Store, lasting_port, new_key
from stria_program import PROGRAM, needs_laboratory, run, start


@pytest.fixture(scope="module")
def store(session_directory):
    directory = session_directory / "commands"
    directory.mkdir()
    servers = Store(directory, 2)
    yield servers
    servers.close()


def mode(path):
    return path.stat().st_mode & 0o7777


def known(url):
    return json.loads(run("stat", "--json", url).succeeded().stdout)


def test_plain_requests_to_a_store_are_lists(store, work):
    needs_laboratory()
    requests = {}
    for method in ("multiple", "list_io", "automatic"):
        told = work / f"{method}.json"
        options = ["--through", "posix", "--method", method, "--dir", f"{store.url}/lists", "--rounds", 1]
        run("bench", "display", *options, "--json", told, ranks=2).succeeded()
        requests[method] = json.loads(told.read_text())["write"]["requests"]
    assert requests["automatic"] == requests["list_io"] < requests["multiple"] / 10


def test_copies_have_the_mode_of_their_original(store, work):
    tree = work / "tree"
    tree.mkdir(mode=0o700)
    for name, bits in (("private", 0o600), ("program", 0o755), ("fixed", 0o444)):
        (tree / name).write_bytes(b"x" * 1000)
        (tree / name).chmod(bits)
    url = store.url + "/modes"
    umask = os.umask(0o022)
    try:
        run("cp", "-r", tree, url).succeeded()
        run("cp", "-r", url, work / "back").succeeded()
        run("cp", tree / "program", url + "/private").succeeded()
    finally:
        os.umask(umask)
    assert known(url)["mode"] == "0700" and mode(work / "back") == 0o700
    assert [known(f"{url}/{name}")["mode"] for name in ("program", "fixed")] == ["0755", "0444"]
    assert [mode(work / "back" / name) for name in ("private", "program", "fixed")] == [0o600, 0o755, 0o444]
    assert known(url + "/private")["mode"] == "0600", "what is replaced decides"


def test_a_server_that_is_away_does_not_keep_the_rest(store, work):
    url = store.url + "/away"
    for index in range(6):
        (work / f"file_{index}").write_bytes(b"y" * 600_000)
        run("cp", work / f"file_{index}", f"{url}/").succeeded()
    store.kill(1)
    try:
        # A busy machine may delay any listing, but not each of them so much.
        for _ in range(5):
            begin = time.monotonic()
            listed = run("ls", "-l", url)
            if (took_s := time.monotonic() - begin) < 20:
                break
        assert took_s < 20, "each file waits"
        assert listed.code == 1 and store.addresses[1] in listed.messages[0], listed
        lines = listed.stdout.splitlines()
        assert len(lines) == 6 and all("?" in line for line in lines), listed
        described = run("stat", "--json", f"{url}/file_0")
        assert described.code == 1 and json.loads(described.stdout)["bytes"] is None, described
    finally:
        store.start(1)
    assert known(f"{url}/file_0")["bytes"] == 600_000


def test_listings_fit_a_terminal(store, work):
    (work / "file").write_bytes(b"z" * 1_000_000)
    run("cp", work / "file", store.url + "/wide/run").succeeded()
    for words in (["ls", "-l", store.url + "/wide"], ["status", store.url], ["df", store.url]):
        lines = run(*words).succeeded().stdout.splitlines()
        assert lines and max(map(len, lines)) <= 80, lines


def test_when_a_file_was_changed(store, work):
    (work / "file").write_bytes(b"z" * 1000)
    run("cp", work / "file", store.url + "/changed").succeeded()
    described = known(store.url + "/changed")
    assert described["modified"] >= described["made"]
    assert "changed" in run("stat", store.url + "/changed").succeeded().stdout


def test_the_longest_names(store, work):
    for length in (246, 247, 255):
        (work / ("n" * length)).write_bytes(b"long")
        run("cp", work / ("n" * length), f"{store.url}/long/").succeeded()
    assert sorted(map(len, run("ls", store.url + "/long").succeeded().stdout.split())) == [246, 247, 255]
    (work / "back").mkdir()
    run("cp", f"{store.url}/long/" + "n" * 255, work / "back").succeeded()
    assert (work / "back" / ("n" * 255)).read_bytes() == b"long"


def test_names_do_nothing_on_a_terminal(store, work):
    (work / "bad\x1b[31m").write_bytes(b"")
    run("cp", work / "bad\x1b[31m", f"{store.url}/terminal/").succeeded()
    assert "\x1b" in run("ls", store.url + "/terminal").succeeded().stdout
    terminal, its_end = os.openpty()
    subprocess.run([PROGRAM, "ls", store.url + "/terminal"], stdout=its_end, check=True)
    os.close(its_end)
    assert os.read(terminal, 1000).strip() == b"bad?[31m"
    os.close(terminal)


def test_rm_goes_on_and_mv_advises(store, work):
    url = store.url + "/several"
    for name in ("a", "b"):
        run("cp", __file__, f"{url}/{name}").succeeded()
    run("mv", f"{url}/a", work / "a").refused("stria cp")
    run("rm", f"{url}/a", f"{url}/none", f"{url}/b").refused("none")
    assert run("ls", url).succeeded().stdout == ""


def test_an_interrupted_copy_leaves_nothing(store, work):
    with open(work / "large", "wb") as file:
        file.truncate(30 << 20)
    url = store.url + "/interrupted"
    run("mkdir", url).succeeded()
    store.processes[1].send_signal(signal.SIGSTOP)
    try:
        copy = start(["cp", work / "large", f"{url}/large"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 200
        while ".large.partial" not in run("ls", url).succeeded().stdout:
            assert copy.poll() is None and time.monotonic() < deadline
        copy.send_signal(signal.SIGINT)
    finally:
        store.processes[1].send_signal(signal.SIGCONT)
    assert copy.wait(timeout=60) == -signal.SIGINT
    assert run("ls", url).succeeded().stdout == ""


@contextlib.contextmanager
def cluster(directory, address):
    command = [PROGRAM, "serve", "--cluster", "3", "--dir", directory, "--listen", address]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        url = process.stdout.readline().strip()
        yield url
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_a_cluster_has_the_same_addresses_again(work):
    port = lasting_port()
    if port == 0:
        pytest.skip("no port that stays free")
    seen = []
    for _ in range(2):
        with cluster(work / "cluster", f"127.0.0.1:{port}") as url:
            run("status", "--wait", 3, url).succeeded()
            seen.append([server["address"] for server in json.loads(run("df", "--json", url).succeeded().stdout)])
    assert seen[0] == seen[1] and len(set(seen[0])) == 3
    run("serve", "--cluster", 2, "--join", "127.0.0.1:1", "--dir", work / "other").refused("--join")


def test_every_address_is_none_that_clients_can_use(work):
    run("serve", "--dir", work / "store", "--listen", "0.0.0.0:0", "--key", new_key(work / "key")).refused("--advertise")
