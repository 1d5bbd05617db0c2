"""Looking after servers: what `stria status` and the page for Prometheus say, and servers with
few descriptors."""

import contextlib
import json
import os
import random
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
from store_processes import Store
from stria_program import PROGRAM, run

FIGURE = re.compile(r'^stria_[a-z_]+(\{[a-z]+="[a-z_]+"\})? -?\d+$')


@pytest.fixture(scope="module")
def store(session_directory):
    directory = session_directory / "operation"
    directory.mkdir()
    servers = Store(directory, 2)
    yield servers
    servers.close()


def status(url):
    return json.loads(run("status", "--json", url).succeeded().stdout)


def total(servers, name):
    return sum(server["figures"][name] for server in servers)


def status_when(url, holds):
    """Returns the status as soon as it is so: a request is counted, and gives back its memory, just
    after its answer was sent."""
    deadline = time.monotonic() + 200
    while not holds(servers := status(url)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return servers


def test_status_counts_what_was_done(store, work):
    content = random.Random(1).randbytes(3_000_001)
    (work / "file").write_bytes(content)
    before = status(store.url)
    run("cp", work / "file", f"{store.url}/file").succeeded()
    run("cp", f"{store.url}/file", work / "copy").succeeded()
    run("cp", f"{store.url}/none", work / "none").refused("none")
    requests = [f'requests_total{{kind="{kind}"}}' for kind in ("open", "write", "read")]
    after = status_when(
        store.url,
        lambda now: total(now, "buffers") == 0 and all(total(now, name) > total(before, name) for name in requests),
    )
    assert [server["address"] for server in after] == store.addresses
    assert [server["figures"]["manager"] for server in after] == [1, 0]
    for name in ("written_bytes_total", "read_bytes_total"):
        assert total(after, name) - total(before, name) == len(content), name
    for name in requests:
        assert total(after, name) > total(before, name), name
        assert total(after, name.replace("requests", "request_nanoseconds")) > 0
    assert total(after, 'errors_total{code="not_found"}') > total(before, 'errors_total{code="not_found"}')
    assert all(0 < server["figures"]["space_free_bytes"] <= server["figures"]["space_bytes"] for server in after)
    assert all(server["figures"]["buffers"] == 0 for server in after), "nothing is on its way"


def test_status_is_a_table_again_and_again(store):
    done = run("status", "--watch", "0.1", "--times", 3, store.url).succeeded()
    lines = done.stdout.splitlines()
    assert len(lines) == 15 and max(map(len, lines)) <= 80, done
    assert lines[0].split()[0] == "server" and store.addresses[0] in lines[1]
    assert len(lines[1].split()) == len("0 ADDRESS 8 s 5 19.5 3 MB 0 B 0 0".split()), lines[1]
    assert lines[2].startswith("    up, manager; ") and lines[2].endswith(" free"), lines[2]
    assert "\x1b" not in done.stdout, "not a terminal"


def test_status_names_the_server_that_does_not_answer(store):
    store.kill(1)
    try:
        done = run("status", store.url)
        assert done.code == 1, done
        lines = done.stdout.splitlines()
        place = next(i for i, line in enumerate(lines) if store.addresses[1] in line)
        assert "doesn't answer" in " ".join(lines[place : place + 2]), done
    finally:
        store.start(1)
    run("status", "stria://127.0.0.1:1").refused("127.0.0.1:1")


@pytest.fixture
def page(work):
    """Gives a server that has a page; its store and the page's address."""
    with subprocess.Popen(
        [PROGRAM, "serve", "--dir", work / "paged", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        url = process.stdout.readline().strip()
        lines = iter(process.stderr.readline, "")
        place = next(filter(None, (re.search(r"http://(\S+?):(\d+)/metrics", line) for line in lines)))
        yield url, place[1], int(place[2])
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_the_page_for_prometheus(page, work):
    url, host, port = page
    (work / "file").write_bytes(b"x" * 5000)
    run("cp", work / "file", f"{url}/file").succeeded()
    silent = socket.create_connection((host, port))  # a silent client is cut off
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=20) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = answer.read().decode().splitlines()
    silent.close()
    head = urllib.request.Request(f"http://{host}:{port}/metrics", method="HEAD")
    with urllib.request.urlopen(head, timeout=20) as answer:
        assert answer.status == 200 and int(answer.headers["Content-Length"]) > 0
    assert all(line.startswith("# TYPE stria_") or FIGURE.match(line) for line in lines), lines
    assert "stria_written_bytes_total 5000" in lines
    assert "# TYPE stria_written_bytes_total counter" in lines and "# TYPE stria_connections gauge" in lines
    names = [line.split()[2] for line in lines if line.startswith("#")]
    assert len(names) == len(set(names)), "each name once"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://{host}:{port}/secret", timeout=20)


def is_closed_by_its_server(connection):
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


@contextlib.contextmanager
def strangers_at(address):
    """Connects again and again without a word, and stays until the server ends it, so that the
    server's places are always taken."""
    present = []
    ends = threading.Event()

    def come():
        while not ends.wait(0.01):
            with contextlib.suppress(OSError):
                present.append(socket.create_connection(address, timeout=5))
                present[-1].setblocking(False)
            for each in [each for each in present if is_closed_by_its_server(each)]:
                each.close()
                present.remove(each)

    thread = threading.Thread(target=come)
    thread.start()
    try:
        # The server ends only those that were idle for a quarter of a second.
        time.sleep(1)
        yield
    finally:
        ends.set()
        thread.join()
        for each in present:
            each.close()


def test_a_server_with_few_descriptors_serves_many_files_and_clients(work):
    """64 besides those for event loops and other things: half of them for connections, and two for
    each part of an open file."""
    (work / "store").mkdir()
    loops = min(max(4 * len(os.sched_getaffinity(0)), 8), 32)
    store = Store(work / "store", 1, descriptors=32 + 3 * loops + 64)
    try:
        [server] = status(store.url)
        assert server["figures"]["connections_limit"] == 32
        generator = random.Random(2)
        contents = {f"file_{index}": generator.randbytes(2000) for index in range(30)}
        for name, content in contents.items():
            (work / name).write_bytes(content)
            run("cp", work / name, f"{store.url}/{name}").succeeded()
        with strangers_at(store.addresses[0].split(":")):
            for name, content in contents.items():
                run("cp", f"{store.url}/{name}", work / "back").succeeded()
                assert (work / "back").read_bytes() == content, name
            [server] = status(store.url)
        assert server["figures"]["open_objects"] <= 16
        assert server["figures"]["connections_made_room_total"] > 0
    finally:
        store.close()
