"""The files at which the tidy checks look, and the form of their reports."""

import dataclasses
import pathlib
import subprocess

CODE_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".cmake", ".js", ".css"}
CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}


@dataclasses.dataclass(frozen=True, order=True)
class Violation:
    """One thing to mend, at one place; line 0 stands for the file as a whole."""

    path: str
    line: int
    text: str

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.text}"


@dataclasses.dataclass(frozen=True)
class SourceFile:
    """A file's path relative to the root, with forward slashes, and its text (None for
    binary files)."""

    path: str
    text: str | None

    @property
    def name(self):
        return self.path.rsplit("/", 1)[-1]

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def is_code(self):
        return self.text is not None and (self.suffix in CODE_SUFFIXES or self.name in {"CMakeLists.txt", "Makefile"})

    @property
    def is_cpp(self):
        return self.text is not None and self.suffix in CPP_SUFFIXES

    @property
    def is_test(self):
        return self.path.startswith("tests/") or self.name.rsplit(".", 1)[0].endswith("_test")

    @property
    def is_corpus(self):
        """Tells whether it is a fuzzing input: bytes with names of the fuzzer's choosing."""
        return "/corpus/" in self.path

    def lines(self):
        """Returns the numbered lines, from 1."""
        return enumerate(self.text.splitlines(), start=1)


def load(root):
    """Reads every file of the work tree that git does not ignore."""
    root = pathlib.Path(root)
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
    )
    paths = sorted(set(listing.stdout.decode().split("\0")) - {""})
    return [SourceFile(path, _read_text(root / path)) for path in paths if (root / path).is_file()]


def _read_text(path):
    content = path.read_bytes()
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
