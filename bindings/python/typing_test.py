"""The types of the package: what mypy accepts and refuses of a program, and that the public
functions say what they take."""

import inspect
import pathlib
import re
import subprocess
import sys

import stria

HERE = pathlib.Path(__file__).parent
CLASSES = (stria.File, stria.Dataset, stria.Group, stria.Attributes, stria.Elements, stria.View, stria.Texts)
# What an attribute holds is known when it is read; the others are what Python's protocols ask for.
ANYTHING = {
    "Attributes.__getitem__", "Attributes.get", "Attributes.values", "Attributes.items", "File.__reduce__", "Group.__reduce__",
    "Dataset.__reduce__", "read",
}  # fmt: skip


def public():
    """Returns the name of each public function, and the function."""
    for name in stria.__all__:
        value = getattr(stria, name)
        if inspect.isfunction(value):
            yield name, value
    for kind in CLASSES:
        for name, value in vars(kind).items():
            value = value.fget if isinstance(value, property) else value
            if inspect.isfunction(value) and name != "__init__" and (not name.startswith("_") or name.startswith("__")):
                yield f"{kind.__name__}.{name}", value


def test_public_functions_say_what_they_take_and_return():
    functions = dict(public())
    assert len(functions) > 60
    for name, function in functions.items():
        parameters = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]
        untyped = [one.name for one in parameters if one.annotation is inspect.Parameter.empty]
        assert not untyped and "return" in function.__annotations__, f"{name}: {untyped}"
        if name not in ANYTHING:
            given = {one.name: one.annotation for one in parameters} | {"return": function.__annotations__["return"]}
            assert not [what for what, kind in given.items() if str(kind) in ("Any", "typing.Any")], f"{name}: {given}"


def test_mypy_knows_right_from_wrong(tmp_path):
    program = HERE / "typed_user.py"
    package = pathlib.Path(stria.__file__).parent.parent
    options = ["--strict", "--no-error-summary", "--show-error-codes", f"--cache-dir={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, program],
        capture_output=True, text=True, env={"MYPYPATH": str(package), "PATH": ""}, check=False,
    )  # fmt: skip
    found = {(int(line), code) for line, code in re.findall(r"typed_user\.py:(\d+): error: .*\[([a-z-]+)\]", done.stdout)}
    lines = enumerate(program.read_text().splitlines(), 1)
    expected = {(number, line.split("# refused: ")[1]) for number, line in lines if "# refused: " in line}
    assert len(expected) > 5 and found == expected, done.stdout + done.stderr
