#!/usr/bin/env bash
# Installs Debian's packages of this tree in a copy of the running system, where they see nothing of
# the tree, and builds and runs the examples there, with both MPIs and without.
# usage: packages_test.sh [DIRECTORY_OF_PACKAGES]     without it they are made
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ $(id -u) != 0 ]]; then
  echo "packages: left out, since a copy of the system needs root"
  exit 77
fi
# The test runs in a mount namespace of its own, whose mounts end with it.
if [[ -z ${STRIA_IN_NAMESPACE:-} ]]; then
  exec env STRIA_IN_NAMESPACE=1 unshare --mount --propagation private "${BASH_SOURCE[0]}" "$@"
fi

work=$(mktemp -d --tmpdir stria_packages_test.XXXXXX)
trap 'umount -R -l "$work" 2>/dev/null; rm -rf "$work"' EXIT
# What is written goes to memory; the system below stays as it is.
mount -t tmpfs tmpfs "$work"
packages=${1:-$work/packages}
[[ -n ${1:-} ]] || "$root/scripts/packages.sh" --lint "$packages"

mkdir "$work"/{changes,work,system}
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/changes,workdir=$work/work" "$work/system"
mount --rbind /dev "$work/system/dev"
mount -t proc proc "$work/system/proc"
mount --rbind /sys "$work/system/sys"
mount -t tmpfs tmpfs "$work/system/tmp"
mkdir "$work/system/tmp/try"
cp "$packages"/*.deb "$work/system/tmp/try"
cp -r "$root/examples" "$(dirname "${BASH_SOURCE[0]}")/inside.sh" "$work/system/tmp/try"
# shellcheck source=/dev/null
source "$root/scripts/mpiexec_env.sh"
chroot "$work/system" bash /tmp/try/inside.sh
