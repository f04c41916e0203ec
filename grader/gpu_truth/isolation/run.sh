#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# E1 to E8 of grader/gpu_truth/records/grading_strangers.md on the GPU of this machine, in a minute or two.
#
#   run.sh [PROGRAM]      (PROGRAM: experiments.cu, compiled; else nvcc compiles it)
#
# Leaves kernels that fault and one that is killed while it runs: not beside other work on the GPU.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
program=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$program" ]; then
  program=$work/experiments
  nvcc -std=c++17 -O2 -cudart shared -arch=native -o "$program" "$here/experiments.cu" || exit 1
fi
nvidia-smi --query-gpu=name,driver_version,compute_mode --format=csv,noheader 2>/dev/null
try() { timeout -s KILL 60 "$program" "$@" || echo "   ($* ended with $?)"; }

try heap
try leave
try look
try scrub
try leave
try scrub
try look
try mappings gap
try mappings read-only
try clocks
try calls

# E3: killed in the middle of a kernel that never ends; when does the device answer again?
"$program" hang &
hanging=$!
sleep 4
started=$(date +%s.%N)
kill -KILL "$hanging"
wait "$hanging" 2>/dev/null
awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN { printf "E3 the process is gone %.2f s after SIGKILL\n", b - a }'
for _ in 1 2 3 4 5; do
  if timeout -s KILL 20 "$program" probe; then break; fi
  sleep 2
done
awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN { printf "E3 the device answers %.2f s after SIGKILL\n", b - a }'
nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader 2>/dev/null
nvidia-smi --query-compute-apps=pid,name --format=csv,noheader 2>/dev/null

# E6: which nodes does a program in a jail need?
jailed() {
  local nodes=()
  for node in "$@"; do nodes+=(--dev-bind "$node" "$node"); done
  timeout -s KILL 30 bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev "${nodes[@]}" \
    --tmpfs /tmp --ro-bind "$program" /tmp/experiments \
    --setenv LD_LIBRARY_PATH "${LD_LIBRARY_PATH:-}" /tmp/experiments probe 2>&1
}
if ! command -v bwrap >/dev/null; then
  echo "E6 not tried: no bubblewrap here"
elif ! bwrap --unshare-all --ro-bind / / true 2>"$work/why"; then
  echo "E6 not tried: $(head -1 "$work/why")"
else
  gpus=$(ls /dev/nvidia[0-9]* 2>/dev/null)
  for nodes in "" "/dev/nvidiactl" "/dev/nvidiactl /dev/nvidia-uvm" "/dev/nvidiactl $gpus" \
    "/dev/nvidiactl /dev/nvidia-uvm $gpus"; do
    # shellcheck disable=SC2086  # a list of words
    echo "E6 with ${nodes:-no node}: $(jailed $nodes | tail -1)"
  done
fi
