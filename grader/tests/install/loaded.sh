#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What a student's program loads with the runtime, and what starts with each check, is kept small: libraries
# that only other programs call are not among it.
#
#   loaded.sh FILE…
set -euo pipefail
failed=0
for file in "$@"; do
  if [ "$(readelf --dynamic "$file" | grep -c NEEDED)" = 0 ]; then
    echo "BAD $file: no libraries at all"
    failed=1
  fi
  if ldd "$file" | grep -E 'libcsv|libutf8proc|libcrypto|libsqlite|libarchive'; then
    echo "BAD $file loads what it does not call"
    failed=1
  fi
done
exit "$failed"
