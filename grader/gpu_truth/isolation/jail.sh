#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Which rule of the jail stands in a GPU driver's way: grades the reference answer of lab 01 as a
# stranger's, with all rules, then with each one switched off. Needs a build of preset ci or dev.
#
#   jail.sh BUILD [DEVICE]        DEVICE: gpu, or vgpu:h200 to try the script itself
set -uo pipefail
build=$(realpath "${1:?usage: jail.sh BUILD [DEVICE]}")
device=${2:-gpu}
export MEMBOUND_ROOT=${MEMBOUND_ROOT:-$(realpath "$(dirname "$0")/../../..")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/class/right"
cp "$MEMBOUND_ROOT/solutions/01-reverse-array/kernel.cu" "$work/class/right/"
for rule in none jail.seccomp jail.landlock jail.files jail.cgroup jail.memory jail.processes \
  jail.file-size jail.network jail.userns jail.scratch; do
  out=$work/out-$rule
  MEMBOUND_SWITCH_OFF=$rule timeout 120 "$build/bin/membound" grade "$work/class" --lab 01-reverse-array \
    --device "$device" --out "$out" >"$work/log" 2>&1
  verdict=$(cut -d, -f6 "$out/grades.csv" 2>/dev/null | tail -n 1)
  printf '%-16s %s\n' "$rule" "${verdict:-$(tail -n 1 "$work/log")}"
  [ "$verdict" = PASS ] || grep -ho "runner \(ended\|was\|could\|reached\)[^\"]*" "$out"/students/*.json | sort -u
done
