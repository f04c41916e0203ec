#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A lab outside of the course has its pages on the site, and a place in each page's list of labs.
#
#   own_lab.sh MEMBOUND MEMBOUND_SITE ROOT WORK
set -euo pipefail
membound=$1 site=$2 root=$3 work=$4
failed=0
holds() { grep -q "$1" "$2" || { echo "BAD $2 lacks $1"; failed=1; }; }

rm -rf "$work"
mkdir -p "$work/own" "$work/framed"
export MEMBOUND_ROOT=$root MEMBOUND_LABS=$work/own
"$membound" dev new 98-own --stages 1 >/dev/null
"$site" pages "$root" "$work/pages" "$work/html"
holds "One paragraph: what is slow" "$work/html/paper_98_own.html"
holds "handout_98_own.html" "$work/pages/index.md"
holds "lab_98_own.html" "$work/pages/handout_98_own.md"
# A page as Doxygen frames it; that it leads to pages which are not there is told, and no matter here.
echo "<html><title>t</title><!-- course --></html>" >"$work/framed/lab_98_own.html"
"$site" finish "$root" "$work/framed" >/dev/null 2>&1 || true
holds "handout_98_own.html" "$work/framed/lab_98_own.html"
exit "$failed"
