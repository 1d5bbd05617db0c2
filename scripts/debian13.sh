#!/usr/bin/env bash
# Set-up, demonstration, build and tests on Debian 13 (GCC 14, Open MPI 5, HDF5 1.14), in a root of
# its own in build/debian13 (or $DEBIAN13_ROOT), which stays for the next time, as do the objects
# that its compiler cache has kept (in $DEBIAN13_CCACHE). Needs root and debootstrap, which it
# installs on a Debian system; where it can't, it says so and ends well.
# usage: scripts/debian13.sh [CTEST_OPTION...]  instead of -LE 'long|style'
#        scripts/debian13.sh --run COMMAND      nothing but this, in the copy of this tree there:
#                                        scripts/debian13.sh --run 'lab/scripts/bench.sh --quick'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=${DEBIAN13_ROOT:-$PWD/build/debian13}
ccache=${DEBIAN13_CCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stria/debian13-ccache}
command=
if [[ ${1:-} == --run ]]; then
  command=${2:?debian13: --run wants a command}
  shift 2
fi
options=("$@")
if ((${#options[@]} == 0)); then options=(-LE 'long|style'); fi

leave_out() {
  echo "SKIPPED [1] scripts/debian13.sh:1: a root of Debian 13 needs $1"
  echo "1 skipped in 0.0s"
  exit 0
}
[[ $(id -u) == 0 ]] || leave_out root
command -v debootstrap >/dev/null || ! command -v dpkg-query >/dev/null || scripts/install_dependencies.sh debian13
command -v debootstrap >/dev/null || leave_out debootstrap

mounted=()
leave() {
  local at
  for ((at = ${#mounted[@]} - 1; at >= 0; --at)); do
    umount "${mounted[at]}"
  done
}
trap leave EXIT

mount_at() { # PLACE MOUNT_OPTION...
  mkdir -p "$1"
  mount "${@:2}" "$1"
  mounted+=("$1")
}

# Devices of its own: nothing that a test does there meets this machine's.
make_devices() {
  local name number
  mount_at "$root/dev" -t tmpfs -o mode=755,size=1m tmpfs
  for number in null:3 zero:5 full:7 random:8 urandom:9; do
    name=${number%:*}
    mknod -m 666 "$root/dev/$name" c 1 "${number#*:}"
  done
  mknod -m 666 "$root/dev/tty" c 5 0
  mount_at "$root/dev/pts" -t devpts -o newinstance,ptmxmode=0666 devpts
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  for number in stdin:0 stdout:1 stderr:2; do
    ln -s "/proc/self/fd/${number#*:}" "$root/dev/${number%:*}"
  done
  mount_at "$root/dev/shm" -t tmpfs -o size=8g tmpfs
}

# Runs a command in the tree there, with nothing of this environment but how many jobs are allowed.
inside() {
  local kept=() name
  for name in CMAKE_BUILD_PARALLEL_LEVEL CTEST_PARALLEL_LEVEL; do
    if [[ -n ${!name:-} ]]; then kept+=("$name=${!name}"); fi
  done
  echo "== $1"
  chroot "$root" /usr/bin/env -i HOME=/var/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${kept[@]}" \
    bash -c "cd /stria && $1"
}

# How this machine reaches its packages, and whom it trusts.
copy_settings() {
  cp -a /etc/apt/apt.conf.d /etc/apt/auth.conf.d "$root/etc/apt/"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  mkdir -p "$root/usr/local/share/ca-certificates"
  cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
  if [[ -x $root/usr/sbin/update-ca-certificates ]]; then chroot "$root" update-ca-certificates >/dev/null 2>&1; fi
}

if [[ ! -e $root/made ]]; then
  debootstrap --variant=minbase trixie "$root"
  touch "$root/made"
fi
mkdir -p "$ccache"
mount_at "$root/proc" -t proc proc
mount_at "$root/sys" -t sysfs -o ro sysfs
make_devices
mount_at "$root/var/tmp/.cache/ccache" --bind "$ccache"
copy_settings

# What earlier runs left behind is in the way of mpiexec: it takes folders named by its process.
find "$root/tmp" -mindepth 1 -delete

# The tree as a user gets it. What was compiled there before is used again.
mkdir -p "$root/stria"
find "$root/stria" -mindepth 1 -maxdepth 1 ! -name build ! -name out -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -T - -cf - | tar -xf - -C "$root/stria"

if [[ -n $command ]]; then
  inside "$command"
  exit
fi
inside "scripts/demo.sh"
inside "scripts/setup.sh"
inside "git init -q . && git add -A"
inside "cmake --preset release && cmake --build --preset release"
inside "source scripts/mpiexec_env.sh && ctest --preset release -j \${CTEST_PARALLEL_LEVEL:-$(($(nproc) + 1))} $(printf '%q ' "${options[@]}")"
