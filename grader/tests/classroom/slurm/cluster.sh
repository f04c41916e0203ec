#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A Slurm cluster for tests: one node on loopback, or two in network namespaces of their own, which
# share this machine's files; two processors and two fake GPUs a node, everything it writes below one
# folder. Needs root (slurmd changes users) and Debian's slurmctld, slurmd and slurm-client; no
# systemd, no cgroups, no munge.
#
#   cluster.sh start FOLDER [BASE_PORT]   writes FOLDER/slurm.conf; export SLURM_CONF=FOLDER/slurm.conf
#   cluster.sh two FOLDER BASE_PORT       the same with nodes n1 and n2
#   cluster.sh controller FOLDER          (re)starts the controller alone
#   cluster.sh node FOLDER                (re)starts the one node's daemon alone
#   cluster.sh kill-node FOLDER n2        ends all that runs on a node, as a power cut does
#   cluster.sh stop FOLDER
set -euo pipefail

folder=$(readlink -f -- "$2")
node=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf

# Of two clusters on one machine each has its own bridge and network.
network() { echo "mb$(cat "$folder/port")"; }
address() { # host number
  local port
  port=$(cat "$folder/port")
  echo "10.$((port / 250 % 250 + 1)).$((port % 250)).$1"
}

join_network() { # node, host number
  local name
  name=$(network)
  ip netns add "$name-$1"
  ip link add "$name$1" type veth peer name eth0 netns "$name-$1"
  ip link set "$name$1" master "$name" up
  ip -n "$name-$1" addr add "$(address "$2")/24" dev eth0
  ip -n "$name-$1" link set eth0 up
  ip -n "$name-$1" link set lo up
}

configure_two() { # base port
  echo "$1" >"$folder/port"
  ip link add "$(network)" type bridge
  ip addr add "$(address 1)/24" dev "$(network)"
  ip link set "$(network)" up
  join_network n1 2
  join_network n2 3
  sed -i -e "s/^SlurmctldHost=.*/SlurmctldHost=$node($(address 1))/" -e '/^NodeName=/d' \
    -e '/^PartitionName=/d' -e 's/,NoInAddrAny//' -e "s/^\(SlurmdSpoolDir\|SlurmdPidFile\|SlurmdLogFile\)=.*/&.%n/" "$SLURM_CONF"
  cat >>"$SLURM_CONF" <<CONF
NodeName=n1 NodeAddr=$(address 2) CPUs=2 RealMemory=2000 Gres=gpu:fake:2 State=UNKNOWN
NodeName=n2 NodeAddr=$(address 3) CPUs=2 RealMemory=2000 Gres=gpu:fake:2 State=UNKNOWN
PartitionName=grade Nodes=n1,n2 Default=YES MaxTime=60 State=UP
PartitionName=closed Nodes=n1,n2 MaxTime=60 State=DOWN
CONF
  echo "NodeName=n[1-2] Name=gpu Type=fake File=$folder/gpu/gpu[0-1]" >"$folder/gres.conf"
}

configure() { # base port
  mkdir -p "$folder"/{state,spool,run,log,gpu}
  for i in 0 1; do [ -e "$folder/gpu/gpu$i" ] || mknod "$folder/gpu/gpu$i" c 1 3; done
  cat >"$SLURM_CONF" <<CONF
ClusterName=membound
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$1
SlurmdPort=$(($1 + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
MaxArraySize=10001
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
GresTypes=gpu
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=2000 Gres=gpu:fake:2 State=UNKNOWN
PartitionName=grade Nodes=$node Default=YES MaxTime=60 State=UP
CONF
  echo "NodeName=$node Name=gpu Type=fake File=$folder/gpu/gpu[0-1]" >"$folder/gres.conf"
}

await_node() {
  for _ in $(seq 100); do
    [ "$(sinfo -h -N -p grade -o %t 2>/dev/null | grep -cE '^(idle|mix|alloc)')" -ge "${1:-1}" ] && return
    sleep 0.1
  done
  echo "cluster.sh: the node did not come up; see $folder/log" >&2
  exit 1
}

kill_daemon() { # name
  local file=$folder/run/$1.pid
  [ -e "$file" ] || return 0
  kill -9 "$(cat "$file")" 2>/dev/null || true
  rm -f "$file"
}

case $1 in
  start)
    configure "${3:-16817}"
    slurmctld
    slurmd -N "$node"
    await_node
    ;;
  two)
    configure "$3"
    configure_two "$3"
    # It listens where its host's name leads: to the nodes' network, and not to the world.
    echo "$(address 1) $node" >"$folder/hosts"
    unshare --mount sh -c "mount --bind '$folder/hosts' /etc/hosts && exec slurmctld"
    # Not `ip netns exec`, which hides the cgroups that slurmd wants to see.
    for one in n1 n2; do nsenter --net="/run/netns/$(network)-$one" slurmd -N "$one"; done
    await_node 2
    ;;
  kill-node) ip netns pids "$(network)-$3" | xargs -r kill -9 ;;
  controller) kill_daemon slurmctld; slurmctld ;;
  node) kill_daemon slurmd; slurmd -N "$node" ;;
  stop)
    scancel --user=root 2>/dev/null || true
    kill_daemon slurmctld
    kill_daemon slurmd
    if [ -e "$folder/port" ]; then
      for one in n1 n2; do
        ip netns pids "$(network)-$one" | xargs -r kill -9
        ip netns del "$(network)-$one"
      done
      ip link del "$(network)"
    fi
    ;;
  *) sed -n '5,18p' "$0" >&2; exit 2 ;;
esac
