#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What the site's first page shows of the program, made by the program: warp.svg, a picture of a warp that
# moves, and check.txt, what a check prints. Usage: front_page.sh MEMBOUND ROOT [FOLDER]
# Without FOLDER the files beside this one are written; with it they are made there and held against those.
set -eu
membound=$1 root=$2 made=${3:-$2/docs/site}
# A bare container has no locale: the program would draw in ASCII.
export MEMBOUND_ROOT="$root" COLUMNS=80 LC_ALL=C.UTF-8
mkdir -p "$made"
"$membound" dev figure 03-transpose --stage 1 --kernel '<float>' --steps 2 --moving --size 256x256 \
  --title 'One warp, 32 lanes, 4 bytes each: the read and the write of a transpose' -o "$made/warp.svg" >/dev/null

# Stage 2 of lab 03 with blocks that are right and slow: a wrong answer that the course holds its tests against.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$membound" dev wrong 03/2-wide-blocks >"$work/kernel.cu"
"$membound" check 03/2 --device vgpu:h200 --submission "$work/kernel.cu" >"$work/said" && exit 1
# The names of 17 tests that passed would fill the page, and the compiler's name would age.
sed -e 's/, compiled with .*//' -e '/^  passed: /,/^  failed: /{s/^  passed: .*/  passed: 17 tests …/p;/^  failed: /!d}' \
  -e '/theoretical_global_sectors/d' "$work/said" | sed -e '/^$/{N;/^\n$/D}' >"$made/check.txt"
[ "$made" = "$root/docs/site" ] && exit
for file in warp.svg check.txt; do
  diff "$root/docs/site/$file" "$made/$file" || {
    echo "docs/site/$file shows what the program no longer does
  try: docs/site/front_page.sh build/ci/bin/membound ." >&2
    exit 1
  }
done
