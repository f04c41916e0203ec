#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Kills a grader of strangers' submissions again and again, alone or with its process group, at random
# moments, and looks after each next start whether anything is left of it: processes, control groups,
# mounts, temporary folders. One of the killed batches is finished at the end.
#
#   kill_grader.sh BUILD KILLS
#
# Exit code: 0 nothing was left, 1 something was, 77 no jail can be made here.
set -euo pipefail
build=$1 kills=$2
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd)
# A view of the mounts that only this test changes: others mount and unmount beside it. Within it they are
# shared, so that what a jail does not keep to itself shows here too.
if [ "${3:-}" != own_mounts ] && unshare --mount true 2>/dev/null; then
  exec unshare --mount --propagation private sh -c 'mount --make-rshared / && exec "$@"' sh "$0" "$@" own_mounts
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root TMPDIR=$work/tmp
mkdir "$TMPDIR"

for student in $(seq 24); do
  mkdir -p "$work/class/$student"
  case $((student % 4)) in
    0) "$build/bin/membound" selftest --show G-denial-and-escape/97-infinite-kernel ;;
    1) "$build/bin/membound" selftest --show B-compile/20-macros ;;
    *) cat "$root/solutions/01-reverse-array/kernel.cu" ;;
  esac >"$work/class/$student/kernel.cu"
  echo "// $student" >>"$work/class/$student/kernel.cu"
done

grade() { exec "$build/bin/membound" grade "$work/class" --lab 01-reverse-array --device vgpu --seed 1 --out "$1"; }

# What says that it belongs to one of the processes $1 (a pattern of numbers), or nothing. A mark is
# boot.namespace.PROCESS.start.
left_of() {
  local mark="[0-9a-f]{8}\.[0-9]+\.($1)\.[0-9]+"
  for process in /proc/[0-9]*; do
    tr "\0" " " 2>/dev/null <"$process/cmdline" | grep -qE "owner=$mark" && echo "process ${process#/proc/}"
  done
  find /sys/fs/cgroup -maxdepth 4 -type d -name 'membound-*' 2>/dev/null | grep -E "/membound-$mark" || true
  find "$TMPDIR" -maxdepth 1 -name 'membound-*' | grep -E "/membound-$mark" || true
}

sort /proc/self/mountinfo >"$work/mounts"
swept=0 problems=0
for round in $(seq "$kills"); do
  [ "$((round % 20))" -ne 1 ] || out=$work/out-$round
  set -m
  grade "$out" >"$work/log" 2>&1 &
  grader=$!
  set +m
  sleep "$((RANDOM % 3)).$((RANDOM % 10))$((RANDOM % 10))"
  if [ "$((round % 2))" -eq 0 ]; then kill -KILL -- "-$grader" 2>/dev/null || true; else kill -KILL "$grader" 2>/dev/null || true; fi
  wait "$grader" 2>/dev/null || true
  if grep -q -e --trust-submissions "$work/log"; then echo "no jail can be made here"; exit 77; fi
  sleep 0.05
  before=$(left_of "$grader")
  # The next start; that no folder is there is its answer, after the sweep.
  "$build/bin/membound" grade "$work/nobody" --lab 01-reverse-array --device vgpu --out "$work/nothing" >/dev/null 2>&1 || true
  after=$(left_of "$grader")
  [ -z "$before" ] || swept=$((swept + 1))
  if [ -n "$after" ]; then
    problems=$((problems + 1))
    printf 'kill %s left:\n%s\n' "$round" "$after"
  fi
done
left=$(sort /proc/self/mountinfo | comm -13 "$work/mounts" -)
[ -z "$left" ] || { printf 'mounts are left:\n%s\n' "$left"; problems=$((problems + 1)); }
echo "$kills kills: $swept left something, of which $problems after the next start"
[ "$problems" -eq 0 ]
