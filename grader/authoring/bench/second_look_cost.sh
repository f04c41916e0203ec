#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What the second look at right results costs in `membound check`: CPU time of the whole command with
# it and without, in turn, medians.   second_look_cost.sh BUILD ROUNDS LAB...
#     grader/authoring/bench/second_look_cost.sh build/ci 5 01-reverse-array 03-transpose
# The build must have switches (preset ci has). The answers are the course's own.
set -euo pipefail
build=$(realpath "$1") rounds=$2
shift 2
root=$(cd "$(dirname "$0")/../../.." && pwd)
export MEMBOUND_ROOT=$root TIMEFORMAT='%U %S'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Seconds of CPU that one check of lab $1 takes; $2: what is switched off.
cpu() {
  { time MEMBOUND_SWITCH_OFF=$2 "$build/bin/membound" check "${1%%-*}" --device vgpu \
    --submission "$root/solutions/$1/kernel.cu" > "$scratch/out" 2>&1; } 2>&1 | awk '{print $1 + $2}'
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

for lab; do
  cpu "$lab" none > /dev/null # compiles
  rm -f "$scratch/with" "$scratch/without"
  for ((i = 0; i < rounds; ++i)); do
    cpu "$lab" judge.second-look >> "$scratch/without"
    cpu "$lab" none >> "$scratch/with"
  done
  without=$(median "$scratch/without") with=$(median "$scratch/with")
  awk -v lab="$lab" -v a="$without" -v b="$with" \
    'BEGIN {printf "| %s | %.2f | %.2f | %.2f |\n", lab, a, b, b / a}'
done
