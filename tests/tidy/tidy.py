#!/usr/bin/env python3
"""Checks the habits that no compiler checks; exits 1 when it finds something, and prints it.

usage: tidy.py [--longest] [ROOT]
  --longest   print the longest files and functions instead, to see how far the
              ceilings can come down
"""

import argparse
import pathlib
import sys

import class_size
import documented_figures
import missing_includes
import parameter_count
import united_names

import contracts
import documented_names
import function_length
import include_graph
import named_files
import prose_rules
import source_tree
import text_rules

CHECKS = [
    include_graph.check,
    missing_includes.check,
    text_rules.check,
    prose_rules.check,
    function_length.check,
    parameter_count.check,
    class_size.check,
    contracts.check,
    documented_figures.check,
    documented_names.check,
    named_files.check,
    united_names.check,
]


def violations_of(files):
    return sorted(violation for check in CHECKS for violation in check(files))


def print_longest(files, count=10):
    code = [file for file in files if file.is_code]
    for file in sorted(code, key=lambda file: -len(file.text.splitlines()))[:count]:
        print(f"{len(file.text.splitlines()):5} lines  {file.path}")
    measured = [
        (length, f"{file.path}:{line}", name)
        for file in code
        if file.is_cpp
        for name, line, length in function_length.functions(file.text)
    ]
    for length, place, name in sorted(measured, reverse=True)[:count]:
        print(f"{length:5} lines  {name} at {place}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", action="store_true", help="print the longest files and functions")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    files = source_tree.load(arguments.root)
    if arguments.longest:
        print_longest(files)
        return 0
    violations = violations_of(files)
    for violation in violations:
        print(violation)
    print(f"tidy: {len(files)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
