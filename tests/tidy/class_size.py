"""The methods of a class, counted as measure.py counts them.

A class with more than MOST_METHODS is several: data that belong together, and functions over
them."""

import measure

import function_length
from source_tree import Violation

# Thin interfaces: each method stands for itself.
_INTERFACES = {
    "include/stria/dataset.hpp:Dataset",
    "include/stria/datatype.hpp:Datatype",
    "include/stria/file.hpp:File",
    "src/comm/comm.hpp:Comm",
}


def check(files):
    violations = []
    for file in filter(measure.is_measured, files):
        for name, methods in measure.classes(function_length.blank(file.text)):
            key = f"{file.path}:{name}"
            if methods > measure.MOST_METHODS and key not in _INTERFACES:
                most = f"{measure.MOST_METHODS} are allowed"
                text = f"{name} has {methods} methods; {most}: split its data, or make functions of some"
                violations.append(Violation(file.path, 1, text))
    return violations
