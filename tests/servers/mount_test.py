"""A store mounted as a directory: what ls, cp, h5dump, yt and Python's own files do with it.
Skipped, with the reason, where this machine or this build can't mount."""

import contextlib
import errno
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

import h5py
import pytest
import yt
from mounting import mounted, store_to_mount, unmount
from store_processes import Store
from stria_program import PROGRAM, environment, run
from waiting import wait_until

SERVERS = 4
yt.set_log_level("error")


@pytest.fixture(scope="module")
def store(session_directory):
    with store_to_mount(session_directory / "mounted", SERVERS) as servers:
        yield servers


@pytest.fixture(scope="module")
def place(store, session_directory):
    with mounted(store.url, session_directory / "place") as directory:
        yield directory


def test_files_go_in_and_out(store, place, work):
    content = random.Random(1).randbytes(5_000_003)
    (work / "file").write_bytes(content)
    (place / "in").mkdir()
    subprocess.run(["cp", "-p", work / "file", place / "in/copied"], check=True)
    run("cp", f"{store.url}/in/copied", work / "back").succeeded()
    assert (work / "back").read_bytes() == content
    run("cp", work / "file", f"{store.url}/in/put").succeeded()
    subprocess.run(["cp", place / "in/put", work / "again"], check=True)
    assert (work / "again").read_bytes() == content
    listed = subprocess.run(["ls", "-l", place / "in"], check=True, capture_output=True, text=True).stdout
    assert [line.split()[-1] for line in listed.splitlines()[1:]] == ["copied", "put"] and "5000003" in listed
    assert abs(os.stat(place / "in/put").st_mtime - time.time()) < 600
    space = os.statvfs(place)
    assert 0 < space.f_bavail <= space.f_blocks


def test_pieces_of_a_file(place):
    path = place / "pieces"
    expected = bytearray()
    generator = random.Random(2)
    with open(path, "w+b", buffering=0) as file:
        for _ in range(60):
            offset, piece = generator.randrange(900_000), generator.randbytes(generator.randrange(1, 5000))
            file.seek(offset)
            file.write(piece)
            expected.extend(bytes(max(0, offset + len(piece) - len(expected))))
            expected[offset : offset + len(piece)] = piece
        os.fsync(file.fileno())
        file.seek(0)
        assert file.read() == expected
    with open(path, "ab") as file:
        file.write(b"the end")
    assert path.read_bytes() == expected + b"the end"
    os.truncate(path, 100_000)
    assert path.read_bytes() == expected[:100_000]
    path.write_bytes(b"short")
    assert path.read_bytes() == b"short" and path.stat().st_size == 5


def test_a_synced_directory_is_synced(store, place):
    def syncs():
        servers = json.loads(run("status", "--json", store.url).succeeded().stdout)
        return servers[0]["figures"].get('requests_total{kind="sync_names"}', 0)

    (place / "synced").mkdir()
    before = syncs()
    directory = os.open(place / "synced", os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(directory)
    os.close(directory)
    assert syncs() > before


def test_names(place):
    (place / "names/below").mkdir(parents=True)
    (place / "names/a").write_bytes(b"a")
    (place / "names/b").write_bytes(b"bb")
    with pytest.raises(FileExistsError):
        open(place / "names/a", "x")
    with pytest.raises(OSError, match="not empty"):
        (place / "names").rmdir()
    with pytest.raises(FileNotFoundError):
        (place / "names/none").read_bytes()
    with pytest.raises(IsADirectoryError):
        (place / "names/below").read_bytes()
    os.replace(place / "names/b", place / "names/a")
    assert (place / "names/a").read_bytes() == b"bb"
    os.chmod(place / "names/a", 0o640)
    os.mkdir(place / "names/own", 0o700)
    assert (place / "names/a").stat().st_mode & 0o7777 == 0o640
    assert (place / "names/a").stat().st_uid == os.geteuid()
    assert (place / "names/own").stat().st_mode & 0o7777 == 0o700
    (place / "names/own").rmdir()
    with open(place / "names/a", "rb") as file:
        os.unlink(place / "names/a")
        assert file.read() == b"bb" and os.fstat(file.fileno()).st_size == 2, "it outlives its name"
    (place / "names/below").rmdir()
    assert list((place / "names").iterdir()) == []
    (place / "names").rmdir()
    assert not (place / "names").exists()


def test_directories_take_names(place):
    for name in ("moved/inner", "empty", "full/inner"):
        (place / "rename" / name).mkdir(parents=True)
    top = place / "rename"
    (top / "file").write_bytes(b"file")
    os.rename(top / "moved", top / "empty")
    assert sorted(path.name for path in top.iterdir()) == ["empty", "file", "full"]
    assert (top / "empty/inner").is_dir()
    for source, target, number in (
        ("empty", "full", errno.ENOTEMPTY),
        ("empty", "file", errno.ENOTDIR),
        ("file", "full", errno.EISDIR),
        ("file", "n" * 256, errno.ENAMETOOLONG),
    ):
        with pytest.raises(OSError) as error:
            os.rename(top / source, top / target)
        assert error.value.errno == number
    assert (top / "file").read_bytes() == b"file" and (top / "full/inner").is_dir()
    long_name = top / ("n" * 255)
    long_name.write_bytes(b"long")
    assert long_name.read_bytes() == b"long"
    for make in (lambda path: path.mkdir(), lambda path: path.write_bytes(b"")):
        with pytest.raises(OSError) as error:
            make(top / ("n" * 256))
        assert error.value.errno == errno.ENAMETOOLONG
    shutil.rmtree(top)
    assert not top.exists()


def test_flash_files_are_read_by_h5dump_and_yt(store, place):
    options = ["--nxb", 8, "--nvar", 4, "--blocks", 4, "--rounds", 1, "--keep", "--verify"]
    run("flash", "io", *options, "--layout", "standard", "--dir", f"{store.url}/flash", ranks=2).succeeded()
    checkpoint = next(path for path in (place / "flash").iterdir() if "chk" in path.name)
    dumped = subprocess.run(["h5dump", "-H", checkpoint], capture_output=True, text=True, check=True).stdout
    assert 'DATASET "dens"' in dumped and 'DATASET "coordinates"' in dumped
    run("verify", checkpoint).succeeded()
    loaded = yt.load(str(checkpoint))
    with h5py.File(checkpoint) as file:
        stored = file["dens"][:]
    assert len(loaded.index.grids) == len(stored) > 0
    for grid in loaded.index.grids:
        seen = grid["flash", "dens"].to_ndarray()
        assert (seen == stored[grid.id - grid._id_offset].transpose(2, 1, 0)).all()


def test_read_only(store, work):
    run("cp", __file__, f"{store.url}/kept").succeeded()
    with mounted(store.url, work / "ro", "--read-only") as directory:
        assert (directory / "kept").read_bytes() == pathlib.Path(__file__).read_bytes()
        with pytest.raises(OSError, match="Read-only file system"):
            (directory / "new").write_bytes(b"x")
    run("mount", f"{store.url}/kept", work / "ro").refused("is a file")
    run("mount", f"{store.url}/none", work / "ro").refused("none")
    run("mount", store.url, work / "nowhere").refused("nowhere")


def test_a_server_that_returns_is_found_again(store, place):
    (place / "before").write_bytes(b"x" * 1_000_000)
    store.kill(1)
    store.start(1)
    assert (place / "before").read_bytes() == b"x" * 1_000_000


def requests(store, kind):
    servers = json.loads(run("status", "--json", store.url).succeeded().stdout)
    return sum(server["figures"].get(f'requests_total{{kind="{kind}"}}', 0) for server in servers)


def test_small_pieces_make_few_requests(store, place):
    path = place / "records"
    record = random.Random(3).randbytes(700)
    before = requests(store, "write")
    with open(path, "wb", buffering=0) as file:
        for _ in range(3000):
            file.write(record)
        assert os.fstat(file.fileno()).st_size == 2_100_000 == path.stat().st_size
    written = requests(store, "write") - before
    assert written < 300
    before = requests(store, "read")
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    for at in range(0, 2_100_000, 7000):
        assert os.pread(descriptor, 700, at) == record
    os.close(descriptor)
    assert requests(store, "read") - before < 200
    assert path.read_bytes() == record * 3000


def test_what_is_kept_is_seen_here_at_once_and_elsewhere_soon(store, place, work):
    with mounted(store.url, work / "other") as other, open(place / "kept", "wb", buffering=0) as file:
        file.write(b"a" * 1000)
        assert (place / "kept").read_bytes() == b"a" * 1000, "by another handle of this mount"
        os.fsync(file.fileno())
        assert (other / "kept").read_bytes() == b"a" * 1000, "synced"
        file.write(b"b" * 500)
        os.truncate(place / "kept", 1200)
        assert os.fstat(file.fileno()).st_size == 1200
        file.seek(1200)
        file.write(b"c")
        end = time.monotonic() + 30
        while run("cp", f"{store.url}/kept", work / "copy").succeeded() and (work / "copy").stat().st_size < 1201:
            assert time.monotonic() < end, "it is written before long, though nobody asks"
            time.sleep(0.2)
        file.write(b"d")
        file.close()
        time.sleep(1.1)  # the kernel keeps sizes for a second
        assert (other / "kept").read_bytes() == b"a" * 1000 + b"b" * 200 + b"cd", "closed"


class Owner:
    """A mount that writes bytes of its own of a file, beside what it must see."""

    def __init__(self, path):
        self.path = path
        self.file = None

    def open(self):
        self.close()
        self.file = open(self.path, "r+b", buffering=0)  # noqa: SIM115

    def close(self):
        if self.file is not None:
            self.file.close()


def test_mounts_that_write_other_bytes_of_a_page_lose_nothing(store, place, work):
    bytes_in_all, piece = 200_000, 50
    (place / "both").write_bytes(bytes(bytes_in_all))
    expected = bytearray(bytes_in_all)
    generator = random.Random(4)
    with mounted(store.url, work / "second") as second:
        owners = [Owner(place / "both"), Owner(second / "both")]
        for owner in owners:
            owner.open()
        for step in range(1500):
            number = generator.randrange(2)
            owner = owners[number]
            at = piece * (2 * generator.randrange(bytes_in_all // piece // 2) + number)
            if step % 100 == 99:
                os.fsync(owner.file.fileno())
            elif step % 149 == 148:
                owner.open()
            elif step % 3 == 0:
                owner.file.seek(at)
                assert owner.file.read(piece) == expected[at : at + piece], "its own bytes"
            else:
                text = generator.randbytes(generator.randrange(1, piece))
                owner.file.seek(at)
                owner.file.write(text)
                expected[at : at + len(text)] = text
        for owner in owners:
            owner.close()
        assert (place / "both").read_bytes() == expected == (second / "both").read_bytes()


def test_attributes_of_an_open_file_are_changed(place):
    with open(place / "changed", "wb", buffering=0) as file:
        file.write(b"x" * 100)
        assert os.fstat(file.fileno()).st_mode & 0o777 != 0o640
        os.chmod(place / "changed", 0o640)
        assert os.fstat(file.fileno()).st_mode & 0o777 == 0o640
        file.truncate(10)
        assert os.fstat(file.fileno()).st_size == 10


def test_times_that_are_set_outlast_what_is_kept(store, place, work):
    """What was gathered before goes to the servers before the time is set, not after."""
    old, older = 1_000_000_000_123_456_789, 900_000_000_000_000_001
    with open(place / "timed", "wb", buffering=0) as file:
        file.write(b"x" * 100)
        os.utime(file.fileno(), ns=(old, old))
        assert os.fstat(file.fileno()).st_mtime_ns == old
        file.write(b"y")
        assert os.fstat(file.fileno()).st_mtime_ns > old, "a write after it counts"
        os.utime(place / "timed", ns=(older, older))
        time.sleep(1.5)  # what was kept would have gone to the servers by now
        assert os.fstat(file.fileno()).st_mtime_ns == older
    assert (place / "timed").stat().st_mtime_ns == older
    (work / "small").write_bytes(b"small")
    os.utime(work / "small", ns=(old, old))
    subprocess.run(["cp", "-p", work / "small", place / "small"], check=True)
    time.sleep(1.5)
    with mounted(store.url, work / "elsewhere") as elsewhere:
        for directory in (place, elsewhere):
            assert (directory / "small").stat().st_mtime_ns == old
            assert (directory / "timed").stat().st_mtime_ns == older
            assert (directory / "timed").read_bytes() == b"x" * 100 + b"y"


def test_a_listing_does_not_cut_what_is_kept(place):
    (place / "listed").mkdir()
    content = b""
    with open(place / "listed/log", "w+b", buffering=0) as file:
        for step in range(8):
            piece = bytes([step]) * 1000
            file.write(piece)
            content += piece
            (entry,) = os.scandir(place / "listed")
            assert entry.stat().st_size == len(content)
            assert os.pread(file.fileno(), 10_000, 0) == content
            assert (place / "listed/log").read_bytes() == content
            time.sleep(0.2)


def test_a_listing_knows_of_what_is_closed_meanwhile(place):
    directory = place / "growing"
    directory.mkdir()
    paths = [directory / f"{number:03}" for number in range(600)]
    for path in paths:
        path.write_bytes(b"old")
    sizes = dict.fromkeys((path.name for path in paths), 3)
    entries = os.scandir(directory)
    assert next(entries).stat().st_size == 3
    # The servers have told of all, and the kernel has asked for some.
    for path in paths[300:600:20]:
        with open(path, "ab") as file:
            file.write(b" and new")
        sizes[path.name] = 11
    os.truncate(paths[590], 1)
    sizes[paths[590].name] = 1
    wrong = {}
    for entry in entries:
        size = entry.stat().st_size
        if size != sizes[entry.name]:
            wrong[entry.name] = size
    assert wrong == {}
    assert paths[300].read_bytes() == b"old and new" and paths[590].read_bytes() == b"o"


def test_what_was_synced_outlives_the_mount(store, work):
    directory = work / "killed"
    directory.mkdir()
    process = subprocess.Popen([PROGRAM, "mount", "--foreground", store.url, directory], env=environment())
    end = time.monotonic() + 60
    while not os.path.ismount(directory):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    descriptor = os.open(directory / "killed", os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, b"s" * 1000)
    os.fsync(descriptor)
    os.write(descriptor, b"k" * 1000)
    process.kill()
    process.wait()
    with pytest.raises(OSError):
        os.close(descriptor)
    unmount(directory)
    run("cp", f"{store.url}/killed", work / "copy").succeeded()
    assert (work / "copy").read_bytes() in (b"s" * 1000, b"s" * 1000 + b"k" * 1000)


def test_errors_that_come_late_are_told_by_sync_and_close(session_directory, monkeypatch):
    monkeypatch.setenv("STRIA_SERVER_TIMEOUT", "3")
    directory = session_directory / "late"
    directory.mkdir()
    servers = Store(directory, 1)
    try:
        with mounted(servers.url, session_directory / "late_place") as place:
            descriptor = os.open(place / "file", os.O_CREAT | os.O_WRONLY)
            os.write(descriptor, b"kept")
            servers.kill(0)
            with pytest.raises(OSError):
                os.fsync(descriptor)
            servers.start(0)
            with contextlib.suppress(OSError):
                os.close(descriptor)
    finally:
        servers.close()


def test_a_new_file_costs_two_requests_to_the_manager(store, place, work):
    count = 300
    kinds = ("open", "make", "look", "close", "close_all", "change", "stat")
    directory = place / "many"
    directory.mkdir()
    before = sum(requests(store, kind) for kind in kinds)
    for number in range(count):
        with (directory / str(number)).open("xb") as file:
            file.write(bytes(number))
    asked = sum(requests(store, kind) for kind in kinds) - before
    # A look-up and the file itself; the directory's attributes where a file took long.
    assert asked < 3.2 * count, asked
    with mounted(store.url, work / "second") as second:
        assert sorted(os.listdir(second / "many"), key=int) == [str(number) for number in range(count)]
        assert [(second / f"many/{number}").stat().st_size for number in range(count)] == list(range(count))
        written = directory.stat().st_mtime_ns
        (second / "many/other").touch()
        assert (directory / "other").exists(), "a name that another mount has made is there at once"
        with pytest.raises(FileExistsError):
            (directory / "other").open("x")
        wait_until(lambda: directory.stat().st_mtime_ns > written)


def test_what_belongs_to_an_open_file_is_set_without_asking_for_its_size_again(store, place, work):
    """This is what tar does with each file that it makes."""
    count = 30
    set_ns = 1_500_000_000_123_456_789
    directory = place / "unpacked"
    directory.mkdir()
    before = requests(store, "extents")
    for number in range(count):
        with (directory / str(number)).open("xb", buffering=0) as file:
            file.write(bytes(100))
            os.utime(file.fileno(), ns=(set_ns, set_ns))
            os.fchown(file.fileno(), os.geteuid(), os.getegid())
            os.fchmod(file.fileno(), 0o751)
            found = os.fstat(file.fileno())
            assert (found.st_size, found.st_mtime_ns, found.st_mode & 0o7777) == (100, set_ns, 0o751)
    asked = requests(store, "extents") - before
    # All servers before the time is set, and where that took long or somebody looked, once more.
    assert asked < 2.5 * SERVERS * count, asked
    with mounted(store.url, work / "third") as third, (directory / "0").open("r+b", buffering=0) as file:
        os.fchmod(file.fileno(), 0o640)
        file.write(bytes(150))
        os.fchmod(file.fileno(), 0o644)
        found = os.fstat(file.fileno())
        assert found.st_size == 150 and found.st_mtime_ns > set_ns, "what was written since counts"
        os.ftruncate(file.fileno(), 10)
        os.fchmod(file.fileno(), 0o640)
        assert os.fstat(file.fileno()).st_size == 10
        with (third / "unpacked/0").open("ab") as other:
            other.write(bytes(500))

        def is_seen():
            os.fchmod(file.fileno(), 0o600)  # It must not keep what was told before for longer.
            return os.fstat(file.fileno()).st_size == 510

        wait_until(is_seen)


def test_a_mount_alone_gathers_in_the_kernel(store, place, work):
    """Pieces so short and scattered that each was a request, and none carries a neighbour's bytes
    back. What is synced or closed is there for others."""
    generator = random.Random(6)
    content = bytearray(300_000)
    (place / "whole").write_bytes(content)
    (place / "twice").write_bytes(b"twice")
    os.link(place / "twice", place / "again")
    with mounted(store.url, work / "alone", "--alone") as alone:
        before = requests(store, "write")
        with open(alone / "whole", "r+b", buffering=0) as file:
            for _ in range(4000):
                at, piece = generator.randrange(299_000), generator.randbytes(generator.randrange(1, 900))
                file.seek(at)
                file.write(piece)
                content[at : at + len(piece)] = piece
            file.seek(0)
            assert file.read() == content
            os.fsync(file.fileno())
            run("cp", f"{store.url}/whole", work / "synced").succeeded()
            assert (work / "synced").read_bytes() == content
            file.seek(0, os.SEEK_END)
            file.write(b"the end")
            content += b"the end"
            assert os.fstat(file.fileno()).st_size == len(content)
        assert requests(store, "write") - before < 60
        run("cp", f"{store.url}/whole", work / "closed").succeeded()
        assert (work / "closed").read_bytes() == content
        os.truncate(alone / "whole", 1000)
        # The kernel tells only the first one's time of two changes within one of its ticks, and the
        # servers keep the time at which they got the second one's bytes.
        time.sleep(0.05)
        with open(alone / "whole", "ab", buffering=0) as file:
            file.write(b"more")
        assert (alone / "whole").read_bytes() == content[:1000] + b"more"
        times = (alone / "whole").stat().st_mtime_ns
        assert (alone / "again").read_bytes() == b"twice"
        for change in (lambda: (alone / "again").open("r+b"), lambda: os.truncate(alone / "again", 1)):
            with pytest.raises(OSError, match="Read-only"):
                change()
        with pytest.raises(PermissionError):
            os.link(alone / "whole", alone / "second_name")
    run("cp", f"{store.url}/whole", work / "last").succeeded()
    assert (work / "last").read_bytes() == content[:1000] + b"more"
    wait_until(lambda: (place / "whole").stat().st_mtime_ns == times)
    assert (place / "twice").read_bytes() == b"twice"


def test_a_file_that_was_closed_is_given_up_soon(store, place):
    before = requests(store, "close_all")
    (place / "alone").write_bytes(b"alone")
    wait_until(lambda: requests(store, "close_all") > before)
    before = requests(store, "close_all")
    with (place / "alone").open("rb") as file:
        file.read()
    (place / "alone").unlink()
    assert requests(store, "close_all") == before + 1, "before the name goes"
