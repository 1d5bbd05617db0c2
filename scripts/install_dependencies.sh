#!/usr/bin/env bash
# Installs the Debian packages of debian_packages.txt that are missing, and says which.
# Silent, without touching the network, when nothing is missing. Needs root or sudo only
# when something is.
#
# usage: scripts/install_dependencies.sh [--missing] [GROUP...]
#   --missing   print what is missing, install nothing; exit 1 when something is
#   GROUP       demo, build, run, test, bench, package, newest, debian13; all but the
#               last three where none is named
# STRIA_SKIP_INSTALL=1 makes it do nothing: for systems whose packages have other names.
set -euo pipefail

list=$(dirname "${BASH_SOURCE[0]}")/debian_packages.txt

fail() {
  echo "install_dependencies: $*" >&2
  exit 1
}

# Prints "package least-version" for every line of the groups asked for that this release has.
wanted_packages() {
  local group package version rest
  while read -r group package version rest; do
    if [[ $group == '' || $group == '#'* ]]; then continue; fi
    if [[ " ${groups[*]} " == *" $group "* ]] && release_has "$package"; then echo "${package%@*} $version"; fi
  done <"$list"
}

# release_has PACKAGE[@RELEASE]. Debian's next release has no number: it has all.
release_has() {
  local release
  [[ $1 == *@* ]] || return 0
  release=$(. /etc/os-release && echo "${VERSION_ID:-}")
  [[ -z $release ]] || dpkg --compare-versions "$release" ge "${1#*@}"
}

# Prints the packages that are absent or older than the list asks for. One dpkg-query
# for all of them.
missing_packages() {
  local -A installed=()
  local package version status line
  local -a wanted names
  mapfile -t wanted < <(wanted_packages)
  mapfile -t names < <(printf '%s\n' "${wanted[@]%% *}" | tr '|' '\n')
  while read -r package status version; do
    if [[ $status == ii* ]]; then installed[$package]=$version; fi
  done < <(dpkg-query -W -f='${Package} ${db:Status-Abbrev} ${Version}\n' "${names[@]}" 2>/dev/null || true)
  for line in "${wanted[@]}"; do
    if ! is_there "${line% *}" "${line#* }"; then echo "${line% *}"; fi
  done
}

# is_there "PACKAGE|PACKAGE" LEAST: whether one of them is among the installed.
is_there() {
  local name
  for name in ${1//|/ }; do
    if [[ -n ${installed[$name]:-} ]] && new_enough "${installed[$name]}" "$2"; then return 0; fi
  done
  return 1
}

# Where a package has another name on another release, takes the first that this one has.
choose_names() {
  local at name
  for at in "${!missing[@]}"; do
    for name in ${missing[at]//|/ }; do
      if [[ ${missing[at]} != *'|'* ]] || apt-cache show "$name" >/dev/null 2>&1; then
        missing[at]=$name
        break
      fi
    done
  done
}

# new_enough INSTALLED LEAST. An epoch ("1:14.0") says nothing about the release:
# compare without it.
new_enough() {
  [[ $2 == - ]] || dpkg --compare-versions "${1#*:}" ge "$2"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env "$@"
  elif command -v sudo >/dev/null; then
    sudo env "$@"
  else
    fail "neither root nor sudo: run this as root: apt-get install ${missing[*]}"
  fi
}

apt_get() {
  as_root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    -o Dpkg::Use-Pty=0 "$@"
}

# Every second what apt-get does, on one line of the terminal.
show_progress() {
  while sleep 1; do
    printf '\r  %-68.68s' "$(grep -aE '^(Get:|Unpacking|Setting up|Processing)' "$1" | tail -n 1)"
  done
}

install_missing() {
  local log shower=
  log=$(mktemp --tmpdir stria_install.XXXXXX)
  echo "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  if [[ -t 1 ]]; then
    show_progress "$log" &
    shower=$!
    trap 'kill "$shower" 2>/dev/null || true' EXIT
  fi
  if ! apt_get update >"$log" 2>&1 || ! choose_names ||
    ! apt_get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    fail "apt-get failed; its whole output is in $log"
  fi
  if [[ -n $shower ]]; then
    kill "$shower" 2>/dev/null || true
    printf '\r%-70s\r' ''
  fi
  rm -f "$log"
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} > 0)); then
    fail "still missing or too old: ${missing[*]} (Debian 12 and 13 have all of them)"
  fi
  echo "Installed."
}

groups=()
only_report=0
for argument in "$@"; do
  case $argument in
    --missing) only_report=1 ;;
    demo | build | run | test | bench | package | newest | debian13) groups+=("$argument") ;;
    -h | --help) sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    *) fail "unknown argument '$argument'; use --missing, demo, build, run, test, bench, package, newest or debian13" ;;
  esac
done
if ((${#groups[@]} == 0)); then groups=(demo build run test bench); fi

if [[ ${STRIA_SKIP_INSTALL:-0} == 1 ]]; then exit 0; fi
command -v dpkg-query >/dev/null ||
  fail "not a Debian system: install what $list names yourself, then set STRIA_SKIP_INSTALL=1"

mapfile -t missing < <(missing_packages)
if ((${#missing[@]} == 0)); then exit 0; fi
if ((only_report)); then
  printf '%s\n' "${missing[@]}"
  exit 1
fi
install_missing
