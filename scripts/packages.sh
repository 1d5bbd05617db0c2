#!/usr/bin/env bash
# Makes Debian packages of this source tree in out/packages: the libraries for Open MPI and MPICH
# side by side, the command, the package for Python. packaging/README.md names them.
# usage: scripts/packages.sh [--lint] [OUT]
#   --lint  afterwards lets lintian look at them
#   OUT     the folder to write instead of out/packages
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

lint=0
out=$root/out/packages
for argument in "$@"; do
  case $argument in
    --lint) lint=1 ;;
    -h | --help) sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -*) echo "packages: unknown option '$argument'" >&2 && exit 1 ;;
    *) out=$(realpath -m "$argument") ;;
  esac
done
scripts/install_dependencies.sh demo build run package </dev/null

# The tree as a user gets it, with the folder debian/ where the tools look for it. What was compiled
# there before is used again.
tree=$root/build/packages/stria
mkdir -p "$tree"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | grep -zv '^packaging/debian/' | xargs -0 ls -d 2>/dev/null |
  tar -T - -cf - | tar -xf - -C "$tree"
cp -r packaging/debian "$tree/debian"

log=$root/build/logs/packages.log
mkdir -p "$root/build/logs"
echo "Building packages; the output is in $log"
if ! (cd "$tree" && STRIA_PYTHON=$root/build/venv/bin/python SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) \
  dpkg-buildpackage --build=binary --no-pre-clean --no-sign) >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  echo "packages: failed" >&2
  exit 1
fi
mkdir -p "$out"
rm -f "$out"/*.deb
mv "$root"/build/packages/*.deb "$out"
ls -1s --block-size=KiB "$out"
if ((lint)); then
  # There is no address for mail yet.
  lintian --allow-root --fail-on error,warning --tag-display-limit 0 \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$out"/*.deb
fi
