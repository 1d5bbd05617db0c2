"""Programs on a store of four servers: the FLASH applications with restarts, the drop-in, the
tools, and servers that die.

From the environment, beside stria_program's: STRIA_MPIIO (the drop-in), STRIA_BIN (its
programs), STRIA_MPI.
"""

import json
import os
import pathlib
import random
import subprocess
import threading
import time
import urllib.parse

import h5py
import pytest
from store_processes import Store
from stria_program import MPIEXEC, PROGRAM, environment, has_sedov, needs_laboratory, run

SERVERS = 4


@pytest.fixture(scope="module")
def store(session_directory):
    directory = session_directory / "store"
    directory.mkdir()
    servers = Store(directory, SERVERS)
    yield servers
    servers.close()


def names(url):
    return run("ls", url).succeeded().stdout.split()


def write_on_all_servers(url, *options):
    """Writes files below url until the first one lies on every server, and returns its URL. A new
    file lies on the servers of which the manager has heard lately; just after one was killed,
    these aren't all."""
    deadline = time.monotonic() + 300
    while True:
        run("flash", "io", *options, "--keep", "--dir", url, ranks=3).succeeded()
        first = f"{url}/{names(url)[0]}"
        if len(stripes(first)[1]) == SERVERS:
            return first
        assert time.monotonic() < deadline, "a server stays away"
        run("rm", first).succeeded()
        time.sleep(0.5)


def fetch(url, path):
    run("cp", url, path).succeeded()
    return path


def assert_same(left, right):
    """Asserts that both hold the same numbers at the same places; the time at which a file was made
    is text in it."""
    assert left.stat().st_size == right.stat().st_size
    with h5py.File(left) as one, h5py.File(right) as other:
        assert list(one) == list(other)
        for name, dataset in one.items():
            if isinstance(dataset, h5py.Dataset) and dataset.dtype.kind in "fiu":
                assert dataset.id.get_offset() == other[name].id.get_offset()
                assert (dataset[...] == other[name][...]).all(), name


def test_flash_checkpoint_with_restart(store, work):
    """Written on three ranks, every value checked, read on two and on five; the values are those
    of a local file."""
    options = ["--nxb", 8, "--nvar", 6, "--blocks", 9, "--rounds", 1, "--plotfile", "--keep", "--verify"]
    url = store.url + "/flash"
    for directory in (url, work):
        run("flash", "io", *options, "--layout", "standard", "--read", "--dir", directory, ranks=3).succeeded()
    written = sorted(path.name for path in work.iterdir())
    assert names(url) == written and len(written) == 4
    for name in written:
        assert_same(fetch(f"{url}/{name}", work / "copy"), work / name)
        run("verify", f"{url}/{name}").succeeded()
    checkpoint = next(name for name in written if "chk" in name)
    for ranks in (2, 5):
        run("flash", "io", "--read-from", f"{url}/{checkpoint}", "--verify", "--rounds", 1, ranks=ranks).succeeded()


@pytest.mark.parametrize("method", ["list_io", "datatype_io", "two_phase", "data_sieving", "hybrid", "multiple"])
def test_every_method(store, method):
    options = ["--nxb", 4, "--nvar", 3, "--blocks", 4, "--rounds", 1, "--verify", "--read", "--sync"]
    run("flash", "io", *options, "--dir", store.url + "/methods", "--hint", f"stria_method={method}", ranks=3).succeeded()


def test_lists_can_be_shorter(store, work, monkeypatch):
    requests = {}
    for ranges in ("", "8"):
        monkeypatch.setenv("STRIA_LIST_RANGES", ranges)
        words = ["--mib", 1, "--accesses", 1000, "--through", "posix", "--method", "list_io", "--verify", "--read"]
        result = work / f"result{ranges}"
        run("bench", "cyclic", *words, "--rounds", 1, "--dir", store.url, "--json", result, ranks=2).succeeded()
        requests[ranges] = json.loads(result.read_text())["write"]["traffic"]["requests"]
    # 2 ranks with 1,000 pieces each; the layer itself gives 64 at a time.
    assert requests["8"] >= 2 * 1000 // 8 > 2 * requests[""], requests


@pytest.mark.parametrize("accesses, chosen", [(100, ("datatype_io", "datatype_io")), (30000, ("two_phase", "datatype_io"))])
def test_collective_calls_choose_who_asks_the_servers(store, work, accesses, chosen):
    """Pieces of 3,495 bytes go by each rank's datatype. Those of 11 bytes are written through
    aggregators; of reads, servers compare each block three times, which an exchange would cost."""
    requests = {}
    for method in ("automatic", "datatype_io", "two_phase"):
        words = [
            "--mib",
            1,
            "--accesses",
            accesses,
            "--through",
            "mpiio",
            "--hint",
            f"stria_method={method}",
            "--verify",
            "--read",
        ]
        words += ["--hint", "striping_unit=16384", "--rounds", 1, "--dir", store.url, "--json", work / "result"]
        needs_laboratory()
        command = [MPIEXEC, "-n", 3, "env", f"LD_PRELOAD={os.environ['STRIA_MPIIO']}", PROGRAM, "bench", "cyclic", *words]
        done = subprocess.run(
            list(map(str, command)), env=environment(), capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads((work / "result").read_text())
        requests[method] = [result[direction]["traffic"]["requests"] for direction in ("write", "read")]
    for expected, automatic, by_type, by_aggregators in zip(chosen, *requests.values(), strict=True):
        nearest = "datatype_io" if abs(automatic - by_type) < abs(automatic - by_aggregators) else "two_phase"
        assert nearest == expected, requests


def small_calls(store, work, *through):
    """Returns the words of `stria bench` for ranks that write and read 1 KiB in turn along a
    file."""
    words = ["ior", "--block-kib", 1, "--transfer-kib", 1, "--segments", 2000, "--rounds", 1, "--verify", "--read"]
    return ["bench", *words, "--through", *through, "--dir", store.url, "--json", work / "result"]


def test_small_calls_in_turn_make_few_requests(store, work):
    """Each rank wants a third of every page. How often one travels depends on when the ranks leave
    the barrier before, so that only requests are counted."""
    needs_laboratory()
    words = small_calls(store, work, "mpiio", "--independent")
    command = [MPIEXEC, "-n", 3, "env", f"LD_PRELOAD={os.environ['STRIA_MPIIO']}", PROGRAM, *words]
    done = subprocess.run(list(map(str, command)), env=environment(), capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((work / "result").read_text())
    assert result["read"]["traffic"]["requests"] < 400
    assert result["write"]["traffic"]["requests"] < 400


def test_small_requests_of_the_plain_layer_are_gathered_on_request(store, work):
    requests = []
    for hints in ([], ["--hint", "stria_cache_bytes=8388608"]):
        run(*small_calls(store, work, "posix", "--method", "multiple"), *hints, ranks=3).succeeded()
        requests.append(json.loads((work / "result").read_text())["write"]["traffic"]["requests"])
    assert requests[0] >= 3 * 2000 and requests[1] < 400


def stripes(url):
    """Returns (bytes of a stripe, indices of the servers) of a file."""
    known = json.loads(run("stat", "--json", url).succeeded().stdout)
    return known["stripe_bytes"], [server["index"] for server in known["servers"]]


def test_hints_stripe_new_files(store):
    options = ["--nxb", 4, "--nvar", 3, "--blocks", 4, "--rounds", 1, "--verify", "--keep", "--layout", "standard"]
    url = store.url + "/striped"
    hints = ["--hint", "striping_unit=65536", "--hint", "striping_factor=3", "--hint", "start_iodevice=2"]
    run("flash", "io", *options, "--dir", url, *hints, ranks=2).succeeded()
    (name,) = names(url)
    unit, servers = stripes(f"{url}/{name}")
    assert unit == 65536 and servers == [2, 3, 0]


def test_sedov_goes_on_from_its_checkpoint(store):
    if not has_sedov():
        pytest.skip("this build has no Sedov application")
    url = store.url + "/sedov"
    common = ["--max-level", 3, "--out", url, "--checkpoint-every", 4]
    run("flash", "sedov", *common, "--steps", 8, "--plot-every", 4, ranks=3).succeeded()
    assert "sedov_hdf5_chk_0001" in names(url)
    again = run("flash", "sedov", *common, "--steps", 12, "--restart", "latest", ranks=2).succeeded()
    assert "sedov_hdf5_chk_0002" in names(url), again
    run("verify", f"{url}/sedov_hdf5_chk_0002").succeeded()
    assert not [name for name in names(url) if name.endswith(".partial")]


def test_of_a_file_and_its_staged_copy_the_newer_one_counts(store, work):
    options = ["--nxb", 4, "--nvar", 3, "--rounds", 1, "--keep", "--layout", "standard"]
    for directory, blocks in (("new", 2), ("old", 1)):
        (work / directory).mkdir()
        run("flash", "io", *options, "--blocks", blocks, "--dir", work / directory).succeeded()
    (own,), (other,) = ([*(work / directory).iterdir()] for directory in ("new", "old"))
    content = own.read_bytes()
    near = store.url + "/near"
    staged = f"{near}/{urllib.parse.quote(str(own), safe='')}"
    run("cp", other, staged).succeeded()
    future = time.time() + 1000
    os.utime(own, (future, future))
    assert "holds no file for another place" in run("drain", near).succeeded().stdout
    assert own.read_bytes() == content and names(near) == []
    run("cp", other, staged).succeeded()
    os.utime(own, (0, 0))
    assert f"brought '{own}'" in run("drain", near).succeeded().stdout
    assert own.read_bytes() == other.read_bytes() and names(near) == []


@pytest.mark.parametrize("ranks, per_node", [(2, 2), (3, 3), (3, 2)])
def test_small_accesses_are_seen_by_other_ranks(store, ranks, per_node):
    """They are gathered without a hint; any call of MPI orders them."""
    program = pathlib.Path(os.environ["STRIA_BIN"]) / "mpiio_small"
    if not program.exists():
        pytest.skip("this build has no tests of MPI-IO")
    variables = [f"LD_PRELOAD={os.environ['STRIA_MPIIO']}", f"STRIA_RANKS_PER_NODE={per_node}"]
    command = [MPIEXEC, "-n", ranks, "env", *variables, program, "--prefix", store.url, "--dir", "/small"]
    done = subprocess.run(list(map(str, command)), env=environment(), capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_drop_in_with_parallel_hdf5(store, work):
    program = pathlib.Path(os.environ["STRIA_BIN"]) / "mpiio_hdf5_program"
    if not program.exists():
        pytest.skip("this build has no parallel HDF5 program")

    def run_program(action, path, preload=True):
        library = [f"LD_PRELOAD={os.environ['STRIA_MPIIO']}"] if preload else []
        hints = "STRIA_HINTS=striping_unit=131072;striping_factor=2"
        command = [MPIEXEC, "-n", "3", "env", hints, *library, program, action, path]
        done = subprocess.run(
            list(map(str, command)), env=environment(), capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    url = store.url + "/drop_in/program.h5"
    run_program("write", url)
    run_program("read", url)
    unit, servers = stripes(url)
    assert unit == 131072 and len(servers) == 2, "the drop-in's hints"
    run_program("read", fetch(url, work / "copy.h5"), preload=False)


def test_tools(store, work):
    url = store.url + "/tools"
    generator = random.Random(5)
    for size in (0, 1, 262144, 262145, 5_000_003):
        original = work / f"file_{size}"
        original.write_bytes(generator.randbytes(size))
        run("cp", original, f"{url}/sub/").succeeded()
        assert fetch(f"{url}/sub/{original.name}", work / "back").read_bytes() == original.read_bytes()
        assert json.loads(run("stat", "--json", f"{url}/sub/{original.name}").succeeded().stdout)["bytes"] == size
    run("mv", f"{url}/sub/file_1", f"{url}/sub/file_0").succeeded()
    assert names(url) == ["sub/"]
    assert "file_1" not in names(url + "/sub")
    assert (fetch(f"{url}/sub/file_0", work / "one")).stat().st_size == 1
    assert len(run("ls", "-l", url + "/sub").succeeded().stdout.splitlines()) == 4
    run("rm", url).refused("not empty")
    run("rm", "-r", url).succeeded()
    assert "tools/" not in names(store.url)
    servers = json.loads(run("df", "--json", store.url).succeeded().stdout)
    assert [server["address"] for server in servers] == store.addresses
    assert all(server["free_bytes"] > 0 and 0 <= server["silent_ms"] < 10000 for server in servers)
    run("ls", url).refused(url, "No such file or directory")
    run("cp", f"{url}/none", work / "none").refused("none")
    run("ls", "stria://127.0.0.1").refused("not a server's address")
    run("ls", "stria://127.0.0.1:1/x").refused("127.0.0.1:1", "doesn't answer")


def test_directories_and_several_files(store, work):
    tree = work / "tree"
    (tree / "below/empty").mkdir(parents=True)
    contents = {"one": b"1", "below/two": b"2" * 300_000, "below/three": b""}
    for name, content in contents.items():
        (tree / name).write_bytes(content)
    url = store.url + "/trees"
    run("cp", tree, url).refused("is a directory", "-r")
    run("cp", "-r", tree, url).succeeded()  # under a new name
    run("cp", "-r", tree, url).succeeded()  # into what is a directory now
    assert names(url) == ["below/", "one", "tree/"] and names(f"{url}/tree/below") == ["empty/", "three", "two"]
    run("cp", "-r", f"{url}/tree", work / "back").succeeded()
    assert all((work / "back" / name).read_bytes() == content for name, content in contents.items())
    assert (work / "back/below/empty").is_dir()
    run("cp", "-r", url, f"{url}/tree/below").refused("into itself")
    run("cp", tree / "one", tree / "below/two", url).succeeded()
    run("cp", tree / "one", tree / "below/two", f"{url}/one").refused("no directory")
    run("mv", f"{url}/two", f"{url}/tree").succeeded()
    assert names(f"{url}/tree") == ["below/", "one", "two"]
    listed = json.loads(run("ls", "--json", "-l", f"{url}/tree").succeeded().stdout)
    assert [(entry["name"], entry["directory"], entry.get("bytes")) for entry in listed] == [
        ("below", True, None), ("one", False, 1), ("two", False, 300_000),
    ]  # fmt: skip


def test_mkdir(store, work):
    url = store.url + "/directories"
    run("mkdir", f"{url}/below").refused("no directory", f"'{url}'", "-p")
    assert "directories/" not in names(store.url)
    run("mkdir", url, f"{url}/below/").succeeded()
    run("mkdir", f"{url}/below").refused("File exists")
    run("mkdir", store.url).refused("File exists")
    run("mkdir", "-p", f"{url}/one/two/three", f"{url}/below").succeeded()
    assert names(url) == ["below/", "one/"] and names(f"{url}/one/two") == ["three/"]
    run("cp", __file__, f"{url}/file").succeeded()
    for option in ([], ["-p"]):
        run("mkdir", *option, f"{url}/file").refused("File exists")
    run("mkdir", f"{url}/file/below").refused("no directory")
    run("mkdir", "-p", f"{url}/file/below").refused(f"{url}/file/below")


def test_what_is_no_file_is_refused(store, work):
    url = store.url + "/made"
    run("cp", __file__, f"{url}/file").succeeded()
    run("mkdir", "/tmp/made").refused("stria://")
    os.mkfifo(work / "pipe")
    run("cp", work / "pipe", url).refused("neither a file nor a directory")
    (work / "tree").mkdir()
    (work / "tree/round").symlink_to(".")
    run("cp", "-r", work / "tree", url).refused("a link to a directory")


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 4]))


def test_flipped_bytes_on_disk_are_found_by_read_and_scrub(store, work):
    original = work / "original"
    original.write_bytes(random.Random(11).randbytes(3_000_001))
    url = store.url + "/scrubbed/file"
    run("cp", "--sync", original, url).succeeded()
    assert "every block is as it was written" in run("scrub", store.url).succeeded().stdout
    number = json.loads(run("stat", "--json", url).succeeded().stdout)["servers"][1]["index"]
    parts = store.directory / str(number) / "data"
    newest = max((path for path in parts.rglob("*") if path.is_file() and path.suffix == ""), key=os.path.getmtime)
    flip(newest, 300_000)  # in the second stripe of the second slot: bytes 1,310,720 on of the file
    place = 1_310_720 + 300_000 - 262_144
    found = run("scrub", "--json", store.url + "/scrubbed")
    assert found.code == 1, found
    report = json.loads(found.stdout)
    assert report["files"] == 1 and report["bytes"] == 3_000_001
    [fault] = report["faults"]
    assert fault["path"] == url and fault["fault"] == "damaged" and fault["block"] == 300_000 // 4096
    assert fault["begin"] <= place < fault["end"] == fault["begin"] + 4096
    assert fault["server"] == store.addresses[number]
    text = run("scrub", url)
    assert text.code == 1 and f"block {fault['block']}) are damaged" in text.stdout, text
    run("cp", url, work / "copy").refused(url, store.addresses[number], f"block {fault['block']} ", "damaged")
    run("scrub", "--accept", url)
    assert run("scrub", url).code == 1, "what is damaged can't be accepted"
    run("cp", original, url).succeeded()
    assert "every block is as it was written" in run("scrub", store.url).succeeded().stdout
    run("scrub", "/tmp").refused("/tmp")


def test_no_key_no_network(store, work):
    assert "to programs of this machine only" in (store.directory / "server_0.log").read_text()
    run("serve", "--dir", work / "keyless", "--listen", "0.0.0.0:0").refused("without a key")


def test_a_server_killed_in_the_middle(store, work):
    """The server returns, and every value is right; only its clients' patience is tried."""
    stop = threading.Event()

    def trouble():
        generator = random.Random(3)
        while not stop.wait(generator.uniform(0.1, 0.5)):
            index = generator.randrange(SERVERS)
            store.kill(index)
            time.sleep(generator.uniform(0, 0.2))
            store.start(index)

    thread = threading.Thread(target=trouble)
    thread.start()
    try:
        options = ["--nxb", 8, "--nvar", 8, "--blocks", 20, "--rounds", 4, "--layout", "standard", "--verify", "--read"]
        run("flash", "io", *options, "--keep", "--dir", store.url + "/killed", ranks=3).succeeded()
    finally:
        stop.set()
        thread.join()
    for name in names(store.url + "/killed"):
        run("verify", f"{store.url}/killed/{name}").succeeded()


def test_a_server_that_stays_away_ends_the_run_on_every_rank(store, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "2")
    options = ["--nxb", 8, "--nvar", 4, "--blocks", 20, "--rounds", 1, "--layout", "standard"]
    url = write_on_all_servers(store.url + "/known", *options)
    store.kill(2)
    try:
        for command in (["verify", url], ["flash", "io", "--read-from", url, "--rounds", 1]):
            known = run(*command, ranks=3, timeout_seconds=30)
            assert known.code == 2 and store.addresses[2] in known.messages[0], known
            assert "doesn't answer" in known.messages[0], known
        time.sleep(6.5)  # a server of which nothing was heard so long gets no new files
        run("flash", "io", *options, "--dir", store.url + "/away", ranks=3).succeeded()
    finally:
        store.start(2)


def test_what_was_synced_survives_kills_and_what_ended_well_returns(store, work):
    original = work / "original"
    original.write_bytes(random.Random(7).randbytes(3_000_001))
    url = store.url + "/kept"
    run("cp", "--sync", original, url).succeeded()
    for index in range(SERVERS):
        store.kill(index)
    for index in range(SERVERS):
        store.start(index)
    assert fetch(url, work / "back").read_bytes() == original.read_bytes()
    for index in reversed(range(SERVERS)):
        assert store.end(index) == 0
    for index in range(SERVERS):
        store.start(index)
    assert fetch(url, work / "again").read_bytes() == original.read_bytes()
