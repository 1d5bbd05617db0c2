"""The methods of a class, counted as measure.py counts them.

A class with more than MOST_METHODS is several: data that belong together, and functions over them.
What is larger stands here with its number, which may only come down."""

import measure

import function_length
from source_tree import Violation

# Thin interfaces: each method stands for itself.
_INTERFACES = {
    "include/stria/dataset.hpp:Dataset",
    "include/stria/datatype.hpp:Datatype",
    "include/stria/file.hpp:File",
    "src/comm/comm.hpp:Comm",
    "src/comm/mpi/mpi_comm.cpp:MpiComm",
}
_LARGER = {
    "src/server/connections/connection.hpp:Connection": 36,
    "src/server/objects/object.hpp:Object": 38,
}


def check(files):
    violations = []
    for file in filter(measure.is_measured, files):
        for name, methods in measure.classes(function_length.blank(file.text)):
            key = f"{file.path}:{name}"
            allowed = _LARGER.get(key, measure.MOST_METHODS)
            if methods > allowed and key not in _INTERFACES:
                text = f"{name} has {methods} methods; {allowed} are allowed: split its data, or make functions of some"
                violations.append(Violation(file.path, 1, text))
    return violations
