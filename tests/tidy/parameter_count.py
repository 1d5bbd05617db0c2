"""The parameters of functions in src/.

A function with more than MOST_PARAMETERS takes values that belong together: a struct, whose fields
have names. A definition counts, and a lambda doesn't.
"""

import function_length
from source_tree import Violation

MOST_PARAMETERS = 5

# Other libraries prescribe the parameters of these, which they call.
_PRESCRIBED = {
    "src/container/hdf5/copy/target_file.cpp": {"read_target_bytes", "write_bytes"},
    "src/container/hdf5/read/driver/file_driver.cpp": {"read_file_bytes", "refuse_write"},
    "src/server/manager/succession/sqlite_sessions.hpp": {"sqlite3changeset_apply"},
    "src/storage/rados/presence.cpp": {"answer"},
}
# Inner loops: with a struct in memory in place of registers, packing with ranges took 6 % longer.
_INNER_LOOPS = {
    "src/datatype/pack/pack_kernels_avx512.cpp": {"gather_part_tile", "scatter_part_tile"},
}
_ALLOWED = _PRESCRIBED | _INNER_LOOPS


def check(files):
    violations = []
    for file in files:
        if not file.is_cpp or file.is_test or not file.path.startswith("src/"):
            continue
        for name, line, count in parameters(file.text):
            if count > MOST_PARAMETERS and name not in _ALLOWED.get(file.path, ()):
                text = f"{name} has {count} parameters; {MOST_PARAMETERS} are allowed: make a struct of some"
                violations.append(Violation(file.path, line, text))
    return violations


def parameters(text):
    """Yields (name, first line, number of parameters) of every function that has a body."""
    lines = function_length.blank(text).split("\n")
    for name, line, length in function_length.functions(text):
        signature = "\n".join(lines[line - 1 : line - 1 + length])
        begin = signature.index("(", signature.index(name) + len(name))
        if name.endswith("operator"):
            begin = signature.index("(", begin + 1)  # behind operator()
        yield name, line, _count(signature, begin)


def _count(text, begin):
    """Counts what commas part between the parenthesis at `begin` and its partner."""
    depth = 0
    angles = 0
    commas = 0
    is_empty = True
    for position in range(begin, len(text)):
        character = text[position]
        if character in ")]}":
            depth -= 1
            if depth == 0:
                break
        is_empty = is_empty and (depth == 0 or character.isspace())
        if character in "([{":
            depth += 1
        elif character == "<":
            angles += 1
        elif character == ">" and text[position - 1] != "-":
            angles -= 1
        elif character == "," and depth == 1 and angles == 0:
            commas += 1
    return 0 if is_empty else commas + 1
