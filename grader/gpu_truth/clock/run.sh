#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Times the clock's kernels (kernels.cu), students' (students.cu), one mechanism after the other (mechanisms.cu and
# those behind it) and grader/vgpu/calibration/microbenchmarks.cu on the GPU of this machine, in a minute, into
# FOLDER/kernels.csv and so on.
# With a library that holds the virtual GPU, predicts the times of the first two instead, in a minute or two:
#
#   run.sh FOLDER
#   MEMBOUND_DEVICE=vgpu:h200 run.sh FOLDER build/dev/vgpu
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../../.." && pwd)
folder=${1:?run.sh FOLDER [LIBRARY_FOLDER]}
library=${2:-}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() {  # SOURCE OPTION...
  nvcc -std=c++17 -O2 -I "$root" "${@:2}" -o "$work/$(basename "$1" .cu)" "$1"
}
if [ -n "$library" ]; then
  for program in kernels students; do
    compile "$here/$program.cu" -cudart shared -gencode arch=compute_90,code=sm_90 \
      -gencode arch=compute_90,code=compute_90
    LD_LIBRARY_PATH=$library "$work/$program" --once >"$folder/$program.csv"
  done
else
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
  for source in "$here"/{kernels,students,mechanisms,store_neighbours,fetch_ahead,tiles,how_many_stay,panels,block_tiles,block_loads,few_load,stretches,store_lines,block_chains}.cu \
    "$root/grader/vgpu/calibration/microbenchmarks.cu"; do
    compile "$source" -arch=native
    program=$(basename "$source" .cu)
    "$work/$program" >"$folder/$program.csv"
  done
fi
