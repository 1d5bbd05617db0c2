#!/usr/bin/env python3
"""Makes the man pages and the shells' completion: of the commands from `stria --describe`, of the
calls of C from stria.h.

usage: make_manual.py --header stria.h --document command_line.md --version V --date D
                      [--program STRIA] OUT
  OUT  a folder, made anew: man1/, man3/, and completion/ with stria, _stria and stria.fish
"""

import argparse
import json
import pathlib
import shutil
import subprocess

import bash_completion
import c_header
import c_pages
import command_pages
import command_prose
import command_tree
import fish_completion
import zsh_completion

_COMPLETION = {"stria": bash_completion, "_stria": zsh_completion, "stria.fish": fish_completion}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--header", type=pathlib.Path, required=True)
    parser.add_argument("--document", type=pathlib.Path, required=True)
    parser.add_argument("--program", help="stria, which describes its commands; without it only C's pages")
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    release = (arguments.version, arguments.date)
    shutil.rmtree(arguments.out, ignore_errors=True)
    _write(arguments.out / "man3", c_pages.pages(c_header.parse(arguments.header.read_text()), release))
    if arguments.program:
        described = subprocess.run([arguments.program, "--describe"], stdout=subprocess.PIPE, check=True)
        root = command_tree.from_json(json.loads(described.stdout))
        document = command_prose.Document(arguments.document.read_text())
        _write(arguments.out / "man1", command_pages.pages(root, document, release))
        _write(arguments.out / "completion", ((name, shell.script(root)) for name, shell in _COMPLETION.items()))


def _write(folder, files):
    folder.mkdir(parents=True)
    for name, text in files:
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
