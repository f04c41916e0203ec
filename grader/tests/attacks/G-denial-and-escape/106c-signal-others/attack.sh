# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# asks whether it may send signals to who started it; signal 0 harms nobody
for p in /proc/[0-9]*; do
  read -r name 2> /dev/null < $p/comm || continue
  case "$name" in bwrap | sh | *[0-9] | memfd*) continue ;; esac # the jail's own: the stage is a number
  kill -0 "${p#/proc/}" 2> /dev/null && echo GOT THROUGH: may end "$name"
done
exit 1
