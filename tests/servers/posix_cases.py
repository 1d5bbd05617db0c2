#!/usr/bin/env python3
"""Describes what POSIX says of names, modes, times and links, as cases that run in any directory.

Each case returns what happened: values, or names of errors. Run in a directory of a local file
system it gives the right answers; `posix_cases.py LOCAL OTHER` runs all in both and prints the
differences. Needs root, because cases of other users drop root's rights for a while.
"""

import os
import pathlib
import shutil
import sys
import time

import posix_more_cases  # noqa: F401
from posix_support import CASES, LONG, LONGER, STRANGER, as_stranger, by_stranger, case, make, mode, moves_on, opened, outcome


@case("chmod")
def sets_and_keeps_bits(place):
    file = make(place / "file")
    modes = []
    for bits in (0o000, 0o400, 0o755, 0o4755, 0o2755, 0o1777):
        os.chmod(file, bits)
        modes.append(mode(file))
    return modes


@case("chmod")
def fails(place):
    file = make(place / "file")
    return [
        outcome(os.chmod, place / "none", 0o600),
        outcome(os.chmod, file / "below", 0o600),
        outcome(os.chmod, place / LONGER, 0o600),
        by_stranger(os.chmod, file, 0o777),
    ]


@case("chmod")
def changes_ctime(place):
    file = make(place / "file")
    return moves_on(file, lambda: os.chmod(file, 0o600), "st_ctime_ns")


@case("chmod")
def follows_a_link(place):
    file = make(place / "file")
    os.symlink("file", place / "link")
    os.chmod(place / "link", 0o604)
    return mode(file)


@case("chown")
def gives_to_a_user_and_a_group(place):
    file = make(place / "file")
    os.chown(file, 123, 456)
    os.chown(file, -1, 457)
    seen = os.stat(file)
    return [seen.st_uid, seen.st_gid]


@case("chown")
def of_a_link_itself(place):
    make(place / "file")
    os.symlink("file", place / "link")
    os.chown(place / "link", 77, 78, follow_symlinks=False)
    return [os.lstat(place / "link").st_uid, os.stat(place / "link").st_uid]


@case("chown")
def takes_set_uid_away(place):
    file = make(place / "file")
    os.chmod(file, 0o6755)
    os.chown(file, STRANGER, STRANGER)
    os.chmod(file, 0o6755)
    with as_stranger():
        os.chown(file, -1, STRANGER)
    return mode(file)


@case("write")
def by_a_user_takes_set_uid_away(place):
    """A write does so into a file, too, that was open before it had the bits."""
    file = make(place / "file")
    modes = []

    def as_each(call):
        for bits in (0o6777, 0o4767):
            os.chmod(file, bits)
            with as_stranger():
                call()
            modes.append(mode(file))
            os.chmod(file, bits)
            call()
            modes.append(mode(file))

    def cut_at_opening():
        opened(file, os.O_WRONLY | os.O_TRUNC)

    with open(file, "r+b", buffering=0) as before:
        as_each(lambda: before.write(b"x"))
        as_each(lambda: before.truncate(1))
    as_each(lambda: os.truncate(file, 1))
    as_each(cut_at_opening)
    return modes


@case("chown")
def fails_(place):
    file = make(place / "file")
    return [outcome(os.chown, place / "none", 1, 1), by_stranger(os.chown, file, STRANGER, STRANGER)]


@case("ftruncate")
def cuts_and_grows(place):
    with open(make(place / "file", b"0123456789"), "r+b") as file:
        os.ftruncate(file.fileno(), 4)
        short = os.fstat(file.fileno()).st_size
        os.ftruncate(file.fileno(), 8)
        return [short, file.read()]


@case("ftruncate")
def changes_times(place):
    file = make(place / "file", b"0123456789")
    os.utime(file, ns=(1, 1))
    moved = moves_on(file, lambda: os.truncate(file, 3), "st_mtime_ns")
    return [moved, os.stat(file).st_size]


@case("ftruncate")
def of_an_empty_file_changes_times(place):
    file = make(place / "file", b"")
    os.utime(file, ns=(10**18, 10**18))
    os.truncate(file, 5)
    return os.stat(file).st_mtime_ns > 10**18


@case("truncate")
def fails__(place):
    make(place / "file")
    os.mkdir(place / "directory")
    return [
        outcome(os.truncate, place / "none", 0),
        outcome(os.truncate, place / "directory", 0),
        outcome(os.truncate, place / "file", -1),
        by_stranger(os.truncate, place / "file", 0),
    ]


@case("truncate")
def leaves_a_hole(place):
    file = make(place / "file", b"x")
    os.truncate(file, 10_000_000)
    time.sleep(1.05)
    seen = os.stat(file)
    return [seen.st_size, seen.st_blocks * 512 < 1_000_000, file.read_bytes()[-1:]]


@case("link")
def shares_the_file(place):
    file = make(place / "file")
    os.link(file, place / "again")
    time.sleep(1.05)
    first, second = os.stat(file), os.stat(place / "again")
    os.unlink(file)
    time.sleep(1.05)
    left = os.stat(place / "again")
    content = (place / "again").read_bytes()
    return [first.st_nlink, second.st_nlink, first.st_ino == second.st_ino, left.st_nlink, content]


@case("link")
def writes_reach_both(place):
    file = make(place / "file")
    os.link(file, place / "again")
    os.chmod(place / "again", 0o611)
    (place / "again").write_bytes(b"other")
    time.sleep(1.05)
    return [mode(file), file.read_bytes()]


@case("link")
def fails___(place):
    file = make(place / "file")
    os.mkdir(place / "directory")
    return [
        outcome(os.link, place / "none", place / "new"),
        outcome(os.link, file, file),
        outcome(os.link, file, place / "no/where"),
        outcome(os.link, place / "directory", place / "new"),
        outcome(os.link, file, place / LONGER),
        by_stranger(os.link, file, place / "new"),
    ]


@case("link")
def changes_times_(place):
    file = make(place / "file")
    of_file = moves_on(file, lambda: os.link(file, place / "first"), "st_ctime_ns")
    return [of_file, moves_on(place, lambda: os.link(file, place / "second"), "st_mtime_ns")]


@case("mkdir")
def has_the_mode_and_the_umask(place):
    before = os.umask(0o027)
    os.mkdir(place / "one", 0o777)
    os.umask(before)
    os.mkdir(place / "two", 0o700)
    return [mode(place / "one"), mode(place / "two")]


@case("mkdir")
def fails____(place):
    make(place / "file")
    os.symlink("nowhere", place / "link")
    return [
        outcome(os.mkdir, place / "file"),
        outcome(os.mkdir, place / "link"),
        outcome(os.mkdir, place / "no/where"),
        outcome(os.mkdir, place / "file/below"),
        outcome(os.mkdir, place / LONGER),
        outcome(os.mkdir, place / LONG),
        by_stranger(os.mkdir, place / "mine"),
    ]


@case("mkdir")
def changes_the_time_of_its_parent(place):
    return moves_on(place, lambda: os.mkdir(place / "new"), "st_mtime_ns")


@case("mkdir")
def with_set_gid_gives_its_group(place):
    os.chown(place, 0, 99)
    os.chmod(place, 0o2775)
    os.mkdir(place / "below")
    make(place / "file")
    time.sleep(1.05)
    return [os.stat(place / "below").st_gid, mode(place / "below"), os.stat(place / "file").st_gid]


@case("mkdir")
def by_another_user_in_a_set_gid_directory(place):
    os.chown(place, 0, 99)
    os.chmod(place, 0o2777)
    with as_stranger():
        make(place / "file")
        os.mkdir(place / "below")
    time.sleep(1.05)
    seen = [os.stat(place / name) for name in ("file", "below")]
    return [[each.st_uid, each.st_gid] for each in seen]


@case("mkfifo")
def makes_a_pipe(place):
    return outcome(os.mkfifo, place / "pipe")


@case("open")
def creates_with_mode_and_umask(place):
    before = os.umask(0o022)
    opened(place / "file", os.O_CREAT | os.O_WRONLY, 0o666)
    os.umask(before)
    opened(place / "read only", os.O_CREAT | os.O_RDWR, 0o400)
    return [mode(place / "file"), mode(place / "read only")]


@case("open")
def fails_____(place):
    file = make(place / "file")
    os.mkdir(place / "directory")
    os.symlink("loop", place / "loop")
    os.symlink("nowhere", place / "nowhere link")
    os.chmod(file, 0o600)
    create = os.O_CREAT | os.O_WRONLY
    return [
        outcome(opened, place / "none", os.O_RDONLY),
        outcome(opened, file, create | os.O_EXCL),
        outcome(opened, place / "nowhere link", create | os.O_EXCL),
        outcome(opened, place / "directory", os.O_WRONLY),
        outcome(opened, file / "below", os.O_RDONLY),
        outcome(opened, file, os.O_RDONLY | os.O_DIRECTORY),
        outcome(opened, place / "loop", os.O_RDONLY),
        outcome(opened, place / "loop", os.O_RDONLY | os.O_NOFOLLOW),
        outcome(opened, place / LONGER, create),
        by_stranger(opened, file, os.O_RDONLY),
        by_stranger(opened, place / "new", create),
    ]


@case("open")
def truncates(place):
    file = make(place / "file")
    os.utime(file, ns=(1, 1))
    opened(file, os.O_WRONLY | os.O_TRUNC)
    seen = os.stat(file)
    return [seen.st_size, seen.st_mtime_ns > 1]


@case("open")
def through_a_link_creates_its_target(place):
    os.symlink("target", place / "link")
    make(place / "link", b"through")
    return [(place / "target").read_bytes(), os.path.islink(place / "link")]


@case("open")
def appends(place):
    file = make(place / "file", b"first")
    with open(file, "ab") as one, open(file, "ab") as other:
        one.write(b"a")
        one.flush()
        other.write(b"b")
    return file.read_bytes()


def run_case(function, place):
    place.mkdir(mode=0o755)
    os.chmod(place, 0o755)
    try:
        return outcome(function, place)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(place, ignore_errors=True)


def differences(local, other):
    """(case, right answer, answer) of each case that differs."""
    before = os.umask(0o022)
    found = []
    for name, function in CASES.items():
        answers = []
        for directory in (local, other):
            answers.append(run_case(function, pathlib.Path(directory) / "posix case"))
        if answers[0] != answers[1]:
            found.append((name, *answers))
    os.umask(before)
    return found


if __name__ == "__main__":
    different = differences(*sys.argv[1:3])
    for name, right, answer in different:
        print(f"{name}\n  local: {right}\n  other: {answer}")
    print(f"{len(CASES)} cases, {len(different)} differ")
