#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What the checker rerun of right results costs in `membound check`, or with --grade N in `membound grade`
# of N different right submissions: CPU time of the whole command with it and without, in turn, medians.
#     grader/authoring/bench/checker_rerun_cost.sh [--grade N] BUILD ROUNDS LAB...
# The build must have switches (preset ci has). The answers are the course's own.
set -euo pipefail
count=0
if [ "$1" = --grade ]; then
  count=$2
  shift 2
fi
build=$(realpath "$1") rounds=$2
shift 2
root=$(cd "$(dirname "$0")/../../.." && pwd)
export MEMBOUND_ROOT=$root TIMEFORMAT='%U %S'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Seconds of CPU that a class of lab $1 takes, as strangers; $2: what is switched off.
grade() {
  rm -rf "$scratch/class" "$scratch/graded"
  for ((student = 1; student <= count; ++student)); do
    mkdir -p "$scratch/class/student$student"
    { cat "$root/solutions/$1/kernel.cu"; echo "// student $student"; } >"$scratch/class/student$student/kernel.cu"
  done
  { time MEMBOUND_SWITCH_OFF=$2 "$build/bin/membound" grade "$scratch/class" --lab "$1" --device vgpu \
    --out "$scratch/graded" > "$scratch/out" 2>&1; } 2>&1 | awk '{print $1 + $2}'
}
# The same of one check.
cpu() {
  [ "$count" -eq 0 ] || { grade "$@"; return; }
  { time MEMBOUND_SWITCH_OFF=$2 "$build/bin/membound" check "${1%%-*}" --device vgpu \
    --submission "$root/solutions/$1/kernel.cu" > "$scratch/out" 2>&1; } 2>&1 | awk '{print $1 + $2}'
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

for lab; do
  cpu "$lab" none > /dev/null # compiles
  rm -f "$scratch/with" "$scratch/without"
  for ((i = 0; i < rounds; ++i)); do
    cpu "$lab" judge.checker-rerun >> "$scratch/without"
    cpu "$lab" none >> "$scratch/with"
  done
  without=$(median "$scratch/without") with=$(median "$scratch/with")
  awk -v lab="$lab" -v a="$without" -v b="$with" \
    'BEGIN {printf "| %s | %.2f | %.2f | %.2f |\n", lab, a, b, b / a}'
done
