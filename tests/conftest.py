"""Holds what the tests of this folder share: modules of support/, and its fixtures."""

import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent / "scripts")]
os.environ.setdefault("MPLBACKEND", "Agg")

from side_by_side import pytest_runtestloop  # noqa: E402, F401
from stria_fixtures import flash_io_files, sedov, sedov_2d, sedov_3d, session_directory, work  # noqa: E402, F401
