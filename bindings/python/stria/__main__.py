"""python -m stria inspect|verify FILE...: where the package is, but not the command stria."""

import argparse
import io
import sys

import stria


def _inspect(path: str) -> int:
    for one in stria.inspect(path):
        print(f"{one['path']}: {one['type']}" + ("" if one["shape"] is None else f" {one['shape']}"))
        for name, value in one["attributes"].items():
            print(f"  {name} = {value}")
    return 0


def _verify(path: str) -> int:
    damages, remarks = stria.verify(path)
    for remark in remarks:
        print(f"{path}: {remark}")
    for dataset, first, last in damages:
        print(
            f"{path}: '{dataset}' is damaged, rows {first} to {last - 1}" if last > first else f"{path}: '{dataset}' is damaged"
        )
    if not damages:
        print(f"{path}: intact")
    return 1 if damages else 0


def main(words: "list[str] | None" = None) -> int:
    """Returns 0; 1: damaged; 2: not readable as such a file, as the command has it."""
    parser = argparse.ArgumentParser(prog="python -m stria", description="Look at files of Stria on one process, without MPI.")
    commands = parser.add_subparsers(required=True)
    for name, call, text in [
        ("inspect", _inspect, "say what is in a file"),
        ("verify", _verify, "compare files with their checksums: 0 intact, 1 damaged, 2 not readable as such"),
    ]:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("file", nargs="+")
        command.set_defaults(call=call)
    arguments = parser.parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")  # names needn't be UTF-8
    worst = 0
    for path in arguments.file:
        try:
            worst = max(worst, arguments.call(path))
        except stria.StriaError as error:
            print(f"stria: {error}", file=sys.stderr)
            worst = 2
    return worst


if __name__ == "__main__":
    sys.exit(main())
