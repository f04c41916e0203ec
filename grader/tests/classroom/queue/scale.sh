#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# How much memory and processor time a large class takes: N submissions of TEXTS different texts are
# graded, then nothing is left to do, then report and exports are written.
#
#   scale.sh BUILD [N] [TEXTS]     prints a line a step: user seconds, seconds, most memory in MB
set -euo pipefail

build=$(readlink -f -- "$1") count=${2:-10000} texts=${3:-100}
root=$(readlink -f -- "$(dirname -- "$0")/../../../..")
export MEMBOUND_ROOT=$root
work=$(mktemp -d "${TMPDIR:-/tmp}/membound-scale-XXXXXX")
trap 'rm -rf "$work"' EXIT

# Right answers to stage 1, and texts that differ in a comment alone: what is graded costs little.
answer=$root/solutions/01-reverse-array/kernel.cu
for ((i = 0; i < texts; ++i)); do
  { cat "$answer"; echo "// $i"; } >"$work/text$i"
done
mkdir "$work/in"
for ((i = 0; i < count; ++i)); do
  printf -v student 's%05d' "$i"
  mkdir "$work/in/$student"
  cp "$work/text$((i % texts))" "$work/in/$student/kernel.cu"
done

# The most memory is that of the call itself and of any process that it waited for.
measure() { # what, command…
  local what=$1
  shift
  python3 - "$what" "$@" <<'PY'
import resource, subprocess, sys, time
start = time.time()
code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{sys.argv[1]}: {used.ru_utime:.1f} s user, {time.time() - start:.1f} s, "
      f"{used.ru_maxrss / 1000:.0f} MB, exit code {code}", flush=True)
PY
}

membound=$build/bin/membound
echo "$count submissions, $texts texts, load $(cut -d' ' -f1 /proc/loadavg)"
measure "grade" "$membound" grade "$work/in" --lab 01-reverse-array --out "$work/out" --device vgpu
measure "grade, nothing to do" "$membound" grade "$work/in" --lab 01-reverse-array --out "$work/out" --device vgpu
measure "grade --resume, nothing to do" "$membound" grade --resume --out "$work/out"
measure "report" "$membound" report "$work/out"
measure "export canvas" "$membound" export "$work/out" --format canvas
measure "export gradescope" "$membound" export "$work/out" --format gradescope
measure "export junit" "$membound" export "$work/out" --format junit
wc -l <"$work/out/grades.csv"
