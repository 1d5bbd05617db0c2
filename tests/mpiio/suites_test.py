"""The I/O tests of other projects on the drop-in: what passes natively passes with it.

Each program runs on the drop-in. Only when it fails or hangs there, it also runs natively. If it
fails natively too, it is skipped. Built by scripts/io_suites.sh. From the environment, besides what
drop_in_test.py takes: STRIA_SUITES (the directory of the suites' programs) and STRIA_RANKS.
"""

import os
import pathlib
import re
import subprocess

import pytest
from drop_in_test import LIBRARY, MPI, RANKS, run

from mpiexec_env import mpiexec_environment

SUITES = pathlib.Path(os.environ["STRIA_SUITES"])
NO_ERRORS = r"(?i)no errors"
HANG_SECONDS = 300

# Programs that take the name of their file behind -fname, or plainly, and end with "No Errors".
ROMIO_FNAME = (
    "simple async async-multiple atomicity coll_test excl creat_excl file_info noncontig_coll2 misc shared_fp ordered_fp "
    "split_coll psimple error status fmisc fcoll_test pfcoll_test"
).split()
ROMIO_FNAME_PAIR = "i_noncontig noncontig noncontig_coll".split()  # for two ranks only
MPICH_PLAIN = (
    "rdwrord rdwrzero getextent setinfo setviewcur async async_any userioerr zero_count i_rdwrord i_setviewcur "
    "external32_derived_dtype fileerrret openerr file_errhdl simple_collective i_coll_test i_noncontig_coll2 "
    # Fortran 77 and 2008
    "iwriteatf iwritef iwriteshf writef writeatf writeallf writeshf writeordf writeatallf writeatallbef writeallbef "
    "writeordbef iwriteatallf fileerrf fileinfof shpositionf atomicityf miscfilef setviewcurf i_setviewcurf "
    "iwriteatf90 iwritef90 iwriteshf90 writef90 writeatf90 writeallf90 writeshf90 writeordf90 writeatallf90 writeatallbef90 "
    "writeallbef90 writeordbef90 iwriteatallf90 fileerrf90 fileinfof90 shpositionf90 atomicityf90 miscfilef90 setviewcurf90 "
    "i_fcoll_test"
).split()
MPICH_ALONE = "resized resized2 hindexed_io i_hindexed_io tst_fileview".split()  # for one rank only
HDF5 = "t_mpi testphdf5 t_pread t_init_term t_filters_parallel".split()
PNETCDF = "C F90 fandc testcases nonblocking cdf_format header nc_test nf_test nf90_test".split()
IOR = (
    "-t 64k -b 256k -s 3",
    "-t 64k -b 256k -s 3 -c",
    "-t 1000 -b 5000 -s 7 -c",
    "-t 64k -b 256k -F",
    "-t 16k -b 256k -z --random-offset-seed=7",
    "-t 64k -b 64k -s 8 -c --mpiio.useFileView",
    "-t 64k -b 64k -s 8 -c --mpiio.useStridedDatatype",
    "-t 64k -b 256k -c -e -g --mpiio.preallocate",
)


def compare(what, attempt):
    """Calls attempt(native), which returns what went wrong, or None. Fails where only the run on
    the drop-in went wrong."""
    wrong = attempt(False)
    if wrong is not None and attempt(True) is None:
        pytest.fail(wrong)
    if wrong is not None:
        pytest.skip(f"{what} fails natively as well")


def check(work, ranks, *command, says="", after=None):
    """Compares runs of a program in empty directories; what it says must match. `after`: another,
    run first in each."""

    def attempt(native):
        place = work / ("native" if native else "ours")
        place.mkdir()
        words = [str(word).format(place / "file") for word in command]
        try:
            if after is not None:  # it ends as it likes
                run(ranks, "sh", "-c", f"{after}; true", native=native, cwd=place, STRIA_VERBOSE="0")
            said = run(ranks, *words, native=native, cwd=place, seconds=HANG_SECONDS, STRIA_VERBOSE="0")
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return str(error)
        return None if re.search(says, said) else said

    compare(f"{pathlib.Path(command[0]).name} on {ranks} ranks", attempt)


def program(suite, name):
    path = SUITES / suite / name
    if not path.exists():
        pytest.skip(f"{suite}'s {name} is not built")
    return path


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ROMIO_FNAME)
def test_romio(work, name, ranks):
    check(work, ranks, program("romio", name), "-fname", "{}", says=NO_ERRORS)


@pytest.mark.parametrize("ranks", [r for r in RANKS if r == 2])
@pytest.mark.parametrize("name", ROMIO_FNAME_PAIR)
def test_romio_pair(work, name, ranks):
    check(work, ranks, program("romio", name), "-fname", "{}", says=NO_ERRORS)


@pytest.mark.parametrize("ranks", RANKS)
def test_romio_hints(work, ranks):
    hints = SUITES.parent / "source/mpich/src/mpi/romio/test/test_hintfile"
    check(work, ranks, program("romio", "syshints"), hints, says=NO_ERRORS)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["aggregation1", "aggregation2", "hindexed", "types_with_zeros", "darray_read", "big_extents"])
def test_romio_file(work, name, ranks):
    flags = ["-h", "-f"] if name == "aggregation1" else []
    check(work, ranks, program("romio", name), *flags, "{}", says=NO_ERRORS)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["perf", "coll_perf", "fperf", "external32"])
def test_romio_silent(work, name, ranks):
    flags = [] if name == "external32" else ["-fname"]
    check(work, ranks, program("romio", name), *flags, "{}")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", MPICH_PLAIN)
def test_mpich(work, name, ranks):
    check(work, ranks, program("mpich", name), "{}", says=NO_ERRORS)


@pytest.mark.parametrize("name", MPICH_ALONE)
def test_mpich_alone(work, name):
    check(work, 1, program("mpich", name), says=NO_ERRORS)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["i_aggregation1", "i_aggregation2", "i_types_with_zeros", "i_hindexed", "i_darray_read"])
def test_mpich_file(work, name, ranks):
    flags = ["-h", "-f"] if name == "i_aggregation1" else []
    check(work, ranks, program("mpich", name), *flags, "{}", says=NO_ERRORS)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", HDF5)
def test_hdf5(work, name, ranks):
    check(work, ranks, program("hdf5", name))


def test_hdf5_shapes(work):
    check(work, 4, program("hdf5", "t_shapesame"))  # a minute and a half


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("first", "second"), [("t_pshutdown", "t_prestart"), ("t_pflush1", "t_pflush2")])
def test_hdf5_second_reads_first(work, first, second, ranks):
    """The first of t_pflush ends, on purpose, without closing its file."""
    check(work, ranks, program("hdf5", second), after=program("hdf5", first))


# Each program runs with one rank, and with as many as it is made for.
@pytest.mark.parametrize("kind", ["check", "ptests"])
@pytest.mark.parametrize("directory", PNETCDF)
def test_pnetcdf(work, directory, kind):
    place = program("pnetcdf", "test") / directory

    def attempt(native):
        launch = f"mpiexec.{MPI} -n {{}}" + ("" if native else f" env LD_PRELOAD={LIBRARY}")
        made = subprocess.run(
            ["make", "-C", place, kind, f"TESTOUTDIR={work}", f"TESTSEQRUN={launch.format(1)}",
             f"TESTMPIRUN={launch.format('NP')}"],
            env=mpiexec_environment(), capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
        return None if made.returncode == 0 else made.stdout + made.stderr

    compare(f"PnetCDF's {kind} in {directory}", attempt)


@pytest.mark.skipif(not (SUITES / "ior").exists(), reason="IOR, whose source STRIA_IOR_SOURCE names, is not given")
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("options", IOR)
def test_ior(work, options, ranks):
    flags = ["-a", "MPIIO", "-w", "-r", "-W", "-R", "-o", "{}", *options.split()]
    check(work, ranks, program("ior", "ior"), *flags, says=r"(?s)\A(?!.*(WARNING|ERROR)).*\nread .*\nFinished")
