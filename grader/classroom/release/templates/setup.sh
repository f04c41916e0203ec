#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Gradescope calls this once, as root, while it makes the image: installs, builds, and grades the
# skeleton to see that grading works here. AUTOGRADER_ROOT stands in for /autograder in tests.
set -euo pipefail

root=${AUTOGRADER_ROOT:-/autograder}
course=$root/source/course

say() { printf 'setup: %s\n' "$*"; }

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# The oldest CMake that the build works with; Debian 12 and Ubuntu 24.04 have newer ones.
offered=$(apt-cache policy cmake | sed -n 's/^ *Candidate: *//p')
if ! dpkg --compare-versions "${offered:-0}" ge 3.25; then
  say "this image is too old: it offers cmake ${offered:-(none)}, and 3.25 is needed"
  say "choose an image of Debian 12, Ubuntu 24.04 or newer in the autograder's settings"
  exit 1
fi

say "building, and grading the skeleton of {{first}}"
# A dev command makes ./membound build all, autograde too, and not only what students need.
(cd "$course" && ./membound dev keep-skeletons)
# The first of these compilers that can be had here grades. The skeleton does not pass (exit code 1); anything else but
# that means that grading cannot work.
for compiler in {{compilers}}; do
  code=0
  (cd "$course" && ./membound check "{{first}}/1" --compiler "$compiler" --device {{device}}) || code=$?
  if [ "$code" -le 1 ]; then break; fi
  tail -n 40 "$course/.membound/build.log" || true
  say "$compiler cannot grade here: the check ended with $code"
done
if [ "$code" -gt 1 ]; then exit 1; fi
say "submissions are graded with $compiler"
echo "$compiler" >"$root/source/compiler"
# Objects are of no use once everything is linked, and make the image large.
find "$course/build" -name '*.o' -delete
say "ready"
