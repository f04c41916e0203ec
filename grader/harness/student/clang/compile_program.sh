#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# compile_program.sh [--library] OUTPUT RUNTIME CLANG ARGUMENT…: a whole program by clang, which needs nothing of
# NVIDIA's: its kernels to PTX as compile.sh makes it, the PTX into a fatbin, and the host's part, which carries the
# fatbin, linked with the libcudart.so.13 in the folder RUNTIME (by that name, because a wheel holds no links). Messages
# are those of the first step; the host's part has the same text, so what is wrong in it is found there. The folder of
# OUTPUT holds what lies between.
set -eu
kind=
[ "$1" != --library ] || { kind="-shared -fPIC"; shift; }
output=$1 runtime=$2 clang=$3
shift 3
here=${0%/*}
flags=$here/../clang-program.flags
trap 'rm -f "$output.ptx" "$output.fatbin" "$output.o"' EXIT
sh "$here/compile.sh" "$output.ptx" "$clang" "@$flags" "$@"

# A number, lowest byte first.
bytes() { # COUNT NUMBER
  count=$1 left=$2
  while [ "$count" -gt 0 ]; do
    # shellcheck disable=SC2059  # an octal number of three digits
    printf "\\$(printf %03o $((left % 256)))"
    left=$((left / 256)) count=$((count - 1))
  done
}

# The container's header and one entry of it (device_code/fatbin): PTX of version 7.2 for compute capability 8.0, not
# packed, ended by zeros to a multiple of 8 bytes.
ptx_bytes=$(wc -c <"$output.ptx")
padding=$((8 - ptx_bytes % 8))
{
  bytes 4 3126193488 && bytes 2 1 && bytes 2 16 && bytes 8 $((80 + ptx_bytes + padding))
  bytes 2 1 && bytes 2 257 && bytes 4 80 && bytes 8 $((ptx_bytes + padding))
  bytes 4 0 && bytes 4 64 && bytes 2 2 && bytes 2 7
  bytes 4 80 && bytes 8 0 && bytes 8 17
  bytes 8 0 && bytes 8 0 && bytes 8 72 && bytes 8 0
  cat "$output.ptx"
  bytes "$padding" 0
} >"$output.fatbin"

# Of clang.flags what both parts have in common. A jail shows clang by its own name, which links no C++ unless told so.
# shellcheck disable=SC2086  # $kind is two words or none
"$clang" --driver-mode=g++ -x cuda --cuda-host-only --cuda-path=/nonexistent -nocudainc -nocudalib \
  --cuda-gpu-arch=sm_80 -std=c++20 -O2 -g1 \
  -Wno-unknown-warning-option -w -include cuda_for_clang.cuh "@$flags" "-I$here" "$@" \
  -idirafter "$here/missing" \
  -Xclang -fcuda-include-gpubinary -Xclang "$output.fatbin" \
  $kind -c -o "$output.o"
# shellcheck disable=SC2086
"$clang" --driver-mode=g++ $kind "$output.o" -o "$output" "-L$runtime" -l:libcudart.so.13
