"""Traces as tables of pandas."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import StriaError, UnsupportedError

if TYPE_CHECKING:
    import pandas


def table(trace: "str | os.PathLike[str]", what: str) -> "pandas.DataFrame":
    command = shutil.which("stria")
    if command is None:
        raise UnsupportedError("the tables of a trace are made by the command stria, which is not in PATH")
    try:
        import pandas
        import pyarrow  # noqa: F401 - pandas needs it
    except ImportError as error:
        raise UnsupportedError(f"the tables of a trace need pandas and pyarrow: {error}") from error
    with tempfile.TemporaryDirectory(prefix="stria_trace.") as work:
        parquet = Path(work) / "table.parquet"
        words = ["export", "--parquet", "--output"] if what == "events" else ["stats", "--parquet"]
        done = subprocess.run(
            [command, "trace", *words, str(parquet), os.fspath(trace)],
            env={**os.environ, "STRIA_PYTHON": sys.executable}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise StriaError(done.stderr.strip() or f"stria trace ended with {done.returncode}")
        return pandas.read_parquet(parquet)
