#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Every handout of the site as a PDF beside its page, answers at the end. Usage: print.sh HTML_FOLDER
set -eu
html=$1
if command -v weasyprint >/dev/null; then
  to_pdf() { weasyprint --quiet "$1" "$2"; }
elif command -v chromium >/dev/null; then
  to_pdf() { chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf="$2" "file://$1" 2>/dev/null; }
else
  echo "handouts_pdf: neither weasyprint nor chromium is installed
  expected: one of them, to print pages with
  try: apt-get install weasyprint" >&2
  exit 1
fi
for page in "$html"/paper_*.html; do
  pdf=$html/handout_${page##*/paper_}
  to_pdf "$page" "${pdf%.html}.pdf"
  echo "${pdf%.html}.pdf"
done
