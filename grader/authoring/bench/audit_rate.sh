#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What an audit of a class takes: N submissions of a lab, all different and all right (which costs the
# most: every timed stage is run whole), graded as strangers' are, and then audited by a second call.
#
#   audit_rate.sh BUILD N LAB… [-- OPTION OF membound grade …]
#
# Prints a row of a table for each lab: stages that were audited, seconds, stages a minute, CPU seconds a
# stage (of all processes, so that it says something on a busy machine too), and the most memory that
# any one process held, and that all of them held together. Needs GNU time.
set -euo pipefail
build=$(realpath "$1") count=$2
shift 2
labs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do labs+=("$1"); shift; done
[ $# -eq 0 ] || shift
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root

# Kilobytes that all processes below $1 hold: of what several share, each its part.
held_below() {
  local pid child kb sum=0
  local -a left=("$1")
  while [ ${#left[@]} -gt 0 ]; do
    pid=${left[0]}
    left=("${left[@]:1}")
    kb=$(awk '/^Pss:/ { print $2 }' "/proc/$pid/smaps_rollup" 2>/dev/null || true)
    sum=$((sum + ${kb:-0}))
    for child in $(cat /proc/"$pid"/task/*/children 2>/dev/null || true); do left+=("$child"); done
  done
  echo "$sum"
}

echo "| lab | stages | seconds | stages a minute | CPU seconds a stage | MiB of one process | MiB of all |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
for lab in "${labs[@]}"; do
  rm -rf "$work/in" "$work/out"
  for ((i = 1; i <= count; i++)); do
    mkdir -p "$work/in/student$i"
    { cat "$root/solutions/$lab/kernel.cu"; echo "// handed in by student $i"; } >"$work/in/student$i/kernel.cu"
  done
  grade() { "$build/bin/membound" grade "$work/in" --lab "$lab" --out "$work/out" "$@"; }
  grade "$@" >"$work/messages" 2>&1 || { cat "$work/messages"; exit 1; }
  /usr/bin/time -o "$work/used" -f '%U %S %e %M' \
    "$build/bin/membound" grade "$work/in" --lab "$lab" --out "$work/out" --audit "$@" \
    >"$work/messages" 2>&1 &
  timed=$!
  most=0
  while kill -0 "$timed" 2>/dev/null; do
    kb=$(held_below "$timed")
    [ "$kb" -le "$most" ] || most=$kb
    sleep 0.2
  done
  wait "$timed" || { cat "$work/messages"; exit 1; }
  stages=$(sed -nE 's/^membound: auditing ([0-9]+) stages?,.*/\1/p' "$work/messages")
  [ -n "$stages" ] || { echo "| $lab | 0 | | | | | |"; continue; }
  ! grep -q 'wrong in stage\|stage [0-9]*: ' "$work/out/grades.csv" || { cat "$work/out/grades.csv"; exit 1; }
  awk -v lab="$lab" -v n="$stages" -v all="$most" '{
    printf "| %s | %d | %.1f | %.1f | %.2f | %.0f | %.0f |\n", lab, n, $3, 60 * n / $3, ($1 + $2) / n, $4 / 1024, all / 1024
  }' "$work/used"
done
