#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A Slurm cluster of one node on loopback, for tests: two processors, two fake GPUs, everything it
# writes below one folder. Needs root (slurmd changes users) and Debian's slurmctld, slurmd and
# slurm-client; no systemd, no cgroups, no munge.
#
#   cluster.sh start FOLDER [BASE_PORT]   writes FOLDER/slurm.conf; export SLURM_CONF=FOLDER/slurm.conf
#   cluster.sh controller FOLDER          (re)starts the controller alone
#   cluster.sh node FOLDER                (re)starts the node's daemon alone
#   cluster.sh stop FOLDER
set -euo pipefail

folder=$(readlink -f -- "$2")
node=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf

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
    sinfo -h -o %t 2>/dev/null | grep -qE '^(idle|mix|alloc)' && return
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
  controller) kill_daemon slurmctld; slurmctld ;;
  node) kill_daemon slurmd; slurmd -N "$node" ;;
  stop)
    scancel --user=root 2>/dev/null || true
    kill_daemon slurmctld
    kill_daemon slurmd
    ;;
  *) sed -n '5,14p' "$0" >&2; exit 2 ;;
esac
