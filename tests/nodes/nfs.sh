#!/usr/bin/env bash
# Real NFS 4.2 between machines, on one machine whose own kernel need not know NFS: user-mode Linux
# kernels are the nodes n1..nN, each with a page cache of its own, and nfs-ganesha serves a
# directory that they mount at /mnt/share. Debian packages: user-mode-linux nfs-ganesha
# nfs-ganesha-vfs nfs-common kmod socat iproute2. Slow: for right bytes, not for speed.
#
#   nfs.sh enter COMMAND...   runs COMMAND in namespaces of its own, where alone the others work;
#                             nothing is left when it ends. Exit code 77 where that is not allowed,
#                             or a package is missing
#   nfs.sh up N
#   nfs.sh run -n RANKS PROGRAM [ARGUMENT...]    Open MPI over the nodes in turn; RANKS is
#                                                a multiple of N
#   nfs.sh on NODE COMMAND    in a shell on the node, for instance: nfs.sh on 2 ls /mnt/share
#   nfs.sh down
#
# The nodes see the machine's own files, but have their own /run, /dev/shm and temporary directory.
set -eu
self=$(readlink -f "$0")
state=/var/tmp/stria-nfs-nodes
share=/mnt/share
net=10.78.0

die() {
  echo "nfs.sh: $*" >&2
  exit 1
}

enter() {
  local own=(unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private) tool
  for tool in linux.uml ganesha.nfsd socat ip modprobe; do
    if ! command -v "$tool" >/dev/null; then
      echo "skipped: there is no $tool"
      exit 77
    fi
  done
  if ! "${own[@]}" true 2>/dev/null; then
    echo "skipped: namespaces are not allowed here"
    exit 77
  fi
  [ ! -e "$state" ] || die "$state exists: another one runs, or was killed; remove it then"
  local code=0 made=""
  # The nodes' root is the machine's: the place to mount at has to be there.
  if [ ! -d "$share" ]; then
    mkdir "$share"
    made=yes
  fi
  "${own[@]}" "$self" __inside "$@" || code=$?
  rm -rf "$state"
  [ -z "$made" ] || rmdir "$share"
  exit "$code"
}

inside() {
  ip link set lo up
  export STRIA_CLUSTER=$self
  local code=0
  "$@" || code=$?
  [ ! -e "$state" ] || down
  exit "$code"
}

write_server() {
  mkdir -p "$state/export" "$state/recover"
  cat >"$state/ganesha.conf" <<END
NFS_CORE_PARAM { Protocols = 4; NFS_Port = 2049; Enable_NLM = false; Enable_RQUOTA = false; Bind_addr = $net.254; Rpc_Max_Connections = 64; }
NFSv4 { Grace_Period = 5; Lease_Lifetime = 10; Graceless = true; RecoveryBackend = fs; RecoveryRoot = "$state/recover"; Only_Numeric_Owners = true; }
EXPORT { Export_Id = 1; Path = $state/export; Pseudo = /export; Access_Type = RW; Squash = No_Root_Squash; SecType = sys; Protocols = 4; Transports = TCP; FSAL { Name = VFS; } }
END
}

write_node() { # NUMBER_OF_NODES
  local i
  {
    echo "127.0.0.1 localhost"
    echo "$net.254 head"
    for i in $(seq "$1"); do echo "$net.$i n$i"; done
  } >"$state/hosts"
  cat >"$state/node" <<END
#!/bin/bash
# Process 1 of a node.
mount -t proc proc /proc
mount -t sysfs sys /sys
for word in \$(cat /proc/cmdline); do case \$word in node=*) n=\${word#node=} ;; esac; done
hostname n\$n
mount -t tmpfs tmpfs /run
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
ip addr add $net.\$n/24 dev vec0
ip link set vec0 up
mount --bind $state/hosts /etc/hosts
mkdir -p /run/mods/lib/modules /run/tmp
ln -s /usr/lib/uml/modules/\$(uname -r) /run/mods/lib/modules/\$(uname -r)
modprobe -d /run/mods nfsv4
mount -i -t nfs4 -o vers=4.2,proto=tcp,addr=$net.254,clientaddr=$net.\$n $net.254:/export $share || echo "no mount"
echo "serving n\$n"
# The starter of ranks closes its input at once; with less patience it would be cut off soon after.
exec socat -t 100000 TCP-LISTEN:2222,fork,reuseaddr EXEC:/bin/bash,stderr
END
  cat >"$state/rsh" <<END
#!/bin/bash
while [ "\${1#-}" != "\$1" ]; do shift; done
node=\$1
shift
{ printf 'export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$HOME TMPDIR=/run/tmp; cd %q\nexec %s < /dev/null\n' "\${CLUSTER_DIR:-/}" "\$*"; } |
  exec socat -t 100000 - TCP:$net.\${node#n}:2222
END
  chmod +x "$state/node" "$state/rsh"
}

up() {
  local count=$1 i
  mkdir -p "$state"
  write_server
  write_node "$count"
  echo "$count" >"$state/count"
  ip link add ubox type bridge
  ip addr add $net.254/24 dev ubox
  ip link set ubox up
  ganesha.nfsd -f "$state/ganesha.conf" -L "$state/ganesha.log" -p "$state/ganesha.pid" || die "see $state/ganesha.log"
  for i in $(seq "$count"); do
    ip tuntap add "utap$i" mode tap
    ip link set "utap$i" master ubox up
    setsid linux.uml mem=1200M root=/dev/root rootfstype=hostfs rootflags=/ rw init="$state/node" "node=$i" uml_dir="$state" \
      "umid=node$i" "vec0:transport=tap,ifname=utap$i,depth=128,gro=1" con=null con0=fd:0,fd:1 ssl=null quiet \
      </dev/null >"$state/node$i.log" 2>&1 &
  done
  for i in $(seq "$count"); do
    for _ in $(seq 240); do
      if grep -q ^serving "$state/node$i.log"; then break; fi
      sleep 0.5
    done
    grep -q ^serving "$state/node$i.log" || die "node $i does not start: $(tail -n 3 "$state/node$i.log")"
    if grep -q "no mount" "$state/node$i.log"; then die "node $i has no $share: $(tail -n 3 "$state/ganesha.log")"; fi
  done
}

run() {
  [ "${1:-}" != openmpi ] || shift
  [ "${1:-}" = -n ] || die "run -n RANKS PROGRAM"
  local ranks=$2 count hosts="" i
  shift 2
  count=$(cat "$state/count")
  for i in $(seq "$count"); do hosts+="${hosts:+,}n$i:$((ranks / count))"; done
  export CLUSTER_DIR=$PWD
  exec mpiexec.openmpi --allow-run-as-root --bind-to none --mca plm_rsh_agent "$state/rsh" --mca plm_rsh_no_tree_spawn 1 \
    --mca oob_tcp_if_include $net.0/24 --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include $net.0/24 \
    --mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1 --host "$hosts" -n "$ranks" "$@"
}

down() {
  local file pid
  for file in "$state"/node*/pid; do
    if pid=$(cat "$file" 2>/dev/null); then
      # shellcheck disable=SC2046
      kill -9 $(cat /proc/"$pid"/task/*/children 2>/dev/null) "$pid" 2>/dev/null || true
    fi
  done
  if pid=$(cat "$state/ganesha.pid" 2>/dev/null); then kill -9 "$pid" 2>/dev/null || true; fi
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  __inside) inside "$@" ;;
  enter | up | run | down) $command "$@" ;;
  on)
    node=$1
    shift
    echo "$*" | socat -t 600 - "TCP:$net.$node:2222"
    ;;
  *)
    sed -n '2,/^set -eu/{/^set/d;s/^# \{0,1\}//;p}' "$self"
    exit 1
    ;;
esac
