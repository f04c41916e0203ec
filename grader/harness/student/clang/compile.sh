#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# compile.sh [--red-zones] [--card NN] OUTPUT CLANG ARGUMENT…: a kernel.cu -> PTX by clang, in two steps with
# wide_copies.awk between them; with --red-zones red_zones.awk too, for a checker rerun. PTX is for compute capability
# 8.0 and newer, as the flags say, or for that of an older card, NN, and newer. All messages are the first step's. The
# folder of OUTPUT holds what lies between.
set -eu
red_zones='' card=''
[ "$1" != --red-zones ] || { red_zones=yes; shift; }
[ "$1" != --card ] || { card=$2; shift 2; }
output=$1 clang=$2
shift 2
here=${0%/*}
trap 'rm -f "$output.ll" "$output.wide.ll" "$output.zones.ll" "$output.flags" "$output.ir.flags"' EXIT
flags=$here/../clang.flags ir_flags=$here/ir.flags
if [ -n "$card" ]; then
  sed "s/sm_80/sm_$card/" "$flags" > "$output.flags"
  sed "s/sm_80/sm_$card/" "$ir_flags" > "$output.ir.flags"
  flags=$output.flags ir_flags=$output.ir.flags
fi
# std::min, std::max and std::swap, which clang lets kernels call; nvcc.flags includes them as well.
for source; do :; done
! grep -q 'std *::' "$source" || set -- -include bits/stl_algobase.h "$@"
"$clang" "@$flags" "-I$here" "$@" -idirafter "$here/missing" -emit-llvm -o "$output.ll"
# By its own name: the link `awk` may lead out of a jail.
awk=$(command -v mawk || command -v gawk || command -v awk)
"$awk" -f "$here/wide_copies.awk" "$output.ll" > "$output.wide.ll"
ready=$output.wide.ll
if [ -n "$red_zones" ]; then
  ready=$output.zones.ll
  "$awk" -f "$here/red_zones.awk" "$output.wide.ll" > "$ready"
fi
"$clang" "@$ir_flags" "$ready" -o "$output"
