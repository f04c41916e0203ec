#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds every conformance program and runs it on this machine's GPU; what it prints is the truth the
# virtual GPU is compared with:   grader/gpu_truth/conformance/make_truth.sh > truth_h200.txt
# Each program runs twice: a case whose words differ between the runs is no truth, and is named.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

compile() { "$nvcc" -cudart shared -arch=sm_90 -std=c++17 -I"$root" -o "$build/$1" "$1.cu"; }
export -f compile
export nvcc build root
printf '%s\n' *.cu | sed 's/\.cu$//' | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
for source in *.cu; do
  program=${source%.cu}
  echo "## $program"
  for run in first second; do
    timeout 120 "$build/$program" > "$build/$run.txt" || echo "$program: did not end well" >&2
  done
  cat "$build/first.txt"
  diff "$build/first.txt" "$build/second.txt" > "$build/difference.txt" || {
    echo "$program: not the same twice" >&2
    cut -c1-120 "$build/difference.txt" >&2
  }
done
