#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Every command on a machine without a CUDA toolkit, as a user calls it: builds a copy of this tree there, checks every
# lab's answer, grades, reports, exports and marks a class, hands the course out, and grades as Gradescope does. Needs
# root, apt-get for what Gradescope's setup.sh installs, and Debian's packages that ./membound names (clang among them).
#
#   grader/tests/bare_machine/bare_machine.sh [FOLDER]     FOLDER is new, and is kept; without it one in /tmp, which is not
#
# The course is built twice, by an instructor and by setup.sh, at the same path: with ccache the second time is short, and
# the first too where CCACHE_DIR has what was compiled of this tree elsewhere with CCACHE_BASEDIR set to it. Exit
# codes: 0 all went well, 1 the first command that did not, with what it said.
set -euo pipefail

tree=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../../.." && pwd)
if [ "${1:-}" != --without-toolkit ]; then
  exec "$tree/grader/tests/bare_machine/without_toolkit.sh" "$0" --without-toolkit "$@"
fi
shift
folder=${1:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d /tmp/membound-bare.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export AUTOGRADER_ROOT=$folder/autograder
course=$AUTOGRADER_ROOT/source/course
export CCACHE_DIR=${CCACHE_DIR:-$folder/ccache} CCACHE_BASEDIR=$course

# expect CODE PATTERN COMMAND…: the command ends with that code, and a line of what it says fits the pattern; '' if it
# may say nothing.
expect() {
  local wanted=$1 pattern=$2 code=0 began=$SECONDS
  shift 2
  "$@" >"$folder/said" 2>&1 </dev/null || code=$?
  if [ "$code" != "$wanted" ] || { [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$folder/said"; }; then
    tail -n 60 "$folder/said"
    printf 'BAD %s\n  expected exit code %s and a line with "%s"\n  got exit code %s\n' "$*" "$wanted" "$pattern" "$code"
    exit 1
  fi
  printf '%4d s  %s\n' $((SECONDS - began)) "${*//"$folder"\//}"
}

# membound CODE PATTERN WORDS…: as expect, of ./membound in the course.
membound() { (cd "$course" && expect "$1" "$2" ./membound "${@:3}"); }

# --- the course, as it lies in this tree ----------------------------------------------------------

mkdir -p "$course"
git -C "$tree" ls-files -z | tar -C "$tree" --null --files-from - --create | tar -C "$course" --extract
rm -rf "$course/.git"
git -C "$course" init --quiet
git -C "$course" add --all --force
git -C "$course" -c user.name=nobody -c user.email=nobody@localhost commit --quiet --message course

membound 0 'vgpu:h200|h200' machine list  # builds all
membound 0 '.' doctor

# --- every lab's answer ---------------------------------------------------------------------------

for lab in "$course"/labs/*/; do
  lab=$(basename "$lab")
  answer=solutions/$lab/kernel.cu
  membound 0 'passed' check "$lab" --submission "$answer" --device vgpu:h200
done

# --- a class --------------------------------------------------------------------------------------

right=$course/solutions/01-reverse-array/kernel.cu
class=$folder/class
mkdir -p "$class"/{ann,bob}
cp "$right" "$class/ann/kernel.cu"
membound 0 '__global__' dev wrong reverse/1-through-a-float
cp "$folder/said" "$class/bob/kernel.cu"
results=$folder/results
membound 0 '.' grade "$class" --lab reverse --out "$results" --trust-submissions --device vgpu:h200
expect 0 '^ann,.*PASS' cat "$results/grades.csv"
expect 0 '^bob,.*FAIL_WRONG' cat "$results/grades.csv"
membound 0 '.' report "$results"
membound 0 '.' export "$results" --format canvas
membound 0 '.' explain bob --out "$results"
membound 0 '.' mark bob reverse --points 7 --comment "looked at it" --out "$results"
membound 0 '.' dev check --run reverse --device vgpu:h200

# --- handed out -----------------------------------------------------------------------------------

membound 0 'nvcc: not found' release --binaries --out "$folder/students" --lab reverse
expect 0 'target' cat "$folder/students/released/01-reverse-array/reference.ptx"
(cd "$folder/students" && expect 1 '.' ./membound --no-install check reverse/1 --device vgpu:h200)
membound 0 'files' gradescope-autograder --out "$folder/autograder.zip" --lab reverse

# --- as Gradescope --------------------------------------------------------------------------------

mv "$course" "$folder/instructor"
right=$folder/instructor/solutions/01-reverse-array/kernel.cu
(cd "$AUTOGRADER_ROOT/source" && cmake -E tar xf "$folder/autograder.zip")
expect 0 'ready' "$AUTOGRADER_ROOT/source/setup.sh"
submitted() { # FILE PATTERN: results.json of it has a line that fits
  rm -rf "$AUTOGRADER_ROOT"/{submission,results}
  mkdir -p "$AUTOGRADER_ROOT/submission"
  cp "$1" "$AUTOGRADER_ROOT/submission/kernel.cu"
  expect 0 '' "$AUTOGRADER_ROOT/source/run_autograder"
  expect 0 "$2" cat "$AUTOGRADER_ROOT/results/results.json"
}
submitted "$right" '"verdict": *"PASS"'
submitted "$class/bob/kernel.cu" '"verdict": *"FAIL_WRONG"'
echo "all went well in $SECONDS s"
