"""Dependencies go one way: reads every #include and reports those that go up, sideways or in a
circle.

The layers of src/ are kept apart by the build (cmake/stria_layers.cmake), and stand here as one.
What is left to this script: the rooms within a layer, which share a target, what a layer hides, the
folders outside src/, public headers, and circles.
"""

import posixpath
import re

from source_tree import Violation

# Lower first. A file includes its own folder and lower layers; two folders on one line know nothing
# of each other.
LAYERS = [
    ["src"],
    ["bindings/mpiio/mpi", "bindings/mpiio/trace"],
    ["bindings/mpiio/types"],
    ["bindings/mpiio/representation", "bindings/mpiio/nodes"],
    ["bindings/mpiio/ranks"],
    ["bindings/mpiio/file"],
    ["bindings/mpiio/transfer"],
    ["bindings/mpiio/background"],
    ["bindings/mpiio/calls"],
    ["bindings"],
    ["tools/shared", "tools/flash"],
    ["tools"],
    ["lab/shared"],
    ["lab/flash"],
    ["lab/bench", "lab/convection"],
    ["lab/simulate/clock", "lab/simulate/machine"],
    ["lab/simulate/network", "lab/simulate/store"],
    ["lab/simulate/run"],
    ["lab/simulate"],
    ["lab"],
]
# Rooms within a layer or a room, lower first. Files that lie in the folder itself stand above all
# of its rooms, or where _ITSELF stands among them.
_ITSELF = "."
ROOMS = {
    "src/datatype": [_ITSELF, "convert", "pack"],
    "src/wire": ["form", "trust"],
    "src/comm": [_ITSELF, "self", "trace", "simulated", "mpi"],
    "src/storage": [
        _ITSELF,
        "lists",
        "posix",
        "uring",
        "memory",
        "striped",
        "rados",
        "coherent",
        "parted",
        "small",
        "steady",
        "traced",
        "fault",
        "registry",
    ],
    "src/storage/posix": ["calls", "file_system", "names", "handle"],
    "src/container": [_ITSELF, "chunks", "hdf5", "netcdf", "formats"],
    "src/container/chunks": ["filters"],
    "src/container/hdf5": ["form", "write", "read", "grow", "copy"],
    "src/container/hdf5/read": ["libhdf5", "stored", "driver", "types", "chunks", "values"],
    "src/container/netcdf": ["form", "write", "read", "grow"],
    "src/trace": ["events", "counters", "format", "record"],
    "src/access": ["request", "failure", "writers", "context", "locks", "plan", "alone", "together"],
    "src/access/together": ["domains", "window", "exchange", "two_phase", "axes", "node"],
    "src/file": [
        "meet",
        "define",
        "checksums",
        "move",
        "chunks",
        "session",
        "nodes",
        "parts",
        "parity",
        "verify",
        "background",
        "write",
        "read",
        "opening",
        "rewrite",
    ],
    "src/file/write": ["target", "old", "metadata", "stages"],
    "src/server": ["events", "objects", "manager", "standby", "connections"],
    "src/server/manager": ["database", "names", "fleet", "succession"],
    "src/server/objects": ["blocks"],
    "src/server/connections": ["resources", "network"],
}
# These lie behind the interface of their layer: its own files and tests include them.
HIDDEN = ["src/container/hdf5", "src/container/netcdf"]
PUBLIC = "include/stria"
TEST_SUPPORT = "tests/support"
SEARCH_FOLDERS = [
    "src",
    "include",
    "tests",
    "lab/flash",
    "lab/bench",
    "lab/convection",
    "lab/simulate",
    "lab/compare",
    "lab/command",
    "tools/flash",
    "tools/stria",
    "tools",
    "bindings",
    "",
]

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check(files):
    paths = {file.path for file in files}
    violations = []
    edges = {}
    for file in files:
        if not file.is_cpp:
            continue
        edges[file.path] = {}
        for number, line in file.lines():
            match = _INCLUDE.match(line)
            if not match:
                continue
            target = resolve(file.path, match.group(2), paths)
            if target:
                edges[file.path][target] = number
                reason = _forbidden(file, target)
                if reason:
                    violations.append(Violation(file.path, number, f"includes {target}: {reason}"))
            elif match.group(1) == '"':
                text = f'"{match.group(2)}" is no file of ours; other libraries are included with <>'
                violations.append(Violation(file.path, number, text))
    return violations + _circles(edges)


def included_file(path, line, paths):
    """Returns the file of ours that a line of the file at `path` includes, or None."""
    match = _INCLUDE.match(line)
    return resolve(path, match.group(2), paths) if match else None


def resolve(path, included, paths):
    """Returns the file of ours that the include names, or None."""
    for folder in [posixpath.dirname(path), *SEARCH_FOLDERS]:
        candidate = posixpath.normpath(posixpath.join(folder, included))
        if candidate in paths:
            return candidate
    return None


def _layer(path):
    """(height, folder) of the layer that a file is in, or None for files outside the layers."""
    for height, folders in enumerate(LAYERS):
        for folder in folders:
            if path.startswith(folder + "/"):
                return height, folder
    return None


def _forbidden(file, target):
    """Why this file may not include the target, or None when it may."""
    if target.startswith(PUBLIC + "/"):
        return None
    if file.path.startswith(PUBLIC + "/"):
        return "a public header includes public headers only"
    if file.path.startswith("tests/"):
        return None
    if target.startswith("tests/"):
        if file.is_test and target.startswith(TEST_SUPPORT + "/"):
            return None
        return f"only unit tests (*_test.cpp) include {TEST_SUPPORT}"
    hidden = next((folder for folder in HIDDEN if target.startswith(folder + "/")), None)
    if hidden and not file.is_test and not file.path.startswith(posixpath.dirname(hidden) + "/"):
        return f"{hidden} is known to {posixpath.dirname(hidden)} alone"
    here, there = _layer(file.path), _layer(target)
    if here is None or there is None:
        return None
    if here[1] == there[1]:
        return None if file.is_test else _forbidden_room(file.path, target)
    if there[0] > here[0]:
        return f"{there[1]} is above {here[1]}"
    if there[0] == here[0]:
        return f"{there[1]} and {here[1]} stand side by side"
    return None


def _room(path, layer):
    """(height, name) of the room that a file of a layer is in."""
    rooms = ROOMS[layer]
    name, slash, _ = path[len(layer) + 1 :].partition("/")
    name = name if slash else _ITSELF
    return (rooms.index(name), name) if name in rooms else (len(rooms), "no room")


def _forbidden_room(path, target):
    """Why this file may not include the target, for any folder of rooms that holds both."""
    for layer in ROOMS:
        if path.startswith(layer + "/") and target.startswith(layer + "/"):
            here, there = _room(path, layer), _room(target, layer)
            if there[0] > here[0]:
                return f"{layer}/{there[1]} is above {layer}/{here[1]}"
    return None


def _circles(edges):
    """Finds headers that include one another in a circle: one violation for each edge that closes
    one."""
    violations = []
    state = {}  # absent: not seen; 1: on the path walked now; 2: done

    def walk(path):
        state[path] = 1
        for target, number in edges.get(path, {}).items():
            if state.get(target) == 1:
                violations.append(Violation(path, number, f"includes {target}, which includes this file again"))
            elif target not in state:
                walk(target)
        state[path] = 2

    for path in edges:
        if path not in state:
            walk(path)
    return violations
