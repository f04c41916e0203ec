#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Machines with a GPU that cannot serve, and with one that can, from the command line to the verdict: containers with
# NVIDIA's device file, and a stand-in for its driver, which executes on the virtual GPU. `doctor` has a row for each
# thing that a GPU needs.
#
#   stand_in_check.sh PROGRAM DRIVER-FOLDER COURSE
set -euo pipefail
program=$1 driver=$2 course=$3
linux=(--bind / / --dev /dev --ro-bind /dev/null /dev/nvidiactl --setenv LD_LIBRARY_PATH "$driver")
inside() { # GPU-DRIVER CARD ARGUMENT…
  bwrap "${machine[@]}" --proc /proc --setenv STAND_IN_DRIVER "$1" --setenv STAND_IN_GPUS "$2" \
    --setenv STAND_IN_RUNTIME "${program%/bin/*}/vgpu/libcudart.so.13" --setenv MEMBOUND_ROOT "$course" \
    --setenv COLUMNS 200 "${@:3}"
}
machine=("${linux[@]}")
inside '' '' true 2>/dev/null || { echo "no container can be made here"; exit 77; }
failed=0
holds() { # TEXT WORDS…
  local words
  for words in "${@:2}"; do
    [[ $1 == *"$words"* ]] || { echo "BAD \"$words\" is missing in: $1"; failed=1; }
  done
}
answer=$course/solutions/01-reverse-array/kernel.cu
t4='Tesla T4;75;40;15828;15000;0;0'
said=$(inside '470.57.02 11040' "$t4" "$program" check 01/1 --submission "$answer" 2>&1) || true
holds "$said" "membound: note: Tesla T4 cannot serve: driver 470.57.02 for CUDA 11.4" "vgpu:t4 takes its place" "1 direct                 passed"
said=$(inside '470.57.02 11040' "$t4" "$program" doctor 2>&1) || true
holds "$said" "GPU           Tesla T4" "warn  GPU driver    driver 470.57.02 for CUDA 11.4" \
  "fix: install driver 525 or newer" "until then checks run on vgpu:t4" "ok    GPU compute   compute capability 7.5" \
  "ok    GPU mode" "ok    GPU memory"
said=$(inside '580.65.06 13000' "${t4/15000;0;0/900;2;0}" "$program" doctor 2>&1) || true
holds "$said" "warn  GPU mode      compute mode Prohibited" "fix: sudo nvidia-smi -c DEFAULT" \
  "warn  GPU memory    0.9 GB of 15.8 GB are free" "nvidia-smi lists"
# The oldest driver and nearly the oldest cards that serve, whatever toolkit is here: clang's code, through our runtime.
v100='Tesla V100-PCIE-32GB;70;80;34079;33000;0;0'
said=$(inside '525.60.13 12000' "$v100" "$program" doctor 2>&1) || true
holds "$said" "ok    GPU driver    driver 525.60.13 for CUDA 12.0" "ok    GPU compute   compute capability 7.0" "ok    GPU code      clang"
said=$(inside '525.60.13 12000' "$v100" env MEMBOUND_DEVICE=vgpu:v100 PATH=/usr/bin:/bin "$program" check 01/1 --device gpu \
  --compiler clang --size 65536 --submission "$answer" 2>&1) || true
holds "$said" "Tesla V100" "1 direct                 passed"

# A Linux machine of Windows (WSL 2): another device file, and the driver's libraries in a folder that no search path has.
wsl=(--bind / / --dev /dev --ro-bind /dev/null /dev/dxg --unsetenv LD_LIBRARY_PATH --tmpfs /usr/lib)
for entry in /usr/lib/*; do
  if [ -L "$entry" ]; then wsl+=(--symlink "$(readlink "$entry")" "$entry"); else wsl+=(--ro-bind "$entry" "$entry"); fi
done
machine=("${wsl[@]}")
said=$(inside '560.94 12060' "$t4" "$program" doctor 2>&1) || true
holds "$said" "an NVIDIA device is there, but no driver library"
machine+=(--ro-bind "$driver" /usr/lib/wsl/lib)
said=$(inside '560.94 12060' "$t4" "$program" doctor 2>&1) || true
holds "$said" "ok    GPU           Tesla T4" "ok    GPU driver    driver 560.94 for CUDA 12.6"
said=$(inside '560.94 12060' "$v100" env PATH=/usr/bin:/bin "$program" check 01/1 --device gpu \
  --compiler clang --size 65536 --submission "$answer" 2>&1) || true
holds "$said" "Tesla V100" "1 direct                 passed"
exit "$failed"
