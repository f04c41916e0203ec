#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A class of three, of whom one hands in a kernel that writes rubbish from 11 blocks of a million: what a
# launch that is timed by some of its blocks does not see. The audit is killed in the middle, goes on with
# the same command, finds that one, names its element, and takes its stage's points; the others keep theirs.
#
#   audit_finds.sh BUILD      exits with 77 where there is no jail to grade in
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

mkdir -p "$work"/in/{right,wrong,slow}
answer=$root/solutions/$lab/kernel.cu
cp "$answer" "$work/in/right/kernel.cu"
# Stage 1 alone, with rubbish from every 100,003rd block where there are many.
awk '/^__global__ void reverse_direct/ { print; inside = 1; next }
     inside && /^}/ { print "  if (n > 100000000 && blockIdx.x % 100003 == 7) out[n - 1 - static_cast<long long>(blockIdx.x) * kThreads] = -1;"; inside = 0 }
     { print }' "$answer" >"$work/in/wrong/kernel.cu"
! cmp -s "$answer" "$work/in/wrong/kernel.cu" || fail "the answer has another shape than this script expects" "$answer"
cp "$root/labs/$lab/kernel.cu" "$work/in/slow/kernel.cu" # a skeleton earns nothing for speed

# The table, without the carriage returns of a spreadsheet's lines.
table() { tr -d '\r' <"$work/out/grades.csv"; }
grade() { "$build/bin/membound" grade "$work/in" --lab "$lab" --device vgpu:h200 --seed 1 --jobs 1 --out "$work/out" "$@"; }
grade >"$work/grade" 2>&1 || {
  ! grep -q -e --trust-submissions "$work/grade" || { echo "no jail here"; exit 77; }
  fail "grading failed" "$work/grade"
}
grep -q "an audit of 6 stages would take about [0-9]* \(s\|min\): .* --audit" "$work/grade" ||
  fail "does not say what an audit would take" "$work/grade"
cell() { awk -F, -v who="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } $1 == who { print $at }' <(table); }
before=$(cell wrong score)
[ "$(cell wrong score)" = "$(cell right score)" ] || fail "the verdicts differ before the audit" "$work/out/grades.csv"
[ "$(cell right audit)" = "0 of 3 stages" ] || fail "no column" "$work/out/grades.csv"

# Killed as soon as one audit has its result.
results() { find "$work/out/results" -name '[0-9a-f]*.json' | wc -l; }
verdicts=$(results)
set -m
grade --audit >"$work/killed" 2>&1 &
grader=$!
set +m
while kill -0 "$grader" 2>/dev/null && [ "$(results)" -le "$verdicts" ]; do sleep 0.05; done
kill -KILL -- "-$grader" 2>/dev/null || true
wait "$grader" 2>/dev/null || true
done_before=$(results)
[ "$done_before" -lt $((verdicts + 6)) ] || fail "was not killed in the middle" "$work/killed"

grade --audit >"$work/audit" 2>&1 || fail "the audit failed" "$work/audit"
[ "$(results)" -eq $((verdicts + 6)) ] || fail "not every stage was audited once" "$work/audit"
grep -q "FAIL_WRONG" "$work/audit" || fail "the rubbish was not found" "$work/audit" "$work/out/grades.csv"
table | grep "^wrong," | grep -q "element" || fail "no element is named" "$work/out/grades.csv"
table | grep "^wrong," | grep -q "3 of 3 stages; wrong in stage 1" || fail "not in the column" "$work/out/grades.csv"
table | grep "^right," | grep -q "PASS.*,3 of 3 stages$" || fail "the right one lost something" "$work/out/grades.csv"
awk -v a="$before" -v b="$(cell wrong score)" 'BEGIN { exit !(b < a && b > 0) }' || fail "the points of one stage are not taken" "$work/out/grades.csv"
grade --verify | grep -q "6 audits.*all signed, in order and unchanged" || fail "the ledger does not verify" "$work/out/grades.csv"

# Once more: nothing is left, and the table stays.
cp "$work/out/grades.csv" "$work/first.csv"
grade --audit >"$work/again" 2>&1
grep -q "nothing is left to audit" "$work/again" || fail "audits again" "$work/again"
cmp "$work/first.csv" "$work/out/grades.csv"
"$build/bin/membound" explain wrong --out "$work/out" >"$work/explain" 2>&1 || fail "is not repeated" "$work/explain"
grep -q "audit *3 of 3 stages; wrong in stage 1" "$work/explain" || fail "explain does not tell" "$work/explain"
"$build/bin/membound" report "$work/out" >/dev/null
grep -q "wrong in stage 1" "$work/out"/report/students/wrong.html || fail "the page does not tell" "$work/explain"
echo "the audit found what a sample does not see, after a kill, and nothing else"
