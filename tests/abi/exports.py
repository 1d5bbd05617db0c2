#!/usr/bin/env python3
"""Compares what the libraries show with what their headers declare.

usage: exports.py LIBRARY...
  LIBRARY  libstria*.so (C++), libstria_c*.so, libstria_fortran*.so, or one to preload

C++: every symbol has a version; what has STRIA_0.1 is declared in include/stria, and what the
library of C takes from it has that version. C: the functions of stria.h. Fortran: the module.
Libraries to preload: functions of C, which programs call anyway.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRIVATE = "STRIA_PRIVATE"
# These are symbols that belong to classes, and not functions that a header names.
OF_CLASSES = ("typeinfo for ", "typeinfo name for ", "vtable for ")


def symbols(library, *options):
    """Yields (name without its version, version), demangled."""
    command = ["nm", "--dynamic", "--demangle", "--with-symbol-versions", *options, library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    named = [re.sub(r"^[0-9a-f ]{17}", "", line).lstrip() for line in lines]
    return [(name, version) for kind, _, rest in (one.partition(" ") for one in named) if kind != "A"
            for name, _, version in [rest.partition("@@" if "@@" in rest else "@")]]  # fmt: skip


def last_name(symbol):
    """The function's own name: "create" of "stria::File::create(…) const"."""
    name = re.sub(r"\[abi:\w+\]", "", symbol).partition("(")[0].partition("<")[0]
    return name.rpartition("::")[2].lstrip("~")


def wrong_cpp(library):
    headers = "".join(path.read_text() for path in (ROOT / "include" / "stria").glob("*.hpp"))
    words = set(re.findall(r"\w+", headers))
    public = 0
    for name, version in symbols(library, "--defined-only"):
        if version not in ("STRIA_0.1", PRIVATE) or "stria" not in name:
            yield f"{name} has the version '{version}'"
        elif version != PRIVATE:
            public += 1
            if not name.startswith(OF_CLASSES) and "operator" not in name and last_name(name) not in words:
                yield f"{name} is shown to programs, but no header declares it"
    if public < 100:
        yield f"only {public} symbols for programs"


def wrong_c(library):
    header = (ROOT / "include" / "stria.h").read_text()
    declared = set(re.findall(r"\b(stria_[a-z0-9_]+)\(", header))
    if "serial" in library:
        declared = {name for name in declared if not name.endswith("_mpi")}
    shown = {name for name, _ in symbols(library, "--defined-only")}
    yield from (f"{name} is not shown" for name in sorted(declared - shown))
    yield from (f"{name} is shown, but not declared" for name in sorted(shown - declared))
    for name, version in symbols(library, "--undefined-only"):
        if version == PRIVATE:
            yield f"it needs {name}, which is not for programs"


def wrong_fortran(library):
    names = [name for name, _ in symbols(library, "--defined-only")]
    yield from (f"{name} is shown" for name in names if not name.startswith("__stria_MOD_"))
    if len(names) < 100:
        yield f"only {len(names)} symbols of the module"


def wrong_preloaded(library):
    names = [name for name, _ in symbols(library, "--defined-only")]
    yield from (f"{name} is shown" for name in names if "::" in name or " " in name)
    if len(names) < 10:
        yield f"only {len(names)} functions"


def look_for(name):
    for part, look in {"_mpiio": wrong_preloaded, "_trace": wrong_preloaded, "_fortran": wrong_fortran, "_c": wrong_c}.items():
        if name.startswith(f"libstria{part}"):
            return look
    return wrong_cpp


def main():
    failed = False
    for library in sys.argv[1:]:
        name = pathlib.Path(library).name
        for wrong in look_for(name)(library):
            print(f"{name}: {wrong}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
