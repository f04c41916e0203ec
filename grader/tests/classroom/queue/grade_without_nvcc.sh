#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A machine without a CUDA toolkit: nvcc is hidden, and clang compiles what is checked and graded. Then
# nvcc is there again, and a verdict is repeated with the compiler that it was made with.
#
#   grade_without_nvcc.sh BUILD      exits with 77 where nothing can be hidden
set -euo pipefail
build=$1
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd)
lab=01-reverse-array
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root
unset MEMBOUND_TOOLKIT
hidden=(--tmpfs /usr/local)
[ ! -d "$root/.membound/toolkit" ] || hidden+=(--tmpfs "$root/.membound/toolkit")
without_nvcc() { bwrap --dev-bind / / "${hidden[@]}" "$@"; }
# Also where nvcc lies in a place that is not hidden: then this test has nothing to say.
without_nvcc sh -c '! command -v nvcc' 2>/dev/null || { echo "nvcc cannot be hidden here"; exit 77; }
fail() {
  echo "$1" >&2
  shift
  cat "$@" >&2
  exit 1
}

without_nvcc "$build/bin/membound" check "$lab" --device vgpu \
  --submission "$root/solutions/$lab/kernel.cu" >"$work/check" 2>&1 ||
  fail "the reference answer does not pass without nvcc" "$work/check"
grep -q "compiled with clang" "$work/check" || fail "the result does not name clang" "$work/check"

mkdir -p "$work"/in/{right,wrong,broken}
cp "$root/solutions/$lab/kernel.cu" "$work/in/right/"
"$build/bin/membound" dev wrong "$lab/1-through-a-float" >"$work/in/wrong/kernel.cu"
echo '#include "kernel.cuh"
__global__ void reverse_direct(int* out' >"$work/in/broken/kernel.cu"
without_nvcc "$build/bin/membound" grade "$work/in" --lab "$lab" --device vgpu --seed 1 \
  --out "$work/out" >"$work/grade" 2>&1 || fail "grading without nvcc failed" "$work/grade"
for row in right,PASS wrong,FAIL_WRONG broken,COMPILE_ERROR; do
  grep -q "^${row%,*},.*${row#*,}" "$work/out/grades.csv" ||
    fail "not ${row#*,}: ${row%,*}" "$work/out/grades.csv" "$work/grade"
done
grep -q '"compiler": "clang' "$work/out/batch.json" || fail "the plan does not name clang"

# One stage of it is a whole program, which clang links in the jail, too.
program=00-hello-gpu
mkdir -p "$work/programs/right"
cp "$root/solutions/$program/kernel.cu" "$work/programs/right/"
without_nvcc "$build/bin/membound" grade "$work/programs" --lab "$program" --device vgpu --seed 1 \
  --out "$work/programs_out" >"$work/grade" 2>&1 || fail "grading a program failed" "$work/grade"
grep -q "^right,.*,PASS," "$work/programs_out/grades.csv" ||
  fail "a right program does not pass" "$work/programs_out/grades.csv" "$work/grade"

"$build/bin/membound" explain right --out "$work/out" >"$work/explain" 2>&1 ||
  fail "the verdict is not repeated" "$work/explain"
grep -q "compiler *clang" "$work/explain" || fail "another compiler repeats it" "$work/explain"
! grep -q "changed since" "$work/explain" || fail "something changed" "$work/explain"
echo "checked, graded and repeated with clang"
