#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Times answers to stage 1 of lab 06 in which each thread computes a row or a column of results, or a part
# of one: warps that take long and need nothing of each other, of which the virtual GPU runs some
# (vgpu/exec/schedule/block). Rows share a column in L1, columns share nothing. As comma-separated text.
#
#   some_warps.sh DEVICE > TABLE.csv          MEMBOUND is the program, ./membound without it
set -euo pipefail
device=${1:?some_warps.sh DEVICE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kernel() { # row|column, threads of a block, parts; "whole": one, whose bounds do not come from the grid
  local parts=$3 begin='blockIdx.y * n / gridDim.y' end='(blockIdx.y + 1) * n / gridDim.y'
  [ "$parts" != whole ] || parts=1 begin=0 end=n
  cat <<KERNEL
#include "kernel.cuh"
__global__ void minplus_direct(float* r, const float* d, int n) {
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (own >= n) return;
  const int end = $end;
  for (int other = $begin; other < end; ++other) {
    const int from = $([ "$1" = row ] && echo own || echo other);
    const int to = $([ "$1" = row ] && echo other || echo own);
    float best = kNoRoad;
    for (int via = 0; via < n; ++via)
      best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
    r[at(from, to, n)] = best;
  }
}
LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = $2;
  shape.grid = dim3(ceil_div(n, $2), $parts);
  return shape;
}
KERNEL
}

echo "a thread has,threads of a block,parts,size,ms,reference ms"
for one in "row 32 whole" "row 64 whole" "row 128 whole" "row 256 whole" "row 512 whole" "row 1024 whole" \
  "column 64 whole" "column 128 whole" "column 512 whole" "row 32 1" "column 128 1" "row 128 4" "column 128 4"; do
  read -r has threads parts <<<"$one"
  kernel "$has" "$threads" "$parts" >"$work/kernel.cu"
  # All of them miss the bar; a result that is wrong would have no times.
  "${MEMBOUND:-./membound}" check 06/1 --test ReachesItsBar --submission "$work/kernel.cu" --device "$device" \
    --json "$work/result.json" >&2 || true
  python3 - "$work/result.json" "$has,$threads,$parts" <<'ROW'
import json, sys
for timing in json.load(open(sys.argv[1]))["stages"][0]["timings"]:
    print(sys.argv[2], timing["label"], *("%.4g" % (timing[side + "_median_ns"] / 1e6) for side in ("student", "reference")), sep=",")
ROW
done
