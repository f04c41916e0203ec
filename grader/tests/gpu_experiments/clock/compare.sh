#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Predicted times beside measured ones in µs, a line of a Markdown table each; then how far off they are: for the
# kernels that constants were fitted to, for the others, and for all.
#
#   compare.sh MEASURED.csv PREDICTED.csv      (as run.sh leaves them)
set -euo pipefail
measured=${1:?compare.sh MEASURED.csv PREDICTED.csv}
predicted=${2:?compare.sh MEASURED.csv PREDICTED.csv}
rows=$(paste -d , <(grep -v '^#' "$measured") <(grep -v '^#' "$predicted") | awk -F , '
  NF != 6 || $2 != $5 {
    print "row " NR ": \"" $2 "\" is beside \"" $5 "\"; both files must list the same kernels" > "/dev/stderr"
    exit 1
  }
  { printf "%s,%s,%.2f,%.2f,%.4f\n", $1, $2, $3, $6, $6 / $3 - 1 }')
awk -F , '{ printf "| %s | %s | %s | %s | %+.0f %% |\n", $1, $2, $3, $4, 100 * $5 }' <<<"$rows"
echo
for kind in fit hold 'fit|hold'; do
  awk -F , -v kind="^($kind)\$" '$1 ~ kind { print ($5 < 0 ? -$5 : $5) }' <<<"$rows" | sort -g | awk -v kind="$kind" '
    { off[NR] = $1 }
    END {
      printf "%s: %d kernels: median error %.0f %%, 90th percentile %.0f %%, worst %.0f %%\n", kind, NR,
        100 * off[int((NR + 1) / 2)], 100 * off[int(NR * 0.9 + 0.5)], 100 * off[NR]
    }'
done
