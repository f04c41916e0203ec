#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# tutorial.sh PAGE ROOT BIN: does what the tutorial on PAGE says, in an empty folder. A block below
# "<!-- file: PATH -->" is written to that file; in a block "console" each line after "$ " is run, and
# what follows is what it must print. "…" stands for anything within a line, alone for any lines.
set -euo pipefail
page=$(realpath "$1") root=$(realpath "$2") bin=$(realpath "$3")

work=$(mktemp -d)
trap 'rm -rf "$work" "$work".*' EXIT
export MEMBOUND_ROOT=$root PATH=$bin:$PATH COLUMNS=100 NO_COLOR=1 LC_ALL=C.UTF-8
cd "$work"

readonly most_steps=60 most_lines=250
steps=0 lines=0 line_number=0

fail() {
  printf '%s:%d: %s\n' "$page" "$line_number" "$1" >&2
  exit 1
}

# Whether the lines of file $2 are those of file $1, which may hold "…".
same() {
  awk 'function literal(text) { gsub(/[][\\.^$*+?(){}|]/, "\\\\&", text); return text }
    NR == FNR { want[++wants] = $0; next }
    { got[++gots] = $0 }
    function fits(w, g,   pattern) {
      for (; w <= wants; ++w) {
        if (want[w] == "…") {
          for (; g <= gots + 1; ++g) if (fits(w + 1, g)) return 1
          return 0
        }
        if (g > gots) return 0
        pattern = literal(want[w]); gsub(/…/, ".*", pattern)
        if (got[g] !~ "^" pattern "$") return 0
        ++g
      }
      return g == gots + 1
    }
    END { exit !fits(1, 1) }' "$1" "$2"
}

run() { # the command; its expected output is in $work.want
  ((++steps))
  bash -c "set -o pipefail; $1" >"$work.got" 2>&1 </dev/null || true
  sed -i 's/[[:space:]]*$//' "$work.got"
  if ! same "$work.want" "$work.got"; then
    printf '$ %s\nexpected:\n' "$1" >&2
    cat "$work.want" >&2
    printf 'printed:\n' >&2
    cat "$work.got" >&2
    fail "the command prints something else"
  fi
  printf 'ok %s\n' "$1"
}

state=text file='' command=''
: >"$work.want"
while IFS= read -r line; do
  ((++line_number))
  case $state in
    text)
      if [[ $line =~ ^'<!-- file: '(.*)' -->'$ ]]; then file=${BASH_REMATCH[1]}; fi
      if [[ $line == '```console' ]]; then state=console; fi
      if [[ $line == '```'* && $file && $state == text ]]; then
        state='file'
        ((++steps))
        mkdir -p "$(dirname "$file")"
        : >"$file"
      fi
      ;;
    file)
      if [[ $line == '```' ]]; then state=text file=; else printf '%s\n' "$line" >>"$file" && ((++lines)); fi
      ;;
    console)
      if [[ $line == '$ '* || $line == '```' ]]; then
        if [[ $command ]]; then
          # What a command exports, the next ones have.
          if [[ $command == 'export '* ]]; then eval "$command"; fi
          run "$command"
        fi
        command=${line#'$ '}
        : >"$work.want"
        if [[ $line == '```' ]]; then state=text command=; fi
      else
        printf '%s\n' "$line" >>"$work.want"
      fi
      ;;
  esac
done < <(sed -n '/<!-- tutorial -->/,/<!-- end of tutorial -->/p' "$page")

[ "$steps" -gt 10 ] || fail "there is no tutorial on the page"
[ "$steps" -le $most_steps ] || fail "$steps commands and files; $most_steps at most"
[ "$lines" -le $most_lines ] || fail "$lines lines to write; $most_lines at most"
printf '%d commands and files, %d lines written, %d s\n' "$steps" "$lines" "$SECONDS"
