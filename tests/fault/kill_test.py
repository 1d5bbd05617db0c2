"""SIGKILL at seeded random moments of a checkpointing run: what is lost is never a checkpoint
that was reported.

After every kill all files with final names are whole, the newest is no older than the last one that
the program reported, and `--restart latest` on another number of ranks ends in the very state of a
run that nobody disturbed. STRIA_KILLS says how many kills (default 12), STRIA_SEED which ones. With
STRIA_KILL_WAYS=background every run commits in the background, half of them by way of another
place. Half of all runs compress. The next run leaves nothing there, nor in /dev/shm.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import threading
import time

import pytest
import stria_program

KILLS = int(os.environ.get("STRIA_KILLS", "12"))
BACKGROUND = os.environ.get("STRIA_KILL_WAYS") == "background"
SEED = int(os.environ.get("STRIA_SEED", "20120521"))
STEPS = 6
RANKS = 3
OPTIONS = ["flash", "sedov", "--dim", 2, "--nxb", 8, "--max-level", 3, "--steps", STEPS, "--checkpoint-every", 1]
# What happens to one file from its creation to its name, in the words of fault scripts, with how
# often it may happen.
MOMENTS = [
    ("open", 1), ("write", 3), ("sys_write", 4), ("size", 1), ("sync", 1), ("close", 1), ("rename", 1), ("sys_close", 1),
    ("sync_directory", 1), ("any", 12),
]  # fmt: skip
# What happens besides where a file is staged, and on its way from there.
STAGED_MOMENTS = [("list_directory", 1), ("preallocate", 1), ("rename", 2), ("read", 1), ("sync", 2), ("remove", 1)]
METHODS = ["automatic", "list_io", "two_phase"]
# Makes the time that a run spends on its files long enough to be hit by chance.
SLOW_STORAGE = "any:delay_ms=6:count=all"


@pytest.fixture(scope="module")
def undisturbed(session_directory, sedov):
    """The final state, and how many seconds a run takes once MPI has started."""
    directory = session_directory / "undisturbed"
    json = directory.with_suffix(".json")
    stria_program.run(*OPTIONS, "--out", directory, "--json", json, ranks=RANKS, fault=SLOW_STORAGE).succeeded()
    result = stria_program.read_json(json)
    return result["result"]["state_hash"], result["run_seconds"]


def checkpoints(directory):
    return sorted(path for path in directory.iterdir() if path.name.startswith("sedov_hdf5_chk_"))


def reported_numbers(text):
    return [int(number) for number in re.findall(r"wrote \S*hdf5_chk_(\d+)\b", text)]


def run_with_fault(random_source, directory, ways):
    """Kills one rank, or all, at a storage operation of one of the files; returns what the run
    printed and the description."""
    moments = STAGED_MOMENTS if BACKGROUND and any("stria_staging" in way for way in ways) else []
    moment, at_most = random_source.choice(MOMENTS + moments)
    # Most of the work of a file is rank 0's.
    rank = random_source.choice([0, 0, *range(RANKS)])
    method = random_source.choice(METHODS)
    number = random_source.randrange(STEPS)
    rule = f"{moment}:rank={rank}:path=chk_{number:04d}:nth={random_source.randint(1, at_most)}:kill"
    outcome = stria_program.run(
        *OPTIONS, *ways, "--out", directory, "--hint", f"stria_method={method}", ranks=RANKS, fault=rule
    )
    return outcome.stdout, outcome.code != 0, f"{rule} with {method}"


def read_all(stream, into):
    for line in stream:
        into.append(line)


def run_with_kill(random_source, directory, run_seconds, ways):
    """Kills a rank, or the whole job with its mpiexec, a random time after the program's first
    word. Before it MPI starts; Open MPI 4.1 sometimes hangs when a rank is killed then, whatever
    the program."""
    wait_seconds = random_source.uniform(0, run_seconds)
    whole_job = random_source.random() < 0.5
    process = stria_program.start(
        [*OPTIONS, *ways, "--out", directory], RANKS, SLOW_STORAGE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    lines = [process.stdout.readline()]
    reader = threading.Thread(target=read_all, args=(process.stdout, lines))
    reader.start()
    time.sleep(wait_seconds)
    ranks = stria_program.rank_processes(process)
    struck = process.poll() is None and (whole_job or bool(ranks))
    if whole_job:
        stria_program.kill_all(process)
    elif ranks:
        stria_program.kill(random_source.choice(ranks))
    try:
        process.wait(timeout=stria_program.HANG_SECONDS)
    finally:
        stria_program.kill_all(process)
        reader.join()
        process.stdout.close()
    return "".join(lines), struck, f"{'the whole job' if whole_job else 'one rank'} after {wait_seconds:.2f} s"


def check_files(directory, printed):
    """Every checkpoint that has its name is whole, and none that was reported is missing."""
    files = checkpoints(directory) if directory.exists() else []
    reported = reported_numbers(printed)
    if files:
        stria_program.run("verify", *files).succeeded()
    if reported:
        assert files and int(files[-1].name[-4:]) >= max(reported), f"reported {reported}, there are {files}"
    return files


def check_restart(random_source, directory, expected_hash, hints):
    json = directory.parent / "restart.json"
    outcome = stria_program.run(
        "flash", "sedov", "--restart", "latest", "--steps", STEPS, "--out", directory, "--json", json, *hints,
        ranks=random_source.choice([1, 2, 4]),
    ).succeeded()  # fmt: skip
    assert "passing over" not in outcome.stdout, str(outcome)
    assert stria_program.read_json(json)["result"]["state_hash"] == expected_hash, str(outcome)
    left = [path.name for path in directory.iterdir() if "partial" in path.name]
    left += [path.name for path in near_of(directory).iterdir()]
    assert not left, f"left behind: {left}\n{outcome}"


def named_memory():
    """Returns what has a name in /dev/shm and may be the library's; not what tests keep there."""
    names = [path.name for path in pathlib.Path("/dev/shm").iterdir()] if os.path.isdir("/dev/shm") else []
    return {name for name in names if "stria" in name and not name.startswith("stria_test_")}


def near_of(directory):
    """Returns where files are staged on their way to the directory."""
    return directory.with_name(directory.name + "_near")


def check_one(random_source, directory, undisturbed, by_fault):
    expected_hash, run_seconds = undisturbed
    near_of(directory).mkdir()
    staging = ["--hint", f"stria_staging={near_of(directory)}"]
    hints = random_source.choice([[], staging] if BACKGROUND else [[], [], staging])
    ways = [*random_source.choice([["--async"]] if BACKGROUND else [[], ["--async"]]), *hints]
    ways += random_source.choice([[], ["--compress"]])
    if by_fault:
        printed, struck, description = run_with_fault(random_source, directory, ways)
    else:
        printed, struck, description = run_with_kill(random_source, directory, run_seconds, ways)
    description = " ".join([description, *ways])
    try:
        files = check_files(directory, printed)
        staged = [path for path in near_of(directory).iterdir() if not path.name.startswith(".")]
        if staged:
            stria_program.run("verify", *staged).succeeded()
        if files or staged:
            check_restart(random_source, directory, expected_hash, hints)
    except AssertionError as error:
        raise AssertionError(f"killed: {description}; it printed\n{printed}\n{error}") from None
    return struck, description, len(files)


def test_kills_cost_no_checkpoint(work, undisturbed):
    print(f"STRIA_SEED={SEED} STRIA_KILLS={KILLS}")
    struck_count = 0
    attempt = 0
    files_left = set()
    memory_before = named_memory()
    while struck_count < KILLS:
        assert attempt < 4 * KILLS + 10, "the kills miss the run"
        random_source = random.Random(f"{SEED}/{attempt}")
        directory = work / f"attempt_{attempt}"
        try:
            struck, description, file_count = check_one(random_source, directory, undisturbed, by_fault=attempt % 3 != 2)
        except AssertionError as error:
            raise AssertionError(f"STRIA_SEED={SEED}, attempt {attempt}: {error}") from None
        print(f"attempt {attempt}: {description}: {'struck' if struck else 'too late'}, {file_count} checkpoints")
        struck_count += struck
        files_left.add(file_count)
        attempt += 1
        shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(near_of(directory), ignore_errors=True)
    # Other tests keep theirs there for a while.
    end = time.monotonic() + 10 * stria_program.HANG_SECONDS
    while BACKGROUND and named_memory() - memory_before:
        assert time.monotonic() < end, named_memory() - memory_before
        time.sleep(0.5)
    # Kills that all strike before or after everything would prove nothing.
    assert KILLS < 10 or len(files_left) > 2, files_left
