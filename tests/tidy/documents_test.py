#!/usr/bin/env python3
"""Tests of the checks that compare documents with what is there."""

import unittest

import documented_figures
from tidy_test import HEADER, texts_of, tree

import documented_names
import named_files
from source_tree import SourceFile


class DocumentedFigures(unittest.TestCase):
    SOURCE = "It takes 1/85 of the time,\n2\nto 3 times as long.\n\n| | tmpfs |\n|---|---|\n| Stria | 3739 |\n"

    def test_repeated_as_measured(self):
        readme = "Reads are 2 to 3 times as fast.\n\n| | |\n|---|---|\n| HDF5 1.10 | **3739** |\n"
        self.assertEqual(documented_figures.check(tree(docs__performance_md=self.SOURCE, README_md=readme)), [])

    def test_measured_nowhere(self):
        readme = "Reads are 2 to 4 times\nas fast, or 1/84.\n\n| | |\n|---|---|\n| Stria | 3793 |\n"
        self.assertEqual(
            texts_of(documented_figures.check(tree(docs__performance_md=self.SOURCE, README_md=readme))),
            [
                f"README.md: the figure '{figure}' is not one of docs/performance.md"
                for figure in ("2 to 4 times", "1/84", "3793")
            ],
        )


class DocumentedNames(unittest.TestCase):
    SOURCE = 'app->add_option("-o,--output", file);\napp->add_flag(\n    "--sync,!--no-sync", sync);\n'

    def test_described(self):
        files = tree(tools__stria__a_cpp=self.SOURCE, docs__command_line_md="`--output`, `--sync`, `--no-sync`\n")
        self.assertEqual(documented_names.check(files), [])

    def test_not_described(self):
        files = tree(lab__flash__a_cpp=self.SOURCE, docs__command_line_md="`--output-all`, `--sync`\n")
        self.assertEqual(
            texts_of(documented_names.check(files)),
            [
                "lab/flash/a.cpp:1: --output is not described in docs/command_line.md",
                "lab/flash/a.cpp:2: --no-sync is not described in docs/command_line.md",
            ],
        )

    def test_what_documents_name_is_there(self):
        files = [
            *tree(scripts__check_all_sh="parts=(papers docs)\n", src__a_cpp='getenv("STRIA_KNOWN")'),
            SourceFile("Makefile", "demo: setup\nbench-hdf5:\n"),
            SourceFile(
                "docs/a.md",
                "`make demo`, `make bench-hdf5`, `make bench-…`, PART of `make gone`, make it\n"
                "```sh\nmake old PART=papers\nSTRIA_KNOWN=1 make check-all\n```\n`PART=lost` by `STRIA_NEW`\n",
            ),
        ]
        self.assertEqual(
            texts_of(documented_names.check(files)),
            [
                "docs/a.md:1: no target of make is called gone",
                "docs/a.md:3: no target of make is called old",
                "docs/a.md:6: no part of make check-all is called lost",
                "docs/a.md:6: no variable or hint is called STRIA_NEW",
            ],
        )

    def test_hints_both_ways(self):
        source = 'table = {\n  {"cb_nodes", set_nodes},\n  {"stria_speed", set_speed},\n};\n'
        table = "| hint | values |\n|---|---|\n| `cb_nodes` | 1 |\n| `stria_gone` | 2 |\n"
        self.assertEqual(
            sorted(texts_of(documented_names.check(tree(src__access__request__hints_cpp=source, docs__hints_md=table)))),
            [
                "docs/hints.md: no hint is called stria_gone",
                "docs/hints.md:4: no variable or hint is called stria_gone",
                "src/access/request/hints.cpp: the hint stria_speed is not described in docs/hints.md",
            ],
        )


class NamedFiles(unittest.TestCase):
    FILES = {"docs__a_md": "# One & two\n", "src__base__b_hpp": HEADER}

    def found(self, path, text):
        return texts_of(named_files.check([*tree(**self.FILES), SourceFile(path, text)]))

    def test_what_exists(self):
        for path, text in [
            ("docs/c.md", "[a](a.md), [b](a.md#one--two), [c](../src/base/), [d](#here)\n# Here\n"),
            ("README.md", "| `docs/a.md`, `base/b.hpp` and `src/base/` |\n[a](https://a.org/b.md)\n"),
            ("a.cpp", '// As base/b.hpp says, in out/c.py.\nauto a = "base/gone.hpp";\n'),
            ("a.sh", "# usage: a.sh DIR/gone.py, <x>/gone.py, $A/gone.py, src/*/gone.hpp\n"),
        ]:
            self.assertEqual(self.found(path, text), [], text)

    def test_what_does_not(self):
        for path, text, what in [
            ("docs/c.md", "[a](../b.md)\n", "links to ../b.md, which is not there"),
            ("docs/c.md", "[a](a.md#three)\n", "links to a.md#three, which has no such heading"),
            ("docs/c.md", "```\n# here\n```\n[a](#here)\n", "links to #here, which has no such heading"),
            ("README.md", "`src/gone/`\n", "names src/gone/, which is no folder of ours"),
            ("a.cpp", "// As base/gone.hpp says.\n", "names base/gone.hpp, which is no file of ours"),
            ("a.py", '"""Reads docs/gone.md."""\n', "names docs/gone.md, which is no file of ours"),
        ]:
            found = self.found(path, text)
            self.assertEqual(len(found), 1, text)
            self.assertIn(what, found[0])


if __name__ == "__main__":
    unittest.main()
