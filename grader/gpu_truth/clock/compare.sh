#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Predicted times beside measured ones in µs, a line of a Markdown table each; then how far off they are: for the
# kernels that constants were fitted to, for the others, and for all. Likewise for the pairs of ../advice, of which none
# was fitted to.
#
#   compare.sh MEASURED.csv PREDICTED.csv      (as run.sh leaves them, here or in ../advice)
set -euo pipefail
measured=${1:?compare.sh MEASURED.csv PREDICTED.csv}
predicted=${2:?compare.sh MEASURED.csv PREDICTED.csv}
# A line is KIND,NAME,µs; a name may hold commas.
rows_of() { grep -v '^#' "$1" | sed 's/^\([^,]*\),\(.*\),\([^,]*\)$/\1\t\2\t\3/'; }
rows=$(paste <(rows_of "$measured") <(rows_of "$predicted") | awk -F '\t' '
  NF != 6 || $2 != $5 {
    print "row " NR ": \"" $2 "\" is beside \"" $5 "\"; both files must list the same kernels" > "/dev/stderr"
    exit 1
  }
  { printf "%s\t%s\t%.2f\t%.2f\t%.4f\n", $1, $2, $3, $6, $6 / $3 - 1 }')
awk -F '\t' '{ printf "| %s | %s | %s | %s | %+.0f %% |\n", $1, $2, $3, $4, 100 * $5 }' <<<"$rows"
echo
for kind in fit hold '.*'; do
  awk -F '\t' -v kind="^($kind)\$" '$1 ~ kind { print ($5 < 0 ? -$5 : $5) }' <<<"$rows" | sort -g | awk -v kind="$kind" '
    { off[NR] = $1 }
    END {
      if (NR > 0) printf "%s: %d kernels: median error %.0f %%, 90th percentile %.0f %%, worst %.0f %%\n", kind == ".*" ? "all" : kind, NR,
        100 * off[int((NR + 1) / 2)], 100 * off[int(NR * 0.9 + 0.5)], 100 * off[NR]
    }'
done
