#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# compile.sh [--red-zones] OUTPUT CLANG ARGUMENT…: a kernel.cu -> PTX by clang, in two steps with
# wide_copies.awk between them; with --red-zones red_zones.awk too, for a checker rerun. All messages are the
# first step's. The folder of OUTPUT holds what lies between.
set -eu
red_zones=
[ "$1" != --red-zones ] || { red_zones=yes; shift; }
output=$1 clang=$2
shift 2
here=${0%/*}
trap 'rm -f "$output.ll" "$output.wide.ll" "$output.zones.ll"' EXIT
# std::min, std::max and std::swap, which clang lets kernels call; nvcc.flags includes them as well.
for source; do :; done
! grep -q 'std *::' "$source" || set -- -include bits/stl_algobase.h "$@"
"$clang" "@$here/../clang.flags" "-I$here" "$@" -idirafter "$here/missing" -emit-llvm -o "$output.ll"
# By its own name: the link `awk` may lead out of a jail.
awk=$(command -v mawk || command -v gawk || command -v awk)
"$awk" -f "$here/wide_copies.awk" "$output.ll" > "$output.wide.ll"
ready=$output.wide.ll
if [ -n "$red_zones" ]; then
  ready=$output.zones.ll
  "$awk" -f "$here/red_zones.awk" "$output.wide.ll" > "$ready"
fi
"$clang" "@$here/ir.flags" "$ready" -o "$output"
