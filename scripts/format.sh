#!/usr/bin/env bash
# Formats every source file that git does not ignore: C++ with clang-format, Python with ruff.
# usage: scripts/format.sh [--check]     --check changes nothing and fails when
#                                        something would change
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# files PATTERN...: those present in the work tree, one a line.
files() {
  git ls-files --cached --others --exclude-standard -- "$@" | while read -r path; do
    if [[ -f $path ]]; then echo "$path"; fi
  done
}

mapfile -t cpp < <(files '*.cpp' '*.hpp' '*.c' '*.h')
mapfile -t python < <(files '*.py')
ruff=build/venv/bin/ruff
if [[ ${1:-} == --check ]]; then
  code=0
  clang-format --dry-run -Werror "${cpp[@]}" || code=1
  "$ruff" check --no-cache "${python[@]}" || code=1
  "$ruff" format --no-cache --check --diff "${python[@]}" || code=1
  exit "$code"
fi
clang-format -i "${cpp[@]}"
"$ruff" check --no-cache --fix "${python[@]}"
"$ruff" format --no-cache "${python[@]}"
