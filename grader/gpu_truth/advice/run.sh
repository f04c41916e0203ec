#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Times pairs of kernels, with a fault and without, on the GPU of this machine, some seconds, into FOLDER/rules.csv and
# so on (rule,name,µs). With a library that holds the virtual GPU, predicts the times instead and also
# leaves FOLDER/….json, whose kernels have the gains that were told. A GPU gets arrays 16 times as large; SCALE gives the
# virtual one as large ones.
#
#   run.sh FOLDER
#   MEMBOUND_DEVICE=vgpu:h200 run.sh FOLDER build/dev/vgpu [SCALE]
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
folder=${1:?run.sh FOLDER [LIBRARY_FOLDER [SCALE]]}
library=${2:-}
scale=${3:-1}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in rules planted fresh fresh_memory fresh_chip blind blind_memory blind_chip; do
  if [ -n "$library" ]; then
    nvcc -std=c++17 -O2 -I "$here/../../.." -lineinfo -cudart shared -gencode 'arch=compute_90,code=[compute_90,sm_90]' \
      -o "$work/$program" "$here/$program.cu"
    LD_LIBRARY_PATH=$library MEMBOUND_COUNTERS=$folder/$program.json "$work/$program" --once --scale "$scale" >"$folder/$program.csv"
  else
    nvcc -std=c++17 -O2 -I "$here/../../.." -arch=native -o "$work/$program" "$here/$program.cu"
    "$work/$program" --scale 16 >"$folder/$program.csv"
  fi
done
