"""Programs on a Ceph cluster that is started here, of Debian's packages (tests/nodes/ceph.sh), with
stores of BlueStore's: the drivers' conformance suite, FLASH checkpoints with restarts, the drop-in,
the tools, programs that are killed, and a cluster that doesn't answer. Without the packages
everything is skipped.

From the environment, beside stria_program's: STRIA_MPIIO (the drop-in), STRIA_BIN (its programs).
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import h5py
import pytest
from stria_program import MPIEXEC, ROOT, environment, kill_all, run, start

CEPH = ROOT / "tests/nodes/ceph.sh"
ADDRESS = "127.0.0.77"
POOL = "stria_test"
BIN = pathlib.Path(os.environ["STRIA_BIN"])
SMALL = ["--nxb", 8, "--nvar", 6, "--blocks", 9, "--rounds", 1]


class Cluster:
    def __init__(self, directory):
        self.directory = directory
        self.settings = directory / "ceph.conf"
        self.url = f"rados://{POOL}"

    def command(self, program, *arguments):
        line = [program, "-c", self.settings, *arguments]
        return subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=120, check=True).stdout

    def objects(self):
        return sorted(self.command("rados", "-p", POOL, "-N", "stria", "ls").split())

    def entries(self, name):
        """Returns the keys of an object; none where there is no such object."""
        line = ["rados", "-c", self.settings, "-p", POOL, "-N", "stria", "listomapkeys", name]
        listed = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=60, check=False)
        return listed.stdout.split()

    def set_entry(self, name, key, value):
        self.command("rados", "-p", POOL, "-N", "stria", "setomapval", name, key, value)

    def has_unfinished_file(self, directory):
        return any(".partial" in key for key in self.entries(f"names:{directory}"))

    def signal_servers(self, number):
        for file in self.directory.glob("osd.*.pid"):
            os.kill(int(file.read_text()), number)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("a cluster is started by root only")
    directory = tmp_path_factory.mktemp("ceph")
    started = subprocess.run(
        [CEPH, "start", directory, ADDRESS, "bluestore"], capture_output=True, text=True, timeout=300, check=False
    )
    if started.returncode == 77:
        pytest.skip(f"no Ceph here: {started.stdout.strip()}")
    try:
        assert started.returncode == 0, started.stdout + started.stderr
        running = Cluster(directory)
        running.command("ceph", "osd", "pool", "create", POOL, "16")
        assert json.loads(running.command("ceph", "osd", "metadata", "0", "-f", "json"))["osd_objectstore"] == "bluestore"
        os.environ["CEPH_CONF"] = str(running.settings)
        yield running
    finally:
        os.environ.pop("CEPH_CONF", None)
        subprocess.run([CEPH, "stop", directory], timeout=60, check=False)
        shutil.rmtree(directory, ignore_errors=True)


def fetch(url, path):
    run("cp", url, path).succeeded()
    return path


def assert_same(left, right):
    with h5py.File(left) as one, h5py.File(right) as other:
        assert list(one) == list(other)
        for name, dataset in one.items():
            if isinstance(dataset, h5py.Dataset) and dataset.dtype.kind in "fiu":
                assert (dataset[...] == other[name][...]).all(), name


def test_conformance(cluster):
    tested = subprocess.run(
        [BIN / "rados_test"],
        env={**os.environ, "STRIA_TEST_RADOS": POOL},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout[-6000:] + tested.stderr
    assert "[  PASSED  ]" in tested.stdout and "Rados/DriverTest.RandomListsMatchTheModel/pool" in tested.stdout


def test_flash_checkpoint_with_restart(cluster, work):
    """Written on three ranks, every value checked, read on two and on five; the values are those of
    a local file."""
    options = [*SMALL, "--plotfile", "--keep", "--verify", "--layout", "standard", "--read", "--sync"]
    url = cluster.url + "/flash"
    for directory in (url, work):
        run("flash", "io", *options, "--dir", directory, ranks=3).succeeded()
    written = sorted(path.name for path in work.iterdir())
    assert len(written) == 4
    for name in written:
        assert_same(fetch(f"{url}/{name}", work / "copy"), work / name)
        run("verify", f"{url}/{name}").succeeded()
    checkpoint = next(name for name in written if "chk" in name)
    for ranks in (2, 5):
        run("flash", "io", "--read-from", f"{url}/{checkpoint}", "--verify", "--rounds", 1, ranks=ranks).succeeded()


@pytest.mark.parametrize("method", ["list_io", "two_phase", "data_sieving", "hybrid", "multiple"])
def test_every_method(cluster, method):
    options = ["--nxb", 4, "--nvar", 3, "--blocks", 4, "--rounds", 1, "--verify", "--read", "--hint", "striping_unit=65536"]
    run(
        "flash", "io", *options, "--dir", cluster.url + "/methods", "--hint", f"stria_method={method}", ranks=3
    ).succeeded()  # fmt: skip


def test_drop_in_with_parallel_hdf5(cluster, work):
    program = BIN / "mpiio_hdf5_program"
    if not program.exists():
        pytest.skip("this build has no parallel HDF5 program")

    def run_program(action, path, preload=True):
        library = [f"LD_PRELOAD={os.environ['STRIA_MPIIO']}"] if preload else []
        command = [MPIEXEC, "-n", "3", "env", "STRIA_HINTS=striping_unit=131072", *library, program, action, path]
        done = subprocess.run(
            list(map(str, command)), env=environment(), capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    url = cluster.url + "/drop_in/program.h5"
    run_program("write", url)
    run_program("read", url)
    run_program("read", fetch(url, work / "copy.h5"), preload=False)


def test_removed_files_leave_no_objects(cluster, work):
    original = work / "original"
    original.write_bytes(random.Random(5).randbytes(9_000_001))
    run("cp", original, cluster.url + "/copied").succeeded()
    before = cluster.objects()
    run("cp", original, cluster.url + "/copied").succeeded()
    assert len(cluster.objects()) == len(before), "those of the file that was replaced are gone"
    assert fetch(cluster.url + "/copied", work / "back").read_bytes() == original.read_bytes()
    run("flash", "io", *SMALL, "--dir", cluster.url + "/removed", ranks=2).succeeded()
    assert len(cluster.objects()) == len(before) + 1, "only the directory stays"


def test_tools(cluster, work):
    original = work / "original"
    original.write_bytes(random.Random(6).randbytes(5_000_001))
    url = cluster.url + "/tools"
    run("cp", original, f"{cluster.url}/in_root").succeeded()
    before = cluster.objects()
    run("cp", original, f"{url}/deep/a").succeeded()
    assert run("ls", url).succeeded().stdout == "deep/\n"
    assert {"in_root", "tools/"} <= set(run("ls", cluster.url).succeeded().stdout.split())
    assert re.match(r"\s*5000001\s+4.2 MB\s+a\n", run("ls", "-l", f"{url}/deep").succeeded().stdout)
    assert re.match(r"\s+deep/\n", run("ls", "-l", url).succeeded().stdout)
    described = json.loads(run("stat", "--json", f"{url}/deep/a").succeeded().stdout)
    assert (described["bytes"], described["object_bytes"], described["directory"]) == (5_000_001, 4 << 20, False)
    assert "a directory" in run("stat", url).succeeded().stdout
    run("mv", f"{url}/deep/a", f"{url}/deep/b").succeeded()
    run("mv", f"{url}/deep/b", f"{url}/other/c").succeeded()
    assert fetch(f"{url}/other/c", work / "copy").read_bytes() == original.read_bytes()
    assert run("ls", f"{url}/deep").succeeded().stdout == ""
    run("rm", f"{url}/other").refused("other", "not empty", "remove what is in it first")
    run("rm", f"{url}/deep").succeeded()
    assert run("ls", url).succeeded().stdout == "other/\n"
    run("ls", f"{url}/deep").refused("no such file")
    run("rm", f"{url}/deep").refused("no such file")
    run("mv", f"{url}/other", f"{url}/elsewhere").refused("directory keeps its name")
    run("rm", "-r", url).succeeded()
    assert cluster.objects() == before
    run("rm", cluster.url).refused("root stays")


def test_directories_and_several_files(cluster, work):
    """Directories work as in a store, but a pool has none without files."""
    before = cluster.objects()
    tree = work / "tree"
    (tree / "below/empty").mkdir(parents=True)
    contents = {"one": b"1", "below/two": random.Random(8).randbytes(300_000), "below/three": b""}
    for name, content in contents.items():
        (tree / name).write_bytes(content)
    url = cluster.url + "/trees"
    run("cp", tree, url).refused("is a directory", "-r")
    run("cp", "-r", tree, url).succeeded()  # under a new name
    run("cp", "-r", tree, url).succeeded()  # into what is a directory now
    assert run("ls", url).succeeded().stdout.split() == ["below/", "one", "tree/"]
    run("cp", "-r", f"{url}/tree", work / "back").succeeded()
    assert all((work / "back" / name).read_bytes() == content for name, content in contents.items())
    run("cp", "-r", url, f"{url}/tree/below").refused("into itself")
    run("cp", tree / "one", tree / "below/two", f"{url}/one").refused("no directory")
    run("cp", tree / "below/two", tree / "below/three", url).succeeded()
    run("mv", f"{url}/two", f"{url}/tree").succeeded()
    listed = json.loads(run("ls", "--json", "-l", f"{url}/tree").succeeded().stdout)
    assert [(entry["name"], entry["directory"], entry.get("bytes")) for entry in listed] == [
        ("below", True, None), ("one", False, 1), ("two", False, 300_000),
    ]  # fmt: skip
    run("mkdir", f"{url}/new").refused("come with their files")
    run("rm", "-r", url).succeeded()
    assert cluster.objects() == before


def test_what_killed_programs_left_is_cleared(cluster, work):
    """The test makes files by hand that never got their names: a file that never got its name, long
    ago and just now."""
    original = work / "original"
    original.write_bytes(b"x" * 1000)
    run("cp", original, cluster.url + "/left/first").succeeded()
    for number, noted_s in (("00000000000000ab", time.time() - 300), ("00000000000000cd", time.time())):
        cluster.set_entry("names:/left", f"gone:{number}", f"{int(noted_s):016x}")
        for key, value in (("object_bytes", 1 << 16), ("servers", 3), ("size", 10), ("reach", 1)):
            cluster.set_entry(f"file.{number}", key, f"{value:016x}")
        cluster.command("rados", "-p", POOL, "-N", "stria", "put", f"data.{number}.00000000", original)
    run("cp", original, cluster.url + "/left/second").succeeded()
    kept = [name for name in cluster.objects() if "00000000000000" in name and name.split(".")[1][-2:] in ("ab", "cd")]
    assert kept == ["data.00000000000000cd.00000000", "file.00000000000000cd"]
    assert [key for key in cluster.entries("names:/left") if key.startswith("gone:")] == ["gone:00000000000000cd"]
    run("rm", cluster.url + "/left/first", cluster.url + "/left/second").succeeded()
    run("rm", cluster.url + "/left").refused("not empty", "makes one")
    cluster.set_entry("names:/left", "gone:00000000000000cd", f"{1:016x}")
    run("rm", cluster.url + "/left").succeeded()
    assert not [name for name in cluster.objects() if "00000000000000cd" in name or name.endswith("/left")]


@pytest.mark.parametrize("has_object", [True, False])
def test_a_removal_that_was_cut_off(cluster, work, has_object):
    """Each step of it may have been the last one."""
    url = f"{cluster.url}/cut{has_object}"
    original = work / "original"
    original.write_bytes(b"x" * 1000)

    def cut_off():
        name = url.removeprefix(cluster.url)
        cluster.set_entry("names:/", f"name:{name[1:]}", "/-")
        if has_object:
            cluster.set_entry(f"names:{name}", "removed", "00000000000000ef")

    cut_off()
    assert run("ls", url).succeeded().stdout == ""
    run("cp", original, f"{url}/file").succeeded()
    assert run("ls", url).succeeded().stdout == "file\n"
    run("rm", f"{url}/file").succeeded()
    run("rm", url).succeeded()
    cut_off()
    run("rm", url).succeeded()
    assert not [name for name in cluster.objects() if "/cut" in name]


def test_makers_that_are_killed(cluster, work, monkeypatch):
    """Whenever they are killed, the next programs leave only what has a name."""
    original = work / "original"
    original.write_bytes(b"x" * 100_000)
    chance = random.Random(7)
    for i in range(12):
        process = start(["cp", original, f"{cluster.url}/killed_makers/{i}"])
        time.sleep(0.02 + 0.15 * chance.random())
        process.kill()
        process.wait()
    time.sleep(22)  # the cluster drops what they watched
    monkeypatch.setenv("STRIA_RADOS_TIMEOUT", "5")
    for i in range(4):
        run("cp", original, f"{cluster.url}/killed_makers/after{i}").succeeded()
    run("rm", "-r", f"{cluster.url}/killed_makers").succeeded()
    assert "names:/killed_makers" not in cluster.objects()


def test_a_killed_program_holds_nothing_up(cluster):
    """Its unfinished file is locked until the cluster has dropped it; then the next program goes
    on."""
    url = cluster.url + "/killed"
    options = ["--nxb", 16, "--nvar", 12, "--blocks", 40, "--rounds", 900, "--layout", "standard", "--dir", url]
    process = start(["flash", "io", *options], ranks=2, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 600
        while not cluster.has_unfinished_file("/killed"):
            assert time.monotonic() < deadline and process.poll() is None, "it writes no file"
    finally:
        kill_all(process)
        process.wait()
    begin = time.monotonic()
    again = ["--nxb", 8, "--nvar", 4, "--blocks", 4, "--rounds", 1, "--layout", "standard", "--verify", "--dir", url]
    run("flash", "io", *again, ranks=2).succeeded()
    assert time.monotonic() - begin < 600


def test_errors_name_what_is_missing(cluster, work, monkeypatch):
    file = work / "file"
    file.write_bytes(b"bytes")
    run("cp", file, "rados://no_such_pool/file").refused("no pool 'no_such_pool'", POOL, "ceph osd pool create")
    run("cp", cluster.url + "/none", work / "none").refused("rados://", "none", "no such file")
    monkeypatch.setenv("STRIA_RADOS_USER", "nobody_at_all")
    monkeypatch.setenv("STRIA_RADOS_TIMEOUT", "3")
    run("cp", file, cluster.url + "/file").succeeded()  # this cluster asks for no keys
    monkeypatch.setenv("CEPH_CONF", str(work / "none.conf"))
    run("cp", file, cluster.url + "/file").refused("settings of a Ceph cluster", "none.conf")
    (work / "away.conf").write_text("[global]\nmon host = v2:127.0.0.78:3300\nauth client required = none\n")
    monkeypatch.setenv("CEPH_CONF", str(work / "away.conf"))
    begin = time.monotonic()
    run("flash", "io", *SMALL, "--dir", cluster.url + "/away", ranks=3).refused("can't be reached", "away.conf", "ceph -s")
    assert time.monotonic() - begin < 300


def test_servers_that_stop_end_the_run_on_every_rank(cluster, monkeypatch):
    monkeypatch.setenv("STRIA_RADOS_TIMEOUT", "5")
    cluster.signal_servers(signal.SIGSTOP)
    try:
        done = run("flash", "io", *SMALL, "--dir", cluster.url + "/stopped", ranks=3, timeout_seconds=80)
        done.refused("rados://", POOL, "STRIA_RADOS_TIMEOUT")
    finally:
        cluster.signal_servers(signal.SIGCONT)
    monkeypatch.delenv("STRIA_RADOS_TIMEOUT")
    run("flash", "io", *SMALL, "--verify", "--dir", cluster.url + "/stopped", ranks=3).succeeded()
