"""Runs the two programs and collects what they measured."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from mpiexec_env import mpiexec_environment  # noqa: E402

from .cases import PARITIES  # noqa: E402

TIMEOUT_S = 900
LAYOUTS = ("standard", "experimental")
NOISE_NUMBERS = 1 << 21
NETCDF = "netcdf"  # the standard layout in that format


class RunError(Exception):
    """A program failed; the message says which and how."""


def mpiexec():
    """Returns the launcher of the MPI that the peers are built on."""
    return shutil.which("mpiexec.openmpi") or shutil.which("mpiexec") or "mpiexec"


def run_program(command, ranks, timeout_s=TIMEOUT_S):
    """Runs a command on some ranks. Raises RunError with the last lines of what it said."""
    full = [mpiexec(), "--oversubscribe", "-n", str(ranks)] + command
    try:
        done = subprocess.run(full, env=mpiexec_environment(), capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as expired:
        raise RunError(f"{' '.join(full)}: no end after {timeout_s} s") from expired
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines()
        raise RunError(f"{' '.join(full)}: exit code {done.returncode}: {' | '.join(lines[:3])}")


def run_with_json(command, ranks):
    """Runs a command that takes --json and returns what it wrote there."""
    with tempfile.TemporaryDirectory(prefix="stria-bench-") as place:
        path = os.path.join(place, "result.json")
        run_program(command + ["--json", path], ranks)
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise RunError(f"{' '.join(command)}: no usable JSON: {error}") from error


def common_arguments(case, rounds, directory, verify):
    """Returns the options that both programs share."""
    arguments = ["--nxb", str(case.nxb), "--nvar", str(case.nvar), "--rounds", str(rounds), "--dir", directory]
    if case.blocks:
        arguments += ["--blocks", str(case.blocks)]
    return arguments + (["--sync"] if case.sync else []) + (["--verify"] if verify else [])


def peer_modes(program):
    """The modes that this build of the peers has."""
    done = subprocess.run([program, "--list-modes"], env=mpiexec_environment(), capture_output=True, text=True, check=True)
    return {line.split()[0].rstrip(",") for line in done.stdout.splitlines()}


def run_peers(program, case, rounds, directory, verify, more=()):
    """Measures the peers' modes of a case."""
    command = [program] + common_arguments(case, rounds, directory, verify)
    return run_with_json([*command, *more, "--modes", ",".join(case.all_modes())], case.ranks)


def make_values(program, path):
    """Writes the blocks of a Sedov blast that fills half of its domain, one variable after another,
    as `--values` wants them. It takes two minutes."""
    import h5py

    with tempfile.TemporaryDirectory(prefix="stria-bench-") as place:
        size = ["--dim", "3", "--nxb", "16", "--max-level", "3", "--steps", "250"]
        run_program([program, "flash", "sedov", *size, "--checkpoint-every", "250", "--no-sync", "--out", place], 2)
        last = max(pathlib.Path(place).iterdir(), key=lambda file: file.stat().st_mtime)
        with h5py.File(last) as checkpoint, open(path + ".new", "wb") as raw:
            names = [name.decode() for name in checkpoint["unknown names"][:, 0]]
            for name in names:
                raw.write(checkpoint[name][:].astype("<f8").tobytes())
    os.replace(path + ".new", path)


def make_noise(path):
    """Writes numbers that don't shrink: any bits that are a finite number."""
    import numpy

    bits = numpy.random.default_rng(1).integers(0, 2**64, size=NOISE_NUMBERS, dtype=numpy.uint64)
    exponent_top = numpy.uint64(1 << 62)
    (bits & ~exponent_top).tofile(path)


def run_way(program, case, rounds, directory, verify, more):
    """Measures the standard checkpoint, and the same in the case's way, which is called
    `stria-<way>`. Parity is measured beside the same parts without, `stria-parts`."""
    options = {"compressed": ["--compress"], "incompressible": ["--compress"]}
    options["subfiles"] = ["--hint", f"stria_subfiles={case.ranks}"]
    layout = LAYOUTS[0]
    if case.way in PARITIES:
        data, parity = PARITIES[case.way]
        more = [*more, "--hint", f"stria_subfiles={data}"]
        options[case.way] = ["--hint", f"stria_parity={parity}"]
        layout = "parts"
    command = [program, "flash", "io", *common_arguments(case, rounds, directory, verify), *more]
    command += ["--layout", LAYOUTS[0], "--limits"] + (["--read"] if case.way == "compressed" else [])
    plain = run_with_json(command, case.ranks)
    for mode in plain["modes"]:
        mode["name"] = stria_mode_name(mode, layout)
    own = run_with_json(command + options[case.way], case.ranks)
    for mode in own["modes"]:
        mode["name"] = stria_mode_name(mode, case.way).replace("read-stria", f"read-stria-{case.way}")
    return {**plain, "modes": plain["modes"] + [mode for mode in own["modes"] if "limit" not in mode["name"]]}


def stria_options(program):
    """Returns the options that this build of `stria flash io` lists in its help: older ones measure
    less."""
    done = subprocess.run(
        [program, "flash", "io", "--help"],
        env=mpiexec_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    text = done.stdout + done.stderr
    return {
        option
        for option in ("--limits", "--plotfile", "--read", "--layout", "--format", "--read-from")
        if option in text.split()
    }


def run_stria(program, options, case, rounds, directory, verify, layout):
    """Measures `stria flash io` in one layout, or in netCDF. In its modes the checkpoint is called
    `stria-<layout>`."""
    command = [program, "flash", "io"] + common_arguments(case, rounds, directory, verify)
    if layout == NETCDF:
        command += ["--layout", LAYOUTS[0], "--format", NETCDF]
    elif "--layout" in options:
        command += ["--layout", layout]
    if "--limits" in options:
        command.append("--limits")
    main = layout == LAYOUTS[0]
    if case.plot and main and "--plotfile" in options:
        command.append("--plotfile")
    if case.read and main and "--read" in options:
        command.append("--read")
    result = run_with_json(command, case.ranks)
    for mode in result["modes"]:
        mode["name"] = stria_mode_name(mode, layout)
    return result


def run_restart(program, case, rounds, directory, verify):
    """Measures reading a checkpoint on another number of ranks than wrote it, beside plain reads of
    as many bytes."""
    writers = case.writers()
    write = [program, "flash", "io", "--nxb", str(case.nxb), "--nvar", str(case.nvar), "--rounds", "1", "--dir", directory]
    write += ["--blocks", str(max(case.total_blocks() // writers, 1)), "--layout", "standard", "--keep"]
    file = run_with_json(write, writers)["modes"][0]["file"]
    read = [program, "flash", "io", "--read-from", file, "--limits", "--rounds", str(rounds), "--dir", directory]
    try:
        result = run_with_json(read + (["--verify"] if verify else []), case.ranks)
    finally:
        os.remove(file)
    for mode in result["modes"]:
        mode["name"] = stria_mode_name(mode, LAYOUTS[0])
    return result


def mode_kind(mode):
    """Returns checkpoint, plot, corners, read or restart: what the program says, else what the name
    says."""
    name = mode["name"].lower()
    if "restart" in name:
        return "restart"
    if "corner" in name:
        return "corners"
    if mode.get("kind") in ("checkpoint", "plot", "read"):
        return mode["kind"]
    if "plot" in name:
        return "plot"
    return "read" if "read" in name else "checkpoint"


def stria_mode_name(mode, layout):
    """One name for each thing that the FLASH I/O command measures, however it calls it;
    limits keep theirs."""
    if "limit" in mode["name"]:
        return mode["name"]
    kind = mode_kind(mode)
    return f"stria-{layout}" if kind == "checkpoint" else f"{kind}-stria"
