#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What `membound explain` tells of work that was not handed in, where nothing was run, and of a
# verdict, whose seed stands there and in the report that follows.
#
#   explain_tells.sh BUILD      exits with 77 where there is no jail to grade in
set -euo pipefail
build=$1
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd)
lab=01-reverse-array
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMBOUND_ROOT=$root
fail() {
  echo "$1" >&2
  shift
  cat "$@" >&2
  exit 1
}

mkdir -p "$work"/in/{absent,present}
cp "$root/labs/$lab/kernel.cu" "$work/in/present/"
"$build/bin/membound" grade "$work/in" --lab "$lab" --device vgpu --out "$work/out" >"$work/grade" 2>&1 || {
  ! grep -q -e --trust-submissions "$work/grade" || { echo "no jail here"; exit 77; }
  fail "grading failed" "$work/grade"
}

"$build/bin/membound" explain absent --out "$work/out" >"$work/absent" 2>&1 ||
  fail "explain of work that is missing failed" "$work/absent"
grep -q "verdict *nothing submitted" "$work/absent" || fail "nothing about its absence" "$work/absent"
! grep -Eq "^ +(graded|compiler|seed|limits)" "$work/absent" ||
  fail "tells of a run that there was not" "$work/absent"

"$build/bin/membound" explain present --out "$work/out" >"$work/present" 2>&1 ||
  fail "the verdict is not repeated" "$work/present"
seed=$(sed -nE 's/^ +seed +([0-9]+), key [0-9a-f]{32}$/\1/p' "$work/present")
[ -n "$seed" ] || fail "no seed with its key" "$work/present"
[ "$(tr '\n' ' ' <"$work/present" | grep -oE "seed +$seed\b" | wc -l)" -ge 2 ] ||
  fail "the report has another seed than $seed" "$work/present"
echo "tells what was run, and nothing of what was not"
