#!/usr/bin/env bash
# A cluster in a box: virtual nodes n1..nN on one Linux machine, on which MPI programs run as
# ranks of several nodes. Needs root, util-linux and iproute2; no sshd, no kernel module.
#
#   cluster.sh enter COMMAND...    runs COMMAND in namespaces of its own, where alone the others
#                                  work: several of them don't disturb each other, and nothing is
#                                  left when COMMAND ends or is killed. Exit code 77 where that
#                                  is not allowed
#   cluster.sh up N [--rate RATE] [--fs local|cache|ceph|cmd:COMMAND]
#   cluster.sh run [openmpi|mpich] -n RANKS [--nodes K] PROGRAM [ARGUMENT...]
#                                  on the first K nodes; default all
#   cluster.sh on NODE COMMAND...  a command on one node, for instance: on n2 ls /mnt/share
#   cluster.sh cut NODE | heal NODE     the node's network goes down, comes back
#   cluster.sh crash NODE          ends everything on the node at once, as a loss of power does
#   cluster.sh deafen NODE         lets no datagram (UDP) of the node through
#   cluster.sh down
#
# Each node has a network of its own (10.77.0.I behind a bridge), a host name, process ids, System V
# IPC, /dev/shm and /tmp, so that only the network crosses nodes. mpiexec runs outside, as on a
# login node (10.77.0.254). All nodes see the machine's other files, this repository, and a shared
# directory /mnt/share:
#   --fs local   a directory itself: one page cache, coherent
#   --fs cache   the same through a FUSE mount for each node: page caches that are never
#                invalidated, coherent from close to open, names and sizes kept for a second as NFS
#                may; fcntl locks hold on one node only, flock on all nodes
#   --fs ceph    a CephFS of ceph.sh's; coherent
#   --fs cmd:X   runs X with the node's number and /mnt/share as arguments on each node
# --rate 1gbit limits each node's link both ways.
set -eu
self=$(readlink -f "$0")
root=$(dirname "$(dirname "$(dirname "$self")")")
ceph=$(dirname "$self")/ceph.sh
box=/mnt/cluster
share=/mnt/share
net=10.77.0

die() {
  echo "cluster.sh: $*" >&2
  exit 1
}

enter() {
  local own=(unshare --net --mount --pid --uts --ipc --fork --kill-child --mount-proc --propagation private)
  if ! "${own[@]}" true 2>/dev/null; then
    echo "skipped: namespaces are not allowed here"
    exit 77
  fi
  exec "${own[@]}" "$self" __inside "$@"
}

inside() {
  hostname head
  mount -t tmpfs -o mode=755 tmpfs /mnt
  mkdir -p "$box" "$share" /mnt/tmp
  ip link set lo up
  export TMPDIR=/mnt/tmp STRIA_CLUSTER=$self
  "$@"
}

pid_of() { cat "$box/$1/pid" 2>/dev/null || die "there is no node $1"; }

on_node() {
  local node=$1
  shift
  nsenter -t "$(pid_of "$node")" -m -u -i -n -p --wd="${CLUSTER_DIR:-$PWD}" -- "$@"
}

nodes() { find "$box" -maxdepth 1 -name 'n[0-9]*' -printf '%f\n' | sort -V; }

up() {
  local count=$1 rate="" fs=local i
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      --rate) rate=$2 ;;
      --fs) fs=$2 ;;
      *) die "what is $1?" ;;
    esac
    shift 2
  done
  [ -d "$box" ] || die "use 'cluster.sh enter' first"
  [ ! -e "$box/hosts" ] || die "it is up"
  mkdir -p "$box/store"
  echo "$fs" >"$box/fs"
  {
    echo "127.0.0.1 localhost"
    echo "$net.254 head"
    for i in $(seq "$count"); do echo "$net.$i n$i"; done
  } >"$box/hosts"
  if [ "$fs" = cache ]; then build_cache; fi
  printf '#!/usr/bin/env bash\nexec "%s" rsh "$@"\n' "$self" >"$box/rsh"
  chmod +x "$box/rsh"
  # A bridge that has no address of its own has the lowest of its links' addresses. When that link
  # goes with its node, the nodes go on sending to the old address for up to a minute, and mpiexec
  # hears nothing of its ranks.
  ip link add cluster address 02:00:0a:4d:00:fe type bridge
  ip addr add $net.254/24 dev cluster
  ip link set cluster up
  if [ "$fs" = ceph ]; then "$ceph" start "$box/ceph" $net.254; fi
  for i in $(seq "$count"); do start_node "$i" "$rate"; done
}

start_node() { # NUMBER RATE
  local name=n$1 pid="" outer
  mkdir -p "$box/$name"
  unshare --mount --uts --ipc --net --pid --fork --kill-child --propagation private -- "$self" __node "$1" \
    </dev/null >"$box/$name/log" 2>&1 &
  outer=$!
  until pid=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null) && [ -n "$pid" ]; do sleep 0.02; done
  pid=${pid% }
  echo "$pid" >"$box/$name/pid"
  ip link add "node$1" type veth peer name eth0 netns "$pid"
  ip link set "node$1" master cluster up
  nsenter -t "$pid" -n ip addr add "$net.$1/24" dev eth0
  nsenter -t "$pid" -n ip link set lo up
  nsenter -t "$pid" -n ip link set eth0 up
  if [ -n "$2" ]; then
    tc qdisc add dev "node$1" root tbf rate "$2" burst 256kb latency 50ms
    nsenter -t "$pid" -n tc qdisc add dev eth0 root tbf rate "$2" burst 256kb latency 50ms
  fi
  for _ in $(seq 500); do
    if [ -e "$box/$name/up" ]; then return; fi
    sleep 0.02
  done
  cat "$box/$name/log" >&2
  die "node $name does not start"
}

node_main() { # in the namespaces, as process 1
  local i=$1 name=n$1 fs
  fs=$(cat "$box/fs")
  hostname "$name"
  mount -t proc proc /proc
  mount --bind "$box/hosts" /etc/hosts
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  mkdir -p "$box/$name/tmp"
  mount -t tmpfs -o mode=1777 tmpfs "$box/$name/tmp"
  case $root in
    /tmp/*)
      mkdir -p "$box/$name$root"
      mount --rbind "$root" "$box/$name$root"
      ;;
  esac
  mount --rbind "$box/$name/tmp" /tmp
  until ip addr show dev eth0 2>/dev/null | grep -q "state UP"; do sleep 0.02; done
  case $fs in
    local) mount --bind "$box/store" "$share" ;;
    cache) "$box/cache" -o "source=$box/store,cache=auto,timeout=1,flock,no_writeback,allow_other" "$share" ;;
    ceph) "$ceph" mount "$box/ceph" "$share" ;;
    cmd:*) ${fs#cmd:} "$i" "$share" ;;
  esac
  touch "$box/$name/up"
  while true; do
    sleep 1000 &
    wait $! || true
  done
}

# The example of libfuse that passes calls on, with caches.
build_cache() {
  local examples=/usr/share/doc/libfuse3-dev/examples
  if [ ! -e /dev/fuse ] || ! zcat -f "$examples"/passthrough_ll.c* >"$box/passthrough_ll.c" 2>/dev/null; then
    echo "skipped: no /dev/fuse, or libfuse3-dev without its examples"
    exit 77
  fi
  cp "$examples/passthrough_helpers.h" "$box/"
  # shellcheck disable=SC2046
  gcc -O2 -w -o "$box/cache" "$box/passthrough_ll.c" $(pkg-config --cflags --libs fuse3)
}

run() {
  local mpi=openmpi ranks="" count each hosts="" node left
  case $1 in openmpi | mpich)
    mpi=$1
    shift
    ;;
  esac
  count=$(nodes | wc -l)
  while true; do
    case ${1:-} in
      -n) ranks=$2 ;;
      --nodes) count=$2 ;;
      *) break ;;
    esac
    shift 2
  done
  [ -n "$ranks" ] && [ $# -gt 0 ] || die "run [openmpi|mpich] -n RANKS [--nodes K] PROGRAM"
  left=$ranks
  for node in $(nodes | head -n "$count"); do
    each=$(((left + count - 1) / count))
    left=$((left - each))
    count=$((count - 1))
    if [ $each -gt 0 ]; then hosts+="${hosts:+,}$node:$each"; fi
  done
  export CLUSTER_DIR=$PWD
  case $mpi in
    openmpi)
      exec mpiexec.openmpi --allow-run-as-root --bind-to none --mca plm_rsh_agent "$box/rsh" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include $net.0/24 --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include $net.0/24 \
        --mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1 --host "$hosts" -n "$ranks" "$@"
      ;;
    mpich)
      # Debian's MPICH of UCX ends three to four times of six across nodes, whatever UCX_TLS
      # and its kin say.
      local wheel=$root/build/venv_mpich
      [ -x "$wheel/bin/mpiexec" ] || die "run scripts/mpich_wheel.sh first"
      exec "$wheel/bin/mpiexec" -launcher ssh -launcher-exec "$box/rsh" -iface cluster -hosts "$hosts" -n "$ranks" \
        env LD_LIBRARY_PATH="$wheel/lib" MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp FI_TCP_IFACE=eth0 "$@"
      ;;
  esac
}

rsh() { # mpiexec calls it so: [-x] NODE COMMAND...
  while [ "${1#-}" != "$1" ]; do shift; done
  local node=$1
  shift
  on_node "$node" env -u TMPDIR /bin/bash -c "$*"
}

down() {
  local node
  for node in $(nodes); do kill -9 "$(cat "$box/$node/pid")" 2>/dev/null || true; done
  for node in $(nodes); do
    while kill -0 "$(cat "$box/$node/pid")" 2>/dev/null; do sleep 0.05; done
    ip link del "node${node#n}" 2>/dev/null || true
  done
  if [ "$(cat "$box/fs")" = ceph ]; then "$ceph" stop "$box/ceph"; fi
  ip link del cluster
  rm -rf "${box:?}"/*
}

# Waits until packets pass: the kernel takes a second to believe in the link, and remembers for a
# while that there was no answer. A port without a listener refuses as soon as it can be reached.
heal() {
  local attempt answer
  ip link set "node${1#n}" up
  for attempt in $(seq 100); do
    answer=$(on_node "$1" env LC_ALL=C timeout 1 /bin/bash -c "</dev/tcp/$net.254/9" 2>&1 || true)
    case $answer in *refused*) return ;; esac
    sleep 0.1
  done
  die "$1 can't be reached $attempt tries after its link came back: $answer"
}

# Drops what comes from the node by UDP.
deafen() {
  tc qdisc add dev "node${1#n}" clsact
  tc filter add dev "node${1#n}" ingress protocol ip u32 match ip protocol 17 0xff action drop
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  __inside) inside "$@" ;;
  __node) node_main "$@" ;;
  enter | up | run | rsh | down | heal | deafen) $command "$@" ;;
  on) on_node "$@" ;;
  crash) kill -9 "$(pid_of "$1")" ;;
  cut) ip link set "node${1#n}" down ;;
  *)
    sed -n '2,/^set -eu/{/^set/d;s/^# \{0,1\}//;p}' "$self"
    exit 1
    ;;
esac
