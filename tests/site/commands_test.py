"""The command lines of README, tutorial and how-to pages, run as they are printed, on two ranks and
in a directory of their own. Those that install, or build the whole, are run by other tests, which
ELSEWHERE names."""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import stria_program

ROOT = pathlib.Path(stria_program.ROOT)
BUILD = pathlib.Path(stria_program.PROGRAM).parents[1]
PAGES = ["README.md", "docs/tutorial.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs/howto").glob("*.md"))]
ELSEWHERE = {
    "make ": "make check-all has a part for each target that takes long",
    "apt install ": "the test packages",
    "spack ": "needs Spack; the test install compares what EasyBuild and Spack look for",
    "pip install ": "the test wheel",
    "cmake ": "the tests install and without_mpi",
    "export PKG_CONFIG_PATH=": "the test install",
    "c++ ": "the test install",
    "srun ": "needs Slurm; tests/nodes/lost_node_test.py drains each node",
    "stria serve ": "the tests servers.*, which take any free port",
    "stria flash io --dir stria://": "the tests servers.*",
    "stria status stria://": "the test servers_parity",
    "stria repair --dry-run stria://": "the test servers_parity",
    "stria repair stria://": "the test servers_parity",
    "stria verify stria://": "the test servers_parity",
}
# A program of MPI-IO, and one of Python, which the pages leave to the reader.
PROGRAM = "#!/bin/sh\nexec stria bench block3d --cells 16 --rounds 1 --dir . >/dev/null\n"
SCRIPT = """
from mpi4py import MPI
file = MPI.File.Open(MPI.COMM_WORLD, "by_script", MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at_all(4 * MPI.COMM_WORLD.rank, b"abcd")
file.Close()
"""


def commands_of(page):
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run_here(page):
    return [line for line in commands_of(page) if not line.startswith(tuple(ELSEWHERE))]


def test_what_is_run_elsewhere_is_printed_somewhere():
    lines = [line for page in PAGES for line in commands_of(page)]
    for beginning in ELSEWHERE:
        assert any(line.startswith(beginning) for line in lines), beginning


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def reader(work):
    """Gives a directory with what a reader of the pages has: programs, an installed Stria, some
    files."""
    mpi = "mpich" if "mpich" in stria_program.MPIEXEC else "openmpi"
    programs, libraries = work / "bin", work / "prefix" / "lib"
    programs.mkdir()
    libraries.mkdir(parents=True)
    executable(programs / "mpiexec", f'#!/bin/sh\nshift 2\nexec {stria_program.MPIEXEC} -n 2 "$@"\n')
    for name in ("python", "python3"):
        executable(programs / name, f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "stria").symlink_to(stria_program.PROGRAM)
    for name in ("libstria_mpiio", "libstria_trace"):
        (libraries / f"{name}_{mpi}.so").symlink_to(BUILD / "lib" / f"{name}.so")
    executable(work / "program", PROGRAM)
    (work / "script.py").write_text(SCRIPT)
    for name in ("one_process.py", "particles.py", "checkpoint.py", "restart.py"):
        (work / name).write_text((ROOT / "examples/python" / name).read_text())
    stria_program.run("flash", "io", "--nxb", 4, "--nvar", 2, "--blocks", 2, "--rounds", 1, "--dir", work, "--keep").succeeded()
    sorted(work.glob("**/*hdf5_chk_*"))[-1].rename(work / "run_chk_0042")
    shutil.copy(work / "run_chk_0042", work / "safe.h5")
    stria_program.run("repair", "--renew", 1, work / "safe.h5").succeeded()
    (work / "scratch").mkdir()
    return work, mpi


@pytest.mark.parametrize("page", [page for page in PAGES if run_here(page)])
def test_commands(reader, page):
    work, mpi = reader
    for line in run_here(page):
        if re.search("_(openmpi|mpich)[.]so", line) and f"_{mpi}.so" not in line:
            continue
        line = line.replace("/scratch/me", "scratch").replace("DIRECTORY_IT_WRITES_TO", ".")
        settings = f"export PATH={shlex.quote(str(work / 'bin'))}:$PATH PREFIX={shlex.quote(str(work / 'prefix'))}\n"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", settings + line],
            cwd=work, env=stria_program.environment(), capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if "trace view" not in line and "STRIA_TRACE_DIR" in line and "LD_PRELOAD" in line:
            for trace in list(work.glob("traces/*.stria-trace"))[1:]:
                trace.unlink()  # two ways to record one run
