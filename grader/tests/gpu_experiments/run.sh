#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Asks a real GPU the questions E1 to E8 of docs/security.md; under a minute on an H200. Needs nvcc,
# and bubblewrap for E6. Takes nearly all device memory: run it on a GPU that nobody else uses.
#
#   run.sh [WORK_FOLDER]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
ask=$work/experiments
"$nvcc" -O2 -std=c++17 -arch=native -o "$ask" "$here/experiments.cu" || exit 1

nvidia-smi --query-gpu=name,driver_version,mig.mode.current --format=csv,noheader
echo "== E1"; "$ask" host-pointer
echo "== E2"; "$ask" leave-marks; "$ask" look-for-marks
echo "== E2 with a scrub between"; "$ask" leave-marks; "$ask" scrub; "$ask" look-for-marks
echo "== E3"; "$ask" kill
echo "== E4"; "$ask" gaps
echo "== E5"; "$ask" clocks
echo "== E6"
nodes=()
for node in /dev/nvidiactl /dev/nvidia[0-9]* /dev/nvidia-uvm /dev/nvidia-uvm-tools /dev/nvidia-modeset; do
  [ -e "$node" ] && nodes+=("$node")
done
echo "nodes here: ${nodes[*]}"
# in_jail NODE…: whether the device answers in a jail that has these nodes only.
in_jail() {
  local -a binds=()
  for node in "$@"; do binds+=(--dev-bind "$node" "$node"); done
  bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc "${binds[@]}" --chdir / \
    timeout 60 "$ask" probe 2>&1 | tail -n 1
}
if command -v bwrap >/dev/null; then
  echo "none: $(in_jail)"
  echo "all: $(in_jail "${nodes[@]}")"
  for left_out in "${nodes[@]}"; do
    kept=()
    for node in "${nodes[@]}"; do [ "$node" = "$left_out" ] || kept+=("$node"); done
    echo "all but $left_out: $(in_jail "${kept[@]}")"
  done
else
  echo "bubblewrap is not installed"
fi
echo "== E7"; "$ask" calls
echo "== E8"; "$ask" scrub; "$ask" scrub
