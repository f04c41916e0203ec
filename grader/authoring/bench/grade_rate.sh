#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# How fast a class is graded, and with how much memory: N submissions, all different and all right
# (which costs the most: every stage is timed), graded as strangers' would be.
#
#   grade_rate.sh BUILD LAB N [OPTION OF membound grade …]
#
# Prints submissions a minute, CPU seconds a submission (of all processes, so that it says something
# on a busy machine too), and the most memory that the grader itself, and any one process it
# started, ever held. CPU seconds need GNU time.
set -euo pipefail
build=$(realpath "$1") lab=$2 count=$3
shift 3
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for ((i = 1; i <= count; i++)); do
  mkdir -p "$work/in/student$i"
  { cat "$root/solutions/$lab/kernel.cu"; echo "// handed in by student $i"; } >"$work/in/student$i/kernel.cu"
done

export MEMBOUND_ROOT=$root
/usr/bin/time -o "$work/used" -f '%U %S %e %M' \
  "$build/bin/membound" grade "$work/in" --lab "$lab" --out "$work/out" "$@" \
  >"$work/summary" 2>"$work/messages" &
timed=$!
grader_kb=0
while kill -0 "$timed" 2>/dev/null; do
  for pid in $(cat "/proc/$timed/task/$timed/children" 2>/dev/null); do
    kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
    if [ "${kb:-0}" -gt "$grader_kb" ]; then grader_kb=$kb; fi
  done
  sleep 0.1
done
wait "$timed" || { cat "$work/messages"; exit 1; }
cat "$work/summary"
awk -v n="$count" -v own="$grader_kb" -v load="$(cut -d' ' -f1 /proc/loadavg)" '{
  printf "%d submissions in %.1f s: %.1f a minute (load average at the end %s)\n", n, $3, 60 * n / $3, load
  printf "CPU time a submission: %.2f s (user %.2f, system %.2f)\n", ($1 + $2) / n, $1 / n, $2 / n
  printf "most memory: grader %.0f MiB, any one process %.0f MiB\n", own / 1024, $4 / 1024
}' "$work/used"
