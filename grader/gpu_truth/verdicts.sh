#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Two tables of `membound dev verdicts` side by side: the cases of each check whose verdicts differ, as lines of a
# Markdown table; how many are equal; how far off the ratios to the reference answer are, and the speeds of what both timed at one size.
# A stage's own answer has a ratio of 1 on every device: it counts among the speeds only.
#
#   verdicts.sh MEASURED.csv PREDICTED.csv
set -euo pipefail
measured=${1:?verdicts.sh MEASURED.csv PREDICTED.csv}
predicted=${2:?verdicts.sh MEASURED.csv PREDICTED.csv}
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
# Commas within a size, which is quoted then, are left out.
rows_of() { sed -e ':quoted' -e 's/^\([^"]*"[^",]*\),\([^"]*"\)/\1\2/' -e 't quoted' -e 's/["\r]//g' "$1"; }
awk -F, -v errors="$errors" '
  FNR == 1 { next }
  { key = $1 "," $2 "," $3 "," $4 }
  NR == FNR { of[key] = $0; next }
  !(key in of) { print key " is in one table only" > "/dev/stderr"; next }
  {
    split(of[key], m)
    delete of[key]
    if ($9 == "-" && m[9] == "-") next
    if ($9 == "-" || m[9] == "-") {
      printf "%s: not timed on one of the two\n", key > "/dev/stderr"
      next
    }
    if ($5 == m[5]) print "speed", $6 / m[6] - 1 > errors
    if ($3 == "stage " $2) next
    print "ratio", $7 / m[7] - 1 > errors
    # A check says "reached" where all its cases do.
    check = $1 "," $2 "," $3
    if (!(check in cases)) order[++checks] = check
    ++cases[check]
    predicted[check] += $9 == "reached"
    measured[check] += m[9] == "reached"
    rows[check] = rows[check] sprintf("| %s/%s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $5, $7, m[7], $8)
  }
  END {
    for (key in of) print key " is in one table only" > "/dev/stderr"
    for (i = 1; i <= checks; ++i) {
      check = order[i]
      if ((predicted[check] == cases[check]) == (measured[check] == cases[check])) { ++equal; continue }
      if (i - equal == 1) print "| stage | handed in | size | predicted | measured | bar |\n| --- | --- | --- | ---: | ---: | ---: |"
      printf "%s", rows[check]
    }
    printf "\n%d of %d verdicts are equal: %.1f %%\n", equal, checks, 100 * equal / (checks ? checks : 1)
  }' <(rows_of "$measured") <(rows_of "$predicted")
for kind in ratio speed; do
  awk -v kind=$kind '$1 == kind { print ($2 < 0 ? -$2 : $2) }' "$errors" | sort -g | awk -v kind=$kind '
    { off[NR] = $1 }
    END {
      if (NR > 0) printf "%d %ss: median error %.0f %%, 90th percentile %.0f %%, worst %.0f %%\n", NR, kind,
        100 * off[int((NR + 1) / 2)], 100 * off[int(NR * 0.9 + 0.5)], 100 * off[NR]
    }'
done
