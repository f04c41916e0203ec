#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What the files of folders ask of the system's C and C++ libraries: versions of symbols, none newer than RHEL 9 has
# (glibc 2.34, libstdc++ of GCC 11), which is older than Ubuntu 22.04 and Debian 12. What replaces the functions that have
# a newer one: grader/base/older_systems.hpp. A machine with newer libraries than Debian 12's makes programs for machines
# like itself, so that only Debian 12 is held to it.
#
#   older_systems.sh FOLDER…
set -euo pipefail
failed=0
needs() { # FOLDER…: lines "FILE VERSION", of the files that are programs or libraries
  find "$@" -type f -print0 | while IFS= read -r -d '' file; do
    [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
    readelf --version-info --wide "$file" | sed -nE "s|.* Name: ((GLIBC\|GLIBCXX\|CXXABI)_[A-Z0-9_.]+) .*|$file \1|p"
  done | sort -u
}
needed=$(needs "$@")
if ! grep -q " GLIBC_" <<<"$needed" || ! grep -q " GLIBCXX_" <<<"$needed"; then
  echo "BAD no program is in $*"
  exit 1
fi
[ "$(. /etc/os-release && echo "$ID$VERSION_ID")" = debian12 ] || exit 0
while read -r file version; do
  case $version in
    GLIBC_*) newest=GLIBC_2.34 ;;
    GLIBCXX_*) newest=GLIBCXX_3.4.29 ;;
    *) newest=CXXABI_1.3.13 ;;
  esac
  [ "$(printf '%s\n' "$version" "$newest" | sort --version-sort | tail -n 1)" = "$newest" ] && continue
  echo "BAD $file asks for $version, newer than $newest, for"
  objdump --dynamic-syms "$file" | grep -F "($version)" | sed 's/.* /  /'
  failed=1
done <<<"$needed"
exit "$failed"
