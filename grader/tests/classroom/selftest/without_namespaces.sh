#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# without_namespaces.sh MEMBOUND KERNEL: where no user namespace can be made the selftest skips what needs a
# jail and says so, and strangers' submissions are not graded. Exit status 77: this machine cannot imitate one.
set -u
membound=$1 kernel=$2
if [ "${3:-}" != inside ]; then
  unshare --user --map-root-user true || exit 77
  exec unshare --user --map-root-user "$0" "$membound" "$kernel" inside
fi
# In this namespace and below it none can be made any more.
echo 0 > /proc/sys/user/max_user_namespaces || exit 77

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "without_namespaces.sh: $1:"
  cat "$folder/said"
  exit 1
}

# 101 runs a program in a jail.
"$membound" selftest --attack --device vgpu:h200 --filter /101-output > "$folder/said" 2>&1 &&
  fail "the selftest does not tell by its exit status that something was not tried"
grep -q 'Nothing failed, but 1 cases need a jail' "$folder/said" || fail "what was not tried is not said"

mkdir -p "$folder/class/one"
cp "$kernel" "$folder/class/one/kernel.cu"
"$membound" grade "$folder/class" --lab 01-reverse-array --device vgpu:h200 --out "$folder/results" \
  > "$folder/said" 2>&1 && fail "a stranger's submission is graded"
grep -q -e '--trust-submissions' "$folder/said" || fail "what to do is not said"
[ ! -e "$folder/results/grades.csv" ] || fail "there are grades"
