#!/usr/bin/env python3
"""Measures what Stria costs in C, Fortran and Python beside C++, and Python beside h5py with MPI,
also of reads by indices with steps, lists and masks.

Programs of one thing run one after the other in every cycle, so that they see the same machine; a
ratio is the median over the cycles, with its range. All write the same bytes, which are compared.
Goals stand beside the results; all figures go to OUT/languages.json.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "lab/compare"), str(ROOT / "scripts")]
import command  # noqa: E402

from mpiexec_env import mpiexec_environment  # noqa: E402

# Debian's Python has h5py with MPI; the package for Python is of the same version.
PYTHON = "/usr/bin/python3"
H5PY_WITH_MPI = pathlib.Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
PUT = str(ROOT / "lab" / "compare" / "languages" / "put.py")
GET = str(ROOT / "lab" / "compare" / "languages" / "get.py")
BYTES_OF_BLOCK = 24 * 16**3 * 8  # interior cells of 24 variables
TIMEOUT_S = 300


@dataclasses.dataclass(frozen=True)
class Goal:
    what: str
    reached: bool
    text: str


class Programs:
    """The programs of a build, and how they are run."""

    def __init__(self, build):
        self.build = build
        self.commands = {
            "C++": [str(build / "bin" / "bench_languages_cpp")],
            "C": [str(build / "bin" / "bench_languages_c")],
            "Fortran": [str(build / "bin" / "bench_languages_fortran")],
            "Python": [PYTHON, "-B", PUT],
        }
        if H5PY_WITH_MPI.exists():
            self.commands["h5py"] = [PYTHON, "-B", PUT, "h5py"]

    def missing(self):
        return [command[0] for command in self.commands.values() if not os.access(command[0], os.X_OK)]

    def seconds(self, language, ranks, *arguments):
        """Returns the rounds that the program has printed."""
        return [float(line) for line in self.lines(language, ranks, self.commands[language], *arguments)]

    def lines(self, what, ranks, command, *arguments):
        """Returns what the program has printed."""
        environment = mpiexec_environment()
        environment["PYTHONPATH"] = str(self.build / "python")
        done = subprocess.run(
            ["mpiexec.openmpi", "-n", str(ranks), *command, *map(str, arguments)],
            env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"{what}: {' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")
        return done.stdout.splitlines()


def middle(values):
    """Returns the median and the range, such as "1.02 (0.98 to 1.10)"."""
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def calls(programs, arguments, work):
    """Microseconds of one put in each language, each cycle's best of its rounds."""
    found = {language: [] for language in ("C++", "C", "Fortran", "Python")}
    for _ in range(arguments.cycles):
        for language, values in found.items():
            rounds = programs.seconds(language, 1, "calls", 5, arguments.calls, work / "calls.h5")
            values.append(min(rounds) / arguments.calls * 1e6)
    print(f"A put of a described block, µs, {arguments.calls} puts on one rank:")
    for language, values in found.items():
        print(f"  {language:8} {middle(values)}")
    for language, most in (("C", 1), ("Fortran", 1), ("Python", 15)):
        over = [mine - theirs for mine, theirs in zip(found[language], found["C++"], strict=True)]
        reached = statistics.median(over) <= most
        yield Goal(f"put over C++, {language}", reached, f"{middle(over)} µs, goal {most}")
    yield {"put_us": found}


def checkpoint(programs, arguments, work):
    """Measures the seconds of a checkpoint in each language; the files are the same."""
    found = {language: [] for language in programs.commands}
    size = arguments.blocks * arguments.ranks * BYTES_OF_BLOCK
    for cycle in range(arguments.cycles):
        first = None
        for language, values in found.items():
            path = work / "checkpoint.h5"
            path.unlink(missing_ok=True)
            values.append(min(programs.seconds(language, arguments.ranks, "checkpoint", 3, arguments.blocks, path)))
            if cycle == 0 and language != "h5py":
                written = path.read_bytes()
                first = first or written
                if written != first:
                    raise SystemExit(f"the file of {language} is another one than that of C++")
            path.unlink()
    print(f"A checkpoint of {size / 1e6:.0f} MB from {arguments.ranks} ranks, MB/s:")
    for language, values in found.items():
        print(f"  {language:8} {middle([size / value / 1e6 for value in values])}")
    for language, other, least in (("Fortran", "C++", 0.97), ("Python", "C++", 0.97), ("Python", "h5py", 3)):
        if other not in found:
            continue
        ratios = [theirs / mine for mine, theirs in zip(found[language], found[other], strict=True)]
        yield Goal(f"checkpoint, {language} x {other}", statistics.median(ratios) >= least, f"{middle(ratios)}, goal {least}")
    yield {"checkpoint_seconds": found, "checkpoint_bytes": size}


def indices(programs, arguments, work):
    """Seconds of reads by indices, stria's beside h5py's in one run: by one process, by each of all
    ranks alone, and by all together."""
    if "h5py" not in programs.commands:
        return
    found = {}
    for ranks in (1, arguments.ranks):
        ratios = {}
        for _ in range(arguments.cycles):
            for line in programs.lines("indices", ranks, [PYTHON, "-B", GET], work / "indices.h5", 3):
                theirs, mine, name = line.split(maxsplit=2)
                ratios.setdefault(name, []).append(float(theirs) / float(mine))
        print(f"Reads by indices on {ranks} ranks, stria x h5py:")
        for name, values in ratios.items():
            print(f"  {name:20} {middle(values)}")
            yield Goal(f"{name} on {ranks} ranks, x h5py", statistics.median(values) >= 1, f"{middle(values)}, goal 1")
        found[str(ranks)] = ratios
    yield {"indices_ratio": found}


def imports(programs, arguments):
    """Seconds of `import stria` in a new interpreter, and of NumPy alone, which it needs."""
    found = {"numpy": [], "stria": []}
    environment = {**os.environ, "PYTHONPATH": str(programs.build / "python")}
    for _ in range(2 * arguments.cycles):
        for module, values in found.items():
            code = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
            values.append(float(subprocess.check_output([PYTHON, "-B", "-c", code], env=environment, text=True)))
    print("Import without MPI, s:")
    for module, values in found.items():
        print(f"  {module:8} {middle(values)}")
    yield Goal("import of stria", statistics.median(found["stria"]) <= 0.2, f"{middle(found['stria'])} s, goal 0.2")
    yield {"import_seconds": found}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="the build (Open MPI)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out" / "bench", help="where languages.json goes")
    parser.add_argument("--dir", type=pathlib.Path, help="where the files are written; the system's place by default")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=172, help="blocks of 16^3 a rank; 172 on 4 ranks make 541 MB")
    parser.add_argument("--calls", type=int, default=20000, help="puts in a round")
    parser.add_argument("--cycles", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes once: only shows that all of it works")
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.ranks, arguments.blocks, arguments.calls, arguments.cycles = 2, 2, 100, 1
    programs = Programs(arguments.build.resolve())
    if programs.missing():
        print(f"languages: not built: {', '.join(programs.missing())}", file=sys.stderr)
        return 2
    figures, goals = {}, []
    with tempfile.TemporaryDirectory(prefix="stria_languages.", dir=arguments.dir) as place:
        work = pathlib.Path(place)
        parts = [
            calls(programs, arguments, work),
            checkpoint(programs, arguments, work),
            indices(programs, arguments, work),
            imports(programs, arguments),
        ]
        for part in parts:
            for item in part:
                goals.append(item) if isinstance(item, Goal) else figures.update(item)
    print("Goals:")
    for goal in goals:
        print(f"  {'reached' if goal.reached else 'MISSED':8} {goal.what}: {goal.text}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "languages.json").write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    command.end_with(main)
