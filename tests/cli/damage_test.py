"""stria verify finds every lost stretch of a file, unless nothing in the file uses those bytes.

What is used comes from libhdf5 and the format's specification: raw data and object headers lie
where the library says; nodes, leaves and heaps of large groups are known by their signatures.
STRIA_SEED says what is damaged, STRIA_DAMAGES how often.
"""

import functools
import json
import os
import random
import re
import shutil

import h5py
import numpy as np
import pytest
from stria_program import run

SEED = int(os.environ.get("STRIA_SEED", "20120522"))
DAMAGES = int(os.environ.get("STRIA_DAMAGES", "160"))
FILES_AT_A_TIME = 40
SUPERBLOCK_BYTES = 48
NAMES = 140  # a group with so many has a B-tree, whose nodes have no sums in HDF5


@pytest.fixture(scope="module", params=["standard", "experimental"])
def checkpoint(request, session_directory):
    directory = session_directory / f"damage_{request.param}"
    directory.mkdir()
    run("flash", "io", "--nxb", 4, "--nvar", 5, "--blocks", 4, "--rounds", 1, "--layout", request.param, "--dir", directory,
        "--keep", ranks=2).succeeded()  # fmt: skip
    (path,) = directory.iterdir()
    return path


@pytest.fixture(scope="module")
def many_names(session_directory):
    directory = session_directory / "damage_names"
    directory.mkdir()
    run("flash", "io", "--nxb", 4, "--nvar", NAMES, "--blocks", 2, "--rounds", 1, "--layout", "standard", "--dir", directory,
        "--keep").succeeded()  # fmt: skip
    (path,) = directory.iterdir()
    return path


@functools.cache
def raw_ranges(path):
    ranges = []

    def note(name, item):
        if isinstance(item, h5py.Dataset) and item.id.get_offset() is not None and item.size:
            ranges.append((item.id.get_offset(), item.id.get_offset() + item.id.get_storage_size(), name))

    with h5py.File(path) as file:
        file.visititems(note)
    return sorted(ranges)


@functools.cache
def header_ranges(path):
    """Object headers, at the places that libhdf5 gives."""
    ranges = []
    with h5py.File(path) as file:

        def note(_, item):
            info = h5py.h5o.get_info(item.id)
            ranges.append((info.addr, info.addr + info.hdr.space.total))

        note("", file)
        file.visititems(note)
    return sorted(ranges)


@functools.cache
def index_ranges(path):
    """B-tree nodes, leaves and heaps of large groups: format specification III.A.1,
    III.B and III.D."""
    content = path.read_bytes()

    def number(at, size):
        return int.from_bytes(content[at : at + size], "little")

    ranges = []
    for match in re.finditer(b"TREE|SNOD|HEAP", content):
        at = match.start()
        if any(begin <= at < end for begin, end, *_ in [*raw_ranges(path), *header_ranges(path)]):
            continue
        if match[0] == b"TREE":
            ranges.append((at, at + 32 + 16 * number(at + 6, 2)))
        elif match[0] == b"SNOD":
            ranges.append((at, at + 8 + 40 * number(at + 6, 2)))
        else:
            names = number(at + 24, 8)
            ranges += [(at, at + 32), (names, names + number(at + 8, 8))]
    return ranges


def used_mask(path):
    """True for every byte that something in the file needs."""
    used = np.zeros(path.stat().st_size, bool)
    used[:SUPERBLOCK_BYTES] = True
    for begin, end, *_ in [*raw_ranges(path), *header_ranges(path), *index_ranges(path)]:
        used[begin:end] = True
    return used


def verdicts_on(directory, contents):
    """Returns what `verify --json` says about each file: many at a time, because starting MPI takes
    longer than verifying."""
    verdicts = []
    for first in range(0, len(contents), FILES_AT_A_TIME):
        paths = []
        for number, content in enumerate(contents[first : first + FILES_AT_A_TIME]):
            paths.append(directory / f"damaged_{first + number}")
            paths[-1].write_bytes(content)
        outcome = run("verify", "--json", *paths)
        assert outcome.code in (0, 1, 2), str(outcome)
        found = json.loads(outcome.stdout)
        verdicts += found if isinstance(found, list) else [found]
        for path in paths:
            path.unlink()
    return verdicts


def a_range(source, path, size):
    """A stretch to be damaged: anywhere, or just one object, or what lies at the file's end."""
    kind = source.randrange(5)
    if kind == 0:
        begin = source.randrange(size)
        return begin, min(size, begin + 1 + int(2 ** source.uniform(0, 17)))
    if kind == 1:
        begin, end, _ = source.choice(raw_ranges(path))
        return begin, end
    if kind == 2:
        return source.choice(header_ranges(path))
    if kind == 3 and index_ranges(path):
        return source.choice(index_ranges(path))
    return max(0, size - int(2 ** source.uniform(0, 18))), size


def damage(source, path, content):
    """Damaged content, and what was done in words."""
    size = len(content)
    begin, end = a_range(source, path, size)
    length = end - begin
    kind = source.choice(["zeros", "ones", "noise", "the bytes before", "the bytes behind", "cut", "cut and extended"])
    if kind == "cut":
        return content[:begin], f"cut at {begin}"
    if kind == "cut and extended":
        return content[:begin] + bytes(size - begin), f"cut at {begin} and extended"
    if kind == "the bytes before":
        new = content[max(0, begin - length) : begin].rjust(length, b"\0")
    elif kind == "the bytes behind":
        new = content[end : end + length].ljust(length, b"\0")
    else:
        new = {"zeros": bytes(length), "ones": b"\xff" * length, "noise": source.randbytes(length)}[kind]
    return content[:begin] + new + content[end:], f"[{begin}, {end}) became {kind}"


def is_hurt(content, damaged, used):
    """Tells whether a byte in use has changed or is gone."""
    if len(damaged) < len(content) and used[len(damaged) :].any():
        return True
    common = min(len(content), len(damaged))
    changed = np.frombuffer(content[:common], np.uint8) != np.frombuffer(damaged[:common], np.uint8)
    return bool((changed & used[:common]).any())


def check_damages(path, work, count, seed):
    content = path.read_bytes()
    used = used_mask(path)
    source = random.Random(seed)
    jobs = [damage(source, path, content) for _ in range(count)]
    assert sum(is_hurt(content, damaged, used) for damaged, _ in jobs) > count / 2
    for (damaged, what), verdict in zip(jobs, verdicts_on(work, [job for job, _ in jobs]), strict=True):
        where = f"STRIA_SEED={SEED}: {path.name}: {what}: {verdict}"
        if is_hurt(content, damaged, used):
            assert not verdict["intact"], where
        elif len(damaged) == len(content) and damaged == content:
            assert verdict["intact"], where


def test_every_damage_is_found(checkpoint, work):
    check_damages(checkpoint, work, DAMAGES // 2, SEED)


def test_every_damage_to_a_large_group_is_found(many_names, work):
    check_damages(many_names, work, DAMAGES // 4, SEED + 1)


def test_every_byte_of_a_large_groups_index_counts(many_names, work):
    """The B-tree, its leaves and the heap of names lie where neither data nor headers do."""
    content = many_names.read_bytes()
    source = random.Random(SEED)
    ranges = index_ranges(many_names)
    assert len(ranges) > NAMES / 8
    jobs = [source.randrange(begin, end) for begin, end in ranges]
    verdicts = verdicts_on(work, [content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :] for at in jobs])
    for at, verdict in zip(jobs, verdicts, strict=True):
        assert not verdict["intact"], f"byte {at}: {verdict}"


@pytest.mark.parametrize("lost", [8, 4096, 65536])
def test_a_lost_tail_stops_verify_and_restart(sedov_2d, work, lost):
    content = (sedov_2d / "sedov_hdf5_chk_0001").read_bytes()
    damaged = work / "sedov_hdf5_chk_0001"
    damaged.write_bytes(content[:-lost] + bytes(lost))
    outcome = run("verify", damaged, ranks=2)
    assert outcome.code == 1, str(outcome)
    run("flash", "sedov", "--restart", damaged, "--out", work, "--steps", 5, ranks=2).refused("damaged")
    shutil.copy(sedov_2d / "sedov_hdf5_chk_0000", work)
    latest = run("flash", "sedov", "--restart", "latest", "--out", work, "--steps", 5, ranks=2).succeeded()
    assert f"restarted from {work}/sedov_hdf5_chk_0000" in latest.stdout


def test_a_zeroed_table_of_sums_hides_nothing(sedov_2d, work):
    original = sedov_2d / "sedov_hdf5_chk_0001"
    content = bytearray(original.read_bytes())
    with h5py.File(original) as file:
        table, data = file[".stria/rows_0"].id, file["dens"].id
        begin, end = table.get_offset(), table.get_offset() + table.get_storage_size()
        content[begin:end] = bytes(end - begin)
        content[data.get_offset() + 5] ^= 4
    damaged = work / "sedov_hdf5_chk_0001"
    damaged.write_bytes(content)
    assert run("verify", damaged).code == 1
    run("flash", "sedov", "--restart", damaged, "--out", work, "--steps", 5, ranks=2).refused("damaged")


def test_what_follows_the_end_is_mentioned(checkpoint, work):
    longer = work / "longer"
    longer.write_bytes(checkpoint.read_bytes() + b"more")
    outcome = run("verify", longer).succeeded()
    assert "every checksum is right" in outcome.stdout and "4 bytes follow its end" in outcome.stdout, str(outcome)


def test_other_programs_may_go_on_with_a_file(checkpoint, work):
    """Additions are no damage; verify mentions what has no sum."""
    changed = work / "changed"
    shutil.copy(checkpoint, changed)
    with h5py.File(changed, "a") as file:
        file.attrs["comment"] = "seen"
        file["more"] = np.arange(5.0)
    outcome = run("verify", changed, ranks=2).succeeded()
    assert "every checksum is right" in outcome.stdout, str(outcome)
    assert "another program has changed it" in outcome.stdout and "'more' has no checksum" in outcome.stdout, str(outcome)
    with h5py.File(changed, "a") as file:
        del file["gid"]
    outcome = run("verify", changed)
    assert outcome.code == 1 and "'gid' is missing" in outcome.stdout, str(outcome)
