#!/usr/bin/env bash
# Everything that building and testing needs: Debian packages, Python packages. Silent when
# nothing is missing.
# usage: scripts/setup.sh [demo]
#   demo  only what the demonstration needs, which is no Python
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == demo ]]; then
  exec scripts/install_dependencies.sh demo </dev/null
fi
scripts/install_dependencies.sh </dev/null
scripts/python_environment.sh
