#!/usr/bin/env bash
# A CephFS for the nodes of cluster.sh --fs ceph: a monitor, a manager, a metadata server and three
# stores, on the head; each node mounts it by ceph-fuse. Debian packages: ceph-mon ceph-mgr ceph-osd
# ceph-mds ceph-common ceph-fuse.
#
#   ceph.sh start DIRECTORY ADDRESS [memstore|bluestore]
#                                     the stores are in memory, or files in DIRECTORY, where all
#                                     else is. Exit code 77 where a package is missing
#   ceph.sh mount DIRECTORY PLACE
#   ceph.sh stop DIRECTORY
set -eu

write_settings() { # DIRECTORY ADDRESS STORE
  cat >"$1/ceph.conf" <<END
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = v2:$2:3300
public addr = $2
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
mon allow pool size one = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = $3
memstore device bytes = 1073741824
bluestore block size = 4294967296
osd memory target = 939524096
mgr initial modules =
run dir = $1
admin socket = $1/\$name.\$pid.asok
log file = $1/\$name.log
pid file = $1/\$name.pid
crash dir = $1
mon data = $1/mon
mgr data = $1/mgr
mds data = $1/mds
osd data = $1/osd.\$id
END
}

start() { # DIRECTORY ADDRESS [STORE]
  local place=$1 ceph i tool
  for tool in ceph-mon ceph-mgr ceph-osd ceph-mds ceph ceph-fuse; do
    if ! command -v "$tool" >/dev/null; then
      echo "skipped: there is no $tool"
      exit 77
    fi
  done
  mkdir -p "$place"/{mon,mgr,mds,osd.{0,1,2}}
  write_settings "$place" "$2" "${3:-memstore}"
  ceph=(-c "$place/ceph.conf")
  monmaptool --create --fsid "$(sed -n 's/^fsid = //p' "$place/ceph.conf")" --addv a "[v2:$2:3300]" "$place/map" >/dev/null
  {
    ceph-mon "${ceph[@]}" -i a --mkfs --monmap "$place/map"
    ceph-mon "${ceph[@]}" -i a
    ceph-mgr "${ceph[@]}" -i x
    for i in 0 1 2; do
      local number
      number=$(cat /proc/sys/kernel/random/uuid)
      ceph "${ceph[@]}" osd new "$number" "$i"
      ceph-osd "${ceph[@]}" -i "$i" --mkfs --osd-uuid "$number"
      ceph "${ceph[@]}" osd crush add "osd.$i" 1.0 root=default
      ceph-osd "${ceph[@]}" -i "$i"
    done
    ceph-mds "${ceph[@]}" -i m
    for i in names data; do ceph "${ceph[@]}" osd pool create "$i" 16; done
    ceph "${ceph[@]}" fs new fs names data
  } >"$place/start.log" 2>&1 || {
    tail -n 5 "$place/start.log" >&2
    exit 1
  }
  for _ in $(seq 300); do
    if ceph "${ceph[@]}" mds stat 2>/dev/null | grep -q up:active; then return; fi
    sleep 0.2
  done
  echo "ceph.sh: no metadata server is up" >&2
  exit 1
}

mount() { # DIRECTORY PLACE
  ceph-fuse -c "$1/ceph.conf" "$2" --pid-file "" --log-file "$1/fuse.$(hostname).log" >/dev/null 2>&1
}

stop() { # DIRECTORY
  local file
  for file in "$1"/*.pid; do
    if [ -e "$file" ]; then kill -9 "$(cat "$file")" 2>/dev/null || true; fi
  done
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  start | mount | stop) $command "$@" ;;
  *)
    sed -n '2,/^set -eu/{/^set/d;s/^# \{0,1\}//;p}' "$0"
    exit 1
    ;;
esac
