#!/usr/bin/env bash
# Everything that building and testing needs: Debian packages, Python packages. Silent when
# nothing is missing.
# usage: scripts/setup.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install_dependencies.sh </dev/null
scripts/python_environment.sh
