#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Times the answer to each stage of lab 12 on a real GPU, with the harness's own events
# (stream_clock.cpp), beside a wrong answer that does the same work one after the other.
#
#   program_clock.sh BUILD [RUNS [STAGES]]     as in: program_clock.sh build/ci 5 "1 3"; needs nvcc
#
# A line each: stage, samples, milliseconds one after the other and as answered (medians of RUNS),
# and the share saved. Both must hand in the same samples. MEMBOUND_ARCHITECTURE, as in sm_90: what
# nvcc compiles for where there is no GPU to ask.
set -euo pipefail
build=$(realpath "$1") runs=${2:-5} stages=" ${3:-1 2 3 4} "
clock=$build/bin/libstream_clock.so
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root

compile() { # source, program
  nvcc -std=c++20 -O2 -arch="${MEMBOUND_ARCHITECTURE:-native}" -cudart shared -DMEMBOUND_PROGRAM \
    -I"$root/grader/harness/student" -I"$root/labs/12-streams" "$1" -o "$2"
}
# Stage, the wrong answer that overlaps nothing, and the arrays of N samples that it reads.
rows="1:1-default-stream:5 2:2-one-stream:1 3:3-one-stream:4 4:4-hands-in-every-round:2"
compile "$root/solutions/12-streams/kernel.cu" "$work/answer" &
for row in $rows; do
  IFS=: read -r stage wrong _ <<<"$row"
  if [[ $stages != *" $stage "* ]]; then continue; fi
  "$build/bin/membound" dev wrong "12/$wrong" >"$work/$wrong.cu"
  compile "$work/$wrong.cu" "$work/$wrong" &
done
wait

median_ms() { # program, stage
  for ((i = 0; i < runs; ++i)); do
    LD_PRELOAD=$clock "$work/$1" "$2" "$work/in" "$work/$1.out" 2>&1 >/dev/null |
      sed -n 's/^stream_clock: \([0-9.]*\) ms.*/\1/p'
  done | sort -n | sed -n "$((runs / 2 + 1))p"
}
mkdir -p "$work/in" "$work/answer.out"
for row in $rows; do
  IFS=: read -r stage wrong arrays <<<"$row"
  if [[ $stages != *" $stage "* ]]; then continue; fi
  mkdir -p "$work/$wrong.out"
  counts=601
  if [ "$stage" = 2 ]; then counts="600011 33554432"; fi
  if [ "$stage" = 4 ]; then counts="601 1048576"; fi
  for count in $counts; do
    head -c $((4 * arrays * count)) /dev/urandom >"$work/in/in"
    alone=$(median_ms "$wrong" "$stage") answered=$(median_ms answer "$stage")
    cmp "$work/$wrong.out/out" "$work/answer.out/out"
    awk -v s="$stage" -v n="$count" -v a="$alone" -v b="$answered" 'BEGIN {
      printf "stage %d, %d samples: %.4f ms one after the other, %.4f ms as answered, %.3f saved\n", s, n, a, b, 1 - b / a }'
  done
done
