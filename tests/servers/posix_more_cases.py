"""Cases of POSIX (posix_cases.py): rename to utimensat, and attributes that users give."""

import os
import shutil
import stat
import time

from posix_support import LONG, LONGER, by_stranger, case, make, moves_on, outcome, pause


@case("rename")
def replaces(place):
    make(place / "old", b"old")
    make(place / "new", b"new")
    os.rename(place / "old", place / "new")
    return [(place / "new").read_bytes(), os.path.exists(place / "old")]


@case("rename")
def of_two_names_of_one_file_does_nothing(place):
    make(place / "one")
    os.link(place / "one", place / "two")
    os.rename(place / "one", place / "two")
    return sorted(os.listdir(place))


@case("rename")
def moves_a_link_and_not_its_target(place):
    make(place / "target")
    os.symlink("target", place / "link")
    os.rename(place / "link", place / "moved")
    return [os.readlink(place / "moved"), sorted(os.listdir(place))]


@case("rename")
def fails______(place):
    make(place / "file")
    for name in ("empty", "full/inner"):
        os.makedirs(place / name)
    return [
        outcome(os.rename, place / "none", place / "new"),
        outcome(os.rename, place / "file", place / "no/where"),
        outcome(os.rename, place / "file", place / "empty"),
        outcome(os.rename, place / "empty", place / "file"),
        outcome(os.rename, place / "empty", place / "full"),
        outcome(os.rename, place / "full", place / "full/inner/below"),
        outcome(os.rename, place / "file", place / LONGER),
        outcome(os.rename, place / "file", place / "file/below"),
        by_stranger(os.rename, place / "file", place / "mine"),
    ]


@case("rename")
def changes_times_of_directories(place):
    for name in ("from", "to"):
        os.mkdir(place / name)
    make(place / "from/file")
    before = [os.stat(place / name).st_mtime_ns for name in ("from", "to")]
    pause()
    os.rename(place / "from/file", place / "to/file")
    time.sleep(1.05)
    after = [os.stat(place / name).st_mtime_ns for name in ("from", "to")]
    return [new > old for old, new in zip(before, after, strict=True)]


@case("rename")
def in_a_sticky_directory(place):
    os.chmod(place, 0o1777)
    make(place / "file")
    return [by_stranger(os.rename, place / "file", place / "mine"), by_stranger(os.unlink, place / "file")]


@case("rmdir")
def removes(place):
    os.mkdir(place / "directory")
    moved = moves_on(place, lambda: os.rmdir(place / "directory"), "st_mtime_ns")
    return [moved, os.listdir(place)]


@case("rmdir")
def fails_______(place):
    make(place / "file")
    os.makedirs(place / "full/inner")
    os.symlink("full", place / "link")
    return [
        outcome(os.rmdir, place / "none"),
        outcome(os.rmdir, place / "file"),
        outcome(os.rmdir, place / "full"),
        outcome(os.rmdir, place / "link"),
        outcome(os.rmdir, place / LONGER),
        by_stranger(os.rmdir, place / "full/inner"),
    ]


@case("symlink")
def points_anywhere(place):
    targets = ["target", "../up/and/away", "/an/absolute path", "a" * 1000]
    for number, target in enumerate(targets):
        os.symlink(target, place / str(number))
    seen = os.lstat(place / "0")
    return [
        [os.readlink(place / str(number)) == target for number, target in enumerate(targets)],
        seen.st_size,
        stat.S_ISLNK(seen.st_mode),
        oct(stat.S_IMODE(seen.st_mode)),
    ]


@case("symlink")
def is_followed_on_the_way(place):
    os.makedirs(place / "real/below")
    make(place / "real/below/file", b"found")
    os.symlink("real", place / "one")
    os.symlink("../one/below", place / "real/two")
    os.symlink(place / "real", place / "absolute")
    return [(place / "one/two/file").read_bytes(), (place / "absolute/below/file").read_bytes()]


@case("symlink")
def fails________(place):
    file = make(place / "file")
    os.symlink("loop", place / "loop")
    os.symlink("nowhere", place / "dangling")
    return [
        outcome(os.symlink, "target", file),
        outcome(os.symlink, "", place / "empty"),
        outcome(os.symlink, "target", place / "no/where"),
        outcome(os.symlink, "target", place / LONGER),
        outcome(os.stat, place / "loop"),
        outcome(os.stat, place / "dangling"),
        outcome(os.readlink, file),
        by_stranger(os.symlink, "target", place / "mine"),
    ]


@case("symlink")
def times_of_its_own(place):
    os.symlink("nowhere", place / "link")
    os.utime(place / "link", ns=(10**18, 2 * 10**18), follow_symlinks=False)
    seen = os.lstat(place / "link")
    return [seen.st_atime_ns, seen.st_mtime_ns]


@case("unlink")
def removes_(place):
    make(place / "file")
    moved = moves_on(place, lambda: os.unlink(place / "file"), "st_mtime_ns")
    return [moved, os.listdir(place)]


@case("unlink")
def fails_________(place):
    file = make(place / "file")
    os.mkdir(place / "directory")
    return [
        outcome(os.unlink, place / "none"),
        outcome(os.unlink, place / "directory"),
        outcome(os.unlink, file / "below"),
        outcome(os.unlink, place / LONGER),
        by_stranger(os.unlink, file),
    ]


@case("unlink")
def of_an_open_file_leaves_its_bytes(place):
    with open(make(place / "file"), "rb") as file:
        os.unlink(place / "file")
        return [file.read(), os.path.exists(place / "file")]


@case("unlink")
def of_an_open_file_leaves_no_name(place):
    with open(make(place / "file"), "rb") as file:
        os.unlink(place / "file")
        return [os.listdir(place), os.fstat(file.fileno()).st_nlink]


@case("unlink")
def of_a_link_leaves_its_target(place):
    make(place / "file")
    os.symlink("file", place / "link")
    os.unlink(place / "link")
    return os.listdir(place)


@case("utimensat")
def sets_nanoseconds(place):
    file = make(place / "file")
    os.utime(file, ns=(123456789_987654321, 1234567890_123456789))
    os.utime(place, ns=(1, 1_000_000_001))
    time.sleep(1.05)
    seen, above = os.stat(file), os.stat(place)
    return [seen.st_atime_ns, seen.st_mtime_ns, above.st_atime_ns, above.st_mtime_ns]


@case("utimensat")
def before_1970(place):
    file = make(place / "file")
    os.utime(file, ns=(-1, -1_500_000_000))
    seen = os.stat(file)
    return [seen.st_atime_ns, seen.st_mtime_ns]


@case("utimensat")
def of_an_open_file(place):
    with open(place / "file", "wb") as file:
        file.write(b"written before")
        file.flush()
        os.utime(file.fileno(), ns=(5, 6))
    time.sleep(1.05)
    return os.stat(place / "file").st_mtime_ns


@case("utimensat")
def a_later_write_counts(place):
    file = make(place / "file")
    os.utime(file, ns=(5, 6))
    with open(file, "r+b") as again:
        again.write(b"later")
    time.sleep(1.05)
    seen = os.stat(file)
    return [seen.st_mtime_ns > 6, seen.st_ctime_ns > 6]


@case("utimensat")
def now_by_who_may_write(place):
    file = make(place / "file")
    os.utime(file, ns=(5, 6))
    os.chmod(file, 0o666)
    return [
        by_stranger(os.utime, file),
        os.stat(file).st_mtime_ns > 6,
        by_stranger(os.utime, file, ns=(7, 7)),
    ]


@case("utimensat")
def fails__________(place):
    file = make(place / "file")
    return [outcome(os.utime, place / "none"), by_stranger(os.utime, file), by_stranger(os.utime, file, ns=(1, 1))]


@case("utimensat")
def copying_keeps_times(place):
    file = make(place / "file")
    os.utime(file, ns=(10**18 + 5, 10**18 + 7))
    shutil.copy2(file, place / "copy")
    return os.stat(place / "copy").st_mtime_ns


@case("read")
def changes_the_time_of_access(place):
    file = make(place / "file")
    os.utime(file, ns=(5, 6))
    return moves_on(file, file.read_bytes, "st_atime_ns")


@case("attributes")
def are_set_and_removed(place):
    file = make(place / "file")
    os.setxattr(file, "user.one", b"1")
    os.setxattr(file, "user.two", b"")
    os.setxattr(file, "user.one", b"again", os.XATTR_REPLACE)
    names = sorted(name for name in os.listxattr(file) if name.startswith("user."))
    values = [os.getxattr(file, name) for name in names]
    os.removexattr(file, "user.one")
    return [names, values, [name for name in os.listxattr(file) if name.startswith("user.")]]


@case("attributes")
def fail(place):
    file = make(place / "file")
    os.setxattr(file, "user.one", b"1")
    return [
        outcome(os.getxattr, file, "user.none"),
        outcome(os.removexattr, file, "user.none"),
        outcome(os.setxattr, file, "user.one", b"2", os.XATTR_CREATE),
        outcome(os.setxattr, file, "user.none", b"2", os.XATTR_REPLACE),
        outcome(os.setxattr, file, "user." + LONG, b"2"),
        by_stranger(os.setxattr, file, "user.two", b"2"),
    ]


@case("attributes")
def of_a_directory(place):
    os.setxattr(place, "user.kind", b"directory")
    return os.getxattr(place, "user.kind")
