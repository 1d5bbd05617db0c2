"""Holds what the tests of this folder share: modules of tests/support/, and its fixtures."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "scripts")]
os.environ.setdefault("MPLBACKEND", "Agg")

from stria_fixtures import flash_io_files, sedov, sedov_2d, sedov_3d, session_directory, work  # noqa: E402, F401
