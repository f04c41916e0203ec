#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Times the clock's kernels (kernels.cu) and instructions (instructions.cu) on the GPU of this machine,
# in some seconds, into FOLDER/kernels.csv and FOLDER/instructions.csv. With a library that holds the
# virtual GPU, predicts the kernels' times instead, in a minute or two:
#
#   run.sh FOLDER
#   MEMBOUND_DEVICE=vgpu:h200 run.sh FOLDER build/dev/vgpu
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
folder=${1:?run.sh FOLDER [LIBRARY_FOLDER]}
library=${2:-}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() {  # PROGRAM OPTION...
  nvcc -std=c++17 -O2 "${@:2}" -o "$work/$1" "$here/$1.cu"
}
if [ -n "$library" ]; then
  compile kernels -cudart shared -gencode arch=compute_90,code=sm_90 \
    -gencode arch=compute_90,code=compute_90
  LD_LIBRARY_PATH=$library "$work/kernels" --once >"$folder/kernels.csv"
else
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
  for program in kernels instructions; do
    compile "$program" -arch=native
    "$work/$program" >"$folder/$program.csv"
  done
fi
