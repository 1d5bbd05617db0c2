"""Compiles includes as the layers of src/ do: each finds the layers that it stands on and no other
(cmake/stria_layers.cmake). STRIA_BUILD is a build with compile_commands.json, STRIA_COMPILER its
compiler."""

import json
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["STRIA_BUILD"])
COMPILER = os.environ["STRIA_COMPILER"]
LAYERS = sorted(path.name for path in (SOURCE / "src").iterdir() if path.is_dir())
SEARCHED = re.compile(r"-I(\S+)")


def folders_by_layer():
    """Returns where the compiler looks for the headers of a layer's sources: {layer: {(path, ...),
    ...}}"""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        target = re.search(r" -o \S*CMakeFiles/(?:layer_(\w+?)(?:_mpi)?|stria_(server))\.dir/", entry["command"])
        if target:
            layer = target.group(1) or target.group(2)
            found.setdefault(layer, set()).add(tuple(SEARCHED.findall(entry["command"])))
    return found


def seen_by(folders):
    """Returns the layers whose headers a compiler finds that searches these folders, and what it
    says of the others."""
    seen, said = set(), {}
    for layer in LAYERS:
        header = next(path for path in sorted((SOURCE / "src" / layer).rglob("*.hpp")))
        text = f'#include "{header.relative_to(SOURCE / "src")}"\n'
        command = [COMPILER, "-std=c++20", "-DSTRIA_NO_MPI", "-M", "-x", "c++", *(f"-I{folder}" for folder in folders), "-"]
        ended = subprocess.run(command, input=text, capture_output=True, text=True)
        if ended.returncode == 0:
            seen.add(layer)
        else:
            said[layer] = ended.stderr
    return seen, said


class Layers(unittest.TestCase):
    def test_every_layer_is_compiled_by_a_target_of_its_own(self):
        self.assertEqual(sorted(folders_by_layer()), LAYERS)

    def test_a_layer_sees_those_that_it_stands_on(self):
        for layer, searched in folders_by_layer().items():
            for folders in searched:
                with self.subTest(layer=layer):
                    apart = pathlib.Path(folders[0])
                    self.assertEqual(apart.parent, BUILD / "not_seen_by", "it comes before src/")
                    seen, said = seen_by(folders)
                    self.assertEqual(seen, set(apart.name.split("+")))
                    for other, message in said.items():
                        self.assertIn(f"not_seen_by/{apart.name}/{other}/", message)

    def test_what_stands_below_never_sees_what_stands_above(self):
        names = {layer: next(iter(searched))[0] for layer, searched in folders_by_layer().items()}
        seen = {layer: set(pathlib.Path(name).name.split("+")) - {layer} for layer, name in names.items()}
        for layer, others in seen.items():
            for other in others:
                self.assertNotIn(layer, seen[other], f"{layer} and {other} see each other")


if __name__ == "__main__":
    unittest.main()
