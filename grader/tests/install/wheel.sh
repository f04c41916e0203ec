#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A wheel of one lab, installed by pip into a folder of its own: the course is laid out, a check reaches its verdict, and
# a folder that is not empty is left alone.
#
#   wheel.sh MEMBOUND COURSE
set -euo pipefail
program=$1 course=$2
python3 -m pip --version >/dev/null 2>&1 || { echo "pip is missing"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
holds() { # TEXT WORDS…
  local words
  for words in "${@:2}"; do
    [[ $1 == *"$words"* ]] || { echo "BAD \"$words\" is missing in: $1"; failed=1; }
  done
}
MEMBOUND_ROOT=$course "$program" release --lab 01 --for self-study --compiler clang --binaries --out "$folder/tree"
said=$(python3 "$course/grader/launcher/wheel/make_wheel.py" "$folder/tree" "$folder/dist")
holds "$said" "py3-none-manylinux_2_" "for self-study"
python3 -m pip install --quiet --disable-pip-version-check --no-index --target "$folder/site" "$folder"/dist/*.whl
mkdir "$folder/labs" "$folder/full"
: >"$folder/full/letter.txt"
export PYTHONPATH=$folder/site
unset MEMBOUND_ROOT
membound() { python3 -m membound "$@" 2>&1 </dev/null || true; }
cd "$folder/full"
holds "$(membound start)" "the folder is not empty" "mkdir cuda-labs"
holds "$(membound check 01)" "there is no course in"
[ "$(ls -A)" = letter.txt ] || { echo "BAD the full folder has $(ls -A)"; failed=1; }
cd "$folder/labs"
holds "$(membound start)" "laid the course out in $folder/labs" "Lab 01, stage 1"
holds "$(./membound check 01 --compiler clang 2>&1 || true)" "on vgpu:h200" "wrong result"
cp released/01-reverse-array/answer.cu labs/01-reverse-array/kernel.cu
holds "$(membound check 01 --compiler clang)" "1.00 of ref." "100 of 100 points"
[[ $(head -c 4 "$folder/site/membound/programs/vgpu/libcudart.so.13") == $'\x7fELF' ]] || { echo "BAD no runtime"; failed=1; }
grep -qi copyright "$folder/site/membound/programs/licences/libelf1"* || { echo "BAD no licence of libelf"; failed=1; }
exit "$failed"
