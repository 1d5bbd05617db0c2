#!/usr/bin/env python3
"""Compares the binary interface that stria.h declares with the recorded one; exits 1 when a program
that was compiled before would not run with it, and when something new is not recorded yet.

usage: abi.py [--record]
  --record  writes stria_c.abi anew, after something was added or the number of the ABI has grown

abidiff sees types in the debugging information of a library. The real one has the types of its C++
beside them, so that one is made here of nothing but the header: every function of it with an empty
body, and a variable for each enum. That the real libraries export the same names is seen by
tests/install/install_test.sh.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = pathlib.Path(__file__).with_name("stria_c.abi")
sys.path.insert(0, str(ROOT / "tools" / "manual"))

import c_header  # noqa: E402


def stub(text):
    """Returns a program of C with all that the header declares."""
    # Any type does for a communicator: it is the MPI's business.
    code = "#define MPI_VERSION 3\ntypedef struct an_mpi_communicator* MPI_Comm;\n#include <stria.h>\n"
    header = c_header.parse(text)
    for name in re.findall(r"^enum (\w+) \{", text, flags=re.MULTILINE):
        code += f"enum {name} values_of_{name};\n"
    for name, value in re.findall(r"^#define (STRIA_\w+) (\S+)$", text, flags=re.MULTILINE):
        code += f"enum the_{name} {{ the_value_of_{name} = {value} }} value_of_{name};\n"
    for group in header.groups:
        for declaration in group.declarations:
            if not declaration.startswith("typedef"):
                body = "{}" if declaration.startswith("void ") else "{ return 0; }"
                code += declaration.partition(";")[0] + " " + body + "\n"
    assert len(header.functions) == len(set(header.functions)) > 80
    return code


def compile_stub(folder):
    source, library = folder / "stria_c.c", folder / "libstria_c.so.0"
    source.write_text(stub((ROOT / "include" / "stria.h").read_text()))
    command = ["cc", "-g", "-shared", "-fPIC", "-fvisibility=default", "-Wl,-soname,libstria_c.so.0"]
    # The record says nothing of the folder.
    places = [f"-ffile-prefix-map={folder}=.", "-I", ROOT / "include"]
    subprocess.run([*command, *places, source, "-o", library], check=True)
    return library


def record(library):
    plain = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--type-id-style", "hash"]
    subprocess.run(["abidw", *plain, "--out-file", RECORD, library], check=True)


def compare(library):
    broken = subprocess.run(["abidiff", "--no-added-syms", RECORD, library], capture_output=True, text=True, check=False)
    if broken.returncode != 0:
        print(broken.stdout + broken.stderr)
        return "programs compiled with the recorded stria.h don't run with this one; CONTRIBUTING.md says what its number means"
    grown = subprocess.run(["abidiff", RECORD, library], capture_output=True, text=True, check=False)
    if grown.returncode != 0:
        print(grown.stdout + grown.stderr)
        return "stria.h has something new: record it with tests/abi/abi.py --record"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = compile_stub(pathlib.Path(folder))
        if arguments.record:
            record(library)
            return 0
        wrong = compare(library)
    if wrong:
        print(f"abi: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
