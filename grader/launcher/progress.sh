# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # a part of ./membound: it shares the variables of all parts
#
# How far a long command is, while it runs: one line that is rewritten on a terminal, a line every
# ten seconds anywhere else. What the command itself prints goes to the log.
#
#   with_progress "building" count_steps cmake --build …    membound: building 120/380, about 2 min left

say() { printf 'membound: %s\n' "$*" >&2; }
# fail CODE WHAT ADVICE…: one message, then the exit code (2 wrong use, 3 the machine's fault).
fail() {
  local code=$1 what=$2
  shift 2
  say "$what"
  printf '  try: %s\n' "$@" >&2
  exit "$code"
}

is_terminal() { [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; }

# Counters read what a command has printed so far and print "DONE ALL", or nothing if they cannot tell.
count_nothing() { cat >/dev/null; }
count_steps() { sed -n 's|^\[\([0-9]*\)/\([0-9]*\)\] .*|\1 \2|p' | tail -n 1; } # ninja
count_wheels() { awk -v all="${#cuda_wheels[@]}" '/^Collecting /{ n++ } END { if (n) print n - 1, all }'; }
# apt-get fetches, unpacks and sets up each package.
count_packages() {
  awk '/ newly installed/ { all = $1 + $3; got = 0 } /^Get:/ { got++ } /^Unpacking / { unpacked++ }
    /^Setting up / { ready++ }
    END { if (all) print (unpacked ? all : got) + unpacked + ready, 3 * all }'
}

# progress_text WHAT SECONDS [DONE ALL]
progress_text() {
  local what=$1 seconds=$2 done=${3:-} all=${4:-}
  if [ -z "$all" ]; then
    echo "$what, $seconds s so far"
  elif [ $((20 * done)) -lt "$all" ] || [ "$seconds" -lt 5 ]; then  # the first steps tell little
    echo "$what $done/$all"
  else
    local left=$((seconds * (all - done) / done))
    if [ "$left" -lt 60 ]; then
      echo "$what $done/$all, less than a minute left"
    else
      echo "$what $done/$all, about $(((left + 30) / 60)) min left"
    fi
  fi
}

# Runs beside the command until it is ended, or the launcher is.
show_progress() { # WHAT COUNTER FIRST-BYTE-OF-LOG
  local what=$1 counter=$2 first=$3 started=$SECONDS every=10 counts text tick
  if is_terminal; then every=1; fi
  # Never has anything to read: a wait that leaves no process behind.
  rm -f "$state/tick"
  mkfifo "$state/tick"
  exec {tick}<>"$state/tick"
  rm "$state/tick"
  while ! read -r -t "$every" -u "$tick" && kill -0 $$ 2>/dev/null; do
    # shellcheck disable=SC2207  # two numbers or nothing
    counts=($(tail -c "+$first" "$log" | "$counter"))
    text="membound: $(progress_text "$what" $((SECONDS - started)) "${counts[@]}")"
    if is_terminal; then printf '\r\033[K%.79s' "$text" >&2; else printf '%s\n' "$text" >&2; fi
  done
}

# with_progress WHAT COUNTER COMMAND…: returns what the command returns.
with_progress() {
  local what=$1 counter=$2 code=0
  shift 2
  is_terminal || say "$what"
  show_progress "$what" "$counter" $(($(stat -c %s "$log") + 1)) 9>&- &
  local shower=$!
  # In the foreground: Ctrl-C reaches it, and it may clear away what it has half done.
  "$@" >>"$log" 2>&1 || code=$?
  kill "$shower" 2>/dev/null || true
  wait "$shower" 2>/dev/null || true
  if is_terminal; then printf '\r\033[K' >&2; fi
  return "$code"
}
