#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Grades a made-up class, 10 % of it hostile, and the same class without the hostile ones: every
# honest row must be the same, and no hostile one may have points.
#
#   grade_class.sh BUILD LAB STUDENTS LAYOUT      (LAYOUT: as for make_class, or all)
#
# Prints the time, the rate and the most memory that the grader itself held.
set -euo pipefail
build=$1 lab=$2 students=$3 layout=$4
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root SOURCE_DATE_EPOCH=1795241893

# As strangers' submissions, where this machine can confine them.
trust=()
mkdir -p "$work/nobody"
"$build/bin/membound" grade "$work/nobody" --lab "$lab" --device vgpu --out "$work/nothing" \
  >/dev/null 2>"$work/limits" || true
if grep -q -e --trust-submissions "$work/limits"; then
  trust=(--trust-submissions)
  echo "nothing here confines submissions: graded as trusted"
fi

for kind in mixed clean; do
  "$build/grader/tests/classroom/queue/make_class" "$root/solutions/$lab" "$work/$kind" "$students" \
    "$layout" "$kind"
  sources=("$work/$kind/submissions")
  [ "$layout" != all ] || sources=("$work/$kind/submissions"/*)
  started=$(date +%s.%N)
  "$build/bin/membound" grade "${sources[@]}" --roster "$work/$kind/roster.csv" \
    --lab "$lab" --device vgpu --seed 1 "${trust[@]}" --out "$work/$kind/out" \
    >"$work/$kind/summary" 2>"$work/$kind/messages" &
  grader=$! most_kb=0
  while kill -0 "$grader" 2>/dev/null; do
    kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$grader/status" 2>/dev/null || true)
    [ "${kb:-0}" -le "$most_kb" ] || most_kb=$kb
    sleep 0.1
  done
  wait "$grader" || {
    cat "$work/$kind/messages"
    exit 1
  }
  texts=$(sed -n 's/.* rows\?, \([0-9]*\) different texts\?.*/\1/p' "$work/$kind/messages")
  awk -v a="$started" -v b="$(date +%s.%N)" -v n="$students" -v t="$texts" -v k="$kind" \
    'BEGIN { s = b - a; printf "%s class: %d students, %d texts in %.0f s: %.0f students a minute\n", k, n, t, s, n * 60 / s }'
  echo "most memory of the grader itself: $((most_kb / 1024)) MiB"
  "$build/bin/membound" grade --verify --out "$work/$kind/out"
done
cat "$work/mixed/summary"

# Every student has a row, in both; honest rows are equal byte by byte.
for kind in mixed clean; do
  [ "$(($(wc -l <"$work/$kind/out/grades.csv") - 1))" -eq "$students" ] ||
    { echo "not every student has a row"; exit 1; }
  awk -F, 'NR == FNR { honest[$1] = 1; next } $1 in honest' "$work/mixed/honest.txt" \
    "$work/$kind/out/grades.csv" >"$work/$kind/honest.csv"
done
diff "$work/clean/honest.csv" "$work/mixed/honest.csv" ||
  { echo "an honest verdict differs from the clean run"; exit 1; }

# The others have no points, except where the text itself is a right answer in an odd coat.
awk -F, 'NR == FNR { honest[$1] = 1; next } FNR > 1 && !($1 in honest) && $3 > 0 { print; bad = 1 }
  END { exit bad }' "$work/mixed/honest.txt" "$work/mixed/out/grades.csv" ||
  { echo "a hostile submission got points"; exit 1; }
echo "$(wc -l <"$work/mixed/honest.csv") honest rows are those of the clean class"
