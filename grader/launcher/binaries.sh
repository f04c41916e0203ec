# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # a part of ./membound: it shares the variables of all parts
#
# The programs that came with the course (membound release --binaries): put into the build folder
# where they run, so that a first check need not build.

readonly binaries=$root/released/binaries

# Prints why they cannot be used here; nothing if they can. What somebody changed in labs/ is no reason: the
# programs read the course's own copies of it (released/course), and say so.
binaries_problem() {
  local said
  if [ "$(uname -m)" != "$(cat "$binaries/machine")" ]; then
    echo "they are for $(cat "$binaries/machine"), and this machine is $(uname -m)"
  elif ! said=$("$binaries/bin/membound-student" --version 2>&1); then
    echo "they do not start: ${said##*$'\n'}"
  fi
}

# Whether this call can do with them, if they run. A folder that was built in stays as it is.
has_binaries() {
  [ -d "$binaries" ] && [ "$program" = "$bin/membound-student" ] && [ ! -e "$root/build/student/CMakeCache.txt" ]
}

# The newest of the lab's compiled references that the virtual GPU's usual machine, sm_90, can load.
newest_fatbin() { # FOLDER
  find "$1" -name 'reference.sm_*.fatbin' | sed 's/.*sm_\([0-9]*\)\.fatbin$/\1 &/' | sort -n |
    awk '$1 <= 90 { name = $2 } END { print name }'
}

use_binaries() {
  local part=$root/build/student.part lab fatbin
  rm -rf "$part"
  mkdir -p "$part/built"
  cp -r "$binaries"/. "$part"
  for lab in "$part"/labs/*/; do
    lab=$(basename "$lab")
    fatbin=$(newest_fatbin "$root/released/$lab")
    if [ "$fatbin" ]; then cp "$fatbin" "$part/labs/$lab/reference.fatbin"; fi
    if [ -e "$root/released/$lab/reference.ptx" ]; then
      cp "$root/released/$lab/reference.ptx" "$part/labs/$lab"
    fi
  done
  # All that a student's commands need, by the names of choose_targets.
  touch "$part/built/student" "$part/built/labs" "$part/built/experiment_program"
  rm -rf "$root/build/student"
  mv "$part" "$root/build/student"
}
