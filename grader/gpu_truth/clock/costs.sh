#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What one warp instruction costs, in clocks, from the times that microbenchmarks.cu printed on a GPU: of
# its multiprocessor when 64 warps are at it (throughput), and until a warp alone can go on (latency). A
# chain has 1,024 instructions, a full multiprocessor 64 × 512; an empty kernel's time is taken off.
#
#   costs.sh INSTRUCTIONS.csv CLOCK_GHZ SMS
set -euo pipefail
times=${1:?costs.sh INSTRUCTIONS.csv CLOCK_GHZ SMS}
grep -v '^#' "$times" | awk -F , -v clock="${2:?CLOCK_GHZ}" -v sms="${3:?SMS}" '
  $1 == "dispatch" && $2 == "empty 132 1024" { empty = $3 }
  $1 == "latency" { latency[$2] = ($3 - empty) * 1000 * clock / 1024; order[++rows] = $2 }
  $1 == "throughput" { busy[$2] = ($3 - empty) * 1000 * clock / (64 * 512 * 132 / sms) }
  END {
    print "| link of the chain | clocks of an SM | clocks of a warp alone |"
    print "| --- | ---: | ---: |"
    for (i = 1; i <= rows; ++i)
      if (order[i] in busy && order[i] != "call")
        printf "| %s | %.2f | %.1f |\n", order[i], busy[order[i]], latency[order[i]]
  }'
