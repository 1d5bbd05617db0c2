#!/usr/bin/env python3
"""Draws docs/timeline.svg: what each rank of a run did at its last checkpoint, layer by layer.

usage: timeline_picture.py RUN.parquet OUT.svg
  RUN.parquet  a run recorded with STRIA_TRACE=full, by `stria trace export --parquet`
"""

import argparse
import pathlib

from ross_pictures import Run, picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    run = Run(arguments.run)
    arguments.out.write_text(picture([(run, "A checkpoint of 4 ranks", 0, run.seconds * 1e9)]))


if __name__ == "__main__":
    main()
