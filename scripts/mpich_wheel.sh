#!/usr/bin/env bash
# Makes build/venv_mpich with the MPICH of requirements_mpich.txt, under the names that Debian's
# programs look for; silent when it is there and up to date. Exit code 1 where it can't be had.
# usage: scripts/mpich_wheel.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/pinned_venv.sh venv_mpich requirements_mpich.txt
ln -sf libmpi.so.12 build/venv_mpich/lib/libmpich.so.12
