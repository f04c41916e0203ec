#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Where no compiler is, PyPI's ziglang is one: the wheel that wheel.sh has installed compiles lab 01's answer and a whole
# program with it. With MEMBOUND_ZIGLANG=1 pip fetches the newest, as for a user (80 MB), and zig builds its C++ library
# (a minute of one processor); FOLDER keeps both, and the next run takes 3 s of CPU time. Without it a ziglang of this Python serves.
#
#   ziglang.sh SITE FOLDER
set -euo pipefail
site=$1 folder=$2 python=$(python3 -c "import sys; print(sys.executable)")
[ -e "$site/membound/__main__.py" ] || { echo "no wheel is installed in $site"; exit 77; }
mkdir -p "$folder/zig_cache"
export PYTHONPATH=$site:$folder/python
if [ -n "${MEMBOUND_ZIGLANG:-}" ] && [ ! -d "$folder/python/ziglang" ]; then
  "$python" -m pip install --quiet --disable-pip-version-check --target "$folder/python" ziglang
fi
"$python" -c 'import ziglang; assert ziglang.__file__' 2>/dev/null ||
  { echo "ziglang is not installed; MEMBOUND_ZIGLANG=1 lets pip fetch it"; exit 77; }

# A machine like this one, without a compiler of its own.
rm -rf "$folder/path"
mkdir "$folder/path"
find /usr/bin/ -maxdepth 1 ! -name '*clang*' ! -name '*g++*' ! -name '*gcc*' ! -name 'c++*' ! -name cc ! -name '*nvcc*' \
  ! -name bin -exec ln -s -t "$folder/path" {} +
export PATH=$folder/path
unset MEMBOUND_ROOT MEMBOUND_TOOLKIT
membound() { "$python" -m membound "$@" 2>&1 </dev/null || true; }
failed=0
holds() { [[ $1 == *"$2"* ]] || { echo "BAD \"$2\" is missing in: $1"; failed=1; }; }

student=$(mktemp -d) # in no course
trap 'rm -rf "$student"' EXIT
mkdir -p "$student/.membound/compilers"
ln -s "$folder/zig_cache" "$student/.membound/compilers/zig_cache"
cd "$student"
holds "$(membound start --compiler clang)" "laid the course out"
cp released/01-reverse-array/answer.cu labs/01-reverse-array/kernel.cu
said=$(membound check 01 --compiler clang)
holds "$said" "compiled with clang"
holds "$said" "100 of 100 points"
# Untouched, the program compiles, and a call of it fails.
holds "$(membound check 13/5 --compiler clang)" "wrong result"
[ -e .membound/compilers/clang++ ] || { echo "BAD another compiler than ziglang's served"; failed=1; }
exit "$failed"
