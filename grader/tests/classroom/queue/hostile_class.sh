#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Grades, in one call, a class of which half hands in texts that want to stop it, and the other half by
# itself: every row must be graded, no verdict may be ours, no hostile text may have points, and the
# honest rows must be those of the clean class.
#
#   hostile_class.sh BUILD DEVICE SECONDS HOSTILE…      (cases of tests/attacks about lab 01; or all, or quick)
#
# SECONDS: the budget of device time. all: 20 that each hold something for as long as they can. quick: 20 of
# as many kinds that cost little, beside 20 honest students with 4 texts. Prints how long each took.
set -euo pipefail
build=$1 device=$2 seconds=$3
shift 3
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root SOURCE_DATE_EPOCH=1795241893

everything=(
  G-denial-and-escape/99d-launch-function-faults G-denial-and-escape/99e-launch-record-overwritten
  G-denial-and-escape/97-infinite-kernel G-denial-and-escape/97b-infinite-launch-shape
  G-denial-and-escape/97c-dead-barrier G-denial-and-escape/97e-barriers-for-ever
  G-denial-and-escape/97f-fences G-denial-and-escape/99-all-memory G-denial-and-escape/99b-giant-grid
  G-denial-and-escape/100-device-printf F-device-memory/93-sticky-error F-device-memory/94-device-heap
  F-device-memory/94b-device-heap-for-ever F-device-memory/89-walk-addresses
  B-compile/16-include-dev-zero B-compile/19-templates B-compile/32c-zero-byte
  H-reporting/112-bad-utf8 C-harness/55-fork D-timing/69-slow-the-reference)
quick=(
  G-denial-and-escape/99d-launch-function-faults G-denial-and-escape/99e-launch-record-overwritten
  G-denial-and-escape/97-infinite-kernel G-denial-and-escape/97e-barriers-for-ever
  G-denial-and-escape/99-all-memory F-device-memory/88-read-freed
  F-device-memory/93-sticky-error F-device-memory/94-device-heap F-device-memory/89-walk-addresses
  F-device-memory/90-beside-the-array F-device-memory/91-host-pointer
  B-compile/12-include-passwd B-compile/26-poison B-compile/30-crafted-ptx B-compile/31b-smid
  B-compile/32c-zero-byte H-reporting/111-escape-sequences H-reporting/112-bad-utf8
  H-reporting/114-harness-lines C-harness/55-fork)
clean_share=1 texts=1000 # of honest students
case ${1:-all} in
  all) set -- "${everything[@]}" ;;
  quick)
    set -- "${quick[@]}"
    clean_share=5 texts=4
    ;;
esac

number=0
for case in "$@"; do
  number=$((number + 1))
  mkdir -p "$work/mixed/hostile-$number-${case##*/}" "$work/mixed/honest-$number"
  "$build/bin/membound" selftest --show "$case" >"$work/mixed/hostile-$number-${case##*/}/kernel.cu"
  # Right answers and the skeleton.
  source=$root/solutions/01-reverse-array
  [ "$((number % 4))" -ne 3 ] || source=$root/labs/01-reverse-array
  { cat "$source/kernel.cu"; echo "// $((number % texts))"; } >"$work/mixed/honest-$number/kernel.cu"
  [ "$((number * clean_share))" -le "$#" ] || continue
  mkdir -p "$work/clean/honest-$number"
  cp "$work/mixed/honest-$number/kernel.cu" "$work/clean/honest-$number/"
done

for class in mixed clean; do
  started=$(date +%s)
  status=0
  "$build/bin/membound" grade "$work/$class" --lab 01-reverse-array --device "$device" --seed 1 \
    --device-seconds "$seconds" --out "$work/$class-out" >"$work/summary" 2>"$work/messages" || status=$?
  if grep -q -e --trust-submissions "$work/messages"; then echo "no jail can be made here"; exit 77; fi
  [ "$status" -eq 0 ] || { cat "$work/summary" "$work/messages"; echo "exit code $status"; exit 1; }
  echo "$class class of $(ls "$work/$class" | wc -l): $(($(date +%s) - started)) s"
done
awk -F, 'FNR > 1 { print "  " $1 ": " $6 }' "$work/mixed-out/grades.csv" | grep hostile

[ "$(grep -c -e ^honest -e ^hostile "$work/mixed-out/grades.csv")" -eq "$((2 * number))" ] ||
  { echo "not every student has a row"; exit 1; }
! grep -e INFRA_ERROR -e 'not graded yet' "$work/mixed-out/grades.csv" ||
  { echo "a verdict is ours, or missing"; exit 1; }
awk -F, '/^hostile/ && $3 > 0 { print; bad = 1 } END { exit bad }' "$work/mixed-out/grades.csv" ||
  { echo "a hostile text has points"; exit 1; }
# On a GPU times differ from run to run: verdicts are compared. On the virtual one, everything.
columns=1-
case $device in vgpu*) ;; *) columns=1,2,6 ;; esac
while read -r row; do
  grep -F -x -q -e "$row" <(cut -d, -f"$columns" "$work/mixed-out/grades.csv") ||
    { echo "an honest verdict differs from the clean class: $row"; exit 1; }
done < <(grep ^honest "$work/clean-out/grades.csv" | cut -d, -f"$columns")
# Right answers have all points, the skeleton has none.
awk -F, '/^honest/ { split($1, name, "-"); if (($3 > 0) != (name[2] % 4 != 3)) { print; bad = 1 } }
  END { exit bad }' "$work/mixed-out/grades.csv" || { echo "an honest text has another's points"; exit 1; }
echo "$(grep -c ^honest "$work/clean-out/grades.csv") of $number honest rows are those of the clean class"
