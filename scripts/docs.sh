#!/usr/bin/env bash
# Builds the documentation site in out/docs, which opens from disk: out/docs/index.html. Needs
# Python 3.11; Sphinx goes into build/venv_docs.
# usage: scripts/docs.sh [--links] [OUT]
#   --links  afterwards asks the addresses outside of the site; needs the network
#   OUT      the folder to write instead of out/docs
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

links=0
out=$root/out/docs
for argument in "$@"; do
  case $argument in
    --links) links=1 ;;
    -h | --help) sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -*) echo "docs: unknown option '$argument'" >&2 && exit 1 ;;
    *) out=$(realpath -m "$argument") ;;
  esac
done

"$root/scripts/pinned_venv.sh" venv_docs requirements_docs.txt
sphinx() { # BUILDER OUT: a warning is an error
  "$root/build/venv_docs/bin/python" -B -m sphinx -q -W --keep-going -j 2 -b "$1" -c "$root/tools/site" \
    -d "$root/build/site/doctrees" "$root/build/site/source" "$2"
}
rm -rf "$root/build/site"
"$root/build/venv_docs/bin/python" -B "$root/tools/site/stage.py" "$root" "$root/build/site/source"
rm -rf "$out"
sphinx html "$out"
"$root/build/venv_docs/bin/python" -B "$root/tools/site/finish.py" "$out"
if ((links)); then sphinx linkcheck "$root/build/site/links"; fi
