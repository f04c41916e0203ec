#!/bin/bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Lab 07's thirteen walks on virtual GPUs beside what the lecture of 2020 measured on the real ones: the tables
# of grader/gpu_truth/records/walks_beside_the_lecture.md, from what `membound experiment` prints.
#     walks.sh [MODEL…]
# The slide of "2D, columns" repeats the kernel for rows, and read-only loads of the lecture's 2D tables were plain ones:
# pairs with these are not comparable.
set -euo pipefail

[ $# -gt 0 ] || set -- gtx-1080-ti titan-v rtx-2080-ti
for model; do
  ./membound experiment read-paths --device "vgpu:$model" | awk -v model="$model" '
    function away(ours, theirs) { return ours > theirs ? ours / theirs - 1 : 1 - ours / theirs }
    NF >= 7 && $NF ~ /^[0-9.]+$/ && $(NF - 5) ~ /^[0-9.]+$/ {
      name = $1; for (i = 2; i <= NF - 6; ++i) name = name " " $i
      line = "| " name " |"
      for (i = 1; i <= 3; ++i) {
        ours[i] = $(NF - 6 + i); theirs[i] = $(NF - 3 + i)
        line = line " " ours[i] " | " theirs[i] " |"
        errors[++count] = away(ours[i], theirs[i])
      }
      wrong = ""
      for (i = 1; i <= 3; ++i) for (j = 1; j < i; ++j) {
        if (theirs[i] < 1.1 * theirs[j] && theirs[j] < 1.1 * theirs[i]) continue
        other = name == "2D, columns" || name ~ /^(2D|filter|samples)/ && (i == 2 || j == 2)
        ++pairs; fair += !other
        if ((theirs[i] > theirs[j]) == (ours[i] > ours[j])) continue
        ++turned; wrong_ones += !other
        if (!other) wrong = "turned"
        else if (wrong == "") wrong = "not comparable"
      }
      print line " " wrong " |"
    }
    END {
      for (i = 2; i <= count; ++i) for (j = i; j > 1 && errors[j] < errors[j - 1]; --j) {
        swap = errors[j]; errors[j] = errors[j - 1]; errors[j - 1] = swap
      }
      printf "%s: median error %.0f %%; of %d pairs of paths that differ by 10 %% or more in the lecture %d are turned", model,
        100 * errors[int((count + 1) / 2)], pairs, turned
      printf "; of the %d that are comparable, %d\n\n", fair, wrong_ones
    }'
done
